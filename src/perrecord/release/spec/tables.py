"""`open_table`: the source of a spec with its roles; what does not fit is shown at its line."""

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

import pyarrow as pa

from perrecord.errors import InputError, InternalError, SourceError
from perrecord.release.spec.declared import MeasureEntry
from perrecord.release.spec.load import LoadedSpec
from perrecord.release.spec.models import Spec
from perrecord.release.spec.names import refer
from perrecord.release.spec.pieces import existing
from perrecord.release.spec.problems import Path, Problems
from perrecord.tables.addresses import is_address
from perrecord.tables.files import format_of, matching_files
from perrecord.tables.given import Linked, Source
from perrecord.tables.kinds import check_header
from perrecord.tables.linking import CHANGE_KIND
from perrecord.tables.lookups import Lookup
from perrecord.tables.measures import Measure
from perrecord.tables.reading import File
from perrecord.tables.sources import open_source
from perrecord.tables.table import Table, column_use, table
from perrecord.tables.weights import weighted


def open_table(loaded: LoadedSpec, source: Source | None = None) -> Table:
    """Return the table of a spec: its source opened, its roles declared, no row read for it.

    A source that is given, such as a Spark DataFrame, stands in place of the one that is named.
    """
    problems = loaded.problems()
    lookups = lookups_of(loaded, problems)
    measures = _measures(loaded.spec, problems)
    if source is None:
        _check_source(loaded, problems)
    problems.check()
    spec = loaded.spec
    _check_given(loaded, source)
    source = _read_alike(loaded, source)
    try:
        opened = table(
            loaded.given if source is None else source,
            id=spec.id,
            unit=spec.unit,
            dimensions=_dimensions(spec),
            measures=measures,
            lookups=lookups,
            name=spec.table,
            **_options(loaded, source),
        )
        _check_examples(spec, opened)
        return opened
    except SourceError as error:
        # The spec's own line is about another file. An address may hold a password.
        named = source.path if isinstance(source, File) else source
        if isinstance(named, str) and not is_address(named):
            raise SourceError(f"{named}: {error}") from None
        problems.add(("source",), str(error))
    except InputError as error:
        _place(loaded, source, lookups, measures, problems)
        if not problems.found:
            problems.add(("source",), str(error))
    problems.check()
    raise InternalError("A table was refused for no reason.")


def _read_alike(loaded: LoadedSpec, source: Source | None) -> Source | None:
    """Return a file given in place of the spec's, read as that one if its format is the same."""
    if not isinstance(source, str) or is_address(source) or not loaded.own_files:
        return source
    files = matching_files(source)
    is_alike = files and format_of(files[0]) == format_of(loaded.own_files[0])
    return loaded.spec.source.read_by(source) if is_alike else source


def _check_given(loaded: LoadedSpec, source: Source | None) -> None:
    """Refuse a source in place of two periods, and two in place of one."""
    if source is not None and isinstance(source, Linked) != (loaded.last is not None):
        raise InputError(
            f"{loaded.path}: source: the spec is about "
            f"{'one period' if loaded.last is None else 'changes between two periods'}; give "
            f"{'its source alone.' if loaded.last is None else 'both: Linked(this, last=...).'}"
        )


def _check_examples(spec: Spec, opened: Table) -> None:
    """Refuse a CSV file if examples name columns, nothing else does, and it has none of them.

    Its first line may be a record, and a message about a field of an example lists the columns.
    """
    declared = (spec.id, spec.unit, *spec.dimensions, *spec.resolutions, *spec.lookups)
    if opened.engine.is_text and not any(declared):
        try:
            named = [name for example in spec.examples for name in example.record]
            check_header(named, opened.engine.columns)
        except SourceError:
            opened.close()
            raise


def lookups_of(loaded: LoadedSpec, problems: Problems) -> list[Lookup]:
    """Return the lookups of a spec; their files are public and are read here."""
    found = []
    for place, entry in enumerate(loaded.spec.lookups):
        with problems.at("lookups", place):
            path = entry.read_by(existing(loaded, entry.source))
            found.append(Lookup(path, on=dict(entry.on), columns=entry.columns))
    return found


def hierarchies_of(loaded: LoadedSpec, problems: Problems) -> tuple[Lookup, ...]:
    """Return the tables that say which dimensions follow from others; they are read here."""
    found, known = [], loaded.spec.dimensions
    for place, entry in enumerate(loaded.spec.hierarchies):
        here: Path = ("hierarchies", place)
        with problems.at(*here):
            path = entry.read_by(existing(loaded, entry.source))
            table = Lookup(path, on=dict(entry.on), columns=entry.columns)
            for name in [*entry.on, *table.columns]:
                for where, message in refer(here, "dimension", name, known):
                    problems.add(where, message)
            found.append(table)
    return tuple(found)


def _measures(spec: Spec, problems: Problems) -> dict[str, Measure]:
    found = {}
    for name, entry in spec.measures.items():
        with problems.at("measures", name):
            found[name] = measure_of(entry)
    if spec.weight is not None and len(found) == len(spec.measures):
        with problems.at("weight"):
            found = weighted(found, spec.weight.weight())
    return found


def measure_of(entry: MeasureEntry) -> Measure:
    """Return the measure that an entry declares."""
    return Measure(
        entry.resolution,
        column=entry.column,
        expression=entry.expression,
        largest=entry.largest,
        outside=entry.outside,
    )


def _dimensions(spec: Spec) -> dict[str, str]:
    """Return each dimension's expression; a column alone is quoted, whatever its name."""
    quoted = {name: '"' + name.replace('"', '""') + '"' for name in spec.dimensions}
    return {name: each.expression or quoted[name] for name, each in spec.dimensions.items()}


def _options(loaded: LoadedSpec, other: Source | None) -> dict[str, Any]:
    """Return how a source is opened; the relation is that of databases alone."""
    source = loaded.spec.source
    spill = None if source.spill_folder is None else loaded.resolve(source.spill_folder)
    options = {"memory_limit": source.memory_limit, "spill_folder": spill}
    if other is None or is_address(other):
        options["relation"] = source.relation
    return options


def _check_source(loaded: LoadedSpec, problems: Problems) -> None:
    entry = loaded.spec.source
    sides = (("path", entry.path, loaded.source), ("last", entry.last, loaded.last))
    for name, written, source in sides:
        if written is None or not isinstance(source, FilePath):
            continue
        if source.is_dir():
            files = f"{written.rstrip('/')}/*.parquet"
            message = f"{written!r} is a folder; name its files, such as {files!r}."
            problems.add(("source", name), message)
        elif not matching_files(source):
            message = f"there is no file {written!r}; a path is relative to the folder of the spec."
            problems.add(("source", name), message)


# -- placing an error -------------------------------------------------------------------------


def _place(
    loaded: LoadedSpec,
    source: Source | None,
    lookups: list[Lookup],
    measures: Mapping[str, Measure],
    problems: Problems,
) -> None:
    """Note, for every role that does not fit the source's columns, what is wrong with it.

    A table says the first thing that does not fit. To show all of them, each role is declared by
    itself on an empty table of the same columns.
    """
    spec, given = loaded.spec, loaded.given if source is None else source
    try:
        use = column_use(
            [each for each in (spec.id, spec.unit) if each], _dimensions(spec), measures, lookups
        )
        with open_source(given, use=use, **_options(loaded, source)) as engine:
            columns, is_text = dict(engine.columns), engine.is_text
    except InputError as error:
        problems.add(("source",), str(error))
        return
    for place, lookup in enumerate(lookups):
        with problems.at("lookups", place):
            lookup.check(columns)
            columns.update(lookup.types())
    for role in ("id", "unit"):
        with problems.at(role):
            _declare(columns, **{role: getattr(spec, role)})
    fitting: dict[str, Measure] = {}
    seen: set[str] = set()
    for name, measure in measures.items():
        column = measure.stored(name)
        if is_text and column in columns:
            columns[column] = _as_number(columns[column])
        read = () if measure.expression is None else measure.expression.names
        if any(each in seen and each not in fitting for each in read):
            continue  # what is wrong with that one is said
        seen.add(name)
        is_weight = spec.weight is not None and name == spec.weight.column
        with problems.at(*(["weight"] if is_weight else ["measures", name])):
            _declare(columns, measures={**(fitting if read else {}), name: measure})
            fitting[name] = measure
    if loaded.last is not None:
        columns[CHANGE_KIND] = pa.string()
    for name, expression in _dimensions(spec).items():
        with problems.at("dimensions", name):
            is_column = spec.dimensions[name].expression is None
            _declare(
                columns,
                dimensions=[name] if is_column else {name: expression},
                measures={each: fitting[each] for each in fitting if each != name},
            )


def _declare(columns: Mapping[str, pa.DataType], **roles: Any) -> None:
    table(pa.schema(list(columns.items())).empty_table(), **roles).close()


def _as_number(kind: pa.DataType) -> pa.DataType:
    """Return a number's type for text: a CSV file's measure is text, a table's is not."""
    return pa.float64() if pa.types.is_string(kind) else kind

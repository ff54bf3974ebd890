"""A spec with its amounts and ways replaced; comments, order and all else stay as written."""

import os
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.constructor import RoundTripConstructor
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.representer import RoundTripRepresenter
from ruamel.yaml.resolver import VersionedResolver as Resolver
from ruamel.yaml.scalarstring import LiteralScalarString
from sqlglot import exp, parse_one

from perrecord.errors import InternalError
from perrecord.evaluate.confidential import HEADER
from perrecord.evaluate.tuning.shares import Sharing
from perrecord.evaluate.tuning.tune import UNDER_CAPS, Tuning, shown_goal
from perrecord.evaluate.tuning.tuned_goals import rename_goals
from perrecord.evaluate.variants import WorkloadTable, measure_of
from perrecord.exact import text
from perrecord.policy.cases import Cases, DimensionValue
from perrecord.policy.split import Scheme, Split
from perrecord.queries.answers import Answer
from perrecord.queries.methods import Blurring, Clamping, Splitting, Taper, Tapering
from perrecord.release.spec import LoadedSpec, build, parse_spec
from perrecord.release.spec.questions import columns_of_set, whole_cells
from perrecord.release.spec.schemes import splits_of, tapers_of
from perrecord.tables.schema import Schema

_DIRECTIVE = re.compile(r"\A(%.*\n)+")
"""What may stand before the document; our reader takes no notice of it."""

_WORDS = {"by", "cap", "cases", "default", "split", "thresholds"}
"""Entries of a scheme; where a measure has such a name, thresholds are written out as such."""


_OPTIONS = ("split", "taper", "clamp")
"""The options that make a total private, of which it has one."""


def tuned_spec(
    loaded: LoadedSpec, tuning: Tuning | Sharing, schema: Schema, path: Path, *, is_public: bool
) -> str:
    """Return the YAML of a spec with the amounts and schemes that were found, to be put at `path`.

    A query over several grouping sets becomes one for each, because their amounts differ; the
    published tables keep their names. The budget stays: what it allows is not for tuning to decide.
    """
    text_of_spec = loaded.path.read_text(encoding="utf-8-sig")
    written = rewritten(text_of_spec, loaded, tuning, schema, path)
    return _heading(loaded, tuning, is_public=is_public) + written


def rewritten(
    text_of_spec: str, loaded: LoadedSpec, tuning: Tuning | Sharing, schema: Schema, path: Path
) -> str:
    """Return the text of a spec with what was found in it, checked to cost what was found."""
    document = _yaml().load(_DIRECTIVE.sub("", text_of_spec))
    names = _named_schemes(document, loaded, tuning, schema)
    _rewrite_queries(document["queries"], loaded, tuning, names)
    rename_goals(document, loaded.spec, tuning.queries)
    _move(document, loaded, path.resolve().parent)
    out = StringIO()
    _yaml().dump(document, out)
    check_cost(out.getvalue(), tuning, schema, path)
    return out.getvalue()


def check_cost(written: str, tuning: Tuning | Sharing, schema: Schema, path: Path) -> None:
    """Make sure that a spec costs what was found."""
    workload = build(parse_spec(written, path), schema)
    if workload.policy != tuning.policy:
        raise InternalError("A tuned spec does not cost what was found.")


def _heading(loaded: LoadedSpec, tuning: Tuning | Sharing, *, is_public: bool) -> str:
    if isinstance(tuning, Sharing):
        return (
            f"# Tuned from {loaded.path.name} by perrecord: amounts of consistent tables shared "
            f"anew,\n# where {tuning.counted}. No data was read.\n\n"
        )
    goals = dict.fromkeys(str(each.target) for each in tuning.answers)
    lines = [f"Tuned from {loaded.path.name} by perrecord, to reach:", *(f"  {g}" for g in goals)]
    if tuning.judged_by == UNDER_CAPS:
        lines = [f"Tuned from {loaded.path.name} by perrecord, under caps on losses, to reach:"]
        lines += [f"  {e.table}.{e.before.name}: {shown_goal(e)}" for e in tuning.answers]
    if not is_public:
        lines += [HEADER, "The amounts in this spec were chosen by looking at those records."]
    return "".join(f"# {line}\n" for line in lines) + "\n"


# -- numbers ----------------------------------------------------------------------------------


class _Number(str):
    """A number as it is written, without quotes."""

    __slots__ = ()


class _Constructor(RoundTripConstructor):
    """Keeps every number as the text that it was written as: a float would lose digits."""


class _Representer(RoundTripRepresenter):
    """Writes numbers as they are."""


def _constructed(constructor: Any, node: Any) -> _Number:  # noqa: ARG001 - ruamel.yaml's
    return _Number(node.value)


def _represented(representer: Any, number: _Number) -> Any:
    resolved = Resolver(version=(1, 2)).resolve(ScalarNode, str(number), (True, False))
    return representer.represent_scalar(resolved, str(number))


for _kind in ("int", "float"):
    _Constructor.add_constructor(f"tag:yaml.org,2002:{_kind}", _constructed)
_Representer.add_representer(_Number, _represented)


def _yaml() -> YAML:
    yaml = YAML(typ="rt")
    yaml.Constructor = _Constructor
    yaml.Representer = _Representer
    yaml.preserve_quotes = True
    yaml.width = 100
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml


def _number(value: Fraction) -> _Number:
    return _Number(text(value))


def _amount(answer: Answer) -> Any:
    """Return the amount of an answer as a spec has it: two in a list for an average."""
    found = [_number(each) for each in answer.amounts]
    return found[0] if len(found) == 1 else _in_line(found)


def _in_line(items: "list[Any] | dict[str, Any]") -> Any:
    made = CommentedMap(items) if isinstance(items, dict) else CommentedSeq(items)
    made.fa.set_flow_style()
    return made


# -- schemes ----------------------------------------------------------------------------------


Names = Mapping[Scheme | Taper, str]
"""What splits and tapers are called in the spec."""


def _named_schemes(
    document: Any, loaded: LoadedSpec, tuning: Tuning | Sharing, schema: Schema
) -> dict[Scheme | Taper, str]:
    """Return the name of every split and taper of the answers, new splits added to the spec."""
    splits = splits_of(loaded.spec, schema, loaded.problems())
    tapers = tapers_of(loaded.spec, schema, loaded.problems())
    declared: list[tuple[str, Scheme | Taper]] = [*splits.items(), *tapers.items()]
    names = {each: name for name, each in reversed(declared)}
    found = tuning.candidate.schemes if isinstance(tuning, Tuning) else ()
    for measure, scheme in found:
        if scheme not in names:
            is_joint = len({each for _, each in found}) == 1
            name = _free("tuned" if is_joint else f"tuned_{measure}", document["splits"])
            document["splits"][name] = _written(scheme)
            names[scheme] = name
    return names


def _free(name: str, taken: Any) -> str:
    found, number = name, 2
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    return found


def _written(scheme: Scheme) -> Any:
    if isinstance(scheme, Split):
        thresholds = _in_line({name: _number(each) for name, each in scheme.thresholds})
        is_clear = _WORDS.isdisjoint(scheme.measures)
        return thresholds if is_clear else _in_line({"thresholds": thresholds})
    cases = scheme.cases
    made = CommentedMap(by=cases.dimensions[0])
    made["cases"] = CommentedMap({_key(value): _written(each) for (value,), each in cases.entries})
    if cases.default is not None:
        made["default"] = _written(cases.default)
    return made


def _key(value: DimensionValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


# -- queries ----------------------------------------------------------------------------------


def _rewrite_queries(
    queries: Any, loaded: LoadedSpec, tuning: Tuning | Sharing, names: Names
) -> None:
    """Put the tuned answers in place; of several grouping sets, each becomes a query."""
    tables: dict[str, list[WorkloadTable]] = {}
    for asked in tuning.queries:
        tables.setdefault(asked.origin, []).append(asked)
    tuned = {(each.table, each.before.name) for each in tuning.answers}
    for place, written in reversed(list(enumerate(loaded.spec.queries))):
        entry, every = queries[place], tables[written.name]
        entries = [entry] if len(every) == 1 else [_of_set(entry, each) for each in every]
        for own, asked in zip(entries, every, strict=True):
            if "sql" in own:
                _put_beside_sql(own, asked, names)
                continue
            # By place: YAML's own reading of a name such as 2019 or true is another than ours.
            nodes = zip(own["answers"].values(), asked.query.answers, strict=True)
            for node, answer in nodes:
                if (asked.name, answer.name) in tuned:
                    _put(node, answer, names)
        if len(every) > 1:
            queries[place] = entries[0]
            for number, own in enumerate(entries[1:], start=1):
                queries.insert(place + number, own)


def _put(entry: Any, answer: Answer, names: Names) -> None:
    """Write an answer's amounts and scheme into its entry."""
    if "parts" in entry:
        cases, parts = answer.measurements[0].methods, entry["parts"]
        assert isinstance(cases, Cases)  # noqa: S101 - parts are cases
        for node, (_, method) in zip(parts["cases"].values(), cases.entries, strict=True):
            node["rho"] = _number(method.amount)
        if cases.default is not None:
            parts["default"]["rho"] = _number(cases.default.amount)
        return
    entry["rho"] = _amount(answer)
    found = _way(answer, names)
    if found is None:
        return
    option, way = found
    if option == "split":
        _replace(entry, option, way)
    elif option not in entry:  # what stays tapered or clamped stays as it is written
        entry.pop("accounting", None)
        _replace(entry, option, way)


def _way(answer: Answer, names: Names) -> tuple[str, Any] | None:
    """Return the option that makes a total private, and what it is given."""
    method = next((step.methods for step in answer.measurements[:1]), None)
    match method:
        case Splitting(split=scheme):
            return "split", names[scheme]
        case Tapering(taper=taper) | Blurring(taper=taper):
            return "taper", names.get(taper) or _number(taper.size(measure_of(answer)))
        case Clamping(low=low, high=high):
            return "clamp", _in_line([_number(low), _number(high)])
        case _:
            return None


def _replace(entry: Any, option: str, way: Any) -> None:
    """Write an option in the place of the one that made the total private before."""
    for place, other in enumerate(list(entry)):
        if other in _OPTIONS and other != option:
            comment = entry.ca.items.pop(other, None)
            del entry[other]
            entry.insert(place, option, way)
            if comment is not None:
                entry.ca.items[option] = comment
            return
    entry[option] = way


def _put_beside_sql(entry: Any, asked: WorkloadTable, names: Names) -> None:
    """Write what SQL cannot say, for every answer by name."""
    answers = asked.query.answers
    entry["rho"] = _in_line({each.name: _amount(each) for each in answers})
    ways: dict[str, dict[str, Any]] = {option: {} for option in _OPTIONS}
    for each in answers:
        if (found := _way(each, names)) is not None:
            option, way = found
            ways[option][each.name] = way
    for option, named in ways.items():
        if named:
            entry[option] = _in_line(named)
        else:
            entry.pop(option, None)


def _of_set(entry: Any, asked: WorkloadTable) -> Any:
    """Return a query's entry narrowed to one of its grouping sets."""
    own, columns = deepcopy(entry), list(asked.query.groupings[0].columns)
    own["name"] = asked.name
    keys = own.pop("keys", None)
    for form in ("rollup", "grouping_sets"):
        own.pop(form, None)
    if "sql" in own:
        own["sql"] = LiteralScalarString(_sql_of_set(own["sql"], columns))
    elif columns:
        own.insert(1, "group_by", _in_line(columns))
    if columns:
        own.insert(2, "keys", _keys_of_set(keys, columns))
    return own


def _keys_of_set(keys: Any, columns: list[str]) -> Any:
    """Return the keys of one set: those of the entry that names its columns, or of all sets."""
    sets = whole_cells(keys).get("sets") if isinstance(keys, Mapping) else None
    if sets is None:
        return keys
    found = {frozenset(columns_of_set(str(name))): each for name, each in sets.items()}
    return found[frozenset(columns)]


def _sql_of_set(sql: str, columns: list[str]) -> str:
    """Return a SELECT over several grouping sets narrowed to one of them.

    >>> print(_sql_of_set("SELECT a, b, COUNT(*) FROM t GROUP BY ROLLUP (a, b)", ["a"]), end="")
    SELECT
      a,
      COUNT(*)
    FROM t
    GROUP BY
      a
    """
    select = parse_one(sql, read="duckdb")
    assert isinstance(select, exp.Select)  # noqa: S101 - it was read as one before
    shown = [
        each
        for each in select.selects
        if not isinstance(each.unalias(), exp.Column) or each.unalias().name in columns
    ]
    select.set("expressions", shown)
    named = [exp.column(exp.to_identifier(name)) for name in columns]
    select.set("group", exp.Group(expressions=named) if named else None)
    return f"{select.sql(dialect='duckdb', pretty=True)}\n"


# -- paths ------------------------------------------------------------------------------------


def _move(document: Any, loaded: LoadedSpec, folder: Path) -> None:
    """Rewrite every path that is relative to the old folder so that it is right from the new."""

    def moved(written: str) -> str:
        if Path(written).expanduser().is_absolute():
            return written
        return os.path.relpath(loaded.folder / written, folder)

    source = document["source"]
    if isinstance(loaded.source, Path):
        if isinstance(source, str):
            document["source"] = moved(source)
        else:
            source["path"] = moved(source["path"])
            if "last" in source:
                source["last"] = moved(source["last"])
    if not isinstance(source, str) and "spill_folder" in source:
        source["spill_folder"] = moved(source["spill_folder"])
    if document.get("ledger"):
        document["ledger"] = moved(document["ledger"])
    for files in (document.get("keys", {}), document.get("labels", {})):
        for name, entry in files.items():
            if isinstance(entry, str):
                files[name] = moved(entry)
            elif "file" in entry:
                entry["file"] = moved(entry["file"])
    for entry in (*document.get("lookups", []), *document.get("hierarchies", [])):
        entry["source"] = moved(entry["source"])
    for blur in _with_scale(document["queries"]):
        blur["scale"] = moved(blur["scale"])


def _with_scale(written: Any, *, is_blur: bool = False) -> Iterator[Any]:
    """Yield whatever is blurred by a public scale in what is written, of answers or beside SQL."""
    if isinstance(written, list):
        yield from (found for each in written for found in _with_scale(each, is_blur=is_blur))
    elif isinstance(written, dict) and is_blur and isinstance(written.get("scale"), str):
        yield written
    elif isinstance(written, dict):
        for name, each in written.items():
            yield from _with_scale(each, is_blur=is_blur or name == "blur")

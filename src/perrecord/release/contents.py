"""What a release consists of, as bytes by file name. Nothing here reads the data."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from io import BytesIO
from typing import Any

import pyarrow as pa

from perrecord.mechanisms.answers import Answers
from perrecord.mechanisms.parallel import in_threads
from perrecord.mechanisms.write import write_csv, write_parquet
from perrecord.queries.hierarchies import SummedTable
from perrecord.queries.plan import PlannedGrouping
from perrecord.release.datapackage import data_package
from perrecord.release.described import Described, list_names
from perrecord.release.document import PublishedCharge, PublishedPolicy
from perrecord.release.linked_words import change_words
from perrecord.release.methodology import methodology, warnings_section
from perrecord.release.names import table_names
from perrecord.release.outputs import outputs_of_answer, outputs_of_keys
from perrecord.release.page import policy_page
from perrecord.release.processing import Beside, across, looks_across, processed, summed
from perrecord.release.processing.deriving import computed
from perrecord.release.series import PublishedSeries
from perrecord.release.spec import Workload
from perrecord.release.stated import stated_noise, stated_rows
from perrecord.tables.keys import Keys
from perrecord.version import VERSION

MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Paid:
    """The charge that pays for a release and, of numbers that are shown anew, their seal."""

    charge: str
    seal: str | None = None


@dataclass(frozen=True, slots=True)
class ReleasedTable:
    """One grouping of one query: what it is, and its files."""

    described: Described
    files: Mapping[str, bytes]
    digests: Mapping[str, str]
    """The SHA-256 of each file; found where it is written, and nowhere again."""

    @classmethod
    def of(cls, described: Described, files: Mapping[str, bytes]) -> "ReleasedTable":
        """Return a table with the digests of its files."""
        return cls(described, files, _digests(files))


def public_files(workload: Workload, series: PublishedSeries | None = None) -> dict[str, bytes]:
    """Return the files that do not depend on the data: their faults show before a charge."""
    published = published_policy(workload, series)
    files = {
        "policy.json": published.to_json().encode(),
        "policy.html": policy_page(published).encode(),
        "methodology.md": methodology(workload, published).encode(),
    }
    for name, codes in list_names(workload).items():
        files |= _files(workload, f"labels/{name}", codes.table)
    return files


def released_table(
    workload: Workload, grouping: PlannedGrouping, answers: Answers
) -> ReleasedTable | Answers:
    """Return the answers of one grouping as files; as they are if a step needs all tables."""
    return answers if looks_across(workload) else _written(workload, grouping, answers, {}, {})


@dataclass(frozen=True, slots=True)
class WrittenTables:
    """Every table as files, and what is wrong with the release, as far as they show it."""

    tables: tuple[ReleasedTable, ...]
    warnings: tuple[str, ...] = ()


def written_tables(workload: Workload, tables: Sequence[ReleasedTable | Answers]) -> WrittenTables:
    """Return every table as files, those that were held back with what looking across them adds."""
    ready = tuple(each for each in tables if isinstance(each, ReleasedTable))
    answers = [each for each in tables if isinstance(each, Answers)]
    if not answers:
        return WrittenTables(ready)
    groupings, found = workload.plan.groupings, across(workload, answers)
    every = {
        table_name(workload, grouping): each
        for grouping, each in zip(groupings, answers, strict=True)
    }
    written = in_threads(
        lambda place: _written(
            workload, groupings[place], answers[place], found.beside[place], every
        ),
        range(len(answers)),
        lambda place: len(answers[place]),
    )
    written += [
        _following(workload, table, found.following[table.name]) for table in workload.following
    ]
    return WrittenTables(tuple(written), found.warnings)


def _written(
    workload: Workload,
    grouping: PlannedGrouping,
    answers: Answers,
    beside: Beside,
    every: Mapping[str, Answers],
) -> ReleasedTable:
    name = table_name(workload, grouping)
    derived = tuple(computed(workload, name, answers, every))
    rows = processed(answers, workload, beside, derived)
    named = workload.queries[grouping.query]
    query = named.query
    described = Described(
        name, named.title, grouping.grouping, query.answers, rows.schema, query.filter
    )
    return ReleasedTable.of(
        described, _files(workload, f"tables/{name}", rows, grouping.grouping.keys)
    )


def _following(workload: Workload, table: SummedTable, columns: Beside) -> ReleasedTable:
    rows = summed(table.keys.table, columns)
    source = workload.plan.groupings[table.source]
    described = Described(
        table.name,
        table.title,
        table.grouping,
        tuple(each.answer for each in source.answers if each.answer.name in table.answers),
        rows.schema,
        workload.queries[source.query].query.filter,
        table_name(workload, source),
    )
    return ReleasedTable.of(
        described, _files(workload, f"tables/{table.name}", rows, table.grouping.keys)
    )


def _files(
    workload: Workload, name: str, rows: pa.Table, keys: Keys | None = None
) -> dict[str, bytes]:
    files = {f"{name}.parquet": _bytes(write_parquet, rows, keys)}
    if workload.outputs.csv:
        files[f"{name}.csv"] = _bytes(write_csv, rows)
    return files


def release_files(
    workload: Workload,
    tables: Sequence[ReleasedTable | Answers],
    public: Mapping[str, bytes],
    paid: Paid,
) -> dict[str, bytes]:
    """Return every file of a release; the manifest, which lists the others, is the last."""
    files, written = dict(public), written_tables(workload, tables)
    lists = {name: each for name, each in public.items() if name.startswith("labels/")}
    digests = _digests(lists)
    for table in written.tables:
        files.update(table.files)
        digests.update(table.digests)
    described = [table.described for table in written.tables]
    files["datapackage.json"] = _json(data_package(workload, described, files, digests))
    files["methodology.md"] += warnings_section(written.warnings).encode()
    others = {name: content for name, content in files.items() if name not in digests}
    listed = _listed(files, digests | _digests(others))
    files[MANIFEST] = _json(_manifest(workload, listed, paid, written.warnings))
    return files


def table_name(workload: Workload, grouping: PlannedGrouping) -> str:
    """Return the name of a grouping's table: its query's, and its columns if there are several."""
    named = workload.queries[grouping.query]
    sets = named.query.groupings
    names = table_names(named.name, [each.columns for each in sets])
    return names[sets.index(grouping.grouping)]


def published_policy(workload: Workload, series: PublishedSeries | None = None) -> PublishedPolicy:
    """Return the public policy of a release, broken down by answer."""
    planned, charges = workload.plan, []
    for grouping in planned.groupings:
        table = table_name(workload, grouping)
        title = workload.queries[grouping.query].title
        if grouping.selection is not None:
            rows = stated_rows(planned, grouping)
            charges.append(
                PublishedCharge(
                    f"{table}.keys",
                    f"{title}: its keys",
                    grouping.selection,
                    rows,
                    outputs_of_keys(planned, grouping),
                )
            )
        for charged in grouping.answers:
            name = charged.answer.name
            noise = stated_noise(planned, grouping, charged.answer)
            outputs = outputs_of_answer(planned, grouping, charged.answer)
            charges.append(
                PublishedCharge(
                    f"{table}.{name}", f"{title}: {name}", charged.policy, noise, outputs
                )
            )
    return PublishedPolicy(
        workload.title,
        workload.schema.name,
        workload.fields,
        tuple(charges),
        workload.policy,
        workload.budget,
        (
            *((workload.description,) if workload.description else ()),
            *change_words(workload.schema),
        ),
        workload.examples,
        workload.schema.unit,
        series,
    )


def _manifest(
    workload: Workload, listed: Mapping[str, Any], paid: Paid, warnings: Sequence[str]
) -> dict[str, Any]:
    return {
        "format": "perrecord-manifest",
        "version": 1,
        "title": workload.title,
        "made_with": f"perrecord {VERSION}",
        "charge": paid.charge,
        **({"seal": paid.seal} if paid.seal is not None else {}),
        **({"warnings": list(warnings)} if warnings else {}),
        "files": listed,
    }


def _listed(files: Mapping[str, bytes], digests: Mapping[str, str]) -> dict[str, Any]:
    """Return the size and the digest of each file."""
    return {
        name: {"bytes": len(content), "sha256": digests[name]}
        for name, content in sorted(files.items())
    }


def _digests(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: sha256(content).hexdigest() for name, content in files.items()}


def _json(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2, default=_number) + "\n").encode()


def _number(value: object) -> Any:
    if isinstance(value, Fraction):
        return float(value)
    raise TypeError(type(value).__name__)


def _bytes(write: Callable[..., None], rows: pa.Table, *keys: Keys | None) -> bytes:
    buffer = BytesIO()
    write(rows, buffer, *keys)
    return buffer.getvalue()

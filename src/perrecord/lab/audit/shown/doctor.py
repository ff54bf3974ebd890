"""Figures of `perrecord doctor --confidential`, recounted from the rows of the source."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from perrecord.lab.audit.shown.document import Json
from perrecord.lab.audit.shown.evaluation import ExpectedEvaluation
from perrecord.lab.audit.shown.findings import Comparisons
from perrecord.lab.audit.shown.numerals import Expected
from perrecord.lab.audit.shown.realised import pieces_of_records
from perrecord.lab.audit.shown.source import GRID

Rows = Sequence[Mapping[str, Any]]


def check_json(
    findings: Comparisons, evaluation: ExpectedEvaluation, rows: Rows, found: Json
) -> None:
    """Compare `perrecord doctor SPEC --confidential --json`, what is about the machine left out."""
    spec = evaluation.spec
    public = {"columns": len(rows[0]) - 3, "dimensions": len(spec["dimensions"])}
    public |= {"measures": len(spec["measures"]), "queries": len(spec["queries"])}
    shown = {name: found["spec"][name] for name in public}
    findings.equal("doctor: the spec", shown, public)
    counted = found["CONFIDENTIAL"]
    findings.equal("doctor: rows", counted["rows"], len(rows))
    roles = [tuple(each.values()) for each in counted["roles"]]
    findings.equal("doctor: ids and units", roles, list(_roles(rows)))
    measures = [
        (each["name"], each["missing"], each["not_a_number"], each["outside"])
        for each in counted["measures"]
    ]
    findings.equal("doctor: measures", measures, list(_measures(rows)))
    keys = [(each["query"], each["columns"], each["records"], each["keys"])
            for each in counted["keys"]]  # fmt: skip
    findings.equal("doctor: keys", keys, list(_keys(evaluation)))
    pieces = [(each["split"], list(map(tuple, each["counts"]))) for each in counted["pieces"]]
    findings.equal("doctor: pieces", pieces, list(_pieces(evaluation)))


def check_words(
    findings: Comparisons, evaluation: ExpectedEvaluation, rows: Rows, text: str
) -> None:
    """Compare every number below the mark, and the counts of the spec above it."""
    public, _, counted = text.partition("CONFIDENTIAL")
    spec = evaluation.spec
    expected: list[Expected] = [len(rows[0]) - 3, len(spec["dimensions"])]
    expected += [len(spec["measures"]), len(spec["queries"])]
    findings.numerals("doctor in words: the spec", public.partition("columns:")[2], expected)
    findings.numerals("doctor in words", counted, list(_counted(evaluation, rows)))


def _counted(evaluation: ExpectedEvaluation, rows: Rows) -> Iterator[Expected]:
    yield len(rows)
    for each in _roles(rows):
        yield from each[2:]
    for name, *numbers in _measures(rows):
        del name
        yield from numbers
    for *_, records, keys in _keys(evaluation):
        yield from (records, keys)
    for _, counts in _pieces(evaluation):
        for first, last, number in counts:
            yield from (first, number) if first == last else (first, last, number)


def _roles(rows: Rows) -> Iterator[tuple[str, str, int, int, int]]:
    for role, column in (("id", "id"), ("unit", "firm")):
        values = [row[column] for row in rows]
        several = [count for count in Counter(values).items() if count[1] > 1]
        repeated = [count for value, count in several if value is not None]
        yield role, column, values.count(None), len(repeated), sum(repeated)


def _measures(rows: Rows) -> Iterator[tuple[str, int, int, int]]:
    """Yield what is missing; the random tables hold numbers within their ranges alone, but pay."""
    for name in GRID:
        column = "mass" if name == "load" else name
        yield name, sum(row[column] is None for row in rows), 0, 0


def _keys(evaluation: ExpectedEvaluation) -> Iterator[tuple[str, list[str], int, int]]:
    for row in evaluation.coverage:
        yield row["query"], row["by"], row["outside"], row["outside_keys"]


def _pieces(evaluation: ExpectedEvaluation) -> Iterator[tuple[str, list[tuple[int, int, int]]]]:
    """Yield how many records make 1, 2, 3 to 4, 5 to 8, ... pieces."""
    for name, scheme in evaluation.spec["splits"].items():
        found: Counter[tuple[int, int]] = Counter()
        for pieces in pieces_of_records(scheme, evaluation.records):
            last = 1
            while last < pieces:
                last *= 2
            found[1 if last == 1 else last // 2 + 1, last] += 1
        yield name, [(*ends, count) for ends, count in sorted(found.items())]

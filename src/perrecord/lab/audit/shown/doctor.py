"""Figures of `perrecord doctor --confidential`, recounted from the rows of the source."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from perrecord.lab.audit.changes import RECORD_COUNT
from perrecord.lab.audit.shown.declared import DeclaredMeasure, measures_of, records_of
from perrecord.lab.audit.shown.document import Json, Row
from perrecord.lab.audit.shown.evaluation import ExpectedEvaluation
from perrecord.lab.audit.shown.findings import Comparisons
from perrecord.lab.audit.shown.numerals import Expected
from perrecord.lab.audit.shown.realised import pieces_of_records

_NO_END = Fraction(10) ** 60

Rows = Sequence[Mapping[str, Any]]
Sides = Sequence[Rows]
"""The rows of a source, or of this period and of the last."""


def check_json(
    findings: Comparisons, evaluation: ExpectedEvaluation, sides: Sides, found: Json
) -> None:
    """Compare `perrecord doctor SPEC --confidential --json`, what is about the machine left out."""
    spec = evaluation.spec
    rows = [row for side in sides for row in side]
    public = {"columns": _columns(sides), "dimensions": len(spec["dimensions"])}
    public |= {"measures": len(measures_of(spec)), "queries": len(spec["queries"])}
    shown = {name: found["spec"][name] for name in public}
    findings.equal("doctor: the spec", shown, public)
    counted = found["CONFIDENTIAL"]
    findings.equal("doctor: rows", counted["rows"], len(rows))
    roles = [tuple(each.values()) for each in counted["roles"]]
    findings.equal("doctor: ids and units", roles, list(_roles(evaluation.records)))
    measures = [
        (each["name"], each["missing"], each["not_a_number"], each["outside"])
        for each in counted["measures"]
    ]
    findings.equal("doctor: measures", measures, list(_measures(spec, rows)))
    keys = [(each["query"], each["columns"], each["records"], each["keys"])
            for each in counted["keys"]]  # fmt: skip
    findings.equal("doctor: keys", keys, list(_keys(evaluation)))
    pieces = [(each["split"], list(map(tuple, each["counts"]))) for each in counted["pieces"]]
    findings.equal("doctor: pieces", pieces, list(_pieces(evaluation)))


def check_words(
    findings: Comparisons, evaluation: ExpectedEvaluation, sides: Sides, text: str
) -> None:
    """Compare every number below the mark, and the counts of the spec above it."""
    public, _, counted = text.partition("CONFIDENTIAL")
    spec = evaluation.spec
    rows = [row for side in sides for row in side]
    expected: list[Expected] = [_columns(sides), len(spec["dimensions"])]
    expected += [len(measures_of(spec)), len(spec["queries"])]
    findings.numerals("doctor in words: the spec", public.partition("columns:")[2], expected)
    findings.numerals("doctor in words", counted, list(_counted(evaluation, rows)))


def _columns(sides: Sides) -> int:
    """Return how many columns a source has, but for what lookups add; changes count records too."""
    return len(sides[0][0]) - 3 + (len(sides) > 1)


def _counted(evaluation: ExpectedEvaluation, rows: Rows) -> Iterator[Expected]:
    yield len(rows)
    for each in _roles(evaluation.records):
        yield from each[2:]
    for name, *numbers in _measures(evaluation.spec, rows):
        del name
        yield from numbers
    for *_, records, keys in _keys(evaluation):
        yield from (records, keys)
    for _, counts in _pieces(evaluation):
        for first, last, number in counts:
            yield from (first, number) if first == last else (first, last, number)


def _roles(records: Sequence[Row]) -> Iterator[tuple[str, str, int, int, int]]:
    for role, column in (("id", "id"), ("unit", "firm")):
        values = [record[column] for record in records]
        several = [count for count in Counter(values).items() if count[1] > 1]
        repeated = [count for value, count in several if value is not None]
        yield role, column, values.count(None), len(repeated), sum(repeated)


def _measures(spec: Json, rows: Rows) -> Iterator[tuple[str, int, int, int]]:
    """Yield what is missing, and what is beyond the largest that is counted."""
    records = records_of(spec, rows)
    for name, each in measures_of(spec).items():
        if each.is_derived:
            yield name, *_derived(each, records)
            continue
        values = [{**row, RECORD_COUNT: 1}[each.column or ""] for row in rows]
        known = [value for value in values if value is not None]
        beyond = sum(replace(each, outside="null").rounded(value) is None for value in known)
        yield name, len(values) - len(known), 0, beyond


def _derived(each: DeclaredMeasure, records: Sequence[Row]) -> tuple[int, int, int]:
    """Return how many have no value to compute one from, and whose value is beyond the largest."""
    plain = [replace(each, largest=_NO_END).derived(record) for record in records]
    known = [value for value in plain if value is not None]
    return len(plain) - len(known), 0, sum(abs(value) > each.largest for value in known)


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

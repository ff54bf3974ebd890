"""Two periods of the same records as one table of changes: this period's values less the last's.

Both files are read as one relation with a sign, +1 for rows of this period and -1 for those of the
last. Every row is derived and rounded by itself, exactly as in a table of its own period. Then the
rows of one id that have the same dimensions and unit are one record, with the difference of their
measures; a side that is missing, or is NULL, counts as 0. So a record that stays where it was is
one record with its change, one that enters or leaves has its whole value, and one that moves is two
records: minus what it was where it was, plus what it is where it is. Changes of all cells therefore
add up to the levels of this period, exactly, when the levels of the last are added (T35).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from perrecord.errors import SchemaError, SourceError, listing
from perrecord.tables.dialects import Dialect
from perrecord.tables.expressions import Column, Expression, columns_of
from perrecord.tables.measures import Measure, is_text

SIGN = "_perrecord_sign"
"""The column of the stacked relation that is 1 for rows of this period and -1 for the last's."""

ID = "_perrecord_id"
"""What the id is called inside, whatever dimension has its name."""

RECORD_COUNT = "record_count"
"""A column that a table of changes has of its own: 1 in every row, so that its change is 1 for a
record that enters, -1 for one that leaves and 0 for one that stays."""

CHANGE_KIND = "change_kind"
"""A column that a table of changes has of its own: one of `KINDS`."""

ENTRY, EXIT, CONTINUING, MOVED_IN, MOVED_OUT = (
    "entry", "exit", "continuing", "moved in", "moved out",
)  # fmt: skip
KINDS = (ENTRY, EXIT, CONTINUING, MOVED_IN, MOVED_OUT)

LARGEST_LINKED = 2**62 - 1
"""The most steps that a value may have: the difference of two is then a 64-bit integer."""

_OWN = (RECORD_COUNT, CHANGE_KIND)


def shared_columns(
    this: Mapping[str, pa.DataType], last: Mapping[str, pa.DataType]
) -> dict[str, str | None]:
    """Return the columns that both periods have, each with the SQL type that both are cast to.

    Whole numbers of different widths and text in different types are one kind; other columns of
    different types are refused, because a number is read by the rule of its type.
    """
    ours = [name for name in (*this, *last) if name.casefold() in _OWN]
    if ours:
        raise SourceError(
            f"a file has the column {listing(dict.fromkeys(ours))}, which a table of changes has "
            "of its own. Rename it."
        )
    found: dict[str, str | None] = {}
    for name in (each for each in this if each in last):
        kinds = this[name], last[name]
        if all(map(_is_text, kinds)):
            found[name] = "STRING"
        elif all(pa.types.is_integer(each) and each != pa.uint64() for each in kinds):
            found[name] = "BIGINT"
        elif kinds[0] == kinds[1]:
            found[name] = None
        else:
            raise SourceError(
                f"the column {name!r} is {kinds[0]} in this period and {kinds[1]} in the last; "
                "write both in one format and with the same types, or leave it out of one."
            )
    if not found:
        raise SourceError(
            "the two periods have no column in common; expected two files of the same columns."
        )
    return found


def stacked(columns: Mapping[str, str | None], dialect: Dialect, sign: int) -> list[str]:
    """Return what is selected of one period for the stacked relation."""
    name = dialect.identifier
    chosen = [
        f"{name(each)} AS {name(each)}" if kind is None
        else f"CAST({name(each)} AS {kind}) AS {name(each)}"
        for each, kind in columns.items()
    ]  # fmt: skip
    one = dialect.literal(1)
    return [
        *chosen,
        f"{one} AS {name(RECORD_COUNT)}",
        f"{dialect.literal(sign)} AS {name(SIGN)}",
    ]


def linked_measure(measure: Measure) -> Measure:
    """Return the rule of a measure on each side of a link: no larger than a difference allows."""
    return _reaching(measure, min(measure.largest, LARGEST_LINKED))


def changed_measure(measure: Measure) -> Measure:
    """Return the rule of a difference: up to twice what a side may be."""
    return _reaching(measure, 2 * measure.largest)


def _reaching(measure: Measure, steps: int) -> Measure:
    return Measure(
        measure.resolution,
        column=measure.column,
        largest=steps * measure.resolution,
        outside=measure.outside,
    )


def check_kinds(name: str, expression: Expression) -> None:
    """Refuse a dimension that mixes what kind of change a record is with what a row holds."""
    read = columns_of(expression)
    if CHANGE_KIND in read and len(read) > 1:
        raise SchemaError(
            f"the dimension {name!r} reads {CHANGE_KIND!r} and other columns; which kind of change "
            "a record is depends on all its dimensions. Make it a dimension of its own."
        )


def unless_read(
    definitions: Mapping[str, Expression], changes: Collection[str]
) -> dict[str, Expression]:
    """Return definitions with those that read a change made to follow from nothing in a record."""
    unknown = Column("_perrecord_row")
    return {
        name: each if columns_of(each).isdisjoint(changes) else unknown
        for name, each in definitions.items()
    }


def changes_sql(
    rows: str,
    groups: Sequence[str],
    measures: Collection[str],
    shown: Mapping[str, str],
    dialect: Dialect,
    *,
    has_kind: bool,
) -> str:
    """Return the SELECT of changes from rows that are derived and on their grid.

    `groups` are the columns that rows of one record share beside the id, `measures` are replaced by
    their changes, `shown` is what is selected in the end, by name.
    """
    name = dialect.identifier
    keys = [ID, *map(name, groups)]
    chosen = [*keys, *(f"{_change(name(each), dialect)} AS {name(each)}" for each in measures)]
    if has_kind:
        chosen += [f"{_any(sign)} AS _perrecord_{side}" for side, sign in _SIDES.items()]
    changes = f"SELECT {', '.join(chosen)} FROM ({rows}) AS rows GROUP BY {', '.join(keys)}"
    if has_kind:
        ever = ", ".join(
            f"max(_perrecord_{side}) OVER (PARTITION BY {ID}) AS _perrecord_ever_{side}"
            for side in _SIDES
        )
        changes = f"SELECT *, {ever} FROM ({changes}) AS grouped"
    selected = ", ".join(f"{sql} AS {name(each)}" for each, sql in shown.items())
    return f"SELECT {selected or '1 AS _perrecord_one'} FROM ({changes}) AS changes"


_SIDES = {"this": ">", "last": "<"}


def kind_sql(dialect: Dialect) -> str:
    """Return which kind of change a record is."""
    text = dialect.literal
    return dialect.as_text(
        f"(CASE WHEN _perrecord_this = 1 AND _perrecord_last = 1 THEN {text(CONTINUING)} "
        f"WHEN _perrecord_this = 1 AND _perrecord_ever_last = 1 THEN {text(MOVED_IN)} "
        f"WHEN _perrecord_this = 1 THEN {text(ENTRY)} "
        f"WHEN _perrecord_ever_this = 1 THEN {text(MOVED_OUT)} ELSE {text(EXIT)} END)"
    )


def _change(value: str, dialect: Dialect) -> str:
    """Return this period's value less the last's; NULL where neither is a number.

    An id names one row of each period, so that the greatest value is the only one.
    """
    sides = [
        f"coalesce(max(CASE WHEN {SIGN} {sign} 0 THEN {value} END), {dialect.literal(0)})"
        for sign in _SIDES.values()
    ]
    return f"CASE WHEN count({value}) > 0 THEN {' - '.join(sides)} END"


def _any(sign: str) -> str:
    return f"max(CASE WHEN {SIGN} {sign} 0 THEN 1 ELSE 0 END)"


def faults_sql(rows: str) -> str:
    """Return for this period and the last whether some id is missing, and whether one is repeated.

    `rows` selects the id and the sign of every row.
    """
    counted = f"SELECT {ID}, {SIGN}, count(*) AS copies FROM ({rows}) AS rows GROUP BY {ID}, {SIGN}"
    wrong = (f"{ID} IS NULL", f"{ID} IS NOT NULL AND copies > 1")
    flags = [
        f"coalesce(max(CASE WHEN {SIGN} {sign} 0 AND {each} THEN 1 ELSE 0 END), 0)"
        for sign in _SIDES.values()
        for each in wrong
    ]
    return f"SELECT {', '.join(flags)} FROM ({counted}) AS counted"


def check_faults(flags: Sequence[int]) -> None:
    """Refuse ids that do not name one row of each period; nothing about them is said."""
    said = [
        f"{'some rows' if is_missing else 'some ids'} of {period} "
        f"{'have no id' if is_missing else 'are those of several rows'}"
        for flag, (period, is_missing) in zip(
            flags,
            [(period, each) for period in ("this period", "the last") for each in (True, False)],
            strict=True,
        )
        if flag
    ]
    if said:
        raise SourceError(
            f"the two periods cannot be linked: {' and '.join(said)}. Every row needs an id, and "
            "an id names one row of each period: a change belongs to one record. Nothing was "
            "charged. Correct the files; no id is shown here, because it is confidential."
        )


# -- what it means, in Python -----------------------------------------------------------------

Row = Mapping[str, Any]


def linked_records(
    this: Row | None, last: Row | None, measures: Iterable[str], groups: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the records of one id: of its rows as records of their own periods, None if missing.

    >>> before, now = {"county": "A", "emp": 10}, {"county": "B", "emp": 12}
    >>> [(each["county"], each["emp"]) for each in linked_records(now, before, ["emp"], ["county"])]
    [('B', 12), ('A', -10)]
    >>> linked_records({"county": "A", "emp": 12}, before, ["emp"], ["county"])
    [{'county': 'A', 'emp': 2, 'change_kind': 'continuing'}]
    """
    names = list(measures)
    if this is not None and last is not None and all(this[each] == last[each] for each in groups):
        pairs = {each: (this[each], last[each]) for each in names}
        return [{**this, **{n: _less(*pair) for n, pair in pairs.items()}, CHANGE_KIND: CONTINUING}]
    found = []
    if this is not None:
        kind = ENTRY if last is None else MOVED_IN
        found.append({**this, CHANGE_KIND: kind})
    if last is not None:
        kind = EXIT if this is None else MOVED_OUT
        less = {each: _less(None, last[each]) for each in names}
        found.append({**last, **less, CHANGE_KIND: kind})
    return found


def _less(this: Any, last: Any) -> Any:
    if this is None and last is None:
        return None
    return (0 if this is None else this) - (0 if last is None else last)


def _is_text(kind: pa.DataType) -> bool:
    return is_text(kind.value_type if pa.types.is_dictionary(kind) else kind)

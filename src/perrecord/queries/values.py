"""What one record adds, as SQL on 64-bit integers: clamped values, pieces, buckets.

Thresholds and bounds that hang on a record's dimensions come from a small public table joined to
the records, so that five thousand industries cost no more than one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import pyarrow as pa

from perrecord.policy.cases import Cases
from perrecord.policy.split import Scheme, Split
from perrecord.queries.aggregates import (
    GIANT,
    ROOT,
    Bucket,
    Giants,
    SquarePart,
    SquareTotal,
    Total,
    bucket_bounds,
)
from perrecord.queries.methods import Branch, Leaf, Method, Splitting, Tree, tree_of
from perrecord.tables.dialects import Dialect
from perrecord.tables.measures import LARGEST

Parameters = tuple[int | None, ...]


@dataclass(slots=True)
class JoinedTables:
    """The public tables of thresholds and bounds that a scan joins, gathered as it is written."""

    dialect: Dialect
    prefix: str
    tables: dict[str, pa.Table] = field(default_factory=dict)
    joins: list[str] = field(default_factory=list)
    _seen: dict[object, str] = field(default_factory=dict)

    def parameters(self, tree: Tree, of: Callable[[Method], Parameters], count: int) -> list[str]:
        """Return SQL for the numbers that apply to a record, `of` giving those of one method."""
        if isinstance(tree, Leaf):
            return [_number(each, self.dialect) for each in of(tree.method)]
        entries = tree.cases.entries
        plain = [of(part.method) if isinstance(part, Leaf) else None for _, part in entries]
        alias = self._table(tree.cases, plain, count)
        nested = {
            index: self.parameters(part, of, count)
            for index, (_, part) in enumerate(entries)
            if isinstance(part, Branch)
        }
        default = tree.cases.default
        otherwise = ["NULL"] * count if default is None else self.parameters(default, of, count)
        return [
            self._choice(alias, position, {k: v[position] for k, v in nested.items()}, other)
            for position, other in enumerate(otherwise)
        ]

    def _choice(self, alias: str, position: int, nested: Mapping[int, str], otherwise: str) -> str:
        inner = "".join(f" WHEN {alias}.part = {k} THEN {sql}" for k, sql in nested.items())
        return (
            f"CASE WHEN {alias}.part IS NULL THEN {otherwise}{inner} ELSE {alias}.p{position} END"
        )

    def _table(self, cases: Cases[Tree], plain: list[Parameters | None], count: int) -> str:
        keys = [key for key, _ in cases.entries]
        identity = (cases.dimensions, tuple(keys), tuple(plain), count)
        if identity in self._seen:
            return self._seen[identity]
        alias = f"{self.prefix}_part{len(self.tables)}"
        columns = {
            f"k{index}": _column([key[index] for key in keys])
            for index in range(len(cases.dimensions))
        }
        columns["part"] = pa.array(range(len(keys)), pa.int64())
        for position in range(count):
            numbers = [None if each is None else each[position] for each in plain]
            columns[f"p{position}"] = pa.array(numbers, pa.int64())
        self.tables[alias] = pa.table(columns)
        conditions = " AND ".join(
            self.dialect.is_same(f"records.{self.dialect.identifier(name)}", f"{alias}.k{index}")
            for index, name in enumerate(cases.dimensions)
        )
        self.joins.append(f" LEFT JOIN {alias} ON {conditions}")
        self._seen[identity] = alias
        return alias


def total_value(total: Total, resolution: Fraction, parts: JoinedTables) -> str:
    """Return what a record adds to a total, in grid units; NULL where the measure is NULL."""
    value = f"records.{parts.dialect.identifier(total.measure)}"
    if total.clamps is None:
        return value

    def bounds(method: Method) -> Parameters:
        if method.bounds is None:
            return None, None
        low, high = method.bounds
        return _grid(low, resolution), _grid(high, resolution)

    low, high = parts.parameters(total.clamps, bounds, 2)
    clamped = (
        f"CASE WHEN {value} > {high} THEN {high} WHEN {value} < {low} THEN {low} ELSE {value} END"
    )
    return f"(2 * ({clamped}) - ({low} + {high}))" if total.is_centred else clamped


def square_value(squares: SquareTotal, dialect: Dialect) -> str:
    """Return the square that a record adds; NULL if the value is NULL or a giant's."""
    value = f"records.{dialect.identifier(squares.measure)}"
    return f"CASE WHEN NOT {_is_giant(squares.measure, dialect)} THEN {dialect.square(value)} END"


def square_part_value(part: SquarePart, dialect: Dialect) -> str:
    """Return what a record adds to a part of the squares of giants; NULL if it is none."""
    value = f"records.{dialect.identifier(part.measure)}"
    quotient, rest = dialect.divided(value, ROOT)
    first, second = [(rest, rest), (quotient, rest), (quotient, quotient)][part.power]
    return f"CASE WHEN {_is_giant(part.measure, dialect)} THEN ({first} * {second}) END"


def has_giant(giants: Giants, dialect: Dialect) -> str:
    """Return whether a record has a giant value; it may be NULL instead of false."""
    return f"({' OR '.join(_is_giant(measure, dialect) for measure in giants.measures)})"


def _is_giant(measure: str, dialect: Dialect) -> str:
    value = f"records.{dialect.identifier(measure)}"
    return f"({value} >= {dialect.literal(GIANT)} OR {value} <= {dialect.literal(-GIANT)})"


def weight_value(measure: str, dialect: Dialect) -> str:
    """Return what a record adds to a sum of weights: nothing where its own is below 0 or NULL."""
    weight = f"records.{dialect.identifier(measure)}"
    return f"CASE WHEN {weight} > 0 THEN {weight} END"


def pieces_value(split: Scheme, resolutions: Mapping[str, Fraction], parts: JoinedTables) -> str:
    """Return m(r), the number of pieces of a record (T3)."""
    *thresholds, cap = _scheme_parameters(split, resolutions, parts)
    each = [
        _ceiling(f"records.{parts.dialect.identifier(name)}", threshold, parts.dialect)
        for name, threshold in zip(split.measures, thresholds, strict=True)
    ]
    most = f"greatest({', '.join([parts.dialect.literal(1), *each])})"
    return (
        most
        if cap == _number(None, parts.dialect)
        else f"least({most}, {_capped(cap, parts.dialect)})"
    )


def threshold_values(
    split: Scheme, resolutions: Mapping[str, Fraction], parts: JoinedTables
) -> dict[str, str]:
    """Return the threshold of each measure for a record, on its grid; NULL where it has none."""
    *thresholds, _ = _scheme_parameters(split, resolutions, parts)
    return dict(zip(split.measures, thresholds, strict=True))


def _scheme_parameters(
    split: Scheme, resolutions: Mapping[str, Fraction], parts: JoinedTables
) -> list[str]:
    """Return each measure's threshold, then the cap."""
    names = split.measures
    return parts.parameters(
        scheme_tree(split), lambda method: _thresholds(method, names, resolutions), len(names) + 1
    )


def scheme_tree(split: Scheme) -> Tree:
    """Return a scheme as a tree of parts."""
    return tree_of(Splitting(Fraction(1), split))


def bucket_value(bucket: Bucket, resolution: Fraction, dialect: Dialect) -> str:
    """Return between which candidates a record's measure lies, by binary search."""
    value = f"records.{dialect.identifier(bucket.measure)}"
    bounds = bucket_bounds(bucket, resolution)

    def search(start: int, end: int) -> str:
        if start == end:
            return str(2 * start)
        middle = (start + end) // 2
        bound, is_exact = bounds[middle]
        equal = (
            f" WHEN {value} = {dialect.literal(bound)} THEN {2 * middle + 1}" if is_exact else ""
        )
        return (
            f"CASE WHEN {value} < {dialect.literal(bound)} THEN {search(start, middle)}{equal} "
            f"ELSE {search(middle + 1, end)} END"
        )

    return f"CASE WHEN {value} IS NOT NULL THEN CAST({search(0, len(bounds))} AS BIGINT) END"


def _ceiling(value: str, threshold: str, dialect: Dialect) -> str:
    """Return ceil(|value| / threshold), 0 where either is NULL."""
    quotient, rest = dialect.divided(f"abs({value})", threshold)
    return f"coalesce({quotient} + CASE WHEN {rest} > 0 THEN 1 ELSE 0 END, {dialect.literal(0)})"


def _capped(cap: str, dialect: Dialect) -> str:
    return f"coalesce({cap}, {dialect.literal(LARGEST)})"


def _thresholds(
    method: Method, names: tuple[str, ...], resolutions: Mapping[str, Fraction]
) -> Parameters:
    if not isinstance(method.scheme, Split):
        return (None,) * (len(names) + 1)
    known, cap = dict(method.scheme.thresholds), method.scheme.cap
    found = [
        None if name not in known else min(_grid(known[name], resolutions[name]), LARGEST)
        for name in names
    ]
    return (*found, None if cap is None else min(cap, LARGEST))


def _grid(number: Fraction, resolution: Fraction) -> int:
    return max(-LARGEST, min(LARGEST, int(number / resolution)))


def _number(value: int | None, dialect: Dialect) -> str:
    return "CAST(NULL AS BIGINT)" if value is None else dialect.literal(value)


def _column(values: list[object]) -> pa.Array:
    """Return a dimension's case values; a column of nothing but NULL is text."""
    array = pa.array(values)
    return array.cast(pa.string()) if pa.types.is_null(array.type) else array

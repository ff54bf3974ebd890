"""Random expressions of every kind, and random rows to try them on."""

from fractions import Fraction
from itertools import product
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from perrecord.tables.expressions import (
    And,
    AsText,
    Case,
    Coalesce,
    Column,
    Comparison,
    Concat,
    DatePart,
    DateStart,
    Distinct,
    Expression,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Operator,
    Or,
    Quotient,
    Remainder,
    Substring,
)
from perrecord.tables.expressions.nodes import DATE_UNITS
from perrecord.tables.fields import Kind, TypedColumn

FIELDS = {
    field.name: field
    for field in (
        TypedColumn("state", Kind.TEXT),
        TypedColumn('na"me', Kind.TEXT),
        TypedColumn("size", Kind.INTEGER),
        TypedColumn("year", Kind.INTEGER),
        TypedColumn("closed", Kind.TRUTH),
        TypedColumn("emp", Kind.MEASURE, Fraction(1, 10)),
        TypedColumn("pay", Kind.MEASURE, Fraction(1, 10)),
        TypedColumn("area", Kind.MEASURE, Fraction(5, 2)),
    )
}
TYPES = {Kind.TEXT: "string", Kind.INTEGER: "int64", Kind.TRUTH: "bool", Kind.MEASURE: "int64"}
EDGE = 2**63
DATES = (
    *(f"2024-{month:02}-28" for month in range(14)),
    *("0001-01-01", "9999-12-31", "2024-02-31", "2024-02-32", "2024-02-00", "0000-01-01"),
    *("2024-02-29 08:30:00.000001", "2024-02-29T", "2024-2-29", "2024-02-2", "24-02-29", "2024-02"),
    *("12024-02-29", "-2024-02-29", "2024/02/29", "2024-02-2٣", "２024-02-29", "2024-02-29\n"),
    *(" 2024-02-29", "29.02.2024", "2024-0a-29", "😀024-02-29", "2024-02-2x", "2024-02-3 "),
)
"""Texts that begin with a date, and texts that nearly do."""

# Few different pieces, so that texts often meet; each is a known trouble: astral characters,
# combining marks, quotes, backslashes, line ends, Spark's variables, wildcards, NUL.
texts = st.lists(
    st.sampled_from(["a", "A", "b", "😀", "é", "e\u0301", "ß", "'", '"', "\\", "\n", "\r", "\t"])
    | st.sampled_from(["${x}", "%", "_", " ", "\0", "\uffff", "\\u0041", "`", "--", "/*", ";"]),
    max_size=4,
).map("".join)
integers = (
    st.integers(-3, 3)
    | st.integers(-EDGE, EDGE - 1)
    | st.sampled_from([-EDGE, -EDGE + 1, EDGE - 1, EDGE - 2])
)
decimals = st.integers(-40, 40).map(lambda value: Fraction(value, 4)) | st.sampled_from(
    [Fraction(number, ten) for number in (EDGE, -EDGE, 1 - EDGE, 10 * EDGE) for ten in (1, 10)]
    + [Fraction(EDGE * 5, 2), Fraction(-EDGE * 5, 2), Fraction(10**30), Fraction(1, 1000)]
)
numbers = (integers | decimals).map(Literal)
nulls = st.just(Literal(None))


def _columns(kind: Kind) -> st.SearchStrategy:
    return st.sampled_from([Column(name) for name, field in FIELDS.items() if field.kind is kind])


def _pairs(parts: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(parts, min_size=2, max_size=3).map(tuple)


def _choices(results: st.SearchStrategy) -> st.SearchStrategy:
    branches = st.lists(st.tuples(truths, results), min_size=1, max_size=2).map(tuple)
    return st.builds(Case, branches, results) | st.builds(Coalesce, _pairs(results))


text_leaves = _columns(Kind.TEXT) | (texts | st.sampled_from(DATES)).map(Literal) | nulls
integer_leaves = _columns(Kind.INTEGER) | integers.map(Literal) | nulls
divisors = st.integers(1, 3) | st.sampled_from([10, EDGE - 1])
truths = st.deferred(lambda: _truths)
_units = st.sampled_from(DATE_UNITS)

whole = st.deferred(lambda: _whole)
words = st.deferred(lambda: _words)
_whole = (
    integer_leaves
    | st.builds(Quotient, whole, divisors)
    | st.builds(Remainder, whole, divisors)
    | st.builds(DatePart, _units, words)
    | _choices(whole)
)
_words = (
    text_leaves
    | st.builds(Substring, words, st.integers(1, 4), st.integers(0, 3))
    | st.builds(Concat, _pairs(words))
    | st.builds(AsText, whole)
    | st.builds(DateStart, _units, words)
    | _choices(words)
)
_operators = st.sampled_from(Operator)
_equalities = st.sampled_from([Operator.EQUAL, Operator.UNEQUAL])
_measures = st.sampled_from(["emp", "pay"]).map(Column)
_any_measure = _columns(Kind.MEASURE)


def _options(values: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(values | nulls, min_size=1, max_size=4).map(tuple)


def _compared(*sides: st.SearchStrategy) -> st.SearchStrategy:
    return st.builds(Comparison, _operators, *sides) | st.builds(Distinct, *sides)


_truths = (
    _columns(Kind.TRUTH)
    | st.booleans().map(Literal)
    | nulls
    | _compared(words, words)
    | _compared(whole | numbers, whole | numbers)
    | _compared(_measures, _measures | numbers | nulls)
    | _compared(numbers | nulls, _any_measure)
    | st.builds(Comparison, _equalities, truths, truths)
    | st.builds(Distinct, truths, truths)
    | st.builds(IsNull, words | whole | truths | _any_measure)
    | st.builds(In, words, _options(texts.map(Literal)))
    | st.builds(In, whole | numbers | _any_measure, _options(numbers))
    | st.builds(In, truths, _options(st.booleans().map(Literal)))
    | st.builds(Like, words, texts.filter(lambda text: text.count("%") <= 8))
    | st.builds(Not, truths)
    | st.builds(And, _pairs(truths))
    | st.builds(Or, _pairs(truths))
    | _choices(truths)
)

# Rare among all conditions, so drawn apart: patterns on plain text, and three-valued logic.
_patterns = st.builds(Like, text_leaves, texts.filter(lambda text: text.count("%") <= 8))
_simple = _columns(Kind.TRUTH) | st.booleans().map(Literal) | nulls | st.builds(IsNull, words)
_joined = st.builds(And, _pairs(_simple)) | st.builds(Or, _pairs(_simple | _patterns))

expressions = truths | words | whole | _patterns | _joined | st.builds(Not, _joined)

_VALUES = {
    Kind.TEXT: texts,
    Kind.INTEGER: integers,
    Kind.TRUTH: st.booleans(),
    Kind.MEASURE: integers,
}
rows = st.fixed_dictionaries(
    {name: st.none() | _VALUES[field.kind] for name, field in FIELDS.items()}
)
"""Rows as an engine holds them, measures as multiples of their resolution."""


def record_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the record that a row stands for, measures in their units."""
    return {
        name: row[name] if None in (row[name], field.resolution) else row[name] * field.resolution
        for name, field in FIELDS.items()
    }


def arrow_table(given: list[dict[str, Any]]) -> pa.Table:
    """Return the rows, numbered, as an Arrow table of the types that engines hold."""
    columns = {
        name: pa.array([row[name] for row in given], pa.type_for_alias(TYPES[field.kind]))
        for name, field in FIELDS.items()
    }
    return pa.table({"row": pa.array(range(len(given)), pa.int64()), **columns})


def on_characters() -> list[Expression]:
    """Return LIKE with every short pattern, SUBSTRING at every place and every part of a date."""
    signs = ["%", "_", "a", "😀", "\n", "\\"]
    patterns = ["".join(pair) for length in range(3) for pair in product(signs, repeat=length)]
    places = product((1, 2, 3), (0, 1, 2))
    text = Column("state")
    return [
        *(Like(text, pattern) for pattern in patterns),
        *(Substring(text, start, length) for start, length in places),
        *(DatePart(unit, text) for unit in DATE_UNITS),
        *(DateStart(unit, text) for unit in DATE_UNITS),
        DatePart("month", DateStart("quarter", Concat((text, Literal(" 08:30"))))),
    ]


def character_rows() -> list[dict[str, Any]]:
    """Return a row for every short text of the characters that engines may count otherwise."""
    characters = ["a", "😀", "\u0301", "\n", "\r", "\\", "%"]
    pairs = (pair for length in range(3) for pair in product(characters, repeat=length))
    texts = [*map("".join, pairs), *DATES]
    return [dict.fromkeys(FIELDS) | {"state": text} for text in texts]

"""Parsing: every spelling that is read, and what is refused, by name and at its place."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perrecord.errors import SQLTextError
from perrecord.tables.expressions import Column, Comparison, Literal, Operator, Remainder, describe
from perrecord.tables.parse import from_sqlglot, parse_expression
from perrecord.tables.syntax import parse_sql

SPELLINGS = [
    ("a<>b", "a <> b"),
    ("a != b", "a <> b"),
    ("a == b", "a = b"),
    ("a <=> b", "a IS NOT DISTINCT FROM b"),
    ("NOT x IN (1, 2)", "x NOT IN (1, 2)"),
    ("x not in (1)", "x NOT IN (1)"),
    ("x IS NOT NULL", "x IS NOT NULL"),
    ("x ISNULL", "x IS NULL"),
    ("closed IS TRUE", "closed IS NOT DISTINCT FROM TRUE"),
    ("closed IS NOT FALSE", "NOT (closed IS NOT DISTINCT FROM FALSE)"),
    ("closed IS UNKNOWN", "closed IS NULL"),
    ("x BETWEEN 1 AND 2 AND y", "(x >= 1 AND x <= 2) AND y"),
    ("x NOT BETWEEN 1 AND 2", "NOT (x >= 1 AND x <= 2)"),
    ("a OR b AND c", "a OR (b AND c)"),
    ("(a OR b) AND c", "(a OR b) AND c"),
    ("NOT a = b AND c", "NOT (a = b) AND c"),
    ("a = b IS NULL", "(a = b) IS NULL"),
    ("a NOT LIKE '4_%'", "a NOT LIKE '4_%'"),
    ("CASE x WHEN 1 THEN 'a' WHEN 2 THEN 'b' END", None),
    ("CASE WHEN x = 1 THEN 'a' END", "CASE WHEN x = 1 THEN 'a' ELSE NULL END"),
    ("substr(a, 1, 2)", "SUBSTRING(a, 1, 2)"),
    ("SUBSTRING(a FROM 3 FOR 2)", "SUBSTRING(a, 3, 2)"),
    ("LEFT(a, 2)", "SUBSTRING(a, 1, 2)"),
    ("a || (b || c)", "a || (b || c)"),
    ("x::TEXT", "CAST(x AS VARCHAR)"),
    ("cast(x as string)", "CAST(x AS VARCHAR)"),
    ("x DIV 2", "x // 2"),
    ("MOD(x, 3)", "x % 3"),
    ("-7 % 3", "-7 % 3"),
    ("IFNULL(a, 'none')", "COALESCE(a, 'none')"),
    ("a = -5", "a = -5"),
    ("a = +5", "a = 5"),
    ("a = 1e3", "a = 1000"),
    ("a = 1_000", "a = 1000"),
    ("a = .50", "a = 0.5"),
    ("a = 12.0", "a = 12"),
    ("a = 'it''s \\n'", "a = 'it''s \\n'"),
    ('"A b" = 1', '"A b" = 1'),
    ('"left" = "x""y"', '"left" = "x""y"'),
    ("a -- a remark\n = /* another */ 1", "a = 1"),
    ("a = 1;", "a = 1"),
    ("a = '(((((((((((((((((((((((((((('", "a = '(((((((((((((((((((((((((((('"),
]


@pytest.mark.parametrize(("text", "canonical"), SPELLINGS)
def test_a_spelling_is_read(text, canonical):
    """Every spelling has one canonical text, which parses back to the same expression."""
    expression = parse_expression(text)
    if canonical is None:
        canonical = "CASE WHEN x = 1 THEN 'a' WHEN x = 2 THEN 'b' ELSE NULL END"
    assert describe(expression) == canonical
    assert parse_expression(canonical) == expression


# Each refusal: the text, a fragment of the message, and the piece that the carets stand under.
REFUSALS = [
    ("CONCAT(a, b) = 'x'", "CONCAT is not supported, because engines differ", "CONCAT(a, b)"),
    ("state = UPPER('nc')", "UPPER is not supported, because engines differ", "UPPER('nc')"),
    ("a = 1 AND lower(b) = 'x'", "LOWER is not supported", "lower(b)"),
    ("x ILIKE 'a'", "ILIKE is not supported", "x ILIKE 'a'"),
    ("a COLLATE nocase = 'x'", "COLLATE is not supported", "a"),
    ("a AND y + 1 > 5", "+ is not supported, because it can overflow", "y + 1"),
    ("y - 1 > 5", "- is not supported", "y - 1"),
    ("y * 2 > 5", "* is not supported", "y * 2"),
    ("y / 2 > 5", "write // for whole numbers", "y / 2"),
    ("a = -x", "- before anything but a number", "-x"),
    ("x ** 2 > 4", "** is not supported", "x ** 2"),
    ("ABS(x) > 4", "ABS is not supported, because it can overflow", "ABS(x)"),
    ("a AND now() > x", "NOW is not supported, because a row's value would change", "now()"),
    ("x < CURRENT_DATE", "CURRENT_DATE is not supported", "CURRENT_DATE"),
    ("a = 'current_date' AND x < current_date", "CURRENT_DATE", "current_date"),
    ("random() < 0.5", "RANDOM is not supported", "random()"),
    ("week(d) = 24", "told by YEAR(day) or DATE_TRUNC", "week(d)"),
    ("EXTRACT(hour FROM d) = 20", "of the year, quarter, month or day", "EXTRACT(hour FROM d)"),
    ("date_trunc('week', d) = '2024'", "DATE_TRUNC is of the year", "date_trunc('week', d)"),
    ("d > DATE '2024-01-01'", "this cast is not supported", "DATE '2024-01-01'"),
    ("d > INTERVAL '1' day", "INTERVAL is not supported", "INTERVAL '1'"),
    ("a = 1 AND CAST(b AS INTEGER) = 2", "this cast is not supported", "CAST(b AS INTEGER)"),
    ("CAST(b AS VARCHAR(5)) = 'x'", "this cast is not supported", "CAST(b AS VARCHAR(5))"),
    ("CAST(b AS CHAR) = 'x'", "this cast is not supported", "CAST(b AS CHAR)"),
    ("CAST(c AS TEXT) = 'x' AND b::INT = 2", "this cast is not supported", "b::INT"),
    ("TRY_CAST(b AS TEXT) = 'x'", "TRY_CAST is not supported", "TRY_CAST(b AS TEXT)"),
    ("COUNT(*) > 5", "ask for it as a query of its own", "COUNT(*)"),
    ("MAX(x) > 5", "MAX is not supported", "MAX(x)"),
    ("SUM(x) OVER () > 5", "a window is not supported", "SUM(x)"),
    ("x IN (SELECT y FROM t)", "declare a public lookup", "SELECT y FROM t"),
    ("EXISTS (SELECT 1 FROM t) AND a", "a subquery is not supported", "SELECT 1 FROM t"),
    ("(SELECT 1) = x", "a subquery is not supported", "SELECT 1"),
    ("x = ANY (y)", "ANY is not supported", "ANY (y)"),
    ("x IN y", "IN takes a list of values", "x IN y"),
    ("x IN (1, y)", "IN takes a list of values", "y"),
    ("x IN ()", "IN needs at least one value", "x"),
    ("x IN ('a' 'b')", "two texts are side by side", "'a'"),
    ("(a, b) IN ((1, 2))", "a list of values is not supported", "1, 2"),
    ("x = ?", "a parameter is not supported", "?"),
    ("x = $1", "a parameter is not supported", "$"),
    ("x = :name", "a parameter is not supported", ":"),
    ("a = E'x\\n'", "this kind of text is not supported", "E'x\\n'"),
    ("a = N'x'", "this kind of text is not supported", "N'x'"),
    ("a = $$x$$", "this kind of text is not supported", "$$x$$"),
    ("a = 0x10", "this does not belong here", "x10"),
    ("x LIKE y", "LIKE takes a pattern in quotes", "y"),
    ("x LIKE ANY ('a')", "LIKE takes a pattern in quotes", "ANY ('a')"),
    ("x LIKE 'a!%' ESCAPE '!'", "ESCAPE is not supported", "x LIKE 'a!%' ESCAPE '!'"),
    ("x LIKE '%a%b%c%d%e%f%g%h%i'", "at most 8 % signs", "x LIKE '%a%b%c%d%e%f%g%h%i'"),
    ("x ~ 'a'", "write LIKE with % and _ instead", "x ~ 'a'"),
    ("x SIMILAR TO 'a'", "SIMILAR TO is not supported", "x SIMILAR TO 'a'"),
    ("x BETWEEN SYMMETRIC 1 AND 2", "this form (symmetric)", "x BETWEEN SYMMETRIC 1 AND 2"),
    ("CASE WHEN a THEN 1 END BETWEEN 0 AND 2", "derive a dimension", "CASE WHEN a THEN 1 END"),
    ("IF(a, 1, 2) = 1", "write CASE WHEN", "IF(a, 1, 2)"),
    ("NULLIF(a, b) = 1", "write CASE WHEN a = b", "NULLIF(a, b)"),
    ("LENGTH(a) = 2", "LENGTH is not supported", "LENGTH(a)"),
    ("foo(x, 'a)') = 1", "FOO is not supported", "foo(x, 'a)')"),
    ("SUBSTR(a, 2) = 'x'", "expected SUBSTRING(text, start, length)", "SUBSTR(a, 2)"),
    ("SUBSTR(a, 0, 2) = 'x'", "starts at a whole number from 1", "SUBSTR(a, 0, 2)"),
    ("SUBSTR(a, 1, -1) = 'x'", "length is a whole number", "SUBSTR(a, 1, -1)"),
    ("SUBSTR(a, n, 2) = 'x'", "expected a whole number written out", "n"),
    ("x % 0 = 1", "positive whole number", "x % 0"),
    ("x // 1.5 = 1", "expected a whole number written out", "1.5"),
    ("x % y = 1", "expected a whole number written out", "y"),
    ("t.b = 1", "no table 't' is known here; write the column alone", "t.b"),
    ("a.b.c = 1", "no table 'a.b' is known here", "a.b.c"),
    ("a = b = c", "put parentheses around it", "a = b"),
    ("1 < x < 3", "put parentheses around it", "1 < x"),
    ("x IS 5", "expected NULL, TRUE, FALSE", "x IS 5"),
    ("a; b", "BLOCK is not supported", "a; b"),
    ("a AS b", "this does not belong here", "AS"),
    ("a, b", "this does not belong here", ","),
    ("SELECT 1", "this does not belong here", "SELECT"),
    ("DROP TABLE t", "this does not belong here", "DROP"),
    ("`a` = 1", "goes in double quotes", "`"),
    ("x AND", "something is missing here", "AND"),
    ("(a = 1", "expected ) after this", "1"),
    ("a = 'x", "opened but never closed", "'x"),
    ("a = 'ok' AND \"b = 1", "opened but never closed", '"b = 1'),
    ("a /* remark", "opened but never closed", "/* remark"),
    ("a = 1\n  AND b = TRIM(c)\n  AND d", "line 2, column 11: TRIM is not", "TRIM(c)"),
    ("x = 1e1001", "longer than 1000 digits", "1e1001"),
    ("*", "* is not supported", "*"),
]


@pytest.mark.parametrize(("text", "fragment", "piece"), REFUSALS)
def test_a_refusal_names_and_shows_the_piece(text, fragment, piece):
    """The message says what is not supported, and the carets stand under it."""
    with pytest.raises(SQLTextError) as caught:
        parse_expression(text)
    message, shown, carets = str(caught.value).rsplit("\n", 2)
    assert message.startswith("the filter, line ")
    assert fragment in message
    assert shown[carets.index("^") : len(carets)] == piece
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize("text", ["", "  \n ", "-- only a remark"])
def test_an_empty_text_is_refused(text):
    """Nothing says nothing."""
    with pytest.raises(SQLTextError, match=r"naics2 is empty; expected SQL such as"):
        parse_expression(text, "naics2")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 3000 + "a" + ")" * 3000,
        "CASE WHEN " * 3000 + "a" + " THEN TRUE END" * 3000,
        "NOT " * 3000 + "a",
        "- " * 3000 + "1 = x",
        "COALESCE(" * 3000,
        "x" + " % 2" * 3000 + " = 1",
        "a" + " IS NULL" * 3000,
        "a" + " = a" * 3000,
        "a" + "::text" * 3000,
        "a" + "[1]" * 3000,
        "a" + " || a" * 3000,
        "a = '" + "x" * 100_000 + "'",
    ],
    ids=lambda text: text[:12],
)
def test_what_is_too_deep_or_too_long_is_refused_cleanly(text):
    """No RecursionError, however the text nests."""
    with pytest.raises(SQLTextError):
        parse_expression(text)


def test_nesting_that_people_write_is_read():
    """Two dozen levels are fine."""
    assert parse_expression("(" * 24 + "a" + ")" * 24) == Column("a")


def test_a_long_line_is_shown_in_part():
    """The message stays readable in a text of thousands of characters."""
    text = " OR ".join(f"a = {number}" for number in range(2000)) + " OR TRIM(b) = 'x'"
    with pytest.raises(SQLTextError) as caught:
        parse_expression(text)
    message, shown, carets = str(caught.value).split("\n")
    assert f"column {text.index('TRIM') + 1}" in message
    assert len(shown) < 110
    assert shown[carets.index("^") : len(carets)] == "TRIM(b)"


def test_numbers_are_exact():
    """A decimal is what it says, not the nearest float."""
    assert parse_expression("a > 0.1") == Comparison(
        Operator.GREATER, Column("a"), Literal(Fraction(1, 10))
    )


def test_a_known_table_may_qualify_a_column():
    """The name of the table is dropped; that of another is refused."""
    assert parse_expression("t.a", table_names=frozenset({"t"})) == Column("a")
    with pytest.raises(SQLTextError, match="no table 'u'"):
        parse_expression("u.a", table_names=frozenset({"t"}))


def test_a_piece_of_a_larger_text_is_shown_in_its_place():
    """The SELECT parser hands over nodes of a whole query with the whole text."""
    from sqlglot import exp

    text = "SELECT COUNT(*)\nFROM t\nWHERE size % 2 = 1 AND UPPER(state) = 'NC'"
    tree = parse_sql(text, "the query", exp.Select)
    where = tree.args["where"].this
    assert from_sqlglot(where.left, text).left == Remainder(Column("size"), 2)
    with pytest.raises(SQLTextError, match="the query, line 3, column 24: UPPER"):
        from_sqlglot(where, text, "the query")


@given(
    st.text(max_size=40)
    | st.lists(
        st.sampled_from(
            [
                "a",
                "=",
                "(",
                ")",
                "'x'",
                "1",
                "AND",
                "NOT",
                "IN",
                ",",
                "CASE",
                "WHEN",
                "THEN",
                "END",
                "%",
                "||",
                "IS",
                "NULL",
                "LIKE",
                "::",
                "text",
                "upper",
                "select",
                "from",
                "-",
                "*",
                "[",
                "]",
                "{",
                "BETWEEN",
                "over",
                "cast",
                "as",
                "date",
                "interval",
                "?",
                "$",
                "@",
                "E'a'",
                ";",
                "--",
                ".",
                ":",
            ]
        ),
        max_size=8,
    ).map(" ".join)
)
def test_any_text_is_read_or_refused(text):
    """Whatever is typed: an expression that reads back, or a message with its place."""
    try:
        expression = parse_expression(text)
    except SQLTextError:
        return
    assert parse_expression(describe(expression)) == expression

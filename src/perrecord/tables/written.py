"""Numbers written as text: one reading, in Python and in the engine, that no text can make fail.

A number is blanks, a sign, digits with at most one point, an exponent of at most three digits, and
blanks, in at most 400 characters of ASCII. Whatever else a text holds, it is no number.

The engine is never asked what a text means, for its casts take more than that, read exponents by
rules of their own, and overflow. The text is taken apart, its digits up to the last place that
matters are counted, and only as many digits as are known to fit are turned into an integer.
"""

import re
from decimal import Decimal
from fractions import Fraction

from perrecord.tables.dialects import DUCKDB

MOST_CHARACTERS = 400
_SHORT = 17
_BLANKS = r"[ \t\n\r\f\v]*"
_PARTS = rf"{_BLANKS}([+-]?)([0-9]*)\.?([0-9]*)(?:[eE]([+-]?[0-9]{{1,3}}))?{_BLANKS}"
_NUMBER = rf"{_BLANKS}[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{{1,3}})?{_BLANKS}"
_MATCH = re.compile(_NUMBER, re.ASCII)


def parsed(written: str) -> Fraction | None:
    """Return the number that a text is, exactly, or None if it is none.

    >>> parsed(" -12.50e1"), parsed("1,000"), parsed("1_000")
    (Fraction(-125, 1), None, None)
    """
    if len(written) > MOST_CHARACTERS or not _MATCH.fullmatch(written):
        return None
    return Fraction(Decimal(written.strip(" \t\n\r\f\v")))


def is_number_sql(text: str) -> str:
    """Return whether a column of text holds a number, in DuckDB's SQL; NULL where it is NULL."""
    pattern = DUCKDB.literal(_NUMBER)
    return f"(strlen({text}) <= {MOST_CHARACTERS} AND regexp_full_match({text}, {pattern}))"


def is_plain_sql(text: str) -> str:
    """Return whether a text is how DuckDB itself writes some 64-bit integer.

    Read and written again it is the same text: then it is that integer, whatever else the cast
    would take for one.
    """
    return f"(CAST(TRY_CAST({text} AS BIGINT) AS VARCHAR) = {text})"


def short_sql(text: str, places: int) -> tuple[str, str]:
    """Return whether a text is a short plain decimal, and its count of 10^-places, a BIGINT.

    So many figures before and after the point, and no exponent, leave the cast nothing to round
    and nothing to decide.
    """
    pattern = f"[+-]?[0-9]{{1,{_SHORT - places}}}[.][0-9]{{0,{places}}}"
    number = f"TRY_CAST({text} AS DECIMAL({_SHORT + 1}, {places}))"
    units = f"TRY_CAST({DUCKDB.units(number, places)} AS BIGINT)"
    return f"regexp_full_match({text}, {DUCKDB.literal(pattern)})", units


def units_sql(text: str, places: int, digits: int, within: str, beyond: tuple[str, str]) -> str:
    """Return an expression of a number's count of 10^-places, cut towards zero, in DuckDB's SQL.

    The text must be a number. `within` is the expression, in which `units` is the count: a HUGEINT
    of at most so many digits, 38 at most. Larger numbers give one of `beyond`, for above and below.
    """
    above, below = beyond
    found = f"regexp_extract({text}, {DUCKDB.literal(_PARTS)}, ['sign', 'whole', 'rest', 'power'])"
    # The number is figures * 10^(power - length of rest), so this many figures are before the end
    # of the last place. Fewer are filled up with zeros, more are cut off.
    figures = "ltrim(parts.whole || parts.rest, '0')"
    power = "coalesce(TRY_CAST(parts.power AS INTEGER), 0)"
    shape = (
        f"{{'sign': parts.sign, 'figures': {figures}, "
        f"'count': strlen({figures}) + {power} - strlen(parts.rest) + {places}}}"
    )
    shown = "rpad(left(number.figures, number.count), CAST(number.count AS INTEGER), '0')"
    size = f"TRY_CAST({shown} AS HUGEINT)"
    signed = f"CASE number.sign WHEN '-' THEN -{size} ELSE {size} END"
    counted = (
        "CASE WHEN number.figures = '' OR number.count <= 0 THEN CAST(0 AS BIGINT) "
        f"WHEN number.count > {digits} THEN "
        f"CASE number.sign WHEN '-' THEN {below} ELSE {above} END "
        f"ELSE {DUCKDB.named('units', signed, within)} END"
    )
    return DUCKDB.named("parts", found, DUCKDB.named("number", shape, counted))

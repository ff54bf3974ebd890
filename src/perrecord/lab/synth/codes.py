"""Codes of places and industries and counts, as published tables write them, made alike."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from perrecord.errors import InputError, listing

_LEAST_DIGITS = {"county": 4, "zip": 3}
_EXAMPLES = {"county": "'01001'", "zip": "'00501'"}


def places_of(column: pa.ChunkedArray, name: str, kind: str) -> pa.ChunkedArray:
    """Return five-digit codes; zeros that a spreadsheet took off the front are put back."""
    codes = _text(column)
    pattern = rf"^[0-9]{{{_LEAST_DIGITS[kind]},5}}$"
    _check(
        pc.match_substring_regex(codes, pattern),
        name,
        f"a {kind} code of five digits such as {_EXAMPLES[kind]}",
    )
    return pc.utf8_lpad(codes, 5, padding="0")


def industries_of(column: pa.ChunkedArray, name: str, digits: int | None) -> pa.ChunkedArray:
    """Return codes of two to six digits, NULL where they are of another level than `digits`.

    The Census Bureau fills codes up ('113///') and writes sectors as ranges ('31-33', which
    becomes 31, its first) and the total over all industries as '------', which is of no level.
    """
    codes = pc.replace_substring_regex(_text(column), r"[-/]+$", "")
    codes = pc.replace_substring_regex(codes, r"^([0-9]{2})-[0-9]{2}$", r"\1")
    codes = pc.if_else(pc.is_in(codes, pa.array(["0", "00"])), "", codes)
    _check(
        pc.match_substring_regex(codes, r"^([0-9]{2,6})?$"),
        name,
        "an industry code of two to six digits such as '722511'",
    )
    lengths = pc.utf8_length(codes)
    levels = sorted({length for length in pc.unique(lengths).to_pylist() if length})
    if digits is None and len(levels) > 1:
        raise InputError(
            f"the column {name!r} holds industries of {listing(levels)} digits, which would count "
            f"establishments several times; choose one level, such as digits={levels[-1]} "
            "(--digits)."
        )
    if digits is not None and levels and digits not in levels:
        raise InputError(
            f"the column {name!r} holds no industries of {digits} digits, but of {listing(levels)}."
        )
    wanted = pc.equal(lengths, digits or (levels or [0])[0])
    return pc.if_else(pc.and_(wanted, pc.greater(lengths, 0)), codes, None)


def whole_numbers(column: pa.ChunkedArray, name: str) -> npt.NDArray[np.int64]:
    """Return counts; text may have thousands separators."""
    values = column
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        plain = pc.replace_substring(pc.utf8_trim_whitespace(values), ",", "")
        _check(
            pc.match_substring_regex(plain, r"^[0-9]{1,18}$"), name, "a whole number such as 1,250"
        )
        values = plain
    try:
        numbers = values.cast(pa.int64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(
            f"the column {name!r} is {values.type}; expected whole numbers."
        ) from error
    _check(pc.greater_equal(numbers, 0), name, "a whole number of 0 or more")
    return np.asarray(numbers.to_numpy())


def _text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.utf8_trim_whitespace(column.cast(pa.string()))


def _check(good: Any, name: str, expected: str) -> None:
    """Refuse a column unless every row is good; NULL never is."""
    bad = len(good) - pc.sum(pc.fill_null(good, False)).as_py() if len(good) else 0
    if bad:
        raise InputError(
            f"the column {name!r} is not {expected} in {bad} of its {len(good)} rows. "
            "Is it the right column?"
        )

"""Random numbers as people and programs spell them: as text, and in every numeric type."""

import math
import re
from decimal import Decimal
from random import Random

import numpy as np

from perrecord.lab.audit.doors.reading import Spelled, number

TEXT = "text"
WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64")
DECIMALS = ("decimal(3,0)", "decimal(4,2)", "decimal(9,3)", "decimal(12,2)", "decimal(18,1)")
NUMERIC = (*WHOLE, *FLOATS * 4, *DECIMALS)
"""Floats are drawn as often as whole numbers: there is more to get wrong."""

_PLAIN = [
    *("0", "1", "2", "3", "5", "6", "12", "50", "51", "-1", "-3", "-5", "130", "1000", "1500"),
    *("0.05", "0.1", "0.15", "0.25", "0.5", "1.5", "2.5", "-0.5", "-2.5", "0.45", "2.6750", "7.3"),
]
_ODD = [
    *("+5", "-0", "+0", "-0.0", "007", "-007.50", "5.", ".5", "-.5", "+.5", "00.50", "0.50000"),
    *(" 5", "5 ", "  -5", "\t5", "5\t", " +2.5 ", "\f5", "\v5", " 5\f", "5\v"),
    *("1e0", "1E0", "1e+0", "1e-0", "5e-1", "25E-1", "1e1", "1e01", "1e001", "1e0001", "1e000001"),
    *("1.5e1", ".5e1", "5.e1", "0.05E+2", "50e-2", "0.000005e6", "5000000e-6", "0e5", "0e-5"),
    *("0e400", "0e-400", "0e99999999999999999999", "-0e4000", "1e-99999999999999999999"),
    *("1.49999999999999999999", "1.50000000000000000001", "2.4999999999999999", "0.4999999999"),
    *("0.0499999999999999999999999999999999", "0.05000000000000000000000000000000000001"),
    *("12345678901234567890e-19", "0." + "0" * 40 + "1", "1." + "0" * 60, "0" * 50 + "5"),
    *("1" + "0" * 30 + "e-30", "0." + "0" * 29 + "5e30", "15" + "0" * 300 + "e-301"),
]
_HUGE = [
    *("1.8888888888888888e+16", "1.8888888888888888e+18", "1.8888888888888888e+20"),
    *("27835881828832004E-14", "9007199254740993", "9223372036854775807", "9223372036854775808"),
    *("-9223372036854775808", "-9223372036854775809", "9999999999999999", "10000000000000000"),
    *("9999999999999999.99999999999", "1e15", "1e16", "1e17", "1e18", "9.2e18", "1e19", "1e25"),
    *(
        "1e26",
        "1e37",
        "1e38",
        "1e39",
        "1e99",
        "1e100",
        "1e308",
        "1e309",
        "1e999",
        "1e1000",
        "1e0999",
    ),
    *("1e9999999999", "-1e9999999999", "1.23456789012345678901234567890e+16", "9" * 26, "9" * 38),
    *("9" * 39, "9" * 400, "9" * 401, "-" + "9" * 60 + ".5", "1844674407370955161.5e1"),
]
_JUNK = [
    *("", " ", "abc", "1_000", "0x10", "0b1", "1e", "1e+", "e5", ".", "+", "-", "--5"),
    *("+-5", "1.2.3", "NaN", "nan", "inf", "-Infinity", "1 2", "5%", "$5", "true", "1e5.5", "5f"),
    *("٣", "１", "\u00a05", "5\u2003", "−5", "½", "1e٣", ".e5", "5-", "(5)", "1d", "5L"),
    *("1e1e1", "0x1p3", "null", "NULL", "None", "5\x00", "5;", "'5'", "1e 5", "- 5", "+ 5"),
]
_APART = re.compile(
    r"\s*[+-]?(\d{1,3}([,' \u2019\u00a0\u2009\u202f]\d{3})+(\.\d*)?|[1-9]\d{0,2}(\.\d{3})+)\s*"
)
"""Thousands set apart, or what looks so in whole numbers, which a file is refused for."""
_STORED = [0, 0, 1, 1, 2, 5, 5, 6, 12, 50, 51, -1, -3, -5, -6, 100, 127, -128]
_EDGE = 9223372036854774784.0
"""The largest float of 64 bits as a whole number; floats beyond it say only their first digits."""
_FLOATS = [
    *(0.0, -0.0, 0.05, 0.1, 0.15, 0.25, 0.5, 1.5, 2.5, -0.5, -2.5, 2.675, 7.3, 0.1 + 0.2, 1.005),
    *(5.0, 6.0, 50.0, -3.0, 1e6, 1e15, 1e15 + 1, 1e16, 2.0**53, 2.0**62, _EDGE, -_EDGE),
    *(9.3e18, -9.3e18, 1e19, 1e22, 1e300, -1e300, 5e-324, 1e-300, 1e300, -1e300),
    *(math.nan, math.nan, math.nan, math.inf, -math.inf, 123.125, 0.005, 0.015, -1.115, 8.345),
]


def spelled(random: Random, kind: str, place: int) -> Spelled:
    """Return a random number of a kind, or None: what a cell of such a column may hold.

    Text that is no number is in every fourth place at most: a file that has more is refused.
    """
    if random.random() < 0.1:
        return None
    if kind == TEXT:
        written = _text(random)
        while _APART.fullmatch(written) or (place % 4 and number(written) is None):
            written = _text(random)
        return written
    if kind in FLOATS:
        return _float(random, kind)
    if kind in WHOLE:
        return _whole(random, kind)
    precision, places = decimal_size(kind)
    most = 10**precision - 1
    units = random.choice([*_STORED, most, -most, random.randint(-most, most)])
    if random.random() < 0.5:
        units *= 10**places
    return Decimal(min(max(units, -most), most)).scaleb(-places)


def decimal_size(kind: str) -> tuple[int, int]:
    """Return how many digits a decimal type has, and how many of them are places."""
    precision, places = kind.removeprefix("decimal(").removesuffix(")").split(",")
    return int(precision), int(places)


def _float(random: Random, kind: str) -> float | np.float32:
    """Return a float that is whole, or the nearest to a decimal of a few digits, or no number."""
    value = random.choice(_FLOATS)
    if random.random() < 0.3:
        value = round(random.uniform(-60, 60), random.randrange(4))
    if kind == "float64":
        return value
    return np.float32(2.0**100 if math.isfinite(value) and abs(value) > 9e18 else value)


def _whole(random: Random, kind: str) -> int:
    low, high = range_of(kind)
    value = random.choice([*_STORED, low, low + 1, high, high - 1])
    return min(max(value, low), high)


def range_of(kind: str) -> tuple[int, int]:
    """Return the least and the largest number of a whole type."""
    found = np.iinfo(kind)
    return int(found.min), int(found.max)


def _text(random: Random) -> str:
    chance = random.random()
    if chance < 0.4:
        return random.choice(_PLAIN)
    if chance < 0.55:
        return random.choice(_ODD)
    if chance < 0.65:
        return random.choice(_HUGE)
    if chance < 0.75:
        return random.choice(_JUNK)
    return _made_up(random)


def _made_up(random: Random) -> str:
    """Return digits, a point and an exponent at random; now and then one character is another."""
    length = random.choice([1, 2, 5, 17, 20, 30])
    digits = "".join(random.choice("0123456789") for _ in range(length))
    place = random.randrange(len(digits) + 1)
    written = f"{digits[:place]}.{digits[place:]}" if random.random() < 0.6 else digits
    power = random.choice(["", "", "e", "E", "e+", "e-", "E-"])
    if power:
        written += f"{power}{random.randrange(random.choice([3, 12, 25, 45]))}"
    written = random.choice(["", "", "-", "+", " "]) + written
    if random.random() < 0.1:
        place = random.randrange(len(written))
        written = written[:place] + random.choice("_ ,eE.+-x0") + written[place + 1 :]
    return written

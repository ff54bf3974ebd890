"""Numbers that are hard to read alike everywhere: texts in every spelling, floats near ties."""

import math
import random
import struct
from fractions import Fraction

from perrecord.tables.measures import Measure

MEASURES = [
    Measure(),
    Measure("0.01"),
    Measure(1000),
    Measure("2.5"),
    Measure(1, largest=100, outside="cut"),
    Measure("0.5", largest=100),
    Measure(7, outside="cut"),
    Measure("1e-12"),
    Measure("0.007", largest=7, outside="cut"),
    Measure(2**40),
    Measure(2**53 - 1, outside="cut"),
]

KNOWN = [
    *("", " ", "+", "-", ".", "e5", "1e", "1e+", "--1", "+-1", "1 2", "0x10", "1f", "1d", "1L"),
    *("nan", "NaN", "inf", "-Infinity", "null", "true", "1_000", "1,000", "1'000", "$5", "5%"),
    *("0", "-0", "+0", "00", "0.", ".0", "-.0", "0e0", "0e999", "0e-999", "007", "+7", "-07.50"),
    *("1e400", "-1e400", "1e999", "1e1000", "1e0000", "1e-999", "1E+5", "1e05", "12.e3", ".5e1"),
    *("1.8888888888888888e+16", "1.8888888888888888e+18", "27835881828832004E-14"),
    *("9223372036854775807", "-9223372036854775807", "9223372036854775808"),
    *("-9223372036854775808", "-9223372036854775809", "9223372036854775807.4999"),
    *("9223372036854775807.5", "170141183460469231731687303715884105728", "1e37", "1e38", "1e39"),
    *("9" * 38, "9" * 39, "9" * 400, "9" * 401, "0" * 399 + "5", "0" * 400 + "5", "1" * 10_000),
    *("0." + "0" * 300 + "5e301", "5" + "0" * 300 + "e-300", "1." + "0" * 398, "1." + "0" * 399),
    *("\u0661", "\uff11", "1\u00a0", "\u20071", "1\u2009000", "\u22125", "1\x00", "\x001", "1\x0b"),
    *(
        "\t1\n",
        "\r1\r",
        "1\x85",
        "\x1c1",
        "\ufeff1",
        "1e\u0665",
        "\u00bd",
        "1e1e1",
        "1.2.3",
        "1e1.5",
    ),
]


def a_text(rng: random.Random) -> str:
    """Return a text that is a number more often than not."""
    kind = rng.random()
    if kind < 0.02:
        return rng.choice(KNOWN)
    written = _spelled(rng) if kind < 0.55 else _near(rng)
    return _spoilt(rng, written) if rng.random() < 0.05 else written


def _figures(rng: random.Random, most: int) -> str:
    count = rng.randrange(most + 1)
    return "".join(rng.choice("0123456789" if rng.random() < 0.8 else "09") for _ in range(count))


def _spelled(rng: random.Random) -> str:
    whole, rest = _figures(rng, rng.choice((2, 6, 20, 40))), ""
    if rng.random() < 0.6:
        rest = "." + _figures(rng, rng.choice((2, 6, 14, 40)))
    if rng.random() < 0.1:
        whole = "0" * rng.randrange(30) + whole
    power = ""
    if rng.random() < 0.4:
        most = rng.choice((5, 20, 40, 400, 999))
        power = rng.choice("eE") + rng.choice(("", "+", "-")) + str(rng.randrange(most + 1))
    return rng.choice(("", "", "", "-", "+")) + whole + rest + power


def _near(rng: random.Random) -> str:
    """Return a number on, just below or just above a tie or the end of the range."""
    measure = rng.choice(MEASURES)
    steps = rng.choice((rng.randrange(10), rng.randrange(10**6), rng.randrange(2**63)))
    if rng.random() < 0.3:
        steps = measure.largest
    value = (steps + Fraction(rng.choice((0, 1)), 2)) * measure.resolution
    places = rng.choice((13, 14, 16, 20, 40))
    count = int(value * 10**places) + rng.choice((-1, 0, 0, 0, 1))
    figures = str(abs(count)).rjust(places + 1, "0")
    sign = rng.choice(("", "-"))
    match rng.randrange(4):
        case 0:
            return f"{sign}{figures}e-{places}"
        case 1:
            shift = rng.randrange(len(figures))
            return f"{sign}{figures[:shift]}.{figures[shift:]}E{len(figures) - shift - places}"
        case 2:
            return (f"{sign}{figures[:-places]}.{figures[-places:]}").rstrip("0")
        case _:
            return f"{sign}{figures[:-places]}.{figures[-places:]}"


def _spoilt(rng: random.Random, written: str) -> str:
    place = rng.randrange(len(written) + 1)
    return written[:place] + rng.choice(" \t\r\n_,.e-x\x00\u0663\u00a0") + written[place:]


def a_decimal(rng: random.Random, digits: int, measure: Measure) -> str:
    """Return a decimal that has at most so many digits down to its own or the grid's last place."""
    places = next(n for n in range(20) if (measure.resolution * 10**n).denominator == 1)
    places = max(places, rng.randrange(digits + 4))
    figures = rng.randrange(10 ** rng.randint(1, digits))
    half = measure.resolution * 10**places / 2
    if rng.random() < 0.6 and half <= 10**digits:  # a tie, or next to one
        most = int(10**digits / half)
        count = 2 * rng.randrange(max(1, most // 2)) + 1
        figures = math.floor(count * half) + rng.choice((-1, 0, 0, 1))
        figures = min(max(figures, 0), 10**digits - 1)
    sign = rng.choice(("", "-"))
    return f"{sign}{figures}e-{places}"


def a_float(rng: random.Random) -> float:
    """Return any float: of any bits, whole, near a tie, or near the end of 64 bits."""
    match rng.randrange(5):
        case 0:
            return struct.unpack("<d", rng.randbytes(8))[0]
        case 1:
            return float(rng.randrange(-(2**63), 2**63) >> rng.randrange(64))
        case 2:
            return float(rng.randrange(-(10**16), 10**16)) / 10 ** rng.randrange(16)
        case 3:
            measure = rng.choice(MEASURES)
            tie = (rng.randrange(10 ** rng.randint(1, 19)) + Fraction(1, 2)) * measure.resolution
            value = float(tie)
            for _ in range(rng.randrange(4)):
                value = math.nextafter(value, rng.choice((0, math.inf)))
            return rng.choice((1, -1)) * value
        case _:
            return rng.choice((math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, 1e308, -(2.0**63)))

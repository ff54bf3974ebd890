"""Values that do not belong into a spec, and the YAML that is made of values."""

import json
import re
from typing import Any

import yaml

_OPEN, _CLOSE = "\ue000", "\ue001"
_RAW = re.compile(f'"{_OPEN}(.*?){_CLOSE}"', re.DOTALL)


def raw(text: str) -> str:
    """Return a value, or a key, that stands in the YAML as it is, not as text in quotes."""
    return f"{_OPEN}{text}{_CLOSE}"


def read_as(key: str) -> str:
    """Return the text that a key is read as."""
    return str(yaml.safe_load(key[1:-1])) if key.startswith(_OPEN) else key


def rendered(value: Any) -> str:
    """Return values as YAML, one to a line."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    return _RAW.sub(lambda found: json.loads(f'"{found[1]}"'), text)


ABSURD = tuple(
    map(
        raw,
        (
            "1e999",
            "-1",
            "0",
            "nan",
            ".nan",
            ".inf",
            "-.inf",
            "NaN",
            "Infinity",
            "9" * 401,
            "1e-400",
        ),
    )
) + tuple(
    map(
        raw,
        (
            *(
                "1/0",
                "0/0",
                "1e1000000000",
                "-1e1000000000",
                "1e-1000000000",
                "0x1F",
                "0o17",
                "017",
            ),
            *("1_000", "1,000", "١٢", "1e", "--1", "+", "0.1.2", "9" * 1001, "1e300", "1e-300"),
            *("9223372036854775808", "-9223372036854775809", "18446744073709551616", "1e17"),
            *("0.1e-11", "1e998", "-1e-998", f"1/{'9' * 900}", f"{'9' * 900}/7", "2026-11-01"),
        ),
    )
)

WRONG: tuple[Any, ...] = (
    None, True, False, -1, 0, 7, "", "x", " ", "county", "moderate", "emp", [], [[]], [[[]]], {},
    {"x": 1}, {"": ""}, [None], [1, 2, 3], ["county", "county"], [{}], {"x": {"y": {"z": []}}},
    {"from": "cells"}, {"by": "kind"}, {"split": "moderate"}, {"keys": "counties"}, "records", "*",
    {"thresholds": {}}, {"select": {}}, {"domain": "wide"}, [["county"], ["county"]], "few", "any",
    {"expression": "1"}, {"values": {}}, {"file": "counties.csv"}, {"product": []},
)  # fmt: skip

HOSTILE = (
    *("\x1b[2J\x1b[31mred", "\x1b]0;title\x07", "\x9b31m", "a\rb", "a\x08\x08b", "a\nb", "a\tb"),
    *("\u202eright to left", "\u2066isolate", "\u2028line", "\ufeff", "\u200b", "e\u0301" * 40),
    *("../../etc/passwd", "/etc/passwd", "~root", "file:///etc/passwd", "http://localhost:9/x"),
    *("%s%n", "{0.__class__}", "${HOME}", "$(id)", "`id`", "'; DROP TABLE est; --", "<script>"),
    *("\U0001f600", "ı", "ẞ", "NUL", "con", "a" * 300, "a" * 5_000, "\x1b" * 3_000, "é" * 60_000),
    *("x" * 200_000, raw('"\\ud800"'), raw('"\\x00"'), raw('"\\e[31m"'), raw('"\\u202E"')),
    *("duckdb:///none.ddb", "sqlite:///none.db", "postgres://user:secret@localhost:9/x", "x://"),
)

TEN_MEGABYTES = "z" * 10_000_000

NO_NUMBERS = frozenset(
    map(
        raw,
        (
            *("1e999", "nan", ".nan", "NaN", ".inf", "-.inf", "Infinity", "1/0", "0/0", "1e"),
            *("1e1000000000", "-1e1000000000", "--1", "+", "0.1.2", "1,000", "2026-11-01", "-1"),
        ),
    )
)
"""Those of the absurd that are no finite number above 0."""

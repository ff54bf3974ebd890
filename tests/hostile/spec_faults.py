"""Specs with one place changed: every field in turn deleted, doubled, renamed or given nonsense."""

import json
import re
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

from perrecord.release.spec.models import Spec
from perrecord.release.spec.problems import written
from tests.hostile import bases
from tests.hostile.cases import Builder, Case, spec_case

Path = tuple[str | int, ...]

_OPEN, _CLOSE = "\ue000", "\ue001"
_RAW = re.compile(f'"{_OPEN}(.*?){_CLOSE}"', re.DOTALL)


def raw(text: str) -> str:
    """Return a value, or a key, that stands in the YAML as it is, not as text in quotes."""
    return f"{_OPEN}{text}{_CLOSE}"


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

_STRIDE = 211  # a prime, so that a few cases see places all over
TEN_MEGABYTES = "z" * 10_000_000


@cache
def places(base: str) -> tuple[Path, ...]:
    """Return the path of every value of a base spec."""
    return tuple(_paths(bases.values_of(base), ()))


def _paths(value: Any, here: Path) -> Iterator[Path]:
    if here:
        yield here
    inside: Any = value.items() if isinstance(value, dict) else ()
    for step, each in enumerate(value) if isinstance(value, list) else inside:
        yield from _paths(each, (*here, step))


def at(value: Any, path: Path) -> Any:
    """Return what stands at a path."""
    for step in path:
        value = value[step]
    return value


def changed(value: Any, path: Path, new: Any) -> Any:
    """Return the values with another one at a path."""
    if not path:
        return new
    first, rest = path[0], path[1:]
    if isinstance(value, dict):
        return {k: changed(v, rest, new) if k == first else v for k, v in value.items()}
    return [changed(v, rest, new) if n == first else v for n, v in enumerate(value)]


def _reshaped(value: Any, path: Path, reshape: Any) -> Any:
    """Return the values with the collection around a path reshaped."""
    return changed(value, path[:-1], reshape(at(value, path[:-1]), path[-1]))


def _without(inside: Any, step: str | int) -> Any:
    if isinstance(inside, dict):
        return {k: v for k, v in inside.items() if k != step}
    return [v for n, v in enumerate(inside) if n != step]


def _twice(inside: Any, step: str | int) -> Any:
    if isinstance(inside, dict):
        found = {}
        for key, value in inside.items():
            found[key] = value
            if key == step:
                found[raw(f'"{key}"')] = value
        return found
    return [v for n, each in enumerate(inside) for v in ([each] * 2 if n == step else [each])]


def _renamed(inside: dict[str, Any], step: str | int, name: str) -> dict[str, Any]:
    return {name if k == step else k: v for k, v in inside.items()}


def near(name: str, random: Random) -> str:
    """Return a name with one slip of the finger."""
    place = random.randrange(len(name)) if name else 0
    slips = (
        name[:place] + name[place + 1 :],
        name[:place] + name[place : place + 1] * 2 + name[place + 1 :],
        name[:place] + name[place : place + 2][::-1] + name[place + 2 :],
        name.upper(),
        name.capitalize(),
        f"{name}s",
        f" {name}",
        name.replace("_", "-") or "-",
    )
    return random.choice([each for each in slips if each != name] or ["x"])


def chosen(turn: int) -> tuple[str, Path]:
    """Return the place whose turn it is: every one of every base comes once before any twice."""
    every = [(base, path) for base in bases.SPECS for path in places(base)]
    return every[turn * _STRIDE % len(every)]


def _case(kind: str, base: str, path: Path, value: Any, random: Random, what: str = "") -> Case:
    text = rendered(value).replace("SOURCE", "est.parquet")
    return spec_case(kind, f"{written(path)} of {base} {what}".rstrip(), base, text, random)


def deleted(random: Random, turn: int) -> Case:
    """Leave a value out."""
    base, path = chosen(turn)
    value = _reshaped(bases.values_of(base), path, _without)
    return _case("a field left out", base, path, value, random)


def doubled(random: Random, turn: int) -> Case:
    """Give a value twice."""
    base, path = chosen(turn + 1)
    return _case(
        "a field twice", base, path, _reshaped(bases.values_of(base), path, _twice), random
    )


def renamed(random: Random, turn: int) -> Case:
    """Give a key another name, near or hostile."""
    base, path = chosen(turn + 2)
    while isinstance(path[-1], int):
        turn += 1
        base, path = chosen(turn + 2)
    name = near(str(path[-1]), random) if random.random() < 0.7 else random.choice(HOSTILE)
    value = _reshaped(bases.values_of(base), path, lambda d, step: _renamed(d, step, name))
    return _case("a key renamed", base, path, value, random, f"to {name[:20]!r}")


def retyped(random: Random, turn: int) -> Case:
    """Put a value of another type in place of one."""
    base, path = chosen(turn)
    wrong = random.choice(WRONG)
    value = changed(bases.values_of(base), path, wrong)
    return _case("another type", base, path, value, random, f"to {wrong!r}")


def absurd(random: Random, turn: int) -> Case:
    """Put an absurd number in place of a scalar."""
    base, path = chosen(turn + 3)
    while isinstance(at(bases.values_of(base), path), dict | list):
        turn += 1
        base, path = chosen(turn + 3)
    number = random.choice(ABSURD)
    value = changed(bases.values_of(base), path, number)
    return _case("an absurd number", base, path, value, random, f"to {number[1:21]!r}")


def hostile(random: Random, turn: int) -> Case:
    """Put hostile text in place of a value."""
    base, path = chosen(turn + 5)
    text = random.choice(HOSTILE)
    if random.random() < 0.02:
        text = TEN_MEGABYTES
    value = changed(bases.values_of(base), path, text)
    return _case("hostile text", base, path, value, random, f"to {text[:20]!r}")


def nested(random: Random, turn: int) -> Case:
    """Nest a value one level deeper, shallower or forty deeper."""
    base, path = chosen(turn + 7)
    old = at(bases.values_of(base), path)
    deep: Any = old
    for _ in range(40):
        deep = [deep]
    inside = list(old.values()) if isinstance(old, dict) else old if isinstance(old, list) else []
    new = random.choice([[old], {"value": old}, [old, old], deep, *inside[:2], {"x": [old]}])
    return _case("wrong nesting", base, path, changed(bases.values_of(base), path, new), random)


def swapped(random: Random, turn: int) -> Case:
    """Put the value of another place in place of one."""
    base, path = chosen(turn + 11)
    other = random.choice(places(base))
    new = at(bases.values_of(base), other)
    value = changed(bases.values_of(base), path, new)
    return _case("another field's value", base, path, value, random, f"to {written(other)}")


def unknown(random: Random, turn: int) -> Case:
    """Add a key that does not belong, with a name near one that does."""
    base, path = chosen(turn + 13)
    while not isinstance(at(bases.values_of(base), path), dict):
        path = path[:-1]
    old = at(bases.values_of(base), path)
    names = [near(each, random) for each in [*old, *Spec.model_fields]]
    name = random.choice([*names, *HOSTILE])
    new = {**old, name: random.choice(WRONG)}
    value = changed(bases.values_of(base), path, new)
    return _case("an unknown field", base, path, value, random, f"{name[:20]!r}")


def several(random: Random, turn: int) -> Case:
    """Change several places at once."""
    base = list(bases.SPECS)[turn % len(bases.SPECS)]
    value = bases.values_of(base)
    for _ in range(random.randint(2, 12)):
        path = random.choice(list(_paths(value, ())))
        junk = random.choice([*WRONG, *ABSURD, *HOSTILE])
        value = (
            changed(value, path, junk)
            if random.random() < 0.7
            else (_reshaped(value, path, _without))
        )
        if not isinstance(value, dict | list) or not value:
            break
    return _case("several at once", base, (), value, random)


BUILDERS: dict[Builder, float] = {
    deleted: 9,
    doubled: 6,
    renamed: 8,
    retyped: 18,
    absurd: 14,
    hostile: 10,
    nested: 8,
    swapped: 8,
    unknown: 8,
    several: 6,
}
"""Each kind with its share of the cases."""

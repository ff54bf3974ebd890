"""Specs with one place changed: every field in turn deleted, doubled, renamed or given nonsense."""

import re
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

from perrecord.release.spec import models, questions
from perrecord.release.spec.models import Spec
from perrecord.release.spec.problems import written
from tests.hostile import bases
from tests.hostile.cases import Builder, Case, Place, spec_case
from tests.hostile.nonsense import (
    ABSURD,
    HOSTILE,
    NO_NUMBERS,
    TEN_MEGABYTES,
    WRONG,
    raw,
    read_as,
    rendered,
)

_STRIDE = 211  # a prime, so that a few cases see places all over


@cache
def places(base: str) -> tuple[Place, ...]:
    """Return the path of every value of a base spec."""
    return tuple(_paths(bases.values_of(base), ()))


def _paths(value: Any, here: Place) -> Iterator[Place]:
    if here:
        yield here
    inside: Any = value.items() if isinstance(value, dict) else ()
    for step, each in enumerate(value) if isinstance(value, list) else inside:
        yield from _paths(each, (*here, step))


def at(value: Any, path: Place) -> Any:
    """Return what stands at a path."""
    for step in path:
        value = value[step]
    return value


def changed(value: Any, path: Place, new: Any) -> Any:
    """Return the values with another one at a path."""
    if not path:
        return new
    first, rest = path[0], path[1:]
    if isinstance(value, dict):
        return {k: changed(v, rest, new) if k == first else v for k, v in value.items()}
    return [changed(v, rest, new) if n == first else v for n, v in enumerate(value)]


def _reshaped(value: Any, path: Place, reshape: Any) -> Any:
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


def chosen(turn: int) -> tuple[str, Place]:
    """Return the place whose turn it is: every one of every base comes once before any twice."""
    every = [(base, path) for base in bases.SPECS for path in places(base)]
    return every[turn * _STRIDE % len(every)]


AMOUNTS = frozenset(
    ["rho", "epsilon", "delta", "cap", "largest", "resolution", "confidence", "at_least", "level"]
)
NEEDED = frozenset(["title", "source", "budget", "queries"])
_CLOSED = re.compile(
    r"|source|budget|outputs|post_processing|(queries|lookups|budget\.selections)\[\d+\]"
    r"|queries\[\d+\]\.answers\.\w+(\.parts)?|measures\.payann|keys\.found\.select"
)


def is_amount(path: Place) -> bool:
    """Return whether a finite number must stand at a path, and nothing else may."""
    names = [step for step in path if isinstance(step, str)]
    return path[0] != "examples" and (names[-1] in AMOUNTS or names[-2:-1] == ["rho"])


@cache
def _known() -> frozenset[str]:
    """Return the names of the fields of every entry."""
    entries = [value for value in vars(models).values() if isinstance(value, type)]
    entries += [value for value in vars(questions).values() if isinstance(value, type)]
    fields = [getattr(entry, "model_fields", {}) for entry in entries]
    return frozenset(
        name for each in fields for field, info in each.items() for name in (field, info.alias)
    )


def _case(
    kind: str,
    base: str,
    path: Place,
    value: Any,
    random: Random,
    what: str = "",
    *,
    must_refuse: bool = False,
    places: tuple[Place, ...] | None = None,
) -> Case:
    """Return a case with one place changed, unless other `places` are given."""
    text = rendered(value).replace("SOURCE", "est.parquet")
    return spec_case(
        kind,
        f"{written(path)} of {base} {what}".rstrip(),
        base,
        text,
        random,
        must_refuse=must_refuse,
        places=(path,) if places is None else places,
    )


def deleted(random: Random, turn: int) -> Case:
    """Leave a value out."""
    base, path = chosen(turn)
    value = _reshaped(bases.values_of(base), path, _without)
    is_certain = len(path) == 1 and path[0] in NEEDED
    around = (path, path[:-1]) if path[1:] else (path,)  # the field itself is there no more
    return _case(
        "a field left out", base, path, value, random, must_refuse=is_certain, places=around
    )


def doubled(random: Random, turn: int) -> Case:
    """Give a value twice."""
    base, path = chosen(turn + 1)
    value = _reshaped(bases.values_of(base), path, _twice)
    is_certain = isinstance(path[-1], str)
    return _case("a field twice", base, path, value, random, must_refuse=is_certain)


def renamed(random: Random, turn: int) -> Case:
    """Give a key another name, near or hostile."""
    base, path = chosen(turn + 2)
    while isinstance(path[-1], int):
        turn += 1
        base, path = chosen(turn + 2)
    name = near(str(path[-1]), random) if random.random() < 0.7 else random.choice(HOSTILE)
    value = _reshaped(bases.values_of(base), path, lambda d, step: _renamed(d, step, name))
    is_certain = len(path) == 1 and path[0] in NEEDED
    what, places = f"to {name[:20]!r}", (path, (*path[:-1], read_as(name)))
    return _case(
        "a key renamed", base, path, value, random, what, must_refuse=is_certain, places=places
    )


def retyped(random: Random, turn: int) -> Case:
    """Put a value of another type in place of one."""
    base, path = chosen(turn)
    wrong = random.choice(WRONG)
    value = changed(bases.values_of(base), path, wrong)
    is_certain = is_amount(path) and isinstance(wrong, str | dict)
    what = f"to {wrong!r}"
    return _case("another type", base, path, value, random, what, must_refuse=is_certain)


def absurd(random: Random, turn: int) -> Case:
    """Put an absurd number in place of a scalar."""
    base, path = chosen(turn + 3)
    while isinstance(at(bases.values_of(base), path), dict | list):
        turn += 1
        base, path = chosen(turn + 3)
    number = random.choice(ABSURD)
    value = changed(bases.values_of(base), path, number)
    is_certain = is_amount(path) and number in NO_NUMBERS
    what = f"to {number[1:21]!r}"
    around = path[:-1] if "," in number else path  # a comma begins another value beside it
    return _case(
        "an absurd number",
        base,
        path,
        value,
        random,
        what,
        must_refuse=is_certain,
        places=(around,) if around else (),
    )


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
    is_certain = name not in _known() and _CLOSED.fullmatch(written(path)) is not None
    return _case(
        "an unknown field",
        base,
        path,
        value,
        random,
        f"{name[:20]!r}",
        must_refuse=is_certain,
        places=((*path, read_as(name)),),
    )


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
    return _case("several at once", base, (), value, random, places=())


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

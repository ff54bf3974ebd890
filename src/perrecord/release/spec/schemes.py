"""The splitting schemes of a spec as values, and the roles that they are checked against."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from perrecord.errors import InputError, QueryError, about
from perrecord.policy.split import Scheme, Split
from perrecord.queries.methods import Taper
from perrecord.queries.methods.fitting import check_scheme
from perrecord.release.spec.models import Spec, SplitEntry
from perrecord.release.spec.problems import Problems
from perrecord.release.spec.scalars import is_name
from perrecord.tables.fields import Kind
from perrecord.tables.measures import check_on_grid
from perrecord.tables.roles import Roles
from perrecord.tables.schema import Schema

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}", re.ASCII)
_TRUTHS = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


def roles_of(spec: Spec) -> Roles:
    """Return what a spec declares of its table; what dimensions hold is known once it is open."""
    is_linked = spec.source.last is not None
    return Roles(
        spec.table,
        spec.id,
        spec.unit,
        tuple(spec.dimensions),
        spec.resolutions,
        is_linked=is_linked,
    )


def splits_of(spec: Spec, schema: Schema | None, problems: Problems) -> Mapping[str, Scheme]:
    """Return every splitting scheme that can be built, by name; note why others cannot."""
    roles = roles_of(spec) if schema is None else schema.roles
    built, tried = dict[str, Scheme](), set[str]()

    def named(name: str) -> Scheme:
        if name in spec.splits and name not in tried:
            tried.add(name)
            with problems.at("splits", name):
                found = scheme(spec.splits[name])
                check_scheme(found, roles)
                built[name] = found
        if name not in built:
            raise _Unbuilt
        return built[name]

    def scheme(entry: SplitEntry) -> Scheme:
        if entry.split is not None:
            return named(entry.split)
        made: Scheme = by(entry) if entry.by is not None else Split(dict(entry.thresholds or {}))
        return made if entry.cap is None else made.capped(entry.cap)

    def by(entry: SplitEntry) -> Scheme:
        inner: dict[Any, Scheme] = {}
        values = case_keys(entry.cases or (), str(entry.by), schema)
        for key, each in (entry.cases or {}).items():
            with about("cases", key):
                inner[values[key]] = scheme(each)
        with about("default"):
            default = None if entry.default is None else scheme(entry.default)
        return Split.by(str(entry.by), inner, default)

    for name in spec.splits:
        try:
            named(name)
        except _Unbuilt:  # its own problem is noted, or that of a scheme that it is made of
            continue
    return built


def tapers_of(spec: Spec, schema: Schema | None, problems: Problems) -> Mapping[str, Taper]:
    """Return every taper that can be built, by name; note why others cannot."""
    roles = roles_of(spec) if schema is None else schema.roles
    built: dict[str, Taper] = {}
    for name, entry in spec.tapers.items():
        with problems.at("tapers", name):
            if not is_name(name):
                raise InputError(
                    "the name of a taper starts with a letter, so that it is never taken for a "
                    "size; give it another, such as usual."
                )
            if "nu" in entry.sizes and "nu" not in roles.resolutions:
                raise InputError(
                    "no measure 'nu'; to say how heavy the tails are, write something like "
                    "{sizes: {emp: 50}, nu: 3}.",
                    about=("nu",),
                )
            found = Taper(dict(entry.sizes), nu=entry.nu)
            for measure, size in found.sizes:
                with about("sizes", measure):
                    check_on_grid("size", size, measure, roles.resolution(measure))
            built[name] = found
    return built


class _Unbuilt(Exception):  # noqa: N818 - never seen outside this module
    """A scheme that could not be built stands in another; the problem is noted already."""


def case_keys(names: Iterable[str], dimension: str, schema: Schema | None) -> dict[str, Any]:
    """Return the values that the keys of a spec's cases stand for, in the kind of the dimension.

    Keys of a YAML mapping are text; `11:` and `"11":` mean what the table's column holds. As long
    as the table is not known they stay text. No two of them may be one value.
    """
    kinds = {} if schema is None else {each.name: each.kind for each in schema.dimensions}
    kind = kinds.get(dimension, Kind.TEXT)
    found: dict[str, Any] = {}
    first: dict[Any, str] = {}
    for name in names:
        value = found[name] = _case_key(name, dimension, kind)
        if first.setdefault(value, name) != name:
            raise QueryError(
                f"the cases {first[value]!r} and {name!r} are one value of {dimension!r}; give it "
                "once."
            )
    return found


def _case_key(written: str, dimension: str, kind: Kind) -> str | int | bool:
    if kind is Kind.INTEGER:
        if not _WHOLE.fullmatch(written):
            raise QueryError(
                f"the case {written!r} is not a whole number, and {dimension!r} holds whole "
                "numbers; write it in the digits 0 to 9, such as 11 or -3, without leading "
                "zeros."
            )
        return int(written)
    if kind is Kind.TRUTH:
        if written not in _TRUTHS:
            raise QueryError(
                f"the case {written!r} is neither true nor false, as {dimension!r} is."
            )
        return _TRUTHS[written]
    return written

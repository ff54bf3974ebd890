"""The named pieces of a spec as values: key sets and the budget."""

from collections.abc import Callable, Mapping
from functools import reduce
from math import prod
from operator import add, mul, sub
from typing import Any

import pyarrow as pa

from perrecord.accounting.budget import Budget
from perrecord.errors import InputError, about
from perrecord.policy.policy import Policy
from perrecord.policy.split import Scheme
from perrecord.queries.groupings import SelectKeys
from perrecord.queries.methods import Blur
from perrecord.release.spec.declared import READING
from perrecord.release.spec.load import LoadedSpec
from perrecord.release.spec.models import (
    BudgetEntry,
    KeysEntry,
    SelectEntry,
    SelectionEntry,
)
from perrecord.release.spec.problems import Problems
from perrecord.release.spec.questions import BlurEntry
from perrecord.tables.domains import Domain
from perrecord.tables.keys import Keys

DeclaredCells = Keys | Domain | SelectKeys

_MOST_KEYS = 50_000_000


# -- keys -------------------------------------------------------------------------------------


def keys_of(
    loaded: LoadedSpec, splits: Mapping[str, Scheme], problems: Problems
) -> Mapping[str, DeclaredCells]:
    """Return every key set, domain and selection that can be built, by name."""
    entries, built = loaded.spec.keys, dict[str, DeclaredCells]()

    def named(name: str) -> Keys:
        if name not in built:
            with problems.at("keys", name):
                built[name] = _cells(entries[name], loaded, named, splits)
        found = built.get(name)
        if not isinstance(found, Keys):
            raise _Unbuilt
        return found

    for name in entries:
        if name not in built:
            try:
                named(name)
            except _Unbuilt:  # its own problem is noted, or it is a domain or a selection
                continue
    return built


class _Unbuilt(Exception):  # noqa: N818 - never seen outside this module
    """A key set that could not be built stands in another; the problem is noted already."""


def _cells(
    entry: KeysEntry,
    loaded: LoadedSpec,
    named: Callable[[str], Keys],
    splits: Mapping[str, Scheme],
) -> DeclaredCells:
    if entry.file is not None:
        path = _public_file(loaded, entry.file, _KEYS_OF_SOURCE)
        return Keys.read(entry.read_by(path), entry.columns)
    if entry.values is not None:
        return _product([Keys.from_dict({name: each}) for name, each in entry.values.items()])
    if entry.product is not None:
        return _product([named(name) for name in entry.product])
    if entry.union is not None:
        return reduce(add, [named(name) for name in entry.union])
    if entry.difference is not None:
        return reduce(sub, [named(name) for name in entry.difference])
    if entry.filter is not None:
        return _filtered(named(entry.filter.source), entry.filter.where)
    if entry.project is not None:
        return named(entry.project.source).project(entry.project.columns)
    if entry.domain is not None:
        return Domain(*(named(name) for name in entry.domain))
    return _selection(entry.select, splits)


_KEYS_OF_SOURCE = (
    "the keys are read from the source itself; keys found in the data reveal who is in it. Take "
    "them from a public list, or select them: {select: ...}."
)
_SCALE_OF_SOURCE = (
    "the scale is read from the source itself, and noise would show the sizes of its records; take "
    "sizes from what is public, such as last year's tables."
)


def _public_file(loaded: LoadedSpec, written: str, refusal: str) -> str:
    """Return the path of a public file; the source itself is none."""
    path = existing(loaded, written)
    if any(each.samefile(path) for each in loaded.source_files):
        raise InputError(refusal)
    return path


def blur_of(loaded: LoadedSpec, entry: BlurEntry) -> Blur:
    """Return the blur of an answer, with the path of its sizes if it has a scale."""
    if entry.scale is None:
        for name in READING:
            if getattr(entry, name, None) is not None:
                raise InputError(
                    f"{name} goes with scale; here it has no effect. Leave it out.", about=(name,)
                )
        return Blur(entry.by, signed=entry.signed)
    with about("scale"):
        path = _public_file(loaded, entry.scale, _SCALE_OF_SOURCE)
        return Blur(entry.by, scale=entry.read_by(path))


def existing(loaded: LoadedSpec, written: str) -> str:
    """Return the absolute path of a file that is there."""
    path = loaded.resolve(written)
    if not path.is_file():
        raise InputError(
            f"there is no file {written!r}; a path is relative to the folder of the spec."
        )
    return str(path)


def _product(sets: list[Keys]) -> Keys:
    size = prod(len(each) for each in sets)
    if size > _MOST_KEYS:
        raise InputError(
            f"the product has {size:,} keys, at most {_MOST_KEYS:,} are written out; make it a "
            "domain, of which only the large cells are published."
        )
    return reduce(mul, sets)


def _filtered(keys: Keys, where: Mapping[str, tuple[Any, ...]]) -> Keys:
    for column, values in where.items():
        try:
            keys = keys.filter(column, values)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            raise InputError(
                f"the values of {column!r} are of another kind than its keys; write both as text "
                "in quotes, or both as whole numbers."
            ) from None
    return keys


def _selection(entry: SelectEntry | None, splits: Mapping[str, Scheme]) -> SelectKeys:
    if entry is None:
        raise InputError("the keys are given in no form; expected file, values or another.")
    return SelectKeys(
        rho=entry.rho,
        delta=entry.delta,
        threshold=entry.threshold,
        split=None if entry.split is None else splits[entry.split],
    )


# -- budget -----------------------------------------------------------------------------------


def budget_of(entry: BudgetEntry, splits: Mapping[str, Scheme]) -> Policy:
    """Return the budget: rho times the largest pieces^2 of its splits, with its slots (T4)."""
    return Budget(
        entry.rho,
        [splits[name] for name in entry.splits],
        epsilon=entry.epsilon,
        slots=[_slot(each, splits) for each in entry.selections],
        tapers=[each.policy() for each in entry.tapers],
        weights=[each.policy() for each in entry.weights],
    )


def _slot(entry: SelectionEntry, splits: Mapping[str, Scheme]) -> Policy:
    return Policy.slot(
        entry.rho,
        entry.keys,
        split=None if entry.split is None else splits[entry.split],
        delta=entry.delta,
        threshold=entry.threshold,
    )

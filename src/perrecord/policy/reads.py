"""Which fields of a record a policy reads, and whether a list of fields has them."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, assert_never

from perrecord.errors import SchemaError, listing, suggestion
from perrecord.policy.cases import Cases
from perrecord.policy.policy import Policy
from perrecord.policy.split import Scheme, Split, SplitBy
from perrecord.policy.terms import (
    Constant,
    ExactLoss,
    Form,
    Largest,
    Piecewise,
    SizeLoss,
    SplitLoss,
)

Read = tuple[str, frozenset[type] | None]
"""A field's name, and of a dimension the types that its cases have; None for a measure."""


def reads(form: Form) -> Iterator[Read]:
    """Yield every field that some record's loss or delta depends on, some more than once."""
    for slot in form.slots:
        if slot.split is not None:
            yield from _split_reads(slot.split)
    for term in form.terms:
        match term:
            case Constant():
                pass
            case SplitLoss(_, split):
                yield from _split_reads(split)
            case ExactLoss(_, measure, _) | SizeLoss(_, measure, _):
                yield measure, None
            case Largest(options):
                for option in options:
                    yield from reads(option)
            case Piecewise(cases):
                yield from _case_reads(cases)
                for part in cases.values():
                    yield from reads(part)
            case _:
                assert_never(term)


def names_read(policy: Policy) -> frozenset[str]:
    """Return every name that a record's loss, its delta or a group's delta depends on.

    >>> from perrecord import Policy, Split
    >>> sorted(names_read(Policy.selection("0.1", ["county"], split=Split(emp=50), delta="1e-6")))
    ['county', 'emp']
    """
    selected = {name for _, slot in policy.slots for name in slot.keys}
    return frozenset(selected | {name for name, _ in reads(policy.form)})


def thresholds(form: Form) -> Iterator[tuple[str, Fraction]]:
    """Yield each measure with the sizes that its losses are about, some repeatedly."""
    for slot in form.slots:
        if slot.split is not None:
            yield from _split_thresholds(slot.split)
    for term in form.terms:
        match term:
            case Constant():
                pass
            case SizeLoss(_, measure, growth):
                yield from ((measure, size) for size in growth.usual_sizes())
            case SplitLoss(_, split):
                yield from _split_thresholds(split)
            case ExactLoss(_, measure, threshold):
                yield measure, threshold
            case Largest(options):
                for option in options:
                    yield from thresholds(option)
            case Piecewise(cases):
                for part in cases.values():
                    yield from thresholds(part)
            case _:
                assert_never(term)


def _split_thresholds(split: Scheme) -> Iterator[tuple[str, Fraction]]:
    match split:
        case Split(given):
            yield from given
        case SplitBy(cases):
            for inner in cases.values():
                yield from _split_thresholds(inner)


def _split_reads(split: Scheme) -> Iterator[Read]:
    match split:
        case Split(thresholds):
            yield from ((name, None) for name, _ in thresholds)
        case SplitBy(cases):
            yield from _case_reads(cases)
            for inner in cases.values():
                yield from _split_reads(inner)


def _case_reads(cases: Cases[Any]) -> Iterator[Read]:
    yield from zip(cases.dimensions, cases.kinds, strict=True)


_WORDS = {str: "text", int: "integer", bool: "truth"}


def check_fields_of(form: Form, kinds: Mapping[str, type | None]) -> None:
    """Refuse fields, given by their type (None: a measure), that the form could not be read with.

    A reader that lacks a field cannot evaluate the policy; one with another type would give every
    record the default.
    """
    for name, types in set(reads(form)):
        if name not in kinds:
            raise SchemaError(
                f"a policy reads {name!r}, which is not a field. Fields are "
                f"{listing(kinds)}.{suggestion(name, kinds)}"
            )
        kind = kinds[name]
        if (types is None) != (kind is None):
            role = "a measure" if types is None else "a dimension"
            raise SchemaError(f"a policy reads {name!r} as {role}; its field is declared as none.")
        if types and kind not in types:
            expected = " or ".join(sorted(_WORDS[each] for each in types))
            raise SchemaError(
                f"the cases of {name!r} are {expected}, its field is of kind "
                f"{_WORDS.get(kind or str)!r}; declare it as its cases are."
            )

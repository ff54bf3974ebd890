"""The entries of post-processing: columns and tables that follow from published answers."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from perrecord.errors import InputError
from perrecord.release.spec.entry import Entry
from perrecord.release.spec.problems import found
from perrecord.release.spec.scalars import (
    Names,
    Proportion,
    Text,
    TruthValue,
    Whole,
    short,
)


class ConsistentEntry(Entry):
    """Columns that add up over all tables; those named here beside the unbiased one."""

    nonnegative: TruthValue = False
    """Add a column that is never below 0 and adds up; biased."""
    whole: TruthValue = False
    """Add a column of whole steps that adds up: of the non-negative numbers, if these are there."""


def _consistent(value: Any) -> Any:
    if value is None or isinstance(value, Mapping):
        return value
    if not isinstance(value, bool):
        raise InputError(
            f"found {found(value)}; expected true, or the further columns that are wanted: "
            "{nonnegative: true}, {whole: true} or {nonnegative: true, whole: true}."
        )
    return {} if value else None


class StatusEntry(Entry):
    """Relative standard errors up to which numbers are called reliable, or usable with caution."""

    reliable: Proportion
    """Up to this standard error, as a fraction of the number, it is reliable."""
    caution: Proportion
    """Up to this one it is to be used with caution; beyond, it is unreliable."""


class FollowEntry(Entry):
    """A table that is not asked for and follows from one that is, by adding up; at no cost."""

    source: Text = Field(alias="from")
    """The table that is added up."""
    by: Names = ()
    """What it is grouped by, which follows from what that table is; left out, one total of all."""
    answers: Annotated[Names, Field(min_length=1)] | None = None
    """The answers that it has; left out, all that add up."""
    title: Text | None = None
    """What documents call it."""


class PostProcessing(Entry):
    """Columns added to the answers; the unbiased ones stay."""

    floor_at_zero: TruthValue = False
    """Add, for each count, total and average, a column that is never below 0; biased upwards."""
    round: Mapping[str, Annotated[Whole, Field(ge=-12, le=12)]] = Field(default_factory=dict)
    """Add, for each of these answers, a column rounded to so many decimals; -2 is hundreds."""
    consistent: Annotated[
        ConsistentEntry | None, short(_consistent, bool | ConsistentEntry | None)
    ] = None
    """Add, for each count and total in several tables, a column that adds up over all of them."""
    status: StatusEntry | None = None
    """Add a word beside each number: reliable, use with caution, or unreliable."""
    follow: Mapping[str, FollowEntry] = Field(default_factory=dict)
    """Add tables that follow from those asked for: {by_state: {from: county, by: state}}."""

"""What `perrecord evaluate` must show, recomputed from the spec and its source."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from perrecord.lab.audit.shown import changes, students
from perrecord.lab.audit.shown.cell_errors import (
    CellError,
    at_share,
    five,
    shares_within,
)
from perrecord.lab.audit.shown.change_costs import change_of, measures_published
from perrecord.lab.audit.shown.declared import step_of
from perrecord.lab.audit.shown.document import Json, Row, least_loss, loss_of, with_computed
from perrecord.lab.audit.shown.realised import ExpectedUnitLosses, realised, unit_losses
from perrecord.lab.audit.shown.source import (
    TableAnswer,
    asked,
    groupings_of,
    is_declared,
    measure_of,
    outside,
    passing,
)
from perrecord.lab.audit.shown.variants import ExpectedVariant

WITHIN = ("within_5_percent", "within_10_percent", "within_20_percent")
_SIZED = ("tapered", "tapered_epsilon", "blurred", "blurred_epsilon")
_CLASSES = ((0, "0"), (1, "1 to 9"), (10, "10 to 99"), (100, "100 to 999"), (1000, "1000 or more"))


@dataclass
class ExpectedEvaluation:
    """Everything that follows from a spec, its variants and the records."""

    spec: Json
    records: Sequence[Row]
    ask: Callable[[], Sequence[ExpectedVariant]]
    ask_otherwise: Callable[[], ExpectedVariant]

    @cached_property
    def variants(self) -> Sequence[ExpectedVariant]:
        """The spec as written first, and what it is compared with."""
        return self.ask()

    @cached_property
    def otherwise(self) -> ExpectedVariant:
        """The spec under the other accounting."""
        return self.ask_otherwise()

    @property
    def written(self) -> ExpectedVariant:
        """The spec as written."""
        return self.variants[0]

    @property
    def currency(self) -> str:
        """Rho or epsilon."""
        return str(self.written.policy["currency"])

    @cached_property
    def rows(self) -> list[Json]:
        """A row for each variant, table and answer, as `--json` has it."""
        found = [
            _row(variant, one, errors)
            for variant in self.variants
            for one, errors in variant.errors
        ]
        order = [variant.name for variant in self.variants]
        return sorted(found, key=lambda row: order.index(row["variant"]))

    @cached_property
    def quantiles(self) -> list[Json]:
        """A row for each median and quantile of each variant."""
        return [
            _quantile_row(variant, one, errors)
            for variant in self.variants
            for one, errors in variant.errors
            if {"median", "quantile"} & one.answer.keys()
        ]

    @cached_property
    def by_size(self) -> list[Json]:
        """Rows of the spec as written, by how many records a cell has."""
        return [row for one, errors in self.written.errors for row in _by_size(one, errors)]

    @cached_property
    def biased(self) -> list[Json]:
        """Of every answer with a biased cell: the size of the bias, how often it is upwards."""
        found = []
        for variant in self.variants:
            for one, errors in variant.errors:
                row = _bias(variant, one, errors)
                if row is not None:
                    found.append(row)
        return found

    @cached_property
    def minimum(self) -> Fraction:
        """The least loss of any possible record."""
        return least_loss(self.written.policy) or Fraction(0)

    @cached_property
    def share_above(self) -> float:
        """The share of the records that lose more than the least."""
        above = [each for each in self.written.losses if each > self.minimum]
        return len(above) / len(self.records)

    @cached_property
    def realised(self) -> list[float]:
        """What each record really loses."""
        answers = list(asked(self.spec, self.records))
        return [realised(self.spec, [each], answers) for each in self.records]

    @cached_property
    def units(self) -> ExpectedUnitLosses:
        """What units lose."""
        return unit_losses(
            self.spec, self.records, self.written.losses, is_rho=self.currency == "rho"
        )

    @cached_property
    def coverage(self) -> list[Json]:
        """Of each grouping with declared keys: the records, and those without such a key."""
        return list(_coverage(self.spec, self.records))


def _labels(variant: ExpectedVariant, one: TableAnswer) -> Json:
    return {
        "variant": variant.name,
        "kind": variant.kind,
        "table": one.table,
        "answer": one.name,
    }


def _row(variant: ExpectedVariant, one: TableAnswer, errors: Sequence[CellError]) -> Json:
    zeros = sum(not each.has_relative for each in errors)
    within = dict(zip(WITHIN, shares_within(errors), strict=True))
    return _labels(variant, one) | five(errors) | {"cells": len(errors), "zeros": zeros} | within


def _quantile_row(variant: ExpectedVariant, one: TableAnswer, errors: Sequence[CellError]) -> Json:
    known = [each for each in errors if each.true is not None]
    return _labels(variant, one) | {
        "candidates": len(one.answer["candidates"]),
        "cells": len(errors),
        "without_values": len(errors) - len(known),
        "chance_of_a_quantile": sum(each.hit for each in known) / len(known) if known else None,
        "median_expected_error": _median(each.size for each in known),
        "median_reach": _median(each.reach for each in known),
        "median_without_noise": _median(abs(each.bias) for each in known),
    }


def _median(numbers: Iterator[float]) -> float | None:
    return at_share(list(numbers), Fraction(1, 2))


def _by_size(one: TableAnswer, errors: Sequence[CellError]) -> Iterator[Json]:
    ends = [start for start, _ in _CLASSES[1:]] + [math.inf]
    for (start, name), end in zip(_CLASSES, ends, strict=True):
        own = [each for each in errors if start <= each.records < end]
        if own:
            yield {
                "table": one.table,
                "answer": one.name,
                "size": name,
                "cells": len(own),
                "zeros": sum(not each.has_relative for each in own),
                "median_expected_error": five(own)["middle"],
            } | dict(zip(WITHIN, shares_within(own), strict=True))


def _bias(variant: ExpectedVariant, one: TableAnswer, errors: Sequence[CellError]) -> Json | None:
    if {"median", "quantile"} & one.answer.keys():
        return None
    known = [each for each in errors if each.has_relative]
    biased = [each for each in known if each.bias]
    if not biased:
        return None
    sizes = [each.relative(abs(each.bias)) for each in known]
    raised = sum(each.bias * (each.true or 0) > 0 for each in biased) / len(biased)
    return _labels(variant, one) | {
        "middle": at_share(sizes, Fraction(1, 2)),
        "high": at_share(sizes, Fraction(95, 100)),
        "raised": raised,
    }


def _coverage(spec: Json, records: Sequence[Row]) -> Iterator[Json]:
    for query in spec["queries"]:
        answers = query["answers"].values()
        added = [each for each in answers if {"sum", "average"} & each.keys()]
        measures = list(dict.fromkeys(str(measure_of(each)) for each in added))
        for columns in groupings_of(query):
            if not columns or query.get("keys") == "found":
                continue
            inside, out = passing(query, records), outside(spec, query, columns, records)
            shares = {each: _share(_sizes(out, each), _sizes(inside, each)) for each in measures}
            yield {
                "query": query["name"],
                "by": list(columns),
                "records": len(inside),
                "outside": len(out),
                "outside_keys": len({tuple(repr(each[name]) for name in columns) for each in out}),
                "outside_shares": shares,
                "is_declared": is_declared(query),
            }


def _sizes(records: Sequence[Row], measure: str) -> Fraction:
    return sum((abs(each[measure]) for each in records if each[measure] is not None), Fraction(0))


def _share(part: Fraction, whole: Fraction) -> float:
    return float(part / whole) if whole else 0.0


def thresholds(policy: Any, measure: str) -> list[Fraction]:
    """Return every threshold of a measure in the terms of a policy, and the sizes of tapers.

    The size that was written, or a round one.
    """
    found: list[Fraction] = []

    def walk(value: Any) -> None:
        if isinstance(value, list):
            for each in value:
                walk(each)
        elif isinstance(value, dict):
            if value.get("type") == "split":
                walk(policy["splits"][value["split"]])
            if value.get("type") == "exact" and value["measure"] == measure:
                found.append(Fraction(value["threshold"]))
            if value.get("type") in _SIZED and value["measure"] == measure:
                written = value.get("at")
                round_one = students.round_size(Fraction(value["spread"]))
                found.append(round_one if written is None else Fraction(written))
            if value.get("type") == "weighed" and value["measure"] == measure:
                found.append(Fraction(value["at"]))
            if measure in value.get("thresholds", {}):
                found.append(Fraction(value["thresholds"][measure]))
            for name, each in value.items():
                if name not in ("splits", "slots"):
                    walk(each)

    walk({name: each for name, each in policy.items() if name not in ("splits", "slots")})
    return found


def smallest_size(evaluation: ExpectedEvaluation, measure: str) -> Fraction:
    """Return the first size that losses are shown of: a tenth of the least threshold."""
    every = [
        each for variant in evaluation.variants for each in thresholds(variant.policy, measure)
    ]
    step = step_of(evaluation.spec, measure)
    return round(max(min(every, default=step) / 10, step) / step) * step


def changes_by_size(
    evaluation: ExpectedEvaluation, examples: Mapping[str, Row], document: Json
) -> Iterator[Json]:
    """Yield what records of some size lose, and what it costs that they are somewhat greater."""
    policy = evaluation.written.policy
    fields = {each["name"]: each for each in document["fields"]}
    names = [name for name, each in fields.items() if each["kind"] == "measure"]
    base = {**next(iter(examples.values())), **dict.fromkeys(names, Fraction(0))}
    for measure in sorted(measures_published(document)):
        step, before = step_of(evaluation.spec, measure), Fraction(0)
        least = min(thresholds(policy, measure), default=step)
        for place in range(25):  # four of each decade
            exactly = max(least / 10, step) * Fraction(10 ** (place / 4))
            size = round(exactly / step) * step
            if before < size <= int(fields[measure]["largest"]) * step:
                record = with_computed(document, {**base, measure: size}, kept=measure)
                row = {"measure": measure, "size": float(size)}
                row["presence"] = float(loss_of(document["total"], record))
                for percent in changes.PERCENTS:
                    other = {**base, measure: changes.greater(fields[measure], size, percent)}
                    other = with_computed(document, other, kept=measure)
                    cost = change_of(document, record, other)
                    row[f"{percent}_percent_more"] = cost.value
                yield row
            before = size

"""How the loss of a hypothetical record grows with one of its measures. Public: no data is read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import takewhile
from typing import Any, Self

import pyarrow as pa

from perrecord.errors import MissingFieldError
from perrecord.evaluate.losses.least import least_loss, unbiased_outputs
from perrecord.exact import float_down, float_up
from perrecord.policy.cases import Cases, DimensionValue
from perrecord.policy.changes import change_loss
from perrecord.policy.outputs import Output
from perrecord.policy.policy import Policy
from perrecord.policy.reads import names_read
from perrecord.policy.split import SplitBy
from perrecord.policy.terms import (
    Currency,
    ExactLoss,
    Form,
    Largest,
    Piecewise,
    SizeLoss,
    SplitLoss,
)
from perrecord.queries.plan import Plan
from perrecord.release.changes import PERCENTS, raised_value
from perrecord.release.fields import fields_of
from perrecord.release.origins import Origins
from perrecord.release.outputs import distinct_columns, measures_published, outputs_of
from perrecord.tables.schema import Schema

_PER_DECADE = 24
_PER_DECADE_CHANGED = 4
_DECADES = 6


def losses_by_size(
    plans: Mapping[str, Plan], schema: Schema, example: Mapping[str, Any] | None = None
) -> pa.Table:
    """Return the losses of records that hold one measure and nothing else, from small to large.

    A row for each plan, measure and size. Where losses depend on dimensions, the record has those
    that follow from the measure, and else those of the example or of the first case. `least` is the
    least that the record could lose by answers as accurate (T30), NULL under pure epsilon.
    """
    policies = {name: each.policy for name, each in plans.items()}
    outputs = {
        name: unbiased_outputs(each)
        for name, each in plans.items()
        if each.policy.currency is Currency.RHO
    }
    rows: list[dict[str, Any]] = []
    measures, holding = dict(schema.measures), _Holding.of(schema)
    sizes = {name: list(_sizes(policies, name, each.resolution)) for name, each in schema.measures}
    for name, policy in policies.items():
        read = names_read(policy)
        base = {**dict.fromkeys(measures, 0), **_dimensions(policy, read - measures.keys())}
        base |= {each: value for each, value in (example or {}).items() if each not in measures}
        for measure in sorted(measures.keys() & read):
            for size in sizes[measure]:
                record = {**base, **holding.record(base, measure, size)}
                row = {"policy": name, "measure": measure, "size": float(size)}
                row["loss"] = float(policy.loss(record))
                if name in outputs:
                    row["least"] = float_down(least_loss(outputs[name], record))
                rows.append(row)
    kinds = {"policy": pa.string(), "measure": pa.string()}
    kinds |= dict.fromkeys(["size", "loss", "least"], pa.float64())
    return pa.Table.from_pylist(rows, pa.schema(kinds))


@dataclass(frozen=True, slots=True)
class _Sized:
    """Records that hold one measure and nothing else, from small to large, and greater ones."""

    schema: Schema
    base: tuple[tuple[str, Any], ...]
    measure: str
    sizes: tuple[Fraction, ...]

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the records."""
        base = dict(self.base)
        holding = _Holding.of(self.schema)
        yield from (holding.record(base, self.measure, size) for size in self.sizes)

    def greater(self, percent: int) -> Iterator[dict[str, Any]]:
        """Yield them so many percent greater."""
        base, rule = dict(self.base), self.schema.rules[self.measure]
        holding = _Holding.of(self.schema)
        for size in self.sizes:
            raised = raised_value(rule, size, percent)
            yield holding.record(base, self.measure, raised)

    def costs(self, output: Output) -> "_Costs":
        """Return what the greater ones cost at an output; what costs nothing is left out."""
        found = {}
        for percent in PERCENTS:
            pairs = zip(self.records(), self.greater(percent), strict=True)
            for place, (record, other) in enumerate(pairs):
                cost = change_loss([output], [record], [other])
                if cost.amount:
                    found[place, percent] = cost.amount
        return found


_Costs = dict[tuple[int, int], Fraction]
"""What changes cost: by the place of the record, and by how many percent it is greater."""

KeptCosts = dict[Output, dict[str, tuple[_Sized, _Costs]]]
"""What changes cost at each output by measure, from one plan to the next: few outputs differ."""


def changes_by_size(
    planned: Plan, example: Mapping[str, Any] | None = None, kept: KeptCosts | None = None
) -> pa.Table:
    """Return what it costs that a record of each size is somewhat greater, beside its own loss.

    A row for each measure that anything is said of, and size: what a record loses that holds so
    much of it and nothing else, and what 5, 10 and 20 % more would cost (T27). There is none where
    it cannot be told in which cell more would be. What was `kept` for the outputs of another plan
    is not computed again.
    """
    schema, outputs, policy = planned.schema, outputs_of(planned), planned.policy
    known = _of_outputs(outputs, {} if kept is None else kept)
    rules = schema.rules
    base: dict[str, Any] = dict.fromkeys(distinct_columns(outputs), "")
    base |= dict.fromkeys(schema.dimension_names)
    base |= _dimensions(policy, names_read(policy) - rules.keys()) | dict.fromkeys(rules, 0)
    base |= {each: value for each, value in (example or {}).items() if each not in rules}
    rows = []
    origins = Origins.of(fields_of(schema))
    for measure in filter(origins.is_told, sorted(measures_published(outputs))):
        rule = rules[measure]
        every = _sizes({"": policy}, measure, rule.resolution, per_decade=_PER_DECADE_CHANGED)
        most = rule.largest * rule.resolution
        sizes = tuple(takewhile(lambda size, most=most: size <= most, every))  # type: ignore[misc]
        sized = _Sized(schema, tuple(base.items()), measure, sizes)
        try:
            costs = [_kept_costs(each, sized, own) for each, own in known]
        except MissingFieldError:  # of a dimension that follows from it in a way that is not known
            continue
        for place, (size, record) in enumerate(zip(sizes, sized.records(), strict=True)):
            row: dict[str, Any] = {"measure": measure, "size": float(size)}
            row["presence"] = float_up(policy.loss({**base, **record}))
            for percent in PERCENTS:
                amounts = (each.get((place, percent)) for each in costs)
                cost = sum(filter(None, amounts), Fraction(0))
                row[f"{percent}_percent_more"] = float_up(cost)
            rows.append(row)
    names = ["size", "presence", *(f"{percent}_percent_more" for percent in PERCENTS)]
    kinds = [("measure", pa.string()), *((name, pa.float64()) for name in names)]
    return pa.Table.from_pylist(rows, pa.schema(kinds))


def _of_outputs(
    outputs: Sequence[Output], kept: KeptCosts
) -> list[tuple[Output, dict[str, tuple[_Sized, _Costs]]]]:
    """Return what is kept of each output; what was kept of others is forgotten."""
    known = {each: kept.get(each, {}) for each in outputs}
    kept.clear()
    kept.update(known)
    return [(each, known[each]) for each in outputs]


def _kept_costs(output: Output, sized: _Sized, kept: dict[str, tuple[_Sized, _Costs]]) -> _Costs:
    before = kept.get(sized.measure)
    if before is None or before[0] != sized:
        before = kept[sized.measure] = sized, sized.costs(output)
    return before[1]


@dataclass(frozen=True, slots=True)
class _Holding:
    """Makes records that hold so much of one measure, and what follows from it."""

    schema: Schema
    origins: Origins

    @classmethod
    def of(cls, schema: Schema) -> Self:
        """Return what makes the records of a table."""
        return cls(schema, Origins.of(fields_of(schema)))

    def record(self, base: Mapping[str, Any], measure: str, size: Fraction) -> dict[str, Any]:
        """Return a record; it lacks a dimension of which it cannot be told what it then is."""
        record = {**base, measure: size}
        for name, rule in self.schema.measures:
            if rule.expression is not None and name != measure:
                record[name] = rule.number(rule.expression.value(record))
        _, found = self.origins.followed(measure, record, record)
        return dict(found)


def _sizes(
    policies: Mapping[str, Policy],
    measure: str,
    resolution: Fraction,
    per_decade: int = _PER_DECADE,
) -> Iterator[Fraction]:
    """Yield sizes from a tenth of the least threshold on, evenly on the logarithm, on the grid."""
    found = [
        each for policy in policies.values() for each in _thresholds(policy.form, measure) if each
    ]
    start = max(min(found, default=resolution) / 10, resolution)
    before = Fraction(0)
    for step in range(per_decade * _DECADES + 1):
        size = round(start * Fraction(10 ** (step / per_decade)) / resolution) * resolution
        if size > before:
            yield size
        before = size


def _thresholds(form: Form, measure: str) -> Iterator[Fraction]:
    for term in form.terms:
        match term:
            case SplitLoss(_, split):
                yield from _of_scheme(split, measure)
            case Largest(options):
                for option in options:
                    yield from _thresholds(option, measure)
            case Piecewise(cases):
                for each in cases.values():
                    yield from _thresholds(each, measure)
            case ExactLoss(_, name, threshold) if name == measure:
                yield threshold
            case SizeLoss(_, name, growth) if name == measure:
                yield from growth.usual_sizes()


def _of_scheme(split: Any, measure: str) -> Iterator[Fraction]:
    if isinstance(split, SplitBy):
        for inner in split.cases.values():
            yield from _of_scheme(inner, measure)
    else:
        yield dict(split.thresholds).get(measure, Fraction(0))


def _dimensions(policy: Policy, names: frozenset[str] | set[str]) -> dict[str, DimensionValue]:
    """Return a value for each dimension that a policy reads: that of the first case."""
    found: dict[str, DimensionValue] = dict.fromkeys(names)
    for cases in _cases(policy.form):
        if cases.entries:
            key, _ = cases.entries[0]
            found |= dict(zip(cases.dimensions, key, strict=True))
    return found


def _cases(form: Form) -> Iterator[Cases[Any]]:
    for term in form.terms:
        match term:
            case SplitLoss(_, SplitBy(cases)):
                yield cases
            case Largest(options):
                for option in options:
                    yield from _cases(option)
            case Piecewise(cases):
                for each in cases.values():
                    yield from _cases(each)
                yield cases

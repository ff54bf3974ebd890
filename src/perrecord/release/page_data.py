"""What the script of the policy page reads: a published policy as plain values of text.

Schemes are shared between the policies. Values of dimensions and caps are text, values tagged with
their kind: JavaScript would read 9007199254740993 as a float and lose its last digit.
"""

from collections import defaultdict
from fractions import Fraction

from perrecord.exact import text
from perrecord.policy.cases import DimensionValue
from perrecord.policy.choices import ChosenCandidate
from perrecord.policy.document import FormWriter, Json
from perrecord.policy.reads import reads, thresholds
from perrecord.policy.split import Split
from perrecord.release.attack import fields_of_noise
from perrecord.release.curves import Curve
from perrecord.release.document import PublishedCharge, PublishedPolicy
from perrecord.release.fields import Field
from perrecord.release.noise import cells_of
from perrecord.release.writing import (
    write_curve,
    write_field,
    write_noise,
    write_outputs,
    write_record,
)
from perrecord.tables.measures import LARGEST

Sizes = dict[str, set[Fraction]]
"""The thresholds and bounds of each measure."""


def page_data(published: PublishedPolicy) -> Json:
    """Return the document as the script has it."""
    writer = _PageWriter()
    priced = fields_priced(published)
    charges = [_charge(charge, writer) for charge in published.charges]
    total = writer.form(published.total.form)
    shown = len(writer.schemes)  # the budget's own schemes, which come after, cut no record
    budget = None if published.budget is None else writer.form(published.budget.form)
    series = _series(published, writer)
    sizes = _sizes(published)
    asked = fields_asked(published)
    return {
        "currency": published.total.currency.value,
        "fields": [
            _field(field, sizes, is_priced=field.name in priced | published.operands)
            for field in published.fields
            if field.name in asked
        ],
        "unit": _unit(published, sizes),
        "labels": [[field.name, field.label] for field in published.fields],
        "by_themselves": [field.name for field in published.by_themselves],
        "deciding": {
            name: [each.name for each in decided] for name, decided in deciding(published).items()
        },
        "splits": writer.splits(),
        "shown_splits": list(range(shown)),
        "charges": charges,
        "total": total,
        "budget": budget,
        "curves": [_curve(curve) for curve in published.curves],
        "least": text(published.total.minimum()),
        "examples": [
            [name, [[column, _tag(value)] for column, value in write_record(record).items()]]
            for name, record in published.examples
        ],
        "series": series,
    }


def _series(published: PublishedPolicy, writer: FormWriter) -> Json | None:
    """Return what was charged to each period before; None in a ledger without periods."""
    series = published.series
    if series is None:
        return None
    return {
        "period": series.period,
        "periods": list(series.periods),
        "earlier": [
            {
                "period": each.period,
                "titles": list(each.titles),
                "form": writer.form(each.policy.form),
            }
            for each in series.earlier
        ],
        "limit": None if series.limit is None else writer.form(series.limit.form),
    }


def _unit(published: PublishedPolicy, sizes: Sizes) -> Json | None:
    """Return what records of one unit are described by; None if what they share is not stated."""
    if any(charge.outputs is None for charge in published.charges):
        return None
    needed = fields_asked(published).union(published.asked_of_units, published.operands)
    return {
        "column": published.unit_column,
        "hidden": list(published.hidden_from_units),
        "fields": [
            _field(field, sizes, is_priced=False)
            for field in published.fields
            if field.name in needed
        ],
    }


def deciding(published: PublishedPolicy) -> dict[str, list[Field]]:
    """Return the measures of whose greater values the page cannot tell the cost, each with why.

    Those are the fields on which anything published depends and of which the page cannot tell what
    they then are; of a change between periods, every dimension that may make two records of it.
    """
    read = fields_priced(published).union(published.asked_of_units, fields_of_noise(published))
    origins, found = published.origins, {}
    for measure in published.fields:
        if measure.kind == "measure":
            is_told = origins.is_told(measure.name)
            decided = [
                each
                for each in origins.decided_by(measure.name)
                if each.name in read or not is_told
            ]
            moved = [each for each in origins.moved_with(measure.name) if each.name in read]
            found[measure.name] = [*decided, *moved]
    return {name: fields for name, fields in found.items() if fields}


def fields_asked(published: PublishedPolicy) -> frozenset[str]:
    """Return the fields that anything on the page depends on."""
    outputs = (each for charge in published.charges for each in charge.outputs or ())
    choices = (each for each in outputs if isinstance(each, ChosenCandidate))
    chosen = {name for each in choices for name in each.measures}
    found = fields_priced(published) | fields_of_noise(published) | chosen
    return found | published.operands


def fields_priced(published: PublishedPolicy) -> frozenset[str]:
    """Return the fields that the loss of a record depends on."""
    forms = [policy.form for policy in published.policies()]
    return frozenset(name for form in forms for name, _ in reads(form))


class _PageWriter(FormWriter):
    """Writes forms for the script: the schemes of all policies in one list."""

    def value(self, part: DimensionValue) -> DimensionValue:
        """Return a dimension's value as tagged text."""
        return _tag(part)

    def plain_split(self, split: Split) -> Json:
        """Return a scheme with its cap, if there is one, as text."""
        written = super().plain_split(split)
        if split.cap is None:
            return written
        return {"cap": str(split.cap), "thresholds": written["thresholds"]}


def _tag(value: DimensionValue) -> str:
    match value:
        case None:
            return "n"
        case bool():
            return f"b{value:d}"
        case int():
            return f"i{value}"
        case _:
            return f"t{value}"


def _charge(charge: PublishedCharge, writer: FormWriter) -> Json:
    noise = None if charge.noise is None else [write_noise(each, writer) for each in charge.noise]
    form = writer.form(charge.policy.form)
    return {
        "name": charge.name,
        "title": charge.title,
        "form": form,
        "noise": noise,
        "outputs": write_outputs(charge, writer),
    }


def _curve(curve: Curve) -> Json:
    written = write_curve(curve)
    return {**written, "points": [[str(pieces), delta] for pieces, delta in written["points"]]}


def _field(field: Field, sizes: Sizes, *, is_priced: bool) -> Json:
    written = write_field(field)
    if field.resolution is not None:
        known = sorted(sizes[field.name]) or [_usual(field.resolution, field.largest or LARGEST)]
        return {**written, "scale": text(known[len(known) // 2]), "priced": is_priced}
    values = field.values or ((True, False) if field.kind == "truth" else ())
    return {**written, "values": [_tag(value) for value in values]}


def _usual(resolution: Fraction, largest: int) -> Fraction:
    """Return a usual size where nothing tells of one: a hundredth of the largest, if it is said."""
    return resolution if largest == LARGEST else max(largest // 100, 1) * resolution


def _sizes(published: PublishedPolicy) -> Sizes:
    """Return the thresholds and bounds of each measure; the middle one is its usual size."""
    found: Sizes = defaultdict(set)
    for policy in published.policies():
        for measure, threshold in thresholds(policy.form):
            found[measure].add(threshold)
    for charge in published.charges:
        for noise in charge.noise or ():
            if noise.moved == "values" and noise.measure is not None:
                bounds = [cell.bounds for cell in cells_of(noise.cells) if cell.bounds is not None]
                found[noise.measure].update(max(abs(low), abs(high)) for low, high in bounds)
    return found

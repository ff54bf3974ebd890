"""The parts of a published policy as plain values, ready to be written as JSON.

`policy.json` and the data of the policy page are both made of these; they differ in how the writer
spells values of dimensions.
"""

from collections.abc import Mapping
from fractions import Fraction

from perrecord.errors import InternalError
from perrecord.exact import text
from perrecord.policy.cases import Cases, DimensionValue
from perrecord.policy.choices import ChosenCandidate
from perrecord.policy.document import FormWriter, Json
from perrecord.policy.outputs import NoisyNumber, OnRows, Output, Selection
from perrecord.release.charges import PublishedCharge
from perrecord.release.curves import Curve
from perrecord.release.fields import Field
from perrecord.release.noise import CellNoise, Noise, NoiseTree
from perrecord.release.series import PublishedSeries


def write_field(field: Field) -> Json:
    """Return a field: what it is called, and its values or its grid."""
    named: Json = {
        "name": field.name, "kind": field.kind, "label": field.label, "unit": field.unit,
        "expression": field.expression,
    }  # fmt: skip
    looked_up = {"looked_up": list(field.looked_up)} if field.looked_up else {}
    if field.resolution is None:
        names = {"names": list(field.names)} if field.names else {}
        return named | {"values": list(field.values)} | names | looked_up
    grid: Json = {"largest": str(field.largest), "outside": field.outside}
    if field.computed is not None:
        terms = [[text(factor), list(names)] for names, factor in field.computed.terms]
        grid |= {"computed": {"reads": list(field.computed.names), "terms": terms}}
    return named | {"resolution": text(field.resolution)} | grid | looked_up


def write_noise(noise: Noise, writer: FormWriter) -> Json:
    """Return what one noisy number tells of a record."""
    return {
        "moved": noise.moved,
        "measure": noise.measure,
        "centred": noise.is_centred,
        "certain": noise.is_certain,
        "cells": _tree(noise.cells, writer),
    }


def _tree(tree: NoiseTree, writer: FormWriter) -> Json:
    if isinstance(tree, CellNoise):
        plain = {
            "law": tree.law,
            "spread": text(tree.spread),
            "step": text(tree.step),
            "variance": str(tree.shown_variance),
            "bounds": None if tree.bounds is None else [text(end) for end in tree.bounds],
        }
        return plain if tree.by is None else plain | {"blurred_by": text(tree.by)}
    return writer.cases(tree, "cells", lambda part: _tree(part, writer))


def write_charge(charge: PublishedCharge, writer: FormWriter) -> Json:
    """Return one answer: what it costs, its noise, and what it publishes."""
    noise = None if charge.noise is None else [write_noise(each, writer) for each in charge.noise]
    return {
        "name": charge.name,
        "title": charge.title,
        "policy": charge.policy.document(),
        "noise": noise,
        "outputs": write_outputs(charge, writer),
    }


def write_outputs(charge: PublishedCharge, writer: FormWriter) -> list[Json] | None:
    """Return what each output of a charge needs beside the noise, for the cost of changes (T27)."""
    if charge.outputs is None:
        return None
    return [_output(each, charge, writer) for each in charge.outputs]


def _output(output: Output, charge: PublishedCharge, writer: FormWriter) -> Json:
    match output:
        case NoisyNumber(noise, scope, _, distinct):
            place = list[object](charge.noise or ()).index(noise)
            where = {"by": list(scope.columns), "certain": scope.is_certain}
            return {"type": "number", "noise": place, **where, "distinct": distinct}
        case ChosenCandidate(amount, measure, level, candidates, scope, _, weight):
            weighed = {"measure": weight.measure, "at": text(weight.at)} if weight else None
            return {
                "type": "choice",
                "by": list(scope.columns),
                "certain": scope.is_certain,
                "among": _among(scope.among, writer),
                "amount": text(amount),
                "measure": measure,
                "level": text(level),
                "candidates": [text(each) for each in candidates],
                **({} if weighed is None else {"weight": weighed}),
            }
        case Selection(_, is_certain, among):
            passing = _among(among, writer)
            return {"type": "selection", "certain": is_certain, "among": passing}
        case OnRows():
            raise InternalError("a published charge has an output that is run on rows")


def _among(among: Cases[bool] | None, writer: FormWriter) -> Json | None:
    if among is None:
        return None
    return writer.cases(among, "passes", lambda passes: passes)  # type: ignore[arg-type,return-value]


def write_curve(curve: Curve) -> Json:
    """Return a delta curve, point by point."""
    points = [[pieces, format(delta, "f")] for pieces, delta in curve.points]
    return {"rho": text(curve.rho), "threshold": curve.threshold, "points": points}


def write_record(record: Mapping[str, DimensionValue | Fraction]) -> dict[str, DimensionValue]:
    """Return an example as somebody would type it: measures as exact text."""
    return {
        name: text(value) if isinstance(value, Fraction) else value
        for name, value in record.items()
    }


def write_series(series: PublishedSeries) -> Json:
    """Return the periods of a ledger, and what was charged to them before."""
    return {
        "period": series.period,
        "periods": list(series.periods),
        "revision": series.revision,
        "earlier": [
            {"period": each.period, "titles": list(each.titles), "policy": each.policy.document()}
            for each in series.earlier
        ],
        "unread": [{"period": period, "title": title} for period, title in series.unread],
        "limit": None if series.limit is None else series.limit.document(),
    }

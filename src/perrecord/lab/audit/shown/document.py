"""`policy.json` evaluated by docs/policy-format.md alone: losses, deltas, noise, estimates."""

import math
from collections.abc import Iterator, Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from typing import Any

from perrecord.lab.audit.shown import by_hand, students

Json = dict[str, Any]
Row = Mapping[str, Any]
"""A record: measures as fractions on their grid or None, dimensions as values."""

_MOST_COMBINATIONS = 20_000
_DIGITS = 120


class NotCoveredError(Exception):
    """No case fits the record, and there is no default."""


def _same(value: Any, wanted: Any) -> bool:
    return type(value) is type(wanted) and value == wanted


def chosen(table: Json, record: Row, what: str) -> Any:
    """Return what holds for a record in a table of cases."""
    values = [record[name] for name in table["dimensions"]]
    for case in table["cases"]:
        if all(_same(value, part) for value, part in zip(values, case["when"], strict=True)):
            return case[what]
    if table["default"] is None:
        raise NotCoveredError
    return table["default"]


def scheme_of(split: Json, record: Row) -> Json:
    """Return the plain scheme that applies to a record."""
    while "dimensions" in split:
        split = chosen(split, record, "split")
    return split


def parts_of(split: Json, record: Row) -> dict[str, int]:
    """Return the least number of pieces that each measure of a scheme asks for."""
    return {
        name: math.ceil(abs(Fraction(record[name] or 0)) / Fraction(limit))
        for name, limit in scheme_of(split, record)["thresholds"].items()
    }


def pieces_of(split: Json, record: Row) -> int:
    """Return the number of pieces of a record."""
    count, cap = max(1, *parts_of(split, record).values()), scheme_of(split, record)["cap"]
    return count if cap is None else min(count, int(cap))


def loss_of(policy: Json, record: Row) -> Fraction:
    """Return P(r), or a number just below it where it is irrational."""
    return _form_loss(policy, policy, record, 2 if policy["currency"] == "rho" else 1)


def _form_loss(form: Json, policy: Json, record: Row, power: int) -> Fraction:
    total = Fraction(0)
    for term in form["terms"]:
        match term["type"]:
            case "constant":
                total += Fraction(term["amount"])
            case "split":
                pieces = pieces_of(policy["splits"][term["split"]], record)
                total += Fraction(term["amount"]) * pieces**power
            case "exact":
                size = abs(Fraction(record[term["measure"]] or 0)) / Fraction(term["threshold"])
                total += Fraction(term["amount"]) * size**power
            case "tapered" | "tapered_epsilon":
                size = abs(Fraction(record[term["measure"]] or 0))
                nu, spread = int(term["nu"]), Fraction(term["spread"])
                own = students.loss(term["type"], spread, nu, size)
                total += Fraction(term["amount"]) * own
            case "blurred" | "blurred_epsilon":
                size = Fraction(record[term["measure"]] or 0)
                total += Fraction(term["amount"]) * blurred_loss_of(term, policy["currency"], size)
            case "weighed":
                share = abs(Fraction(record[term["measure"]] or 0)) / Fraction(term["at"])
                own = weighed_loss(Fraction(term["rho"]), share)
                total += Fraction(term["amount"]) * own
            case "largest":
                total += max(_form_loss(each, policy, record, power) for each in term["options"])
            case "by":
                total += _form_loss(chosen(term, record, "policy"), policy, record, power)
    return total


def weighed_loss(rho: Fraction, share: Fraction) -> Fraction:
    """Return f(sqrt(8 rho) share) to a hundred digits; f(eta) = y - 1 - ln y (T37, T38)."""
    if not share:
        return Fraction(0)
    with localcontext(prec=_DIGITS):
        eta = (8 * _decimal(rho)).sqrt() * _decimal(share)
        y = eta / (1 - (-eta).exp())
        return Fraction(y - 1 - y.ln())


def votes(weight: Json | None, record: Row) -> Fraction:
    """Return how often a record counts in a quantile (T37)."""
    if weight is None:
        return Fraction(1)
    return max(Fraction(record[weight["measure"]] or 0), Fraction(0))


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def blurred_loss_of(term: Json, currency: str, size: Fraction) -> Fraction:
    """Return what a record loses by a blurred term, or a number just below it."""
    spread, by, nu = Fraction(term["spread"]), Fraction(term["by"]), int(term["nu"])
    return students.blurred(spread, by, nu, currency, size, Fraction(0), size**2)


def spare_of(policy: Json) -> Fraction:
    """Return by what share of it a loss may be rounded up: none, but for irrational terms."""
    is_irrational = any(kind in str(policy) for kind in ("'tapered", "'blurred", "'weighed"))
    return students.ROUNDED if is_irrational else Fraction(0)


def slots_of(form: Json, record: Row) -> Iterator[Json]:
    """Yield the key selections that a record takes part in."""
    yield from form["slots"]
    for term in form["terms"]:
        if term["type"] == "by":
            yield from slots_of(chosen(term, record, "policy"), record)


def delta_of(policy: Json, record: Row) -> float:
    """Return delta(r), from the law itself."""
    kept = 1.0
    for slot in slots_of(policy, record):
        split = slot["split"]
        pieces = 1 if split is None else pieces_of(policy["splits"][split], record)
        spread = 1 / (2 * Fraction(slot["rho"]))
        kept *= 1 - by_hand.tail(spread, slot["threshold"] - pieces)
    return 1 - kept


def least_loss(policy: Json) -> Fraction | None:
    """Return the least loss of any record: measures of 0 and every case; None if too many."""
    values: dict[str, list[Any]] = {}
    _gather(policy, values)
    others = [[*dict.fromkeys((type(v), v) for v in each), (str, "\0")] for each in values.values()]
    if math.prod(map(len, others)) > _MOST_COMBINATIONS:
        return None
    found = []
    for key in product(*others):
        record = dict(zip(values, (value for _, value in key), strict=True)) | _zeros(policy)
        try:
            found.append(loss_of(policy, record))
        except NotCoveredError:
            continue
    return min(found)


def measures_read(policy: Json) -> set[str]:
    """Return the measures that a policy's loss depends on."""
    return set(_zeros(policy))


def _gather(value: Any, values: dict[str, list[Any]]) -> None:
    if isinstance(value, dict):
        for place, name in enumerate(value.get("dimensions", [])):
            values.setdefault(name, []).extend(case["when"][place] for case in value["cases"])
    for each in value.values() if isinstance(value, dict) else value:
        if isinstance(each, dict | list):
            _gather(each, values)


def _zeros(value: Any) -> dict[str, Fraction]:
    found: dict[str, Fraction] = {}
    if isinstance(value, dict):
        found |= dict.fromkeys(value.get("thresholds", {}), Fraction(0))
        if isinstance(value.get("measure"), str):
            found[value["measure"]] = Fraction(0)
    for each in value.values() if isinstance(value, dict) else value:
        if isinstance(each, dict | list):
            found |= _zeros(each)
    return found


# -- measures that follow from others --------------------------------------------------------


def with_computed(document: Json, record: Row, kept: str | None = None) -> dict[str, Any]:
    """Return a record with its derived measures computed, but for one that is kept as it is."""
    found = dict(record)
    for field in document["fields"]:
        if "computed" in field and field["name"] != kept:
            found[field["name"]] = _computed(field, found)
    return found


def _computed(field: Json, record: Row) -> Fraction | None:
    if any(record[name] is None for name in field["computed"]["reads"]):
        return None
    value = Fraction(0)
    for factor, names in field["computed"]["terms"]:
        value += Fraction(factor) * math.prod(record[name] for name in names)
    step, most = Fraction(field["resolution"]), int(field["largest"])
    steps = math.floor(abs(value) / step + Fraction(1, 2))
    if steps > most and field["outside"] == "null":
        return None
    return (min(steps, most) if value >= 0 else -min(steps, most)) * step


def told_by_themselves(document: Json) -> list[str]:
    """Return the measures that nothing tells of but what is published of themselves.

    What is computed from a measure tells of it, and what it is computed from tells of that.
    """
    measures = [each for each in document["fields"] if each["kind"] == "measure"]
    read = _fields_read(document)
    operands: set[str] = set()
    for field in reversed(measures):
        if "computed" in field and field["name"] in read | operands:
            operands |= set(field["computed"]["reads"])
    return [
        field["name"]
        for field in measures
        if field["name"] not in operands
        and (
            "computed" not in field
            or (field["name"] in read and not set(field["computed"]["reads"]) <= read)
        )
    ]


def _fields_read(document: Json) -> set[str]:
    """Return the fields that a loss depends on, and the measures that something is said of."""
    policies = [each["policy"] for each in document["charges"]]
    found = set().union(*(_zeros(each) for each in (*policies, document["total"])))
    found |= set(_zeros(document["budget"] or {}))
    for charge in document["charges"]:
        found |= {each["measure"] for each in charge["noise"]}
        for output in charge["outputs"]:
            found |= {output["measure"]} if "measure" in output else set()
            found |= {output["weight"]["measure"]} if "weight" in output else set()
    return found


# -- noise -----------------------------------------------------------------------------------


def cell_of(cells: Json | None, record: Row) -> Json | None:
    """Return the noise of a record's own cell; None where it does not enter."""
    while cells is not None and "dimensions" in cells:
        try:
            cells = chosen(cells, record, "cells")
        except NotCoveredError:
            return None
    return cells


def leaves_of(cells: Json | None, key: Row) -> Iterator[Json]:
    """Yield the noise of every cell that a key, which may lack dimensions, can mean."""
    if cells is None:
        return
    if "dimensions" not in cells:
        yield cells
        return
    known = [(place, name) for place, name in enumerate(cells["dimensions"]) if name in key]
    fits = [
        case
        for case in cells["cases"]
        if all(_same(key[name], case["when"][place]) for place, name in known)
    ]
    for case in fits:
        yield from leaves_of(case["cells"], key)
    if not fits or len(known) < len(cells["dimensions"]):
        yield from leaves_of(cells["default"], key)


def variance_of(cell: Json, value: Fraction = Fraction(0)) -> float:
    """Return the variance of a cell's noise: by its law and spread, and what a value adds to it."""
    law, nu = cell["law"], students.nu_of(cell["law"])
    spread = Fraction(cell["spread"]) + nu * Fraction(cell.get("blurred_by", 0)) ** 2 * value**2
    return by_hand.variance(law, spread, Fraction(cell["step"]))


def estimate_of(document: Json, record: Row, measure: str) -> float | None:
    """Return the standard error of an estimate of a measure; None if nothing tells of it (T19)."""
    information, value = 0.0, record[measure]
    for charge in document["charges"]:
        for noise in charge["noise"]:
            cell = cell_of(noise["cells"], record)
            if cell is None:
                continue
            if noise["moved"] == "values" and noise["measure"] == measure:
                low, high = map(Fraction, cell["bounds"] or (value, value))
                information += 1 / variance_of(cell, value) if low <= value <= high else 0
            if noise["moved"] == "pieces":
                information += _of_pieces(charge["policy"], record, measure, variance_of(cell))
    return 1 / math.sqrt(information) if information else None


def _of_pieces(policy: Json, record: Row, measure: str, spread: float) -> float:
    for slot in slots_of(policy, record):
        if slot["split"] is None:
            continue
        split = policy["splits"][slot["split"]]
        parts, plain = parts_of(split, record), scheme_of(split, record)
        most = max(parts.values())
        is_cut = plain["cap"] is not None and most > int(plain["cap"])
        if parts.get(measure) == most > 1 and not is_cut:
            return 1 / (spread * float(Fraction(plain["thresholds"][measure])) ** 2)
    return 0.0


def shifted_of(document: Json, record: Row) -> Fraction | None:
    """Return the sum of shift^2/(2 sigma^2), where T19 lets the Gaussian's figure be shown."""
    if document["total"]["currency"] != "rho" or any(slots_of(document["total"], record)):
        return None
    loss = Fraction(0)
    for charge in document["charges"]:
        if not charge["noise"] and loss_of(charge["policy"], record) > 0:
            return None
        for noise in charge["noise"]:
            cell = cell_of(noise["cells"], record)
            shift = None if cell is None else shift_of(noise, cell, record)
            if not cell or not shift:
                continue
            spread, step = Fraction(cell["spread"]), Fraction(cell["step"])
            if not noise["certain"] or cell["law"] != "gaussian" or spread < 100 * step**2:
                return None
            loss += shift**2 / (2 * spread)
    return loss


def shift_of(noise: Json, cell: Json, record: Row) -> Fraction:
    """Return how far a record moves a number of records or values."""
    value = Fraction(1) if noise["measure"] is None else record[noise["measure"]]
    if value is None:
        return Fraction(0)
    if noise["moved"] == "records":
        return Fraction(1)
    if cell["bounds"] is None:
        return Fraction(value)
    low, high = map(Fraction, cell["bounds"])
    return Fraction(sorted([low, value, high])[1]) - ((low + high) / 2 if noise["centred"] else 0)

"""Numbers in the sentences of `perrecord evaluate`, recomputed."""

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction

from perrecord.lab.audit.shown.cell_errors import at_share
from perrecord.lab.audit.shown.document import Json, Row, loss_of, measures_read, with_computed
from perrecord.lab.audit.shown.evaluation import (
    ExpectedEvaluation,
    changes_by_size,
    smallest_size,
)
from perrecord.lab.audit.shown.numerals import Expected, Near, numerals


def sentences(
    evaluation: ExpectedEvaluation, examples: Mapping[str, Row], document: Json
) -> dict[str, list[Expected]]:
    """Return the numbers of every sentence, by the words that it begins with or holds."""
    found: dict[str, list[Expected]] = {}
    for start, expected in (
        ("have a key that", _outside(evaluation)),
        ("As written, the expected error", _own_errors(evaluation)),
        ("At the same thresholds", _splitting(evaluation)),
        ("Errors depend on the size", _small_and_large(evaluation)),
        ("clamping", _clamping(evaluation)),
        ("of the records lose more", _above(evaluation)),
        ("At the median, a record", _gap(evaluation)),
        ("Half of the records really lose nothing", _gap(evaluation)),
        ("Units lose up to", _units(evaluation)),
        ("99 % of the records lose up to", _by_scheme(evaluation)),
        ("As written, a record whose", _slope(evaluation, examples, document)),
        ("from one with 10 % more", _told(evaluation, examples, document)),
        ("which costs 99 % of the records least", _price(evaluation)),
    ):
        found[start] = list(expected)
    return found


def percent(value: float | None) -> Near:
    """Return a share as a sentence shows it."""
    return Near(100 * (math.nan if value is None else value))


def _outside(evaluation: ExpectedEvaluation) -> Iterator[Expected]:
    some = [row for row in evaluation.coverage if row["outside"]]
    if some:
        worst = max(some, key=lambda row: Fraction(row["outside"], row["records"]))
        yield from outside_of(worst)


def outside_of(row: Json) -> Iterator[Expected]:
    """Yield the numbers of the sentence about one grouping."""
    yield from (row["outside"], row["records"], percent(row["outside"] / row["records"]))
    yield from (percent(share) for share in row["outside_shares"].values())


def _known(evaluation: ExpectedEvaluation) -> list[Json]:
    return [row for row in evaluation.rows if row["middle"] is not None]


def _own_errors(evaluation: ExpectedEvaluation) -> Iterator[Expected]:
    own = [row for row in _known(evaluation) if row["variant"] == evaluation.written.name]
    if own:
        errors = [row["middle"] for row in own]
        yield percent(min(errors))
        if len(own) > 1 and min(errors) != max(errors):
            yield percent(max(errors))


def _splitting(evaluation: ExpectedEvaluation) -> Iterator[Expected]:
    errors = {(r["variant"], r["table"], r["answer"]): r["middle"] for r in _known(evaluation)}
    pairs = [
        (error, errors[f"top-code {name}", *rest])
        for (name, *rest), error in errors.items()
        if not math.isclose(errors.get((f"top-code {name}", *rest), error), error)
    ]
    if pairs:
        yield from (sum(one < two for one, two in pairs), len(pairs))


def _small_and_large(evaluation: ExpectedEvaluation) -> Iterator[Expected]:
    known = [
        row
        for row in evaluation.by_size
        if row["size"] != "0" and row["median_expected_error"] is not None
    ]
    steepest: tuple[float, Json, Json] | None = None
    for place in dict.fromkeys((row["table"], row["answer"]) for row in known):
        own = [row for row in known if (row["table"], row["answer"]) == place]
        error = own[0]["median_expected_error"] / max(own[-1]["median_expected_error"], 1e-12)
        if len(own) > 1 and (steepest is None or error > steepest[0]):
            steepest = error, own[0], own[-1]
    if steepest is not None:
        for row in steepest[1:]:
            yield percent(row["median_expected_error"])
            yield from numerals(row["size"])


def _clamping(evaluation: ExpectedEvaluation) -> Iterator[Expected]:
    if evaluation.biased:
        row = max(evaluation.biased, key=lambda row: (row["middle"], row["high"]))
        yield from numerals(row["variant"])
        if row["high"]:
            yield percent(row["middle"] or row["high"])


def _above(evaluation: ExpectedEvaluation) -> Iterator[Expected]:
    written = evaluation.written
    yield from (percent(evaluation.share_above), Near(float(evaluation.minimum)))
    yield from (Near(written.lost("0.5") or 0.0), "99", Near(written.lost("0.99") or 0.0))
    yield Near(written.lost("1") or 0.0)


def _gap(evaluation: ExpectedEvaluation) -> Iterator[Expected]:
    promised = evaluation.written.lost("0.5") or 0.0
    real = at_share(evaluation.realised, Fraction(1, 2)) or 0.0
    yield Near(promised)
    if real:
        yield from (Near(real), Near(promised / real))


def _units(evaluation: ExpectedEvaluation) -> Iterator[Expected]:
    units = evaluation.units
    yield from (Near(max(units.tight)), Near(max(units.simple)))
    yield Near(at_share(units.realised, Fraction(1, 2)) or 0.0)


def _by_scheme(evaluation: ExpectedEvaluation) -> Iterator[Expected]:
    lost = {each.name: each.lost("0.99") or 0.0 for each in evaluation.variants}
    least, most = min(lost, key=lost.__getitem__), max(lost, key=lost.__getitem__)
    yield from ("99", Near(lost[least]))
    yield from numerals(least)
    yield Near(lost[most])
    yield from numerals(most)


def _slope(
    evaluation: ExpectedEvaluation, examples: Mapping[str, Row], document: Json
) -> Iterator[Expected]:
    policy = evaluation.written.policy
    measures = sorted(measures_read(policy))
    if not measures:
        return
    every = [each["name"] for each in document["fields"] if each["kind"] == "measure"]
    base = {**next(iter(examples.values())), **dict.fromkeys(every, Fraction(0))}
    step = smallest_size(evaluation, measures[0])
    for size in (step, step * 10**6):
        yield Near(float(size))
        record = with_computed(document, {**base, measures[0]: size}, kept=measures[0])
        yield Near(float(loss_of(policy, record)))


def _told(
    evaluation: ExpectedEvaluation, examples: Mapping[str, Row], document: Json
) -> Iterator[Expected]:
    rows = list(changes_by_size(evaluation, examples, document))
    if rows:
        own = [row for row in rows if row["measure"] == rows[0]["measure"]]
        row = own[len(own) // 2]
        yield from (Near(row["size"]), "10", Near(row["10_percent_more"]), Near(row["presence"]))


def _price(evaluation: ExpectedEvaluation) -> Iterator[Expected]:
    lost = {each.name: each.lost("0.99") or 0.0 for each in evaluation.variants}
    rows = _known(evaluation)
    errors: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        errors.setdefault((row["table"], row["answer"]), []).append(row["middle"])
    logs: dict[str, list[float]] = {}
    for row in rows:
        own = errors[row["table"], row["answer"]]
        if not math.isclose(min(own), max(own)):
            logs.setdefault(row["variant"], []).append(math.log(max(row["middle"], 1e-12)))
    typical = {name: math.exp(sum(each) / len(each)) for name, each in logs.items()}
    if typical:
        lost = {name: lost[name] for name in typical}
        private = min(_smallest(lost), key=lambda name: _nine(typical[name]))
        accurate = min(_smallest(typical), key=lambda name: _nine(lost[name]))
        yield from (*numerals(private), "99", *numerals(accurate))
        if lost[private]:
            yield Near(lost[accurate] / lost[private])
            yield Near(typical[private] / typical[accurate])


def _smallest(numbers: Mapping[str, float]) -> list[str]:
    """Return whose number is smallest, the last digits of floats apart."""
    smallest = min(numbers.values())
    return [name for name, each in numbers.items() if math.isclose(each, smallest)]


def _nine(value: float) -> float:
    """Return a number to nine digits: floats that should be equal may differ in the last ones."""
    return float(f"{value:.8e}")

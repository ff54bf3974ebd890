"""The figure of losses: distributions of policy and realised loss, by establishment and by firm."""

from collections.abc import Sequence

import pyarrow as pa

from perrecord.evaluate.losses.distributions import Distribution
from perrecord.lab.experiments.cbp.data import MEASURES
from perrecord.lab.experiments.cbp.losses import PERCENTILES, SchemeLosses, curve, labelled
from perrecord.report.charts import Panels, shares
from perrecord.report.figure import Figure, ShownTable
from perrecord.report.numbers import amount, percent

QUANTILES = ("0.5", "0.9", "0.99", "0.999", 1)
HEADS = ("half lose up to", "90 %", "99 %", "99.9 %", "the largest")

_ESTABLISHMENTS, _FIRMS = "establishments", "firms"
_TAPERED = "policy, tapered"


def losses_figure(found: Sequence[SchemeLosses]) -> Figure:
    """Return the distributions, a row of panels for each scheme."""
    numbers = pa.concat_tables(
        labelled(curve(each), scheme=scheme.scheme, of=whom, loss=loss)
        for scheme in found
        for whom, loss, each in _lines(scheme)
    )
    orders = {
        "scheme": [each.scheme for each in found],
        "of": [_ESTABLISHMENTS, _FIRMS],
        "loss": ["realised", "policy", _TAPERED],
    }
    return Figure(
        "cbp-losses",
        "Policy and realised losses by establishment and by firm",
        _finding(found),
        "For each loss, the share of the establishments, or of the firms, that lose at most so "
        "much. The policy is what is promised: for a firm, the tight bound (Σ√P)² over its "
        "establishments (T7). The realised loss is what leaving the establishment or the firm out "
        "really changes in the released numbers (T17), of an establishment an upper bound: FIRM is "
        "taken to change whether or not its firm has another one in the cell; it is confidential. "
        "Tapered is what establishments lose by the method that is not in the paper, at the same "
        "sizes and amounts (T26). "
        "The dashed line stands "
        "at the policy minimum of 1.",
        lambda width: shares(
            numbers,
            width,
            colour="loss",
            x_title="Loss (rho)",
            y_title="Share",
            panels=Panels(column="of", row="scheme", orders=orders),
            rule=1.0,
        ),
        numbers,
        (_thresholds(found), _quantiles(found)),
    )


def _lines(scheme: SchemeLosses) -> list[tuple[str, str, Distribution]]:
    return [
        (_ESTABLISHMENTS, "realised", scheme.losses.realised),
        (_ESTABLISHMENTS, "policy", scheme.losses.policy),
        (_ESTABLISHMENTS, _TAPERED, scheme.tapered),
        (_FIRMS, "realised", scheme.units.realised),
        (_FIRMS, "policy", scheme.units.tight),
    ]


def _finding(found: Sequence[SchemeLosses]) -> str:
    above = ", ".join(
        f"{percent(each.losses.share_above_minimum)} ({each.scheme})" for each in found
    )
    halved = ", ".join(f"{percent(each.gap.share_halved)} ({each.scheme})" for each in found)
    largest = ", ".join(
        f"{amount(each.losses.policy.largest)} by splitting and {amount(each.tapered.largest)} by "
        f"tapering ({each.scheme})"
        for each in found
    )
    return (
        f"The policy is above its minimum for {above} of the establishments. Really they lose "
        f"less: at most half of the policy for {halved} of them. The largest loss is {largest}."
    )


def _thresholds(found: Sequence[SchemeLosses]) -> ShownTable:
    """Return the thresholds, where they stand in the data and in the paper's, and who is split."""

    def place(scheme: SchemeLosses, attribute: str) -> str:
        paper = PERCENTILES.get(scheme.scheme, {}).get(attribute)
        return f"{percent(scheme.percentiles[attribute])} (paper: {percent(paper)})"

    return ShownTable(
        "Thresholds, and the shares of the establishments that do not exceed them",
        ("scheme", *(f"{each} threshold" for each in MEASURES), *MEASURES, "above the minimum"),
        tuple(
            (
                each.scheme,
                *(amount(float(each.split.threshold(name))) for name in MEASURES.values()),
                *(place(each, attribute) for attribute in MEASURES),
                percent(each.losses.share_above_minimum),
            )
            for each in found
        ),
    )


def _quantiles(found: Sequence[SchemeLosses]) -> ShownTable:
    rows = []
    for scheme in found:
        own = {
            "policy": scheme.losses.policy,
            "realised": scheme.losses.realised,
            _TAPERED: scheme.tapered,
        }
        for whom, named in ((_ESTABLISHMENTS, own), (_FIRMS, scheme.bounds)):
            for loss, each in named.items():
                numbers = [amount(each.quantile(share)) for share in QUANTILES]
                rows.append((scheme.scheme, whom, loss, *numbers))
    return ShownTable("Losses in rho", ("scheme", "of", "loss", *HEADS), tuple(rows))

"""County Business Patterns end to end: errors, losses and fitness for use, as the paper's example.

County × every NAICS level, five attributes, three top-code schemes under zCDP beside three
splitting schemes, and what agencies use today. On 2 cores a full run takes 4.5 minutes and 3.3 GB,
the quick one 20 s and 0.6 GB.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from perrecord import Split
from perrecord.evaluate.variants import SPLITTING
from perrecord.exact import text
from perrecord.lab.experiments.cbp.agencies import (
    SECTORS,
    Agencies,
    Practice,
    measured_agencies,
)
from perrecord.lab.experiments.cbp.agency_figures import (
    beside_schemes,
    noise_figure,
    reveals,
    suppression_figure,
)
from perrecord.lab.experiments.cbp.blurring import blurring_rows
from perrecord.lab.experiments.cbp.blurring_figures import blurring_figure, changes_figure
from perrecord.lab.experiments.cbp.data import (
    ATTRIBUTES,
    LEVELS,
    Establishments,
    establishments,
    even,
)
from perrecord.lab.experiments.cbp.error_claims import (
    counts_alike,
    errors_grow,
    splitting_wins,
    top_coding_fails,
)
from perrecord.lab.experiments.cbp.error_figures import errors_by_budget, errors_by_level
from perrecord.lab.experiments.cbp.errors import (
    TAPERING,
    LevelErrors,
    Row,
    error_rows,
    measured,
    medians_of_all_cells,
)
from perrecord.lab.experiments.cbp.fitness import (
    EVERY_CELL,
    ONE_RHO,
    QUANTILES,
    Fits,
    measured_fitness,
)
from perrecord.lab.experiments.cbp.fitness_claims import (
    Price,
    larger_goals_cost_less,
    smaller_thresholds_cost_less,
    top_coding_is_out_of_reach,
)
from perrecord.lab.experiments.cbp.fitness_figures import fitness_figure
from perrecord.lab.experiments.cbp.loss_claims import (
    firms_below,
    gap_grows_with_queries,
    gap_shrinks,
    realised_below,
    thresholds_alike,
)
from perrecord.lab.experiments.cbp.loss_figures import losses_figure
from perrecord.lab.experiments.cbp.losses import PERCENTILES, SchemeLosses, measured_losses
from perrecord.lab.experiments.cbp.methods import methods_figure
from perrecord.lab.experiments.experiment import Claim, Experiment, Tell
from perrecord.report.figure import Figure
from perrecord.report.numbers import amount, percent

MODERATE = "Moderate"
"""The scheme at whose sizes and amounts other ways are compared."""


def _scheme(emp: int, payann: int, payqtr1: int) -> Split:
    return Split(emp=emp, payann=payann, payqtr1=payqtr1)


@dataclass(frozen=True, slots=True)
class CbpParameters:
    """What the experiment is run with."""

    rows: int = 1_000_000
    states: tuple[str, ...] | None = None
    seed: int = 1
    fewest: int = 100
    """Cells of fewer establishments are not evaluated."""
    budget: Fraction = Fraction(1)
    """The total policy minimum, shared equally over levels and attributes."""
    budgets: tuple[Fraction, ...] = (Fraction(1, 10), Fraction(1), Fraction(10))
    goals: tuple[Fraction, ...] = tuple(Fraction(each, 100) for each in (1, 5, 10, 20))
    top_codes: Mapping[str, Split] = field(
        default_factory=lambda: {
            "Conservative": _scheme(1_000, 100_000, 25_000),
            "Moderate": _scheme(300, 10_000, 2_500),
            "Aggressive": _scheme(100, 1_000, 250),
        }
    )
    splits: Mapping[str, Split] = field(
        default_factory=lambda: {
            "Conservative": _scheme(100, 10_000, 2_500),
            "Moderate": _scheme(5, 500, 125),
            "Median": _scheme(2, 104, 24),
        }
    )
    """From the coarsest to the finest."""
    practice: Practice = Practice()  # noqa: RUF009 - frozen
    """What agencies use today."""


FULL = CbpParameters()
QUICK = CbpParameters(
    states=("08",),
    budgets=(Fraction(1, 10), Fraction(1)),
    goals=(Fraction(5, 100), Fraction(20, 100)),
)
"""One state of the same establishments: its counties are as large as in the full run."""


def run(*, quick: bool, step: Tell, source: Path | None = None) -> Experiment:
    """Return the experiment, on establishments as the paper has them or a published table does."""
    use = QUICK if quick else FULL
    step("CBP: making establishments and finding their cells")
    with establishments(
        use.rows, seed=use.seed, fewest=use.fewest, states=use.states, source=source
    ) as data:
        step("CBP: errors")
        errors = measured(data, use.budgets, use.splits, use.top_codes)
        shown = error_rows(errors, draws_for=use.budget)
        rows = [row for row in shown if row["kind"] != TAPERING]  # what the paper has
        step("CBP: losses of establishments and firms")
        lost = measured_losses(data, use.splits, use.budget)
        at_budget = [each for each in errors if each.budget == use.budget]
        split = [each for each in at_budget if each.variant.kind == SPLITTING]
        agencies = measured_agencies(data, use.practice, split, step)
        step("CBP: fitness for use")
        fits = measured_fitness(data, use.goals, use.splits, use.top_codes)
        budget = text(use.budget)
        return Experiment(
            "cbp",
            "County Business Patterns, end to end",
            (*_text(use, data, source), beside_schemes(agencies, rows, budget)),
            (
                errors_by_level([*shown, *agencies.rows], budget, use.fewest, use.practice.draws),
                errors_by_budget(shown, use.fewest),
                losses_figure(lost),
                fitness_figure(fits, use.fewest),
                noise_figure(agencies, use.practice, budget),
                suppression_figure(agencies, use.practice),
                _of_methods(use, data),
                *_of_blurring(use, data, agencies),
            ),
            (
                *_of_errors(use, data, errors, rows),
                *_of_losses(data, lost, is_calibrated=source is None),
                *_of_fitness(fits),
                reveals(agencies, use.practice),
            ),
        )


def _of_errors(
    use: CbpParameters, data: Establishments, errors: list[LevelErrors], rows: list[Row]
) -> tuple[Claim, ...]:
    budget = text(use.budget)
    moderate = [
        each
        for each in errors
        if each.variant.name == f"split {MODERATE}" and each.budget == use.budget
    ]
    return (
        counts_alike(rows),
        top_coding_fails(rows, budget),
        splitting_wins(rows, budget),
        errors_grow(rows, budget, medians_of_all_cells(data, moderate)),
    )


def _of_methods(use: CbpParameters, data: Establishments) -> Figure:
    """Compare ways to publish employment by county and sector, at the Moderate scheme's error."""
    true = data.cells[SECTORS if SECTORS in data.evaluated else 0].true("EMP")
    rho = even(use.budget, data.levels)[0, "EMP"]
    return methods_figure(true[true > 0], use.splits[MODERATE].threshold("emp"), rho)


def _of_blurring(use: CbpParameters, data: Establishments, found: Agencies) -> tuple[Figure, ...]:
    """Compare blurred totals with other ways, at the Moderate scheme's sizes and amounts."""
    scheme, budget = use.splits[MODERATE], text(use.budget)
    rows = blurring_rows(data, scheme, use.budget, found.noise)
    rho = even(use.budget, data.levels)[0, "EMP"]
    return (
        blurring_figure(rows, use.practice, budget, use.fewest, MODERATE),
        changes_figure(scheme.threshold("emp"), rho),
    )


def _of_losses(
    data: Establishments, lost: list[SchemeLosses], *, is_calibrated: bool
) -> tuple[Claim, ...]:
    gaps = {each.scheme: each.gap for each in lost}
    one_level = {each.scheme: each.gap_of_one_level for each in lost}
    return (
        thresholds_alike(
            {each.scheme: each.percentiles for each in lost},
            PERCENTILES,
            is_calibrated=is_calibrated,
        ),
        firms_below(
            {each.scheme: (each.losses.policy, each.units.tight) for each in lost},
            data.share_alone,
        ),
        realised_below(gaps),
        gap_shrinks(gaps),
        gap_grows_with_queries(one_level, gaps, len(data.levels)),
    )


def _of_fitness(fits: Fits) -> tuple[Claim, ...]:
    shown = fits.of(fits.goals[1], ONE_RHO)
    quantiles = {}
    for reading in (ONE_RHO, EVERY_CELL):
        for place, each in enumerate(shown):
            quantiles[f"{reading}, {each.scheme}"] = [
                [fits.of(goal, reading)[place].split.quantile(share) for share in QUANTILES]
                for goal in fits.goals
            ]
    return (
        smaller_thresholds_cost_less(
            fits.cheaper,
            {each.scheme: each.split.quantile("0.5") for each in shown},
            {each.scheme: each.split.largest for each in shown},
            fits.apart(),
        ),
        larger_goals_cost_less(quantiles),
        top_coding_is_out_of_reach(
            fits.reaches,
            fits.unmet,
            [
                Price(goal, each.scheme, each.split.share_above(1), each.split.quantile("0.5"))
                for goal in fits.goals
                for each in fits.of(goal, ONE_RHO)
            ],
        ),
    )


def _text(use: CbpParameters, data: Establishments, source: Path | None) -> tuple[str, ...]:
    origin = (
        "calibrated to the percentiles that the paper gives for its thresholds"
        if source is None
        else f"fitted to the published table {source.name}"
    )
    kept = sum(int(each.is_large.sum()) for each in data.cells.values())
    cells = sum(len(each.is_large) for each in data.cells.values())
    public = sum(map(len, data.keys.values()))
    answers = len(data.levels) * len(ATTRIBUTES)
    return (
        f"{amount(data.rows.num_rows)} synthetic establishments{_where(use)}, {origin}; "
        f"{percent(data.share_alone)} of them are their firm's only one. ESTAB counts "
        "establishments, FIRM different firms; EMP, PAYANN and PAYQTR1 are totals. They are asked "
        f"of every county with every industry at {len(data.levels)} levels of NAICS, from all "
        f"industries together to {LEVELS[data.levels[-1]]}. The keys are public: the cross product "
        f"of counties and codes, {amount(public)} cells, most of them empty.",
        f"A total policy minimum of {text(use.budget)} is shared equally over levels and "
        f"attributes: {text(use.budget / answers)} for each of {answers} answers. Totals are "
        "top-coded under plain zCDP (T12), or split by all three measures and charged by pieces "
        "(T11), at the thresholds of the paper's two tables. Beside splitting stands tapering "
        "(T26), which the paper does not have, at the same sizes and amounts; no claim of the "
        "paper is judged by it.",
        f"As in the paper only cells of {use.fewest} or more establishments are evaluated: "
        f"{_by_level(data)}; {percent(kept / cells)} of the {amount(cells)} cells that the data "
        "holds. That choice reads the data. It is fine for an evaluation that stays inside; a "
        "release that limited itself to such cells would void its guarantee. It also flatters "
        "fine levels, most of whose cells are far smaller.",
        "Relative errors |noisy − true|/|true| are spread over cells and over the noise; their "
        "quantiles are from the exact law (T21), so that they are the same in every run. The "
        "column drawn in the numbers of the first figure is the median of one draw of the real "
        "noise.",
    )


def _where(use: CbpParameters) -> str:
    if use.states is None:
        return ""
    return f", those of state {' and '.join(use.states)} out of {amount(use.rows)}"


def _by_level(data: Establishments) -> str:
    return ", ".join(
        f"{amount(int(each.is_large.sum()))} of {amount(len(each.is_large))} "
        f"({percent(float(each.is_large.mean()), 2)}) of {LEVELS[level]}"
        for level, each in data.cells.items()
    )

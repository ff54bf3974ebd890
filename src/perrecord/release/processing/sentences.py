"""What the methodology says of tables that add up, and which of their intervals are certain."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import log, sqrt

from perrecord.exact import figure_up, text
from perrecord.laws import DiscreteGaussian, Law
from perrecord.laws.widths import deviation
from perrecord.policy.terms import Currency
from perrecord.preview import laws_of
from perrecord.queries.hierarchies import Member
from perrecord.queries.plan import Plan
from perrecord.release.processing.contradicting import WORDS
from perrecord.release.spec import Workload

ENDING = "_consistent"
_NEARLY = 1.1
"""So much larger may sigma^2 be than the variance of a discrete Gaussian."""
_LEAST = 1e-100

_FITTED = (
    f"Columns that end in `{ENDING}` add up over all tables of this release, to the last digit: "
    "they are fitted to the answers by generalised least squares with the variances of the "
    "noise, which are public. They are unbiased, no less accurate than the answers they are "
    "fitted to, and a function of the published answers and of public facts alone, so they "
    "cost no privacy. This assumes that the listed keys of a table hold all of what the next "
    "coarser table counts; where keys were selected from the data, an unpublished rest is "
    f"allowed for. Standard errors that end in `{ENDING}_se` are those of least squares where "
    "the noise is a product over the hierarchies or the tables lie one below the other; "
    "otherwise they are never too small, and the equations are solved by conjugate gradients "
    "until numbers are off by about a ten-thousandth of their standard errors, or by what floats "
    "cannot hold. Intervals are the normal law's, which is approximate; their ends are rounded "
    "outward to the digits of the numbers."
)
_SUMMED = (
    "Tables that were not asked for and follow by adding up have columns that end in "
    f"`{ENDING}` alone. They are sums of published numbers over the listed keys, and cost "
    "nothing. For an answer that only one table has they are plain sums, and their variances "
    "the sums of those of the answers; intervals are the normal law's, which is approximate."
)


@dataclass(frozen=True, slots=True)
class Sentences:
    """What is said of one workload."""

    workload: Workload
    has_nonnegative: bool
    has_whole: bool

    def _certain(self) -> str | None:
        """Return how wide intervals are that hold for certain; None if not all noise is Gaussian.

        Fitted numbers are sums of noise with weights, so they are sub-Gaussian with their
        variance, times what the discrete law's sigma^2 is above its variance (T32).
        """
        if not self.workload.fits:
            return None
        plan, widest = self.workload.plan, 1.0
        for family in self.workload.fits:
            for member in family.members:
                for law in _laws(plan, member):
                    if not isinstance(law, DiscreteGaussian):
                        return None
                    ratio = float(law.sigma_squared) / max(deviation(law), _LEAST) ** 2
                    widest = max(widest, ratio)
        if widest > _NEARLY:
            return None  # so little noise that its law is far from a Gaussian's
        confidence = self.workload.outputs.confidence
        reach = sqrt(2 * widest * log(2 / float(1 - confidence)))
        return (
            "All noise of these numbers is Gaussian, so an interval of "
            f"{figure_up(reach, 4)} standard errors to either side holds with "
            f"{text(confidence * 100)} % probability or more, apart from rounding, and not only "
            "approximately."
        )

    def every(self, quoted: Callable[[str], str]) -> Iterator[str]:
        """Yield what the step does, for the methodology."""
        families = [each for each in self.workload.fits if len(each.members) > 1]
        if families:
            yield _FITTED
            yield WORDS
        if self.workload.following:
            yield _SUMMED
        certain = self._certain()
        if certain is not None:
            yield certain
        for family in families:
            names = dict.fromkeys(member.answer for member in family.members)
            levels = "; ".join(
                " > ".join(quoted(", ".join(level)) or "all" for level in each.levels)
                for each in family.hierarchies
            )
            yield (
                f"Fitted together over {len(family.members)} tables: "
                f"{', '.join(map(quoted, names))} ({levels})."
            )
        if self.has_nonnegative:
            yield (
                f"Columns that end in `{ENDING}_nonnegative` are moved from the top down: a "
                "negative total becomes 0, and what is below a number is moved as little as "
                "possible so that nothing is negative and the sum is kept. That makes small "
                "numbers too large on average and large ones beside them too small."
            )
        if self.has_whole:
            yield (
                f"Columns that end in `{ENDING}_whole` are "
                + ("the non-negative ones " if self.has_nonnegative else "")
                + "rounded to whole steps, under each number the largest remainders up. "
                "Over several hierarchies this is done along one way down, and all other numbers "
                "are sums of what is at its end."
            )


def _laws(plan: Plan, member: Member) -> Iterator[Law]:
    """Yield the laws of an answer's noise, as far as public facts tell."""
    planned = plan.groupings[member.grouping]
    currency = plan.queries[planned.query].currency or Currency.RHO
    for charged in planned.answers:
        if charged.answer.name == member.answer:
            columns, steps = planned.grouping.columns, charged.answer.measurements
            yield from (law for _, law in laws_of(steps, plan.schema, columns, currency))

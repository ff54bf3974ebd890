"""The audit's own lines of blurred losses: on the integers, and beside what the library charges."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from perrecord import Currency
from perrecord.lab.audit.blurred import blurred_loss
from perrecord.lab.audit.shown import changes, document
from perrecord.laws.blurring import blurred_epsilon_between, blurred_rho_between
from tests.browser import policies

BY = Fraction(1, 10)


def spreads(spread, nu, before, after):
    """Return A before and after."""
    return [spread + nu * BY**2 * squares for squares in (before, after)]


@pytest.mark.parametrize("nu", [3, 7])
@pytest.mark.parametrize(
    "spread", [Fraction(25), Fraction(61, 2), Fraction(10**4), Fraction(10**30)]
)
def test_what_is_charged_is_more_by_less_than_2_to_the_minus_24(nu, spread):
    """The integers' part is a closed form here, and 2^-26 of the widening there."""
    for shift, before, after in (
        (1, 0, 1), (50, 0, 2500), (10**6, 0, 10**12), (0, 0, 9), (400, 4000**2, 4400**2),
        (-400, 4000**2, 3600**2), (8000, 4000**2, 4000**2), (3, 10**40, 7),
    ):  # fmt: skip
        both = spreads(spread, nu, before, after)
        for currency, charged in (
            ("rho", blurred_rho_between),
            ("epsilon", blurred_epsilon_between),
        ):
            own = blurred_loss(*both, nu, Fraction(shift), currency)
            found = charged(shift, before, after, spread, BY, nu)
            assert own < found < own * (1 + Fraction(1, 2**24))
    assert blurred_loss(spread, spread, nu, Fraction(0), "rho") == 0


@pytest.mark.parametrize("nu", [3, 7])
@pytest.mark.parametrize(
    ("shift", "before", "after"), [(1, 0, 1), (30, 0, 900), (-9, 90**2, 81**2)]
)
def test_no_divergence_on_the_integers_exceeds_it(nu, shift, before, after):
    """Added up term by term, for orders from just above 1 to 200, both ways."""
    both = spreads(Fraction(25), nu, before, after)
    points = np.arange(-60_000, 60_001, dtype=np.float64)
    one, two = (
        -(nu + 1) / 2 * np.log(float(spread) + (points - centre) ** 2)
        for spread, centre in zip(both, (0, shift), strict=True)
    )
    one, two = one - np.logaddexp.reduce(one), two - np.logaddexp.reduce(two)
    most = float(blurred_loss(*both, nu, Fraction(shift), "rho"))
    found = [
        np.logaddexp.reduce(alpha * here + (1 - alpha) * there) / (alpha * (alpha - 1))
        for here, there in ((one, two), (two, one))
        for alpha in (1.01, 1.5, 3.0, 20.0, 200.0)
    ]
    assert 0.3 * most < max(found) <= most
    pure = float(blurred_loss(*both, nu, Fraction(shift), "epsilon"))
    assert 0.9 * pure < np.abs(one - two).max() <= pure * (1 + 1e-9)


@pytest.mark.parametrize("currency", [Currency.RHO, Currency.EPSILON])
def test_losses_and_changes_by_the_file_alone(currency):
    """The audit recomputes what `policy.json` promises of blurred totals, to the last digits."""
    published = policies.blurred(currency)
    written = published.document()
    records = [
        {"region": "North", "employees": Fraction(size)} for size in (0, 7, -50, 4000, 10**9)
    ]
    for record in records:
        own, found = document.loss_of(written["total"], record), published.loss(record)
        assert own <= found <= own * (1 + document.spare_of(written["total"]))
        (error,) = {document.estimate_of(written, record, "employees")}
        assert error is not None
    for one, other in permutations(records, 2):
        own, found = changes.change_of(written, one, other).value, published.change(one, other)
        assert float(found.amount) == pytest.approx(own, rel=1e-12)

"""The budget of a ledger: the policy that all charges together stay below (T4)."""

from collections.abc import Iterable

from perrecord.errors import InputError
from perrecord.exact import Exact
from perrecord.policy.policy import Policy
from perrecord.policy.split import Scheme, Split, SplitBy


def Budget(  # noqa: N802 - it reads as the value that it makes
    rho: Exact | None = None,
    splits: Iterable[Scheme] | Scheme = (),
    *,
    epsilon: Exact | None = None,
    slots: Iterable[Policy] | Policy = (),
) -> Policy:
    """Return the budget "total rho, spread freely over the declared schemes".

    It is rho * max over schemes s of m_s(r)^2 (T4), so charges whose amounts add up to rho fit
    whichever schemes they use; answers on unsplit records fit too, since m >= 1. Under pure
    epsilon: epsilon * max over s of m_s(r). Without schemes the budget is rho for every record.

    >>> from perrecord import Policy, Split
    >>> fine, coarse = Split(employees=50), Split(employees=200, payroll=5_000_000)
    >>> total = Budget(1, [fine, coarse])
    >>> total.loss({"employees": 120, "payroll": 20_000_000})    # 1 * 4^2
    Fraction(16, 1)
    >>> charges = Policy.split("0.5", fine) + Policy.split("0.3", coarse) + Policy.constant("0.2")
    >>> charges.is_below(total)
    True

    Key selections each need a slot of their own; the loss of a selection is paid from rho:

    >>> slot = Policy.slot("0.1", ["industry"], split=fine, delta="1e-6")
    >>> Budget(1, fine, slots=slot)
    Policy(1·pieces² of Split(employees=50) + selection of industry at 13)
    """
    schemes = (splits,) if isinstance(splits, Split | SplitBy) else tuple(splits)
    amount = {"rho": rho, "epsilon": epsilon}
    if schemes:
        options = [Policy.split(split=scheme, **amount) for scheme in schemes]
        total = Policy.largest(*options) if len(options) > 1 else options[0]
    else:
        total = Policy.constant(**amount)
    for slot in (slots,) if isinstance(slots, Policy) else tuple(slots):
        if not isinstance(slot, Policy) or slot.form.terms:
            raise InputError(
                "a slot of the budget is something else than a slot; give "
                'Policy.slot("0.1", ["industry"], delta="1e-6"). Its loss is paid from the total.'
            )
        total += slot
    return total

"""The best selection of keys under (epsilon, delta): Desfontaines, Voss, Gipson, Mandayam (2020).

A key that n records have is published with probability p_n, and nothing else is. With p_0 = 0 and
neighbours that add or remove a record, the two inequalities of (epsilon, delta) leave

    p_n = min(e^eps p_(n-1) + delta,  1 - e^-eps (1 - p_(n-1) - delta),  1),

and by induction no selection has a larger probability at any n. It is here to compare with: the
library does not offer it, because its guarantee is not one of zCDP.
"""

import math

from perrecord.errors import InputError


def optimal_chances(epsilon: float, delta: float, most: int) -> list[float]:
    """Return p_0 to p_most: with how many records a key is found with what chance, at best.

    A record alone is found with probability delta, whatever epsilon is.

    >>> [round(chance, 4) for chance in optimal_chances(math.log(2), 0.1, 6)]
    [0.0, 0.1, 0.3, 0.7, 0.9, 1.0, 1.0]
    """
    if not (epsilon > 0 and 0 < delta <= 1 and most >= 0):
        raise InputError(
            f"epsilon is {epsilon}, delta {delta} and most {most}; expected epsilon above 0, delta "
            "between 0 and 1, and a number of records."
        )
    growth, shrink = math.exp(epsilon), math.exp(-epsilon)
    chances = [0.0]
    missed = 1.0  # 1 - p, kept apart: each form is taken where it loses no digits
    for _ in range(most):
        raised, lowered = growth * chances[-1] + delta, shrink * (missed - delta)
        if 1 - raised >= lowered:
            chances.append(min(raised, 1.0))
            missed = 1 - chances[-1]
        else:
            missed = max(0.0, lowered)
            chances.append(1 - missed)
    return chances


def least_records(chances: list[float], chance: float) -> int | None:
    """Return the least number of records with at least that chance, or None if it is not reached.

    >>> least_records([0.0, 0.1, 0.3, 0.7], 0.5)
    3
    """
    return next((count for count, each in enumerate(chances) if each >= chance), None)

"""The advanced group bound of every unit at once, as one statement for the local DuckDB (T7).

inf over k > 1 of sum_j k^j/(k-1) P_(j), P descending. The bound is convex in s = ln k, so it falls
and then rises in u = ln s. Each pass looks at fifteen points between the ends of u and moves the
ends to the neighbours of the best: after eight passes u is known to two parts in a million, the
bound, which is flat there, to one in 10^9.
"""

from math import log

_LEAST, _MOST = log(1e-9), log(40.0)
_STEPS = 16
_PASSES = 8
_MOST_EXPONENT = 600
"""Beyond it a term is far too large to be the least, and must not overflow."""


def advanced_sql(members: str, unit: str, loss: str) -> str:
    """Return the SELECT of each unit's bound, given the positive losses of its records."""
    passes = [
        f"members AS MATERIALIZED (SELECT {unit} AS unit, "
        f"{loss} / max({loss}) OVER (PARTITION BY {unit}) AS ratio, "
        f"row_number() OVER (PARTITION BY {unit} ORDER BY {loss} DESC) AS place FROM {members})",
        f"tops AS MATERIALIZED (SELECT {unit} AS unit, max({loss}) AS top FROM {members} "
        "GROUP BY 1)",
        f"pass0 AS (SELECT unit, CAST({_LEAST!r} AS DOUBLE) AS low, "
        f"CAST({(_MOST - _LEAST) / _STEPS!r} AS DOUBLE) AS step FROM tops)",
    ]
    for number in range(1, _PASSES + 1):
        passes.append(f"pass{number} AS MATERIALIZED ({_narrowed(f'pass{number - 1}')})")
    return (
        f"WITH {', '.join(passes)} SELECT found.unit, found.bound * tops.top AS bound "
        f"FROM pass{_PASSES} AS found JOIN tops ON found.unit = tops.unit"
    )


def _narrowed(before: str) -> str:
    """Return the ends around the best of the points between the ends before, and its bound."""
    point = "exp(ends.low + points.place * ends.step)"
    bounds = (
        "SELECT tried.unit AS unit, any_value(tried.low) AS low, any_value(tried.step) AS step, "
        "tried.place AS place, "
        # exp(s) - 1 without cancellation
        "sum(members.ratio * exp(least(members.place * tried.s, "
        f"{_MOST_EXPONENT}))) / any_value(2 * exp(tried.s / 2) * sinh(tried.s / 2)) AS bound "
        f"FROM (SELECT ends.unit AS unit, ends.low AS low, ends.step AS step, "
        f"points.place AS place, {point} AS s FROM {before} AS ends, "
        f"(SELECT unnest(range(1, {_STEPS})) AS place) AS points) AS tried "
        "JOIN members ON members.unit = tried.unit GROUP BY tried.unit, tried.place"
    )
    return (
        "SELECT unit, any_value(low) + (arg_min(place, bound) - 1) * any_value(step) AS low, "
        f"any_value(step) * 2 / {_STEPS} AS step, min(bound) AS bound "
        f"FROM ({bounds}) AS bounds GROUP BY unit"
    )

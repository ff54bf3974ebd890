"""What was measured, as Markdown, and the goals."""

import math
from collections.abc import Iterable, Sequence

from goals import Goal

from full_size.contenders import BASELINE, COARSE, INTERVALS, PERRECORD, Turns
from full_size.curve import MOST_STEEPER, Curve
from full_size.slow_peers import OPENDP, ROW_LEVEL, TUMULT, Estimate
from full_size.spilling import Spilling
from full_size.starting import LIBRARIES, MOST_LOADS
from full_size.starting import TURNS as STARTS

MOST_MEMORY_MB = 1200
MOST_TIMES = 0.8
"""How much of plain DuckDB's time a release may take, by the clock and by the processor."""
MOST_TIMES_INTERVALS = 1.1
"""The same of a release with intervals, which writes three times the numbers."""
LEAST_TIMES = {OPENDP.name: 60, TUMULT.name: 500}
COARSE_NAME = "perrecord, county to 3 digits"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a Markdown table."""
    lines = [list(header), ["---"] * len(header), *map(list, rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


def contenders_part(turns: dict[str, Turns], compared: int) -> list[str]:
    """Return the comparison of all that do the whole workload."""
    ours = turns[PERRECORD.name].wall
    rows = []
    for name, each in turns.items():
        run = each.runs[0]
        inside = "" if math.isnan(each.inside) else f"{each.inside:.2f}"
        rows.append(
            (
                name,
                f"{each.wall:.2f}",
                f"{each.least:.2f}",
                inside,
                f"{each.cpu:.2f}",
                f"{each.peak_mb:,.0f}",
                f"{sum(run.rows_written.values()):,}",
                f"{run.written_mb:.0f}",
                f"{each.wall / ours:.2f}",
            )
        )
    header = ("", "median s", "least s", "without start s", "CPU s", "peak MB", "rows written")
    return [
        "## The whole workload",
        "",
        f"Every figure is of a whole process, from its start to its end; {_turns(turns)} turns, "
        "all contenders in each. `without start` leaves out starting Python and importing. The "
        "last column is the time over perrecord's, whose totals are tapered. DuckDB and Polars "
        "add no noise, give no errors and keep no accounts; `occupied cells` write only cells that "
        "have records (which a private release may not do), `every key` all of them. **The "
        "baseline is "
        f"`{BASELINE.name}`**, one query per level; `rolled up` reads the file once and adds "
        "coarser levels up from the finest, as perrecord does.",
        "",
        *table((*header, "MB written", "× perrecord"), rows),
        "",
        f"All computed the same numbers: their rows were held, by hashes, against perrecord's "
        f"{compared:,} cells at amounts so large that its noise is 0.",
        "",
    ]


def contenders_goals(turns: dict[str, Turns]) -> list[Goal]:
    """Return the goals of time and memory."""
    ours, baseline = turns[PERRECORD.name], turns[BASELINE.name]
    wider = turns[INTERVALS.name]
    text = "at most {} times plain DuckDB, one query per level, writing the same rows, by {}"
    compared = (
        (text.format(MOST_TIMES, "the clock"), ours.wall, MOST_TIMES, baseline.wall),
        (text.format(MOST_TIMES, "the processor"), ours.cpu, MOST_TIMES, baseline.cpu),
        (
            f"with intervals at most {MOST_TIMES_INTERVALS} times plain DuckDB, by the clock",
            wider.wall,
            MOST_TIMES_INTERVALS,
            baseline.wall,
        ),
    )
    return [
        *(
            Goal(
                what, f"{own:.2f} s against {other:.2f} s ({own / other:.2f})", own <= most * other
            )
            for what, own, most, other in compared
        ),
        Goal(
            f"peak memory below {MOST_MEMORY_MB:,} MB",
            f"{ours.peak_mb:,.0f} MB",
            ours.peak_mb < MOST_MEMORY_MB,
        ),
    ]


def peer_part(found: Estimate, turns: dict[str, Turns], per_row: float | None) -> list[str]:
    """Return what a slow peer took, and the arithmetic of the estimate for the whole."""
    name = found.peer.name
    fixed, slope = found.line
    terms = " + ".join(f"{seconds:.1f}" for seconds in found.levels.values())
    predicted = [level for level in found.levels if level not in found.measured_levels]
    repeated, totals = "", ""
    if found.repeats != 1:
        repeated = f"{found.repeats:.2f} × "
        totals = (
            f" A total took {(found.repeats - 1) / 3:.2f} times a count, so that a count and three "
            f"totals take {found.repeats:.2f} counts."
        )
    return [
        f"## {name}",
        "",
        f"{found.peer.package} {found.version}, {found.peer.how}, under zCDP, with the same public "
        "keys; totals are clamped, where perrecord splits. Each line is a process tree of its own; "
        "memory is added up over its processes.",
        "",
        *table(
            ("rows", "digits", "answers", "cells", "work s", "with start s", "CPU s", "peak MB"),
            (
                (
                    f"{point.rows:,}",
                    str(point.level),
                    point.answer,
                    f"{point.cells:,}",
                    f"{point.inside:.1f}",
                    f"{point.wall:.1f}",
                    f"{point.cpu:.1f}",
                    f"{point.peak_mb:,.0f}",
                )
                for point in found.points
            ),
        ),
        "",
        f"A straight line through the levels at {found.rows:,} rows: {fixed:.1f} s + "
        f"{slope * 1e6:.1f} µs per cell. Levels of {_listed(predicted)} digits follow it; the "
        f"others stand as measured.{totals} The whole workload, in one process: start "
        f"{found.start:.1f} s + {repeated}({terms}) s = **{found.whole:,.0f} s, an estimate**.",
        "",
        *table(("", "perrecord", name, "ratio"), _peer_ratios(found, turns, per_row)),
        "",
        f"A cell costs perrecord its whole workload less that of {_listed(COARSE)} digits, over "
        f"the cells between. A row costs {name} the difference that fewer rows made at "
        f"{ROW_LEVEL} digits, times six levels{' and all answers' if totals else ''}; perrecord, "
        "the slope of its curve below.",
        "",
    ]


def _peer_ratios(
    found: Estimate, turns: dict[str, Turns], per_row: float | None
) -> list[tuple[str, ...]]:
    ours, coarse = turns[PERRECORD.name], turns[COARSE_NAME]
    pairs = {"whole workload, s (the other estimated)": (ours.wall, found.whole)}
    if set(found.measured_levels) == set(COARSE):
        pairs[f"levels of {_listed(COARSE)} digits, s"] = (coarse.wall, found.coarse)
    pairs["one more cell, µs"] = (_our_per_cell(ours, coarse) * 1e6, found.per_cell * 1e6)
    if per_row is not None and per_row > 0:
        pairs["one more row, all levels, µs"] = (per_row * 1e6, found.per_row * 1e6)
    return [
        (what, f"{own:,.3g}", f"{other:,.4g}", f"{other / own:,.0f}")
        for what, (own, other) in pairs.items()
    ]


def peer_goal(found: Estimate | str, name: str, turns: dict[str, Turns]) -> Goal:
    """Return the goal of being so many times as fast; a peer that did not run meets none."""
    least = LEAST_TIMES[name]
    text = f"at least {least} times as fast as {name}"
    if isinstance(found, str):
        return Goal(text, "not measured", is_met=False)
    times = found.whole / turns[PERRECORD.name].wall
    return Goal(text, f"{times:,.0f} (its whole workload estimated)", times >= least)


def curve_part(curve: Curve) -> list[str]:
    """Return the curve and its straight line."""
    fixed, slope = curve.line
    rows = []
    for size, turns in curve.turns.items():
        line = fixed + slope * size
        rows.append(
            (
                f"{size:,}",
                f"{turns.wall:.2f}",
                f"{turns.least:.2f}",
                f"{turns.cpu:.2f}",
                f"{turns.peak_mb:,.0f}",
                f"{turns.wall / size * 1e6:.2f}",
                f"{line:.2f}",
                f"{(turns.wall / line - 1):+.0%}",
            )
        )
    header = ("rows", "median s", "least s", "CPU s", "peak MB", "µs per row", "line s")
    return [
        "## More rows, the same cells",
        "",
        *table((*header, "off the line"), rows),
        "",
        f"The line of least squares: **{fixed:.2f} s + {slope * 1e6:.3f} µs per row**. How "
        f"steep the last stretch is, over those before it: {_steepness(curve)}.",
        "",
    ]


def curve_goal(curve: Curve) -> Goal:
    """Return the goal that cost grows as a straight line."""
    return Goal(
        f"linear: the last stretch of rows at most {MOST_STEEPER} times as steep",
        _steepness(curve),
        curve.steeper <= MOST_STEEPER,
    )


def spilling_part(found: Spilling) -> list[str]:
    """Return both releases, with and without a limit."""
    same = "the same" if found.is_same else "DIFFERENT"
    return [
        "## More than memory may hold",
        "",
        f"{found.rows:,} rows by county and 6 digits, with different firms counted, which keeps "
        f"every pair of cell and firm. `memory_limit: {found.limit}` bounds what DuckDB holds; "
        "answers, noise and Python are on top of it.",
        "",
        *table(
            ("", "s", "CPU s", "peak MB", "most seen in the spill folder, MB"),
            (
                (name, f"{c.wall:.1f}", f"{c.cpu:.1f}", f"{c.peak_mb:,.0f}", f"{c.watched_mb:,.0f}")
                for name, c in (("no limit", found.free), (found.limit, found.limited))
            ),
        ),
        "",
        f"The published numbers, without noise, are {same}.",
        "",
    ]


def spilling_goal(found: Spilling) -> Goal:
    """Return the goal that a limit makes it spill and changes nothing else."""
    return Goal(
        f"a table larger than a {found.limit} limit finishes by spilling, with the same numbers",
        f"{found.limited.watched_mb:,.0f} MB spilled, "
        f"{'the same' if found.is_same else 'different'}",
        found.is_same and found.limited.watched_mb > 0,
    )


def starting_part(found: dict[str, float]) -> list[str]:
    """Return the times to start."""
    return [
        "## Starting",
        "",
        f"Medians of {STARTS}. The small release is that of examples/business.",
        "",
        *table(("", "s"), ((name, f"{seconds:.3f}") for name, seconds in found.items())),
        "",
    ]


def starting_goals(found: dict[str, float]) -> list[Goal]:
    """Return the goals of starting."""
    return [
        Goal(
            f"{name} at most {most} times as long as {LIBRARIES}",
            f"{found[name] / found[LIBRARIES]:.2f} times ({found[name]:.2f} s)",
            found[name] <= most * found[LIBRARIES],
        )
        for name, most in MOST_LOADS.items()
    ]


def _our_per_cell(whole: Turns, coarse: Turns) -> float:
    cells = [sum(each.runs[0].rows_written.values()) for each in (whole, coarse)]
    return (whole.wall - coarse.wall) / (cells[0] - cells[1])


def _steepness(curve: Curve) -> str:
    is_known = not math.isnan(curve.steeper)
    return f"{curve.steeper:.2f} times" if is_known else "unknown (more rows took no longer)"


def _turns(turns: dict[str, Turns]) -> int:
    return len(next(iter(turns.values())).runs)


def _listed(levels: Iterable[int]) -> str:
    *most, last = map(str, levels)
    return f"{', '.join(most)} and {last}" if most else last

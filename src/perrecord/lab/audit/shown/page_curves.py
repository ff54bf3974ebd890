"""The policy page's curves and the table under them, point by point, from policy.json alone."""

import json
import math
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from perrecord.lab.audit.shown import students
from perrecord.lab.audit.shown.change_costs import change_of
from perrecord.lab.audit.shown.changes import PERCENTS, greater
from perrecord.lab.audit.shown.document import Json, Row, loss_of
from perrecord.lab.audit.shown.findings import Comparisons
from perrecord.lab.audit.shown.numerals import AtMost, Expected, text_of

_FACTORS = (0, 1, 2, 5, 10, 100, 1000)
_WITHIN = 1e-9
_PIXELS = 0.11
"""Coordinates are written to a tenth of a pixel."""
_WHOLE = 10**15
_VERTEX = re.compile(r"[ML](-?[\d.]+) (-?[\d.]+)")


def check_curves(findings: Comparisons, document: Json, record: Row, shown: Json) -> None:
    """Compare every point of the curves, where it is drawn, and every row of the table.

    `shown` holds the numbers of #curve as `curve`, its lines as `paths`, and the text of `table`.
    """
    if not shown["curve"]:
        return
    _check_points(findings, document, record, shown)
    check_table(findings, document, record, shown)


def check_table(findings: Comparisons, document: Json, record: Row, shown: Json) -> None:
    """Compare the rows of the table: usual sizes, their losses, and what greater ones cost."""
    field = _field(document, shown)
    findings.numerals("page: table", shown["table"], list(_rows(document, record, field)))


def altered_curves(shown: Json) -> Iterator[tuple[str, Json]]:
    """Yield the page with some numbers of the curves changed: ends and middle, each by itself."""
    for name in ("points", "changes"):
        numbers = json.loads(shown["curve"][name])
        lines = [numbers] if name == "points" else [line for _, line in numbers]
        for line in lines:
            for place in {0, len(line) // 2, len(line) - 1}:
                kept = line[place]
                if not kept[1]:
                    continue
                line[place] = [kept[0], kept[1] * 1.001]
                written = {**shown["curve"], name: json.dumps(numbers)}
                yield f"{name}: {place}", {**shown, "curve": written}
                line[place] = kept
    for place, path in enumerate(shown["paths"]):
        first = _VERTEX.search(path)
        if first is not None and path.count("L") > 2:
            moved = path[: first.start(2)] + f"{float(first[2]) + 0.3:.1f}" + path[first.end(2) :]
            paths = [*shown["paths"][:place], moved, *shown["paths"][place + 1 :]]
            yield f"path {place}", {**shown, "paths": paths}


def _field(document: Json, shown: Json) -> Json:
    (found,) = (each for each in document["fields"] if each["name"] == shown["curve"]["measure"])
    return dict(found)


def _check_points(findings: Comparisons, document: Json, record: Row, shown: Json) -> None:
    field, total = _field(document, shown), document["total"]
    name = field["name"]
    points = json.loads(shown["curve"]["points"])
    step, most = Fraction(field["resolution"]), int(field["largest"])
    sizes = [Fraction(size) for size, _ in points]
    on_grid = [0 < size <= most * step and (size / step).denominator == 1 for size in sizes]
    own = record[name]
    is_there = not own or abs(own) in sizes
    findings.equal("page: sizes of the curve", (all(on_grid), is_there), (True, True))
    for size, (_, loss) in zip(sizes, points, strict=True):
        wanted = float(loss_of(total, {**record, name: size}))
        findings.close("page: point of the curve", loss, wanted, _WITHIN)
    changes = json.loads(shown["curve"]["changes"])
    findings.equal("page: curves of changes", [each for each, _ in changes], list(PERCENTS))
    for percent, line in changes:
        at = [size for size, _ in line]
        findings.equal("page: sizes of a change", at, list(map(float, sizes[::2])))
        for size, (_, loss) in zip(sizes[::2], line, strict=False):
            before = {**record, name: size}
            cost = change_of(document, before, {**record, name: greater(field, size, percent)})
            findings.close("page: point of a change", loss, cost.value, _WITHIN)
    # Thin lines are drawn first, the thick one over them.
    lines = [*(line for _, line in changes), [[float(size), loss] for size, (_, loss)
             in zip(sizes, points, strict=True)]]  # fmt: skip
    drawn = [[(x, y) for x, y in line if x > 0 and y > 0] for line in lines]
    if len(drawn[-1]) > 1:
        _check_paths(findings, drawn, shown["paths"])


def _check_paths(findings: Comparisons, lines: list[Any], paths: list[str]) -> None:
    """Compare the places of the points: both axes are logarithmic, and the same for every line."""
    vertices = [[tuple(map(float, each)) for each in _VERTEX.findall(path)] for path in paths]
    counts = [len(each) for each in vertices]
    findings.equal("page: points drawn", counts, [len(line) for line in lines])
    pairs = [
        pair
        for line, own in zip(lines, vertices, strict=False)
        for pair in zip(line, own, strict=False)
    ]
    for axis in (0, 1):
        low, high = (end(pairs, key=lambda pair: pair[0][axis]) for end in (min, max))
        ends = [math.log(each[0][axis]) for each in (low, high)]
        for point, vertex in pairs:
            share = 0.0
            if ends[1] > ends[0]:
                share = (math.log(point[axis]) - ends[0]) / (ends[1] - ends[0])
            wanted = low[1][axis] + share * (high[1][axis] - low[1][axis])
            agrees = abs(vertex[axis] - wanted) <= _PIXELS
            findings.add("page: place of a point", agrees=agrees, shown=vertex, expected=wanted)


def _rows(document: Json, record: Row, field: Json) -> Iterator[Expected]:
    scale, step = usual_size(document, field), Fraction(field["resolution"])
    for factor in _FACTORS:
        steps = max(math.floor(factor * scale / step + Fraction(1, 2)), 1)
        size = min(steps, int(field["largest"])) * step if factor else Fraction(0)
        before = {**record, field["name"]: size}
        yield _brief(size, is_short=True)
        yield _brief(loss_of(document["total"], before))
        for percent in PERCENTS:
            after = {**before, field["name"]: greater(field, size, percent)}
            cost = change_of(document, before, after)
            yield _brief(cost.exact) if not cost.rest else _up(float(cost.limit))


def _brief(value: Fraction, *, is_short: bool = False) -> Expected:
    """Return a number exactly where it has at most six places, or six digits, else rounded up."""
    text = text_of(value)
    _, _, places = text.partition(".")
    is_exact = "/" not in text and len(places) <= 6 and abs(value) < _WHOLE
    if is_exact and (is_short or sum(map(str.isdigit, text)) <= 6):
        return value
    return _up(float(value))


def _up(value: float) -> AtMost:
    digits = 4 if 1e-6 <= value < _WHOLE else 3
    return AtMost(value, digits, float(_WHOLE))


# -- the usual size of a measure ------------------------------------------------------------------


def usual_size(document: Json, field: Json) -> Fraction:
    """Return the middle one of the sizes that the release knows of a measure, else its step."""
    name = field["name"]
    policies = [document["total"], *(each["policy"] for each in document["charges"])]
    if document["budget"] is not None:
        policies.append(document["budget"])
    found = {size for policy in policies for size in _sizes(policy, policy, name)}
    for charge in document["charges"]:
        for noise in charge["noise"] or ():
            if noise["moved"] == "values" and noise["measure"] == name:
                found |= set(_bounds(noise["cells"]))
    known = sorted(found) or [Fraction(field["resolution"])]
    return known[len(known) // 2]


def _sizes(form: Json, whole: Json, name: str) -> Iterator[Fraction]:
    for slot in form["slots"]:
        if slot["split"] is not None:
            yield from _limits(whole["splits"][slot["split"]], name)
    for term in form["terms"]:
        match term["type"]:
            case "split":
                yield from _limits(whole["splits"][term["split"]], name)
            case "exact" if term["measure"] == name:
                yield Fraction(term["threshold"])
            case "tapered" | "tapered_epsilon" | "blurred" | "blurred_epsilon" if (
                term["measure"] == name
            ):
                known = term.get("at")
                yield Fraction(known) if known else students.round_size(Fraction(term["spread"]))
            case "weighed" if term["measure"] == name:
                yield Fraction(term["at"])
            case "largest":
                for option in term["options"]:
                    yield from _sizes(option, whole, name)
            case "by":
                for part in _parts(term, "policy"):
                    yield from _sizes(part, whole, name)


def _limits(split: Json, name: str) -> Iterator[Fraction]:
    if "dimensions" not in split:
        yield from (Fraction(each) for key, each in split["thresholds"].items() if key == name)
        return
    for part in _parts(split, "split"):
        yield from _limits(part, name)


def _bounds(cells: Json) -> Iterator[Fraction]:
    if "dimensions" in cells:
        for part in _parts(cells, "cells"):
            yield from _bounds(part)
    elif cells["bounds"] is not None:
        yield max(abs(Fraction(each)) for each in cells["bounds"])


def _parts(table: Json, what: str) -> list[Json]:
    every = [case[what] for case in table["cases"]]
    return every if table["default"] is None else [*every, table["default"]]

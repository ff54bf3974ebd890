"""Curves as SVG, drawn here: two logarithmic axes, a few lines, nothing that a page must run."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from perrecord.report.numbers import amount
from perrecord.report.text import plain

_WIDTH, _HEIGHT = 460, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 28, 12, 44
_MOST_TICKS = 6


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """One curve: what it is called, and its points."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class DrawnMark:
    """One place of a picture that has a name: a diamond for the first, circles for others."""

    name: str
    point: tuple[float, float]


@dataclass(frozen=True, slots=True)
class _Axis:
    """Numbers from `low` to `high` on a logarithm, between two places of the picture."""

    low: int
    high: int
    start: float
    end: float

    def at(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> Iterator[tuple[float, str]]:
        stride = math.ceil((self.high - self.low) / _MOST_TICKS)
        for power in range(self.low, self.high + 1, stride):
            yield self.at(10.0**power), amount(10.0**power)


def curve_picture(
    title: str,
    along: str,
    up: str,
    lines: Sequence[DrawnLine],
    marks: Sequence[DrawnMark] = (),
) -> Markup:
    """Return lines and marks over two logarithmic axes; what is not above 0 is left out.

    >>> shown = curve_picture("A", "size", "loss", [DrawnLine("presence", ((1, 2), (10, 30)))])
    >>> shown.count("<polyline")
    1
    """
    drawn = [
        DrawnLine(line.name, tuple((x, y) for x, y in line.points if x > 0 and 0 < y < math.inf))
        for line in lines
    ]
    shown = [each for each in marks if all(0 < value < math.inf for value in each.point)]
    points = [point for line in drawn for point in line.points]
    points += [each.point for each in shown]
    if not points:
        return Markup("")
    across = _axis([x for x, _ in points], _LEFT, _WIDTH - _RIGHT)
    upward = _axis([y for _, y in points], _HEIGHT - _BOTTOM, _TOP)
    parts = [*_grid(across, upward), *_words(along, up)]
    for number, line in enumerate(drawn):
        path = " ".join(f"{across.at(x):.1f},{upward.at(y):.1f}" for x, y in line.points)
        parts.append(Markup('<polyline class="line line-{}" points="{}"/>').format(number, path))
    for number, each in enumerate(shown):
        x, y = across.at(each.point[0]), upward.at(each.point[1])
        parts.append(_marked(number, x, y, each.name))
    return Markup(
        '<svg class="curve" viewBox="0 0 {} {}" role="img"><title>{}</title>{}</svg>'
    ).format(_WIDTH, _HEIGHT, plain(title), Markup("").join(parts))


def _marked(number: int, x: float, y: float, name: str) -> Markup:
    size = 7 if number == 0 else 5
    shape = (
        Markup('<path d="M{:.1f} {:.1f}l{s} {s}l-{s} {s}l-{s} -{s}z">').format(x, y - size, s=size)
        if number == 0
        else Markup('<circle cx="{:.1f}" cy="{:.1f}" r="{}">').format(x, y, size)
    )
    end = Markup("</path>") if number == 0 else Markup("</circle>")
    return Markup('<g class="mark mark-{}">{}<title>{}</title>{}</g>').format(
        number, shape, plain(name), end
    )


def _axis(values: Iterable[float], start: float, end: float) -> _Axis:
    every = list(values)
    low, high = math.floor(math.log10(min(every))), math.ceil(math.log10(max(every)))
    return _Axis(low, max(high, low + 1), start, end)


def _grid(across: _Axis, upward: _Axis) -> Iterator[Markup]:
    for place, words in across.ticks():
        yield _ruled(place, _TOP, place, _HEIGHT - _BOTTOM)
        yield _written(place, _HEIGHT - _BOTTOM + 16, words, "middle")
    for place, words in upward.ticks():
        yield _ruled(_LEFT, place, _WIDTH - _RIGHT, place)
        yield _written(_LEFT - 6, place + 4, words, "end")


def _words(along: str, up: str) -> Iterator[Markup]:
    yield _written((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 8, plain(along), "middle")
    middle = (_TOP + _HEIGHT - _BOTTOM) / 2
    yield Markup(
        '<text class="tick" text-anchor="middle" transform="translate(12 {}) rotate(-90)">{}</text>'
    ).format(middle, plain(up))


def _ruled(x1: float, y1: float, x2: float, y2: float) -> Markup:
    return Markup('<line class="rule" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>').format(
        x1, y1, x2, y2
    )


def _written(x: float, y: float, words: str, anchor: str) -> Markup:
    return Markup('<text class="tick" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>').format(
        x, y, anchor, escape(words)
    )

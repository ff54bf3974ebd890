"""Figures made to differ by a little, one at a time: an audit that does not notice is blind there.

Numbers in a text for people change by one in the last digit that is shown; numbers in JSON by one
part in a thousand, whole ones by one.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any

from perrecord.lab.audit.shown.numerals import places

_EXACT = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?(/\d+)?", re.IGNORECASE)
_MOST_DIGITS = 8
"""Longer numbers are floats to the last bit, of which the last digit says nothing."""

_MANTISSA = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Altered:
    """A text with one figure changed: where it stands, and the text as it became."""

    where: str
    text: str


@dataclass(frozen=True, slots=True)
class _Place:
    """A figure that can be altered: where it stands, and what gives the text with it altered."""

    where: str
    altered: Callable[[], str]
    kind: str
    """What stands around it, the same for figures of one kind."""


def alterations(
    name: str, text: str, random: Random, most: int, bare: Collection[str] = ()
) -> Iterator[Altered]:
    """Yield the text with one figure changed, for so many figures: first one of each kind.

    `bare` are columns of noisy numbers beside which nothing stands: any of them may be right.
    """
    is_json = text.lstrip().startswith(("{", "["))
    found = _in_json(json.loads(text)) if is_json else _in_words(name, text)
    every = [each for each in found if not (is_json and each.kind in bare)]
    random.shuffle(every)
    kinds: dict[str, list[_Place]] = {}
    for place in every:
        kinds.setdefault(place.kind, []).append(place)
    ranked = [(rank, place) for own in kinds.values() for rank, place in enumerate(own)]
    for _, place in sorted(ranked, key=lambda each: each[0])[:most]:
        yield Altered(f"{name}: {place.where}", place.altered())


def altered_page(shown: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what the policy page shows with one figure changed, each in its turn."""
    for name, value in shown.items():
        if name.startswith("#"):
            for each in _in_words(name, value):
                yield f"{name}: {each.where}", {**shown, name: each.altered()}
        elif name in ("estimates", "changes"):
            for each in _in_json(json.loads(value)):
                yield f"{name}: {each.where}", {**shown, name: each.altered()}
        elif name in ("charges", "pieces"):
            for each in _in_json(value):
                yield f"{name}: {each.where}", {**shown, name: json.loads(each.altered())}
        elif name in ("loss", "delta", "epsilon", "power", "odds", "about"):
            changed = _changed(value)
            if changed is not None:
                yield name, {**shown, name: f"{float(Fraction(changed))!r}"}


def _in_words(name: str, text: str) -> Iterator[_Place]:
    visible = _visible(name, text)
    for start, end in places(visible):
        numeral = text[start:end]
        mantissa = _MANTISSA.match(numeral)
        if mantissa is None:
            continue
        last = start + _altered_digit(mantissa[0])
        digit = "8" if text[last] == "9" else str(int(text[last]) + 1)
        before = text[max(0, start - 40) : start].rpartition("\n")[2]
        changed = f"{text[:last]}{digit}{text[last + 1 :]}"
        yield _Place(f"{before}[{numeral}]", partial(str, changed), re.sub(r"\d+", "", before))


def _altered_digit(mantissa: str) -> int:
    """Return the place of the digit to alter: the last, or of a long float one that counts."""
    digits = [place for place, each in enumerate(mantissa) if each.isdigit()]
    first = next((place for place, each in enumerate(mantissa) if each in "123456789"), 0)
    significant = [place for place in digits if place >= first]
    return significant[3] if len(significant) > _MOST_DIGITS else digits[-1]


def _visible(name: str, text: str) -> str:
    """Return the text with what is no figure, or is not for people, blanked out."""
    for pattern in _BLANK.get(name.partition(" ")[0], ()):
        text = re.sub(pattern, lambda found: re.sub(r"\d", "x", found[0]), text, flags=re.M | re.S)
    return text


_NOT_RECOMPUTED = ("would lose up to", "out of reach whatever", "and its expected errors")
"""Sentences on what fitness for use would cost, and one in which no number is a figure."""

_TABLES = ("Losses that goals imply", "Ways", "A check[^<]*")
"""Tables whose numbers come from a search, or from noise that was drawn."""

_HTML = (
    r"\A.*?<body>",
    r"<footer>.*",
    r"<figcaption>.*?</figcaption>",
    r'<p class="text".*?</p>',
    r"<thead>.*?</thead>",
    r"<(?:caption|h\d|summary).*?</(?:caption|h\d|summary)>",
    *(rf'<(?:li|p class="finding") dir="auto">[^<]*{each}[^<]*<' for each in _NOT_RECOMPUTED),
    *(rf">{each}</caption>.*?</table>" for each in _TABLES),
    r'<(?:li|p class="finding") dir="auto">(?:As tuned|Of \d+ ways)[^<]*<',
    r"&#?\w+;",
    r"<[^>]*>",  # pictures hold numbers as base64
)
_BLANK = {
    # Paths, and hints that repeat what a spec says.
    "check": (r"^Ledger$.*",),
    "ledger": (r"\A.*?$",),
    "release": (r"\A.*?$",),
    "evaluate": (r"\A.*?$", r"^/.*", *(rf"^- [^\n]*{each}[^\n]*" for each in _NOT_RECOMPUTED)),
    "tune": (r"\A.*?$", r"^/.*", r"^Ways.*"),
    # The machine: versions, free space.
    "doctor": (r"\A.*?^columns",),
    "report.html": _HTML,
    "tuning.html": _HTML,
    # The sentences that define the guarantee, and how noise is drawn: the same in every release.
    "methodology.md": (
        r"\A.*?^## The policy",
        r"^## Derived dimensions.*?^## ",
        r"^## Numbers and noise.*?this budget",
        r"^## Question \d",
    ),
}
"""What is blanked out of a text before its figures are altered."""


def _in_json(document: Any) -> Iterator[_Place]:
    for path, value in _leaves(document, ()):
        changed = _changed(value)
        if changed is not None and not any(step in _NO_FIGURES for step in path):
            where = ".".join(map(str, path))
            kind = ".".join(step for step in path if isinstance(step, str))
            yield _Place(where, partial(_replaced, document, path, changed), kind)


def _replaced(document: Any, path: tuple[Any, ...], changed: Any) -> str:
    copied = deepcopy(document)
    inner = copied
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = changed
    return json.dumps(copied)


_NO_FIGURES = {"nonce", "environment", "secret", "version", "hints", "frontier", "code"}
"""No figures, a dimension, and the frontier of `tune`, of which one point is compared."""


def _leaves(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _leaves(each, (*path, name))
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from _leaves(each, (*path, place))
    else:
        yield path, value


def _changed(value: Any) -> Any:
    match value:
        case bool() | None:
            return None
        case int():
            return value + 1 if value else 2  # quantiles choose 0 or 1: either may be right
        case float():
            return value * 1.00137 if value else 1e-3
        case str() if _EXACT.fullmatch(value):
            return str(Fraction(value) * Fraction(1001, 1000) or Fraction(1, 1000))
        case _:
            return None

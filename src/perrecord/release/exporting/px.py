"""PX files, as PC-CubeAxis and PxWeb read them: one for each table (PX-file format, 2013).

The text is UTF-8 and says so. Numbers are written digit by digit, never with an exponent; two dots
stand where there is none. A quote would end a text, so it becomes an apostrophe. Programs show a
number with the decimals of its column: those of its resolution, none of whole numbers.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from math import floor, log10
from typing import Any

from perrecord.errors import InputError, visible
from perrecord.release.exporting.cube import Cube, CubeAxis, cube_of
from perrecord.release.exporting.notes import table_notes
from perrecord.release.folders import PublishedTable, ReleaseFolder

_NONE = '".."'
_LONGEST_PIECE = 200
"""Characters of a text on one line; longer ones go on in the next."""
_MOST_DECIMALS = 15
_MOST_SHOWN = 6
_SIGNIFICANT = 4
"""Digits that are shown of the middle one of a column's floats, which have no resolution."""


def px(folder: ReleaseFolder) -> dict[str, bytes]:
    """Return every table of a release as a PX file, by file name."""
    found = {}
    for name in folder.tables:
        table = folder.table(name)
        cube = cube_of(table, folder.labels(table))
        if 0 in cube.size:
            raise InputError(
                f"the table {name!r} has no rows, and a PX file holds at least one; take another "
                "format, such as jsonstat."
            )
        lines = (*_keywords(folder, table, cube), *_data(cube))
        found[f"{name}.px"] = ("\r\n".join(lines) + "\r\n").encode()
    return found


def _keywords(folder: ReleaseFolder, table: PublishedTable, cube: Cube) -> Iterator[str]:
    *keys, answers = cube.axes
    title, names = table.about.title, _distinct(answers)
    decimals = [max(map(_decimals, filter(_is_given, each)), default=0) for each in cube.columns]
    shown = [_shown(*each) for each in zip(cube.columns, decimals, strict=True)]
    fewest = min(shown, default=0)
    yield 'CHARSET="ANSI";'
    yield 'AXIS-VERSION="2013";'
    yield 'CODEPAGE="utf-8";'
    yield 'LANGUAGE="en";'
    yield f"DECIMALS={min(_MOST_DECIMALS, max(decimals, default=0))};"
    yield f"SHOWDECIMALS={fewest};"
    yield f"MATRIX={_text(table.name[:20])};"
    yield 'SUBJECT-CODE="00";'
    yield f"SUBJECT-AREA={_text(folder.title)};"
    yield f"TITLE={_text(title)};"
    yield f"CONTENTS={_text(title)};"
    yield 'UNITS="number";'
    if keys:
        yield f"STUB={_list([axis.name for axis in keys])};"
    yield f"HEADING={_list([answers.name])};"
    yield f"CONTVARIABLE={_text(answers.name)};"
    for axis in cube.axes:
        yield f"VALUES({_text(axis.name)})={_list(_distinct(axis))};"
    for axis in cube.axes:
        yield f"CODES({_text(axis.name)})={_list(axis.codes)};"
    for name, each in zip(names, shown, strict=True):
        if each > fewest:
            yield f"PRECISION({_text(answers.name)},{_text(name)})={each};"
    for name, code in zip(names, answers.codes, strict=True):
        yield f"UNITS({_text(name)})={_text(table.about.units.get(code, 'number'))};"
    yield f"SOURCE={_text(folder.title)};"
    yield f"NOTE={_text(' '.join(table_notes(folder, table, cube.left_out)))};"


def _distinct(axis: CubeAxis) -> list[str]:
    """Return the names of an axis; names that several codes share are told apart by the code."""
    names = [_plain(each) for each in axis.labels]
    often = Counter(names)
    return [
        name if often[name] == 1 else f"{name} [{code}]"
        for name, code in zip(names, axis.codes, strict=True)
    ]


def _data(cube: Cube) -> Iterator[str]:
    values = [_NONE if each is None else _digits(each) for each in cube.values()]
    width = cube.size[-1] or 1
    yield "DATA="
    yield from (" ".join(values[at : at + width]) for at in range(0, len(values), width))
    yield ";"


def _is_given(value: Any) -> bool:
    return value is not None


def _shown(column: Sequence[Any], decimals: int) -> int:
    """Return how many decimals programs show of a column that has these.

    >>> _shown([1250, 3], 0), _shown([Decimal("1.50"), None], 2), _shown([71.23456, 0.0], 5)
    (0, 2, 2)
    """
    sizes = sorted(abs(each) for each in column if isinstance(each, float) and each)
    if sizes:
        digits_before = floor(log10(sizes[len(sizes) // 2])) + 1
        decimals = min(decimals, max(0, _SIGNIFICANT - digits_before))
    return min(decimals, _MOST_SHOWN)


def _digits(value: Any) -> str:
    """Return a number without an exponent.

    >>> _digits(12), _digits(1e-07), _digits(Decimal("1.50"))
    ('12', '0.0000001', '1.50')
    """
    return str(value) if isinstance(value, int) else format(Decimal(str(value)), "f")


def _decimals(value: Any) -> int:
    _, _, after = _digits(value).partition(".")
    return len(after)


def _plain(words: str) -> str:
    """Return words on one line, without the quote that would end them."""
    return visible(words).replace('"', "'")


def _text(words: str) -> str:
    """Return a text; a long one goes on in further lines.

    >>> print(_text('say "ten"; DATA='))
    "say 'ten'; DATA="
    """
    plain = _plain(words)
    pieces = [plain[at : at + _LONGEST_PIECE] for at in range(0, len(plain), _LONGEST_PIECE)]
    return "\r\n".join(f'"{piece}"' for piece in pieces or [""])


def _list(words: Sequence[str]) -> str:
    codes = [_plain(each) for each in words]
    if len(set(codes)) < len(codes):
        raise InputError(
            "two keys of a table differ in nothing but quotes or characters that a PX file does "
            "not hold; take another format, such as jsonstat."
        )
    return ",\r\n".join(map(_text, words))

"""A reader of PX files, written from the format's description and nothing of ours.

Keywords end with a semicolon outside quotes; texts in a row are one text; commas part lists.
"""

import re
from dataclasses import dataclass
from itertools import product


@dataclass
class Px:
    """What a PX file holds."""

    keywords: dict
    axes: tuple
    codes: dict
    data: dict


def read_px(text):
    """Return the keywords of a PX file, and its data by code."""
    keywords = {}
    for statement in re.findall(r'((?:"[^"]*"|[^";])+);', text):
        name, _, value = statement.strip().partition("=")
        keywords[name] = value if name == "DATA" else _texts(value)
    axes = (*keywords.get("STUB", ()), *keywords["HEADING"])
    codes = {axis: keywords[f'CODES("{axis}")'] for axis in axes}
    assert all(len(keywords[f'VALUES("{axis}")']) == len(codes[axis]) for axis in axes)
    numbers = keywords["DATA"].split()
    places = list(product(*(codes[axis] for axis in axes)))
    return Px(keywords, axes, codes, dict(zip(places, numbers, strict=True)))


def _texts(value):
    """Return the texts of a list, each of one or several pieces."""
    found, after_comma = [], True
    for quoted, piece, mark in re.findall(r'("([^"]*)")|([,\d])', value):
        if mark == ",":
            after_comma = True
        elif quoted and after_comma:
            found.append(piece)
            after_comma = False
        elif quoted:
            found[-1] += piece
    return found

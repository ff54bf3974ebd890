"""Names as a picture can hold them."""

import re
import unicodedata

_REORDERING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def plain(name: object) -> str:
    r"""Return text that XML can hold and that reorders nothing around it.

    Control characters and halves of surrogate pairs become U+FFFD, marks of direction vanish and
    runs of white space become one space.

    >>> plain("a\x00b \u202ec\n d")
    'a\ufffdb c d'
    """
    kept = (
        "\N{REPLACEMENT CHARACTER}" if _is_unwritable(character) else character
        for character in re.sub(r"\s+", " ", str(name)).strip()
        if character not in _REORDERING
    )
    return "".join(kept)


def _is_unwritable(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs") or character in "\ufffe\uffff"

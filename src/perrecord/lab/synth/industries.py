"""A hierarchy of industries in the shape of NAICS: codes of 2 to 6 digits, each a prefix."""

import numpy as np
import numpy.typing as npt

SECTORS = [
    "11", "21", "22", "23", "31", "32", "33", "42", "44", "45", "48", "49",
    "51", "52", "53", "54", "55", "56", "61", "62", "71", "72", "81", "99",
]  # fmt: skip

CODES_OF_LENGTH = {2: len(SECTORS), 3: 96, 4: 308, 5: 690, 6: 1012}
"""About as many codes per length as NAICS has."""


def industry_codes() -> list[str]:
    """Return the six-digit codes, sorted; shorter codes are their prefixes.

    >>> codes = industry_codes()
    >>> [len({code[:length] for code in codes}) for length in (2, 3, 4, 5, 6)]
    [24, 96, 308, 690, 1012]
    """
    codes = SECTORS
    for length in (3, 4, 5, 6):
        codes = _children(codes, CODES_OF_LENGTH[length])
    return codes


def _children(parents: list[str], count: int) -> list[str]:
    """Spread `count` children evenly over the parents: at least one each, at most nine."""
    bounds = [index * count // len(parents) for index in range(len(parents) + 1)]
    return [
        f"{parent}{digit}"
        for parent, first, last in zip(parents, bounds, bounds[1:], strict=False)
        for digit in range(1, last - first + 1)
    ]


def industry_shares(source: np.random.Generator) -> npt.NDArray[np.float64]:
    """Return each six-digit industry's share of establishments: a few large, many small."""
    sizes = np.exp(1.3 * source.standard_normal(CODES_OF_LENGTH[6]))
    return np.asarray(sizes / sizes.sum())

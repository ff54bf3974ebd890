"""Counties in states: as many per state as in the United States, of very different size."""

import numpy as np
import numpy.typing as npt

COUNTIES_IN_STATE = {
    "01": 67, "02": 30, "04": 15, "05": 75, "06": 58, "08": 64, "09": 8, "10": 3, "11": 1,
    "12": 67, "13": 159, "15": 5, "16": 44, "17": 102, "18": 92, "19": 99, "20": 105, "21": 120,
    "22": 64, "23": 16, "24": 24, "25": 14, "26": 83, "27": 87, "28": 82, "29": 115, "30": 56,
    "31": 93, "32": 17, "33": 10, "34": 21, "35": 33, "36": 62, "37": 100, "38": 53, "39": 88,
    "40": 77, "41": 36, "42": 67, "44": 5, "45": 46, "46": 66, "47": 95, "48": 254, "49": 29,
    "50": 14, "51": 133, "53": 39, "54": 55, "55": 72, "56": 23,
}  # fmt: skip
"""State code -> number of counties; 3,143 in all."""


def county_codes() -> list[str]:
    """Return five-digit codes: the state's two digits, then 001, 003, 005 as is the custom.

    >>> len(county_codes()), county_codes()[:2]
    (3143, ['01001', '01003'])
    """
    return [
        f"{state}{2 * index + 1:03d}"
        for state, count in COUNTIES_IN_STATE.items()
        for index in range(count)
    ]


def county_shares(source: np.random.Generator) -> npt.NDArray[np.float64]:
    """Return each county's share of establishments: lognormal, the largest near two per cent."""
    sizes = np.exp(1.6 * source.standard_normal(sum(COUNTIES_IN_STATE.values())))
    return np.asarray(sizes / sizes.sum())

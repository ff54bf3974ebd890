"""Agricultural districts of states: NASS's own codes; which county lies in which is made up."""

from perrecord.lab.synth.places import COUNTIES_IN_STATE

_USUAL = "10 20 30 40 50 60 70 80 90"
_UNUSUAL = {
    "01": "10 20 30 40 50 60", "02": "10 20 30 40 50", "04": "10 80",
    "06": "10 20 30 40 50 51 60 80", "08": "10 20 60 70 80 90", "09": "10", "10": "20 50 80",
    "12": "10 30 50 80", "15": "11 24 35 62", "16": "10 70 80 90", "21": "10 20 30 40 50 60",
    "23": "10 20 30", "24": "10 20 30 80 90", "25": "10", "30": "10 20 30 50 70 80 90",
    "31": "10 20 30 50 60 70 80 90", "32": "10 30 80", "33": "10", "34": "20 50 80",
    "35": "10 30 70 90", "36": "20 30 40 50 60 70 80 90 91", "37": "10 20 40 50 60 70 80 90",
    "41": "10 20 30 70 80", "44": "10", "45": "10 20 30 40 50 80", "47": "10 20 30 40 50 60",
    "48": "11 12 21 22 30 40 51 52 60 70 81 82 90 96 97", "49": "10 50 60 70", "50": "10",
    "51": "20 40 50 60 70 80 90", "53": "10 20 30 50 90", "54": "20 40 60", "56": "10 20 30 40 50",
}  # fmt: skip
_NO_FARMS = {"11"}


def district_codes() -> list[tuple[str, str]]:
    """Return every state with each of its agricultural districts, sorted.

    >>> len(district_codes()), district_codes()[0]
    (312, ('01', '10'))
    """
    return [
        (state, district)
        for state in COUNTIES_IN_STATE
        if state not in _NO_FARMS
        for district in _UNUSUAL.get(state, _USUAL).split()
    ]


def counties_in_districts() -> list[tuple[str, str, str]]:
    """Return state, district and county of 3,142 counties; neighbours in the list share a district.

    >>> counties_in_districts()[0]
    ('01', '10', '01001')
    """
    of_state: dict[str, list[str]] = {}
    for state, district in district_codes():
        of_state.setdefault(state, []).append(district)
    return [
        (state, own[place * len(own) // count], f"{state}{2 * place + 1:03d}")
        for state, own in of_state.items()
        for count in [COUNTIES_IN_STATE[state]]
        for place in range(count)
    ]

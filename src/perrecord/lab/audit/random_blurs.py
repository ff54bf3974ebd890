"""Random blurred totals from a seed of their own: through the fluent interface, and in specs (T28).

Their noise grows with the records of a cell, or with a public size of it.
"""

from collections.abc import Mapping
from random import Random
from typing import Any

from perrecord.lab.audit.random_queries import FILTERS, keys_of
from perrecord.lab.audit.random_tables import MEASURES, VALUES
from perrecord.lab.audit.random_tapers import SIZES, priced
from perrecord.queries.methods import Blur
from perrecord.queries.query import Query

_SHARES = ("0.01", "0.1", "0.4", "1")
_PLACE = "sector"
"""The column of public sizes."""


def query(random: Random, currency: str) -> Query:
    """Return a query of one or two totals that are blurred by their own records."""
    columns = random.sample(list(VALUES), random.choice([0, 1, 1, 2]))
    asked = _asked(random)
    if columns:
        way = asked.rollup if random.random() < 0.25 else asked.group_by
        asked = way(*columns, keys=keys_of(random, columns))
    for index in range(random.randrange(1, 3)):
        blur = Blur(random.choice(_SHARES), signed=random.random() < 0.5)
        asked = _total(random, asked, blur, currency, f"b{index}")
    return asked


def scaled_query(random: Random, currency: str) -> Query:
    """Return a query of totals by sector, one blurred by public sizes, one by its own records."""
    asked = _asked(random).group_by(_PLACE, keys=keys_of(random, [_PLACE]))
    places = [each for each in VALUES[_PLACE] if each is not None and random.random() < 0.7]
    sizes = {_PLACE: places or ["farm"], "size": [random.randrange(10**6) for _ in places] or [7]}
    for name, blur in (
        ("public", Blur(random.choice(_SHARES), scale=sizes)),
        ("own", Blur(random.choice(_SHARES))),
    ):
        asked = _total(random, asked, blur, currency, name)
    return asked


def _asked(random: Random) -> Query:
    condition = random.choice(FILTERS)
    is_filtered = condition is not None and random.random() < 0.4
    return Query().where(condition) if is_filtered and condition else Query()


def _total(random: Random, asked: Query, blur: Blur, currency: str, name: str) -> Query:
    measure = random.choice(list(MEASURES))
    taper, amount = priced(random, measure, random.choice([3, 7]))
    one: dict[str, Any] = {currency: amount}
    return asked.sum(measure, taper=taper, blur=blur, name=name, **one)


def blurred_spec(random: Random, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a random spec with a total in each of its queries that is blurred by its records."""
    currency = "rho" if "rho" in spec["budget"] else "epsilon"
    queries = [
        {**asked, "answers": {**asked["answers"], "b0": _spec_answer(random, currency)}}
        for asked in spec["queries"]
    ]
    return {**spec, "queries": queries}


def _spec_answer(random: Random, currency: str) -> dict[str, Any]:
    measure = random.choice(list(SIZES))
    by = float(random.choice(_SHARES[:3]))
    return {
        "sum": measure,
        "taper": random.choice(SIZES[measure]),
        "blur": {"by": by, "signed": True} if random.random() < 0.5 else by,
        currency: random.choice([0.1, 0.3]),
    }

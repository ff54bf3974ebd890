"""What columns hold, as the curator sees it: the same as counted in Python."""

from collections import Counter
from fractions import Fraction
from random import Random

import pyarrow as pa
import pytest

from perrecord import table
from perrecord.evaluate.column_values import column_values
from perrecord.lab.audit import random_tables
from perrecord.tables.measures import Measure
from tests.engines.conftest import spark  # noqa: F401 - a fixture


@pytest.mark.parametrize("seed", range(3))
def test_values_are_those_of_the_records(seed):
    """The commonest, each with its number; what shares of the records have at most."""
    random = Random(seed)
    places = [random.choice(["a", "b", "<i>", "", None, "é"]) for _ in range(60)]
    sizes = [random.choice([None, *range(-5, 200)]) for _ in range(60)]
    rows = pa.table({"place": places, "emp": sizes})
    with table(rows, dimensions=["place"], measures={"emp": Measure("0.5")}) as source:
        place, emp = column_values(source)
    counts = Counter(each for each in places if each is not None)
    common = sorted(counts.items(), key=lambda each: (-each[1], each[0].encode()))
    assert place.common == tuple(common[:5])
    assert (place.records, place.missing, place.different) == (
        *(60, places.count(None), len(counts)),
    )
    known = sorted(each for each in sizes if each is not None)
    for share, size in emp.sizes:
        assert size in known
        assert sum(each <= size for each in known) >= share * len(known)
        assert sum(each < size for each in known) < share * len(known)
    assert [share for share, _ in emp.sizes] == [
        Fraction(each) for each in ("0.5", "0.9", "0.99", "1")
    ]
    assert emp.missing == sizes.count(None)


def test_columns_without_values():
    """Nobody, and nothing but NULLs."""
    for values in ([], [None, None]):
        rows = pa.table(
            {"place": pa.array(values, pa.string()), "emp": pa.array(values, pa.int64())}
        )
        with table(rows, dimensions=["place"], measures=["emp"]) as source:
            place, emp = column_values(source)
        assert (place.common, emp.sizes) == ((), ())
        assert place.missing == emp.missing == emp.records == len(values)


@pytest.mark.spark
def test_spark_has_the_same(spark):  # noqa: F811
    """Whatever the values are."""
    arrow = random_tables.arrow(random_tables.rows(Random(3), 40))
    declared = random_tables.DECLARED
    with table(arrow, **declared) as here, table(spark.createDataFrame(arrow), **declared) as there:
        assert column_values(there) == column_values(here)

"""What is confidential is handed on, and nothing else can be done with it."""

import copy
import dataclasses
import json
import pickle
import pprint
import traceback
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import yaml
from rich.pretty import pretty_repr

from perrecord.confidential.held import Confidential
from perrecord.confidential.revealing import revealed
from perrecord.confidential.tally import Addends, ExactSums
from perrecord.queries.aggregates import Bucket, Rows, Total
from perrecord.queries.cells import scanned
from perrecord.queries.plan import plan
from perrecord.queries.positions import Coded
from perrecord.queries.query import Query
from perrecord.tables.domains import Domain
from perrecord.tables.keys import Keys
from perrecord.tables.table import table

CANARY = 8264173
EXACT = Confidential(np.array([CANARY, 0]))


@dataclasses.dataclass
class Around:
    """Something that holds something confidential."""

    inner: object


@pytest.mark.parametrize(
    "show",
    [
        str,
        repr,
        ascii,
        format,
        pprint.pformat,
        pretty_repr,
        lambda held: f"{held}",
        lambda held: f"{held!r:>40}",
        lambda held: f"{held=}",
        lambda held: "%s %r" % (held, held),  # noqa: UP031 -- a way to show it
        lambda held: f"{[held]} {(held,)} { {'n': held} } {Around(held)}",
        lambda held: json.dumps({"n": held}, default=str),
        lambda held: str(np.array([Around(held)])),
        lambda held: str(pd.Series([held, held])),
        lambda held: str(pl.Series("n", [held], dtype=pl.Object)),
    ],
)
def test_nothing_of_it_is_shown(show):
    """However it is shown, alone or inside of something else."""
    shown = show(EXACT)
    assert "confidential" in shown or "object" in shown
    assert str(CANARY) not in shown.replace(",", "").replace("_", "")


@pytest.mark.parametrize(
    "turned",
    [
        json.dumps,
        pickle.dumps,
        lambda held: pickle.dumps(Around(held)),
        copy.copy,
        copy.deepcopy,
        lambda held: dataclasses.asdict(Around(held)),
        lambda held: held.__reduce__(),
        lambda held: held.__getstate__(),
        vars,
        yaml.safe_dump,
        np.asarray,
        lambda held: np.array([held, held]),
        lambda held: np.asarray(held, dtype=np.float64),
        np.sum,
        pa.array,
        lambda held: pa.array([held]),
        pa.scalar,
        lambda held: pa.table({"n": held}),
        lambda held: pl.Series("n", held),
        memoryview,
        bytes,
        bytearray,
        int,
        float,
        complex,
        Decimal,
        len,
        list,
        sum,
        max,
        sorted,
        iter,
        lambda held: held[0],
        lambda held: f"{held:d}",
        lambda held: "%d" % held,  # noqa: UP031
        lambda held: held + np.ones(2, dtype=np.int64),
        lambda held: np.ones(2, dtype=np.int64) + held,
        lambda held: np.add(held, 1),
        lambda held: 2 * held,
        lambda held: -held,
        lambda held: held < 5,
        lambda held: setattr(held, "_content", None),
        lambda held: delattr(held, "_content"),
        lambda held: setattr(held, "note", 1),
    ],
)
def test_it_is_turned_into_nothing_else(turned):
    """Numbers, arrays, tables, bytes, copies: each is refused, and the refusal says nothing."""
    with pytest.raises(Exception) as refusal:  # noqa: PT011 -- each library refuses in its own way
        turned(EXACT)
    shown = "".join(traceback.format_exception(refusal.value))
    assert str(CANARY) not in shown
    assert revealed(EXACT)[0] == CANARY


def test_it_is_equal_to_itself_alone():
    """A comparison would tell, so it compares nothing."""
    held = Confidential(CANARY)
    assert held == held
    assert held != Confidential(CANARY)
    assert held != CANARY
    assert np.full(2, CANARY) != held
    assert hash(held) != hash(Confidential(CANARY))


def test_no_copy_is_made():
    """Full size is 27 million numbers."""
    numbers = np.arange(5)
    assert revealed(Confidential(numbers)) is numbers


def test_a_thing_that_is_not_confidential_is_shown_by_the_same_ways():
    """Positive control: an ordinary array is shown and turned into everything."""
    plain = np.array([CANARY, 0])
    assert str(CANARY) in f"{plain}"
    assert pickle.loads(pickle.dumps(plain))[0] == CANARY
    assert pa.array(plain)[0].as_py() == CANARY


# -- what a scan gives -------------------------------------------------------------------------

KEY, AMOUNTS = "Q7391", (1_000_003, 2_000_011)


@pytest.fixture
def cells():
    """Yield the cells of a small table."""
    source = pa.table({"k": [KEY, KEY], "x": list(AMOUNTS)})
    keys = Keys.from_dict({"k": [KEY, "other"]})
    asked = Query().group_by("k", keys=keys).count(rho=1).sum("x", clamp=(0, 10**7), rho=1)
    asked = asked.median("x", candidates=[0, 10], rho=1)
    with table(source, dimensions=["k"], measures=["x"]) as opened:
        planned = plan(asked, opened.schema)
        with scanned(planned, opened) as found:
            yield found[0]


def parts_of(cells):
    """Yield whatever can be asked of cells, and what that is made of."""
    keys = Keys.from_dict({"k": [KEY, "other"]})
    total = next(each for each in cells.scan.aggregates if isinstance(each, Total))
    bucket = next(each for each in cells.scan.columns if isinstance(each, Bucket))
    reading = cells.reading(["k"], keys)
    yield cells, True
    yield reading, True
    yield reading.numbers(total), False
    yield cells.numbers(["k"], [total, Rows()], keys), False
    yield cells.occupied(["k"], total), False
    yield cells.positions(Domain.from_dict({"k": [KEY]}), ["k"], total), False
    yield cells.buckets(["k"], bucket, keys, Rows()), False
    chunks = [each for kept in cells._kept.values() for each in kept]
    assert chunks
    for chunk in chunks:
        yield chunk, True
        yield chunk.columns["k"], True
        yield chunk.addends[total], False


def test_whatever_a_scan_gives_shows_nothing(cells):
    """Neither numbers nor keys that the data holds, nor how many there are."""
    for part, is_bare in parts_of(cells):
        shown = repr(part)
        assert shown == object.__repr__(part) if is_bare else "<confidential>" in shown
        for secret in (KEY, *map(str, AMOUNTS), str(sum(AMOUNTS)), "array", "dtype"):
            assert secret not in shown.replace("pyarrow", "")


def test_whatever_a_scan_gives_is_not_pickled(cells):
    """Not the numbers, and nothing that holds them."""
    for part, _ in parts_of(cells):
        if not isinstance(part, Coded):
            with pytest.raises(TypeError):
                pickle.dumps(part)


def test_sums_stay_confidential():
    """What is added up, and what comes out."""
    tally = ExactSums(2)
    tally.add(np.array([1, -1, 1]), Addends.of(np.array([CANARY, 5, 1])))
    sums = tally.sums()
    assert isinstance(sums, Confidential)
    assert revealed(sums).tolist() == [0, CANARY + 1]
    assert repr(tally) == object.__repr__(tally)

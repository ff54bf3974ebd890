"""Quantiles with weights on tables full of ties, nulls, zero weights and duplicates (T37)."""

from bisect import bisect_left, bisect_right
from fractions import Fraction
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from perrecord import InputError, Keys, Measure, Query, QueryError, Weight, Weighting, table
from perrecord.confidential.revealing import revealed
from perrecord.evaluate.accuracy.quantiles import quantile_accuracy
from perrecord.evaluate.losses.realised import losses
from perrecord.mechanisms.quantiles import scores_of
from perrecord.mechanisms.run import run
from perrecord.noise import choose
from perrecord.queries.cells import scanned
from perrecord.queries.measurements import Choice
from perrecord.queries.plan import plan
from perrecord.queries.sql import from_sql
from tests.noise.checks import Replayed
from tests.queries.reference import exact, reference

LEVELS = ("0", "0.1", "1/3", "1/2", "0.75", "1")
STATES = ["AZ", "NM", "TX"]
LARGEST = 100


def rows_of(seed, count=40):
    """Return rows with ties, nulls, zeros, weights below 0 and above the largest, duplicates."""
    random = Random(f"weighted {seed}")
    rows = [
        {
            "state": random.choice(STATES[1:]),
            "emp": random.choice([None, 0, 0, 1, 2, 2, 5, 9, 12]),
            "w": random.choice([None, -2.0, 0.0, 0.001, 0.5, 1.0, 1.0, 2.5, 250.0]),
        }
        for _ in range(count)
    ]
    return [*rows, *random.sample(rows, count // 4)]


def opened(rows):
    """Open the rows with their weight."""
    schema = pa.schema([("state", pa.string()), ("emp", pa.int64()), ("w", pa.float64())])
    return table(
        pa.Table.from_pylist(rows, schema=schema),
        dimensions=["state"],
        measures={"emp": Measure(1, largest=1000)},
        weight=Weight("w", "0.001", largest=LARGEST),
    )


def asked(level, rho, candidates=range(13), **more):
    """Return a quantile by state."""
    grouped = Query().group_by("state", keys=Keys.from_dict({"state": STATES}))
    given = {"weight": Weighting("w", at=2), "rho": rho, **more}
    return grouped.quantile("emp", level, candidates=candidates, name="q", **given)


def quantiles_of(rows, state, level):
    """Return every number of the data that is a weighted quantile, by counting it out."""
    step = Fraction(1, 1000)
    held = [
        (row["emp"], min(Fraction(row["w"]), LARGEST) // step)
        for row in rows
        if row["state"] == state and None not in (row["emp"], row["w"]) and row["w"] > 0
    ]
    copies = sorted(emp for emp, weight in held for _ in range(int(weight)))
    if not copies:
        return set()
    share = Fraction(level) * len(copies)
    return {
        value
        for value in set(copies)
        if bisect_left(copies, value) <= share <= bisect_right(copies, value)
    }


@pytest.mark.parametrize("seed", range(4))
def test_at_a_large_price_the_answer_is_the_weighted_quantile(seed):
    """Each record written out as often as its weight has steps, and the median counted there."""
    rows = rows_of(seed, 12)
    with opened(rows) as found:
        for level in LEVELS:
            answers = run(plan(asked(level, 10**9), found.schema), found)[0].to_arrow().to_pylist()
            for row in answers:
                true = quantiles_of(rows, row["state"], level)
                if not true:
                    continue
                if level in ("0", "1"):  # whatever lies beyond the last value is one, too
                    end = min(true) if level == "0" else max(true)
                    assert row["q"] <= end if level == "0" else row["q"] >= end
                else:
                    assert min(true) <= row["q"] <= max(true)


@pytest.mark.parametrize("seed", range(3))
def test_the_exact_integers_are_those_of_python_loops(seed):
    """Sums of weights between candidates, with a filter and without, beside plain counts."""
    rows = rows_of(seed)
    with opened(rows) as found:
        both = asked("1/3", 1).median("emp", candidates=[1, 4], rho=1, name="plain")
        filtered = asked("0.5", 1, [0, 2, "7/2"]).where("emp > 0")
        planned = plan([both, filtered, Query().sum("w", taper=3, rho=1)], found.schema)
        assert exact(planned, found) == reference(planned, rows)


def test_scores_of_any_size_are_exact_and_candidates_are_drawn_from_them():
    """Weights near 2^62 steps: sums beyond 64 bits are Python ints, before and after the choice."""
    rows = pa.table({"emp": [1, 2, 2, 5], "w": [2**61, 2**61 + 1, 2**61, 7]})
    with table(rows, measures=["emp", "w"]) as found:
        query = Query().quantile(
            "emp", "0.333333", candidates=[0, 1, 2, 5], weight=Weighting("w", at=1), rho=1
        )
        planned = plan(query, found.schema)
        (choice,) = planned.groupings[0].answers[0].answer.choices
        with scanned(planned, found) as (cells,):
            counts = cells.buckets([], choice.bucket, None, choice.aggregate)
            (held,) = scores_of(choice, counts, 1)
        scores = revealed(held)
        whole = 3 * 2**61 + 8
        level, million = 333333, 10**6
        below, above = [0, 0, 2**61, whole - 7], [whole, whole - 2**61, 7, 0]
        assert scores.tolist()[0] == [
            max(0, million * less - level * whole, million * more - (million - level) * whole)
            for less, more in zip(below, above, strict=True)
        ]
        assert scores.dtype == np.object_
        drawn = run(planned, found)[0].to_arrow().to_pylist()
        assert drawn == [{"quantile_emp": 1}]  # at that many steps nothing else is likely


def test_python_ints_are_chosen_from_as_64_bit_ones_are():
    """The same bits, the same candidates; and scores that are no ints are refused."""
    scores = np.array([[0, 3, 9], [5, 1, 0], [2, 2, 2]] * 50)
    plain = choose(scores, "0.3", _bits=Replayed(1))
    assert choose(scores.astype(object), "0.3", _bits=Replayed(1)).tolist() == plain.tolist()
    wide = scores.astype(object) * 2**70
    assert choose(wide, Fraction(3, 10) / 2**70, _bits=Replayed(1)).tolist() == plain.tolist()
    for wrong in (1.5, "1", None, True):
        with pytest.raises(InputError, match="expected int64, or Python ints"):
            choose(np.array([[0, wrong]], dtype=object), 1)


def test_python_and_sql_ask_the_same():
    """By answer, by measure, or for every quantile of the text."""
    with opened(rows_of(0)) as found:
        weight = Weighting("w", at=2)
        fluent = Query("records").median("emp", candidates=[1, 2], weight=weight, rho=1)
        for given in (weight, {"emp": weight}, {"median_emp": weight}):
            text = from_sql(
                "SELECT MEDIAN(emp) FROM records",
                schema=found.schema, candidates=[1, 2], weight=given, rho=1,
            )  # fmt: skip
            assert text.answers == fluent.answers
        assert "weighted by w at 2" in fluent.answers[0].described(str)
        with pytest.raises(InputError, match="weight is given, but no answer takes it"):
            from_sql("SELECT COUNT(*) FROM records", schema=found.schema, weight=weight, rho=1)
        with pytest.raises(QueryError, match=r'Weighting\("w", at=20\)'):
            Query().median("emp", candidates=[1], weight="w", rho=1)
        unknown = Query().median("emp", candidates=[1], weight=Weighting("nothing", at=1), rho=1)
        with pytest.raises(InputError, match="nothing"):
            plan(unknown, found.schema)


@pytest.mark.parametrize("currency", ["rho", "epsilon"])
def test_realised_losses_are_those_of_the_policy(currency):
    """Every record at its own weight, cut to the largest; nothing where it has none."""
    rows = rows_of(5, 20)
    with opened(rows) as found:
        price = {"rho": None, currency: "0.2"}
        planned = plan(asked("0.3", **price), found.schema)
        result = losses(planned, found)
    weights = sorted(min(max(row["w"] or 0, 0), LARGEST) for row in rows)
    policy = planned.policy
    expected = {float(policy.loss({"w": Fraction(each)})) for each in weights}
    assert np.allclose(sorted(expected), result.realised.values, rtol=1e-9)


def test_expected_errors_know_the_weighted_quantile():
    """The true quantile, from the engine, beside one that is counted out."""
    rows = rows_of(6, 16)
    with opened(rows) as found:
        for level in ("0.1", "1/2", "0.75"):
            (errors,) = quantile_accuracy(plan(asked(level, 10**9), found.schema), found)
            for row in errors.to_arrow().to_pylist():
                true = quantiles_of(rows, row["state"], level)
                assert row["true"] == (min(true) if true else None)
                assert not true or row["chance_of_a_quantile"] == pytest.approx(1)


def test_a_choice_without_weights_is_what_it_was():
    """Its policy is the amount, whatever the record weighs."""
    choice = Choice("emp", Fraction(1, 5), Fraction(1, 2), (Fraction(1),))
    assert (choice.weight, choice.weight_step(None)) == (None, 1)

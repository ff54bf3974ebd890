"""Cells that were counted once: which plans they serve, and that they give the same truths."""

from dataclasses import fields

import numpy as np
import pyarrow as pa

from perrecord import Keys, Query, Split, Weighting, table
from perrecord.confidential.revealing import revealed
from perrecord.evaluate.accuracy import quantiles
from perrecord.evaluate.accuracy import truths as numbers
from perrecord.evaluate.accuracy.truths import counted, truths, truths_of
from perrecord.queries.aggregates import Rows
from perrecord.queries.cells import scanned
from perrecord.queries.measurements import Choice
from perrecord.queries.plan import plan

ROWS = pa.table({"county": ["a", "a", "b", "c"], "emp": [3, 40, 7, 900], "pay": [1, 2, 3, 4]})
COUNTIES = Keys.from_columns(pa.table({"county": ["a", "b"]}))
SPLIT = Split(emp=50)


def asked(keys=COUNTIES, **how):
    """Return a count and a total by county."""
    given = how or {"split": SPLIT, "rho": "0.1"}
    return Query().group_by("county", keys=keys).count(rho="0.1", name="n").sum("emp", **given)


def same(left, right):
    """Return whether truths are the same, numbers and noise."""
    return all(
        (one.total.exact == other.total.exact).all()
        and (one.total.bias == other.total.bias).all()
        and one.total.laws == other.total.laws
        and (np.asarray(one.records) == np.asarray(other.records)).all()
        and one.keys.equals(other.keys)
        for one, other in zip(left, right, strict=True)
    )


def test_cells_serve_plans_that_count_the_same_and_no_others():
    """Other amounts, sizes and unbiased methods are served; other keys, bounds and filters not."""
    with table(ROWS, dimensions=["county"], measures=["emp", "pay"]) as source:
        cells = counted(plan(asked(), source.schema), source)
        served = [
            asked(),
            asked(split=SPLIT, rho="0.7"),
            asked(split=Split(emp=10), rho="0.1"),
            asked(taper=20, rho="0.2"),
        ]
        others = [
            asked(Keys.from_columns(pa.table({"county": ["a", "c"]}))),
            asked(clamp=(0, 10), rho="0.1"),
            asked().where("emp > 5"),
            asked().sum("pay", taper=20, rho="0.2"),
        ]
        for each in served:
            planned = plan(each, source.schema)
            assert cells.serves(planned)
            assert same(truths_of(planned, cells), truths(planned, source))
        for each in others:
            assert not cells.serves(plan(each, source.schema))
    declared = {"dimensions": {"county": "substr(county, 1, 1)"}, "measures": ["emp", "pay"]}
    for other in (declared, {"dimensions": ["county"], "measures": {"emp": 10, "pay": 1}}):
        with table(ROWS, **other) as source:
            assert not cells.serves(plan(asked(split=Split(emp=50), rho="0.1"), source.schema))


def test_what_was_counted_before_is_not_counted_again(monkeypatch):
    """A clamp needs its own total alone; what was counted serves both plans afterwards."""
    scans = []
    monkeypatch.setattr(
        numbers, "scanned", lambda plan, *given: scans.append(plan.scans) or scanned(plan, *given)
    )
    with table(ROWS, dimensions=["county"], measures=["emp", "pay"]) as source:
        plans = [
            plan(asked(**how), source.schema) for how in ({}, {"clamp": (0, 10), "rho": "0.1"})
        ]
        first = counted(plans[0], source)
        both = counted(plans[1], source, before=first)
        for planned in plans:
            assert both.serves(planned)
            assert same(truths_of(planned, both), truths(planned, source))
        unlike = plan(asked().where("emp > 5"), source.schema)
        assert same(truths_of(unlike, counted(unlike, source, before=both)), truths(unlike, source))
    once, again = ({*scan.aggregates} for (scan,) in scans[:2])
    assert once & again == {Rows()}
    assert len(again) == 2


def test_answers_that_are_known_are_left_out():
    """By query, columns and answer: other amounts are other answers."""
    with table(ROWS, dimensions=["county"], measures=["emp", "pay"]) as source:
        planned = plan(asked(), source.schema)
        cells = counted(planned, source)
        count, total = truths_of(planned, cells)
        known = {(count.query, count.columns, count.answer)}
        assert [each.answer.name for each in truths_of(planned, cells, known)] == [
            total.answer.name
        ]
        dearer = plan(asked(split=SPLIT, rho="0.7"), source.schema)
        known |= {(total.query, total.columns, total.answer)}
        assert [each.answer.name for each in truths_of(dearer, cells, known)] == [total.answer.name]


def test_what_one_of_them_needs_is_not_counted_for_the_other(monkeypatch):
    """Cells without candidates between them; for quantiles those alone, of the scans that ask."""
    planned = []

    def watched(given, *how):
        planned.append(given)
        return scanned(given, *how)

    for module in (numbers, quantiles):
        monkeypatch.setattr(module, "scanned", watched)
    median = asked().median("pay", candidates=[1, 2, 3], rho="0.1")
    with table(ROWS, dimensions=["county"], measures=["emp", "pay"]) as source:
        every = plan([asked().where("emp > 5"), median], source.schema)
        truths(every, source)
        (found,) = quantiles.quantile_truths(every, source)
    assert (found.query, found.low.tolist()) == (1, [1.0, 3.0])
    of_cells, of_quantiles = (list(each.scans) for each in planned)
    assert [scan.sets for scan in of_cells] == 2 * [(frozenset({"county"}),)]
    (scan,) = of_quantiles
    assert scan.aggregates == (Rows(),)
    assert [len(each) for each in scan.sets] == [2]


def test_quantiles_that_are_known_serve_plans_that_ask_for_the_same_alone():
    """Whatever else is asked for, what is reused is what would be read: no field is forgotten."""
    step = {"from": 0, "to": 1000, "step": 100}
    plain = {"measure": "emp", "q": "0.5", "candidates": step, "rho": "0.1"}
    others = {
        "rho": "0.3",
        "measure": "pay",
        "q": "0.25",
        "candidates": {**step, "step": 250},
        "weight": Weighting("pay", at=2),
    }
    assert {each.name for each in fields(Choice)} == {
        "measure", "amount", "level", "candidates", "weight"
    }  # fmt: skip
    with table(ROWS, dimensions=["county"], measures=["emp", "pay"]) as source:

        def asked_of(given):
            return plan(_quantile(**given), source.schema)

        kinds = [plain, *({**plain, name: value} for name, value in others.items())]
        kinds += [{**kinds[-1], "weight": Weighting("emp", at=2)}, {**kinds[-1], "rho": "0.7"}]
        plans = list(map(asked_of, kinds))
        every = [quantiles.quantile_truths(planned, source) for planned in plans]
        served = 0
        for known in every:
            for planned, fresh in zip(plans, every, strict=True):
                reused = quantiles.quantile_truths_of(planned, known)
                if reused is not None:
                    assert _counts(reused) == _counts(fresh)
                    assert [each.choice for each in reused] == [each.choice for each in fresh]
                    served += reused[0] is not known[0] and known is not fresh
    assert served >= 2  # another amount


def _quantile(measure, q, candidates, **options):
    """Return a quantile by county."""
    found = range(candidates["from"], candidates["to"], candidates["step"])
    query = Query().group_by("county", keys=COUNTIES)
    return query.quantile(measure, q, candidates=[*found], name="q", **options)


def _counts(truths_found):
    """Return what was read of the records, as plain values; a scan has them in any order."""
    counts = [each.counts for each in truths_found]
    columns = [
        [revealed(part).tolist() for part in (each.cells, each.buckets, each.numbers)]
        for each in counts
    ]
    ends = [(each.low.tolist(), each.high.tolist()) for each in truths_found]
    return [sorted(zip(*each, strict=True)) for each in columns], ends

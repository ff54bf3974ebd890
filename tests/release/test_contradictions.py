"""Tables that contradict each other by more than their noise: what is published says so."""

import json
from fractions import Fraction
from math import exp

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from perrecord.cli import app
from perrecord.lab.audit.frozen import FrozenBits
from perrecord.laws import DiscreteGaussian, DiscreteLaplace, DiscreteStudent
from perrecord.mechanisms.run import run
from perrecord.queries.hierarchies import sums
from perrecord.queries.hierarchies.placing import NO_KEYS, layout_of
from perrecord.release.processing import across, fits
from perrecord.release.publish import release
from perrecord.release.spec import build, load_spec, open_table
from perrecord.released.fitting.contradictions import NoiseSizes
from tests import first
from tests.release.test_consistent import COUNTIES, FULL, prepared, query

GAUSSIAN = "emp: {sum: emp, split: moderate, rho: 0.3}"
TAPERED = "emp: {sum: emp, taper: 50, rho: 0.3}"
HEAVY = "emp: {sum: emp, taper: heavy, rho: 0.3}"
TAPERS = "tapers: {heavy: {sizes: {emp: 50}, nu: 3}}\n"
EXTRA = "post_processing: {consistent: true}\n" + TAPERS


def missing(path, employees):
    """Add establishments of a county that no list names."""
    rows = pq.read_table(path.parent / "est.parquet")
    more = {
        "county": ["01999"] * 100,
        "naics": ["1101"] * 100,
        "region": ["south"] * 100,
        "emp": [employees // 100] * 100,
        "rent": [0.0] * 100,
    }
    added = pa.table(more, schema=rows.schema)
    pq.write_table(pa.concat_tables([rows, added]), path.parent / "est.parquet")


@pytest.mark.parametrize(
    ("state", "county"),
    [(GAUSSIAN, GAUSSIAN), (TAPERED, TAPERED), (GAUSSIAN, TAPERED), (HEAVY, HEAVY)],
)
def test_a_missing_county_of_100000_employees_is_warned_of(tmp_path, state, county):
    """In methodology, manifest and on the command line, with the tables and the key."""
    queries = [
        query("state", ["state"], "states", state),
        query("county", ["county"], "counties", county),
    ]
    path = prepared(tmp_path, queries, EXTRA)
    missing(path, 100_000)
    outcome = release(path, tmp_path / "out", _bits=FrozenBits(1))
    (warning,) = outcome.warnings
    assert "the tables state and county contradict each other by more than their noise" in warning
    assert "emp in 1 key, most for state = 01" in warning
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["warnings"] == [warning]
    words = (tmp_path / "out" / "methodology.md").read_text()
    assert "## Warnings" in words
    assert "contradict each other" in words.split("## Warnings")[1]
    said = CliRunner().invoke(
        app, ["release", str(path), "--out", str(tmp_path / "out"), "--quiet"]
    )
    assert said.exit_code == 0
    assert "Warning: the tables state and county contradict" in said.output


def test_a_missing_county_shows_in_whatever_table_holds_it(tmp_path):
    """Also over two hierarchies, whose tables are not each below the next; once for each pair."""
    path = prepared(tmp_path, [*FULL[1:3], *FULL[5:]], EXTRA)
    missing(path, 100_000)
    outcome = release(path, tmp_path / "out", _bits=FrozenBits(1))
    told = [each.split(" contradict")[0] for each in outcome.warnings if "emp in" in each]
    assert told == [
        "the tables state and county",
        "the tables state_sector and county_sector",
        "the tables state_industry and county_industry",
    ]


def test_what_no_list_is_complete_for_by_design_is_no_contradiction(tmp_path):
    """Selected keys have a rest, and combinations that are not listed are not taken for nothing."""
    keep = "{domain: wide, keep: n, at_least: 28}"
    answers = f"n: {{count: records, rho: 0.5}}, {GAUSSIAN}"
    queries = [FULL[2], query("cells", ["county", "naics"], keep, answers)]
    path = prepared(tmp_path / "a", queries, EXTRA)
    assert release(path, tmp_path / "a" / "out", _bits=FrozenBits(1)).warnings == ()
    cells = pq.read_table(tmp_path / "a" / "out" / "tables" / "cells.parquet")
    assert 0 < len(cells) < 10
    few = [FULL[2], FULL[4], query("cells", ["county", "naics"], "few", GAUSSIAN)]
    path = prepared(tmp_path / "b", few, EXTRA)
    assert release(path, tmp_path / "b" / "out", _bits=FrozenBits(1)).warnings == ()


@pytest.mark.parametrize("count", first(1, [20, 60]))
@pytest.mark.parametrize("kind", [GAUSSIAN, TAPERED, HEAVY])
def test_good_releases_are_not_warned_of(tmp_path, kind, count):
    """At a false-alarm rate of 1e-6 a release, none of them is."""
    queries = [
        query("all", [], None, kind),
        query("state", ["state"], "states", kind),
        query("county", ["county"], "counties", kind),
        query("cells", ["county", "naics"], "county_industry", GAUSSIAN),
    ]
    loaded = load_spec(prepared(tmp_path, queries, EXTRA))
    with open_table(loaded) as table:
        workload = build(loaded, table.schema)
        for seed in range(count):
            answers = run(workload.plan, table, _bits=FrozenBits(seed))
            assert across(workload, answers).warnings == ()


@pytest.mark.parametrize(
    "laws",
    [
        [DiscreteGaussian(Fraction(9))] * 3,
        [DiscreteLaplace(Fraction(3))] * 3,
        [DiscreteStudent(Fraction(90), 7)] * 3,
        [
            DiscreteStudent(Fraction(90), 3),
            DiscreteGaussian(Fraction(9)),
            DiscreteLaplace(Fraction(2)),
        ],
    ],
)
def test_sums_of_noise_are_as_rare_as_is_said(laws):
    """Against the convolution of the laws themselves, cut where they hardly reach."""
    chance, reach = Fraction(1, 10**5), 400
    total, outside = np.ones(1), 0.0
    for law in laws:
        one = np.array([float(law.pmf(value).upper) for value in range(-reach, reach + 1)])
        outside += float(law.tail(reach + 1).upper) * 2
        total = np.convolve(total, one)
    middle = len(total) // 2
    beyond = np.cumsum(total[::-1])[::-1][middle:] * 2
    one = NoiseSizes.of(laws, np.arange(3), chance)
    sizes = one.summed(np.array([3]), lambda each: each.sum(keepdims=True))
    distances = np.arange(1, 1000)
    at_most = 2 * np.exp(-sizes.exponents(distances.astype(float)))
    heavy = sum(not isinstance(law, DiscreteGaussian) for law in laws)
    assert (beyond[distances] - outside <= at_most + heavy * float(chance)).all()
    assert at_most[-1] < exp(-5)  # it says something


def test_rows_of_gaussian_noise_beside_others_are_compared_by_it_alone():
    """However far apart: what is heavy elsewhere says nothing of them."""
    laws = [DiscreteGaussian(Fraction(9)), DiscreteStudent(Fraction(90), 3)]
    both = NoiseSizes.of(laws, np.array([0, 1]), Fraction(1, 10**5))
    alone = NoiseSizes.of(laws[:1], np.array([0, 0]), None)
    far = np.array([1e9, 1e9])
    assert both.exponents(far)[0] == alone.exponents(far)[0] > 1e16
    assert 0 < both.exponents(far)[1] < 1e9


@pytest.mark.parametrize("seed", first(1, range(3)))
def test_what_is_cleared_at_once_is_no_contradiction(seed):
    """The bound that clears rows is above the one that accuses them, and close to it at normal."""
    rng = np.random.default_rng(seed)
    normal, heavy = 10 ** rng.uniform(-3, 6, (2, 2000))
    normal[:500], heavy[500:1000] = 0, 0
    for farthest in 10 ** rng.uniform(-1, 5, 5):
        sizes = NoiseSizes(normal, heavy, float(farthest))
        for limit in (1.0, 20.0, 40.0):
            least = sizes.least_distances(limit)
            for share in (1.0, 0.999, rng.uniform(0, 1, 2000)):
                assert (sizes.exponents(least * share) <= limit).all()
    alone = NoiseSizes(normal[500:], normal[500:] * 0, 0.0)
    just_above = alone.least_distances(20.0) * (1 + 1e-5)
    assert (alone.exponents(just_above) > 20).all()


@pytest.mark.parametrize("few", [0, 100_000])
def test_boxes_are_fitted_and_compared_as_rows_anywhere_are(tmp_path, monkeypatch, few):
    """To the last bit: columns, and what is warned of, with and without what boxes are good for."""
    path = prepared(tmp_path, FULL, EXTRA)
    if few:
        missing(path, few)
    loaded = load_spec(path)
    with open_table(loaded) as table:
        workload = build(loaded, table.schema)
        answers = run(workload.plan, table, _bits=FrozenBits(5))
    fast, family = across(workload, answers), workload.fits[0]
    keys = [workload.plan.groupings[each.grouping].grouping.cells for each in family.members]
    layout = layout_of(
        family, workload.schema, [NO_KEYS if each is None else each for each in keys]
    )
    assert all(rows.runs is not None for rows in sums.sum_rows(family, layout))
    monkeypatch.setattr(fits, "box_factors", lambda *_: None)
    monkeypatch.setattr(sums, "_lines", lambda *_: None)
    plain = across(workload, answers)
    assert fast.warnings == plain.warnings
    assert bool(fast.warnings) == bool(few)
    for mine, theirs in zip(fast.beside, plain.beside, strict=True):
        assert mine.keys() == theirs.keys()
        for name, makings in mine.items():
            for one, other in zip(makings, theirs[name], strict=True):
                assert [(e, c.to_pylist()) for e, c in one()] == [
                    (e, c.to_pylist()) for e, c in other()
                ]


def test_a_county_is_listed(tmp_path):
    """The same data with a complete list are silent."""
    assert "01999" not in COUNTIES
    queries = [
        query("state", ["state"], "states", GAUSSIAN),
        query("county", ["county"], "counties", GAUSSIAN),
    ]
    path = prepared(tmp_path, queries, EXTRA)
    missing(path, 100_000)
    with (tmp_path / "counties.csv").open("a") as file:
        file.write("01999\n")
    assert release(path, tmp_path / "out", _bits=FrozenBits(1)).warnings == ()

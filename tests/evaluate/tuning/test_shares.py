"""Amounts shared among levels: the best there are by dense least squares, at the same cost."""

from fractions import Fraction
from math import prod

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord import Keys, Query, Split, table
from perrecord.errors import InputError
from perrecord.evaluate.accuracy.fitted import deviations_of
from perrecord.evaluate.tuning.levels import Levels, best_shares
from perrecord.evaluate.tuning.shares import CELLS, COUNTED, LEVELS, shared
from perrecord.lab.synth.industries import industry_codes
from perrecord.queries.hierarchies import families_of
from perrecord.queries.methods.blurring import Blur
from perrecord.queries.methods.parts import Parts, splitting
from perrecord.queries.plan import plan
from perrecord.release.spec import build, load_spec, open_table
from perrecord.released.fitting.trees import CellTree, chain_of, walk
from tests.cli.conftest import run
from tests.release.test_consistent import COUNTIES, INDUSTRIES, prepared, query
from tests.released.dense import dense_fit

DIGITS = (0, 2, 3, 4, 5, 6)
STATE_OF = {"county": "county", "state": "substr(county, 1, 2)"}
N = "n: {count: records, rho: 0.5}"
LEVELS_OF_SPEC = [
    query("all", [], "", N),
    query("states", ["state"], "states", N),
    query("counties", ["county"], "counties", N) + "    # the one that is quoted\n",
]


def levels_of(tree, counted):
    """Return all levels of a tree, at the same noise."""
    nodes = tuple(np.arange(each.start, each.stop) for each in walk(tree.starts))
    total = sum(map(len, nodes))
    weights = [len(each) / total if counted == CELLS else 1 / len(nodes) for each in nodes]
    return Levels(tree, nodes, (1.0,) * len(nodes), tuple(weights))


def dense_size(levels, shares):
    """Return the weighted mean variance by matrices."""
    variances = np.concatenate(
        [np.full(len(nodes), 1 / share) for nodes, share in zip(levels.nodes, shares, strict=True)]
    )
    _, fitted = dense_fit([levels.tree], np.zeros(levels.tree.size), variances)
    return sum(w * fitted[n].mean() for w, n in zip(levels.weights, levels.nodes, strict=True))


@pytest.mark.parametrize("counted", COUNTED)
@pytest.mark.parametrize(
    "tree",
    [
        CellTree(1, (np.zeros(5, np.intp),)),
        CellTree(2, (np.array([0, 0, 1]), np.array([0, 0, 0, 1, 2, 2, 2]))),
        CellTree(1, (np.array([0, 0]), np.array([0, 1]), np.array([0, 0, 1, 1, 1]))),
    ],
)
def test_no_other_shares_are_better_by_dense_least_squares(tree, counted):
    """Moved a little or a lot, in three hundred directions."""
    levels = levels_of(tree, counted)
    best = np.array(best_shares(levels))
    least = dense_size(levels, best)
    assert levels.size(best) == pytest.approx(least, rel=1e-10)
    rng = np.random.default_rng(3)
    for spread in (0.01, 0.1, 1):
        for _ in range(100):
            other = best * np.exp(spread * rng.standard_normal(len(best)))
            assert dense_size(levels, other / other.sum()) > least * (1 - 1e-7)


def test_industries_of_six_levels():
    """Equal shares are near the best where levels count equally, and far from it by cells."""
    codes = industry_codes()
    tree, _ = chain_of(
        [np.unique([code[:digits] for code in codes], return_inverse=True)[1] for digits in DIGITS]
    )
    found = {}
    for counted in COUNTED:
        levels = levels_of(tree, counted)
        best = best_shares(levels)
        found[counted] = levels.size([1 / 6] * 6) / levels.size(best), np.round(best, 2)
    assert found[LEVELS][0] == pytest.approx(1.026, abs=0.001)
    assert found[CELLS][0] == pytest.approx(1.67, abs=0.005)
    np.testing.assert_allclose(found[CELLS][1], [0.01, 0.04, 0.08, 0.13, 0.19, 0.54], atol=0.011)


@pytest.fixture(scope="module")
def source():
    """A table whose rows nobody asks for."""
    rows = pa.table({"county": ["01001"], "naics": ["1101"], "emp": [3]})
    dimensions = {**STATE_OF, "naics": "naics", "sector": "substr(naics, 1, 2)"}
    with table(rows, dimensions=dimensions, measures=["emp"]) as opened:
        yield opened


def grouped(amounts, **keys):
    """Return a count by these columns, or of all."""
    asked = Query()
    if keys:
        asked = asked.group_by(*keys, keys=Keys.from_dict(keys))
    return asked.count(rho=amounts)


STATES, SECTORS = ["01", "02"], ["11", "22"]


def test_two_hierarchies_go_by_themselves(source):
    """All four combinations: the amounts are a product, and no other product is better."""
    axes = ({"state": STATES}, {"county": COUNTIES}), ({"sector": SECTORS}, {"naics": INDUSTRIES})
    asked = {
        f"{i}{j}": grouped("0.25", **place, **kind)
        for i, place in enumerate(axes[0])
        for j, kind in enumerate(axes[1])
    }
    found = shared(asked, source.schema, CELLS)
    assert found.policy == found.before
    amounts = np.array([float(each.after.amounts[0]) for each in found.answers]).reshape(2, 2)
    assert amounts.sum() == pytest.approx(1)
    assert amounts[0, 0] * amounts[1, 1] == pytest.approx(amounts[0, 1] * amounts[1, 0], rel=1e-2)
    trees = [
        chain_of([np.array([0, 0, 0, 1]), np.arange(4)])[0],
        chain_of([np.array([0, 0, 1, 1, 1]), np.arange(5)])[0],
    ]

    def size(first, second):
        of_node = [
            np.repeat(np.array(each), np.diff(tree.starts))
            for each, tree in zip((first, second), trees, strict=True)
        ]
        spread = 1 / np.multiply.outer(*of_node)
        return dense_fit(trees, np.zeros(spread.shape), spread)[1].mean()

    best = [amounts.sum(axis=1), amounts.sum(axis=0)]
    least = size(*best)
    rng = np.random.default_rng(5)
    for _ in range(100):
        moved = [each * np.exp(0.2 * rng.standard_normal(2)) for each in best]
        assert size(*(each / each.sum() for each in moved)) > least * (1 - 1e-5)


def test_amounts_add_up_to_what_they_were_to_the_last_digit(source):
    """Whatever they were, and the policy is the same."""
    asked = {
        "a": grouped("0.1234567"),
        "b": grouped("0.3", state=STATES),
        "c": grouped("0.00001", county=COUNTIES),
    }
    found = shared(asked, source.schema, LEVELS)
    after = [each.query.answers[0].amounts[0] for each in found.queries]
    assert sum(after) == Fraction("0.1234567") + Fraction("0.3") + Fraction("0.00001")
    assert found.policy == found.before
    assert sum(each.errors_after.fitted.mean() for each in found.answers) < sum(
        each.errors_before.fitted.mean() for each in found.answers
    )


def test_a_chain_whose_keys_are_no_product(source):
    """Some counties by industry, one below the other: no share moved is better, by matrices."""
    some = Keys.from_columns(
        {"county": ["01001", "01001", "01003"], "naics": ["1101", "1102", "1101"]}
    )
    asked = {
        "a": grouped("0.5", county=COUNTIES[:2]),
        "b": Query().group_by("county", "naics", keys=some).count(rho="0.5"),
    }
    found = shared(asked, source.schema, CELLS)
    shares = [float(each.after.amounts[0]) for each in found.answers]
    tree = CellTree(2, (np.array([0, 0, 1]),))

    def size(first):
        variances = np.array([1 / first] * 2 + [1 / (1 - first)] * 3)
        return dense_fit([tree], np.zeros(5), variances)[1].mean()

    assert min(size(shares[0] + each) for each in (-0.02, 0.02)) > size(shares[0])


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        (Query().sum("emp", split=Split(emp=5), rho=1),
         Query().group_by("county", keys=Keys.from_dict({"county": COUNTIES})).sum(
             "emp", split=Split(emp=9), rho=1), "made private in different ways"),
        (Query().sum("emp", parts=Parts("state", {"01": splitting(Split(emp=5), rho=1),
                                         ...: splitting(Split(emp=5), rho=2)}), name="e"),
         Query().group_by("county", keys=Keys.from_dict({"county": COUNTIES})).sum(
             "emp", split=Split(emp=5), rho=1, name="e"), "from part to part"),
    ],
)  # fmt: skip
def test_what_stays_is_named_with_its_reason(source, first, second, reason):
    """Other methods, and parts."""
    found = shared({"a": first, "b": second}, source.schema, LEVELS)
    assert not found.answers
    assert len(found.untouched) == 2
    assert all(reason in why for _, why in found.untouched)
    assert found.policy == found.before


def test_the_tuned_spec_is_public_and_reads_no_row(tmp_path, monkeypatch):
    """Other rows, same text; comments stay, relative paths lead home, the cost is the same."""
    extra = (
        "hierarchies: [{source: areas.csv, on: county, columns: [region]}]\n"
        "post_processing: {consistent: true}\n"
    )
    regions = query("regions", ["region"], "regions", N)
    path = prepared(tmp_path, [*LEVELS_OF_SPEC[:1], regions, LEVELS_OF_SPEC[2]], extra)
    monkeypatch.chdir(tmp_path)
    ran = run("tune", path, "--goal", "Cells count  equally", "--json")
    assert ran.code == 0, ran.err
    assert "CONFIDENTIAL" not in ran.out + ran.err
    assert [row["table"] for row in ran.json()["answers"]] == ["all", "regions", "counties"]
    text = (tmp_path / "tuning/tuned.yaml").read_text()
    assert "# where cells count equally. No data was read." in text
    assert "CONFIDENTIAL" not in text
    assert "# the one that is quoted" in text
    assert "source: ../areas.csv" in text
    loaded, before = load_spec(tmp_path / "tuning/tuned.yaml"), load_spec(path)
    with open_table(loaded) as one, open_table(before) as other:
        assert build(loaded, one.schema).policy == build(before, other.schema).policy
    rows = pq.read_table(tmp_path / "est.parquet").slice(0, 7)
    pq.write_table(rows, tmp_path / "est.parquet")
    assert run("tune", path, "--goal", "cells count equally").code == 0
    assert (tmp_path / "tuning/tuned.yaml").read_text() == text


@pytest.mark.parametrize(
    ("options", "extra", "said"),
    [
        (["--goal", "5% for 95% of cells"], "post_processing: {consistent: true}\n", "alone"),
        (["--cap", "a shop: 1"], "post_processing: {consistent: true}\n", "--cap"),
        ([], "post_processing: {}\n", "post_processing: {consistent: true}"),
    ],
)
def test_what_does_not_go_with_it_is_refused(tmp_path, monkeypatch, options, extra, said):
    """Other goals, caps, and specs whose tables are not made consistent."""
    path = prepared(tmp_path, LEVELS_OF_SPEC, extra)
    monkeypatch.chdir(tmp_path)
    ran = run("tune", path, "--goal", "levels count equally", *options)
    assert ran.code != 0
    assert said in ran.err
    assert not (tmp_path / "tuning").exists()


def test_other_words_are_refused(source):
    """Only what is documented."""
    with pytest.raises(InputError, match="expected 'levels count equally' or"):
        shared({"a": grouped(1)}, source.schema, "all count equally")


def test_a_million_combinations_are_never_written_out(source):
    """A product is tuned by its factors."""
    keys = {"county": [f"{n:05d}" for n in range(1000, 2000)]}
    kinds = {"naics": [f"{n:04d}" for n in range(1000, 2000)]}
    asked = {"a": grouped(1, **keys), "b": grouped(1, **keys, **kinds)}
    found = shared(asked, source.schema, CELLS)
    assert prod(len(each.errors_after.noise) for each in found.answers) == 1000 * 1_000_000
    assert float(found.answers[1].after.amounts[0]) > 1.8


def test_totals_blurred_by_public_sizes_stay(source):
    """Their noise is not by the amount alone; errors after fitting are known all the same."""
    by = "county", "state"
    sizes = {"county": {"county": COUNTIES, "emp": [10, 0, 500, 7]},
             "state": {"state": STATES, "emp": [510, 7]}}  # fmt: skip
    keys = {"county": COUNTIES, "state": STATES}
    asked = {
        name: Query()
        .group_by(name, keys=Keys.from_dict({name: keys[name]}))
        .sum("emp", taper=50, blur=Blur("0.1", scale=sizes[name]), rho="0.2")
        for name in by
    }
    found = shared(asked, source.schema, CELLS)
    assert not found.answers
    assert all("grows with public sizes of cells" in why for _, why in found.untouched)
    planned = plan(list(asked.values()), source.schema)
    (family,) = families_of(planned).fitted
    for each in deviations_of(family, planned, (), {}):
        assert np.all(each.fitted < each.noise)
        assert len(np.unique(each.noise)) > 1

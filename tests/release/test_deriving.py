"""Derived numbers of a release: columns, errors, refusals, words; and none of it is charged."""

import json
import math
from statistics import NormalDist

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord import SpecError, table
from perrecord.errors import QueryError, SQLTextError
from perrecord.mechanisms.run import answer
from perrecord.queries.query import Query
from perrecord.release.publish import release
from perrecord.release.spec import build, load_spec, open_table, warnings_of
from tests.noise.checks import Replayed
from tests.release.test_release import ROWS, SPEC, contents, prepared

Z = NormalDist().inv_cdf(0.975)
DERIVED = """\
derived:
  herd: cattle / farms
  more: cattle - 50
  share: farms / states_total.farms
"""
WITH = SPEC.replace("post_processing:", f"{DERIVED}post_processing:").replace(
    "round: {mean: 1}", "round: {mean: 1, herd: 1}"
)


def tables(folder):
    """Return the tables of a release by name."""
    return {path.stem: pq.read_table(path).to_pylist() for path in folder.glob("tables/*.parquet")}


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """The same release without derived numbers and with them, under the same bits."""
    folder = tmp_path_factory.mktemp("derived")
    for name, spec in (("plain", SPEC), ("derived", WITH)):
        (folder / name).mkdir()
        release(prepared(folder / name, ROWS, spec), folder / name / "out", _bits=Replayed(7))
    return folder


def test_each_is_what_the_published_columns_give(released):
    """Recomputed from the published table by a few lines, with Fieller's ends."""
    found = tables(released / "derived" / "out")
    (nation,) = found["states_total"]
    for row in found["states_by_state"]:
        x, y, u, v = row["cattle"], row["farms"], row["cattle_se"], row["farms_se"]
        assert row["herd"] == pytest.approx(x / y)
        if abs(y) > 3 * v:
            assert row["herd_se"] == pytest.approx(math.hypot(u, x / y * v) / abs(y))
        else:
            assert row["herd_se"] is None
        for end in (row["herd_low"], row["herd_high"]):
            if abs(y) > Z * v:
                assert (x - end * y) ** 2 == pytest.approx(Z**2 * (u**2 + (end * v) ** 2), rel=1e-6)
            else:
                assert end is None
        assert row["herd_rounded"] == pytest.approx(round(x / y, 1), abs=0.051)
        assert row["share"] == pytest.approx(y / nation["farms"])
        assert row["more"] == pytest.approx(row["cattle"] - 50)
    assert nation["share"] == pytest.approx(1)
    assert nation["share_se"] == 0  # it is one number, above and below


def test_a_key_that_the_other_table_lacks_has_no_number(tmp_path):
    """Nothing is made up for it."""
    text = SPEC.replace(
        "      farms: {count: records, rho: 0.1}\npost",
        "      some: {count: records, rho: 0.1}\npost",
    )
    text = text.replace("keys: found\n", "keys: few\n").replace(
        "  found:", "  few: {values: {state: [TX]}}\n  found:"
    )
    spec = prepared(
        tmp_path,
        spec=f"{text}derived: {{x: farms / selected.some}}\n".replace(
            "rollup: [state]", "group_by: [state]"
        ),
    )
    release(spec, tmp_path / "out")
    found = {row["state"]: row["x"] for row in tables(tmp_path / "out")["states"]}
    assert [state for state, value in found.items() if value is not None] == ["TX"]


def test_they_cost_nothing_and_change_nothing(released):
    """The same bits give the same numbers, policy and charge."""
    plain, derived = (contents(released / name / "out") for name in ("plain", "derived"))
    assert plain["policy.json"] == derived["policy.json"]
    for name in plain:
        if name.endswith(".parquet"):
            old, new = (pq.read_table(pa.BufferReader(side[name])) for side in (plain, derived))
            assert new.select(old.column_names).equals(old)


def test_they_stand_where_their_answers_are_and_are_described(released):
    """A table without the answers has none; the package and the methodology say what they are."""
    found = tables(released / "derived" / "out")
    assert "herd" not in found["selected"][0]
    package = json.loads((released / "derived/out/datapackage.json").read_text("utf-8"))
    fields = {
        each["name"]: each
        for resource in package["resources"]
        if resource["name"] == "states_by_state"
        for each in resource["schema"]["fields"]
    }
    assert fields["herd"]["role"] == "derived"
    assert fields["herd"]["description"] == "herd = cattle / farms, from published numbers"
    assert fields["herd_low"]["description"].endswith("(95 %)")
    assert fields["herd_rounded"]["description"].startswith("herd, rounded to 1 decimals")
    words = (released / "derived/out/methodology.md").read_text("utf-8")
    assert "herd = cattle / farms" in words.replace("`", "").replace("\\", "")


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("cattle * farms", "two noisy numbers are multiplied"),
        ("cattle /", "expected names of answers, numbers, brackets"),
        ("cattle / ferms", "no answer 'ferms' in the release"),
        ("median / farms", "'median' has no standard error"),
        ("cattle / nation.farms", "no table 'nation'"),
        ("states_total.farms / states_total.cattle", "names answers of other tables alone"),
        ("farms / states_by_state.cattle", None),
        ("mean - 50", "'mean' is an average, whose error is approximate"),
        ("farms / states_by_state.mean", "Ask for its total and its count in its place"),
        ("cattle farms", "goes in double quotes"),
        ("cattle / selected.cattle", "no answer 'cattle' in the table 'selected'"),
        ("cattle --farms", "has a comment"),
        ("1e400 * cattle", "expected a number between 1e-100 and 1e100"),
        ("cattle / 1e-400", "expected a number between 1e-100 and 1e100"),
    ],
)
def test_what_cannot_be_derived_is_refused_at_its_line(tmp_path, formula, message):
    """With what was found and what there is."""
    written = f"{SPEC}derived: {{x: '{formula}'}}\n"
    loaded = load_spec(prepared(tmp_path, spec=written, ledger=False))
    with open_table(loaded) as opened:
        if message is None:
            assert build(loaded, opened.schema).derived[0].tables == {
                "states_by_state",
                "selected",
            }
            return
        with pytest.raises(SpecError, match=r"release.yaml:\d+: derived.x: .*") as caught:
            build(loaded, opened.schema)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ("{average: cattle, clamp: [0, 100], rho: 0.1}", "'farms' is an average"),
        ("{median: cattle, candidates: [0, 9], rho: 0.1}", "'farms' has no standard error"),
        ("{sum: cattle, taper: 5, blur: 0.1, rho: 0.1}", "'farms' is blurred by its own records"),
    ],
)
@pytest.mark.parametrize("place", [0, 1])
def test_each_table_must_have_an_answer_that_it_can_be_derived_from(
    tmp_path, other, message, place
):
    """One name may be a count in one table and something else in another, before it or after."""
    parts = SPEC.split("farms: {count: records, rho: 0.1}")
    answers = ["{count: records, rho: 0.1}"] * 2
    answers[place] = other
    text = "farms: ".join([parts[0], *map("".join, zip(answers, parts[1:], strict=True))])
    loaded = load_spec(prepared(tmp_path, spec=f"{text}derived: {{x: farms / 2}}\n", ledger=False))
    table = ("the table 'states_by_state'", "the table 'selected'")[place]
    with open_table(loaded) as opened, pytest.raises(SpecError) as caught:
        build(loaded, opened.schema)
    assert f"derived.x: in {table}, {message}" in str(caught.value)


@pytest.mark.parametrize("name", ["state", "cattle", "cattle_se", "mean_rounded"])
def test_a_name_that_is_taken_is_refused(tmp_path, name):
    """Every column has a name of its own."""
    written = f"{SPEC}derived: {{{name}: cattle / farms}}\n"
    loaded = load_spec(prepared(tmp_path, spec=written, ledger=False))
    with (
        open_table(loaded) as opened,
        pytest.raises(SpecError, match=f"has a column '{name}.*already"),
    ):
        build(loaded, opened.schema)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("x", "x_se"), "would have the same name as one of 'x'"),
        (("x_rounded", "x"), "would have the same name as one of 'x_rounded'"),
        (("x", "X"), "would have the same name as one of 'x'"),
        (("",), "expected a name of letters"),
        (("x\\ny",), "expected a name of letters"),
        (("Cattle",), "has a column 'cattle' already"),
    ],
)
def test_columns_of_derived_numbers_have_names_of_their_own(tmp_path, names, message):
    """Also apart from each other, and from answers in capitals."""
    written = ", ".join(f'"{name}": cattle / farms' for name in names)
    loaded = load_spec(prepared(tmp_path, spec=f"{SPEC}derived: {{{written}}}\n", ledger=False))
    with open_table(loaded) as opened, pytest.raises(SpecError) as caught:
        build(loaded, opened.schema)
    assert message in str(caught.value)


def test_an_average_whose_parts_are_published_is_pointed_out(tmp_path):
    """It pays for them twice."""
    loaded = load_spec(prepared(tmp_path))
    with open_table(loaded) as opened:
        hints = warnings_of(loaded, build(loaded, opened.schema))
    assert any("derived: {mean: cattle / farms} costs nothing" in each for each in hints)
    alone = SPEC.replace("      farms: {count: records, rho: 0.1}\n      cattle", "      cattle")
    loaded = load_spec(prepared(tmp_path / "alone", spec=alone))
    with open_table(loaded) as opened:
        hints = warnings_of(loaded, build(loaded, opened.schema))
    assert not any("costs nothing" in each for each in hints)


def test_from_python(tmp_path):
    """The same columns of the answers of a session."""
    farms = table(pa.table(ROWS), dimensions=["state"], measures={"cattle": 1})
    query = Query().count(name="farms", rho=1).sum("cattle", name="cattle", clamp=(0, 100), rho=1)
    (found,) = answer(farms, query.median("cattle", name="middle", candidates=[0, 9], rho=1))
    (row,) = found.with_derived({"herd": "cattle / farms"}, "0.9").to_pylist()
    assert row["herd"] == pytest.approx(row["cattle"] / row["farms"])
    assert row["herd_low"] < row["herd"] < row["herd_high"]
    assert "herd_low" not in found.with_derived({"herd": "cattle / farms"}, None).column_names
    for formulas, error in (
        ({"x": "cattle / horses"}, QueryError),
        ({"x": "middle / farms"}, QueryError),
        ({"cattle": "cattle / farms"}, QueryError),
        ({"x": "cattle farms"}, SQLTextError),
    ):
        with pytest.raises(error):
            found.with_derived(formulas)


@pytest.mark.parametrize(
    "formula", ["farms / by-st.farms", "farms / big st.farms", "farms / by-st"]
)
def test_a_name_that_sql_reads_as_several_is_to_be_quoted(tmp_path, formula):
    """Whatever would have come of reading it so; quoted it is read."""
    name = "by-st" if "by-st" in formula else "big st"
    spec = SPEC.replace("name: states\n", "name: by-st\n")
    if name != "by-st":
        spec = SPEC.replace(
            "      farms:", "      big st: {count: records, rho: 0.1}\n      farms:", 1
        )
    written = f"{spec}derived: {{x: '{formula}'}}\n".replace("rollup: [state]", "group_by: [state]")
    loaded = load_spec(prepared(tmp_path, spec=written, ledger=False))
    with open_table(loaded) as opened, pytest.raises(SpecError) as caught:
        build(loaded, opened.schema)
    assert f'goes in double quotes: "{name}"' in str(caught.value)
    assert "NC" not in str(caught.value)


def test_formulas_of_answers_of_a_session_are_of_counts_and_totals():
    """Averages and medians are refused from Python too."""
    farms = table(pa.table(ROWS), dimensions=["state"], measures={"cattle": 1})
    query = Query().average("cattle", name="mean", clamp=(0, 100), rho=1)
    (found,) = answer(farms, query.count(name="farms", rho=1))
    with pytest.raises(QueryError, match="'mean' is an average, whose error is approximate"):
        found.with_derived({"x": "mean / farms"})

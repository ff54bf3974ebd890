"""Goals, caps, the frontier, shares over levels and two variants: the library's numbers, each."""

import html
import re
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord.evaluate.accuracy.truths import truths
from perrecord.evaluate.losses.alike import alike_records
from perrecord.evaluate.tuning.of_spec import queries_of, tuned_workload
from perrecord.evaluate.tuning.senses import LossAt, sizes
from perrecord.evaluate.tuning.shares import divided, shared
from perrecord.evaluate.tuning.standing import standing
from perrecord.evaluate.tuning.tune import shown_amounts, shown_goal
from perrecord.exact import amount_up
from perrecord.release.checking import checked_release
from perrecord.release.spec import build, open_table, parse_spec
from perrecord.report.numbers import amount, percent
from perrecord.studio.accuracy import DataErrors
from perrecord.studio.doors import StudioDoor
from tests.cli.conftest import SOURCE, run
from tests.studio.conftest import visiting

SPEC = """\
title: Establishments
source: est.parquet
table: est
id: id
dimensions: {county: county, state: "substr(county, 1, 2)"}
measures: {emp: 1}
splits: {moderate: {emp: 50}}
keys:
  counties: {values: {county: ["37001", "48001"]}}
budget: {rho: 9, splits: [moderate]}
ledger: est.ledger
post_processing: {consistent: true}
queries:
  - name: counties
    group_by: [county]
    keys: counties
    answers:
      firms: {count: records, rho: 0.1}   # cheap
      employees: {sum: emp, split: moderate, rho: 0.2}   # dear
      middle: {median: emp, candidates: [0, 50, 100, 200], rho: 0.02}
  - name: nation
    answers:
      firms: {count: records, rho: 0.3}
examples:
  - {name: a corner shop, emp: 3, county: "37001"}
  - {name: a plant, emp: 150, county: "37001"}
"""
GOAL = "5% for 90% of cells"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Whoever has entered one studio, with synthetic data, for all tests of this module."""
    folder = tmp_path_factory.mktemp("choosing")
    pq.write_table(SOURCE, folder / "est.parquet")
    rows = {
        "id": range(300),
        "county": ["37001"] * 200 + ["48001"] * 100,
        "emp": [1 + (n * n) % 190 for n in range(300)],
    }
    pq.write_table(pa.table(rows), folder / "synthetic.parquet")
    (folder / "release.yaml").write_text(SPEC, "utf-8")
    with visiting(folder / "release.yaml", str(folder / "synthetic.parquet")) as found:
        yield found


@pytest.fixture
def visitor(served):
    """The same, with the spec as it was at the beginning."""
    served.path.write_text(SPEC, "utf-8")
    served.post("/dismiss")
    return served


@pytest.fixture(scope="module")
def tuned(served):
    """What the library finds for one goal, and the text that it was asked for."""
    text = f'{SPEC}tuning: {{goals: {{"*": {GOAL}}}}}\n'
    with opened(served, text) as (loaded, workload, table):
        return text, tuned_workload(loaded, workload, table, [GOAL], caps={})


class opened:  # noqa: N801 - used as a function
    """Give a text as the library reads it, beside the synthetic data."""

    def __init__(self, visitor, text):
        self.loaded = parse_spec(text, visitor.path)
        self.table = open_table(self.loaded, str(visitor.path.with_name("synthetic.parquet")))

    def __enter__(self):
        return self.loaded, build(self.loaded, self.table.schema), self.table

    def __exit__(self, *_):
        self.table.close()


def part(visitor, address):
    """Return a part of the page, as text with its tags."""
    status, _, text = visitor.ask(address)
    assert status == 200, text
    return html.unescape(text)


def cells(text, mark):
    """Return the cells of the rows that have a mark, by its value."""
    found = re.findall(rf'<tr {mark}="([^"]*)".*?>(.*?)</tr>', text, re.DOTALL)
    return [(name, re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)) for name, row in found]


# -- goals and caps ----------------------------------------------------------------------------


def test_goals_and_caps_are_kept_in_the_spec(visitor):
    """Typed one by one, changed and taken out again; every other character stays."""

    def wish(kind, name, value, was=""):
        visitor.post("/wish", kind=kind, name=name, value=value, was=was)

    wish("goals", "*", GOAL)
    assert visitor.text() == f'{SPEC}tuning: {{goals: {{"*": {GOAL}}}}}\n'
    wish("goals", "counties.employees", "2 % for 80 % of the cells")
    wish("caps", "a plant", "2.5")
    wish("caps", "a corner shop", "1/3")
    loaded = parse_spec(visitor.text(), visitor.path)
    assert dict(loaded.spec.tuning.goals) == {
        "*": GOAL, "counties.employees": "2 % for 80 % of the cells"
    }  # fmt: skip
    assert dict(loaded.spec.tuning.caps) == {
        "a plant": Fraction(5, 2), "a corner shop": Fraction(1, 3)
    }  # fmt: skip
    kept = dict(re.findall(r'data-kept="([^"]+)">(\w+)<', visitor.page()))
    assert kept == {"a plant": "yes", "a corner shop": "no"}
    assert loaded.deciding == parse_spec(SPEC, visitor.path).deciding
    wish("caps", "a plant", "", "2.5")
    wish("caps", "a corner shop", "", "1/3")
    wish("goals", "counties.employees", "", "2 % for 80 % of the cells")
    wish("goals", "*", "", GOAL)
    assert visitor.text() == SPEC
    visitor.post("/undo", version=visitor.version())
    assert GOAL in visitor.text()


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        ("goals", "*", "very accurate"),
        ("goals", "counties.firms", "firms: 5% for 90% of cells"),
        ("goals", "*", "5% for 90% of cells}\nbudget: {rho: 99}"),
        ("caps", "a plant", "0"),
        ("caps", "a plant", "much"),
        ("caps", "a plant", "1, other: 2"),
        ("budget", "rho", "99"),
    ],
)
def test_what_is_neither_goal_nor_cap_is_said_and_not_written(visitor, kind, name, value):
    """Whatever a form sends, the file stays as it is."""
    visitor.post("/wish", kind=kind, name=name, value=value, was="")
    assert visitor.text() == SPEC
    assert 'class="notice"' in visitor.page()


def test_a_goal_that_somebody_else_changed_is_left(visitor):
    """Both are named, so that neither is lost."""
    theirs = f"{SPEC}tuning: {{goals: 7% for 70% of cells}}\n"
    visitor.path.write_text(theirs)
    visitor.post("/wish", kind="goals", name="*", value=GOAL, was="")
    assert visitor.text() == theirs
    page = html.unescape(visitor.page())
    assert "'7% for 70% of cells'" in page
    assert f"'{GOAL}'" in page


def test_what_was_found_is_what_tune_finds(visitor, tuned):
    """Amounts, shares of cells, losses and every point of the frontier; the spec is marked on it.

    Taken with one click it is in the text, value by value in its place, and can be undone.
    """
    text, wanted = tuned
    visitor.path.write_text(text)
    visitor.post("/find")
    shown = part(visitor, "/found")
    figures = [
        (
            f"{each.table}.{each.before.name}",
            [
                shown_amounts(each.before),
                shown_amounts(each.after),
                percent(each.met_before),
                percent(each.met_after),
            ],
        )
        for each in wanted.answers
    ]
    assert cells(shown, "data-answer") == figures
    goals = [shown_goal(each) for each in wanted.answers]
    assert re.findall("data-goal>(.*?)<", shown) == goals
    losses = {name: [amount(a), amount(b)] for name, a, b, _ in wanted.losses}
    assert {name: row[:2] for name, row in cells(shown, "data-of")} == losses
    rows = [row for row in wanted.frontier.to_pylist() if row["of"] == "the loss at 99%"]
    points = [(row["policy"], [amount(row["times"]), amount(row["loss"])]) for row in rows]
    lines = [each for each in cells(shown, "data-line") if each[0] != "least possible"]
    assert sorted(lines) == sorted(points)
    assert shown.count("<polyline") == len({row["policy"] for row in rows}) + 1
    assert marked(visitor, "the spec as it is now") == mark_of(visitor, text, wanted)
    visitor.post("/take")
    taken = visitor.text()
    with opened(visitor, taken) as (_, workload, _):
        assert workload.policy == wanted.policy
    for name, comment in (("firms", "# cheap"), ("employees", "# dear")):
        assert re.search(rf"^      {name}: {{.*}}   {comment}$", taken, re.MULTILINE)
    assert taken.count("\n") == text.count("\n")
    assert "The spec has these values." in part(visitor, "/found")
    times, loss = marked(visitor, "the spec as it is now")
    assert (times, loss) == mark_of(visitor, taken, wanted)
    assert float(times) <= 1
    assert loss == marked(visitor, "what was found")[1]
    visitor.post("/undo", version=visitor.version())
    assert visitor.text() == text
    other = text.replace("rho: 0.3", "rho: 0.4")  # to which it is no answer
    visitor.path.write_text(other)
    assert "Find the values again" in part(visitor, "/found")
    visitor.post("/take")
    assert visitor.text() == other
    assert "nothing was taken" in visitor.page()


def test_caps_are_kept_by_what_is_found(visitor):
    """The other way round: the errors are as small as the caps allow."""
    visitor.path.write_text(
        f"{SPEC}tuning: {{goals: {{counties.firms: {GOAL}}}, caps: {{a plant: 2.2}}}}\n"
    )
    visitor.post("/find")
    assert "a plant to lose at most 2.2" in part(visitor, "/found")
    visitor.post("/take")
    kept = dict(re.findall(r'data-kept="([^"]+)">(\w+)<', visitor.page()))
    assert kept == {"a plant": "yes"}


def test_the_command_takes_goals_and_caps_from_the_spec(visitor, tuned, monkeypatch):
    """As the studio does; an option takes the place of what the spec says."""
    asked = []

    def tune(*given, **named):
        asked.append((given[3], named["caps"]))
        return tuned[1]

    monkeypatch.setattr("perrecord.evaluate.tuning.of_spec.tuned_workload", tune)
    monkeypatch.setattr("perrecord.cli.tune._write", lambda *_, **__: "report")
    monkeypatch.chdir(visitor.path.parent)
    wishes = f"{{goals: {{counties.firms: {GOAL}}}, caps: {{a plant: 2}}}}"
    visitor.path.write_text(f"{SPEC}tuning: {wishes}\n")
    public = ("--source", "synthetic.parquet", "--public", "--quiet")
    for more in ((), ("--goal", "1% for 9% of cells", "--cap", "a corner shop: 7")):
        assert run("tune", "release.yaml", *public, *more).code == 0
    assert asked == [
        ([f"counties.firms: {GOAL}"], {"a plant": Fraction(2)}),
        (["1% for 9% of cells"], {"a corner shop": "7"}),
    ]


def marked(visitor, name):
    """Return the times and the loss that a mark of the frontier has."""
    words = re.search(rf'data-mark="{name}">(.*?)</li>', part(visitor, "/found"))[1]
    loss, times = re.search(r"is (\S+) rho, errors (\S+) times", words).groups()
    return times, loss


def mark_of(visitor, text, found):
    """Return where the library has a text stand beside what was found."""
    with opened(visitor, text) as (_, workload, table), alike_records(table) as records:
        names = ["counties", "nation"]
        numbers = [(names[each.query], each) for each in truths(workload.plan, table)]
        ((loss,),) = sizes([workload.policy], [LossAt(Fraction(99, 100))], records)
        return amount(standing(numbers, found)), amount(loss)


# -- shares over levels ------------------------------------------------------------------------


def test_shares_over_levels_are_the_librarys_and_can_be_moved(visitor):
    """Amounts and errors of every table; moved, their sum stays to the last digit."""
    assert levels_shown(visitor) == levels_of(visitor, SPEC)
    form = {"family": "0", "place": "1", "table": "nation", "answer": "firms", "was": "75"}
    visitor.post("/share", **form, share="50")
    assert visitor.text() == SPEC.replace("records, rho: 0.1}", "records, rho: 0.2}").replace(
        "records, rho: 0.3}", "records, rho: 0.2}"
    )
    assert levels_shown(visitor) == levels_of(visitor, visitor.text())
    before = visitor.text()
    for wrong in ({"share": "100"}, {"share": "x"}, {"table": "counties"}, {"place": "7"}):
        visitor.post("/share", **(form | {"share": "20"} | wrong))
        assert visitor.text() == before
        assert 'class="notice"' in visitor.page()
    visitor.post("/share", counted="levels count equally")
    with opened(visitor, before) as (_, workload, table):
        best = shared(queries_of(workload), table.schema, "levels count equally")
    with opened(visitor, visitor.text()) as (_, workload, _):
        assert workload.policy == best.policy
    amounts = [row["amount_after"] for row in best.to_arrow().to_pylist()]
    assert sum(map(Fraction, map(str, amounts))) == Fraction(4, 10)
    assert [row[1][0] for row in levels_shown(visitor)] == [amount(each, 4) for each in amounts]


def levels_shown(visitor):
    """Return the amount, the standard error and the fitted one of every table of the panel."""
    rows = cells(part(visitor, "/levels"), "data-level")
    return [(name, [row[0], row[2], row[3]]) for name, row in rows]


def levels_of(visitor, text):
    """Return the same as the library has it."""
    with opened(visitor, text) as (_, workload, table):
        found = divided(queries_of(workload), table.schema, {})
        rows = found.to_arrow().to_pylist()
        noise = [float(each.errors_before.noise[0]) for each in found.answers]
    return [
        (
            f"{row['table']}.{row['answer']}",
            [
                amount(row["amount_before"], 4),
                amount(own),
                amount(row["consistent_error_before"]),
            ],
        )
        for row, own in zip(rows, noise, strict=True)
    ]


# -- two variants ------------------------------------------------------------------------------


def test_two_variants_stand_side_by_side(visitor):
    """Losses, noise and errors of the text at a step, and of the present one; medians too."""
    visitor.choose("0/employees", amount="0.8")
    visitor.choose("0/middle", amount="0.5")
    now = visitor.text()
    visitor.post("/compare", step="0")
    rows = dict(cells(part(visitor, "/beside"), "data-row"))
    public = DataErrors(StudioDoor("public", str(visitor.path.with_name("synthetic.parquet"))))
    wanted = {}
    for place, text in enumerate((SPEC, now)):
        with opened(visitor, text) as (loaded, workload, _):
            checked = checked_release(loaded, workload)
            for name, loss in checked.losses:
                wanted.setdefault(name, ["", ""])[place] = amount_up(loss)
            errors = public.of(loaded, workload)
        for each in errors:
            name = f"{each.table}, {each.answer}, cells of {each.size}"
            wanted.setdefault(name, ["", ""])[place] = percent(each.within)
    shown = {name: [re.sub(r"<span.*", "", each) for each in row] for name, row in rows.items()}
    assert {name: shown[name] for name in wanted} == wanted
    assert wanted["a plant"][0] != wanted["a plant"][1]
    assert any(name.startswith("counties, middle, ") for name in wanted)
    visitor.post("/compare", step="")
    assert "data-row" not in part(visitor, "/beside")
    visitor.post("/compare", step="99999")
    assert "this step is not there" in visitor.page()


def test_a_mistake_hides_these_panels_and_they_come_back(visitor):
    """They say why, and none of them fails."""
    visitor.path.write_text(SPEC.replace("split: moderate", "split: modrate"))
    for address in ("/levels", "/ledger"):
        assert visitor.ask(address)[0] == 409
    for address in ("/find", "/take"):
        visitor.post(address)
        assert 'class="notice"' in visitor.page()
    visitor.path.write_text(SPEC)
    assert visitor.ask("/levels")[0] == 200


def test_every_choice_has_a_link_to_its_part_of_the_guide(visitor):
    """Beside every field that is filled in, and every panel; each part is there."""
    _, _, guide = visitor.ask("/guide")
    panels = ("/found", "/levels", "/beside", "/ledger", "/errors", "/curves")
    text = visitor.page() + "".join(part(visitor, each) for each in panels)
    linked = set(re.findall(r'href="/guide#(\w+)"', text))
    assert linked <= set(re.findall(r'<section id="(\w+)"', guide))
    assert linked >= {
        "table", "methods", "sizes", "amounts", "goals", "caps", "hints", "levels", "beside",
        "release", "errors", "curves", "policy",
    }  # fmt: skip

"""What the browser gets: the page and its slower panels, as HTML made of facts."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from perrecord.evaluate.tuning.of_spec import DEFAULT_GOAL
from perrecord.exact import amount_up
from perrecord.policy.terms import Currency
from perrecord.preview import losses_of
from perrecord.queries.hierarchies.following import followed
from perrecord.release.changes import PERCENTS
from perrecord.release.spec import LoadedSpec, Workload
from perrecord.release.spec.questions import EVERY
from perrecord.report.numbers import amount, amount_down, percent
from perrecord.studio.accuracy import SizeErrors
from perrecord.studio.choices import METHODS, AnswerChoices
from perrecord.studio.doors import CLOSED, StudioDoor
from perrecord.studio.drawing import DrawnLine, curve_picture
from perrecord.studio.facts import Curves, Facts
from perrecord.studio.wishes import wishes_of
from perrecord.studio.workbench import StudioState, current
from perrecord.version import VERSION


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One answer of the middle panel: what is chosen, and the noise that follows."""

    choices: AnswerChoices
    shown: dict[str, str]
    noises: tuple[tuple[str, str, tuple[tuple[str, Fraction], ...]], ...]
    """For each grouping: by what, its noise in words, and what example records lose by it."""

    @property
    def has_goal(self) -> bool:
        """Whether tuning could reach a goal of it: one noise, which does not grow by blurring."""
        return self.choices.blur is None and all(noise for _, noise, _ in self.noises)


def page(shown: StudioState, name: str, door: StudioDoor = CLOSED) -> str:
    """Return the whole page."""
    facts = shown.facts
    return template("page.html.jinja").render(
        shown=shown,
        facts=facts,
        name=name,
        door=door,
        queries=[] if facts.loaded is None else list(_queries(facts, facts.loaded)),
        table=None if facts.loaded is None else _table(facts.loaded, facts.workload),
        methods=METHODS,
        charge=[] if facts.checked is None else list(facts.checked.policy.lines()),
        amount_up=amount_up,
        currency=currency_of(facts),
        version=VERSION,
        lines=facts.text.count("\n") + 1,
        wishes=wishes_of(None if facts.loaded is None else facts.loaded.spec),
        every=EVERY,
        default_goal=DEFAULT_GOAL,
        caps=dict(_capped(facts)),
    )


def curves_panel(curves: Curves, currency: str) -> str:
    """Return what a record of any size loses, and what a change would cost, as one panel."""
    return template("curves.html.jinja").render(
        pictures=list(_pictures(curves)),
        raised=curves.raised,
        amount_up=amount_up,
        currency=currency,
    )


def errors_panel(errors: tuple[SizeErrors, ...], door: StudioDoor) -> str:
    """Return how accurate the answers would be, by table and size of cell, as one panel."""
    answers: dict[tuple[str, str], list[tuple[str, int, str, str]]] = {}
    for each in errors:
        row = each.size, each.cells, percent(each.median), percent(each.within)
        answers.setdefault((each.table, each.answer), []).append(row)
    grouped = [(table, answer, rows) for (table, answer), rows in answers.items()]
    return template("errors.html.jinja").render(answers=grouped, door=door, limit=percent(0.05))


def guide() -> str:
    """Return the short guide to the choices."""
    return template("guide.html.jinja").render()


def currency_of(facts: Facts) -> str:
    """Return the word for losses: rho or epsilon."""
    is_rho = facts.checked is None or facts.checked.policy.currency is Currency.RHO
    return "rho" if is_rho else "epsilon"


def _queries(facts: Facts, loaded: LoadedSpec) -> Iterator[tuple[str, str, str, list[AnswerRow]]]:
    """Yield each query: name, title, by what, and its answers."""
    noises: dict[tuple[int, str], list[tuple[str, str, tuple[tuple[str, Fraction], ...]]]] = {}
    examples = {} if facts.workload is None else dict(facts.workload.examples)
    for _, each in () if facts.checked is None else facts.checked.answers:
        by = ", ".join(each.grouping) or "total"
        found = (by, each.shown() if each.deviations else "", losses_of(each.policy, examples))
        noises.setdefault((each.query, each.name), []).append(found)
    for number, query in enumerate(loaded.spec.queries):
        rows = [
            AnswerRow(each, current(each), tuple(noises.get((number, each.name), ())))
            for each in facts.choices
            if each.query == number
        ]
        by = "SQL" if query.sql is not None else ", ".join(query.group_by or query.rollup or ())
        yield query.name, query.title or query.name, by, rows


def _capped(facts: Facts) -> Iterator[tuple[str, bool]]:
    """Yield each example that has a cap, and whether its loss keeps it."""
    if facts.loaded is not None and facts.checked is not None:
        losses = dict(facts.checked.losses)
        for name, cap in facts.loaded.spec.tuning.caps.items():
            if name in losses:
                yield name, losses[name] <= cap


def _table(loaded: LoadedSpec, workload: Workload | None) -> dict[str, list[tuple[str, str]]]:
    """Return names and types of what the table has; no value of it."""
    spec = loaded.spec
    kinds = {} if workload is None else {e.name: e.kind.value for e in workload.schema.dimensions}
    return {
        "dimensions": [(name, kinds.get(name, "")) for name in spec.dimensions],
        "measures": [
            (name, f"rounded to {amount_up(each.resolution)}")
            for name, each in spec.measures.items()
        ],
        "keys": [(name, _form(entry.model_fields_set)) for name, entry in spec.keys.items()],
        "hierarchy": [] if workload is None else list(_hierarchy(workload)),
        "splits": [(name, _form(entry.model_fields_set)) for name, entry in spec.splits.items()],
        "tapers": [
            (name, ", ".join(f"{m} {amount_up(size)}" for m, size in entry.sizes.items()))
            for name, entry in spec.tapers.items()
        ],
    }


def _hierarchy(workload: Workload) -> Iterator[tuple[str, str]]:
    """Yield each dimension that others follow from, and these: a county, and its state."""
    schema = workload.schema
    for name in schema.dimension_names:
        others = followed(schema, [name], workload.hierarchies).keys() - {name}
        if others:
            yield name, f"fixes {', '.join(sorted(others))}"


def _form(given: set[str]) -> str:
    return ", ".join(sorted(given))


def _pictures(curves: Curves) -> Iterator[tuple[str, Markup, list[DrawnLine]]]:
    table = curves.by_size
    rows = table.to_pylist()
    for measure in dict.fromkeys(table["measure"].to_pylist()):
        own = [row for row in rows if row["measure"] == measure]
        names = {"presence": "to be in the data at all"}
        names |= {f"{each}_percent_more": f"{each} % more" for each in PERCENTS}
        lines = [
            DrawnLine(words, tuple((row["size"], row[column]) for row in own))
            for column, words in names.items()
        ]
        title = f"Loss of a record by its {measure}"
        yield measure, curve_picture(title, f"{measure} of the record", "loss", lines), lines


def asset(name: str) -> str:
    """Return a style or a script of ours."""
    beside = ("perrecord.release" if name == "base.css" else "perrecord.studio", name)
    return files(beside[0]).joinpath("assets", beside[1]).read_text("utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=ChoiceLoader(
            [PackageLoader(f"perrecord.{name}", "assets") for name in ("studio", "panels")]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"figure": amount, "figure_down": amount_down, "percent": percent}
    return environment


def template(name: str) -> Template:
    """Return one of the templates."""
    return _environment().get_template(name)

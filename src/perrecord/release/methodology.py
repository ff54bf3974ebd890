"""`methodology.md`: what was released, how, and under which guarantee, in words and formulas."""

from collections.abc import Iterator, Sequence

from perrecord.exact import figure_up, text
from perrecord.policy.cases import Record
from perrecord.policy.terms import Currency
from perrecord.preview import Expected, expected
from perrecord.queries.answers import Answer
from perrecord.queries.groupings import Grouping, SelectCells, SelectKeys
from perrecord.release.attack import (
    estimates,
    recognised,
    recognised_at_most,
    told_apart,
    told_apart_at_most,
)
from perrecord.release.document import PublishedPolicy
from perrecord.release.label_words import labels_section
from perrecord.release.linked_words import changes_section
from perrecord.release.markdown import code, inline, paragraph
from perrecord.release.noise_words import noise_section
from perrecord.release.series_words import series_section
from perrecord.release.spec import Workload
from perrecord.tables.expressions import Column, describe
from perrecord.tables.keys import Keys

WARNINGS = "## Warnings"
"""The heading of what is wrong with a release, which only its numbers show."""


def methodology(workload: Workload, published: PublishedPolicy) -> str:
    """Return the method of a release as Markdown; it is written from public facts alone."""
    return (
        "\n".join(
            [
                *_head(workload),
                *changes_section(workload.schema),
                *_policy(workload, published),
                *series_section(published),
                *_dimensions(workload),
                *labels_section(workload),
                *_measures(workload),
                *_tables(workload),
                *_following(workload),
                *noise_section(workload, published),
            ]
        )
        + "\n"
    )


def _head(workload: Workload) -> Iterator[str]:
    currency = workload.policy.currency
    yield f"# {inline(workload.title)}: methodology"
    yield ""
    if workload.description:
        yield from (paragraph(workload.description), "")
    yield (
        f"The tables of this release satisfy {currency.promise}: adding or removing one record r "
        "changes what can be seen in them by no more than the *policy* P(r), which is published in "
        "full beside them (`policy.json`; `policy.html` computes it for any record you type in)."
    )
    if currency is Currency.RHO and not workload.policy.slots:
        yield (
            "In formulas: for every record r and every alpha > 1, the Rényi divergence "
            "D_alpha between the releases with and without r is at most alpha · P(r), in both "
            "directions."
        )
    elif currency is Currency.RHO:
        yield (
            "Some keys are selected from the data, which cannot be done without a small chance of "
            "failure, so the guarantee is the approximate one, (P, delta)-PRzCDP: for every record "
            "r, with and without it, there are events of probability at least 1 - delta(r) given "
            "which the Rényi divergence D_alpha is at most alpha · P(r), for every alpha > 1. "
            "delta(r) is published with the policy; for a large record that is alone in its key "
            "it is near 1, which means that the key, and so the record, is openly revealed."
        )
    else:
        yield (
            "In formulas: no outcome is more than exp(P(r)) times as likely with r as without it, "
            "or the other way round."
        )
    yield ""


def _policy(workload: Workload, published: PublishedPolicy) -> Iterator[str]:
    yield "## The policy"
    yield ""
    yield "```"
    yield workload.policy.describe()
    yield "```"
    yield ""
    yield f"The least that any record can lose is {text(workload.policy.minimum())}."
    yield (
        "Noise hides small records better than large ones. A record that is large compared with "
        "the noise can be recognised by someone who knows the others, and its values can be "
        "estimated closely."
    )
    if not workload.examples:
        yield "`policy.html` says what the policy means for any record that is typed in."
    else:
        yield (
            "What that means for some invented records, if somebody knows every other record: how "
            "often a test with 5 % false alarms recognises them, and the standard error with which "
            "their values could be estimated."
        )
        yield ""
        yield "| example | loss | recognised | values estimated to within |"
        yield "|---|---|---|---|"
        for name, record in workload.examples:
            loss = workload.policy.bounded_loss(record)
            seen, near = _recognised(published, record), _estimated(published, record)
            yield f"| {inline(name)} | {loss} | {seen} | {near} |"
    yield ""
    yield from (_unit(published), "")
    yield from _changes(published)


def _unit(published: PublishedPolicy) -> str:
    """Return what a unit is in this release, and how its loss is found (T34)."""
    owner = (
        "nothing in it says which records belong together"
        if published.unit_column is None
        else f"records of the same {code(published.unit_column)} belong together, as one unit"
    )
    return (
        f"The policy is that of one record. In this table {owner}. Anyone with several records "
        "loses more than any one of them does: `perrecord policy --records` adds up, cell by "
        "cell, what they lose together."
    )


def _changes(published: PublishedPolicy) -> Iterator[str]:
    """Yield what it costs that an example's value is greater, and what that means (T27)."""
    if not published.changes:
        return
    yield (
        "How well could somebody tell a value from a somewhat greater one? That depends on what "
        "the change from one to the other costs, which counts only what differs. The table "
        "gives the loss of the change, and how often somebody who knows everything else tells "
        "the two apart by a test with 5 % false alarms. A greater value is rounded up to the "
        "measure's resolution, and cut to its largest value."
    )
    yield ""
    yield "| example | value | greater by | loss of the change | told apart |"
    yield "|---|---|---|---|---|"
    for each in published.changes:
        loss = text(each.loss.amount) if each.loss.is_exact else str(each.loss)
        most = _at_most(told_apart_at_most(each.loss, each.delta, published.total.currency))
        about = told_apart(published, *each.records, each.loss)
        seen = most if about is None else f"about {100 * about:.3g} %, {most}"
        value = f"{inline(each.measure)}: {text(each.value)}"
        yield f"| {inline(each.example)} | {value} | {each.percent} % | {loss} | {seen} |"
    yield ""


def _recognised(published: PublishedPolicy, record: Record) -> str:
    most = _at_most(recognised_at_most(published, record))
    about = recognised(published, record)
    return most if about is None else f"about {100 * about:.3g} %, {most}"


def _at_most(chance: float) -> str:
    """Return a limit in words; what is added to it for the errors of floats is taken off again."""
    return f"at most {figure_up(100 * chance / (1 + 1e-9), 3)} %"


def _estimated(published: PublishedPolicy, record: Record) -> str:
    shown = [
        f"{inline(each.measure)}: {'at least ' if each.is_least else ''}about {each.error:,.3g}"
        + ("" if each.relative is None else f" ({100 * each.relative:,.3g} %)")
        for each in estimates(published, record)
        if each.error is not None
    ]
    if published.operands:
        shown.append(
            "nothing is said of values that others are computed from, or that are computed "
            "themselves"
        )
    return ", ".join(shown) or "nothing reveals them"


def _dimensions(workload: Workload) -> Iterator[str]:
    derived = [each for each in workload.schema.dimensions if each.expression != Column(each.name)]
    if not derived:
        return
    yield "## Derived dimensions"
    yield ""
    for each in derived:
        yield f"- {inline(each.name)} = {code(describe(each.expression))}"
    yield ""


def _measures(workload: Workload) -> Iterator[str]:
    if not workload.schema.measures:
        return
    yield "## Measures"
    yield ""
    yield (
        "Before anything else each record's numbers are rounded to a public grid, ties away from "
        "zero; the policy sees the rounded numbers. Missing numbers add nothing to totals and are "
        "left out of averages and quantiles."
    )
    yield ""
    yield "| measure | what it is | unit | resolution | largest | beyond it |"
    yield "|---|---|---|---|---|---|"
    fields = {each.name: each for each in workload.fields}
    for name, measure in workload.schema.measures:
        rule = "counted as missing" if measure.outside == "null" else "cut to it"
        most, step = text(measure.largest * measure.resolution), text(measure.resolution)
        said = f"{inline(fields[name].label)} | {inline(fields[name].unit)}"
        yield f"| {inline(name)} | {said} | {step} | {most} | {rule} |"
    yield ""
    derived = [each for each in workload.schema.measures if each[1].expression is not None]
    if not derived:
        return
    yield (
        "Derived measures are computed exactly from each record's rounded numbers and then rounded "
        "themselves; they are missing where one of those numbers is."
    )
    yield ""
    for name, measure in derived:
        yield f"- {inline(name)} = {code(str(measure.expression))}"
    yield ""


def _tables(workload: Workload) -> Iterator[str]:
    figures = expected(workload.plan)
    for number, named in enumerate(workload.queries):
        yield f"## {inline(named.title)}"
        yield ""
        if named.query.filter is not None:
            yield f"Records: those with {code(describe(named.query.filter))}."
            yield ""
        for grouping in named.query.groupings:
            yield _cells(grouping)
            yield ""
            yield "| answer | how | P(r) | noise (standard deviation) |"
            yield "|---|---|---|---|"
            for answer in named.query.answers:
                found = next(
                    each
                    for each in figures
                    if (each.query, each.grouping, each.name)
                    == (number, grouping.columns, answer.name)
                )
                yield _row(answer, found)
            yield ""


def _following(workload: Workload) -> Iterator[str]:
    """Yield the tables that follow from others, and what they are added up from."""
    names = workload.table_names
    for table in workload.following:
        yield f"## {inline(table.title)}"
        yield ""
        of = inline(names[table.source])
        by = f"By {inline(', '.join(table.columns))}" if table.columns else "In total"
        keys = f", {_number(len(table.keys), 'key')}" if table.columns else ""
        yield (
            f"{by}{keys}: added up from the table {of}, at no cost, for "
            f"{inline(', '.join(table.answers))}. Its numbers are sums of consistent numbers, or "
            f"of the answers where {of} has no consistent ones, over the keys that {of} lists."
        )
        yield ""


def warnings_section(warnings: Sequence[str]) -> str:
    """Return what is wrong with a release, as far as its numbers show it, as its last section."""
    if not warnings:
        return ""
    lines = [f"- {inline(each[:1].upper() + each[1:])}" for each in warnings]
    return "\n".join(["", WARNINGS, "", *lines, ""])


def _cells(grouping: Grouping) -> str:
    columns = inline(", ".join(grouping.columns))
    match grouping.cells:
        case Keys() as keys:
            return (
                f"By {columns}: {_number(len(keys), 'key')}, fixed beforehand; every one is listed."
            )
        case SelectKeys() as cells:
            return (
                f"By {columns}: keys of the data whose number of split rows, plus discrete "
                f"Gaussian noise of variance 1/(2 · {text(cells.rho)}), is at least "
                f"{cells.threshold}. A record that is alone in its key can be revealed by this "
                "with the probability delta that the policy states."
            )
        case SelectCells() as cells:
            return (
                f"By {columns}: those of {_number(cells.domain.size, 'possible key')} whose noisy "
                f"{inline(cells.answer)} is at least {cells.at_least}; keys without records can "
                "be among them."
            )
        case _:
            return "In total."


def _row(answer: Answer, found: Expected) -> str:
    price = inline(found.policy.formula())
    return f"| {inline(answer.name)} | {answer.described(inline)} | {price} | {found.shown()} |"


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"

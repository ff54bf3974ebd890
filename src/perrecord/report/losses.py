"""Sections on privacy: what records and units lose, how it grows, what fitness for use costs."""

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from perrecord.evaluate.evaluation import AS_CHARGED, Evaluation, fitness_table
from perrecord.evaluate.losses.distributions import Distribution
from perrecord.queries.groupings import SelectCells
from perrecord.report.charts import Axis, Panels, curves, shares
from perrecord.report.figure import Figure, ShownTable
from perrecord.report.numbers import amount, amount_down, percent
from perrecord.report.page import Section

_SHARES = ("0.5", "0.9", "0.99", "0.999", 1)
_LEAST = "least possible"
_HEADS = ("half lose up to", "90 %", "99 %", "99.9 %", "the largest")


def of_records(found: Evaluation) -> Section:
    """Return the section on what records lose: policy and realised, and under other schemes."""
    own, currency = found.losses, found.currency.value
    named = [("policy", own.policy), ("realised", own.realised)]
    if found.otherwise is not None:
        name, other = found.otherwise
        named.insert(1, (f"policy {name}", other))
    if own.least is not None:
        named.append((_LEAST, own.least))
    both = _joined(named, "loss")
    every = [
        (variant.name, compared)
        for variant, compared in zip(found.variants, found.compared, strict=True)
    ]
    compared = _joined(every, "variant")
    minimum = float(own.minimum)
    figures = [
        Figure(
            "losses-of-records",
            "What records lose, as written",
            _gap(found),
            "For each loss, the share of the records that lose at most that much. The policy is "
            "what is promised and published; the realised loss is what the release really costs "
            "a record, which stays confidential (for a count of different values, an upper "
            "bound: as if nobody else had them). The dashed line is the policy's minimum. The "
            "least possible is what no unbiased counts and totals as accurate could undercut, "
            "whatever noise they had: for every record, the largest over its answers.",
            lambda width: shares(
                both,
                width,
                colour="loss",
                x_title=f"Loss ({currency})",
                y_title="Share of records",
                rule=minimum,
            ),
            both,
            (_quantiles(named, currency),),
        )
    ]
    if len(every) > 1:
        orders = {"variant": [each.name for each in found.variants]}
        figures.append(
            Figure(
                "losses-by-scheme",
                "Policy losses of records, scheme by scheme",
                _by_scheme(found),
                "The same for other schemes, top-codes and budgets. A top-coded total costs a "
                "large record no more than a small one.",
                lambda width: shares(
                    compared,
                    width,
                    colour="variant",
                    x_title=f"Policy loss ({currency})",
                    y_title="Share of records",
                    panels=Panels(orders=orders),
                ),
                compared,
                (_quantiles(every, currency), *_least_by_scheme(found)),
            )
        )
    return Section("What do records lose?", _above_minimum(found), figures=tuple(figures))


def of_units(found: Evaluation) -> Section | None:
    """Return the section on units, such as firms with several establishments."""
    units = found.losses.units
    if units is None or not units.realised.count:
        return None
    named = [
        ("realised", units.realised),
        ("tight bound", units.tight),
        ("advanced bound", units.advanced),
        ("simple bound", units.simple),
    ]
    if units.least is not None:
        named.append((_LEAST, units.least))
    table = _joined(named, "loss")
    finding = (
        f"Units lose up to {amount(units.tight.largest)} {found.currency.value} by the tight "
        f"bound, where the simple one says up to {amount(units.simple.largest)}. Half of them "
        f"really lose up to {amount(units.realised.quantile('0.5'))}."
    )
    figure = Figure(
        "losses-of-units",
        "What units lose, all of their records together",
        finding,
        "A unit is what several records belong to, such as a firm. The tight bound (Σ√P)² holds "
        "whatever the workload; the simple and the advanced one are the paper's. The realised "
        "loss adds up what the unit changes in each cell, and depends on its own records alone. "
        "The least possible is what no unbiased answers as accurate could undercut.",
        lambda width: shares(
            table,
            width,
            colour="loss",
            x_title=f"Loss ({found.currency.value})",
            y_title="Share of units",
        ),
        table,
        (_quantiles(named, found.currency.value),),
    )
    return Section("What do units lose?", figures=(figure,))


def by_record_size(found: Evaluation) -> Section | None:
    """Return the section on how the loss grows with the size of a record."""
    if not found.sizes.num_rows:
        return None
    sizes, names = _with_least(found), [each.name for each in found.variants]
    orders = {"policy": [*names, _LEAST]}
    figure = Figure(
        "loss-by-size",
        "Loss against the size of a record",
        _slope(found),
        "A hypothetical record that holds so much of one measure and nothing of the others. This "
        "is public: no record of the data is in it. By pieces the loss is a staircase, by exact "
        "accounting a straight line, and tapered it bends. The least possible is that of unbiased "
        "answers as accurate as those that are written.",
        lambda width: curves(
            sizes,
            width,
            x=Axis("size", "Size of the record"),
            y=Axis("loss", f"Loss ({found.currency.value})"),
            colour="policy",
            panels=Panels(column="measure", orders=orders),
            steps=True,
        ),
        sizes,
    )
    return Section("How does the loss grow?", figures=(figure,))


_LINES = {
    "presence": "to be in the data",
    "5_percent_more": "5 % more",
    "10_percent_more": "10 % more",
    "20_percent_more": "20 % more",
}
"""Of each column of what changes cost, what its line is called."""


def of_changes(found: Evaluation) -> Section | None:
    """Return the section on what it costs that a value is somewhat greater."""
    if not found.changes.num_rows:
        return None
    lines = pa.Table.from_pylist(
        [
            {"change": name, "measure": row["measure"], "size": row["size"], "loss": row[column]}
            for column, name in _LINES.items()
            for row in found.changes.to_pylist()
        ]
    )
    figure = Figure(
        "loss-of-changes",
        "What it costs to be in the data, and to be somewhat greater",
        _told(found),
        "A hypothetical record that holds so much of one measure and nothing of the others, as "
        "written. The loss of a change says how well somebody who knows everything else could tell "
        "the value from one that is 5, 10 or 20 % greater. This is public: no record of the data "
        "is in it.",
        lambda width: curves(
            lines,
            width,
            x=Axis("size", "Size of the record"),
            y=Axis("loss", f"Loss ({found.currency.value})"),
            colour="change",
            panels=Panels(column="measure", orders={"change": list(_LINES.values())}),
        ),
        lines,
    )
    return Section("How well could a greater value be told apart?", figures=(figure,))


def fit_for_use(found: Evaluation) -> Section | None:
    """Return the section on what it would cost to come within an error."""
    if not found.fitness or not found.records:
        return None
    table = fitness_table(found.fitness)
    confidence = percent(float(found.confidence))
    rows = [
        (
            percent(float(each.within)),
            each.reading,
            *(amount(each.losses.quantile(share)) for share in _SHARES),
            ", ".join(each.missed) or "–",
        )
        for each in found.fitness
    ]
    finding = _goal(found)
    figure = Figure(
        "fitness-for-use",
        "What fitness for use would cost",
        finding,
        f"Each panel is an error that cells should come within, with {confidence} probability. One "
        "rho for each answer serves 95 % of its cells. As charged is what the whole workload would "
        "then cost, by its own schemes and accounting, averages, medians and the selection of keys "
        "included; an answer that decides which cells are published keeps its amount. By exact "
        "accounting thresholds make no difference, and counts and totals alone are in it. The last "
        "is a comparison that nobody can ask for: a rho for every cell that follows from its true "
        "number. Answers that no rho serves so are named as out of reach, and left out; in the "
        "last comparison, those cells of theirs.",
        lambda width: shares(
            table,
            width,
            colour="reading",
            x_title="Policy loss (rho)",
            y_title="Share of records",
            panels=Panels(column="within"),
        ),
        table,
        (
            ShownTable(
                "Losses that goals imply",
                ("error", "reading", *_HEADS, "out of reach"),
                tuple(rows),
            ),
        ),
    )
    return Section("What would fitness for use cost?", figures=(figure,))


# -- findings ---------------------------------------------------------------------------------


def _goal(found: Evaluation) -> str:
    """Return what the first goal would cost, as somebody can ask for it."""
    first = found.fitness[0]
    within, confidence = percent(float(first.within)), percent(float(found.confidence))
    if first.missed:
        return (
            f"Within {within}, 95 % of the cells are out of reach whatever the rho for "
            f"{', '.join(first.missed)}. The first losses below are what the other answers would "
            "cost."
        )
    queries = found.variants[0].queries
    every, apart = "count and total", []
    if any(answer.is_blurred for each in queries for answer in each.answers):
        apart.append("is not blurred")
    if first.reading == AS_CHARGED:
        every = "count, total and average"
        groupings = (grouping for each in queries for grouping in each.groupings)
        if any(isinstance(each.cells, SelectCells) for each in groupings):
            apart.append("does not decide which cells are published")
    if apart:
        every += f" that {' and '.join(apart)}"
    return (
        f"For 95 % of the cells of every {every} to come within {within}, with a probability of "
        f"{confidence}, half of the records would lose up to "
        f"{amount(first.losses.quantile('0.5'))} rho, the largest {amount(first.losses.largest)}."
    )


def _above_minimum(found: Evaluation) -> str:
    if not found.records:
        return "The table has no records."
    own = found.losses
    return (
        f"{percent(own.share_above_minimum)} of the records lose more than the policy's minimum of "
        f"{amount(float(own.minimum))} {found.currency.value}; half lose up to "
        f"{amount(own.policy.quantile('0.5'))}, 99 % up to {amount(own.policy.quantile('0.99'))}, "
        f"the largest {amount(own.policy.largest)}."
    )


def _gap(found: Evaluation) -> str:
    own = found.losses
    if not found.records:
        return "There are no records that could lose anything."
    promised, real = own.policy.quantile("0.5"), own.realised.quantile("0.5")
    if not real:
        return f"Half of the records really lose nothing; they are promised {amount(promised)}."
    return (
        f"At the median, a record is promised {amount(promised)} and really loses {amount(real)}: "
        f"{amount(promised / real)} times less."
    )


def _by_scheme(found: Evaluation) -> str:
    if not found.records:
        return "There are no records that could lose anything."
    lost = {
        variant.name: compared.quantile("0.99")
        for variant, compared in zip(found.variants, found.compared, strict=True)
    }
    least, most = min(lost, key=lost.__getitem__), max(lost, key=lost.__getitem__)
    return (
        f"99 % of the records lose up to {amount(lost[least])} under {least!r}, and up to "
        f"{amount(lost[most])} under {most!r}."
    )


def _slope(found: Evaluation) -> str:
    rows = [row for row in found.sizes.to_pylist() if row["policy"] == found.variants[0].name]
    if not rows:
        return "As written, the loss does not depend on the size of a record."
    measure = rows[0]["measure"]
    own = [row for row in rows if row["measure"] == measure]
    large = own[-1]
    return (
        f"As written, a record whose {measure} is {amount(own[0]['size'])} loses "
        f"{amount(own[0]['loss'])}, one whose {measure} is {amount(large['size'])} loses "
        f"{amount(large['loss'])}."
    )


def _told(found: Evaluation) -> str:
    """Return what 10 % more costs a record in the middle of the sizes."""
    rows = found.changes.to_pylist()
    own = [row for row in rows if row["measure"] == rows[0]["measure"]]
    row = own[len(own) // 2]
    return (
        f"To tell a record whose {row['measure']} is {amount(row['size'])} from one with 10 % "
        f"more costs it {amount(row['10_percent_more'])}; being in the data at all costs it "
        f"{amount(row['presence'])}."
    )


# -- tables -----------------------------------------------------------------------------------


def _joined(named: Sequence[tuple[str, Distribution]], column: str) -> pa.Table:
    tables = []
    for name, each in named:
        rows = each.to_arrow()
        tables.append(rows.add_column(0, column, pa.array([name] * rows.num_rows, pa.string())))
    return pa.concat_tables(tables)


def _quantiles(named: Sequence[tuple[str, Distribution]], currency: str) -> ShownTable:
    rows = tuple(
        (name, *map(amount_down if name == _LEAST else amount, _row(each))) for name, each in named
    )
    return ShownTable(f"Losses in {currency}", ("", *_HEADS), rows)


def _least_by_scheme(found: Evaluation) -> Iterator[ShownTable]:
    """Yield the least possible losses of every variant, where they are known (T30)."""
    known = zip(found.variants, found.least, strict=True)
    rows = [(each.name, *map(amount_down, _row(least))) for each, least in known if least]
    if rows:
        yield ShownTable("Least possible losses in rho", ("", *_HEADS), tuple(rows))


def _row(each: Distribution) -> list[float | None]:
    return [each.quantile(share) if each.count else None for share in _SHARES]


def _with_least(found: Evaluation) -> pa.Table:
    """Return losses by size with one more line: the least possible as written (T30)."""
    sizes = found.sizes
    own = sizes.filter(
        pc.and_(pc.equal(sizes["policy"], found.variants[0].name), pc.is_valid(sizes["least"]))
    )
    named = own.set_column(0, "policy", pa.array([_LEAST] * own.num_rows, pa.string()))
    least = named.set_column(named.column_names.index("loss"), "loss", named["least"])
    return pa.concat_tables([sizes, least]) if own.num_rows else sizes

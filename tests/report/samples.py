"""Tables as they come and as they should not, and a rich report made of them."""

import pyarrow as pa

from perrecord.report.charts import Axis, Panels, boxes, curves, points, shares
from perrecord.report.figure import Figure, ShownTable
from perrecord.report.numbers import amount, percent
from perrecord.report.page import Page, Section

SCHEMES = (
    "as written", "strict", "moderate", "loose",
    "top-code strict", "top-code moderate", "top-code loose",
)  # fmt: skip
ANSWERS = ("establishments", "employment", "annual_payroll", "quarter_payroll")
GROUPINGS = ("county", "county, naics2")
LONG = tuple(f"top-coding at the {90 + place}th percentile, kind {place}" for place in range(12))
HOSTILE = (
    "<script>window.harmed = 1; alert(1)</script>",
    '"><img src=x onerror="window.harmed = 1">',
    "</title></style><b onfocus=alert(1) autofocus>bold</b>",
    "'; datum['x'] || alert(1)",
    "datum.value",
    "a.b[c]",
    "__proto__",
    "constructor",
    "{{ 7 * 7 }}{% raw %}",
    "שלום \u202e overridden \u2066 isolated",
    "a\x00b\x01c\nd\te",
    "日本語の名前",
    " ",
)
ERROR = Axis("error", "Relative error of a cell", "percent")
LOSS = Axis("loss", "Policy loss of a record")


def method(scheme):
    """Return what a scheme does to large records."""
    return "top-coding" if scheme.startswith("top-code") else "splitting"


def box_table(schemes=SCHEMES, answers=ANSWERS, groupings=GROUPINGS):
    """Return errors that differ by everything; one scheme has no cells in one place."""
    rows = []
    for wide, grouping in enumerate(groupings):
        for place, answer in enumerate(answers):
            for number, scheme in enumerate(schemes):
                middle = 0.004 * (1 + number) * (1 + place) * (1 + 7 * wide)
                five = {"low": middle / 9, "lower": middle / 3, "middle": middle,
                        "upper": 3 * middle, "high": 12 * middle}  # fmt: skip
                if (wide, place, number) == (1, len(answers) - 1, 1):
                    five = dict.fromkeys(five)
                row = {"grouping": grouping, "answer": answer, "scheme": scheme}
                rows.append(row | {"method": method(scheme)} | five)
    return pa.Table.from_pylist(rows)


def share_table(schemes=SCHEMES, least=0.3, count=400):
    """Return losses of records: most lose the least, a few very much."""
    rows = []
    for number, scheme in enumerate(schemes):
        for place in range(count):
            value = least * (1 + number / 9) * 10 ** (6.5 * (place / count) ** 3)
            rows.append({"scheme": scheme, "value": value, "share": 1 - (1 - place / count) ** 4})
        rows[-1]["share"] = 1.0
    return pa.Table.from_pylist(rows)


def stair_table():
    """Return the loss of records by their size, for two measures of very different sizes."""
    rows = [
        {"measure": measure, "scheme": scheme, "size": limit * factor * pieces + 1.0,
         "loss": 0.01 * (pieces + 1) ** 2}
        for measure, limit in (("employment", 50), ("annual_payroll", 2000))
        for scheme, factor in (("as written", 1), ("strict", 0.2), ("loose", 4))
        for pieces in range(40)
    ]  # fmt: skip
    return pa.Table.from_pylist(rows)


def point_table(labels=SCHEMES):
    """Return schemes by loss and error, some of them close together."""
    rows = [
        {"scheme": label, "method": method(label), "loss": 0.3 * 3.0 ** (place % 5) + place / 50,
         "error": 0.02 * (1 + (place * 5) % 7)}
        for place, label in enumerate(labels)
    ]  # fmt: skip
    return pa.Table.from_pylist(rows)


def draw_boxes(table, width):
    """Return box plots of errors by answer and grouping."""
    panels = Panels("answer", "grouping")
    return boxes(table, width, x="scheme", colour="method", y_title=ERROR.title, panels=panels)


def draw_shares(table, width):
    """Return distributions of losses by scheme."""
    return shares(
        table, width, colour="scheme", x_title=LOSS.title, y_title="Share of records", rule=0.3
    )


def draw_stairs(table, width):
    """Return losses by size, a panel for each measure."""
    panels = Panels("measure")
    size = Axis("size", "Size")
    return curves(table, width, x=size, y=LOSS, colour="scheme", panels=panels, steps=True)


def draw_points(table, width):
    """Return schemes by loss and error."""
    return points(table, width, x=LOSS, y=ERROR, colour="scheme")


def figure(name, draw, table, tables=(), title="Errors by scheme"):
    """Return a figure with its words."""
    return Figure(
        name,
        title,
        "Splitting keeps county figures within 5 %.",
        "Each box spans half of the cells.",
        lambda width: draw(table, width),
        table,
        tables,
    )


def shown(rows, title="Losses by scheme"):
    """Return a table of so many rows."""
    heads = ("Scheme", "Median", "Within 5 %", "Remark")
    return ShownTable(
        title,
        heads,
        tuple(
            (f"scheme {row}", amount(1000.5 * row), percent(row / 7), "–") for row in range(rows)
        ),
    )


def page(name=str, made="perrecord evaluate release.yaml"):
    """Return a report of all kinds of sections; every text goes through `name`."""
    errors, losses = box_table(), share_table()
    sections = (
        Section(
            name("How accurate are the cells?"),
            name("Most are within 5 %."),
            figures=(
                figure("errors", draw_boxes, errors, (shown(40), shown(5)), name("By scheme")),
            ),
        ),
        Section(
            name("What do records lose?"),
            text=(name("It follows from the policy."), name("Nothing else does.")),
            figures=(
                figure("losses", draw_shares, losses, title=name("Losses")),
                figure("loss-by-size", draw_stairs, stair_table(), title=name("Stairs")),
            ),
        ),
        Section(name("What else?"), figures=(figure("frontier", draw_points, point_table()),)),
        Section(name("Numbers alone"), tables=(shown(3, name("A table")),)),
        Section(name("Words alone"), text=(name("Nothing to add."),)),
    )
    return Page(
        name("Accuracy and loss"),
        (name("Seven schemes were compared."), name("On 300,000 records.")),
        (name("Splitting wins."), name("Top-coding is biased.")),
        sections,
        made,
    )

"""Charts: valid, within their width, true to their numbers, and no name of theirs is ever code."""

import re
import xml.etree.ElementTree as ET

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perrecord.report.charts import Axis, Panels, boxes, curves, points, shares
from perrecord.report.drawing import drawn, size
from perrecord.report.scales import log_scale
from perrecord.report.text import plain
from perrecord.report.theme import TOTAL
from tests.report import spec as reading
from tests.report.samples import (
    ANSWERS,
    GROUPINGS,
    HOSTILE,
    LONG,
    SCHEMES,
    box_table,
    draw_boxes,
    draw_points,
    draw_shares,
    draw_stairs,
    point_table,
    share_table,
    stair_table,
)

CASES = {
    "boxes": (draw_boxes, box_table()),
    "one box": (draw_boxes, box_table(SCHEMES[:1], ANSWERS[:1], GROUPINGS[:1])),
    "long boxes": (draw_boxes, box_table(LONG, ANSWERS[:2], GROUPINGS[:1])),
    "many panels": (draw_boxes, box_table(SCHEMES, LONG[:5], LONG[5:8])),
    "hostile boxes": (draw_boxes, box_table(HOSTILE, HOSTILE[:2], HOSTILE[2:4])),
    "shares": (draw_shares, share_table()),
    "zeros": (draw_shares, share_table(least=0)),
    "hostile shares": (draw_shares, share_table(HOSTILE, count=5)),
    "stairs": (draw_stairs, stair_table()),
    "points": (draw_points, point_table()),
    "one point": (draw_points, point_table(SCHEMES[:1])),
    "hostile points": (draw_points, point_table(HOSTILE)),
}


def svg(name, width):
    """Return a case drawn."""
    draw, table = CASES[name]
    return drawn(draw(table, width), title="t", is_public=True)


@pytest.mark.parametrize("width", ["wide", "narrow"])
@pytest.mark.parametrize("name", CASES)
def test_every_chart_is_drawn_within_its_width(name, width):
    """Altair finds it valid, vl-convert draws it, a parser reads it, and it fits on the page."""
    found = svg(name, width)
    ET.fromstring(found)
    across, _ = size(found)
    assert across <= TOTAL[width] + 40
    assert reading.texts(found)


@pytest.mark.parametrize("draw", [draw_boxes, draw_shares, draw_stairs, draw_points])
@pytest.mark.parametrize("width", ["wide", "narrow"])
def test_nothing_is_said_to_be_nothing(draw, width):
    """A table without rows, and one without a number above 0."""
    table = next(table for each, table in CASES.values() if each is draw)
    zeros = table
    for place, column in enumerate(table.columns):
        if pa.types.is_floating(column.type):
            name = table.column_names[place]
            zeros = zeros.set_column(place, name, pa.array([0.0] * table.num_rows))
    for found in (table.slice(0, 0), zeros):
        words = reading.texts(drawn(draw(found, width), title="t", is_public=True))
        assert "nothing to show" in words


@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("hostile")])
def test_names_are_data_and_never_code(name):
    """A name stands in rows and in domains, nowhere else: not in expressions, not as a key."""
    draw, table = CASES[name]
    allowed = {"datasets", "domain"}
    for hostile in ("window.harmed", "datum['x']"):
        found = list(reading.places(draw(table, "wide"), hostile))
        assert found
        assert all(allowed & {*map(str, path)} for path in found), found


@pytest.mark.parametrize("panels", [Panels(), Panels(column="measure")])
def test_a_chart_of_many_rows_is_drawn(panels):
    """Altair by itself refuses more than 5,000, which many lines have together."""
    rows = 6_000
    table = pa.table(
        {
            "value": [float(each + 1) for each in range(rows)],
            "loss": [float(each + 1) for each in range(rows)],
            "scheme": ["plain"] * rows,
            "measure": [f"{each % 2}" for each in range(rows)],
        }
    )
    x, y = Axis("value", "Value"), Axis("loss", "Loss")
    chart = curves(table, "wide", x=x, y=y, colour="scheme", panels=panels)
    assert "<svg" in drawn(chart, title="Many rows", is_public=True)


def test_a_name_that_became_code_is_caught():
    """The check finds a twin whose label is an expression made of the name."""
    twin = {"encoding": {"x": {"axis": {"labelExpr": f"'{HOSTILE[3]}'"}}}}
    (found,) = reading.places(twin, "datum['x']")
    assert not {"datasets", "domain"} & {*found}


def test_categories_come_in_the_given_order():
    """On the axis and in the legend, whatever the order of the rows."""
    table = box_table(SCHEMES[::-1], ANSWERS[:1], GROUPINGS[:1])
    panels = Panels(orders={"scheme": SCHEMES, "method": ("top-coding", "splitting")})
    spec = boxes(table, "wide", x="scheme", colour="method", y_title="e", panels=panels)
    words = reading.texts(drawn(spec, title="t", is_public=True))
    assert [word for word in words if word in SCHEMES] == list(SCHEMES)
    assert words.index("top-coding") < words.index("splitting")


def test_panels_that_are_missing_do_not_move_the_others():
    """Where a row lacks a column, every panel names both; none stands under a wrong name.

    Vega-Lite's own grid moves panels into the gaps; the check below would see it.
    """
    table = box_table(SCHEMES[:1], ANSWERS[:2], GROUPINGS)
    lacking = table.filter(
        pa.array([row != ("county", "employment") for row in zip(
            table["grouping"].to_pylist(), table["answer"].to_pylist(), strict=True)])
    )  # fmt: skip
    words = reading.texts(drawn(draw_boxes(lacking, "wide"), title="t", is_public=True))
    heads = [word for word in words if word.startswith("county")]
    assert heads == ["countyestablishments", "county, naics2establishments",
                     "county, naics2employment"]  # fmt: skip
    whole = reading.texts(drawn(draw_boxes(table, "wide"), title="t", is_public=True))
    assert [word for word in whole if word in ANSWERS] == list(ANSWERS[:2])


def test_numbers_below_the_least_stretch_no_axis():
    """They stand at its lower edge; where there are no others, the axis is theirs."""
    five = ("low", "lower", "middle", "upper", "high")
    sure = dict.fromkeys(five, 3e-12) | {"s": "sure", "m": "b"}
    usual = dict(zip(five, (0.001, 0.005, 0.01, 0.05, 0.1), strict=True)) | {"s": "a", "m": "b"}
    for rows, domain in (([sure, usual], [0.001, 0.1]), ([sure], [1e-12, 1e-11])):
        spec = boxes(
            pa.Table.from_pylist(rows), "wide", x="s", colour="m", y_title="e", limits=(),
            least=1e-4,
        )  # fmt: skip
        assert spec["layer"][0]["encoding"]["y"]["scale"]["domain"] == pytest.approx(domain)


def test_a_box_stands_where_its_numbers_are():
    """The axis is logarithmic: the median of 1 % lies halfway between 0.1 % and 10 %."""
    table = pa.table(
        {"s": ["a"], "m": ["b"], "low": [0.001], "lower": [0.005], "middle": [0.01],
         "upper": [0.05], "high": [0.1]}
    )  # fmt: skip
    spec = boxes(table, "wide", x="s", colour="m", y_title="e", limits=())
    scale = spec["layer"][0]["encoding"]["y"]["scale"]
    assert (scale["type"], scale["domain"]) == ("log", [0.001, 0.1])
    found = drawn(spec, title="t", is_public=True)
    lines = re.search(r"layer_2_marks.*?</g>", found, re.DOTALL)[0]
    ((top, thickness),) = re.findall(r'd="M[\d.]+,([\d.]+)h[\d.]+v([\d.]+)', lines)
    assert float(top) + float(thickness) / 2 == pytest.approx(spec["height"] / 2)


def test_boxes_side_by_side_keep_their_whiskers():
    """The whisker stands in the middle of its box; parts of a band would not be centred."""
    rows = [
        {"s": s, "m": m, "low": 0.01, "lower": 0.02, "middle": 0.05, "upper": 0.1, "high": 0.5}
        for s in "ab"
        for m in "cd"
    ]
    spec = boxes(
        pa.Table.from_pylist(rows), "wide", x="s", colour="m", y_title="e", side_by_side=True
    )
    found = drawn(spec, title="t", is_public=True)
    whiskers, rectangles = (
        re.search(rf"layer_{number}_marks.*?</g>", found, re.DOTALL)[0] for number in (0, 1)
    )
    centres = [float(x) for x in re.findall(r"translate\(([\d.]+),", whiskers)]
    middles = [
        float(x) + float(width) / 2
        for x, width in re.findall(r'd="M([\d.]+),[\d.]+h([\d.]+)', rectangles)
    ]
    assert len(set(centres)) == 4
    assert centres == pytest.approx(middles)


def test_losses_of_zero_stand_at_the_left_edge():
    """With a tick of their own that says 0."""
    table = pa.table({"of": ["r"] * 3, "value": [0.0, 1.0, 10.0], "share": [0.2, 0.5, 1.0]})
    spec = shares(table, "wide", colour="of", x_title="Loss", y_title="Share")
    assert "0" in reading.texts(drawn(spec, title="t", is_public=True))
    rows = next(iter(spec["datasets"].values()))
    assert sorted(row["value"] for row in rows) == [0.1, 0.1, 1.0, 10.0]


def test_a_distribution_begins_at_nobody():
    """The line rises from 0 at the least value."""
    table = pa.table({"of": ["r"] * 2, "value": [2.0, 5.0], "share": [0.7, 1.0]})
    spec = shares(table, "wide", colour="of", x_title="Loss", y_title="Share")
    rows = next(iter(spec["datasets"].values()))
    assert {(row["value"], row["share"]) for row in rows} == {(2.0, 0.0), (2.0, 0.7), (5.0, 1.0)}


@given(st.lists(st.floats(0, 1e12), max_size=6))
def test_every_number_has_a_place_on_its_axis(numbers):
    """Between the ends, in the same order; ticks are few and lie between them."""
    scale = log_scale(numbers, with_zero=True)
    if scale is None:
        assert not any(number > 0 for number in numbers)
        return
    placed = scale.clipped(sorted(numbers))
    assert placed == sorted(placed)
    assert all(scale.low <= each <= scale.high for each in placed)
    assert 2 <= len(scale.ticks) <= 9
    assert all(scale.low <= tick <= scale.high for tick in scale.ticks)


@pytest.mark.parametrize("unit", ["number", "percent"])
def test_ticks_read_as_people_write_them(unit):
    """Thousands, millions, billions, per cent; no 1.0e+3."""
    table = pa.table({"x": [1.0, 1e9], "y": [0.001, 100.0], "c": ["a", "a"]})
    spec = curves(table, "wide", x=Axis("x", "x"), y=Axis("y", "y", unit), colour="c")
    words = reading.texts(drawn(spec, title="t", is_public=True))
    assert {"10", "1000", "100k", "10M", "1B"} <= {*words}
    assert ("0.1%" in words) is (unit == "percent")


def test_points_are_told_apart_by_shape_and_colour():
    """One legend says both."""
    spec = points(point_table(), "wide", x=Axis("loss", "l"), y=Axis("error", "e"), colour="scheme")
    encoding = spec["layer"][0]["encoding"]
    assert encoding["shape"]["scale"]["domain"] == encoding["color"]["scale"]["domain"]
    words = reading.texts(drawn(spec, title="t", is_public=True))
    assert all(words.count(scheme) == 1 for scheme in SCHEMES)


@given(st.text())
def test_plain_text_can_stand_in_xml(name):
    """Whatever is in it."""
    from html import escape

    ET.fromstring(f"<text>{escape(plain(name))}</text>")

"""Pictures: marked where they are confidential, twice as fine as PNG, made from data at hand."""

import struct
import zlib

import pytest

from perrecord.errors import InputError
from perrecord.evaluate.confidential import HEADER
from perrecord.report.drawing import drawn, png, size
from perrecord.report.figure import Figure, ShownTable, pictures
from perrecord.report.theme import BAD, themed
from tests.report.samples import draw_points, figure, point_table
from tests.report.spec import texts

TABLE = point_table()


def first_pixels(image):
    """Return the width and height of a PNG and the colours of its first line of pixels."""
    assert image[:8] == b"\x89PNG\r\n\x1a\n"
    width, height, depth, colour = struct.unpack(">IIBB", image[16:26])
    assert (depth, colour) == (8, 6)
    packed, place = b"", 8
    while place < len(image):
        (length,) = struct.unpack(">I", image[place : place + 4])
        if image[place + 4 : place + 8] == b"IDAT":
            packed += image[place + 8 : place + 8 + length]
        place += 12 + length
    filtering, *line = zlib.decompress(packed)[: 1 + 4 * width]
    found = []
    for number, value in enumerate(line):  # the line above is all zeros
        left = found[number - 4] if number >= 4 else 0
        before = {0: 0, 1: left, 2: 0, 3: left // 2, 4: left}[filtering]
        found.append((value + before) % 256)
    pixels = {tuple(found[start : start + 3]) for start in range(0, len(found), 4)}
    return (width, height), {f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in pixels}


@pytest.mark.parametrize("width", ["wide", "narrow"])
def test_a_confidential_picture_says_so(width):
    """In words that can be read, over the picture; a public one has none of it."""
    spec = draw_points(TABLE, width)
    marked, public = (drawn(spec, title="t", is_public=each) for each in (False, True))
    assert " ".join(texts(marked)).startswith(HEADER)
    assert "CONFIDENTIAL" not in public
    assert size(marked)[0] == size(public)[0]
    assert size(marked)[1] > size(public)[1] + 20


def test_the_mark_is_in_the_pixels_too():
    """The first line of the PNG has the colour of the band, and that of a public one is white."""
    found = {}
    for is_public in (False, True):
        made = pictures(figure("f", draw_points, TABLE), is_public=is_public)
        found[is_public] = first_pixels(png(made.wide))
        assert found[is_public][0] == tuple(2 * each for each in size(made.wide))
    assert found[False][1] == {BAD}
    assert found[True][1] == {"#ffffff"}


def test_both_widths_are_drawn():
    """From one figure."""
    made = pictures(figure("f", draw_points, TABLE), is_public=True)
    assert size(made.narrow)[0] < 360 < 850 < size(made.wide)[0] < 940


def test_the_title_is_in_the_picture_and_harmless():
    """For those who have it read out."""
    svg = drawn(draw_points(TABLE, "wide"), title="<b>\x00 & more", is_public=True)
    assert "<title>&lt;b&gt;\N{REPLACEMENT CHARACTER} &amp; more</title>" in svg


def test_a_picture_loads_nothing():
    """Data from an address is refused rather than fetched."""
    spec = {"data": {"url": "http://127.0.0.1:9/data.csv"}, "mark": "point"}
    with pytest.raises(ValueError, match="not allowed"):
        drawn(spec, title="t", is_public=True)


def test_our_looks_give_way_to_those_of_a_chart():
    """What a chart configures itself is kept, all else is ours."""
    config = themed({"mark": "bar", "config": {"axis": {"labelFontSize": 20}}})["config"]
    assert config["axis"]["labelFontSize"] == 20
    assert config["axis"]["labelLimit"] == 0
    assert themed({"mark": "bar"})["config"]["axis"]["labelFontSize"] == 11


@pytest.mark.parametrize("name", ["", "a/b", "../a", "a.b", "ä", "-a", "a b", "a\n"])
def test_a_figure_is_named_so_that_files_can_be(name):
    """Nothing else than letters, digits, - and _."""
    with pytest.raises(InputError, match="files are named after it"):
        Figure(name, "t", "f", "r", lambda width: {}, TABLE)


def test_a_row_has_a_cell_for_each_head():
    """Else the table is refused."""
    with pytest.raises(InputError, match="has 1 cells; expected 2"):
        ShownTable("t", ("a", "b"), (("1", "2"), ("1",)))

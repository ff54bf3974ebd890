"""A report in a browser: sealed, readable on desk, telephone and paper, inert to hostile names."""

import base64
import re
import zlib

import pytest

from perrecord import Keys, Query, Split
from perrecord.evaluate.confidential import HEADER, confidential_folder
from perrecord.evaluate.evaluation import evaluate
from perrecord.evaluate.tuning.tune import tune
from perrecord.lab.synth import business
from perrecord.report.drawing import size
from perrecord.report.evaluation import evaluation_page
from perrecord.report.figure import ShownTable, pictures
from perrecord.report.page import Page, Section
from perrecord.report.theme import BAD
from perrecord.report.tuning import tuning_page
from perrecord.report.write import write_report
from perrecord.tables.table import table
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
    figure,
    page,
    point_table,
    share_table,
    shown,
    stair_table,
)  # fmt: skip

pytestmark = pytest.mark.browser

WIDTHS = (1200, 360)


def hostile(text):
    """Return every kind of attack, then the text."""
    return f"{''.join(HOSTILE)} {text}"


def hostile_page():
    """Return a report whose names are attacks, in its words, tables and pictures."""
    table = box_table(HOSTILE, HOSTILE[:2], HOSTILE[2:4])
    figures = (
        figure("boxes", draw_boxes, table, title=hostile("a")),
        figure("points", draw_points, point_table(HOSTILE), title=hostile("b")),
    )
    rich = page(hostile, made=hostile("made"))
    return Page(
        rich.title,
        rich.lead,
        rich.findings,
        (*rich.sections, Section(hostile("pictures"), figures=figures)),
        rich.made,
    )


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return a function that writes a report once and returns its HTML."""
    done = {}

    def html(name, make, *, is_public=False):
        if name not in done:
            folder = confidential_folder(
                tmp_path_factory.mktemp("report") / "own", is_public=is_public
            )
            done[name] = write_report(folder, make()).read_text("utf-8")
        return done[name]

    return html


@pytest.fixture
def rich(written):
    """The rich report as HTML."""
    return written("rich", page)


# -- sealed ----------------------------------------------------------------------------------------


def asked(tab):
    """Return the addresses that the page asked for besides itself and what it holds."""
    urls = [each["request"]["url"] for each in tab.events("Network.requestWillBeSent")]
    return [url for url in urls if not url.startswith(("file:", "data:image/svg+xml;"))]


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_asked_of_the_network(width, rich, show):
    """The file and the pictures in it; no complaint on the console, with or without scripts."""
    for script in (True, False):
        tab = show(rich, width=width, script=script)
        assert asked(tab) == []
        files = [each["request"]["url"] for each in tab.events("Network.requestWillBeSent")]
        assert len([url for url in files if url.startswith("file:")]) == 1
        assert tab.events("Log.entryAdded") == []
        assert tab.events("Runtime.exceptionThrown") == []


def test_a_page_that_loads_something_is_caught_and_the_policy_stops_it(rich, show):
    """Broken twin: a picture from elsewhere is seen on the network, unless the policy is there."""
    leaking = rich.replace("<main>", '<main><img src="http://127.0.0.1:9/leak.png">')
    free = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", leaking)
    tabs = [show(each) for each in (free, leaking)]
    for tab in tabs:
        tab.settle(300)
    assert asked(tabs[0]) == ["http://127.0.0.1:9/leak.png"]
    refused = [each.get("blockedReason") for each in tabs[1].events("Network.loadingFailed")]
    assert refused == ["csp"]


# -- seen ------------------------------------------------------------------------------------------

PICTURES = """Promise.all([...document.images].map(image => image.decode().then(() => ({
    width: image.naturalWidth, height: image.naturalHeight, source: image.currentSrc.length,
    shown: image.getBoundingClientRect().width, alt: image.alt}))))"""


@pytest.mark.parametrize("width", WIDTHS)
def test_every_picture_is_decoded_in_the_version_for_the_screen(width, rich, show):
    """Narrow on a telephone, wide on a desk; at about its own size, so that text is legible."""
    tab = show(rich, width=width)
    found = tab.evaluate(PICTURES)
    assert len(found) == 4
    for image in found:
        assert image["alt"]
        assert 0 < image["width"] < 360 if width == 360 else 360 < image["width"] < 940
        assert 0.9 < image["shown"] / image["width"] < 1.2


def test_a_picture_that_cannot_be_read_is_caught(rich, show):
    """Broken twin: an SVG that is cut off is not decoded."""
    start = rich.index("base64,", rich.index("<img"))
    broken = rich[: start + 500] + rich[rich.index('"', start) :]
    tab = show(broken)
    decoded = tab.evaluate(f"{PICTURES}.then(() => true, () => false)")
    assert decoded is False


SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.mark.parametrize("width", [1200, 800, 641, 640, 360, 320])
@pytest.mark.parametrize("name", ["rich", "wide tables", "hostile"])
def test_the_page_never_scrolls_sideways(name, width, written, show):
    """Tables that are wider scroll in their own box, opened or not."""
    make = {"rich": page, "wide tables": wide_tables, "hostile": hostile_page}[name]
    tab = show(written(name, make), width=width)
    tab.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert tab.evaluate(SIDEWAYS) == 0


def wide_tables():
    """Return a report of tables that do not fit, and of words that do not break."""
    heads = tuple(f"head {number}" for number in range(15))
    rows = tuple(tuple(f"{name} {number}" for number in range(15)) for name in LONG)
    table = ShownTable("w" * 80, heads, rows)
    return Page("w" * 90, ("w" * 90,), ("w" * 90,), (Section("w" * 90, "w" * 90, tables=(table,)),))


def test_a_table_that_widens_the_page_is_caught(written, show):
    """Broken twin: without its box."""
    html = written("wide tables", wide_tables).replace('class="scroll"', 'class="none"')
    assert show(html, width=360).evaluate(SIDEWAYS) > 0


@pytest.mark.parametrize("width", WIDTHS)
def test_the_mark_is_in_sight_wherever_one_reads(width, rich, show):
    """It stays at the top of the window; every section says it again, and every picture."""
    tab = show(rich, width=width, height=700)
    for place in (0, 0.5, 1):
        tab.evaluate(f"scrollTo(0, {place} * document.documentElement.scrollHeight)")
        seen = tab.evaluate(
            """(() => { const at = document.elementFromPoint(innerWidth / 2, 8);
                const mark = at.closest(".mark");
                return mark && mark.textContent.trim(); })()"""
        )
        assert seen == HEADER
    tags = tab.evaluate(
        """[...document.querySelectorAll("section")].map(each => {
            const tag = each.querySelector(".tag").getBoundingClientRect();
            return tag.width > 50 && tag.height > 10; })"""
    )
    assert tags == [True] * 6
    assert tab.evaluate("document.title").startswith("CONFIDENTIAL: ")


def test_a_public_report_shows_no_mark(written, show):
    """Neither at the top nor anywhere."""
    tab = show(written("public", page, is_public=True))
    assert "confidential" not in tab.evaluate("document.body.innerText").lower()
    assert tab.evaluate("document.querySelectorAll('.mark, .tag').length") == 0


def test_pictures_keep_white_paper_in_the_dark(rich, show):
    """The page is dark and its text light; the pictures are not."""
    tab = show(rich)
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    tab.send("Emulation.setEmulatedMedia", features=dark)
    look = "['body', '.sheet', 'h2'].map(name => getComputedStyle(document.querySelector(name)))"
    page_colour, sheet, _ = tab.evaluate(f"{look}.map(each => each.backgroundColor)")
    assert sheet == "rgb(255, 255, 255)"
    assert max(map(int, re.findall(r"\d+", page_colour))) < 60
    assert min(map(int, re.findall(r"\d+", tab.evaluate(f"{look}[2].color")))) > 200


# -- printed ---------------------------------------------------------------------------------------

MARK = tuple(int(BAD[place : place + 2], 16) / 255 for place in (1, 3, 5))


def marked_pages(tab):
    """Return for each printed page whether something on it has the colour of the mark."""
    paper = base64.b64decode(tab.send("Page.printToPDF")["data"])
    objects = dict(re.findall(rb"\n(\d+) 0 obj\n(.*?)\nendobj", paper, re.DOTALL))
    found = []
    for content in objects.values():
        if re.search(rb"/Type /Page\b", content):
            (number,) = re.findall(rb"/Contents (\d+) 0 R", content)
            stream = re.search(rb"stream\n(.*)\nendstream", objects[number], re.DOTALL)[1]
            colours = re.findall(rb"([\d.]+) ([\d.]+) ([\d.]+) rg", zlib.decompress(stream))
            near = pytest.approx(MARK, abs=0.001)
            found.append(any(tuple(map(float, each)) == near for each in colours))
    return found


def test_the_mark_is_printed_on_every_page(show, written):
    """Also on those that hold only the middle of a long table; without the rule it is not."""
    html = written("long", long_table)
    opened = html.replace("<details>", "<details open>")
    pages = marked_pages(show(opened))
    assert len(pages) >= 4
    assert all(pages)
    twin = opened.replace("display: table-header-group", "display: block")
    digest = re.search(r"style-src 'sha256-[^']+'", twin)[0]
    assert not all(marked_pages(show(twin.replace(digest, "style-src 'unsafe-inline'"))))


def long_table():
    """Return a report of one table over several pages."""
    return Page("Long", (), (), (Section("s", tables=(shown(200),)),))


# -- hostile ---------------------------------------------------------------------------------------

HARM = """[window.harmed ?? null, document.images.length, document.scripts.length,
    document.querySelectorAll("iframe, object, embed, b, [onerror], [onfocus]").length]"""


@pytest.mark.parametrize("width", WIDTHS)
def test_hostile_names_stay_text(width, written, show):
    """No script runs, no element appears, no dialog opens; the pictures are drawn all the same."""
    html = written("hostile", hostile_page)
    free = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
    for text in (html, free):
        tab = show(text, width=width)
        assert len(tab.evaluate(PICTURES)) == 6
        assert tab.evaluate(HARM) == [None, 6, 0, 0]
        assert tab.events("Page.javascriptDialogOpening") == []
        assert HOSTILE[0] in tab.evaluate("document.body.textContent")


def test_hostile_names_stay_text_in_the_files_beside(written, show, tmp_path, chromium):
    """An SVG that is opened by itself could run scripts; it has none."""
    folder = confidential_folder(tmp_path / "own")
    write_report(folder, hostile_page())
    for name in ("boxes", "points"):
        tab = chromium.open(folder.path / "figures" / f"{name}.svg")
        assert tab.evaluate("document.documentElement.localName") == "svg"
        assert tab.evaluate("window.harmed ?? null") is None
        assert tab.evaluate("document.querySelectorAll('script, img, foreignObject').length") == 0
        assert "alert(1)" in tab.evaluate("document.documentElement.textContent")
        tab.close()


def test_a_page_that_embeds_names_as_markup_is_caught(written, show):
    """Broken twin: the same page with its angle brackets let through."""
    html = written("hostile", hostile_page).replace("&lt;", "<").replace("&gt;", ">")
    free = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
    free = free.replace("alert(1)", "0")
    harmed, _, scripts, others = show(free.replace("&#34;", '"')).evaluate(HARM)
    assert harmed == 1
    assert scripts > 0
    assert others > 0


# -- the reports of the two commands ---------------------------------------------------------------


@pytest.fixture(scope="module")
def source():
    """Return synthetic establishments."""
    with table(
        business(1_000, seed=8),
        unit="firm",
        dimensions={"state": "state", "naics2": "substr(naics, 1, 2)"},
        measures=["emp", "payann"],
    ) as opened_table:
        yield opened_table


SCHEMES_OF = {"strict": Split(emp=100, payann=10_000), "loose": Split(emp=5, payann=500)}
WORKLOAD = {
    "sectors": Query()
    .group_by_sets([("naics2",), ()], keys=Keys.from_dict({"naics2": ["11", "31", "44", "62"]}))
    .count(rho="0.1")
    .sum("emp", split=SCHEMES_OF["strict"], rho="0.1")
    .average("payann", split=SCHEMES_OF["strict"], rho="0.1")
}


@pytest.fixture(scope="module")
def evaluated(source):
    """Return the page of an evaluation."""
    return evaluation_page(evaluate(WORKLOAD, source, schemes=SCHEMES_OF), "Sectors")


@pytest.fixture(scope="module")
def tuned(source):
    """Return the page of a tuning."""
    found = tune(WORKLOAD, source, "10% for 90% of cells", schemes=SCHEMES_OF)
    return tuning_page(found, "Sectors", is_public=False)


@pytest.mark.parametrize(("name", "pictured"), [("evaluated", 10), ("tuned", 1)])
@pytest.mark.parametrize("width", WIDTHS)
def test_the_reports_of_the_commands_render_sealed_and_marked(name, pictured, width, written,
                                                              show, request):  # fmt: skip
    """Every figure is decoded, nothing is asked for, the mark is on the page and each section."""
    tab = show(written(name, lambda: request.getfixturevalue(name)), width=width)
    assert asked(tab) == []
    assert tab.events("Log.entryAdded") == []
    sizes = tab.evaluate("[...document.images].map(each => each.naturalWidth)")
    assert len(sizes) == pictured
    assert all(size > 0 for size in sizes)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.evaluate("document.title").startswith("CONFIDENTIAL")
    sections = tab.evaluate("document.querySelectorAll('main section').length")
    tags = "[...document.querySelectorAll('main section .tag')].map(each => each.textContent)"
    assert tab.evaluate(tags) == ["Confidential"] * sections


def test_a_notebook_shows_a_page_in_a_frame(tuned, show):
    """Complete in itself there, too, and marked."""
    tab = show(f"<!doctype html><title>n</title>{tuned._repr_html_()}")
    tab.settle()
    inside = "document.querySelector('iframe').contentDocument.body.innerText"
    assert HEADER in tab.evaluate(inside)
    assert asked(tab) in ([], ["about:srcdoc"])


# -- text in its place -----------------------------------------------------------------------------

CUT = """[...document.querySelectorAll("text")].filter(each => {
    const all = document.documentElement.getBoundingClientRect();
    const box = each.getBoundingClientRect();
    return each.textContent && (box.left < all.left - 1 || box.right > all.right + 1 ||
        box.top < all.top - 1 || box.bottom > all.bottom + 1); }).map(each => each.textContent)"""

COVERED = """(() => {
    const level = [...document.querySelectorAll("text")].filter(each =>
        each.textContent && !(each.getAttribute("transform") ?? "").includes("rotate"));
    const boxes = level.map(each => [each.textContent, each.getBoundingClientRect()]);
    const found = [];
    boxes.forEach(([word, one], place) => boxes.slice(place + 1).forEach(([other, two]) => {
        const wide = Math.min(one.right, two.right) - Math.max(one.left, two.left);
        const high = Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top);
        if (word !== other && wide > 1 && high > 3) found.push([word, other]); }));
    return found; })()"""

SHOWN = {
    "boxes": (draw_boxes, box_table()),
    "long": (draw_boxes, box_table(LONG, ANSWERS[:2], GROUPINGS[:1])),
    "many": (draw_boxes, box_table(SCHEMES, LONG[:5], LONG[5:8])),
    "shares": (draw_shares, share_table()),
    "stairs": (draw_stairs, stair_table()),
    "points": (draw_points, point_table()),
    "crowded": (draw_points, point_table(LONG)),
}


@pytest.mark.parametrize("width", ["wide", "narrow"])
@pytest.mark.parametrize("name", SHOWN)
def test_text_of_a_picture_is_neither_cut_off_nor_covered(name, width, chromium, tmp_path):
    """In the fonts of this browser, which need not be those that the text was measured in."""
    svg = getattr(pictures(figure("f", *SHOWN[name]), is_public=False), width)
    tab = opened(svg, chromium, tmp_path)
    assert tab.evaluate("document.querySelectorAll('text').length") > 10
    assert tab.evaluate(CUT) == []
    assert tab.evaluate(COVERED) == []
    tab.close()


def opened(svg, chromium, tmp_path):
    """Return a tab that shows a picture by itself."""
    path = tmp_path / "picture.svg"
    path.write_text(svg, "utf-8")
    return chromium.open(path, height=6000)


def test_text_that_is_cut_off_or_covered_is_caught(chromium, tmp_path):
    """Broken twins: the paper made smaller, and larger type."""
    svg = pictures(figure("f", *SHOWN["boxes"]), is_public=False).wide
    width, height = size(svg)
    old, new = (f'width="{each}" height="{height}"' for each in (width, width - 30))
    box = f'viewBox="0 0 {width} '
    cut = svg.replace(old, new, 1).replace(box, f'viewBox="0 0 {width - 30} ', 1)
    tab = opened(cut, chromium, tmp_path)
    assert tab.evaluate(CUT)
    tab.close()
    tab = opened(re.sub(r'font-size="1[123](px)?"', 'font-size="24"', svg), chromium, tmp_path)
    assert tab.evaluate(COVERED)
    tab.close()

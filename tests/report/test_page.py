"""The page as text: sealed, escaped, marked throughout, in good order."""

import base64
import hashlib
import re
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from perrecord.errors import InputError
from perrecord.evaluate.confidential import HEADER
from perrecord.report.figure import ShownTable, pictures
from perrecord.report.page import Page, Section, report_page
from perrecord.version import VERSION
from tests.report.samples import HOSTILE, draw_points, figure, page, point_table, shown


class Read(HTMLParser):
    """What a parser finds in a page."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.title, self.inside = Counter(), [], "", ""
        self.text, self.headings = "", []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        """Count the element and keep its attributes."""
        self.tags[tag] += 1
        self.attributes += [(tag, name, value) for name, value in attrs]
        self.inside = tag
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))

    def handle_data(self, data):
        """Keep what is read."""
        self.text += data if self.inside not in ("style", "script") else ""
        self.title += data if self.inside == "title" else ""

    def handle_endtag(self, tag):
        """What follows is outside."""
        self.inside = ""


def written(report, *, is_public=False):
    """Return a report as HTML."""
    drawn = {each.name: pictures(each, is_public=is_public) for each in report.figures}
    return report_page(report, drawn, is_public=is_public, folder="figures")


@pytest.fixture(scope="module")
def confidential():
    """The rich report, confidential."""
    return written(page())


@pytest.fixture(scope="module")
def attacked():
    """The rich report with hostile texts wherever there are texts."""
    return written(page(hostile))


@pytest.fixture(scope="module")
def public():
    """The rich report of public data."""
    return written(page(), is_public=True)


def small(*sections, findings=()):
    """Return a report of a few words."""
    return Page("Title", ("Lead.",), findings, sections)


# -- sealed ----------------------------------------------------------------------------------------


def loads(html):
    """Return what a page would load from elsewhere or run."""
    found = Read(html)
    own = ("data:image/svg+xml;base64,", "#")
    return [
        (tag, name, value)
        for tag, name, value in found.attributes
        if (name in ("src", "srcset", "href") and not value.startswith(own))
        or name.startswith("on")
        or name == "style"
    ] + [tag for tag in ("script", "link", "iframe", "object", "embed") if found.tags[tag]]


def test_the_page_is_complete_in_itself(confidential, public):
    """It refers to nothing but the files of its figures, by relative links."""
    for html in (confidential, public):
        links = [value for _, name, value in loads(html)]
        names = [each.name for each in page().figures]
        assert links == [
            f"figures/{name}.{kind}" for name in names for kind in ("svg", "png", "csv")
        ]
        pictures_inside = re.findall(r"base64,([A-Za-z0-9+/=]+)", html)
        assert len(pictures_inside) == 2 * len(names)
        outer = re.sub(r"base64,[A-Za-z0-9+/=]+", "", html)
        inner = "".join(base64.b64decode(each).decode() for each in pictures_inside)
        for text in (outer, inner):
            assert set(re.findall(r"https?://[^\"' ]+", text)) <= {
                "http://www.w3.org/2000/svg",
                "http://www.w3.org/1999/xlink",
            }


@pytest.mark.parametrize(
    "leak", ['<img src="http://x/y.png">', "<script>1</script>", '<p onclick="x">', '<p style="x">']
)
def test_a_page_that_loads_or_runs_something_is_caught(leak, confidential):
    """Broken twin."""
    assert len(loads(confidential.replace("<main>", f"<main>{leak}"))) == 1 + len(
        loads(confidential)
    )


def test_the_content_security_policy_lets_in_only_its_own_style(confidential):
    """Its hash is that of the style; nothing is loaded but data."""
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', confidential)[1]
    style = re.search(r"<style>(.*?)</style>", confidential, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )


# -- escaped ---------------------------------------------------------------------------------------


def hostile(text):
    """Return every kind of attack, then the text."""
    return f"{''.join(HOSTILE)}\ud800 {text}"


def test_hostile_texts_change_no_element(confidential, attacked):
    """The page has the same elements as with harmless texts, and shows the hostile ones."""
    harmless, found = Read(confidential), Read(attacked)
    assert found.tags == harmless.tags
    assert len(found.attributes) == len(harmless.attributes)
    assert HOSTILE[0] in found.text
    assert found.title.startswith(f"CONFIDENTIAL: {HOSTILE[0]}")
    attacked.encode()


def test_a_page_that_does_not_escape_is_caught(confidential, attacked):
    """Broken twin: the same page with its angle brackets let through."""
    twin = attacked.replace("&lt;", "<").replace("&gt;", ">")
    assert Read(twin).tags != Read(confidential).tags


def test_cells_heads_and_captions_are_escaped():
    """Tables are made of names."""
    table = ShownTable(HOSTILE[0], (HOSTILE[1], HOSTILE[2]), ((HOSTILE[0], HOSTILE[1]),))
    found = Read(written(small(Section("s", tables=(table,)))))
    assert found.tags["script"] == found.tags["img"] == found.tags["b"] == 0
    assert found.text.count(HOSTILE[0]) == 2


# -- marked ----------------------------------------------------------------------------------------


def test_confidential_pages_say_so_everywhere(confidential):
    """In the title of the window, at the top, in every section, in the footer."""
    assert Read(confidential).title == "CONFIDENTIAL: Accuracy and loss"
    assert f'<div class="mark" role="note"><p>{HEADER}</p></div>' in confidential
    sections = re.findall(r"<section.*?</section>", confidential, re.DOTALL)
    assert len(sections) == 6
    assert all('<p class="tag">Confidential</p>' in section for section in sections)
    assert HEADER in re.search(r"<footer>.*</footer>", confidential, re.DOTALL)[0]


def test_public_pages_carry_no_mark(public):
    """Nowhere; nor do their pictures."""
    assert "confidential" not in Read(public).text.lower()
    for found in re.findall(r"base64,([A-Za-z0-9+/=]+)", public):
        assert b"CONFIDENTIAL" not in base64.b64decode(found)


def test_every_picture_in_a_confidential_page_is_marked(confidential):
    """Wide and narrow."""
    found = re.findall(r"base64,([A-Za-z0-9+/=]+)", confidential)
    assert len(found) == 8
    assert all(b"CONFIDENTIAL" in base64.b64decode(each) for each in found)


# -- in good order ---------------------------------------------------------------------------------


def test_headings_follow_each_other(confidential):
    """One of the first order; none is skipped on the way down."""
    headings = Read(confidential).headings
    assert headings[0] == 1
    assert headings.count(1) == 1
    assert all(then <= first + 1 for first, then in pairwise(headings))


def test_pictures_and_tables_can_be_listened_to(confidential):
    """A language, a finding for each picture, a caption and scopes for each table."""
    found = Read(confidential)
    assert ("html", "lang", "en") in found.attributes
    alternatives = [value for tag, name, value in found.attributes if (tag, name) == ("img", "alt")]
    assert alternatives == ["Splitting keeps county figures within 5 %."] * 4
    assert found.tags["caption"] == found.tags["table"] == 3
    scopes = [value for tag, name, value in found.attributes if (tag, name) == ("th", "scope")]
    assert Counter(scopes) == {"col": 12, "row": 48}
    identifiers = [value for _, name, value in found.attributes if name == "id"]
    assert len(set(identifiers)) == len(identifiers)
    labels = {value for _, name, value in found.attributes if name == "aria-labelledby"}
    assert labels <= set(identifiers)


def test_contents_are_listed_when_there_is_much():
    """More than three sections; every entry leads somewhere."""
    for count in (3, 4):
        found = Read(written(small(*(Section(f"s{number}") for number in range(count)))))
        assert found.tags["nav"] == (count > 3)
        links = [value for _, name, value in found.attributes if name == "href"]
        assert links == ([f"#section-{number}" for number in range(1, 5)] if count > 3 else [])
        identifiers = [value for _, name, value in found.attributes if name == "id"]
        assert {link[1:] for link in links} <= set(identifiers)


def test_long_tables_are_folded_away():
    """Those of more than twelve rows."""
    for rows, count in ((12, 0), (13, 1)):
        assert Read(written(small(Section("s", tables=(shown(rows),))))).tags["details"] == count


def test_numbers_are_aligned_to_the_right():
    """A column is of numbers if all of its cells are; its head goes with it."""
    rows = (("a", "1,234", "5\xa0%", "–", "x1"), ("b", "2\xa0×\xa010⁷", "<\xa00.1\xa0%", "∞", "2"))
    table = ShownTable("t", ("name", "n", "share", "most", "code"), rows)
    html = written(small(Section("s", tables=(table,))))
    kinds = re.findall(r'scope="col" class="(\w+)"', html)
    assert kinds == ["words", "number", "number", "number", "words"]
    assert html.count('class="number"') == 9


def test_what_is_empty_leaves_no_trace():
    """No list without findings, no picture without figures, no empty paragraph."""
    html = written(small(Section("Only a title")))
    found = Read(html)
    assert not any(found.tags[tag] for tag in ("ul", "ol", "figure", "picture", "table", "details"))
    assert not re.search(r"<(p|li|h\d)[^>]*>\s*</", html)
    assert f"perrecord {VERSION}" in found.text


def test_a_table_without_rows_is_shown():
    """With its heads."""
    found = Read(written(small(Section("s", tables=(ShownTable("t", ("a", "b"), ()),)))))
    assert (found.tags["th"], found.tags["td"]) == (2, 0)


def test_two_figures_of_one_name_are_refused():
    """Their files would be the same."""
    twice = tuple(figure("same", draw_points, point_table()) for _ in range(2))
    with pytest.raises(InputError, match="two figures are named 'same'"):
        small(Section("s", figures=twice))

"""The page in a real browser: a newcomer's path, the file in step, the keyboard, a telephone."""

import json
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord.studio.doors import StudioDoor
from perrecord.studio.running import serving
from perrecord.studio.spec_file import version_of
from tests.cli.conftest import SOURCE, run
from tests.studio.axe import axe_script, serious
from tests.studio.conftest import SPEC

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def served(tmp_path_factory, chromium):
    """One studio for all tests of this module, the path of its spec, and a tab in it."""
    folder = tmp_path_factory.mktemp("studio")
    pq.write_table(SOURCE, folder / "est.parquet")
    path = folder / "release.yaml"
    path.write_text(SPEC, "utf-8")
    rows = {"id": range(90), "county": ["37001", "48001", "48003"] * 30, "emp": [7, 40, 60] * 30}
    pq.write_table(pa.table(rows), folder / "synthetic.parquet")
    with serving(path, StudioDoor("public", str(folder / "synthetic.parquet"))) as (access, _):
        tab = chromium.open(access.address)
        yield path, tab, access
        tab.close()


@pytest.fixture
def studio(served):
    """The path of the spec and the tab, with the spec as it was at the beginning."""
    path, tab, _ = served
    path.write_text(SPEC, "utf-8")
    until(tab, f"document.body.dataset.version === {json.dumps(version_of(SPEC))}")
    return path, tab


def until(tab, condition):
    """Wait until something holds in the page."""
    for _ in range(1200):
        if tab.evaluate(f"Boolean({condition})"):
            return
        tab.settle(50)
    raise AssertionError(f"it never came to hold: {condition}")


def control(answer, field):
    """Return the expression of a control of an answer's form."""
    form = f"document.querySelector('form[aria-label=\"{answer}\"]')"
    return f"{form}.elements[{json.dumps(field)}]"


def fill(tab, answer, field, text):
    """Type into a field and leave it by the tabulator key."""
    it = control(answer, field)
    tab.evaluate(f"{it}.focus(), {it}.select()")
    tab.write(text)
    tab.press("Tab")


def written(tab, path, piece):
    """Wait until the file holds a piece of text, and the page shows the file."""
    for _ in range(1200):
        if piece in path.read_text("utf-8"):
            break
        tab.settle(50)
    text = path.read_text("utf-8")
    assert piece in text
    until(tab, f"document.body.dataset.version === {json.dumps(version_of(text))}")


TOTAL = "counties, employees"


def test_choices_by_keyboard_reach_the_file_and_the_page(studio):
    """Typed, left with Tab: written at once, the noise and the losses follow, the focus goes on."""
    path, tab = studio
    fill(tab, TOTAL, "amount", "0.8")
    written(tab, path, "employees: {sum: emp, split: moderate, rho: 0.8}")
    until(tab, f"{control(TOTAL, 'amount')}.form.querySelector('.noise').dataset.noise === '39.53'")
    it = control(TOTAL, "method")
    tab.evaluate(f"{it}.focus()")
    tab.press("Home")
    written(tab, path, "employees: {sum: emp, taper: 50, rho: 0.8}")
    assert tab.evaluate(f"document.activeElement === {it}")
    tab.evaluate("document.getElementById('undo').focus()")
    tab.press("Enter")
    written(tab, path, "employees: {sum: emp, split: moderate, rho: 0.8}")
    tab.evaluate("document.getElementById('undo').focus()")
    tab.press(" ")
    written(tab, path, SPEC)
    tab.evaluate("document.getElementById('redo').click()")
    written(tab, path, "rho: 0.8}")


def test_a_change_in_an_editor_appears(studio):
    """Without a reload; what takes a moment is computed anew."""
    path, tab = studio
    path.write_text(SPEC.replace("By county", "Counties of two states"))
    until(tab, "document.querySelector('#answers h3').textContent === 'Counties of two states'")
    until(tab, "document.querySelectorAll('#curves svg').length === 1")
    until(tab, "document.querySelector('#ledger h3')")


def test_values_of_the_public_file_stay_beside_names_and_types(studio):
    """While choices are made; they go with a spec that cannot be read, and come back with it."""
    path, tab = studio
    until(tab, "document.querySelector('#values dl')")
    shown = tab.evaluate("document.getElementById('values').textContent")
    assert "3 different; most often 37001 (30), 48001 (30), 48003 (30)" in shown
    assert "the largest is 60" in shown
    fill(tab, TOTAL, "amount", "0.7")
    written(tab, path, "rho: 0.7}")
    until(tab, "document.querySelector('#values:not([aria-busy=\"true\"]) dl')")
    assert tab.evaluate("document.getElementById('values').textContent") == shown
    path.write_text("title: [")
    until(tab, "document.querySelector('#values') === null")
    path.write_text(SPEC)
    until(tab, "document.querySelector('#values dl')")


def test_text_that_is_being_typed_is_not_overwritten(studio):
    """A change elsewhere leaves it as it is; saving shows both, and nothing is lost."""
    path, tab = studio
    tab.evaluate("document.getElementById('text-details').open = true")
    tab.evaluate("document.getElementById('text').focus()")
    tab.write("# mine\n")
    theirs = SPEC.replace("By county", "Theirs")
    path.write_text(theirs)
    until(tab, "document.querySelector('#answers h3').textContent === 'Theirs'")
    assert "# mine" in tab.evaluate("document.getElementById('text').value")
    tab.evaluate("document.getElementById('save').click()")
    until(tab, "document.getElementById('typed')")
    assert path.read_text("utf-8") == theirs
    assert tab.evaluate("document.getElementById('text').value") == theirs
    assert "# mine" in tab.evaluate("document.getElementById('typed').value")
    tab.evaluate("document.getElementById('dismiss').click()")
    until(tab, "!document.getElementById('typed')")


def test_a_broken_spec_shows_its_mistakes_and_recovers(studio):
    """In the page's own text, corrected there."""
    path, tab = studio
    path.write_text(SPEC.replace("split: moderate, rho: 0.2", "split: modrate, rho: 0.2"))
    until(tab, "document.querySelector('.problems')")
    said = tab.evaluate("document.querySelector('.problems').textContent")
    assert re.search(r"release\.yaml:21: queries\[0\]\.answers\.employees\.split: no split", said)
    assert tab.evaluate("document.getElementById('text-details').open")
    tab.evaluate(
        "document.getElementById('text').focus(), document.getElementById('text').select()"
    )
    tab.write(SPEC)
    tab.evaluate("document.getElementById('save').click()")
    written(tab, path, SPEC)
    until(tab, "!document.querySelector('.problems') && document.querySelector('[data-loss]')")


def test_nothing_leaves_the_machine_and_nothing_is_complained_of(served, studio):
    """Every request goes to the studio; the content security policy is not even tried."""
    _, tab = studio
    host = served[2].host
    asked = [each["request"]["url"] for each in tab.events("Network.requestWillBeSent")]
    assert {url.split("/")[2] for url in asked if not url.startswith("data:")} == {host}
    assert tab.events("Runtime.exceptionThrown") == []
    refused = [e["entry"]["text"] for e in tab.events("Log.entryAdded")]
    assert [text for text in refused if "Content Security" in text] == []
    attack = "(() => { try { return new Function('return 7')(); } catch { return 'refused'; } })()"
    given = tab.send(
        "Runtime.evaluate", expression=attack, allowUnsafeEvalBlockedByCSP=False, returnByValue=True
    )
    assert given["result"]["value"] == "refused"


@pytest.mark.parametrize("width", [360, 800, 1400])
def test_it_fits_its_width(studio, width):
    """Down to a telephone, nothing is wider than the page."""
    _, tab = studio
    until(tab, "document.querySelector('#errors table') && document.querySelector('#levels table')")
    tab.send(
        "Emulation.setDeviceMetricsOverride",
        width=width, height=800, deviceScaleFactor=1, mobile=width < 500,
    )  # fmt: skip
    tab.settle(100)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_every_control_has_a_name(studio):
    """As a screen reader would say it; and every link and button too."""
    _, tab = studio
    unnamed = tab.evaluate(
        """[...document.querySelectorAll("input:not([type=hidden]), select, textarea, button, a")]
            .filter(it => !(it.labels && it.labels.length) && !it.getAttribute("aria-label")
                          && !it.textContent.trim()).map(it => it.outerHTML)"""
    )
    assert unnamed == []
    twice = tab.evaluate(
        """[...document.querySelectorAll("[id]")].map(it => it.id)
            .filter((id, place, every) => every.indexOf(id) !== place)"""
    )
    assert twice == []


IS_QUIET = """!document.querySelector('[aria-busy="true"]')"""
"""No panel is still fetched: until it is there it is shown pale."""


@pytest.mark.npm
def test_axe_finds_no_serious_fault(studio, served, chromium, tmp_path):
    """On the page with everything on it, on the page with mistakes, and in the guide."""
    path, tab = studio
    script = axe_script(tmp_path)
    click(tab, "find")
    until(tab, "document.querySelector('#found svg') && document.querySelector('#levels table')")
    click(tab, "ask-ledger")
    until(tab, "document.getElementById('question')")
    until(tab, IS_QUIET)
    tab.evaluate("document.querySelectorAll('details').forEach(it => { it.open = true; })")
    assert serious(tab, script) == []
    tab.evaluate("document.getElementById('undo').replaceChildren()")  # a button without a name
    assert [name for name, _ in serious(tab, script)] == ["button-name"]
    path.write_text(SPEC.replace("split: moderate, rho: 0.2", "split: modrate, rho: 0.2"))
    until(tab, "document.querySelector('.problems') && document.querySelector('#undo .what')")
    until(tab, IS_QUIET)
    assert serious(tab, script) == []
    guide = chromium.open(f"http://{served[2].host}/guide")
    assert guide.evaluate("document.title").startswith("Guide")
    assert serious(guide, script) == []
    guide.close()


def click(tab, name):
    """Wait for a button, and click it."""
    until(tab, f"document.getElementById('{name}') && !document.getElementById('{name}').disabled")
    tab.evaluate(f"document.getElementById('{name}').click()")


def put(tab, name, text):
    """Type into a field by its id, and leave it by the tabulator key."""
    until(tab, f"document.getElementById('{name}')")
    tab.evaluate(f"document.getElementById('{name}').focus()")
    tab.evaluate(f"document.getElementById('{name}').select()")
    tab.write(text)
    tab.press("Tab")


ASKED = """  - name: by_county
    group_by: [county]
    keys: listed
    answers:
      employees: {sum: emp, taper: 20, rho: 0.1}    # typed by a newcomer
"""


def test_a_newcomer_gets_from_a_csv_file_to_a_release(tmp_path, monkeypatch, chromium):
    """From init to a release: a table, a goal, a cap, what they take, the ledger, and yes twice."""
    monkeypatch.chdir(tmp_path)
    for name, step in (("firms.csv", 1), ("synthetic.csv", 3)):
        rows = ["county,emp", *(f"{37001 + 2 * (n % 2)},{step * n % 41}" for n in range(200))]
        (tmp_path / name).write_text("\n".join(rows) + "\n")
    assert run("init", "firms.csv").code == 0
    path = tmp_path / "release.yaml"
    text = path.read_text("utf-8")
    text = text.replace(
        "outputs:",
        f"{ASKED}\nkeys: {{listed: {{values: {{county: ['37001', '37003']}}}}}}\n"
        "examples: [{name: a shop, emp: 3, county: '37001'}]\noutputs:",
    )
    text = text.replace(
        "  rho: 1\n", "  rho: 1\n  tapers: [{measure: emp, at: 20, rho: 2, times: 2}]\n"
    )
    with serving(path, StudioDoor("public", str(tmp_path / "synthetic.csv"))) as (access, _):
        tab = chromium.open(access.address)
        until(tab, "document.querySelector('#ledger h3')")
        tab.evaluate("document.getElementById('text-details').open = true")
        tab.evaluate(
            "document.getElementById('text').focus(), document.getElementById('text').select()"
        )
        tab.write(text)
        click(tab, "save")
        written(tab, path, ASKED)
        put(tab, "goal-every", "20% for 100% of cells")
        written(tab, path, 'tuning: {goals: {"*": 20% for 100% of cells}}')
        click(tab, "find")
        click(tab, "take")
        until(tab, "document.getElementById('taken')")
        found = path.read_text("utf-8")
        assert re.search(r"employees: {sum: emp, taper: 20, rho: 0\.\d+}    # typed", found)
        assert "rho: 0.1}    # typed" not in found
        until(tab, "document.querySelectorAll('#found svg .mark').length === 2")
        put(tab, "cap-0", "0.5")
        written(tab, path, "caps: {a shop: 0.5}")
        until(tab, "document.querySelector('[data-kept=\"a shop\"]').textContent === 'yes'")
        click(tab, "ask-ledger")
        click(tab, "confirm")
        click(tab, "ask-release")
        until(tab, "document.querySelector('#question pre')")
        asked = tab.evaluate("document.querySelector('#question pre').textContent").strip()
        assert asked == f"perrecord release {path} --out published"
        assert not (tmp_path / "published").exists()
        tab.evaluate("for (const _ of 'ab') document.getElementById('confirm').click()")
        until(tab, "document.getElementById('done')?.textContent.includes('made: ')")
        tab.evaluate("location.reload()")
        until(tab, "document.getElementById('done')?.textContent.includes('made: ')")
        tab.close()
    assert (tmp_path / "published" / "tables" / "by_county.csv").is_file()
    said = run("ledger", "show", "firms.ledger", "--json").json()
    assert [each["kind"] for each in said["entries"]].count("charge") == 1
    assert run(*asked.split()[1:], "--json").json()["did"] == "nothing"

"""The studio over HTTP: who is let in, what is shown, and what never is."""

import html
import http.client
import json
import re
import socket
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord.evaluate.accuracy.errors import accuracy as truth_errors
from perrecord.evaluate.accuracy.summaries import summary
from perrecord.evaluate.accuracy.truths import counted
from perrecord.exact import amount_up
from perrecord.release.spec import build, open_table, parse_spec
from perrecord.report.numbers import percent
from perrecord.studio import accuracy, pages
from perrecord.studio.facts import CurvesKept, SpecReading
from perrecord.studio.running import serving
from perrecord.studio.server import Access
from tests.cli.conftest import SECRET, SECRET_NUMBER, run
from tests.studio.conftest import SPEC, Visitor, visiting

# -- who is let in -----------------------------------------------------------------------------

ADDRESSES = (
    *("/", "/changed?since=x", "/curves", "/ledger", "/policy", "/values", "/guide", "/studio.js"),
)
POSTED = ("/choose", "/write", "/undo", "/redo", "/dismiss")


def test_the_token_is_good_for_one_entry(spec):
    """The address that was printed gives a cookie once; anybody else is refused."""
    with serving(spec) as (access, _):
        stranger = Visitor(access, spec)
        entry = access.address.partition(access.host)[2]
        for wrong in ("/enter", "/enter?token=", "/enter?token=None", entry[:-1]):
            assert stranger.ask(wrong)[0] == 403
        status, headers, _ = stranger.ask(entry)
        assert (status, headers["location"]) == (303, "/")
        assert {"httponly", "samesite=strict"} <= {
            each.strip().lower() for each in headers["set-cookie"].split(";")
        }
        assert stranger.ask(entry)[0] == 403


@pytest.mark.parametrize("address", [*ADDRESSES, *POSTED, "/nothing"])
def test_without_the_cookie_nothing_is_answered(visitor, address):
    """Neither read nor changed, with another cookie neither."""
    form = {"version": visitor.version(), "text": "gone"} if address in POSTED else None
    for cookie in (None, "perrecord_studio=guess", "other=1"):
        stranger = Visitor(visitor.access, visitor.path, cookie)
        status, _, text = stranger.ask(address, form)
        assert status == 403
        assert "Establishments" not in text
    assert visitor.text() == SPEC


@pytest.mark.parametrize("host", ["localhost", "evil.example", "127.0.0.1", "", "0.0.0.0"])
def test_another_host_is_refused(visitor, host):
    """A name that somebody else made to point here is no name of ours."""
    named = f"{host}:{visitor.access.port}" if host != "127.0.0.1" else host
    assert visitor.ask("/", Host=named)[0] == 403
    assert visitor.ask("/write", {"text": "gone"}, Host=named)[0] == 403
    assert visitor.ask("/", Host=visitor.access.host)[0] == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost", None])
def test_a_form_of_another_origin_is_refused(visitor, origin):
    """And one that does not say where it comes from."""
    form = {"version": visitor.version(), "text": "gone"}
    for address in POSTED:
        assert visitor.ask(address, form, Origin=origin)[0] == 403
    assert visitor.text() == SPEC
    if origin is not None:
        assert visitor.ask("/", Origin=origin)[0] == 403


def test_requests_from_other_sites_are_refused(visitor):
    """As browsers say it of images, frames and links; the cookie is not even sent with them."""
    for site in ("cross-site", "same-site"):
        assert visitor.ask("/", Sec_Fetch_Site=site)[0] == 403
        assert visitor.ask("/policy", Sec_Fetch_Site=site)[0] == 403
    assert visitor.ask("/", Sec_Fetch_Site="same-origin")[0] == 200


def test_two_hosts_in_one_request_are_refused(visitor):
    """Of which one is ours."""
    with socket.create_connection(("127.0.0.1", visitor.access.port)) as line:
        heads = f"Host: {visitor.access.host}\r\nHost: evil.example\r\nCookie: {visitor.cookie}"
        line.sendall(f"GET / HTTP/1.1\r\n{heads}\r\nConnection: close\r\n\r\n".encode())
        assert line.recv(100).split()[1] in (b"400", b"403")


def test_other_machines_do_not_reach_it(visitor):
    """It listens on this machine's own address alone."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    listening = [line.split()[1] for line in lines]
    port = f"{visitor.access.port:04X}"
    assert {each for each in listening if each.endswith(f":{port}")} == {f"0100007F:{port}"}


def test_a_guess_does_not_use_up_the_token():
    """And an exchange does."""
    access = Access(1)
    assert access.exchanged("guess") is None
    assert access.exchanged(access.token) == access.cookie
    assert access.exchanged("None") is None
    assert not access.knows(None)


@pytest.mark.parametrize("address", ADDRESSES[:1] + ADDRESSES[2:])
def test_every_answer_is_sealed(visitor, address):
    """No script but ours, no eval, nothing from elsewhere, no frame, nothing kept."""
    _, headers, text = visitor.ask(address)
    policy = headers["content-security-policy"]
    if address == "/policy":
        assert "script-src 'sha256-" in text
        assert "default-src 'none'" in text
    else:
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["cache-control"] == "no-store"
    assert "server" not in headers
    assert not re.search(r"<script(?! src)|\sstyle=|\son\w+=", text) or address == "/policy"


def test_a_form_that_is_too_long_is_refused(visitor):
    """Before it is read to its end."""
    assert visitor.ask("/write", {"text": "x" * 2_100_000})[0] == 413
    assert visitor.text() == SPEC


def test_other_methods_and_addresses_are_refused(visitor):
    """Nothing is changed by a link."""
    for address in POSTED:
        assert visitor.ask(address)[0] == 405
    assert visitor.ask("/nothing")[0] == 404
    connection = http.client.HTTPConnection("127.0.0.1", visitor.access.port)
    origin = {"Origin": f"http://{visitor.access.host}", "Cookie": visitor.cookie}
    connection.request("DELETE", "/", headers=origin)
    assert connection.getresponse().status == 405
    connection.close()


# -- what is shown -----------------------------------------------------------------------------


def test_the_numbers_are_those_of_check(visitor, monkeypatch):
    """Losses, noise, hints and the ledger's word, as the command line has them."""
    monkeypatch.chdir(visitor.path.parent)
    said = run("check", visitor.path, "--json").json()
    page = visitor.page()
    losses = re.findall(r'<th scope="row">([^<]+)</th><td class="number" data-loss="([^"]+)"', page)
    assert losses == [(each["name"], each["loss"]) for each in said["examples"]]
    noises = re.findall(r'data-noise="([^"]*)"', page)
    assert noises == [f"{each['standard_errors'][0]:,.4g}" for each in said["answers"]]
    for hint in said["hints"]:
        assert html.escape(hint, quote=False) in html.unescape(page).replace("&", "&amp;")
    _, _, ledger = visitor.ask("/ledger")
    assert html.escape(said["ledger"]["remark"]).replace("&#x27;", "&#39;") in ledger
    assert 'id="ask-ledger"' in ledger
    assert 'id="ask-release"' not in ledger


def test_the_ledger_says_what_is_left(visitor, monkeypatch):
    """And why a release would be refused."""
    monkeypatch.chdir(visitor.path.parent)
    run("ledger", "create", "release.yaml")
    _, _, text = visitor.ask("/ledger")
    assert "allows it" in text
    assert "ledger create" not in text
    # A plant of 150 is 3 pieces: 9 of budget, less 0.1 + 9 * 0.2 + 0.05 + 9 * 0.1.
    assert re.search(r'a plant</th><td class="number">6.15<', text)
    visitor.choose("0/establishments", amount="2")
    _, _, text = visitor.ask("/ledger")
    assert "It would be refused" in text
    assert 'id="ask-release"' not in text


def test_curves_show_the_librarys_numbers(visitor):
    """Point by point, in the table beside the picture; the picture has a line for each."""
    _, _, text = visitor.ask("/curves")
    reading = SpecReading(visitor.path)
    facts = reading.facts(SPEC)
    curves = CurvesKept().of(facts.loaded, facts.workload)
    reading.close()
    rows = curves.by_size.to_pylist()
    assert text == pages.curves_panel(curves, "rho")
    assert text.count("<polyline") == 4
    assert all(pages.amount(row["presence"]) in text for row in rows)
    for each in curves.raised:
        assert amount_up(each.loss.amount) in text


def test_a_choice_changes_file_and_page(visitor):
    """And undo takes it back."""
    page = visitor.choose("0/employees", amount="0.8")
    assert "moderate, rho: 0.8}" in visitor.text()
    assert 'data-noise="39.53"' in page
    assert "employees: rho 0.8" in page
    visitor.ask("/undo", {"version": visitor.version()})
    assert visitor.text() == SPEC
    visitor.ask("/redo", {"version": visitor.version()})
    assert "moderate, rho: 0.8}" in visitor.text()


def test_a_page_waits_for_a_change_of_the_file(visitor):
    """It is told at once what the version is by then."""
    version = visitor.version()
    visitor.path.write_text(SPEC + "# more\n")
    status, _, told = visitor.ask(f"/changed?since={version}")
    assert status == 200
    assert told == visitor.version() != version


def test_a_broken_spec_is_shown_with_its_mistakes(visitor):
    """Slow panels say why they are not there; the page itself is, with the text to correct."""
    visitor.path.write_text(SPEC.replace("split: moderate, rho: 0.2", "split: modrate, rho: 0.2"))
    page = html.unescape(visitor.page())
    assert "queries[0].answers.employees.split: no split 'modrate'" in page
    assert "split: modrate, rho: 0.2" in page
    assert visitor.ask("/curves")[0] == visitor.ask("/policy")[0] == 409
    visitor.ask("/write", {"version": visitor.version(), "text": SPEC})
    assert visitor.text() == SPEC
    assert visitor.ask("/curves")[0] == 200


HOSTILE = """</textarea><script>alert(1)</script>"&'{{7*7}}"""


def test_hostile_names_are_inert(visitor):
    """Titles, measures, answers and examples are text on every panel."""
    name = json.dumps(HOSTILE)
    text = SPEC.replace("By county", name[1:-1].join(['"', '"'])).replace("a plant", name)
    text = text.replace("establishments:", f"{name}:")
    visitor.path.write_text(text)
    for address in ("/", "/curves", "/ledger"):
        status, _, shown = visitor.ask(address)
        assert status == 200
        assert "<script>alert" not in shown
        assert "49" not in re.findall(r"\{\{.*?\}\}", shown)
    assert html.unescape(visitor.page()).count(HOSTILE) >= 3


def test_nothing_confidential_is_shown_or_written(visitor, monkeypatch):
    """No key, no number of the table, whatever is asked for; and no file appears beside it."""
    monkeypatch.chdir(visitor.path.parent)
    run("ledger", "create", "release.yaml")
    before = {each.name for each in visitor.path.parent.iterdir()}
    visitor.choose("0/employees", method="taper")
    visitor.choose("0/employees", size="nothing")
    pages_seen = [visitor.ask(each)[2] for each in ("/", *ADDRESSES[2:])]
    visitor.path.write_text("title: [")
    pages_seen.append(visitor.page())
    for text in pages_seen:
        assert SECRET not in text
        assert str(SECRET_NUMBER) not in text.replace(",", "")
    assert {each.name for each in visitor.path.parent.iterdir()} == before


def test_an_error_that_nobody_foresaw_is_withheld(visitor, monkeypatch):
    """What it says may quote a record."""

    def fail(*_):
        raise ValueError(SECRET)

    monkeypatch.setattr("perrecord.studio.facts.checked_release", fail)
    visitor.path.write_text(SPEC + "# more\n")
    status, _, text = visitor.ask("/")
    assert status == 500
    assert "ValueError" in text
    assert SECRET not in text


def test_errors_by_size_are_the_librarys(spec, tmp_path, monkeypatch):
    """On a file that was declared public; counted once, whatever is chosen afterwards."""
    other = tmp_path / "synthetic.parquet"
    rows = pa.table({"id": range(60), "county": ["37001"] * 50 + ["48001"] * 10, "emp": [7] * 60})
    pq.write_table(rows, other)
    scans = []
    monkeypatch.setattr(
        accuracy, "counted", lambda *given, **how: scans.append(1) or counted(*given, **how)
    )
    with visiting(spec, str(other)) as visitor:
        _, _, text = visitor.ask("/errors")
        visitor.choose("0/employees", amount="0.8")
        visitor.choose("0/employees", method="taper")
        _, _, changed = visitor.ask("/errors")
        written = visitor.text()
    assert scans == [1]
    for spec_text, shown in ((SPEC, text), (written, changed)):
        with open_table(parse_spec(spec_text, spec), str(other)) as table:
            plan = build(parse_spec(spec_text, spec), table.schema).plan
            found = summary(truth_errors(plan, table), by=("query", "answer", "size"))
        figures = ("median_relative_error", "within_5_percent")
        wanted = [
            (row["size"], f"{row['cells']:,}", *(percent(row[each]) for each in figures))
            for row in found.to_pylist()
        ]
        cell = '<td class="number">(.*?)</td>'
        assert re.findall(f'data-size="([^"]+)">.*?{3 * cell}', shown) == wanted
    assert text != changed


def test_values_are_those_of_the_public_file(spec, tmp_path):
    """As the library reads them, and nothing of the source; hostile ones are text."""
    other = tmp_path / "synthetic.parquet"
    places = ["37001"] * 50 + [HOSTILE] * 9 + [None]
    rows = pa.table({"id": range(60), "county": places, "emp": [*range(59), None]})
    pq.write_table(rows, other)
    with visiting(spec, str(other)) as visitor:
        _, _, text = visitor.ask("/values")
        assert 'data-later="/values"' in visitor.page()
        visitor.choose("0/employees", amount="0.8")
        assert visitor.ask("/values")[2] == text
        pq.write_table(rows.slice(0, 50), other)
        assert "37001 (50)" in visitor.ask("/values")[2]
        assert "have none" not in visitor.ask("/values")[2]
    shown = html.unescape(text)
    assert f"2 different; most often 37001 (50), {HOSTILE[:40]}… (9); 1 of 60 have none" in shown
    assert "50\xa0% have at most 29; 90\xa0% have at most 53; 99\xa0% have at most 58" in shown
    assert "the largest is 58; 1 of 60 have none" in shown
    assert "<script>" not in text
    assert SECRET not in text


def test_without_a_door_there_are_no_values(visitor):
    """Names and types alone; what follows from what is declared."""
    assert visitor.ask("/values")[0] == 404
    page = visitor.page()
    assert "/values" not in page
    assert "no value of a record is on this page" in page
    assert "<dt>county</dt><dd>fixes state</dd>" in page


def test_the_source_itself_is_not_taken_for_public(spec):
    """Whoever names it by mistake is told so, and no number of it is shown."""
    with visiting(spec, str(spec.with_name("est.parquet"))) as visitor:
        assert "confidential. Name a public" in visitor.page()
        assert visitor.ask("/errors")[0] == 409


def test_without_public_data_there_are_no_errors(visitor):
    """The panel is not even there."""
    assert visitor.ask("/errors")[0] == 404
    assert "/errors" not in visitor.page()


def test_another_file_stands_for_the_source(spec, tmp_path):
    """The source itself need not be there."""
    other = tmp_path / "synthetic.parquet"
    (tmp_path / "est.parquet").rename(other)
    with visiting(spec) as visitor:
        assert "there is no file" in visitor.page()
    with visiting(spec, str(other)) as visitor:
        assert "synthetic.parquet" in visitor.page()
        assert visitor.ask("/curves")[0] == 200

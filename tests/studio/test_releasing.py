"""A release from the page: shown, asked, done once, and never by accident."""

import html
import json
import re
from threading import Thread

import pyarrow.parquet as pq
import pytest

from perrecord.accounting.entries import Charge
from perrecord.accounting.ledger import Ledger
from perrecord.exact import amount_up
from perrecord.release.spec import build, open_table, parse_spec
from tests.cli.conftest import SECRET, SECRET_NUMBER, SOURCE, run
from tests.studio import conftest
from tests.studio.conftest import Visitor, visiting

SPEC = conftest.SPEC.replace("budget: {rho: 1,", "budget: {rho: 9,")
POSTED = ("/wish", "/find", "/take", "/share", "/compare", "/ask", "/confirm", "/cancel")


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Whoever has entered one studio for all tests of this module; its ledger is there."""
    folder = tmp_path_factory.mktemp("releasing")
    pq.write_table(SOURCE, folder / "est.parquet")
    path = folder / "release.yaml"
    path.write_text(SPEC, "utf-8")
    with visiting(path) as found:
        yield found


@pytest.fixture
def visitor(served, monkeypatch):
    """The same in its folder, with the spec and a new ledger, and nothing asked."""
    folder = served.path.parent
    monkeypatch.chdir(folder)
    served.path.write_text(SPEC, "utf-8")
    run("ledger", "create", "release.yaml")
    served.post("/cancel")
    served.post("/dismiss")
    return served


def shown(visitor):
    """Return the panel of the ledger and the release."""
    status, _, text = visitor.ask("/ledger")
    assert status == 200, text
    return html.unescape(text)


def asked(visitor, out):
    """Ask for a release, and return what says yes to it."""
    visitor.post("/ask", kind="release", out=out)
    return re.search(r'name="token" value="([^"]+)"', shown(visitor))[1]


def charges(visitor):
    """Return what was charged to the ledger."""
    ledger = Ledger.open(visitor.path.with_name("est.ledger"))
    return [each for each in ledger.entries() if isinstance(each, Charge)]


def test_a_ledger_and_a_release_are_made_once_asked_and_answered(tmp_path, monkeypatch):
    """The command and its charge come first; what is done is what the command does."""
    pq.write_table(SOURCE, tmp_path / "est.parquet")
    path = tmp_path / "release.yaml"
    path.write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    with visiting(path) as visitor:
        visitor.post("/ask", kind="release", out="published")
        assert "no ledger yet; make it first" in visitor.page()
        visitor.post("/ask", kind="ledger")
        question = shown(visitor)
        assert f"<code>perrecord ledger create {path}</code>" in question
        assert not path.with_name("est.ledger").exists()
        visitor.post("/confirm", token=re.search(r'name="token" value="([^"]+)"', question)[1])
        assert charges(visitor) == []
        token = asked(visitor, "published")
        question = shown(visitor)
        assert f"<code>perrecord release {path} --out published</code>" in question
        with open_table(parse_spec(SPEC, path)) as table:
            workload = build(parse_spec(SPEC, path), table.schema)
        losses = {name: amount_up(workload.policy.loss(each)) for name, each in workload.examples}
        rows = r'data-charged="([^"]+)"><th scope="row">[^<]+</th><td class="number">([^<]+)<'
        assert dict(re.findall(rows, question)) == losses
        assert all(str(line).strip() in question for line in workload.policy.lines())
        assert not (tmp_path / "published").exists()
        visitor.post("/confirm", token=token)
        (charge,) = charges(visitor)
        said = shown(visitor)
        assert charge.hash in said
        assert f"made: {tmp_path / 'published'}" in said
        assert charge.policy == workload.policy
        manifest = json.loads((tmp_path / "published" / "manifest.json").read_bytes())
        assert manifest["charge"] == charge.hash
        assert SECRET not in said
        assert str(SECRET_NUMBER) not in said.replace(",", "")
    again = run("release", "release.yaml", "--out", "published", "--json")
    assert again.json()["did"] == "nothing"


def test_two_answers_release_once(visitor):
    """Whether one after the other, at once, or after the page was loaded again."""
    token = asked(visitor, "twice")
    both = [Thread(target=visitor.post, args=("/confirm",), kwargs={"token": token}) for _ in "ab"]
    for each in both:
        each.start()
    for each in both:
        each.join()
    before = charges(visitor)
    assert len(before) == 1
    assert "nothing was done: it was answered before" in visitor.page()
    for _ in "ab":
        visitor.page()
        shown(visitor)
        visitor.post("/confirm", token=token)
    assert charges(visitor) == before


def test_nothing_is_released_by_a_link_a_guess_or_another_site(visitor):
    """The question stays, and the ledger as it is."""
    visitor.path.write_text(SPEC.replace("rho: 0.1}", "rho: 0.11}"))
    before, token = charges(visitor), asked(visitor, "stolen")
    form = {"token": token}
    assert visitor.ask(f"/confirm?token={token}")[0] == 405
    for origin in ("http://evil.example", "null", None):
        assert visitor.ask("/confirm", form, Origin=origin)[0] == 403
    assert visitor.ask("/confirm", form, Host="evil.example")[0] == 403
    assert visitor.ask("/confirm", form, Sec_Fetch_Site="cross-site")[0] == 403
    assert Visitor(visitor.access, visitor.path, None).ask("/confirm", form)[0] == 403
    assert f'value="{token}"' in shown(visitor)
    for guess in ("", "None", token[:-1]):
        visitor.post("/confirm", token=guess)
        assert "nothing was done" in visitor.page()
    assert "question" not in shown(visitor)  # a wrong answer is one too
    visitor.post("/confirm", token=token)
    assert charges(visitor) == before
    assert not visitor.path.with_name("stolen").exists()


def test_what_has_changed_since_is_asked_again(visitor):
    """The spec, or what the ledger has been charged for elsewhere."""
    visitor.path.write_text(SPEC.replace("rho: 0.1}", "rho: 0.12}"))
    token = asked(visitor, "changed")
    titled = visitor.text().replace("By county", "Counties")  # which costs the same
    visitor.path.write_text(titled)
    before = charges(visitor)
    assert "question" not in shown(visitor)
    visitor.post("/confirm", token=token)
    assert "has changed since you were asked" in visitor.page()
    assert charges(visitor) == before
    visitor.path.write_text(SPEC.replace("rho: 0.1}", "rho: 0.13}"))
    token = asked(visitor, "changed")
    run("release", "release.yaml", "--out", "elsewhere")
    before = charges(visitor)
    visitor.post("/confirm", token=token)
    assert "has changed since you were asked" in visitor.page()
    assert charges(visitor) == before
    assert not visitor.path.with_name("changed").exists()


def test_what_the_command_refuses_is_refused(visitor):
    """By the ledger before it is asked, by the folder after; the page says why."""
    visitor.path.write_text(SPEC.replace("rho: 0.1}", "rho: 99}"))
    visitor.post("/ask", kind="release", out="beyond")
    assert "question" not in shown(visitor)
    assert "It would be refused" in shown(visitor)
    visitor.path.write_text(SPEC.replace("rho: 0.1}", "rho: 0.14}"))
    before = charges(visitor)
    visitor.post("/confirm", token=asked(visitor, "release.yaml"))
    assert "exists already and holds something other than this release" in html.unescape(
        visitor.page()
    )
    assert charges(visitor) == before
    visitor.post("/ask", kind="release", out=" ")
    assert "name the folder" in visitor.page()
    visitor.post("/ask", kind="burn", out="x")
    assert "question" not in shown(visitor)


def test_a_question_can_be_answered_with_no(visitor):
    """Then there is none, and its yes is void."""
    before, token = charges(visitor), asked(visitor, "refused")
    visitor.post("/cancel")
    assert "question" not in shown(visitor)
    visitor.post("/confirm", token=token)
    assert charges(visitor) == before


def test_these_addresses_are_guarded_as_all_are(visitor):
    """Posted alone, from this origin, with the cookie."""
    stranger = Visitor(visitor.access, visitor.path)
    for address in POSTED:
        assert visitor.ask(address)[0] == 405
        assert stranger.ask(address, {})[0] == 403
        assert visitor.ask(address, {}, Origin="http://evil.example")[0] == 403
    for address in ("/found", "/levels", "/beside"):
        assert stranger.ask(address)[0] == 403
        assert "default-src 'none'" in visitor.ask(address)[1]["content-security-policy"]
    assert visitor.text() == SPEC

"""A spec in a folder, a studio that serves it, and ways to speak to it over HTTP."""

import http.client
import re
from contextlib import contextmanager
from urllib.parse import urlencode

import pyarrow.parquet as pq
import pytest

from perrecord.studio.doors import CLOSED, StudioDoor
from perrecord.studio.running import serving
from tests.browser.conftest import chromium  # noqa: F401 - a fixture
from tests.cli.conftest import SOURCE

SPEC = """\
# Public, and fixed before the data is read.
title: Establishments by county
source: est.parquet                 # relative to this file
table: est
id: id
dimensions: {county: county, state: "substr(county, 1, 2)"}
measures: {emp: 1}
splits:
  moderate: {emp: 50}               # from published percentiles
keys:
  counties: {values: {county: ["37001", "48001", "48003"]}}
budget: {rho: 1, splits: [moderate]}
ledger: est.ledger
queries:
  - name: counties
    title: By county
    group_by: [county]
    keys: counties
    answers:
      establishments: {count: records, rho: 0.1}   # cheap
      employees: {sum: emp, split: moderate, rho: 0.2}
  - name: from_sql
    sql: SELECT COUNT(*) AS n, SUM(emp) AS total FROM est
    rho: {n: 0.05, total: 0.1}
    split: moderate
examples:
  - {name: a corner shop, emp: 3, county: "37001"}
  - {name: a plant, emp: 150, county: "37001"}
"""


class Visitor:
    """Whoever speaks to a studio: with the cookie or without, under any headers."""

    def __init__(self, access, path, cookie=None):
        self.access, self.path, self.cookie = access, path, cookie

    def ask(self, address, form=None, **headers):
        """Return the status, the headers and the text of an answer; a form is posted."""
        connection = http.client.HTTPConnection("127.0.0.1", self.access.port, timeout=60)
        given = {"Cookie": self.cookie} if self.cookie else {}
        body = None
        if form is not None:
            body = urlencode(form)
            given |= {"Origin": f"http://{self.access.host}"}
            given["Content-Type"] = "application/x-www-form-urlencoded"
        given |= {name.replace("_", "-"): text for name, text in headers.items()}
        wanted = {name: text for name, text in given.items() if text is not None}
        try:
            connection.request("GET" if form is None else "POST", address, body, wanted)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            connection.close()

    def page(self):
        """Return the text of the page."""
        status, _, text = self.ask("/")
        assert status == 200
        return text

    def version(self):
        """Return which text the page shows."""
        return re.search(r'data-version="(\w+)"', self.page())[1]

    def choose(self, answer, **typed):
        """Fill in the form of an answer as it is shown, but for what is typed; return the page."""
        mark = f'name="answer" value="{answer}"'
        form = next(part for part in self.page().split("<form") if mark in part)
        shown = dict(re.findall(r'name="(was\.\w+)" value="([^"]*)"', form))
        fields = {name.removeprefix("was."): text for name, text in shown.items()}
        status, headers, _ = self.ask("/choose", {"answer": answer, **shown, **fields, **typed})
        assert (status, headers["location"]) == (303, "/")
        return self.page()

    def post(self, address, **form):
        """Send a form, which shows the page anew."""
        status, headers, _ = self.ask(address, form)
        assert (status, headers["location"]) == (303, "/")

    def text(self):
        """Return what the file holds."""
        return self.path.read_text("utf-8")


@contextmanager
def visiting(path, door=CLOSED):
    """Give a visitor who has entered the studio of a spec; a file given for a door is public."""
    with serving(path, StudioDoor("public", door) if isinstance(door, str) else door) as (
        access,
        _,
    ):
        visitor = Visitor(access, path)
        _, headers, _ = visitor.ask(access.address.partition(access.host)[2])
        visitor.cookie = headers["set-cookie"].partition(";")[0]
        yield visitor


@pytest.fixture
def spec(tmp_path):
    """The path of a spec beside its table, in which there are secrets."""
    pq.write_table(SOURCE, tmp_path / "est.parquet")
    path = tmp_path / "release.yaml"
    path.write_text(SPEC, "utf-8")
    return path


@pytest.fixture
def visitor(spec):
    """Whoever has entered the studio of that spec."""
    with visiting(spec) as found:
        yield found

"""Time every kind of edit in the studio beside 300 ms, and beside a fresh `evaluate` of the spec.

    python benchmarks/studio.py [--rows 1000000] [--write]

The worked example's spec on a million synthetic establishments, declared public. After the first
scan each kind of edit is made over HTTP, as a browser does: the choice, the page that follows, and
every panel. Each response is timed. Edits that need a number which was not counted yet, such as a
clamp's, are timed apart: they scan the data once more. With `--write` the table is kept in
`benchmarks/studio.md`.
"""

import http.client
import re
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from goals import Goal, goals_table, page_by
from machine import load, machine
from pyarrow.csv import write_csv

from perrecord.evaluate.evaluation import evaluate
from perrecord.lab.synth import business
from perrecord.lab.synth.keys import business_keys
from perrecord.release.spec import build, load_spec, open_table
from perrecord.studio.doors import StudioDoor
from perrecord.studio.running import serving
from perrecord.studio.server import Access

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "studio.md"
SPEC = HERE.parent / "examples" / "business" / "release.yaml"
TURNS = 5
GOAL = 0.3
PANELS = ("/", "/errors", "/curves", "/ledger")
COUNT, TOTAL, COUNTIES = "0/establishments", "0/employment", "1/employment"
AVERAGE = "3/mean_payroll"


@dataclass(slots=True)
class Visitor:
    """A browser without a screen."""

    access: Access
    cookie: str = ""

    def ask(self, address: str, form: dict[str, str] | None = None) -> tuple[str, str, float]:
        """Return the text of an answer, its cookie, and the seconds that it took."""
        connection = http.client.HTTPConnection(self.access.host, timeout=600)
        headers = {"Cookie": self.cookie, "Origin": f"http://{self.access.host}"}
        body = None if form is None else urlencode(form)
        start = time.perf_counter()
        connection.request("GET" if form is None else "POST", address, body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        taken = time.perf_counter() - start
        connection.close()
        if answer.status >= 400:
            raise RuntimeError(f"{address}: {answer.status} {text}")
        return text, answer.headers.get("set-cookie", ""), taken

    def edit(self, answer: str, **typed: str) -> dict[str, float]:
        """Make a choice, then ask for the page and every panel; return the seconds of each."""
        page = self.ask("/")[0]
        mark = f'name="answer" value="{answer}"'
        form = next(part for part in page.split("<form") if mark in part)
        shown = dict(re.findall(r'name="(was\.\w+)" value="([^"]*)"', form))
        given = {name.removeprefix("was."): text for name, text in shown.items()}
        taken = {"choice": self.ask("/choose", {"answer": answer, **shown, **given, **typed})[2]}
        return taken | {address: self.ask(address)[2] for address in PANELS}

    def undo(self) -> dict[str, float]:
        """Take the last choice back, likewise."""
        version = re.search(r'data-version="(\w+)"', self.ask("/")[0])
        taken = {"choice": self.ask("/undo", {"version": version[1] if version else ""})[2]}
        return taken | {address: self.ask(address)[2] for address in PANELS}


@contextmanager
def visiting(spec: Path, data: Path) -> Iterator[Visitor]:
    """Give a visitor who has entered the studio of a spec."""
    with serving(spec, StudioDoor("public", str(data))) as (access, _):
        visitor = Visitor(access)
        visitor.cookie = visitor.ask(access.address.partition(access.host)[2])[1].partition(";")[0]
        yield visitor


Edit = tuple[str, Callable[[Visitor, int], dict[str, float]]]

EDITS: tuple[Edit, ...] = (
    ("amount of a count", lambda v, turn: v.edit(COUNT, amount=f"0.1{turn + 1}")),
    ("amount of a total", lambda v, turn: v.edit(TOTAL, amount=f"0.2{turn + 1}")),
    ("amount of an average", lambda v, turn: v.edit(AVERAGE, amount=f"0.1{turn + 1}")),
    ("size of a taper", lambda v, turn: v.edit(TOTAL, size=str(21 + turn))),
    (
        "taper to split, and back",
        lambda v, turn: v.edit(TOTAL, method=("split", "taper")[turn % 2]),
    ),
    ("blurred by more", lambda v, turn: v.edit(COUNTIES, blur=f"0.1{turn + 1}")),
    ("undo", lambda v, _: v.undo()),
)
COUNTED: tuple[Edit, ...] = (
    ("blurred for the first time", lambda v, _: v.edit(COUNTIES, blur="0.1")),
    (
        "clamped at new bounds",
        lambda v, turn: v.edit(TOTAL, method="clamp", size=f"0 to {turn + 50}"),
    ),
)


def fresh(spec: Path, data: Path) -> float:
    """Return the seconds that `evaluate` takes for the same spec."""
    start = time.perf_counter()
    loaded = load_spec(spec)
    with open_table(loaded, str(data)) as table:
        asked = {each.name: each.query for each in build(loaded, table.schema).queries}
        evaluate(asked, table)
    return time.perf_counter() - start


def report(rows: int) -> tuple[str, list[Goal]]:
    """Measure; return the page and the goals."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        spec = Path(shutil.copy(SPEC, folder))
        for name, keys in business_keys().items():
            write_csv(keys, folder / f"{name}.csv")
        data = business(rows, folder / "public.parquet", seed=1)
        shutil.copy(data, folder / "est.parquet")
        with visiting(spec, data) as visitor:
            first = {address: visitor.ask(address)[2] for address in PANELS}
            counted = {what: edit(visitor, 0) for what, edit in COUNTED}
            visitor.undo()
            found = {what: [edit(visitor, turn) for turn in range(TURNS)] for what, edit in EDITS}
        beside = fresh(Path(shutil.copy(SPEC, folder)), data)
    lines = [
        "# The studio: how fast a choice is answered",
        "",
        f"{machine()}; load {load()} at the end. {rows:,} records, the spec of examples/business; "
        f"{TURNS} turns of each edit, medians, over HTTP. A fresh `evaluate` of the "
        f"same spec takes {beside:.1f} s. Made by `python benchmarks/studio.py --write`.",
        "",
        "| edit | choice, ms | page, ms | errors, ms | curves, ms | ledger, ms | all, ms | "
        "of a fresh evaluate |",
        "|---|---|---|---|---|---|---|---|",
    ]
    slowest = 0.0
    for what, turns in found.items():
        middle = {each: statistics.median(turn[each] for turn in turns) for each in turns[0]}
        slowest = max(slowest, *middle.values())
        lines.append(_row(what, middle, beside))
    lines += [
        "",
        "What needs the data: the first look at a spec, and edits that need a number of each cell "
        "which was not counted before. Such a number is counted once, behind a progress bar; the "
        "page itself is answered as above.",
        "",
        "| | choice, ms | page, ms | errors, ms | curves, ms | ledger, ms | all, ms | "
        "of a fresh evaluate |",
        "|---|---|---|---|---|---|---|---|",
        _row("first look", first, beside),
        *(_row(what, taken, beside) for what, taken in counted.items()),
        "",
    ]
    goal = f"every response to an edit below {GOAL * 1000:.0f} ms after the first scan"
    goals = [Goal(goal, f"at most {slowest * 1000:.0f} ms", slowest < GOAL)]
    return "\n".join([*lines, *goals_table(goals)]) + "\n", goals


def _row(what: str, taken: dict[str, float], beside: float) -> str:
    cells = [f"{1000 * taken[each]:.0f}" if each in taken else "" for each in ("choice", *PANELS)]
    every = sum(taken.values())
    return f"| {what} | {' | '.join(cells)} | {1000 * every:.0f} | {every / beside:.3f} |"


if __name__ == "__main__":
    page_by(report, RESULTS, __doc__, option="rows", usually=1_000_000, meaning="how many records")

"""Time every kind of edit in the studio beside 300 ms, and beside a fresh `evaluate` of the spec.

    python benchmarks/studio.py [--rows 8000000] [--write]

The worked example's spec on eight million synthetic establishments, declared public. After the
first scan each kind of edit is made over HTTP, as a browser does: the choice, the page that
follows, and every panel. Each response is timed by the clock and by the processor, which others on
the machine slow down less. Edits that need a number which was not counted yet, such as a clamp's,
are timed apart: they scan the data once more. Memory is that of the whole process, server and
visitor, while it is visited. With `--write` the table is kept in `benchmarks/studio.md`. Linux.
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
from typing import NamedTuple
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
PROCESSOR_GOAL = 0.15
MOST_MB = 2000
PANELS = ("/", "/errors", "/curves", "/ledger", "/levels", "/beside", "/found", "/values")
HEADS = ("choice", "page", "errors", "curves", "ledger", "levels", "beside", "frontier", "values")
COUNT, TOTAL, COUNTIES = "0/establishments", "0/employment", "1/employment"
AVERAGE = "3/mean_payroll"


class Took(NamedTuple):
    """How long a response took: seconds by the clock, and of the processor."""

    clock: float
    processor: float


Response = dict[str, Took]
"""What a choice, the page and every panel took."""


@dataclass(slots=True)
class Visitor:
    """A browser without a screen."""

    access: Access
    cookie: str = ""

    def ask(self, address: str, form: dict[str, str] | None = None) -> tuple[str, str, Took]:
        """Return the text of an answer, its cookie, and what it took; the server is ours, too."""
        connection = http.client.HTTPConnection(self.access.host, timeout=600)
        headers = {"Cookie": self.cookie, "Origin": f"http://{self.access.host}"}
        body = None if form is None else urlencode(form)
        start, worked = time.perf_counter(), time.process_time()
        connection.request("GET" if form is None else "POST", address, body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        taken = Took(time.perf_counter() - start, time.process_time() - worked)
        connection.close()
        if answer.status >= 400:
            raise RuntimeError(f"{address}: {answer.status} {text}")
        return text, answer.headers.get("set-cookie", ""), taken

    def edit(self, answer: str, **typed: str) -> Response:
        """Make a choice, then ask for the page and every panel; return what each took."""
        page = self.ask("/")[0]
        mark = f'name="answer" value="{answer}"'
        form = next(part for part in page.split("<form") if mark in part)
        shown = dict(re.findall(r'name="(was\.\w+)" value="([^"]*)"', form))
        given = {name.removeprefix("was."): text for name, text in shown.items()}
        taken = {"choice": self.ask("/choose", {"answer": answer, **shown, **given, **typed})[2]}
        return taken | {address: self.ask(address)[2] for address in PANELS}

    def undo(self) -> Response:
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


Edit = tuple[str, Callable[[Visitor, int], Response]]

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


def start_counting_memory() -> None:
    """Let the peak of this process's memory begin anew: what made the data does not count."""
    Path("/proc/self/clear_refs").write_text("5")


def peak_mb() -> float:
    """Return the most memory that this process has held since then, in MB of 10^6 bytes."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    if found is None:
        raise RuntimeError("this system does not tell how much memory a process has held")
    return int(found[1]) * 1024 / 1e6


def report(rows: int) -> tuple[str, list[Goal]]:
    """Measure; return the page and the goals."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        spec = Path(shutil.copy(SPEC, folder))
        for name, keys in business_keys().items():
            write_csv(keys, folder / f"{name}.csv")
        data = business(rows, folder / "public.parquet", seed=1)
        shutil.copy(data, folder / "est.parquet")
        start_counting_memory()
        with visiting(spec, data) as visitor:
            first = {address: visitor.ask(address)[2] for address in PANELS}
            counted = {what: edit(visitor, 0) for what, edit in COUNTED}
            visitor.undo()
            found = {what: [edit(visitor, turn) for turn in range(TURNS)] for what, edit in EDITS}
        peak = peak_mb()
        beside = fresh(Path(shutil.copy(SPEC, folder)), data)
    medians = {what: _median(turns) for what, turns in found.items()}
    lines = [
        "# The studio: how fast a choice is answered",
        "",
        f"{machine()}; load {load()} at the end. {rows:,} records, the spec of examples/business; "
        f"{TURNS} turns of each edit, medians, over HTTP. A fresh `evaluate` of the "
        f"same spec takes {beside:.1f} s. Made by `python benchmarks/studio.py --write`.",
        "",
        *_table("edit", medians, 0),
        "",
        "Of the processor, in all threads:",
        "",
        *_table("edit", medians, 1),
        "",
        "What needs the data: the first look at a spec, and edits that need a number of each cell "
        "which was not counted before. Such a number is counted once, behind a progress bar; the "
        "page itself is answered as above.",
        "",
        *_table("", {"first look": first, **counted}, 0),
        "",
        "Of the processor, in all threads:",
        "",
        *_table("", {"first look": first, **counted}, 1),
        "",
    ]
    slowest, most = (
        max(took[which] for response in medians.values() for took in response.values())
        for which in (0, 1)
    )
    goal = f"every response to an edit below {GOAL * 1000:.0f} ms after the first scan"
    worked = f"every response to an edit below {PROCESSOR_GOAL * 1000:.0f} ms of the processor"
    goals = [
        Goal(goal, f"at most {slowest * 1000:.0f} ms", slowest < GOAL),
        Goal(worked, f"at most {most * 1000:.0f} ms", most < PROCESSOR_GOAL),
        Goal(f"less than {MOST_MB / 1000:.0f} GB of memory", f"{peak:,.0f} MB", peak < MOST_MB),
    ]
    return "\n".join([*lines, *goals_table(goals)]) + "\n", goals


def _median(turns: list[Response]) -> Response:
    """Return the median of each response, by either measure."""
    return {
        each: Took(*(statistics.median(turn[each][which] for turn in turns) for which in (0, 1)))
        for each in turns[0]
    }


def _table(head: str, rows: dict[str, Response], which: int) -> Iterator[str]:
    """Yield a table of milliseconds, by the clock or of the processor."""
    yield f"| {head} | {' | '.join(f'{each}, ms' for each in HEADS)} | all, ms |"
    yield "|---" * (len(HEADS) + 2) + "|"
    for what, response in rows.items():
        taken = [response.get(each) for each in ("choice", *PANELS)]
        cells = ["" if each is None else f"{1000 * each[which]:.0f}" for each in taken]
        every = sum(each[which] for each in taken if each is not None)
        yield f"| {what} | {' | '.join(cells)} | {1000 * every:.0f} |"


if __name__ == "__main__":
    page_by(report, RESULTS, __doc__, option="rows", usually=8_000_000, meaning="how many records")

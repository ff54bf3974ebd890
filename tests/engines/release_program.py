"""Run as a process of its own: works on a Spark cluster, as it is told line by line.

Java, its classes and executors take long to start, so that one process does all that is tested on
a cluster. First it runs a program of the guide, which starts and stops a session; then it has a
session of its own. A line is a step: `engine DATA`, `integers` or `release SNAPSHOT OUT`. While it
runs, `running` is printed once both or all executors have a task of its scan; then what came of
it, as JSON.
"""

import json
import sys
import threading
import traceback
import warnings
from contextlib import chdir, contextmanager, nullcontext
from hashlib import sha256
from pathlib import Path

from perrecord import Ledger
from perrecord.errors import SourceError
from perrecord.release.publish import release
from perrecord.release.spec import build, load_spec, open_table
from tests.engines.program import asked
from tests.engines.sessions import session_at
from tests.noise.checks import Replayed
from tests.queries.reference import exact

SETTINGS = {
    "spark.perrecord.patience": "5",
    "spark.executor.cores": "2",
    "spark.task.cpus": "2",
    "spark.cores.max": "4",
}
"""An executor takes two cores of each worker, which has three: none has room for another's."""


def main(address: str, guide: str, spec: str, data: str) -> None:
    """Run the program of the guide, then each step that stands on a line of the standard input."""
    print(json.dumps(guided(Path(guide))), flush=True)
    session = session_at(address, **SETTINGS)
    is_connect = address.startswith("sc://")
    if not is_connect:
        logging_again(session)
    warnings.simplefilter("error")
    frame = session.read.parquet(data)
    failed = 0
    for line in sys.stdin:
        with nullcontext() if is_connect else announced(session):
            try:
                shown = step(session, spec, frame, *line.split())
            except SourceError as error:
                shown = {"failed": str(error)}
        if not is_connect:
            before, failed = failed, failed_tasks(session)
            shown |= {**lost(session), "tasks": failed - before}
        print(json.dumps(shown), flush=True)
    session.stop()


def guided(guide: Path) -> dict:
    """Run a program of the guide where it lies, and say what went wrong, if anything."""
    with chdir(guide.parent), warnings.catch_warnings():
        try:
            exec(compile(guide.read_text(), guide, "exec"), {"__name__": "__main__"})
        except Exception:
            return {"failed": traceback.format_exc()}
    return {"failed": None}


def logging_again(session) -> None:
    """Have Java log as the cluster's settings say: what the guide ran has switched it off."""
    session.sparkContext._jvm.org.apache.logging.log4j.core.config.Configurator.reconfigure()


def step(session, spec: str, frame, kind: str, *given: str) -> dict:
    """Return what one step shows."""
    if kind == "engine":
        (data,) = given
        application = session.conf.get("spark.app.id")
        return {**asked(session.read.parquet(data)), "application": application}
    if kind == "integers":
        return {"integers": integers(spec, frame)}
    snapshot, out = given
    own = with_a_ledger_of_its_own(Path(spec), snapshot)
    return {
        "did": release(own, out, source=frame, snapshot=snapshot, _bits=Replayed(1)).did,
    }


def with_a_ledger_of_its_own(spec: Path, name: str) -> Path:
    """Return the spec, charged to a ledger of this name: another snapshot would not fit."""
    own = spec.with_name(f"{name}.yaml")
    own.write_text(spec.read_text().replace("est.ledger", f"{name}.ledger"))
    loaded = load_spec(own)
    if not loaded.ledger.exists():
        with open_table(loaded) as table:
            Ledger.create(loaded.ledger, build(loaded, table.schema).budget)
    return own


def integers(spec: str, source=None) -> str:
    """Return a digest of every exact integer that the answers of a spec are made from."""
    loaded = load_spec(spec)
    with open_table(loaded, source) as table:
        workload = build(loaded, table.schema)
        return sha256(repr(exact(workload.plan, table)).encode()).hexdigest()


@contextmanager
def announced(session):
    """Print `running` once every executor has a task, for as long as the block lasts."""
    done = threading.Event()
    watcher = threading.Thread(target=announce, args=(session, done), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def announce(session, done: threading.Event) -> None:
    """Wait until every executor is at work on a task."""
    while not done.wait(0.05):
        active = [each for each in executors(session) if each.isActive()]
        if active and all(each.activeTasks() for each in active):
            print("running", flush=True)
            return


def lost(session) -> dict:
    """Return how many executors Spark has, and has lost so far."""
    every = executors(session)
    gone = [each for each in every if not each.isActive()]
    return {"executors": len(every) - len(gone), "lost": len(gone)}


def failed_tasks(session) -> int:
    """Return how many tasks have failed so far."""
    jobs = store(session).jobsList(None)
    return sum(jobs.apply(place).numFailedTasks() for place in range(jobs.size()))


def store(session):
    """Return what Spark itself knows of its jobs and executors."""
    return session.sparkContext._jsc.sc().statusStore()


def executors(session) -> list:
    """Return every executor that Spark has or had."""
    found = store(session).executorList(False)
    every = [found.apply(place) for place in range(found.size())]
    return [each for each in every if each.id() != "driver"]


if __name__ == "__main__":
    main(*sys.argv[1:])

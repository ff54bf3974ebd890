"""What does not fit into memory goes to a private folder, which is gone however a run ends."""

import os
import signal
import stat
import threading
import time
from pathlib import Path
from queue import SimpleQueue

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from perrecord import InputError, SourceError
from perrecord.cli.command import INTERRUPTED
from perrecord.tables.engines import boundary, database
from perrecord.tables.engines.database import Database
from perrecord.tables.sources import open_source
from tests.cli.conftest import started

ROWS = 600_000
SPEC = """\
title: Many keys
source: {path: est.parquet, memory_limit: 80MB}
table: est
dimensions: [key]
keys:
  found: {select: {rho: 0.1, delta: 1e-6}}
budget: {rho: 1, selections: [{keys: [key], rho: 0.1, delta: 1e-6}]}
ledger: est.ledger
queries:
  - {name: keys, group_by: key, keys: found, answers: {n: {count: records, rho: 0.1}}}
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A table of more different keys than fit into the memory that is allowed."""
    path = tmp_path_factory.mktemp("spill") / "est.parquet"
    numbers = np.random.default_rng(8).integers(0, 2**62, ROWS)
    text = pc.binary_repeat(pa.array(numbers).cast(pa.string()), 8)
    pq.write_table(pa.table({"key": text}), path)
    return path


@pytest.fixture
def place(tmp_path, source):
    """A folder with a spec and its ledger, and a folder for temporary files in it."""
    (tmp_path / "est.parquet").symlink_to(source)
    (tmp_path / "release.yaml").write_text(SPEC, encoding="utf-8")
    (tmp_path / "temporary").mkdir()
    made = begun(tmp_path, "ledger", "create", "release.yaml")
    _, err = made.communicate(timeout=60)
    assert made.returncode == 0, err
    assert list((tmp_path / "temporary").iterdir()) == []
    return tmp_path


def begun(place, *arguments):
    """Start a command whose temporary files go to the folder for them, and that minds SIGHUP.

    Under nohup, which the tests may run under, it would rightly go on.
    """
    environment = {"TMPDIR": str(place / "temporary")}
    code = "import os, signal; os.umask(0); signal.signal(signal.SIGHUP, signal.SIG_DFL)"
    return started(*arguments, cwd=place, code=code, env=environment)


def spilled(place) -> dict[Path, int]:
    """Return the temporary files and folders at the moment, with their modes."""
    found = {}
    for path in (place / "temporary").rglob("*"):
        try:
            found[path] = stat.S_IMODE(path.lstat().st_mode)
        except FileNotFoundError:
            continue
    return found


def wait_for_spill(place, process):
    """Return what was spilled once there is something, or fail when the run ends without."""
    until = time.monotonic() + 120
    while time.monotonic() < until and process.poll() is None:
        found = spilled(place)
        # A file beside the folder is Python's own, which tries whether files can be made there.
        if any(path.is_file() for path in found if path.parent.name != "temporary"):
            return found
        time.sleep(0.01)
    raise AssertionError(f"nothing was spilled: {process.communicate()}")


def reached_by_others(found):
    """Return the modes of what others could enter directly below the temporary folder."""
    tops = [mode for path, mode in found.items() if path.parent.name == "temporary"]
    return [mode for mode in tops if mode & 0o077]


@pytest.mark.parametrize(
    "wanted",
    [
        signal.SIGTERM,
        pytest.param(signal.SIGINT, marks=pytest.mark.audit),
        pytest.param(signal.SIGHUP, marks=pytest.mark.audit),
    ],
)
def test_a_run_that_is_told_to_end_leaves_nothing(wanted, place, record_property):
    """Told in the middle of spilling, it tidies up and says so; nothing was published."""
    process = begun(place, "release", "release.yaml", "--out", "published")
    found = wait_for_spill(place, process)
    assert reached_by_others(found) == []
    process.send_signal(wanted)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, "interrupted" in err) == (INTERRUPTED, True)
    assert spilled(place) == {}
    assert not (place / "published").exists()
    record_property("runs ended in the middle of spilling", 1)


@pytest.mark.parametrize(
    "gap",
    [
        0.001,
        *(pytest.param(each, marks=pytest.mark.audit) for each in (0.0005, 0.002, 0.02, 0.1)),
    ],
)
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (signal.SIGTERM, signal.SIGHUP),
        pytest.param(signal.SIGTERM, signal.SIGTERM, marks=pytest.mark.audit),
        pytest.param(signal.SIGINT, signal.SIGINT, marks=pytest.mark.audit),
    ],
)
def test_a_run_that_is_told_twice_leaves_nothing(first, second, gap, place, record_property):
    """The second signal breaks nothing off, however soon it comes: no abort, no folder."""
    process = begun(place, "release", "release.yaml", "--out", "published")
    wait_for_spill(place, process)
    process.send_signal(first)
    time.sleep(gap)
    process.send_signal(second)
    _, err = process.communicate(timeout=120)
    assert (process.returncode, "interrupted. Nothing" in err) == (INTERRUPTED, True), err
    assert spilled(place) == {}
    record_property("runs ended in the middle of spilling", 1)


def test_what_a_killed_run_leaves_is_private(place, record_property):
    """Nobody can tidy up after kill -9, but nobody else can read it either."""
    process = begun(place, "release", "release.yaml", "--out", "published")
    wait_for_spill(place, process)
    process.kill()
    process.communicate(timeout=60)
    left = spilled(place)
    assert left
    assert reached_by_others(left) == []
    record_property("runs ended in the middle of spilling", 1)


@pytest.mark.audit
def test_a_run_that_spills_ends_well_and_leaves_nothing(place, record_property):
    """The release is made under the small limit, and the temporary folder is empty."""
    process = begun(place, "release", "release.yaml", "--out", "published")
    wait_for_spill(place, process)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert spilled(place) == {}
    record_property("releases that spilled and left nothing", 1)


def test_nohup_is_heard(tmp_path):
    """A hang-up that the caller has had ignored stays ignored."""
    code = (
        "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "import perrecord.cli as c; c.app = lambda **_: print(signal.getsignal(signal.SIGHUP).name)"
        "; from perrecord.cli import app"
    )
    process = started(cwd=tmp_path, code=code)
    out, err = process.communicate(timeout=60)
    assert out.strip() == "SIG_IGN", err


# -- inside one process ------------------------------------------------------------------------


def folders(monkeypatch, tmp_path):
    """Send temporary files to a folder; return how to list it."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return lambda: sorted(tmp_path.iterdir())


def test_a_spill_folder_is_private_and_goes_with_its_database(tmp_path, monkeypatch):
    """When it is closed, when opening fails, and when it is forgotten."""
    listed = folders(monkeypatch, tmp_path)
    before = os.umask(0)
    try:
        opened = Database()
        (private,) = listed()
        assert stat.S_IMODE(private.stat().st_mode) == 0o700
        opened.close()
        assert listed() == []
        for refused in ({"memory_limit": "none"}, {"threads": 0}):
            with pytest.raises(InputError):
                Database(**refused)
        with pytest.raises(SourceError):
            open_source(pa.table({"a": [1], "A": [2]}))
        with pytest.raises(SourceError), open_source(pa.table({"a": [1]})) as engine:
            engine.frame("SELECT missing FROM nowhere")
        opened = Database()
        assert len(listed()) == 1
        del opened
        assert listed() == []
    finally:
        os.umask(before)


def test_files_that_come_while_the_folder_is_removed_go_too(tmp_path, monkeypatch):
    """Threads of an interrupted query may write one more; a single removal would leave it."""
    folder = tmp_path / "spilled"
    folder.mkdir()
    late = [folder / "one", folder / "two"]
    remove = os.rmdir

    def disturbed(path, **options):
        if late:
            late.pop().write_bytes(b"x")
        remove(path, **options)

    monkeypatch.setattr(os, "rmdir", disturbed)
    database.remove_folder(str(folder))
    assert not folder.exists()
    assert late == []


def test_a_folder_that_stays_is_named(tmp_path):
    """After a second it is given up, and whoever runs it hears what to remove."""
    folder = tmp_path / "spilled"
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder)  # a link is no folder: nothing removes it
    began = time.monotonic()
    with pytest.warns(UserWarning, match="link' could not be removed.*remove it by hand"):
        database.remove_folder(str(tmp_path / "link"))
    assert time.monotonic() - began < 3


def test_control_c_does_not_break_off_a_removal(tmp_path, monkeypatch):
    """It is heard, but the folder goes first."""
    folder = tmp_path / "spilled"
    folder.mkdir()
    pressed = [KeyboardInterrupt, KeyboardInterrupt]
    remove = os.rmdir

    def disturbed(path, **options):
        if pressed:
            raise pressed.pop()
        remove(path, **options)

    monkeypatch.setattr(os, "rmdir", disturbed)
    with pytest.raises(KeyboardInterrupt):
        database.remove_folder(str(folder))
    assert not folder.exists()


def told_twice() -> bool:
    """Press Ctrl-C twice while an action runs; return whether it was over when that was heard.

    The action goes by what it sees, never by the clock: the second comes once the first was heard,
    and it ends when it is interrupted twice more, or when nobody waits for it any longer.
    """
    interrupts, over = SimpleQueue(), threading.Event()

    def action():
        os.kill(os.getpid(), signal.SIGINT)
        interrupts.get(timeout=30)
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(2):
            interrupts.get(timeout=30)
        over.set()

    try:
        boundary.interruptible(action, lambda: interrupts.put(None))
    except KeyboardInterrupt:
        heard = over.is_set()
        for _ in range(2):
            interrupts.put(None)
        assert over.wait(30)
        return heard
    raise AssertionError("Ctrl-C was not heard")


def impatient(done, interrupt):
    """Interrupt once and wait, in short steps as ours, and let a second Ctrl-C end it."""
    interrupt()
    while not done.wait(0.1):
        pass


def test_a_second_control_c_does_not_leave_a_query_behind(monkeypatch):
    """DuckDB aborts when it is closed under a query. Broken twin: the wait ends when told again."""
    assert told_twice()
    monkeypatch.setattr(boundary, "_stop", impatient)
    assert not told_twice()


def test_a_query_that_was_not_begun_never_is(monkeypatch):
    """Ctrl-C before its thread runs: nothing is waited for, and nothing runs afterwards."""
    begun_late, ran = [], []

    def broken_off(thread):
        begun_late.append(thread)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", broken_off)
        with pytest.raises(KeyboardInterrupt):
            boundary.interruptible(lambda: ran.append(1), lambda: None)
    (thread,) = begun_late
    thread.start()
    thread.join()
    assert ran == []


def test_an_interrupt_that_is_missed_is_said_again():
    """A query forgets what came before it began."""
    said = []
    over = threading.Event()

    def action():
        os.kill(os.getpid(), signal.SIGINT)
        assert over.wait(30)

    def interrupt():
        said.append(1)
        if len(said) == 3:
            over.set()

    with pytest.raises(KeyboardInterrupt):
        boundary.interruptible(action, interrupt)
    assert len(said) >= 3


def test_a_folder_that_is_left_is_seen(tmp_path, monkeypatch):
    """Broken twin: a database whose cleaning was taken away."""
    listed = folders(monkeypatch, tmp_path)
    opened = Database()
    opened._clean.detach()
    opened._clean = lambda: None
    opened.close()
    assert len(listed()) == 1

"""No call changes the disk unseen: what the model knows is all that a release and a ledger do."""

import re

import pytest

from tests.faults.broken import COPIES_IN_PLACE
from tests.faults.scene import Workshop
from tests.faults.subjects import SUBJECTS
from tests.faults.victims import CALLS, VOICE, traced

HARMLESS = {
    "access", "close", "fchown", "fcntl", "flock", "fstat", "getcwd", "getdents64", "ioctl",
    "lseek", "lstat", "mmap", "newfstatat", "poll", "pread64", "read", "readlink", "stat", "statx",
}  # fmt: skip
"""Calls with a path or a descriptor that change neither a content nor a name."""

_CALL = re.compile(r"(\d+) +(\w+)\((.*)")


def unseen(log, process):
    """Return the calls of a log by which the disk is changed, or may be, without our noticing."""
    found = set()
    for thread, name, given in map(re.Match.groups, filter(None, map(_CALL.match, log))):
        changes = name in CALLS and (name != "openat" or "O_CREAT" in given)
        if name not in (*CALLS, VOICE, *HARMLESS):
            found.add(name)
        elif changes and int(thread) != process:
            found.add(f"{name} of another thread")
        elif name == "mmap" and "PROT_WRITE" in given and "MAP_SHARED" in given:
            found.add("mmap to write")
    return found


def calls_of(subject, root):
    """Return the log of all calls of a run that have to do with files, and who made the first."""
    workshop = Workshop(root)
    workshop.prepare()
    with workshop.scene() as scene:
        log = root / "log"
        assert traced(subject.work, scene, log, "-f", "-y", "-etrace=%file,%desc").finished
    lines = log.read_text().splitlines()
    return lines, int(lines[0].split()[0])


@pytest.mark.strace
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_every_call_that_changes_the_disk_is_one_that_the_model_knows(subject, tmp_path):
    """In the thread that is traced; other threads change nothing."""
    lines, process = calls_of(subject, tmp_path)
    assert len(lines) > 100
    assert unseen(lines, process) == set()


@pytest.mark.strace
def test_a_twin_that_copies_by_another_call_is_seen(tmp_path):
    """Python's own copying of whole folders does not use write."""
    found = unseen(*calls_of(COPIES_IN_PLACE, tmp_path))
    assert found & {"sendfile", "copy_file_range"}


def test_another_thread_and_a_shared_map_are_seen():
    """A write of a thread that is not traced, and memory that is written to a file."""
    write = '1 write(3</a>, "x", 1) = 1'
    assert unseen([write], 1) == set()
    assert unseen([write], 2) == {"write of another thread"}
    mapped = "1 mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED, 3</a>, 0) = 0x7f"
    assert unseen([mapped], 1) == {"mmap to write"}

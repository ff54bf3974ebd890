"""The model of a disk itself: it keeps what was flushed, and may lose all else."""

import random

import pytest

from tests.faults.disk import Disk, Loss
from tests.faults.operations import Operation, operations

NOTHING, EVERYTHING = Loss(0, 0), Loss(1, 1)


def after(folder, *steps, loss=NOTHING, seed=1):
    """Return the files that are left after some steps and a loss of power."""
    disk = Disk(folder)
    for step in steps:
        disk.do(step)
    left = disk.survivors(loss, random.Random(seed))
    return {path: left.nodes[number] for path, number in left.paths().items()}


def create(path="a"):
    """Return the making of a file."""
    return Operation("create", path)


def write(data, path="a", position=0):
    """Return a write."""
    return Operation("write", path, position=position, data=data)


def flush(path="a", worked=True):
    """Return a flush."""
    return Operation("flush", path, worked=worked)


def test_what_was_not_flushed_is_lost_or_kept(tmp_path):
    """A new file needs two flushes: its own, and its folder's."""
    assert after(tmp_path, create(), write(b"x")) == {}
    assert after(tmp_path, create(), write(b"x"), flush()) == {}
    assert after(tmp_path, create(), write(b"x"), flush(".")) == {"a": b""}
    assert after(tmp_path, create(), write(b"x"), flush(), flush(".")) == {"a": b"x"}
    assert after(tmp_path, create(), write(b"x"), loss=EVERYTHING) == {"a": b"x"}


def test_what_was_there_before_stays(tmp_path):
    """Until its removal, or its new content, was flushed."""
    (tmp_path / "a").write_bytes(b"old")
    removed, moved = Operation("remove", "a"), Operation("move", "a", "b")
    assert after(tmp_path, write(b"new")) == {"a": b"old"}
    assert after(tmp_path, write(b"new"), flush()) == {"a": b"new"}
    assert after(tmp_path, removed) == {"a": b"old"}
    assert after(tmp_path, removed, flush(".")) == {}
    assert after(tmp_path, moved) == {"a": b"old"}
    assert after(tmp_path, moved, flush(".")) == {"b": b"old"}
    assert after(tmp_path, Operation("link", "a", "b"), flush(".")) == {"a": b"old", "b": b"old"}
    assert after(tmp_path, Operation("truncate", "a", position=1), flush()) == {"a": b"o"}


def test_a_new_folder_takes_all_below_with_it(tmp_path):
    """Its own name must be flushed in the folder above."""
    steps = [Operation("make folder", "f"), create("f/a"), write(b"x", "f/a"), flush("f/a")]
    assert after(tmp_path, *steps, flush("f")) == {}
    assert after(tmp_path, *steps, flush(".")) == {"f": {}}
    assert after(tmp_path, *steps, flush("f"), flush("."))["f/a"] == b"x"


def test_a_flush_that_failed_is_not_mended_by_the_next(tmp_path):
    """What it could not write is gone, though reading shows it; a new write is another matter."""
    (tmp_path / "a").write_bytes(b"old")
    steps = [write(b"new"), flush(worked=False), flush()]
    assert {after(tmp_path, *steps, loss=EVERYTHING, seed=seed)["a"] for seed in range(20)} == {
        b"old",
        b"new",
    }
    assert after(tmp_path, *steps, write(b"now"), flush())["a"] == b"now"


def test_names_whose_flush_failed_wait_for_the_next(tmp_path):
    """A file system with a journal still has them, and until then they are lost or kept."""
    failed = [create(), flush(".", worked=False)]
    assert after(tmp_path, *failed) == {}
    assert after(tmp_path, *failed, loss=EVERYTHING) == {"a": b""}
    assert after(tmp_path, *failed, flush(".")) == {"a": b""}


def test_a_file_can_have_its_length_and_nothing_else(tmp_path):
    """Its size was written down before its data; what was flushed stays."""
    zeros = Loss(1, 0, instead="zeros")
    assert after(tmp_path, create(), write(b"x" * 600), loss=zeros) == {"a": bytes(600)}
    (tmp_path / "a").write_bytes(b"old")
    assert after(tmp_path, write(b"new more"), loss=zeros) == {"a": b"old"}
    assert after(tmp_path, write(b"new", position=3), loss=zeros) == {"a": b"old" + bytes(3)}


def test_a_write_can_be_torn(tmp_path):
    """Sector by sector, with zeros or garbage in between."""
    content = bytes([1]) * 512 + bytes([2]) * 512 + bytes([3]) * 100
    torn = {
        after(tmp_path, create(), write(content), flush("."), loss=Loss(1, 1, 0.5), seed=seed)["a"]
        for seed in range(60)
    }
    assert b"" in torn
    assert content in torn
    assert content[:512] in torn
    assert bytes(512) + content[512:1024] in torn


@pytest.mark.strace
def test_a_log_becomes_what_was_done(tmp_path):
    """Names and data come out of strace as they were, whatever is in them."""
    from tests.faults.operations import OPTIONS
    from tests.faults.scene import Scene
    from tests.faults.victims import traced

    def work(scene, say):
        path = scene.folder / 'a "b" <c>, (d) = 1'
        path.write_bytes(b'"\x00\n<pipe:\xff')
        path.rename(scene.folder / "e")
        say("done")

    (tmp_path / "scene/temporary").mkdir(parents=True)
    log = tmp_path / "log"
    assert traced(work, Scene(tmp_path / "scene"), log, *OPTIONS).finished
    made, emptied, written, moved, said = operations(log.read_text(), str(tmp_path / "scene"))
    assert made.path == written.path == moved.path == 'a "b" <c>, (d) = 1'
    assert (emptied.kind, written.data) == ("truncate", b'"\x00\n<pipe:\xff')
    assert (moved.kind, moved.other) == ("move", "e")
    assert said.data == b'{"said": "done"}\n'

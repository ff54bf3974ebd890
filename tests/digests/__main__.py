"""Digests under given bits: record them, compare them, show what stands behind one.

    python -m tests.digests record FILE          of every case; FILE is tests/digests/recorded.json
    python -m tests.digests compare FILE         every case and file that is not as recorded
    python -m tests.digests show CASE [NAME]     what a case gives, here and now
    python -m tests.digests show CASE [NAME] --at COMMIT

Record before a change that is to change no result, and compare after it. The order in which noise
is drawn is a part of what is compared: a change that draws the same laws in another order differs.
"""

import argparse
import io
import os
import subprocess
import sys
import tarfile
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

from tests.digests.cases import FULL, QUICK, contents, names
from tests.digests.record import RAISED, RECORDED, computed, differences, made_with, read, write

_PROJECT = Path(__file__).parents[2]
_MOST_SHOWN = 200


def main() -> int:
    """Do what was asked for; return the exit code."""
    given = _arguments()
    match given.command:
        case "record":
            return _record(given.file, given.jobs)
        case "compare":
            return _compare(given.file, names(QUICK if given.quick else FULL), given.jobs)
        case _ if given.at is None:
            return _show(given.case, given.name)
        case _:
            return _show_at(given.case, given.name, given.at)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.digests", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.description = __doc__
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("record", "compare"):
        command = commands.add_parser(name)
        command.add_argument("file", type=Path, nargs="?", default=RECORDED)
        command.add_argument("--jobs", type=int, default=2, help="how many processes")
    command.add_argument("--quick", action="store_true", help="the few cases of the test suite")
    command = commands.add_parser("show")
    command.add_argument("case", help="such as 'spec 17'")
    command.add_argument("name", nargs="?", help="one of its files; left out: all of them")
    command.add_argument("--at", metavar="COMMIT", help="run the code of a commit")
    return parser.parse_args()


def _record(path: Path, jobs: int) -> int:
    """Record every case, unless one of them fails."""
    found = computed(names(FULL), jobs)
    failed = [f"{case}: {files[RAISED]}" for case, files in found.items() if RAISED in files]
    if failed:
        _say("\n".join(["Nothing was recorded, because cases failed:", *failed]))
        return 1
    write(path, found)
    _say(f"{len(found)} cases, {sum(map(len, found.values()))} files.")
    return 0


def _compare(path: Path, cases: list[str], jobs: int) -> int:
    """Print what is not as recorded, and how to look at both sides."""
    recorded, was = read(path)
    if was != made_with():
        _say(f"Recorded with {was}, compared with {made_with()}: files may differ by that alone.")
    found = computed(cases, jobs)
    differing = differences(recorded, found, cases)
    _say(f"{len(cases)} cases, {sum(map(len, found.values()))} files, {len(differing)} differ.")
    for case, file in differing[:_MOST_SHOWN]:
        raised = f": {found[case][RAISED]}" if file == RAISED else ""
        _say(f"  {case}: {file}{raised}")
    if len(differing) > _MOST_SHOWN:
        _say(f"  ... and {len(differing) - _MOST_SHOWN} more")
    if differing:
        kinds = Counter(f"{case.split()[0]}: {file.split('/')[0]}" for case, file in differing)
        _say("By kind: " + ", ".join(f"{kind} ({count})" for kind, count in kinds.most_common(12)))
        case, file = differing[0]
        again = f"python -m tests.digests show {case!r} {file!r}"
        _say(f"What one of them was, and is:\n  {again} --at {_commit(path)}\n  {again}")
    return 1 if differing else 0


def _commit(path: Path) -> str:
    """Return the commit that a file was recorded in."""
    command = ["git", "log", "-1", "--format=%h", "--", str(path.absolute())]
    found = subprocess.run(command, cwd=_PROJECT, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "COMMIT"


def _show(case: str, name: str | None) -> int:
    found = contents(case)
    if name is not None and name not in found:
        _say(f"{case} has no {name!r}. It has: {', '.join(found)}.")
        return 1
    for file, content in found.items():
        if name in (None, file):
            sys.stdout.write(f"== {case}: {file}\n{_text(content)}\n")
    return 0


def _text(content: bytes) -> str:
    """Return a file as text; of a Parquet file, its types and its rows."""
    if not content.startswith(b"PAR1"):
        return content.decode()
    table = pq.read_table(pa.BufferReader(content))
    return "\n".join([str(table.schema), *map(str, table.to_pylist())])


def _show_at(case: str, name: str | None, commit: str) -> int:
    """Show a case as the code of a commit gives it, from a copy that is thrown away."""
    with TemporaryDirectory(prefix="perrecord-digests-") as folder:
        command = ["git", "archive", commit]
        packed = subprocess.run(command, cwd=_PROJECT, capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")
        places = os.pathsep.join([str(Path(folder) / "src"), folder])
        wanted = [case] if name is None else [case, name]
        return subprocess.run(
            [sys.executable, "-m", "tests.digests", "show", *wanted],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": places},
            check=False,
        ).returncode


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())

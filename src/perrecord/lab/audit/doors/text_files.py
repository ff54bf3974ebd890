"""Text files as doors: CSV and TSV, compressed, in several files, behind globs and links."""

import csv
import gzip
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from perrecord.lab.audit.doors.door import Door, DoorSource
from perrecord.lab.audit.doors.held import Held
from perrecord.lab.audit.doors.spelling import TEXT


def text_doors() -> list[Door]:
    """Return the doors of text files; every number is text, spelled in whatever way."""
    singles = [_single(suffix) for suffix in (".csv", ".tsv", ".csv.gz", ".tsv.gz")]
    several = Door("several CSV files, by a glob", _several, (TEXT,), is_text=True)
    return [*singles, several]


def _single(suffix: str) -> Door:
    def opened(folder: Path, held: Held, random: Random) -> DoorSource:
        path = folder / f"rows{suffix}"
        write_text(path, held, held.rows, random)
        return DoorSource(random.choice([path, str(path)]))

    return Door(f"text, {suffix}", opened, (TEXT,), is_text=True)


def _several(folder: Path, held: Held, random: Random) -> DoorSource:
    return DoorSource(
        spread(
            folder, held, random, ".csv", lambda path, rows: write_text(path, held, rows, random)
        )
    )


def spread(folder: Path, held: Held, random: Random, suffix: str, write: Any) -> str:
    """Write the rows into several files, some of them linked to; return a glob that meets all.

    A link, or a pattern that reaches a file by two ways, does not make two records of one.
    """
    deep = folder / "deep" / "deeper"
    deep.mkdir(parents=True)
    places = [folder / f"p0{suffix}", folder / "deep" / f"p1{suffix}", deep / f"p2{suffix}"]
    parts: list[list[dict[str, Any]]] = [[], [], []]
    for row in held.rows:
        parts[random.randrange(3)].append(row)
    for path, rows in zip(places, parts, strict=True):
        write(path, rows)
    if random.random() < 0.5:
        (folder / f"link{suffix}").symlink_to(random.choice(places))
    if random.random() < 0.3:
        (folder / "other").symlink_to(deep, target_is_directory=True)
    pattern = random.choice(["**/*", "**/**/*", "**/[lp]*"])
    return f"{folder}/{pattern}{suffix}"


def write_text(path: Path, held: Held, rows: Sequence[dict[str, Any]], random: Random) -> None:
    """Write rows as CSV or TSV; fields are quoted where they must be, or all of them."""
    is_tab = ".tsv" in path.name
    quoting: Any = random.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    opened: Any = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(
            file, delimiter="\t" if is_tab else ",", quoting=quoting, lineterminator="\n"
        )
        writer.writerow(held.kinds)
        writer.writerows([row[name] for name in held.kinds] for row in rows)

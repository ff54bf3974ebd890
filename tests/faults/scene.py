"""Where a fault strikes: a folder with data, a spec and a ledger, and what is in it afterwards."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from perrecord import Ledger
from perrecord.release.publish import release
from perrecord.release.spec import build, load_spec, open_table

SPEC = """\
title: Farms by state
source: farms.parquet
table: farms
id: id
dimensions:
  state: {label: State, values: [NM, TX, VA]}
measures:
  cattle: {resolution: 1, label: Head of cattle}
splits:
  moderate: {cattle: 50}
keys:
  states: {values: {state: [NM, TX, VA]}}
budget: {rho: 1, splits: [moderate]}
ledger: farms.ledger
queries:
  - name: states
    title: Farms and cattle by state
    group_by: [state]
    keys: states
    answers:
      farms: {count: records, rho: 0.2}
      cattle: {sum: cattle, split: moderate, rho: 0.4}
outputs: {csv: true}
"""
FILES = [
    "datapackage.json",
    "manifest.json",
    "methodology.md",
    "policy.html",
    "policy.json",
    "tables/states.csv",
    "tables/states.parquet",
]
NOISY = "tables/states.csv"
"""A file that two computations share by accident once in some hundred million times."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A folder in which one release is made, and one ledger is kept by itself."""

    folder: Path

    @property
    def spec(self) -> Path:
        """The spec of the release."""
        return self.folder / "release.yaml"

    @property
    def ledger(self) -> Path:
        """The ledger that the release is charged to; it exists from the beginning."""
        return self.folder / "farms.ledger"

    @property
    def out(self) -> Path:
        """Where the release goes; three levels of folders are to be made for it."""
        return self.folder / "public" / "2026" / "farms"

    @property
    def alone(self) -> Path:
        """A ledger without a release, which is yet to be made."""
        return self.folder / "alone.ledger"

    @property
    def temporary(self) -> Path:
        """Where processes keep their temporary files."""
        return self.folder / "temporary"


@dataclass(frozen=True, slots=True)
class Workshop:
    """A folder for many scenes, each a copy of one that was prepared."""

    root: Path

    def prepare(self) -> None:
        """Write the scene to copy, and make one release, so that forks have everything loaded."""
        prepared = Scene(self.root / "prepared")
        prepared.temporary.mkdir(parents=True)
        rows = {"id": range(60), "state": ["TX", "NM", "TX"] * 20, "cattle": [7, 30, 9000] * 20}
        pq.write_table(pa.table(rows), prepared.folder / "farms.parquet")
        prepared.spec.write_text(SPEC)
        loaded = load_spec(prepared.spec)
        with open_table(loaded) as table:
            Ledger.create(prepared.ledger, build(loaded, table.schema).budget)
        with self.scene() as warm:
            release(warm.spec, warm.out)

    @contextmanager
    def scene(self) -> Iterator[Scene]:
        """Copy the prepared scene to a folder that lasts as long as the block."""
        with self.folder() as folder:
            yield self.copied(folder / "scene")

    def copied(self, folder: Path) -> Scene:
        """Copy the prepared scene to a folder that is not there yet."""
        return Scene(Path(shutil.copytree(self.root / "prepared", folder)))

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """Make an empty folder that lasts as long as the block."""
        folder = Path(tempfile.mkdtemp(dir=self.root))
        try:
            yield folder
        finally:
            shutil.rmtree(folder)


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder by its relative path; none if there is no folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }

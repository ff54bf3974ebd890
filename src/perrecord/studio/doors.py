"""Where a studio's numbers come from: nowhere, a public file, records that were drawn, or the data.

Only the last reads confidential records, and whatever rests on it carries a mark. The door is
chosen when the studio is started, and no request opens another.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from perrecord.errors import InputError
from perrecord.evaluate.confidential import HEADER
from perrecord.release.spec import LoadedSpec, open_table
from perrecord.release.spec.load import canonical
from perrecord.release.spec.models import Spec
from perrecord.studio.synthetic import DRAWN_FROM, drawn_table
from perrecord.tables.table import Table

ROWS = 100_000


@dataclass(frozen=True, slots=True)
class StudioDoor:
    """What may be counted, and whether it is confidential."""

    kind: Literal["none", "public", "synthetic", "confidential"] = "none"
    data: str | None = None
    """The file that was declared public."""
    rows: int = ROWS
    """How many synthetic records are drawn."""

    @property
    def has_data(self) -> bool:
        """Whether there is anything to count."""
        return self.kind != "none"

    @property
    def is_public(self) -> bool:
        """Whether what is found there may be written into the spec."""
        return self.kind in ("public", "synthetic")

    @property
    def mark(self) -> str:
        """What stands on every panel that rests on confidential records; nothing elsewhere."""
        return HEADER if self.kind == "confidential" else ""

    @property
    def words(self) -> str:
        """What is counted, in words."""
        match self.kind:
            case "public":
                return f"{Path(self.data or '').name}, which was declared public"
            case "synthetic":
                return f"{self.rows:,} synthetic records, drawn from the spec alone"
            case "confidential":
                return "the confidential records themselves"
        return ""

    def opened(self, loaded: LoadedSpec) -> Table:
        """Return the table that stands for the source; without a door, its columns are asked."""
        match self.kind:
            case "public":
                check_public(loaded, self.data or "")
                return open_table(loaded, self.data)
            case "synthetic":
                return open_table(loaded, drawn_table(loaded, self.rows))
        return open_table(loaded)

    def state(self, loaded: LoadedSpec) -> object:
        """Return what tells one state of the data from another."""
        match self.kind:
            case "public":
                return file_state(Path(self.data or ""))
            case "synthetic":
                part = {name: getattr(loaded.spec, name) for name in DRAWN_FROM}
                return canonical(Spec.model_construct(**part))
        return tuple(file_state(each) for each in loaded.source_files)


CLOSED = StudioDoor()


def chosen_door(
    data: str | None, *, synthetic: bool, confidential: bool, rows: int = ROWS
) -> StudioDoor:
    """Return the door that the options of a command name; more than one is refused."""
    if sum((data is not None, synthetic, confidential)) > 1:
        raise InputError(
            "--data, --synthetic and --confidential say where numbers come from, and more than one "
            "is given; give one of them."
        )
    if data is not None:
        return StudioDoor("public", data)
    if synthetic:
        return StudioDoor("synthetic", rows=rows)
    return replace(CLOSED, kind="confidential") if confidential else CLOSED


def check_public(loaded: LoadedSpec, data: str) -> None:
    """Refuse the spec's own source as public data: it is the confidential one."""
    given = Path(data).resolve()
    if given in {each.resolve() for each in loaded.source_files}:
        raise InputError(
            f"--data names {given.name!r}, which is the source of {loaded.path.name} itself and "
            "confidential. Name a public, prior or synthetic file of the same columns, or start "
            "the studio with --confidential in place of --data."
        )


def file_state(path: Path) -> tuple[str, int, int]:
    """Return what tells one content of a file from another."""
    try:
        found = path.stat()
    except OSError:
        return str(path), 0, 0
    return str(path), found.st_mtime_ns, found.st_size

# ruff: noqa: PLC0415 -- what a format needs is loaded when it is asked for
"""Published releases in other formats: from the folder alone, at no charge, at any time later.

Nothing here knows the ledger or the data. A folder whose files are not as they were published is
refused, so that what is exported is what was sealed.
"""

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from perrecord.errors import InputError, listing, suggestion
from perrecord.extras import SDMX, XLSX, check_extra
from perrecord.release.folders import ReleaseFolder

_LOG = logging.getLogger("perrecord.release.export")

Made = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class ExportTo:
    """A format: what it is, what it needs, and whether it is one file or a folder of several."""

    words: str
    make: Callable[[ReleaseFolder], Made]
    extra: tuple[str, tuple[str, ...]] | None = None
    is_folder: bool = False


def _workbook(folder: ReleaseFolder) -> Made:
    from perrecord.release.exporting.workbook import workbook

    return workbook(folder)


def _sdmx(folder: ReleaseFolder) -> Made:
    from perrecord.release.exporting.sdmx import sdmx

    return sdmx(folder)


def _jsonstat(folder: ReleaseFolder) -> Made:
    from perrecord.release.exporting.jsonstat import jsonstat

    return jsonstat(folder)


def _px(folder: ReleaseFolder) -> Made:
    from perrecord.release.exporting.px import px

    return px(folder)


def _registry(folder: ReleaseFolder) -> Made:
    from perrecord.release.exporting.registry import registry

    return registry(folder)


FORMATS: Mapping[str, ExportTo] = {
    "xlsx": ExportTo("an Excel workbook", _workbook, XLSX),
    "sdmx": ExportTo("SDMX-CSV with its structure message", _sdmx, SDMX, is_folder=True),
    "jsonstat": ExportTo("a JSON-stat dataset for each table", _jsonstat, is_folder=True),
    "px": ExportTo("a PX file for each table", _px, is_folder=True),
    "registry": ExportTo("a draft for OpenDP's registry of deployments", _registry),
}


def export(folder: str | Path, *, to: str, out: str | Path) -> tuple[Path, ...]:
    """Write a published release in another format; return the files, which are new.

    `out` is a file for `xlsx` and `registry`, and a folder for `sdmx`, `jsonstat` and `px`. The
    same release gives the same bytes.
    """
    if to not in FORMATS:
        raise InputError(
            f"no format {to!r}. Formats are {listing(FORMATS)}.{suggestion(to, FORMATS)}"
        )
    chosen, source, target = FORMATS[to], Path(folder), Path(out)
    if chosen.extra is not None:
        check_extra(f"export to {to}", chosen.extra)
    _check_target(source, target)
    _LOG.info("export to %s: reading the release", to)
    release = ReleaseFolder.read(source)
    files = chosen.make(release)
    _LOG.info("export to %s: writing", to)
    if not chosen.is_folder:
        (content,) = files.values()
        return (_written(target, content),)
    target.mkdir(parents=True)
    return tuple(_written(target / name, content) for name, content in files.items())


def _check_target(source: Path, target: Path) -> None:
    if os.path.lexists(target):
        raise InputError(f"{str(target)!r} exists already; give a new name with out.")
    if source.resolve() in target.resolve().parents:
        raise InputError(
            f"{str(target)!r} lies in the published folder, which would no longer be as it was "
            "published; give another place with out."
        )


def _written(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        file.write(content)
    return path

"""Reports on the disk: the page, and each figure as SVG, PNG and CSV in a folder beside it."""

import shutil
from pathlib import Path

from perrecord.errors import InputError
from perrecord.evaluate.confidential import MARKER, ConfidentialFolder
from perrecord.report.drawing import png
from perrecord.report.figure import pictures
from perrecord.report.page import Page, report_page

_SUFFIXES = (".csv", ".png", ".svg")


def write_report(folder: ConfidentialFolder, page: Page, name: str = "report") -> Path:
    """Write NAME.html and its figures, and return the path of the page.

    The figures of `report.html` are in `figures/`, those of another page in `NAME-figures/`. What
    an earlier report left there is replaced as a whole: everything is written under other names,
    then renamed. A folder of that name that holds anything else is refused.
    """
    folder.place(name)
    beside = _beside(name)
    partial = folder.place(f".{beside}.partial")
    earlier = folder.place(f".{beside}.earlier")
    final = folder.place(beside)
    check_report(folder.path, name)
    drawn = {figure.name: pictures(figure, is_public=folder.is_public) for figure in page.figures}
    html = report_page(page, drawn, is_public=folder.is_public, folder=beside)
    for left in (partial, earlier):
        shutil.rmtree(left, ignore_errors=True)
    try:
        figures = folder.subfolder(partial.name)
        for figure in page.figures:
            figures.write_bytes(f"{figure.name}.svg", drawn[figure.name].wide.encode())
            figures.write_bytes(f"{figure.name}.png", png(drawn[figure.name].wide))
            figures.write(figure.name, figure.numbers)
        if final.exists():
            final.rename(earlier)
        if page.figures:
            partial.rename(final)
        path = folder.write_bytes(f"{name}.html", html.encode())
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    shutil.rmtree(earlier, ignore_errors=True)
    return path


def _beside(name: str) -> str:
    return "figures" if name == "report" else f"{name}-figures"


def check_report(folder: Path, name: str = "report") -> None:
    """Refuse to replace what no report has written: each figure has its three files."""
    final = folder / _beside(name)
    if not final.exists() and not final.is_symlink():
        return
    stems: dict[str, set[str]] = {suffix: set() for suffix in _SUFFIXES}
    is_ours = final.is_dir() and not final.is_symlink()
    for path in final.iterdir() if is_ours else ():
        if path.name != MARKER:
            is_ours = is_ours and path.suffix in stems and path.is_file()
            stems.get(path.suffix, set()).add(path.stem)
    if not is_ours or len({frozenset(each) for each in stems.values()}) > 1:
        raise InputError(
            f"{final} would be replaced, and holds what is not from a report; move it away, or "
            "write the report to another folder."
        )

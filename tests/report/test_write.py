"""Reports on the disk: private, marked, complete, and replaced as a whole."""

import os
import re
import stat
from html import unescape
from urllib.parse import unquote

import pyarrow as pa
import pytest

from perrecord.errors import InputError
from perrecord.evaluate.confidential import (
    HEADER,
    MARKER,
    ConfidentialFolder,
    confidential_folder,
)
from perrecord.report import write
from perrecord.report.page import Page, Section
from perrecord.report.write import write_report
from tests.report.samples import draw_points, figure, point_table

TABLE = point_table()


@pytest.fixture(autouse=True)
def open_umask():
    """Whatever the user's mask is, files are closed."""
    before = os.umask(0)
    yield
    os.umask(before)


def report(*names, title="Title"):
    """Return a report with figures of these names."""
    figures = tuple(figure(name, draw_points, TABLE) for name in names)
    return Page(title, (), (), (Section("s", figures=figures),))


def below(folder):
    """Return all files below a folder by their relative path, and who may do what with them."""
    return {
        path.relative_to(folder).as_posix(): stat.S_IMODE(path.stat().st_mode)
        for path in folder.rglob("*")
    }


def test_a_confidential_report_is_private_and_marked_in_every_file(tmp_path):
    """Files 0600 in folders 0700; each says CONFIDENTIAL in its own way."""
    folder = confidential_folder(tmp_path / "own")
    path = write_report(folder, report("one", "two"))
    assert path == folder.path / "report.html"
    files = [f"figures/{name}.{kind}" for name in ("one", "two") for kind in ("svg", "png", "csv")]
    expected = dict.fromkeys([MARKER, "report.html", f"figures/{MARKER}", *files], 0o600)
    assert below(folder.path) == expected | {"figures": 0o700}
    assert HEADER in path.read_text()
    assert "CONFIDENTIAL" in (folder.path / "figures/one.svg").read_text()
    first, *rest = (folder.path / "figures/one.csv").read_text().splitlines()
    assert first == f"# {HEADER}"
    assert len(rest) == 1 + len(TABLE)


def test_a_public_report_is_not_marked(tmp_path):
    """Everybody may read it."""
    folder = confidential_folder(tmp_path / "open", is_public=True)
    path = write_report(folder, report("one"))
    found = below(folder.path)
    assert set(found.values()) == {0o644, 0o755}
    assert all(MARKER not in name for name in found)
    for name in ("report.html", "figures/one.svg", "figures/one.csv"):
        assert "CONFIDENTIAL" not in (folder.path / name).read_text()
    assert path.stat().st_mode & 0o044


def test_every_link_leads_to_a_file(tmp_path):
    """From the page to its figures."""
    folder = confidential_folder(tmp_path / "own")
    for name in ("report", "tuning", 'odd "name" #1 %20'):
        path = write_report(folder, report("one", "two"), name)
        links = re.findall(r'href="([^"#]+)"', path.read_text())
        assert len(links) == 6
        assert all((folder.path / unquote(unescape(link))).is_file() for link in links)
    assert (folder.path / "figures").is_dir()
    assert (folder.path / "tuning-figures").is_dir()


def test_a_report_without_figures_has_no_folder_of_them(tmp_path):
    """Nor does it keep that of an earlier one."""
    folder = confidential_folder(tmp_path / "own")
    for names in ((), ("one",), ()):
        write_report(folder, report(*names))
        assert (folder.path / "figures").exists() == bool(names)
        assert {".figures.partial", ".figures.earlier"}.isdisjoint(below(folder.path))


def test_the_numbers_beside_a_figure_are_all_of_them(tmp_path):
    """The CSV is the table, not what was thinned or shortened for the picture."""
    folder = confidential_folder(tmp_path / "open", is_public=True)
    write_report(folder, report("one"))
    read = pa.csv.read_csv(folder.path / "figures/one.csv")
    assert read.to_pydict() == TABLE.to_pydict()


def test_an_earlier_report_is_replaced(tmp_path):
    """Its figures are gone, and nothing half made is left, also after a run that was killed."""
    folder = confidential_folder(tmp_path / "own")
    write_report(folder, report("old", "both", title="Before"))
    for left in (".figures.partial", ".figures.earlier"):
        (folder.path / left).mkdir(mode=0o700)
        (folder.path / left / "old.svg").write_text("")
    write_report(folder, report("both", "new", title="After"))
    assert "After" in (folder.path / "report.html").read_text()
    stems = {path.stem for path in (folder.path / "figures").iterdir()}
    assert stems == {"both", "new", "CONFIDENTIAL"}
    assert {path.name for path in folder.path.iterdir()} == {MARKER, "report.html", "figures"}


def test_a_report_that_fails_leaves_the_earlier_one(tmp_path, monkeypatch):
    """As it was, byte for byte, and nothing beside it."""
    folder = confidential_folder(tmp_path / "own")
    write_report(folder, report("one"))
    before = {path: path.read_bytes() for path in folder.path.rglob("*") if path.is_file()}

    def broken(width):
        raise ZeroDivisionError

    bad = report("one", "two")
    object.__setattr__(bad.figures[1], "draw", broken)
    with pytest.raises(ZeroDivisionError):
        write_report(folder, bad)
    monkeypatch.setattr(write, "report_page", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_report(folder, report("two"))
    monkeypatch.undo()
    monkeypatch.setattr(ConfidentialFolder, "write", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_report(folder, report("two"))
    after = {path: path.read_bytes() for path in folder.path.rglob("*") if path.is_file()}
    assert after == before


def test_what_no_report_has_written_is_not_replaced(tmp_path):
    """A folder of the user's own that happens to be called figures, or a link."""
    for number, kind in enumerate(("notes.txt", "photo.png", "folder")):
        folder = confidential_folder(tmp_path / f"open-{number}", is_public=True)
        own = folder.path / "figures" / kind
        own.mkdir(parents=True) if kind == "folder" else own.parent.mkdir()
        if kind != "folder":
            own.write_text("mine")
        with pytest.raises(InputError, match="not from a report"):
            write_report(folder, report("one"))
        assert own.exists()
        assert not (folder.path / "report.html").exists()
    folder = confidential_folder(tmp_path / "linked")
    (folder.path / "figures").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="not from a report"):
        write_report(folder, report("one"))


def test_names_of_reports_have_no_folders(tmp_path):
    """Nothing is written or removed elsewhere."""
    folder = confidential_folder(tmp_path / "own")
    for name in ("../report", "a/b", "", ".."):
        with pytest.raises(InputError, match="without folders"):
            write_report(folder, report("one"), name)
    assert set(below(folder.path)) == {MARKER}

"""Folders of confidential results: for this user alone, and marked on every file."""

import os
import stat

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord import Query
from perrecord.errors import InputError
from perrecord.evaluate.confidential import HEADER, MARKER, confidential_folder
from perrecord.evaluate.losses.realised import losses
from perrecord.queries.plan import plan
from perrecord.tables.table import table

ROWS = pa.table({"cell": ["a", "=b"], "loss": [0.5, 2.0]})


def mode(path):
    """Return who may do what with a file."""
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(autouse=True)
def open_umask():
    """Whatever the user's mask is, the folder is closed."""
    before = os.umask(0)
    yield
    os.umask(before)


def test_a_new_folder_is_closed_and_marked(tmp_path):
    """Mode 0700, files 0600, a marker, the header on each table."""
    folder = confidential_folder(tmp_path / "deep" / "own")
    assert mode(folder.path) == 0o700
    assert (folder.path / MARKER).read_text() == f"{HEADER}\n"
    written = [folder.write("losses", ROWS), folder.write("losses", ROWS, "parquet")]
    assert all(mode(path) == 0o600 for path in [*written, folder.path / MARKER])
    first, *rest = written[0].read_text().splitlines()
    assert first == f"# {HEADER}"
    assert rest == ['"cell","loss"', '"a",0.5', '"\'=b",2']
    assert pq.read_metadata(written[1]).metadata[b"confidential"] == HEADER.encode()
    assert pq.read_table(written[1]).to_pydict() == ROWS.to_pydict()


def test_a_folder_of_ours_is_used_again(tmp_path):
    """What is there is overwritten under the same name."""
    for _ in range(2):
        folder = confidential_folder(tmp_path / "own")
        path = folder.write("losses", ROWS)
    assert sorted(each.name for each in folder.path.iterdir()) == sorted([MARKER, path.name])


def test_an_open_folder_a_release_and_a_file_are_refused(tmp_path):
    """Each with what to do."""
    shared, release, file = tmp_path / "shared", tmp_path / "release", tmp_path / "file"
    shared.mkdir(mode=0o755)
    release.mkdir(mode=0o700)
    (release / "policy.json").write_text("{}")
    file.write_text("")
    for path, words in ((shared, "chmod 700"), (release, "no CONFIDENTIAL"), (file, "is a file")):
        with pytest.raises(InputError, match=words):
            confidential_folder(path)


def test_public_input_is_not_marked(tmp_path):
    """Declared public or synthetic: an ordinary folder, and never one that is confidential."""
    folder = confidential_folder(tmp_path / "open", is_public=True)
    csv, parquet = folder.write("losses", ROWS), folder.write("losses", ROWS, "parquet")
    assert (mode(folder.path), mode(csv)) == (0o755, 0o644)
    assert csv.read_text().startswith('"cell"')
    assert b"confidential" not in (pq.read_metadata(parquet).metadata or {})
    assert not (folder.path / MARKER).exists()
    confidential_folder(tmp_path / "own")
    with pytest.raises(InputError, match="marked as confidential"):
        confidential_folder(tmp_path / "own", is_public=True)
    with pytest.raises(InputError, match="is a file"):
        confidential_folder(csv, is_public=True)


def test_names_and_formats_are_checked(tmp_path):
    """Nothing is written elsewhere, and not through a link."""
    folder = confidential_folder(tmp_path / "own")
    for name in ("", "../losses", "a/b"):
        with pytest.raises(InputError, match="without folders"):
            folder.write(name, ROWS)
    with pytest.raises(InputError, match="'csv' or 'parquet'"):
        folder.write("losses", ROWS, "xlsx")
    (folder.path / "losses.csv").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        folder.write("losses", ROWS)


def test_bytes_are_written_whole_under_their_name(tmp_path):
    """Private, over what was there, not through a link; or not at all."""
    folder = confidential_folder(tmp_path / "own")
    (folder.path / "report.html").symlink_to(tmp_path / "elsewhere")
    path = folder.write_bytes("report.html", b"one")
    assert path == folder.path / "report.html"
    assert (path.read_bytes(), mode(path), path.is_symlink()) == (b"one", 0o600, False)
    assert not (tmp_path / "elsewhere").exists()
    with pytest.raises(TypeError):
        folder.write_bytes("report.html", "text")
    assert path.read_bytes() == b"one"
    assert {each.name for each in folder.path.iterdir()} == {MARKER, "report.html"}
    for name in ("", "../report.html", "a/b", ".."):
        with pytest.raises(InputError, match="without folders"):
            folder.write_bytes(name, b"")
    public = confidential_folder(tmp_path / "open", is_public=True)
    assert mode(public.write_bytes("report.html", b"")) == 0o644


def test_a_folder_inside_is_as_private(tmp_path):
    """Closed and marked like the one around it, or public like it; open ones are refused."""
    folder = confidential_folder(tmp_path / "own")
    inner = folder.subfolder("figures")
    assert (mode(inner.path), inner.is_public) == (0o700, False)
    assert (inner.path / MARKER).exists()
    assert mode(inner.write("losses", ROWS)) == 0o600
    (folder.path / "shared").mkdir(mode=0o755)
    with pytest.raises(InputError, match="chmod 700"):
        folder.subfolder("shared")
    for name in ("", "../figures", "a/b", ".."):
        with pytest.raises(InputError, match="without folders"):
            folder.subfolder(name)
    public = confidential_folder(tmp_path / "open", is_public=True).subfolder("figures")
    assert (mode(public.path), public.is_public) == (0o755, True)
    assert not (public.path / MARKER).exists()


def test_results_are_written_as_they_are(tmp_path):
    """Losses of a table, out and back."""
    with table(pa.table({"x": [1, 2]}), measures=["x"]) as source:
        found = losses(plan(Query().count(rho=1), source.schema), source).to_arrow()
    path = confidential_folder(tmp_path / "own").write("losses", found, "parquet")
    assert pq.read_table(path).to_pydict() == found.to_pydict()


def test_a_release_is_never_written_into(tmp_path):
    """Not even by public results, and nobody is told to close a published folder."""
    release = tmp_path / "published"
    release.mkdir(mode=0o755)
    (release / "manifest.json").write_text("{}")
    for is_public in (True, False):
        with pytest.raises(InputError, match="holds a release") as error:
            confidential_folder(release, is_public=is_public)
        assert "chmod" not in str(error.value)

"""The browser of our tests leaves nothing behind, in the home folder or anywhere else."""

import tempfile
from pathlib import Path

import pytest

from tests.browser import devtools

pytestmark = pytest.mark.browser


@pytest.fixture
def left(tmp_path, monkeypatch):
    """Return a function that opens a page in a browser of its own and says what is left of it."""
    page = tmp_path / "page.html"
    page.write_text("<p>x</p>")
    # A short path: Chromium makes a socket in there, whose path the system limits to 108 bytes.
    kept = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    home, temporary = Path(kept.name, "home"), Path(kept.name, "temporary")
    home.mkdir()
    temporary.mkdir()
    for name in devtools.HOMES:
        monkeypatch.setenv(name, str(home))
    monkeypatch.setattr("tempfile.tempdir", str(temporary))

    def opened():
        browser = devtools.Chromium()
        try:
            browser.open(page)
        finally:
            browser.close()
        return [path for place in (home, temporary) for path in place.iterdir()]

    yield opened
    kept.cleanup()


def test_a_browser_leaves_nothing(left):
    """Profile, caches and crash reports are in one folder, which goes with it."""
    assert left() == []


def test_a_browser_that_writes_to_the_home_folder_is_seen(left, monkeypatch):
    """Broken twin: it is not told where else to write."""
    monkeypatch.setattr(devtools, "HOMES", ())
    assert left() != []

"""One browser for all tests of a worker, and pages opened in it from files."""

import pytest

from perrecord.release.page import policy_page
from tests.browser.devtools import Chromium


@pytest.fixture(scope="session")
def chromium():
    """Return a headless browser."""
    browser = Chromium()
    yield browser
    browser.close()


@pytest.fixture
def show(chromium, tmp_path):
    """Return a function that opens a published policy, or a page's text, in a new tab."""
    tabs = []

    def opened(page, **how):
        text = page if isinstance(page, str) else policy_page(page)
        path = tmp_path / f"page-{len(tabs)}.html"
        path.write_text(text, "utf-8")
        tabs.append(chromium.open(path, **how))
        return tabs[-1]

    yield opened
    for tab in tabs:
        tab.close()

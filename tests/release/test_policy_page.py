"""The page as text: sealed by hashes, one file, the same each time; tests/browser opens it."""

import base64
import hashlib
import json
import re

import pytest

from perrecord.release.page import policy_page
from tests.browser import policies

PAGES = [*policies.EVERY.values(), policies.hostile]


@pytest.fixture(params=PAGES, ids=lambda make: make.__name__)
def page(request):
    """Return the page of one published policy."""
    return policy_page(request.param())


def test_the_security_policy_names_exactly_what_is_inside(page):
    """default-src 'none', and the hashes of the one style and the one script."""
    stated = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]

    def hashed(tag):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"

    assert stated == (
        f"default-src 'none'; script-src {hashed('script')}; style-src {hashed('style')}; "
        "base-uri 'none'; form-action 'none'"
    )


def test_the_markup_has_no_handlers_styles_or_addresses(page):
    """Nothing inline that the policy would have to allow, and nothing to load."""
    markup = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    tags = re.findall(r"<[a-zA-Z][^>]*>", markup)
    assert not [tag for tag in tags if re.search(r"\s(on\w+|style|src|srcset)\s*=", tag)]
    assert [tag for tag in tags if "href" in tag] == ['<a class="skip" href="#form">']


def test_the_data_is_plain_ascii_without_markup(page):
    """No character of a name can end the data block or turn the line's direction."""
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page)
    assert data.isascii()
    assert not set("<>&") & set(data)
    assert json.loads(data)["currency"] in ("rho", "epsilon")


def test_the_page_is_the_same_each_time_and_can_be_written():
    """A release can be published again byte for byte, lone surrogates and all."""
    for make in PAGES:
        assert policy_page(make()).encode() == policy_page(make()).encode()

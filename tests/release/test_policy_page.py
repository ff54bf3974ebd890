"""The page as text: sealed by hashes, one file, the same each time; tests/browser opens it."""

import base64
import hashlib
import json
import re
from importlib.resources import files

import pytest

from perrecord.release.page import policy_page
from perrecord.release.page_data import page_data
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


# -- the page's data, made of values, beside policy.json ---------------------------------------


def tagged(value):
    """Return a part of policy.json as the script has it: keys of cases and caps as text."""
    match value:
        case {"when": list(key), **rest}:
            return {"when": [tag(part) for part in key], **tagged(rest)}
        case {"cap": int(cap), **rest}:
            return {"cap": str(cap), **rest}
        case dict():
            return {key: tagged(each) for key, each in value.items()}
        case list():
            return [tagged(each) for each in value]
    return value


def tag(value):
    """Return a dimension's value as tagged text."""
    if value is None:
        return "n"
    kinds = {bool: "b", int: "i", str: "t"}
    return kinds[type(value)] + str(int(value) if isinstance(value, bool) else value)


def moved(value, places):
    """Return a form with the positions of its schemes replaced."""
    match value:
        case {"split": int(place), **rest}:
            return {**rest, "split": places[place]}
        case dict():
            return {key: moved(each, places) for key, each in value.items()}
        case list():
            return [moved(each, places) for each in value]
    return value


@pytest.mark.parametrize("make", PAGES, ids=lambda make: make.__name__)
def test_the_data_say_what_the_document_says(make):
    """Every form, scheme, number and value, by an own reading of policy.json."""
    published = make()
    document, data = json.loads(published.to_json()), page_data(published)
    policies_of = [each["policy"] for each in document["charges"]] + [document["total"]]
    forms = [each["form"] for each in data["charges"]] + [data["total"]]
    if document["budget"] is not None:
        policies_of.append(document["budget"])
        forms.append(data["budget"])
    for policy, form in zip(policies_of, forms, strict=True):
        places = [data["splits"].index(tagged(scheme)) for scheme in policy["splits"]]
        own = {"terms": policy["terms"], "slots": policy["slots"]}
        assert form == tagged(moved(own, places))
    assert [each["noise"] for each in data["charges"]] == [
        tagged(each["noise"]) for each in document["charges"]
    ]
    assert data["examples"] == [
        [each["name"], [[name, tag(value)] for name, value in each["record"].items()]]
        for each in document["examples"]
    ]
    known = {each["name"]: each for each in document["fields"]}
    for field in data["fields"]:
        own = known[field["name"]]
        kept = {name: field[name] for name in own if name != "values"}
        assert kept == {name: own[name] for name in kept}
        if own.get("values"):
            assert field["values"] == [tag(value) for value in own["values"]]


def test_no_number_of_the_data_is_one_that_a_script_would_round():
    """JavaScript reads 9007199254740993 as a float; only positions and thresholds are numbers."""

    def numbers(value):
        match value:
            case dict():
                for name, each in value.items():
                    is_position = name == "noise" and isinstance(each, int)
                    if name not in ("split", "threshold") and not is_position:
                        yield from numbers(each)
            case list():
                for each in value:
                    yield from numbers(each)
            case int() | float() if not isinstance(value, bool):
                yield value

    for make in PAGES:
        data = page_data(make())
        shown = data.pop("shown_splits")
        assert list(numbers(data)) == []
        assert shown == list(range(len(shown)))


def test_lines_of_the_policy_stand_as_deep_as_they_are_said():
    """The words are those of `describe`, at the depth that it shows by spaces."""
    for make in PAGES:
        policy = make().total
        lines = policy.lines()
        assert "\n".join("  " * each.depth + each.words for each in lines) == policy.describe()
        assert not any(each.words.startswith(" ") for each in lines)


def test_no_two_scripts_of_the_page_declare_one_name():
    """They are one script in the page, which a name declared twice keeps from starting at all."""
    scripts = files("perrecord.release").joinpath("assets").iterdir()
    names = [
        name
        for each in scripts
        if each.name.endswith(".js")
        for name in re.findall(
            r"^(?:const|let|var|class|function\*?|async function) (\w+)",
            each.read_text("utf-8"),
            re.M,
        )
    ]
    assert len(names) > 100
    assert sorted(names) == sorted(set(names))

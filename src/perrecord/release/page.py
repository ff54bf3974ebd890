"""The policy page: one HTML file in which anybody can read what a record would lose.

The page is complete in itself. Its content security policy lets it load nothing and run only the
script and the style whose hashes it states; names and values reach it as data, never as markup.
"""

import base64
import hashlib
import json
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from perrecord.policy.blurring import is_blurred
from perrecord.policy.document import Json, growths, has_growth, has_tapers
from perrecord.policy.terms import Currency
from perrecord.policy.weighing import WeighedChoice
from perrecord.release.document import PublishedPolicy
from perrecord.release.page_data import fields_asked, page_data

_SCRIPTS = (
    "exact.js", "typed.js", "figures.js", "policy.js", "blurring.js", "meaning.js", "attack.js",
    "changes.js", "chart.js", "fields.js", "record.js", "unit.js", "words.js", "results.js",
    "curves.js", "firm.js", "page.js",
)  # fmt: skip
_DEEPEST = 9


def policy_page(published: PublishedPolicy) -> str:
    """Return the page of a published policy as one self-contained HTML file.

    >>> from fractions import Fraction
    >>> from perrecord import Policy, Split
    >>> from perrecord.release.document import Field, PublishedCharge
    >>> policy = Policy.split("0.1", Split(employees=50))
    >>> employees = Field("employees", "measure", resolution=Fraction(1))
    >>> answer = PublishedCharge("employment", "Employment by county", policy)
    >>> page = policy_page(PublishedPolicy("Employment", "firms", (employees,), (answer,), policy))
    >>> "default-src 'none'" in page
    True
    """
    script = "'use strict';(() => {\n" + "\n".join(map(_asset, _SCRIPTS)) + "})();"
    style = _asset("base.css") + _asset("page.css")
    asked = fields_asked(published)
    return _template().render(
        title=_encodable(published.title),
        table=_encodable(published.table),
        notes=[_encodable(note) for note in published.notes],
        words=list(_words(published)),
        unread=[
            _encodable(field.label or field.name)
            for field in published.fields
            if field.name not in asked
        ],
        is_rho=published.total.currency is Currency.RHO,
        selects=bool(published.total.slots),
        tapers=has_tapers(published.total.form),
        is_rounded_up=has_growth(published.total.form),
        blurs=any(is_blurred(term.growth) for term in growths(published.total.form)),
        weighs=any(
            isinstance(term.growth, WeighedChoice) for term in growths(published.total.form)
        ),
        has_budget=published.budget is not None,
        series=_series(published),
        unit=None if published.unit_column is None else _encodable(published.unit_column),
        security=Markup(  # noqa: S704 - our own, without double quotes
            f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
            "base-uri 'none'; form-action 'none'"
        ),
        style=Markup(style),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own files
        data=Markup(_embedded(page_data(published))),  # noqa: S704 - escaped there
    )


def _series(published: PublishedPolicy) -> dict[str, object] | None:
    """Return what the page says of the periods of a ledger; None if there are none."""
    series = published.series
    if series is None:
        return None
    return {
        "period": _encodable(series.period),
        "revision": None if series.revision is None else _encodable(series.revision),
        "count": len(series.periods),
        "first": _encodable(series.periods[0]),
        "last": _encodable(series.periods[-1]),
        "unread": [(_encodable(period), _encodable(title)) for period, title in series.unread],
    }


def _asset(name: str) -> str:
    return files("perrecord.release").joinpath("assets", name).read_text("utf-8")


def _hash(source: str) -> str:
    digest = hashlib.sha256(source.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _embedded(data: Json) -> str:
    """Return JSON in plain ASCII that no HTML parser takes for markup."""
    written = json.dumps(data, separators=(",", ":"))
    return written.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _encodable(shown: str) -> str:
    """Return text that UTF-8 can hold: a lone half of a surrogate pair becomes U+FFFD."""
    return shown.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _words(published: PublishedPolicy) -> Iterator[tuple[int, str]]:
    """Yield the lines of the policy in plain English, each with its depth."""
    for line in published.total.lines():
        yield min(line.depth, _DEEPEST), line.words


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("perrecord.release", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.jinja")

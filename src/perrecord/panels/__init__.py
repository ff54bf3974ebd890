"""Panels: pieces of HTML that the studio's page and notebooks show alike.

Values come as text and are escaped here; no panel holds a script, a style or an address, so that it
shows wherever HTML does.
"""

from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def panel(name: str, **values: Any) -> str:
    """Return a panel as HTML.

    >>> "&lt;b&gt;" in panel("losses", losses=[("<b>", "0.1")], currency="rho")
    True
    """
    return _environment().get_template(f"{name}.html.jinja").render(**values)


class PanelSource(Protocol):
    """What has a panel of its own."""

    def _repr_html_(self) -> str: ...


def nested(shown: PanelSource) -> "Markup":
    """Return what one panel shows, to stand within another as it is."""
    from markupsafe import Markup  # noqa: PLC0415 - when shown

    return Markup(shown._repr_html_())  # noqa: S704 - a panel, which escapes what it is given


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - when shown

    return Environment(
        loader=PackageLoader("perrecord.panels", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

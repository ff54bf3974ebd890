"""A report as one HTML file: findings, pictures and tables, complete in itself.

The page holds no script, and its content security policy lets it load nothing: the pictures are in
it. Names and numbers are escaped wherever they stand.
"""

import base64
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from perrecord.errors import InputError
from perrecord.evaluate.confidential import HEADER
from perrecord.report.drawing import size
from perrecord.report.figure import Figure, Pictures, ShownTable, pictures
from perrecord.version import VERSION

MOST_ROWS = 12
"""Longer tables are folded away."""

_MOST_SECTIONS = 3
_NUMBER = re.compile(
    r"[<>≤≥~±]?\s*[-−+]?[\d.,]+(\s*×\s*10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?\s*(%|k|M|B|T)?|10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|[–∞]|"
)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page: what is found, paragraphs, figures, tables; what is empty is left out."""

    title: str
    finding: str = ""
    text: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[ShownTable, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A report: its title, what it is about, what was found in short, and the sections.

    `made` says in the footer how it was made, such as the command that was typed.
    """

    title: str
    lead: tuple[str, ...]
    findings: tuple[str, ...]
    sections: tuple[Section, ...]
    made: str = ""

    def __post_init__(self) -> None:
        names = [figure.name for figure in self.figures]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"two figures are named {name!r}; expected different names.")

    @property
    def figures(self) -> tuple[Figure, ...]:
        """All figures in order."""
        return tuple(figure for section in self.sections for figure in section.figures)

    def _repr_html_(self) -> str:
        """Show the page in a notebook, marked as confidential: nobody said that it is not."""
        drawn = {figure.name: pictures(figure, is_public=False) for figure in self.figures}
        shown = escape(report_page(self, drawn, is_public=False, folder="figures"))
        return f'<iframe srcdoc="{shown}" style="width: 100%; height: 80vh; border: 0"></iframe>'


def report_page(page: Page, drawn: Mapping[str, Pictures], *, is_public: bool, folder: str) -> str:
    """Return the page as HTML, with the pictures of its figures by name.

    Each figure links to its files in the folder beside the page.
    """
    style = "".join(
        files(package).joinpath("assets", name).read_text("utf-8")
        for package, name in (("perrecord.release", "base.css"), ("perrecord.report", "report.css"))
    )
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return _encodable(
        _template().render(
            page=page,
            header=None if is_public else HEADER,
            has_contents=len(page.sections) > _MOST_SECTIONS,
            security=Markup(  # noqa: S704 - our own, without double quotes
                f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; "
                "base-uri 'none'; form-action 'none'"
            ),
            style=Markup(style),  # noqa: S704 - our own file
            folder=quote(folder),
            pictures={name: _embedded(found) for name, found in drawn.items()},
            alignments=_alignments,
            is_long=lambda table: table.may_fold and len(table.rows) > MOST_ROWS,
            version=VERSION,
        )
    )


def _embedded(found: Pictures) -> dict[str, tuple[str, int, int]]:
    """Return both pictures as addresses that hold them, each with its size."""
    return {
        name: (
            f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}",
            *size(svg),
        )
        for name, svg in (("wide", found.wide), ("narrow", found.narrow))
    }


def _alignments(table: ShownTable) -> list[str]:
    """Return the class of each column; one that holds numbers only is aligned to the right."""
    columns = zip(*table.rows, strict=True) if table.rows else [("text",)] * len(table.heads)
    return [
        "number" if all(_NUMBER.fullmatch(cell) for cell in column) else "words"
        for column in columns
    ]


def _encodable(shown: str) -> str:
    """Return text that UTF-8 can hold: a lone half of a surrogate pair becomes U+FFFD."""
    return shown.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("perrecord.report", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.jinja")

"""A report as people see it: sentences, tables and what stands in their cells, from the HTML."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

_TOLD = ("finding", "lead")


@dataclass(slots=True)
class ReportTable:
    """A table of a report: its caption, and the texts of its cells, row by row."""

    caption: str = ""
    rows: list[list[str]] = field(default_factory=list)
    """Without the heads."""


@dataclass(slots=True)
class Report:
    """The texts of a report by where they stand."""

    lead: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    """The list at the top, and what stands above sections and figures."""
    tables: list[ReportTable] = field(default_factory=list)


def read(html: str) -> Report:
    """Return the texts of a report."""
    found = _Reader()
    found.feed(html)
    return found.report


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.report = Report()
        self._text: list[str] | None = None
        self._kind = ""
        self._is_head = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        kind = dict(attrs).get("class") or ""
        if tag == "table":
            self.report.tables.append(ReportTable())
        elif tag in ("thead", "tbody"):
            self._is_head = tag == "thead"
        elif tag == "tr" and not self._is_head:
            self.report.tables[-1].rows.append([])
        is_told = (tag == "li" and "dir" in dict(attrs)) or (tag == "p" and kind in _TOLD)
        if is_told or tag in ("caption", "td", "th"):
            self._text = []
            self._kind = kind

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if self._text is None or tag not in ("caption", "td", "th", "li", "p"):
            return
        text, self._text = "".join(self._text), None
        if tag == "caption":
            self.report.tables[-1].caption = text
        elif tag in ("td", "th") and not self._is_head:
            self.report.tables[-1].rows[-1].append(text)
        elif tag == "p" and self._kind == "lead":
            self.report.lead.append(text)
        elif tag in ("p", "li"):
            self.report.findings.append(text)

"""Figures of `Session.preview`, compared with policy.json."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from perrecord.accounting.ledger import Ledger
from perrecord.lab.audit.shown.document import Json, Row, loss_of
from perrecord.lab.audit.shown.findings import Comparisons
from perrecord.lab.audit.shown.ledger_commands import ends, errors_of
from perrecord.lab.audit.shown.numerals import AtLeast, AtMost, Expected, amount, numerals
from perrecord.lab.audit.shown.words import on_one_line
from perrecord.release.spec import build, load_spec, open_table
from perrecord.session import Session


def previewed(spec: Path, folder: Path) -> str:
    """Return what a session says of the questions of a spec before they are asked."""
    loaded = load_spec(spec)
    with open_table(loaded) as table:
        workload = build(loaded, table.schema)
        ledger = Ledger.create(folder / "preview.ledger", workload.budget)
        session = Session(table, ledger=ledger)
        queries = [named.query for named in workload.queries]
        return str(session.preview(queries, examples=dict(workload.examples)))


def check_preview(
    findings: Comparisons, document: Json, examples: Mapping[str, Row], text: str
) -> None:
    """Compare every number of a preview: the charge, examples, noise, what is left."""
    heads = r"^(Charge: |Spent before: |  (?=\w+ by )|The budget)"
    parts = re.split(heads, text, flags=re.M)
    shown: dict[str, str] = {}
    for head, part in zip(parts[1::2], parts[2::2], strict=True):
        shown[head] = shown.get(head, "") + part
    findings.numerals("preview: charge", shown["Charge: "], list(_charge(document, examples)))
    findings.numerals("preview: noise", shown.get("  ", ""), list(_noise(document)))
    budget = on_one_line(document["budget"])
    findings.numerals("preview: budget", shown["Spent before: "], [0, *budget])


def _charge(document: Json, examples: Mapping[str, Row]) -> Iterator[Expected]:
    yield from on_one_line(document["total"])
    for name, record in examples.items():
        loss = loss_of(document["total"], record)
        left = loss_of(document["budget"], record) - loss
        yield from (*numerals(name), amount(loss))
        shown = amount(left)
        yield AtLeast(left) if isinstance(shown, AtMost) else shown


def _noise(document: Json) -> Iterator[Expected]:
    for charge in document["charges"]:
        if not charge["name"].endswith(".keys"):
            yield from ends(errors_of(charge))

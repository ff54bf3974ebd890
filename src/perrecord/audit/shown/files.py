"""Figures in the files of a release: the methodology, the tables' errors, the manifest."""

import json
import math
import re
from collections.abc import Mapping
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from perrecord.audit.shown import by_hand
from perrecord.audit.shown.commands import errors_of
from perrecord.audit.shown.document import (
    Json,
    Row,
    delta_of,
    estimate_of,
    least_loss,
    leaves_of,
    loss_of,
    shifted_of,
    variance_of,
)
from perrecord.audit.shown.findings import Findings, printed

_CONFIDENCE = 0.95


def check_manifest(findings: Findings, folder: Path) -> None:
    """Compare the sizes and digests of the manifest with the files beside it."""
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    there = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "manifest.json"
    }
    findings.equal("manifest: files", set(manifest["files"]), there)
    for name in there & set(manifest["files"]):
        content = (folder / name).read_bytes()
        stated = manifest["files"][name]
        findings.equal("manifest: bytes", stated["bytes"], len(content))
        findings.equal("manifest: digest", stated["sha256"], sha256(content).hexdigest())


def check_methodology(
    findings: Findings, folder: Path, document: Json, examples: Mapping[str, Row]
) -> None:
    """Compare what the methodology says with policy.json and with the tables beside it."""
    text = (folder / "methodology.md").read_text("utf-8")
    _check_least(findings, text, document)
    _check_examples(findings, text, document, examples)
    for measure in (each for each in document["fields"] if each["kind"] == "measure"):
        step, most = Fraction(measure["resolution"]), int(measure["largest"])
        row = _row(text, measure["name"])
        shown = [Fraction(cell) for cell in row[1:3]]
        findings.equal("methodology: grid of a measure", shown, [step, step * most])
    _check_noise(findings, text, document)
    for count in re.findall(r"^By .*: ([\d,]+) keys?, fixed beforehand", text, re.M):
        sizes = {len(_rows(path)) for path in (folder / "tables").glob("*.parquet")}
        is_there = not sizes or int(count.replace(",", "")) in sizes
        findings.add("methodology: number of keys", agrees=is_there, shown=count, expected=sizes)


def _check_least(findings: Findings, text: str, document: Json) -> None:
    shown = re.search(r"The least that any record can lose is (\S+)\.\n", text)
    least = least_loss(document["total"])
    if least is not None:
        found = None if shown is None else Fraction(shown[1])
        findings.equal("methodology: least loss", found, least)


def _row(text: str, name: str) -> list[str]:
    """Return the cells of the first table row that begins with a name."""
    line = re.search(rf"^\| {re.escape(name)} \|.*$", text, re.M)
    return [] if line is None else [cell.strip() for cell in line[0].strip("|").split("|")]


def _check_examples(
    findings: Findings, text: str, document: Json, examples: Mapping[str, Row]
) -> None:
    for name, record in examples.items():
        row = _row(text, name) or ["", "nan", "", ""]
        loss, delta = loss_of(document["total"], record), delta_of(document["total"], record)
        findings.equal("methodology: loss of an example", row[1], _text(loss))
        most = re.search(r"at most (\S+) %", row[2])
        if document["total"]["currency"] == "rho":
            bound = by_hand.power(float(loss), 0.05, delta)
        else:
            factor = math.exp(min(float(loss), 700))
            bound = min(1.0, 0.05 * factor, 1 - 0.95 / factor)
        shown = math.nan if most is None else printed(most[1])
        findings.at_most("methodology: recognised, at most", shown, 100 * bound)
        shifted = shifted_of(document, record)
        about = re.search(r"about (\S+) %", row[2])
        findings.equal("methodology: about is said", about is not None, shifted is not None)
        if about is not None and shifted is not None:
            expected = by_hand.gaussian_power(float(shifted))
            findings.close(
                "methodology: recognised, about", printed(about[1]) / 100, expected, within=6e-3
            )
        for field in (each["name"] for each in document["fields"] if each["kind"] == "measure"):
            error = None if record[field] is None else estimate_of(document, record, field)
            found = re.search(
                rf"\b{re.escape(field)}: (?:at least )?about ([^ ,]+(?:,\d+)*)", row[3]
            )
            findings.equal("methodology: estimate is said", found is not None, error is not None)
            if found is not None and error is not None:
                findings.close("methodology: estimate", printed(found[1]), error, within=6e-3)


def _text(value: Fraction) -> str:
    """Return an exact number as the documents write it: a decimal if that ends, or a fraction."""
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1:
        return f"{value.numerator}/{value.denominator}"
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
    digits = str(abs(value * 10**places)).rjust(places + 1, "0")
    whole = f"{digits[:-places]}.{digits[-places:]}" if places else digits
    return f"-{whole}" if value < 0 else whole


def _check_noise(findings: Findings, text: str, document: Json) -> None:
    """Compare the noise of every answer, table by table in the document's order."""
    shown = re.findall(r"^\| (\w+) \| .* \| ([^|]*) \|$", text, re.M)
    rows = [(name, noise) for name, noise in shown if noise not in ("noise (standard deviation)",)]
    charges = [each for each in document["charges"] if not each["name"].endswith(".keys")]
    told = [row for row in rows if row[0] in {each["name"].rpartition(".")[2] for each in charges}]
    findings.equal("methodology: number of answers", len(told), len(charges))
    for (name, noise), charge in zip(told, charges, strict=False):
        errors = errors_of(charge)
        expected = " to ".join(f"{end:,.4g}" for end in dict.fromkeys([*errors[:1], *errors[-1:]]))
        stated = noise.removesuffix(", of its total").strip()
        own = charge["name"].rpartition(".")[2]
        findings.equal("methodology: noise of an answer", (name, stated), (own, expected or "-"))


def check_tables(findings: Findings, folder: Path, document: Json) -> None:
    """Compare the errors and intervals beside counts and totals with the noise that is stated."""
    dimensions = {each["name"] for each in document["fields"] if each["kind"] != "measure"}
    for charge in document["charges"]:
        table, _, answer = charge["name"].rpartition(".")
        path = folder / "tables" / f"{table}.parquet"
        if (
            not path.exists()
            or len(charge["noise"]) != 1
            or charge["noise"][0]["moved"] == "pieces"
        ):
            continue
        (noise,) = charge["noise"]
        for row in _rows(path):
            key = {name: value for name, value in row.items() if name in dimensions}
            cells = list(leaves_of(noise["cells"], key))
            spreads = {(cell["law"], cell["spread"], cell["step"]) for cell in cells}
            shown = float(row[f"{answer}_se"])
            if len(spreads) != 1:
                findings.add("tables: standard error", agrees=False, shown=shown, expected=spreads)
                continue
            findings.close("tables: standard error", shown, math.sqrt(variance_of(cells[0])))
            _check_interval(findings, row, answer, cells[0])


def _check_interval(findings: Findings, row: Mapping[str, Any], answer: str, cell: Json) -> None:
    step = Fraction(cell["step"])
    reach = by_hand.half_width(cell["law"], Fraction(cell["spread"]), step, _CONFIDENCE)
    if reach is None or f"{answer}_low" not in row:
        return
    middle, low, high = (Fraction(row[f"{answer}{end}"]) for end in ("", "_low", "_high"))
    slack = step / 1000 + abs(middle) / 2**50  # columns of fractions are floats
    for shown in (middle - low, high - middle):
        agrees = abs(shown - reach * step) <= slack
        findings.add("tables: interval", agrees=agrees, shown=shown, expected=reach * step)


def _rows(path: Path) -> list[dict[str, Any]]:
    return list(pq.read_table(path).to_pylist())

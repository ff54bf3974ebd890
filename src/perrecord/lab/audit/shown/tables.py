"""Figures of the released tables: errors, intervals, flags, and the CSV beside the Parquet."""

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from perrecord.lab.audit.shown import blurred, laws, ratios
from perrecord.lab.audit.shown.declared import exact
from perrecord.lab.audit.shown.document import Json, leaves_of, variance_of
from perrecord.lab.audit.shown.findings import Comparisons
from perrecord.lab.audit.shown.source import CellNumber

_WIDE = 1e-9
"""By less than this the chances of a wide law differ from those of one without steps."""
_CONFIDENCE = 0.95
_FEW = 4


def check_manifest(findings: Comparisons, folder: Path, entries: Sequence[Json], text: str) -> None:
    """Compare the sizes and digests of the manifest with the files beside it, and its charge."""
    manifest = json.loads(text)
    files = {each for each in files_of(folder) if each != "manifest.json"}
    findings.equal("manifest: files", set(manifest["files"]), files)
    for name in files & set(manifest["files"]):
        content = (folder / name).read_bytes()
        stated = manifest["files"][name]
        findings.equal("manifest: bytes", stated["bytes"], len(content))
        findings.equal("manifest: digest", stated["sha256"], sha256(content).hexdigest())
    before = next(each["previous"] for each in entries if each["kind"] == "seal")
    findings.equal("manifest: charge", manifest["charge"], before)


def files_of(folder: Path) -> list[str]:
    """Return the files of a release."""
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]


def rows_of(path: Path) -> str:
    """Return a table as JSON, so that it can be read and altered as other texts are."""
    return json.dumps(pq.read_table(path).to_pylist(), default=str)


def check_table(
    findings: Comparisons, document: Json, spec: Json, table: str, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Compare the errors, intervals and flags beside the answers of one table."""
    dimensions = {each["name"] for each in document["fields"] if each["kind"] != "measure"}
    is_floored = "floor_at_zero" in spec.get("post_processing", {})
    for charge in document["charges"]:
        own, _, answer = charge["name"].rpartition(".")
        if own != table or answer == "keys":
            continue
        for row in rows:
            key = {name: value for name, value in row.items() if name in dimensions}
            cells = [list(leaves_of(noise["cells"], key)) for noise in charge["noise"]]
            if not cells:
                _check_quantile(findings, spec, table, answer, row)
                continue
            if not all(cells):
                continue  # a filter keeps every record out of the cell, and its noise is not stated
            if any(len({_noise(each) for each in leaves}) != 1 for leaves in cells):
                findings.add("tables: one noise", agrees=False, shown=cells, expected="one")
            elif "blurred_by" in cells[0][0]:
                is_signed = _is_signed(spec, table, answer)
                blurred.check_number(findings, row, answer, cells[0][0], is_signed=is_signed)
            elif len(cells) == 1:
                _check_number(findings, row, answer, cells[0][0])
            else:
                is_centred = charge["noise"][0]["centred"]
                total, counted = cells[0][0], cells[1][0]
                _check_average(findings, row, answer, total, counted, is_centred=is_centred)
            floored = f"{answer}_floored"
            if is_floored and floored in row:
                wanted = max(float(row[answer]), 0.0)
                findings.equal("tables: floored", float(row[floored]), wanted)


def _asked(spec: Json, table: str, answer: str) -> Json:
    """Return how an answer of a table is written in the spec."""
    query = next(
        each
        for each in spec["queries"]
        if table == each["name"] or table.startswith(each["name"] + "_")
    )
    found: Json = query["answers"][answer]
    return found


def _is_signed(spec: Json, table: str, answer: str) -> bool:
    blur = _asked(spec, table, answer)["blur"]
    return isinstance(blur, dict) and blur.get("signed", False)


def _check_quantile(
    findings: Comparisons, spec: Json, table: str, answer: str, row: Mapping[str, Any]
) -> None:
    candidates = {exact(each) for each in _asked(spec, table, answer)["candidates"]}
    is_one = Fraction(row[answer]) in candidates
    findings.add("tables: candidate", agrees=is_one, shown=row[answer], expected=candidates)


def _check_number(findings: Comparisons, row: Mapping[str, Any], answer: str, cell: Json) -> None:
    step = Fraction(cell["step"])
    findings.close(
        "tables: standard error", float(row[f"{answer}_se"]), math.sqrt(variance_of(cell))
    )
    middle = Fraction(row[answer])
    slack = blurred.check_grid(findings, middle, step)
    noise = CellNumber(Fraction(0), Fraction(0), cell["law"], Fraction(cell["spread"]), step)
    spare = _WIDE if laws.is_wide(noise) else 0.0  # by the law without steps
    least, most = (laws.reach(noise, _CONFIDENCE + each) for each in (-spare, spare))
    low, high = (Fraction(row[f"{answer}{end}"]) for end in ("_low", "_high"))
    for shown in (middle - low, high - middle):
        agrees = Fraction(least) - slack <= shown <= Fraction(most) + slack
        findings.add("tables: interval", agrees=agrees, shown=shown, expected=(least, most))


def _check_average(
    findings: Comparisons,
    row: Mapping[str, Any],
    answer: str,
    total: Json,
    counted: Json,
    *,
    is_centred: bool,
) -> None:
    """Compare an average with the noisy total and count that it and its error come from."""
    noise, few = _noise(total), _noise(counted)
    bounds = None if total["bounds"] is None else tuple(map(Fraction, total["bounds"]))
    centre = float(sum(bounds)) / 2 if bounds is not None and is_centred else 0.0
    value, error = float(row[answer]), float(row[f"{answer}_se"])
    spread = math.hypot(math.sqrt(noise.variance), (value - centre) * math.sqrt(few.variance))
    count = spread / error
    whole = round(count)
    agrees = whole >= 1 and math.isclose(count, whole, rel_tol=1e-7)
    findings.add("tables: error of an average", agrees=agrees, shown=error, expected=count)
    if not agrees:
        return
    numerator = (value - centre) * whole / float(noise.step)
    near = math.isclose(numerator, round(numerator), rel_tol=1e-9, abs_tol=1e-8)
    findings.add("tables: average", agrees=near, shown=value, expected="a total over a count")
    limit = max(_FEW * math.sqrt(few.variance), 1.0)
    if whole > 1 or limit > 1:  # else a count of 1 may have been less
        is_few = whole < limit
        findings.equal("tables: few records", row[f"{answer}_few_records"], is_few)
    ends = ratios.interval(round(numerator), whole, noise, few)
    _check_ends(findings, row, answer, ends, noise, centre, bounds, is_raised=whole == 1)


def _noise(cell: Json) -> ratios.LawOnGrid:
    return ratios.LawOnGrid(cell["law"], Fraction(cell["spread"]), Fraction(cell["step"]))


def _check_ends(
    findings: Comparisons,
    row: Mapping[str, Any],
    answer: str,
    ends: tuple[float, float] | None,
    noise: ratios.LawOnGrid,
    centre: float,
    bounds: tuple[Fraction, ...] | None,
    *,
    is_raised: bool,
) -> None:
    """Compare an interval with its ends by hand; a count that was raised to 1 may have none."""
    shown = row[f"{answer}_low"], row[f"{answer}_high"]
    limits = (-math.inf, math.inf) if bounds is None else tuple(map(float, bounds))
    open_ends = (None, None) if bounds is None else limits
    if ends is None or (is_raised and shown == open_ends):
        findings.equal("tables: interval of an average", shown, open_ends)
        return
    for one, end, limit, other in zip(shown, ends, limits, reversed(limits), strict=True):
        wanted = centre + end * float(noise.step)
        wanted = min(max(wanted, min(limit, other)), max(limit, other))
        slack = 1e-7 * abs(wanted) + 1e-9 * float(noise.step)
        agrees = (
            one is None if math.isinf(wanted) else one is not None and abs(one - wanted) <= slack
        )
        findings.add("tables: interval of an average", agrees=agrees, shown=one, expected=wanted)


def check_csv(findings: Comparisons, rows: Sequence[Mapping[str, Any]], text: str) -> None:
    """Compare a CSV file with the Parquet file beside it, cell by cell."""
    written = list(csv.DictReader(io.StringIO(text)))
    findings.equal("tables: rows of the CSV", len(written), len(rows))
    for shown, row in zip(written, rows, strict=False):
        agrees = shown.keys() == row.keys() and all(
            _same(shown[name], value) for name, value in row.items()
        )
        findings.add("tables: CSV", agrees=agrees, shown=shown, expected=row)


def _same(text: str, value: Any) -> bool:
    match value:
        case None:
            return text == ""
        case bool():
            return text == str(value).lower()
        case int() | float():
            return text != "" and float(text) == float(value)
        case _:
            return text == str(value)

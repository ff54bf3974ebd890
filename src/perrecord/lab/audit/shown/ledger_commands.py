"""Figures of `check`, `release` and `ledger show`, compared with policy.json and the ledger."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from itertools import pairwise
from math import sqrt

from perrecord.lab.audit.shown import changes
from perrecord.lab.audit.shown.document import (
    Json,
    Row,
    least_loss,
    leaves_of,
    loss_of,
    spare_of,
    variance_of,
)
from perrecord.lab.audit.shown.findings import Comparisons
from perrecord.lab.audit.shown.numerals import Expected, amount, numerals
from perrecord.lab.audit.shown.words import described, on_one_line


def errors_of(charge: Json) -> list[float]:
    """Return the different standard errors that an answer's cells can have, rising."""
    leaves = [leaf for noise in charge["noise"][:1] for leaf in leaves_of(noise["cells"], {})]
    return sorted({sqrt(variance_of(leaf)) for leaf in leaves})


def ends(errors: Sequence[float]) -> list[Expected]:
    """Return the least and the largest of some errors as they are printed, once if they agree."""
    shown = dict.fromkeys(f"{end:,.4g}" for end in (*errors[:1], *errors[-1:]))
    return list(shown)


def _answers(document: Json) -> list[Json]:
    return [each for each in document["charges"] if not each["name"].endswith(".keys")]


def check_check_json(
    findings: Comparisons, document: Json, examples: Mapping[str, Row], found: Json
) -> None:
    """Compare `perrecord check --json`."""
    charges = {each["name"]: each for each in document["charges"]}
    for answer in found["answers"]:
        charge = charges[f"{answer['table']}.{answer['answer']}"]
        errors, shown = errors_of(charge), answer["standard_errors"]
        findings.equal("check: number of standard errors", len(shown), len(errors))
        for one, expected in zip(shown, errors, strict=False):
            findings.close("check: standard error", one, expected)
        findings.numerals("check: loss of a record", answer["loss"], on_one_line(charge["policy"]))
    for example in found["examples"]:
        loss = loss_of(document["total"], examples[example["name"]])
        spare = spare_of(document["total"])
        findings.loss("check: loss of an example", Fraction(example["loss"]), loss, spare)
    changes.check_check_json(findings, document, examples, found["change"])
    findings.equal("check: policy", found["charge"]["policy"], document["total"])
    findings.numerals(
        "check: policy in words", found["charge"]["words"], described(document["total"])
    )


def check_check_words(
    findings: Comparisons, document: Json, examples: Mapping[str, Row], text: str
) -> None:
    """Compare every number of `perrecord check` up to the path of the ledger, and hints."""
    heads = r"^(Charge|Expected standard errors|Example records|A change of a record|Ledger)$"
    parts = re.split(heads, text, flags=re.M)
    expected: Mapping[str, list[Expected]] = {
        "": list(numerals(document["title"])),
        "Charge": described(document["total"]),
        "Expected standard errors": list(_errors(document)),
        "Example records": [
            each
            for name, record in examples.items()
            for each in (*numerals(name), amount(loss_of(document["total"], record)))
        ],
        "A change of a record": list(changes.in_check(document, examples)),
    }
    for head, part in zip(["", *parts[1::2]], parts[::2], strict=True):
        if head in expected:
            findings.numerals(f"check in words: {head or 'title'}", part, expected[head])


def _errors(document: Json) -> Iterator[Expected]:
    for charge in _answers(document):
        yield from ends(errors_of(charge))
        yield from on_one_line(charge["policy"])


def check_ledger_json(
    findings: Comparisons, document: Json, records: Sequence[Row], found: Json
) -> None:
    """Compare the policies of `perrecord ledger show --json`, and the chain of its entries."""
    for record in records:
        for what, policy in (("budget", document["budget"]), ("spent", document["total"])):
            shown, expected = loss_of(found[what], record), loss_of(policy, record)
            findings.equal(f"ledger: {what}", shown, expected)
    for what, policy in (("budget", document["budget"]), ("spent", document["total"])):
        findings.equal(f"ledger: {what} as a document", found[what], policy)
    entries = found["entries"]
    findings.equal(
        "ledger: number of an entry", [each["number"] for each in entries], [*range(len(entries))]
    )
    (charge,) = [each["number"] for each in entries if each["kind"] == "charge"]
    about = [each["charge"] for each in entries if each["kind"] in ("seal", "publication")]
    findings.equal("ledger: charge that an entry is about", about, [charge, charge])
    for before, each in pairwise(entries):
        findings.equal("ledger: hash of the entry before", each["previous"], digest(before))


def digest(entry: Json) -> str:
    """Return the hash of an entry: of its line of canonical JSON."""
    line = json.dumps(entry, sort_keys=True, separators=(",", ":"))
    return sha256(line.encode()).hexdigest()


def without_hashes(text: str, charges: Sequence[Json]) -> str:
    """Return a text without the hashes of charges: digits, with an e among them, are no figure.

    >>> charge = {"snapshot": "sha256:815035589e60f7", "number": 3}
    >>> numerals(without_hashes("3  sha256:815035589e60  5", [charge]))
    ['3', '5']
    """
    for each in charges:
        text = text.replace(digest(each), "hash").replace(each["snapshot"][:17], "state")
    return text


def check_ledger_words(
    findings: Comparisons, document: Json, entries: Sequence[Json], text: str
) -> None:
    """Compare every number of `perrecord ledger show`."""
    heads = r"^(Made on|Budget, the|Charged so far|The record that|entry  day)"
    budget, total = document["budget"], document["total"]
    charges = [each for each in entries if each["kind"] == "charge"]
    parts = re.split(heads, without_hashes(text, charges), flags=re.M)
    day = numerals(entries[0]["day"])
    expected: Mapping[str, list[Expected]] = {
        "Made on": [*day, len(entries)],
        "Budget, the": described(budget),
        "Charged so far": described(total),
        "The record that": [
            amount(each) for each in (least_loss(budget), least_loss(total)) if each is not None
        ],
        "entry  day": [
            number for each in charges for number in (each["number"], *numerals(each["day"]))
        ],
    }
    for head, part in zip(parts[1::2], parts[2::2], strict=True):
        if head == "The record that" and len(expected[head]) != 2:
            continue  # too many cases for a look at each
        findings.numerals(f"ledger in words: {head}", part, expected[head])
    for each in charges:
        is_there = digest(each) in text and each["snapshot"][:17] in text
        findings.add("ledger in words: hashes", agrees=is_there, shown=text[-200:], expected=each)


def check_release(
    findings: Comparisons, entries: Sequence[Json], files: Sequence[str], found: Json
) -> None:
    """Compare `perrecord release --json` with the ledger and the folder."""
    for kind in ("charge", "seal"):
        (entry,) = [each for each in entries if each["kind"] == kind]
        expected = {"number": entry["number"], "hash": digest(entry), "day": entry["day"]}
        findings.equal(f"release: {kind}", found[kind], expected)
    findings.equal("release: files", found["files"], sorted(files))


def check_release_words(
    findings: Comparisons, entries: Sequence[Json], files: Sequence[str], text: str
) -> None:
    """Compare the lines of `perrecord release` with the ledger and the folder."""
    (charge,) = [each for each in entries if each["kind"] == "charge"]
    (seal,) = [each for each in entries if each["kind"] == "seal"]
    expected = [f"{each['kind']} {each['number']}: {digest(each)}" for each in (charge, seal)]
    expected += [f"  {name}" for name in sorted(files)]
    findings.equal("release in words", text.splitlines()[1:], expected)

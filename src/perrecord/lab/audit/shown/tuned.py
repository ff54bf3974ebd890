"""Figures of `perrecord tune`: what the tuned spec reaches and costs, from it and the source."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from perrecord.lab.audit.shown import report
from perrecord.lab.audit.shown.cell_errors import at_share, cell_errors
from perrecord.lab.audit.shown.document import Json, Row, loss_of
from perrecord.lab.audit.shown.evaluated import check_coverage, outside_cells, shown_down
from perrecord.lab.audit.shown.evaluated_words import outside_of
from perrecord.lab.audit.shown.evaluation import ExpectedEvaluation
from perrecord.lab.audit.shown.findings import Comparisons
from perrecord.lab.audit.shown.numerals import Expected, Near, numerals
from perrecord.lab.audit.shown.realised import least
from perrecord.lab.audit.shown.source import TableAnswer, asked
from perrecord.lab.audit.shown.variants import times

_SHARES = {"the loss at 50%": "0.5", "the loss at 99%": "0.99", "the largest loss": "1"}
_CERTAIN = (None, "NOT big")
"""Filters of which it is public who passes: they list values of one dimension."""
_LESS = Fraction(998, 1000)
"""Amounts are rounded up to four digits; with so much less a goal must be missed."""


@dataclass
class ExpectedTuning:
    """A tuned spec beside the one it was tuned from."""

    evaluation: ExpectedEvaluation
    within: Fraction
    share: Fraction
    spec: Json
    policy: Json
    """What the tuned spec costs."""
    examples: Mapping[str, Row]

    @cached_property
    def before(self) -> dict[tuple[str, str], TableAnswer]:
        """The answers as written, by table and name."""
        every = asked(self.evaluation.spec, self.evaluation.records)
        return {(each.table, each.name): each for each in every}

    @cached_property
    def after(self) -> dict[tuple[str, str], TableAnswer]:
        """The answers as tuned."""
        return {(each.table, each.name): each for each in asked(self.spec, self.evaluation.records)}

    @cached_property
    def _met(self) -> dict[tuple[str, str, str], tuple[int, int]]:
        return {}

    def met(self, spec: Json, one: TableAnswer, when: str) -> tuple[int, int]:
        """Return how many cells come within the error of the goal, and how many have one."""
        place = one.table, one.name, when
        if place not in self._met:
            errors = [e for e in cell_errors(spec, one, [self.within]) if e.has_relative]
            self._met[place] = sum(e.within[0] for e in errors), len(errors)
        return self._met[place]

    @cached_property
    def least(self) -> dict[str, float]:
        """The least possible losses as tuned, by name.

        Of an example it is by answers to which it belongs for certain.
        """
        records = self.evaluation.records
        answers = list(asked(self.spec, records))
        every = [least(self.spec, [record], answers) for record in records]
        found = {name: at_share(every, Fraction(share)) or 0.0 for name, share in _SHARES.items()}
        certain = {
            query["name"] for query in self.spec["queries"] if query.get("where") in _CERTAIN
        }
        for name, example in self.examples.items():
            own = [each for each in asked(self.spec, [example]) if each.query in certain]
            found[f"the loss of {name}"] = least(self.spec, [example], own)
        return found

    @cached_property
    def losses(self) -> dict[str, tuple[float, float]]:
        """The losses that are shown by name: as written, and tuned."""
        records, written = self.evaluation.records, self.evaluation.written.policy
        found = {}
        for name, share in _SHARES.items():
            before, after = (
                at_share([float(loss_of(each, record)) for record in records], Fraction(share))
                for each in (written, self.policy)
            )
            found[name] = before or 0.0, after or 0.0
        for name, example in self.examples.items():
            before, after = (float(loss_of(each, example)) for each in (written, self.policy))
            found[f"the loss of {name}"] = before, after
        return found


def check_json(findings: Comparisons, tuned: ExpectedTuning, found: Json) -> None:
    """Compare `perrecord tune --json`."""
    check_coverage(findings, "tune: keys", tuned.evaluation, found["keys"])
    for row in found["answers"]:
        _check_answer(findings, tuned, row)
    for each in found["losses"]:
        findings.close("tune: least loss", each["least_possible"], tuned.least[each["of"]], 1e-8)
    lost = [(each["of"], each["as_written"], each["tuned"]) for each in found["losses"]]
    findings.equal("tune: names of losses", [name for name, *_ in lost], list(tuned.losses))
    for name, before, after in lost:
        findings.close("tune: loss as written", before, tuned.losses[name][0], 1e-8)
        findings.close("tune: loss as tuned", after, tuned.losses[name][1], 1e-8)
    for row in found["frontier"]:
        if (row["policy"], row["times"]) == ("tuned", 1):
            findings.close("tune: frontier", row["loss"], tuned.losses[row["of"]][1], 1e-8)
            findings.close("tune: frontier", row["least"], tuned.least[row["of"]], 1e-8)


def _check_answer(findings: Comparisons, tuned: ExpectedTuning, row: Json) -> None:
    place = row["table"], row["answer"]
    before, after = tuned.before[place], tuned.after[place]
    shown = row["amount_before"], row["amount_after"]
    findings.equal("tune: amounts", shown, (_amounts(before), _amounts(after)))
    met, cells = tuned.met(tuned.evaluation.spec, before, "before")
    now, _ = tuned.met(tuned.spec, after, "after")
    findings.close("tune: error aimed at", row["within"], float(tuned.within))
    findings.equal("tune: cells", (row["cells"], row["zeros"]),
                   (len(before.cells), len(before.cells) - cells))  # fmt: skip
    findings.close("tune: met before", row["met_before"], met / cells)
    findings.close("tune: met now", row["met_after"], now / cells)
    findings.add("tune: goal", agrees=now >= tuned.share * cells, shown=now, expected=cells)
    less = replace(after, answer=times(after.answer, _LESS))
    fewer, _ = tuned.met(tuned.spec, less, "less")
    is_least = fewer < tuned.share * cells or "average" in after.answer  # by a bound on its noise
    findings.add("tune: no more than needed", agrees=is_least, shown=fewer, expected=cells)


def _amounts(one: TableAnswer) -> str:
    return " + ".join(" or ".join(f"{float(each):.4g}" for each in way) for way in one.choices)


# -- in words ---------------------------------------------------------------------------------


def check_words(findings: Comparisons, tuned: ExpectedTuning, text: str) -> None:
    """Compare the remarks, the amounts and the losses that `perrecord tune` prints."""
    parts = re.split(r"^(Amounts|Losses|Ways.*)$", text, flags=re.M)
    remarks = [line for line in parts[0].splitlines() if line.startswith("- ")]
    outside = [row for row in tuned.evaluation.coverage if row["outside"]]
    expected = [each for row in outside for each in outside_of(row)]
    findings.numerals("tune in words: outside", "\n".join(remarks), expected)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    for line in sections["Amounts"].strip().splitlines()[1:]:
        table, answer = line.split()[:2]
        findings.numerals("tune in words: amounts", line, list(_row(tuned, table, answer)))
    for line in sections["Losses"].partition("\n/")[0].strip().splitlines()[1:]:
        _check_loss(findings, "tune in words: losses", tuned, line)


def _row(
    tuned: ExpectedTuning, table: str, answer: str, *, with_cells: bool = False
) -> Iterator[Expected]:
    before, after = tuned.before[table, answer], tuned.after[table, answer]
    yield from (Near(100 * float(tuned.within), 4), 100 * tuned.share, 95)
    for one in (before, after):
        yield from (Near(float(each), 4, whole=0) for way in one.choices for each in way)
    met, cells = tuned.met(tuned.evaluation.spec, before, "before")
    if with_cells:
        yield cells
    now, _ = tuned.met(tuned.spec, after, "after")
    yield from (Near(100 * met / cells), Near(100 * now / cells))


def _check_loss(findings: Comparisons, what: str, tuned: ExpectedTuning, line: str) -> None:
    name = next((each for each in tuned.losses if each in line), "")
    before, after = tuned.losses.get(name, (0.0, 0.0))
    lowest = shown_down(tuned.least.get(name))
    findings.numerals(what, line, [*numerals(name), Near(before), Near(after), *lowest])


def check_report(findings: Comparisons, tuned: ExpectedTuning, html: str) -> None:
    """Compare the tables of tuning.html, and the sentences above them."""
    found = report.read(html)
    for table in found.tables:
        for row in table.rows:
            match table.caption:
                case "Amounts":
                    expected = list(_row(tuned, row[0], row[1], with_cells=True))
                    findings.numerals("report of tune: amounts", " | ".join(row), expected)
                case "Records outside the declared keys":
                    (row_of,) = [
                        each
                        for each in tuned.evaluation.coverage
                        if (each["query"], ", ".join(each["by"])) == (row[0], row[1])
                    ]
                    expected = outside_cells(row_of)
                    findings.numerals("report of tune: outside", " | ".join(row), expected)
                case "Losses in rho":
                    _check_loss(findings, "report of tune: losses", tuned, " | ".join(row))
    for sentence in found.findings:
        _check_sentence(findings, tuned, sentence.replace("\N{NO-BREAK SPACE}", " "), found.tables)


def _check_sentence(
    findings: Comparisons,
    tuned: ExpectedTuning,
    sentence: str,
    tables: Sequence[report.ReportTable],
) -> None:
    if "reach what is aimed at" in sentence:
        rows = next(each.rows for each in tables if each.caption == "Amounts")
        places = [(row[0], row[1]) for row in rows]
        before = [tuned.met(tuned.evaluation.spec, tuned.before[p], "before") for p in places]
        after = [tuned.met(tuned.spec, tuned.after[p], "after") for p in places]
        reached = [sum(m >= tuned.share * n for m, n in each) for each in (before, after)]
        expected: list[Expected] = [reached[0], len(places), reached[1]]
        findings.numerals("tune in words: reached", sentence, expected)
    elif " goes from " in sentence:
        before_loss, after_loss = tuned.losses["the loss at 99%"]
        expected = ["99", Near(before_loss), Near(after_loss)]
        findings.numerals("tune in words: cost", sentence, expected)
    elif "have a key that" in sentence:
        some = [row for row in tuned.evaluation.coverage if row["outside"]]
        worst = max(some, key=lambda row: Fraction(row["outside"], row["records"]))
        findings.numerals("tune in words: outside", sentence, list(outside_of(worst)))

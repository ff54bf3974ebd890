"""The figures audit: nothing differs, and each figure that is made to differ is noticed."""

import json
import re
import shutil
from dataclasses import replace
from fractions import Fraction
from random import Random

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from perrecord.audit.shown import by_hand
from perrecord.audit.shown.audit import compare, figures, published
from perrecord.audit.shown.findings import Findings
from perrecord.cli.audit import command_output

SEEDS = ("1 1", "1 3", "1 4", "1 6")
"""Between them they show every kind of figure: Gaussian noise, wide noise, selected keys."""


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    """Return some random releases with what the commands print of them."""
    return [
        published(Random(seed), tmp_path_factory.mktemp("figures"), 3, command_output)
        for seed in SEEDS
    ]


def found_in(release):
    """Return what comparing a release finds."""
    findings = Findings()
    compare(findings, release)
    return findings


def test_every_figure_is_recomputed_and_none_differs(releases):
    """Every kind of figure occurs, and all agree."""
    kinds = set()
    for release in releases:
        findings = found_in(release)
        assert findings.failures == []
        kinds |= set(findings.made)
    assert kinds == {what for what, *_ in CHANGED}


def test_a_short_audit_finds_nothing_wrong():
    """The audit as the command runs it."""
    found = figures(2, 2, 3, command_output, lambda done: None)
    assert found.failures == ()
    assert dict(found.figures)["figures that differ"] == "0"


def larger(number):
    """Return a printed number that is 3 % larger."""
    plain = Fraction(number.replace(",", "")) * Fraction(103, 100)
    return f"{float(plain):.12g}" if plain else "0.5"


def smaller(number):
    """Return a printed number that is 3 % smaller."""
    return f"{float(number) * 0.97:.12g}"


def one_more(errors):
    """Return one error more."""
    return [*errors, 1.0]


def other_digit(digit):
    """Return another digit of a digest."""
    return "0" if digit == "f" else "f"


def in_text(name, pattern, change=larger):
    """Return a change of the first thing that a pattern's group finds in what is printed."""

    def changed(release):
        text = release.printed[name]
        match = re.search(pattern, text, re.M)
        assert match is not None
        new = text[: match.start(1)] + change(match[1]) + text[match.end(1) :]
        return replace(release, printed={**release.printed, name: new})

    return changed


def in_json(name, *path, change=lambda value: value * 1.03):
    """Return a change of one value in what is printed as JSON."""

    def changed(release):
        document = json.loads(release.printed[name])
        inner = document
        for step in path[:-1]:
            inner = inner[step]
        assert inner[path[-1]] is not None
        inner[path[-1]] = change(inner[path[-1]])
        return replace(release, printed={**release.printed, name: json.dumps(document)})

    return changed


def in_estimates(key):
    """Return a change of one figure of every estimate that has it."""

    def change(found):
        return [each | ({key: each[key] * 1.03} if each[key] is not None else {}) for each in found]

    return in_json("policy 0 --json", "records", 0, "estimates", change=change)


def exactly(value):
    """Return an exact number as text, 3 % larger or 1."""
    return str(Fraction(value) * Fraction(103, 100) or 1)


def in_file(name, pattern, change=larger):
    """Return a change of the first thing that a pattern's group finds in a published file."""

    def changed(release):
        folder = release.folder.with_name("changed")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(release.folder, folder)
        text = (folder / name).read_text("utf-8")
        match = re.search(pattern, text, re.M)
        assert match is not None
        new = text[: match.start(1)] + change(match[1]) + text[match.end(1) :]
        (folder / name).write_text(new, "utf-8")
        return replace(release, folder=folder)

    return changed


def in_tables(ending):
    """Return a change of the first column of a table with this ending."""

    def changed(release):
        folder = release.folder.with_name("changed")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(release.folder, folder)
        for path in (folder / "tables").glob("*.parquet"):
            rows = pq.read_table(path)
            for place, name in enumerate(rows.column_names):
                if name.endswith(ending):
                    more = pc.add(pc.multiply(rows[name].cast(pa.float64()), 2.0), 7.0)
                    rows = rows.set_column(place, name, more)
            pq.write_table(rows, path)
        return replace(release, folder=folder)

    return changed


RECORD, MEANT = ("policy 0 --json", "records", 0), ("policy 0 --json", "records", 0, "meaning")
METHOD = "methodology.md"
EXAMPLE = r"^\| a small one \| "
CHANGED = [
    ("policy: loss", in_json(*RECORD, "loss", change=exactly)),
    ("policy: delta", in_json(*RECORD, "delta", change=exactly)),
    ("policy: name of an answer", in_json(*RECORD, "answers", 0, "name", change=str.upper)),
    ("policy: loss of an answer", in_json(*RECORD, "answers", 0, "loss", change=exactly)),
    ("policy: delta of an answer", in_json(*RECORD, "answers", 0, "delta", change=exactly)),
    ("policy: pieces", in_json(*RECORD, "pieces", 0, "pieces", change=lambda count: count + 1)),
    ("policy: epsilon", in_json(*MEANT, "epsilon")),
    ("policy: delta of epsilon", in_json(*MEANT, "delta")),
    ("policy: power", in_json(*MEANT, "power", "0.01", change=lambda power: 0.97 * power)),
    ("policy: odds", in_json(*MEANT, "odds")),
    ("policy: recognised, about", in_json(*MEANT, "recognised")),
    ("policy: measures estimated", in_json(*RECORD, "estimates", change=lambda found: found[:-1])),
    ("policy: standard error of an estimate", in_estimates("standard_error")),
    ("policy: relative error of an estimate", in_estimates("relative")),
    ("policy in words: loss", in_text("policy 0", r"loses (\S+) ")),
    ("policy in words: delta", in_text("policy 0", r"probability at most (\S+)\.$")),
    ("policy in words: limits", in_text("policy 0", r"finds it in at most (\S+) %")),
    ("policy in words: about is said", in_text("policy 0", r"gives (about)", str.upper)),
    ("policy in words: about", in_text("policy 0", r"gives about (\S+) %")),
    ("policy in words: odds are said", in_text("policy 0", r"not, by (at most)", str.upper)),
    ("policy in words: odds", in_text("policy 0", r"not, by at most (\S+)\.$")),
    ("policy in words: estimate is said", in_text("policy 0", r"^  \w+ +\S+ +(about)", str.upper)),
    ("policy in words: estimate", in_text("policy 0", r"^  \w+ +\S+ +about (\S+)")),
    ("policy in words: relative error", in_text("policy 0", r"^  \w+ +\S+ +about \S+ +(\S+) %")),
    ("check: number of standard errors",
     in_json("check --json", "answers", 0, "standard_errors", change=one_more)),
    ("check: standard error", in_json("check --json", "answers", 0, "standard_errors", 0)),
    ("check in words: errors", in_text("check", r"^  query0\w* +a0 +[\w, ]*? ([\d.,]+) ")),
    ("check: loss of an example", in_json("check --json", "examples", 0, "loss", change=exactly)),
    ("ledger: budget", in_json("ledger --json", "budget", "terms", change=lambda terms: 2 * terms)),
    ("ledger: spent", in_json("ledger --json", "spent", "terms", change=lambda terms: 2 * terms)),
    ("ledger in words: least loss", in_text("ledger", r"charged of it so far: (\S+)\.$")),
    ("ledger in words: entries", in_text("ledger", r"; (\d+) entries")),
    ("manifest: bytes", in_file("manifest.json", r'"bytes": (\d+)', lambda size: size + "0")),
    ("manifest: digest", in_file("manifest.json", r'"sha256": "(\w)', other_digit)),
    ("manifest: files", in_file("manifest.json", r'"(policy.html)"', str.upper)),
    ("methodology: least loss", in_file(METHOD, r"record can lose is (\S+)\.$")),
    ("methodology: loss of an example", in_file(METHOD, EXAMPLE + r"(\S+)", exactly)),
    ("methodology: recognised, at most", in_file(METHOD, EXAMPLE + r".*at most (\S+) %", smaller)),
    ("methodology: about is said", in_file(METHOD, EXAMPLE + r"\S+ \| (about)", str.upper)),
    ("methodology: recognised, about", in_file(METHOD, EXAMPLE + r"\S+ \| about (\S+) %")),
    ("methodology: estimate is said",
     in_file(METHOD, EXAMPLE + r".*: (?:at least )?(about)", str.upper)),
    ("methodology: estimate", in_file(METHOD, EXAMPLE + r".*: (?:at least )?about ([\d.e+]+)")),
    ("methodology: grid of a measure", in_file(METHOD, r"^\| pay \| \S+ \| (\S+)")),
    ("methodology: noise of an answer", in_file(METHOD, r"^\| a0 \| .* \| ([\d.,]+)[^|]*\|$")),
    ("methodology: number of answers", in_file(METHOD, r"^\| (a0) \|", str.upper)),
    ("methodology: number of keys",
     in_file(METHOD, r": (\d+) keys?, fixed", lambda count: f"{count}7")),
    ("tables: standard error", in_tables("_se")),
    ("tables: interval", in_tables("_high")),
]  # fmt: skip


@pytest.mark.parametrize(("what", "change"), CHANGED, ids=[what for what, _ in CHANGED])
def test_a_figure_that_is_changed_is_noticed(what, change, releases):
    """Broken twins of what is shown: in some release the audit names that very figure."""
    caught = 0
    for release in releases:
        try:
            changed = change(release)
        except (AssertionError, KeyError, IndexError, TypeError):
            continue  # this release does not show the figure
        caught += found_in(changed).wrong[what]
    assert caught > 0


def test_the_laws_by_hand_are_those_of_small_examples():
    """Three values of a narrow law, added up on paper; a wide one is its parameter."""
    weight = 2.718281828459045 ** (-2)  # sigma^2 = 1/4
    narrow = 2 * (weight + 4 * weight**4) / (1 + 2 * weight + 2 * weight**4)
    assert by_hand.variance("gaussian", Fraction(1, 4), Fraction(1)) == pytest.approx(
        narrow, rel=1e-6
    )
    assert by_hand.variance("gaussian", Fraction(10**8), Fraction(1)) == 1e8
    assert by_hand.variance("laplace", Fraction(50), Fraction(1, 2)) == pytest.approx(
        5000 - 0.25 / 6, rel=1e-9
    )
    assert by_hand.half_width("gaussian", Fraction(625), Fraction(1), 0.95) == 49
    assert by_hand.tail(Fraction(5), 12) == pytest.approx(1.0818e-7, rel=1e-4)
    assert by_hand.epsilon(1) == pytest.approx(7.7666, abs=1e-3)

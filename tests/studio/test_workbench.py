"""The file and the page in step: nothing that anybody wrote is lost, and every step goes back."""

import os
import stat
from pathlib import Path

import pytest

from perrecord.errors import InputError
from perrecord.studio.spec_file import ChangedMeanwhileError, SpecFile
from perrecord.studio.workbench import current, opened
from tests.studio.conftest import SPEC

COUNT, TOTAL, IN_SQL = "0/establishments", "0/employees", "1/total"


@pytest.fixture
def bench(spec):
    """The workbench of a spec."""
    found = opened(spec)
    yield found
    found.close()


def shown(bench, key):
    """Return what the form of an answer shows."""
    return next(current(each) for each in bench.shown().facts.choices if each.key == key)


def choose(bench, key, **typed):
    """Type into the form of an answer as it is shown."""
    before = shown(bench, key)
    bench.choose(key, {**before, **typed}, before)


def test_choices_are_written_and_comments_kept(bench, spec):
    """Amount, method and size; the rest of the file stays letter for letter."""
    choose(bench, COUNT, amount="0.15")
    assert spec.read_text() == SPEC.replace(
        "{count: records, rho: 0.1}", "{count: records, rho: 0.15}"
    )
    choose(bench, TOTAL, method="taper")
    assert "employees: {sum: emp, taper: 50, rho: 0.2}" in spec.read_text()
    choose(bench, TOTAL, size="80")
    choose(bench, TOTAL, blur="0.1")
    assert "employees: {sum: emp, taper: 80, rho: 0.2, blur: 0.1}" in spec.read_text()
    choose(bench, TOTAL, method="clamp")
    assert "employees: {sum: emp, clamp: [0, 80], rho: 0.2}" in spec.read_text()
    choose(bench, TOTAL, size="5 to 60")
    assert "clamp: [5, 60]" in spec.read_text()
    choose(bench, TOTAL, method="split")
    assert "employees: {sum: emp, split: moderate, rho: 0.2}" in spec.read_text()
    assert bench.shown().notice is None


def test_a_split_that_is_not_there_is_declared(bench, spec):
    """Of the size that the taper had; its name is new."""
    declared = "splits:\n  moderate: {emp: 50}               # from published percentiles\n"
    text = SPEC.replace(declared, "").replace(", splits: [moderate]", "")
    spec.write_text(text.replace("split: moderate", "taper: 20"))
    choose(bench, TOTAL, method="split")
    assert "splits: {studio_emp: {emp: 20}}" in spec.read_text()
    assert "employees: {sum: emp, split: studio_emp, rho: 0.2}" in spec.read_text()


def test_answers_in_sql_are_changed_beside_it(bench, spec):
    """The amount by name, the method for all answers."""
    choose(bench, IN_SQL, amount="0.3")
    choose(bench, IN_SQL, method="taper")
    assert "rho: {n: 0.05, total: 0.3}\n    taper: 50\n" in spec.read_text()


@pytest.mark.parametrize(
    ("key", "typed"),
    [
        (COUNT, {"amount": "much"}),
        (COUNT, {"amount": "0.1, sum: emp"}),
        (COUNT, {"amount": "!!python/object:os.system"}),
        (COUNT, {"amount": "-1"}),
        (COUNT, {"amount": ""}),
        (TOTAL, {"size": "{a: b}"}),
        (TOTAL, {"size": "x\ny: z"}),
        (TOTAL, {"method": "burn"}),
        ("7/nothing", {"amount": "1"}),
    ],
)
def test_what_is_no_choice_is_said_and_not_written(bench, spec, key, typed):
    """Whatever a form sends, the file stays as it is."""
    before = {} if key.startswith("7") else shown(bench, key)
    bench.choose(key, {**before, **typed}, before)
    assert spec.read_text() == SPEC
    assert bench.shown().notice is not None
    choose(bench, COUNT, amount="0.2")
    assert bench.shown().notice is None


def test_any_number_of_steps_is_undone_and_redone(bench, spec):
    """One after another, to the first text and back to the last."""
    texts = [SPEC]
    for amount in ("0.2", "0.3", "0.4"):
        choose(bench, COUNT, amount=amount)
        texts.append(spec.read_text())
    for wanted in reversed(texts[:-1]):
        bench.undo(bench.shown().version)
        assert spec.read_text() == wanted
    bench.undo(bench.shown().version)
    assert (spec.read_text(), bench.shown().undoes) == (SPEC, None)
    for wanted in texts[1:]:
        bench.redo(bench.shown().version)
        assert spec.read_text() == wanted
    assert bench.shown().redoes is None
    bench.undo(bench.shown().version)
    choose(bench, COUNT, amount="0.9")
    assert bench.shown().redoes is None


def test_a_change_made_elsewhere_appears_and_is_a_step(bench, spec):
    """It is undone as any other."""
    theirs = SPEC.replace("By county", "Counties")
    spec.write_text(theirs)
    assert bench.shown().facts.loaded.spec.queries[0].title == "Counties"
    bench.undo(bench.shown().version)
    assert spec.read_text() == SPEC
    bench.redo(bench.shown().version)
    assert spec.read_text() == theirs


def test_two_changes_at_once_both_stay(bench, spec):
    """One typed on a page that had not seen the other: both are in the file."""
    before = shown(bench, COUNT)
    spec.write_text(SPEC.replace("moderate, rho: 0.2", "moderate, rho: 0.25"))
    bench.choose(COUNT, {**before, "amount": "0.15"}, before)
    text = spec.read_text()
    assert "{count: records, rho: 0.15}" in text
    assert "moderate, rho: 0.25" in text


def test_two_changes_of_one_number_are_both_shown(bench, spec):
    """The one in the file stays; what was typed is said, so that nothing is lost."""
    before = shown(bench, COUNT)
    spec.write_text(SPEC.replace("{count: records, rho: 0.1}", "{count: records, rho: 0.7}"))
    bench.choose(COUNT, {**before, "amount": "0.15"}, before)
    assert "{count: records, rho: 0.7}" in spec.read_text()
    message = bench.shown().notice.message
    assert "'0.15'" in message
    assert "'0.7'" in message


def test_a_whole_text_is_saved_only_over_what_the_page_had_shown(bench, spec):
    """Otherwise both are shown, and neither is lost."""
    version = bench.shown().version
    mine, theirs = SPEC + "# mine\n", SPEC + "# theirs\n"
    spec.write_text(theirs)
    bench.write(mine, version)
    found = bench.shown()
    assert spec.read_text() == found.facts.text == theirs
    assert found.notice.typed == mine
    bench.write(mine, found.version)
    assert spec.read_text() == mine


def test_undo_does_not_run_over_a_change_that_the_page_has_not_seen(bench, spec):
    """It says so instead."""
    choose(bench, COUNT, amount="0.2")
    version = bench.shown().version
    theirs = spec.read_text() + "# theirs\n"
    spec.write_text(theirs)
    bench.undo(version)
    assert spec.read_text() == theirs
    assert bench.shown().notice is not None


def test_a_change_in_the_last_instant_is_not_overwritten(bench, spec, monkeypatch):
    """Between the reading of the file and its replacement somebody else saves: theirs stays."""
    theirs, chmod = SPEC + "# theirs\n", Path.chmod

    def late(path, mode):
        spec.write_text(theirs)
        chmod(path, mode)

    monkeypatch.setattr(Path, "chmod", late)
    choose(bench, COUNT, amount="0.2")
    assert spec.read_text() == theirs
    assert "{count: records, rho: 0.2}" in bench.shown().notice.typed
    assert [each.name for each in spec.parent.iterdir() if each.name.startswith(".")] == []


def test_a_file_is_compared_before_it_is_written(spec):
    """Positive control: without the comparison the other text would be gone."""
    with pytest.raises(ChangedMeanwhileError):
        SpecFile(spec).write("mine", before="something else")
    assert spec.read_text() == SPEC
    SpecFile(spec).write("mine", before=SPEC)
    assert spec.read_text() == "mine"


def test_mode_mark_line_ends_and_link_of_the_file_stay(spec):
    """What is written looks like what was there."""
    text = SPEC.replace("\n", "\r\n")
    spec.write_bytes(b"\xef\xbb\xbf" + text.encode())
    spec.chmod(0o640)
    link = spec.with_name("link.yaml")
    os.symlink(spec.name, link)
    bench = opened(link)
    choose(bench, COUNT, amount="0.2")
    bench.write(bench.shown().facts.text.replace("\r\n", "\n") + "# more\n", bench.shown().version)
    bench.close()
    assert link.is_symlink()
    assert stat.S_IMODE(spec.stat().st_mode) == 0o640
    wanted = text.replace("{count: records, rho: 0.1}", "{count: records, rho: 0.2}") + "# more\r\n"
    assert spec.read_bytes() == b"\xef\xbb\xbf" + wanted.encode()


def test_a_broken_spec_shows_its_mistakes_and_recovers(bench, spec):
    """At their lines; YAML that is none, a name that is none, a measure that the table lacks."""
    unclosed = SPEC.replace("{count: records, rho: 0.1}", "{count: records, rho: 0.1")
    unknown = SPEC.replace("split: moderate, rho: 0.2", "split: modrate, rho: 0.2")
    for broken, place in [
        (unclosed, "release.yaml:21: "),
        (unknown, "release.yaml:21: queries[0].answers.employees.split: "),
        (SPEC.replace("{emp: 1}", "{emp: 1, none: 1}"), "release.yaml:7: measures.none: "),
        ("", "release.yaml:1: "),
    ]:
        spec.write_text(broken)
        found = bench.shown()
        assert place in found.facts.problems
        assert found.facts.checked is None
        spec.write_text(SPEC)
        assert bench.shown().facts.problems == ""
        assert bench.shown().facts.checked is not None


def test_a_file_that_is_gone_is_said_and_comes_back(bench, spec):
    """What it held is still shown."""
    spec.unlink()
    assert "could not be read" in bench.shown().notice.message
    assert bench.shown().facts.text == SPEC
    spec.write_text(SPEC + "# back\n")
    assert bench.shown().facts.text == SPEC + "# back\n"


def test_a_spec_that_is_not_there_is_refused(tmp_path):
    """With what to type."""
    with pytest.raises(InputError, match="perrecord init"):
        opened(tmp_path / "nothing.yaml")

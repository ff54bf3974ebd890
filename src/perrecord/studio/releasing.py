"""A release from the page: the command and its charge are shown first, and it is asked once.

What is asked holds for one text of the spec, one state of the ledger, and one answer: whoever says
yes twice, or after something has changed, is asked again. What runs then is what the command runs.
"""

import secrets
import shlex
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from perrecord.errors import InputError
from perrecord.release.checking import LedgerCheck
from perrecord.release.publish import Outcome, create_ledger, release
from perrecord.release.spec import LoadedSpec, build, check_without_data, open_table
from perrecord.studio.facts import Facts, ledger_of

AskedKind = Literal["ledger", "release"]


@dataclass(frozen=True, slots=True)
class ReleaseQuestion:
    """What somebody is asked before it is done."""

    kind: AskedKind
    command: str
    """What would be typed in a terminal for it."""
    text: str
    out: str
    ledger: LedgerCheck
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    """What says yes to it, once."""

    @property
    def is_free(self) -> bool:
        """Whether nothing is charged: the release was charged before."""
        return self.ledger.exists and not self.ledger.is_charged_anew


@dataclass(frozen=True, slots=True)
class Done:
    """What was done, as the command would say it."""

    command: str
    lines: tuple[str, ...]
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class Releasing:
    """Asks before it makes a ledger or a release, and does either once."""

    path: Path
    question: ReleaseQuestion | None = None
    done: Done | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, kind: str, out: str, facts: Facts) -> None:
        """Put the question, with what it would cost by now; whatever was asked before is void."""
        self.question, self.done = None, None
        self.question = self._question(kind, out.strip(), facts)

    def cancel(self) -> None:
        """Ask nothing any more."""
        self.question = None

    def confirm(self, token: str, facts: Facts) -> None:
        """Do what was asked, if this is the answer to it and nothing has changed since.

        A second answer finds no question; one that comes while the first is at work waits for it.
        """
        with self._lock:
            asked, self.question = self.question, None
            if asked is None or not secrets.compare_digest(token.encode(), asked.token.encode()):
                raise InputError(
                    "nothing was done: it was answered before, or something else was asked since. "
                    "Ask again, if you want it."
                )
            if facts.loaded is None or not self._is_as_asked(asked, facts):
                raise InputError(
                    "nothing was done: the spec, the data or the ledger has changed since you were "
                    "asked. Look at it, and ask again."
                )
            make = _made_ledger if asked.kind == "ledger" else _made
            self.done = make(asked, facts.loaded)

    def _is_as_asked(self, asked: ReleaseQuestion, facts: Facts) -> bool:
        """Whether the text is the same, and the ledger says the same of it by now."""
        if facts.text != asked.text:
            return False
        return self._question(asked.kind, asked.out, facts).ledger == asked.ledger

    def _question(self, kind: str, out: str, facts: Facts) -> ReleaseQuestion:
        loaded, workload = facts.whole()
        spec, ledger = shlex.quote(str(self.path)), ledger_of(loaded, workload)
        if ledger.refusal is not None:
            raise InputError(ledger.refusal)
        if kind == "ledger":
            if ledger.exists:
                raise InputError("the ledger is there already.")
            if loaded.spec.period is not None:
                raise InputError(
                    "a ledger with periods is made in a terminal, where they are named: perrecord "
                    f"ledger create {spec} --periods 2026..2035"
                )
            return ReleaseQuestion(
                "ledger", f"perrecord ledger create {spec}", facts.text, "", ledger
            )
        if kind != "release":
            raise InputError("this was not understood; reload the page.")
        if not ledger.exists:
            raise InputError("there is no ledger yet; make it first.")
        if not out:
            raise InputError("name the folder to publish into; it must be new.")
        command = f"perrecord release {spec} --out {shlex.quote(out)}"
        return ReleaseQuestion("release", command, facts.text, out, ledger)


def _made_ledger(asked: ReleaseQuestion, loaded: LoadedSpec) -> Done:
    check_without_data(loaded)
    with open_table(loaded) as table:  # as the command does, also where other data is shown
        workload = build(loaded, table.schema)
    assert loaded.ledger is not None  # noqa: S101 - a spec without one is refused
    made = create_ledger(loaded.ledger, workload.budget, workload.title)
    said = "Back it up, and never make a second one for the same data."
    return Done(asked.command, (str(made.path), said))


def _made(asked: ReleaseQuestion, loaded: LoadedSpec) -> Done:
    remarks: list[str] = []
    outcome = release(loaded, asked.out, remark=lambda each: remarks.append(each) if each else None)
    return Done(asked.command, (*remarks, *_lines(outcome)), outcome.warnings)


def _lines(outcome: Outcome) -> tuple[str, ...]:
    return (
        f"{outcome.did}: {outcome.folder}",
        f"charge {outcome.charge.number}: {outcome.charge.hash}",
        f"seal {outcome.seal.number}: {outcome.seal.hash}",
    )

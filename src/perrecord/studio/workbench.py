"""What the page works on: the file, every text that it has had, and what is known of it now."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from perrecord.errors import InputError, PerrecordError
from perrecord.release.checking import LedgerCheck
from perrecord.studio.accuracy import DataErrors, SizeErrors
from perrecord.studio.choices import AnswerChoices, changes_of
from perrecord.studio.doors import CLOSED, StudioDoor
from perrecord.studio.edits import TextChange, changed
from perrecord.studio.facts import Curves, CurvesKept, Facts, Kept, SpecReading, ledger_of, page_of
from perrecord.studio.finding import FoundValues
from perrecord.studio.levels import DividedAmounts, divided_of
from perrecord.studio.releasing import Releasing
from perrecord.studio.revisions import Revision, Revisions
from perrecord.studio.spec_file import ChangedMeanwhileError, SpecFile, version_of
from perrecord.studio.values import DataValues

_OUTSIDE = "a change made in the file by another program"


@dataclass(frozen=True, slots=True)
class Notice:
    """What the page says once: why nothing was changed, and what was typed, so that it is kept."""

    message: str
    typed: str = ""
    """A text that was not written because the file held another by then."""


@dataclass(frozen=True, slots=True)
class StudioState:
    """One state of the page."""

    facts: Facts
    version: str
    undoes: str | None
    redoes: str | None
    notice: Notice | None = None
    count: int = 0
    """How often something changed that is shown and is not in the spec."""
    steps: tuple[str, ...] = ()
    """What led to each text that the spec has had, the first one's empty."""
    place: int = 0
    """Which of them is in the file."""


@dataclass(slots=True)
class Workbench:
    """The one spec that a studio is about. One request is served at a time."""

    file: SpecFile
    reading: SpecReading
    curves: Kept[Curves] = field(default_factory=lambda: Kept(CurvesKept().of))
    ledger: Kept[LedgerCheck] = field(default_factory=lambda: Kept(ledger_of))
    levels: Kept[DividedAmounts] = field(default_factory=lambda: Kept(divided_of))
    page: Kept[str] = field(default_factory=lambda: Kept(page_of))
    accuracy: Kept[tuple[SizeErrors, ...]] | None = None
    """Errors on the data behind the door; None where it is closed."""
    door: StudioDoor = CLOSED
    counting: DataErrors | None = None
    """Whoever counts that data, and knows how far it has come."""
    values: DataValues | None = None
    """Whoever reads values of it; None where the door is closed."""
    found: FoundValues | None = None
    """What was found last for goals and caps."""
    beside: int | None = None
    """Which earlier text is shown beside the present one."""
    releasing: Releasing = field(init=False)
    _count: int = 0
    _revisions: Revisions = field(init=False)
    _facts: Facts | None = None
    _notice: Notice | None = None
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        self._revisions = Revisions((Revision(self.file.read(), ""),))
        self.releasing = Releasing(self.file.path)

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.file.path.name

    def shown(self) -> StudioState:
        """Return what is to be shown now; a file that was changed elsewhere has one more text."""
        with self._lock:
            self._notice_outside()
            text = self._revisions.text
            if self._facts is None or self._facts.text != text:
                self._facts = self.reading.facts(text)
            return StudioState(
                self._facts,
                version_of(text),
                self._revisions.undoes,
                self._revisions.redoes,
                self._notice,
                self._count,
                tuple(each.label for each in self._revisions.steps),
                self._revisions.place,
            )

    def earlier(self, place: int) -> Facts:
        """Return what is known of a text that the spec had before."""
        with self._lock:
            steps = self._revisions.steps
            if not 0 <= place < len(steps):
                raise InputError("this step is not there any more; choose another.")
            return self.reading.facts(steps[place].text)

    def amend(self, change: Callable[[Facts], tuple[str, str]]) -> None:
        """Put in the file what a change makes of the text that is shown, and of it in words."""
        with self._lock:
            facts = self.shown().facts

            def made() -> None:
                text, words = change(facts)
                if text != facts.text:
                    self._put(text, facts.text, words)

            self.attempt(made)

    def attempt(self, action: Callable[[], None]) -> None:
        """Do something that is shown and not in the spec; say why, if it cannot be done."""
        self._notice = None
        try:
            action()
        except PerrecordError as error:
            self._say(str(error))
        self._count += 1

    def choose(self, key: str, typed: Mapping[str, str], before: Mapping[str, str]) -> None:
        """Make the choices that a form holds.

        `before` is what the form had shown. What differs from it was typed; a choice that somebody
        has changed in the file meanwhile is left as it is there, and said so.
        """
        with self._lock:
            facts = self.shown().facts
            answer = next((each for each in facts.choices if each.key == key), None)
            if answer is None or facts.loaded is None:
                self._say("this answer is not in the spec any more; nothing was changed.")
                return
            given = {name: text for name, text in typed.items() if text != before.get(name, "")}
            taken = [name for name in given if before.get(name, "") != current(answer).get(name)]
            if taken:
                name = taken[0]
                self._say(
                    f"{answer.name}: you typed {given[name]!r}, but the file has been changed "
                    f"in the meantime and says {current(answer).get(name, '')!r}. It was left "
                    "as it is; type yours again if you want it."
                )
                return
            try:
                changes, words = changes_of(answer, given, facts.loaded.spec)
                self._change(facts.text, changes, words)
            except PerrecordError as error:
                self._say(f"{answer.name}: {error}")

    def write(self, text: str, version: str) -> None:
        """Put a whole text into the file, unless it is another than the page had shown."""
        with self._lock:
            now = self.shown().facts.text
            text = text.replace("\r\n", "\n")  # as forms send it
            if "\r\n" in now:
                text = text.replace("\n", "\r\n")
            if text == now:
                return
            if version != version_of(now):
                self._say(
                    f"{self.name} was changed by another program while you typed. Nothing was "
                    "written: the file's text is above, yours is kept below it.",
                    text,
                )
                return
            self._put(text, now, "the text of the file")

    def undo(self, version: str) -> None:
        """Take back the last change, if the page had seen it."""
        self._move(self._revisions.undone(), version)

    def redo(self, version: str) -> None:
        """Bring back what was taken back last."""
        self._move(self._revisions.redone(), version)

    def dismiss(self) -> None:
        """Say nothing any more."""
        self._notice = None

    def close(self) -> None:
        """Close what is open."""
        with self._lock:
            self.reading.close()

    def _notice_outside(self) -> None:
        try:
            text = self.file.read()
        except InputError as error:
            self._say(str(error))
            return
        if text != self._revisions.text:
            self._revisions = self._revisions.with_step(text, _OUTSIDE)

    def _change(self, text: str, changes: tuple[TextChange, ...], words: str) -> None:
        self._notice = None
        if changes:
            self._put(changed(text, changes), text, words)

    def _put(self, text: str, before: str, label: str) -> None:
        self._notice = None
        try:
            self.file.write(text, before=before)
        except ChangedMeanwhileError as error:
            self._say(f"{error} Look at what it says now, and type yours again.", text)
            return
        self._revisions = self._revisions.with_step(text, label)

    def _move(self, moved: Revisions, version: str) -> None:
        with self._lock:
            now = self.shown().facts.text
            if version != version_of(now) or moved.steps != self._revisions.steps:
                self._say(
                    f"{self.name} was changed by another program; look at it before you undo."
                )
                return
            try:
                self.file.write(moved.text, before=now)
            except ChangedMeanwhileError as error:
                self._say(str(error))
                return
            self._notice = None
            self._revisions = moved

    def _say(self, message: str, typed: str = "") -> None:
        self._notice = Notice(message, typed)


def current(answer: AnswerChoices) -> dict[str, str]:
    """Return what the form of an answer shows, by name."""
    found = {}
    if answer.amount is not None:
        found["amount"] = answer.amount.text
    if answer.method is not None:
        found |= {"method": answer.method.option, "size": answer.method.text}
        found["blur"] = answer.blur.text if answer.blur is not None else ""
    return found


def opened(path: Path, door: StudioDoor = CLOSED) -> Workbench:
    """Return the workbench of a spec, with its numbers from behind a door."""
    if not path.is_file():
        raise InputError(
            f"there is no spec {str(path)!r}; write one to start from with perrecord init."
        )
    errors = DataErrors(door) if door.has_data else None
    accuracy = None if errors is None else Kept(errors.of)
    return Workbench(
        SpecFile(path),
        SpecReading(path, door),
        accuracy=accuracy,
        door=door,
        counting=errors,
        values=DataValues(door) if door.has_data else None,
    )

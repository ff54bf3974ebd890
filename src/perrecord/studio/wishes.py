"""Goals of accuracy and caps on losses, as they stand in the spec, and what typing one changes."""

from collections.abc import Mapping
from dataclasses import dataclass

from perrecord.errors import InputError
from perrecord.exact import parameter
from perrecord.exact import text as shown_number
from perrecord.release.goals import target
from perrecord.release.spec.models import Spec
from perrecord.release.spec.questions import EVERY
from perrecord.release.spec.template import scalar
from perrecord.studio.edits import Put, Remove, TextChange, value_at

GOALS, CAPS = "goals", "caps"


@dataclass(frozen=True, slots=True)
class Wish:
    """One goal or cap: about which answer or example, and what is typed for it."""

    kind: str
    name: str
    typed: str

    @property
    def words(self) -> str:
        """What it is, for people."""
        about = "every answer" if self.name == EVERY else self.name
        what = "goal" if self.kind == GOALS else "cap"
        return f"{what} of {about}: {self.typed or 'none'}"


def wishes_of(spec: Spec | None) -> dict[str, dict[str, str]]:
    """Return the goals and caps of a spec by name, as a form shows them."""
    if spec is None:
        return {GOALS: {}, CAPS: {}}
    tuning = spec.tuning
    caps = {name: shown_number(each) for name, each in tuning.caps.items()}
    return {GOALS: dict(tuning.goals), CAPS: caps}


def wished(text: str, spec: Spec, wish: Wish) -> tuple[TextChange, ...]:
    """Return what a wish changes in the text of a spec; an empty one is taken out."""
    if wish.kind not in (GOALS, CAPS):
        raise InputError(f"{wish.kind!r} is neither a goal nor a cap.")
    known = wishes_of(spec)[wish.kind]
    typed = wish.typed.strip()
    if not typed:
        return _without(wish, known, spec) if wish.name in known else ()
    value = _value(wish, typed)
    here = ("tuning", wish.kind)
    is_mapping = known and value_at(text, (*here, next(iter(known)))) is not None
    if is_mapping:
        return (Put((*here, wish.name), value),)
    entries = {name: scalar(each) for name, each in known.items()} | {wish.name: value}
    if value_at(text, ("tuning",)) in (None, ""):
        return (Put(("tuning",), f"{{{wish.kind}: {_flow(entries)}}}"),)
    return (Put(here, _flow(entries)),)


def _without(wish: Wish, known: Mapping[str, str], spec: Spec) -> tuple[TextChange, ...]:
    if len(known) > 1:
        return (Remove(("tuning", wish.kind, wish.name)),)
    others = [each for kind, each in wishes_of(spec).items() if kind != wish.kind and each]
    return (Remove(("tuning", wish.kind)) if others else Remove(("tuning",)),)


def _value(wish: Wish, typed: str) -> str:
    if wish.kind == GOALS:
        if target(typed).about is not None:
            raise InputError("a goal that is typed here is about this answer; leave out its name.")
        return typed
    if parameter(typed, f"the cap of {wish.name}") <= 0:
        raise InputError(f"the cap of {wish.name} is {typed}; expected a loss above 0.")
    return typed


def _flow(entries: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{scalar(name)}: {each}" for name, each in entries.items()) + "}"

"""What is answered of goals and caps, shares, two variants, and a release that is asked for."""

from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from perrecord.errors import InputError
from perrecord.studio import panels
from perrecord.studio.accuracy import SizeErrors
from perrecord.studio.beside import side_by_side
from perrecord.studio.edits import changed
from perrecord.studio.facts import Facts
from perrecord.studio.finding import found_values, standing_of
from perrecord.studio.levels import moved, text_counted, text_with_amounts
from perrecord.studio.replies import Typed, after_change, part
from perrecord.studio.wishes import Wish, wished, wishes_of
from perrecord.studio.workbench import Workbench


@dataclass(frozen=True, slots=True)
class Choosing:
    """What is answered at each address."""

    bench: Workbench

    def routes(self) -> list[Route]:
        """Return the addresses; what changes or does anything is only ever posted."""
        posted = {
            "/wish": self.wish,
            "/find": self.find,
            "/take": self.take,
            "/share": self.share,
            "/compare": self.compare,
            "/ask": self.ask,
            "/confirm": self.confirm,
            "/cancel": self.cancel,
        }
        got = {"/found": self.found, "/levels": self.levels, "/beside": self.beside}
        return [
            *(Route(address, answer, methods=["POST"]) for address, answer in posted.items()),
            *(Route(address, answer) for address, answer in got.items()),
        ]

    # -- goals and caps -----------------------------------------------------------------------

    async def wish(self, request: Request) -> Response:
        """Write a goal or a cap into the spec, or take one out."""
        return await after_change(request, lambda typed: self.bench.amend(_wish(typed)))

    async def find(self, request: Request) -> Response:
        """Let `tune` find what the goals and caps take."""

        def find(_: Typed) -> None:
            self.bench.found = found_values(self.bench.shown().facts, self.bench.door)

        return await after_change(request, lambda typed: self.bench.attempt(lambda: find(typed)))

    async def take(self, request: Request) -> Response:
        """Take what was found into the spec."""

        def take(facts: Facts) -> tuple[str, str]:
            found = self.bench.found
            if found is None or found.text != facts.text:
                raise InputError(
                    "the spec has changed since these values were found; nothing was taken. Find "
                    "them again."
                )
            return found.taken, "the values that were found"

        return await after_change(request, lambda _: self.bench.amend(take))

    def found(self, _: Request) -> Response:
        """Show what was found, and the frontier."""

        def made() -> str:
            facts, found, public = self.bench.shown().facts, self.bench.found, self.bench.counting
            stands = None
            if found is not None and public is not None:
                stands = standing_of(found, public, *facts.whole())
            return panels.found_panel(found, stands, facts)

        return part(made)

    # -- shares over levels -------------------------------------------------------------------

    async def share(self, request: Request) -> Response:
        """Give one table another share of an amount, or all of them the best."""
        return await after_change(
            request, lambda typed: self.bench.amend(lambda facts: self._shared(typed, facts))
        )

    def _shared(self, typed: Typed, facts: Facts) -> tuple[str, str]:
        loaded, workload = facts.whole()
        if counted := typed.get("counted"):
            text = text_counted(facts.text, loaded, workload, counted)
            return text, f"shares of tables: {counted}"
        families = self.bench.levels.of(facts).families
        family, place = _number(typed, "family"), _number(typed, "place")
        levels = families[family] if family < len(families) else ()
        given = moved(levels, place, typed.get("share", ""))
        level = levels[place]
        if typed.get("table") != level.table or typed.get("answer") != level.answer:
            raise InputError("the tables are different now; nothing was changed.")
        if typed["share"] == typed.get("was"):
            return facts.text, ""
        words = f"share of {level.table}, {level.answer}: {typed['share'].strip()} %"
        return text_with_amounts(facts.text, loaded, workload, given), words

    def levels(self, _: Request) -> Response:
        """Show how amounts are divided among tables."""
        facts = self.bench.shown().facts
        return part(lambda: panels.levels_panel(self.bench.levels.of(facts)))

    # -- two variants -------------------------------------------------------------------------

    async def compare(self, request: Request) -> Response:
        """Choose the earlier text that is shown beside the present one."""

        def compare(typed: Typed) -> None:
            place = _number(typed, "step") if typed.get("step") else None
            if place is not None:
                self.bench.earlier(place)
            self.bench.beside = place

        return await after_change(request, lambda typed: self.bench.attempt(lambda: compare(typed)))

    def beside(self, _: Request) -> Response:
        """Show both."""

        def made() -> str:
            shown, place = self.bench.shown(), self.bench.beside
            if place is None:
                return panels.beside_panel(shown, None, None, self.bench.door)
            then = self.bench.earlier(place)
            errors = self._errors(then), self._errors(shown.facts)
            found = side_by_side(panels.step_name(shown, place), then, shown.facts, errors)
            return panels.beside_panel(shown, place, found, self.bench.door)

        return part(made)

    def _errors(self, facts: Facts) -> tuple[SizeErrors, ...]:
        public = self.bench.counting
        if public is None or facts.loaded is None or facts.workload is None:
            return ()
        return public.of(facts.loaded, facts.workload)

    # -- the release --------------------------------------------------------------------------

    async def ask(self, request: Request) -> Response:
        """Put the question before anything is made or released."""

        def ask(typed: Typed) -> None:
            self.bench.ledger.forget()
            kind, out = typed.get("kind", ""), typed.get("out", "")
            self.bench.releasing.ask(kind, out, self.bench.shown().facts)

        return await after_change(request, lambda typed: self.bench.attempt(lambda: ask(typed)))

    async def confirm(self, request: Request) -> Response:
        """Do what was asked, once."""

        def confirm(typed: Typed) -> None:
            self.bench.releasing.confirm(typed.get("token", ""), self.bench.shown().facts)
            self.bench.ledger.forget()

        return await after_change(request, lambda typed: self.bench.attempt(lambda: confirm(typed)))

    async def cancel(self, request: Request) -> Response:
        """Do nothing."""
        return await after_change(
            request, lambda _: self.bench.attempt(self.bench.releasing.cancel)
        )


def _wish(typed: Typed) -> Callable[[Facts], tuple[str, str]]:
    wish = Wish(typed.get("kind", ""), typed.get("name", ""), typed.get("value", "").strip())

    def change(facts: Facts) -> tuple[str, str]:
        if facts.loaded is None:
            raise InputError("the spec has mistakes; correct them first.")
        spec = facts.loaded.spec
        now = wishes_of(spec).get(wish.kind, {}).get(wish.name, "")
        before = typed.get("was", "")
        if wish.typed == before:
            return facts.text, ""
        if now != before:
            raise InputError(
                f"you typed {wish.typed!r}, but the file has been changed in the meantime and "
                f"says {now!r}. It was left as it is; type yours again if you want it."
            )
        return changed(facts.text, wished(facts.text, spec, wish)), wish.words

    return change


def _number(typed: Typed, name: str) -> int:
    written = typed.get(name, "")
    if not written.isascii() or not written.isdigit() or len(written) > 6:
        raise InputError("this was not understood; reload the page.")
    return int(written)

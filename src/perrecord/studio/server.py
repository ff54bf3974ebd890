"""The studio as a web server for one person: on this machine alone, behind a token.

What it refuses, before anything else is looked at: another `Host` than its own (a page elsewhere
whose name was made to point here), another `Origin` or site (a page elsewhere that sends a form), a
caller without the cookie. The cookie is given once, for the token of the address that was printed.
"""

import asyncio
import secrets
import socket
from collections.abc import Awaitable
from dataclasses import dataclass, field
from time import monotonic

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from perrecord.errors import PerrecordError
from perrecord.studio import pages, panels
from perrecord.studio.choosing import Choosing
from perrecord.studio.replies import Typed, after_change, part
from perrecord.studio.workbench import Workbench

COOKIE = "perrecord_studio"
_SECURITY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": _SECURITY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_WAIT, _LOOK = 20.0, 0.3
"""How long a page is kept waiting for a change, and how often the file is looked at."""


@dataclass(slots=True)
class Access:
    """Who may speak to the studio: whoever brought the token, at this address."""

    port: int
    token: str | None = field(default_factory=lambda: secrets.token_urlsafe(32))
    """Good for one exchange, and gone with it."""
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @property
    def host(self) -> str:
        """What a browser must call this machine."""
        return f"127.0.0.1:{self.port}"

    @property
    def address(self) -> str:
        """What is printed; it can be opened once."""
        return f"http://{self.host}/enter?token={self.token}"

    def exchanged(self, given: str) -> str | None:
        """Return the cookie for the token, once; None for anything else."""
        token = self.token
        if token is None or not secrets.compare_digest(given.encode(), token.encode()):
            return None
        self.token = None
        return self.cookie

    def knows(self, given: str | None) -> bool:
        """Return whether this is the cookie."""
        return given is not None and secrets.compare_digest(given.encode(), self.cookie.encode())


@dataclass(slots=True)
class Gate:
    """Refuses whoever is not the one user at this machine, and adds the headers of every answer."""

    app: ASGIApp
    access: Access
    last_request: float = field(default_factory=monotonic)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(Request(scope))

        async def answered(sent: Message) -> None:
            if sent["type"] == "http.response.start":
                given = {name.lower() for name, _ in sent["headers"]}
                extra = [(name.lower().encode(), text.encode()) for name, text in _HEADERS.items()]
                added = [each for each in extra if each[0] not in given]
                sent = {**sent, "headers": [*sent["headers"], *added]}
            await send(sent)

        if refusal is not None:
            await PlainTextResponse(refusal, 403)(scope, receive, answered)
            return
        self.last_request = monotonic()
        await self.app(scope, receive, answered)

    def _refusal(self, request: Request) -> str | None:
        headers, own = request.headers, f"http://{self.access.host}"
        if headers.getlist("host") != [self.access.host]:
            return "This is not an address of the studio. Open the one that it printed."
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            is_entry = request.method == "GET" and request.url.path == "/enter"
            if not is_entry:
                return "Pages of other sites may not speak to the studio."
        origin = headers.get("origin")
        if origin not in (None, own) or (request.method != "GET" and origin != own):
            return "Pages of other sites may not speak to the studio."
        if request.url.path != "/enter" and not self.access.knows(request.cookies.get(COOKIE)):
            return "Open the address that the studio printed; it can be opened once."
        return None


def application(bench: Workbench, access: Access) -> Gate:
    """Return the studio as an ASGI application."""
    studio = _Studio(bench, access)
    routes = [
        Route("/enter", studio.enter),
        Route("/", studio.page),
        Route("/choose", studio.choose, methods=["POST"]),
        Route("/write", studio.write, methods=["POST"]),
        Route("/undo", studio.undo, methods=["POST"]),
        Route("/redo", studio.redo, methods=["POST"]),
        Route("/dismiss", studio.dismiss, methods=["POST"]),
        Route("/changed", studio.changed),
        Route("/curves", studio.curves),
        Route("/errors", studio.errors),
        Route("/progress", studio.progress),
        Route("/values", studio.values),
        Route("/ledger", studio.ledger),
        Route("/policy", studio.policy),
        Route("/guide", studio.guide),
        Route("/studio.css", studio.style),
        Route("/studio.js", studio.script),
        Route("/progress.js", studio.progress_script),
        *Choosing(bench).routes(),
    ]
    app = Starlette(routes=routes, exception_handlers={Exception: _failed})
    return Gate(app, access)


@dataclass(frozen=True, slots=True)
class _Studio:
    """What is answered at each address."""

    bench: Workbench
    access: Access

    async def enter(self, request: Request) -> Response:
        """Give the cookie for the token, once."""
        cookie = self.access.exchanged(request.query_params.get("token", ""))
        if cookie is None:
            words = "This address was opened before. Start the studio again for a new one."
            return PlainTextResponse(words, 403)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(COOKIE, cookie, httponly=True, samesite="strict", path="/")
        return answer

    def page(self, _: Request) -> Response:
        shown = self.bench.shown()
        return HTMLResponse(pages.page(shown, self.bench.name, self.bench.door))

    async def choose(self, request: Request) -> Response:
        def change(typed: Typed) -> None:
            fields = ("amount", "method", "size", "blur")
            given = {name: typed[name] for name in fields if name in typed}
            before = {name: typed.get(f"was.{name}", "") for name in fields}
            self.bench.choose(typed.get("answer", ""), given, before)

        return await after_change(request, change)

    async def write(self, request: Request) -> Response:
        return await after_change(
            request, lambda typed: self.bench.write(typed.get("text", ""), typed.get("version", ""))
        )

    async def undo(self, request: Request) -> Response:
        return await after_change(request, lambda typed: self.bench.undo(typed.get("version", "")))

    async def redo(self, request: Request) -> Response:
        return await after_change(request, lambda typed: self.bench.redo(typed.get("version", "")))

    async def dismiss(self, request: Request) -> Response:
        return await after_change(request, lambda _: self.bench.dismiss())

    async def changed(self, request: Request) -> Response:
        """Answer with the version of the file as soon as it is another, or after a while."""
        since = request.query_params.get("since", "")
        version, end = since, monotonic() + _WAIT
        while version == since and monotonic() < end and not await request.is_disconnected():
            version = await run_in_threadpool(self.bench.file.version) or since
            if version == since:
                await asyncio.sleep(_LOOK)
        return PlainTextResponse(version)

    def curves(self, _: Request) -> Response:
        facts = self.bench.shown().facts
        currency = pages.currency_of(facts)
        return part(lambda: pages.curves_panel(self.bench.curves.of(facts), currency))

    def errors(self, _: Request) -> Response:
        accuracy, facts = self.bench.accuracy, self.bench.shown().facts
        if accuracy is None:
            return PlainTextResponse("No data was given that may be looked at.", 404)
        return part(lambda: pages.errors_panel(accuracy.of(facts), self.bench.door))

    def values(self, request: Request) -> Response:
        """Show what the columns hold, of the data behind the door; without one, nothing."""
        values, facts, door = self.bench.values, self.bench.shown().facts, self.bench.door
        if values is None:
            return PlainTextResponse("No data was given that may be looked at.", 404)
        is_alone = "x-part" not in request.headers
        return part(lambda: panels.values_panel(values.of(*facts.whole()), door, is_alone=is_alone))

    def progress(self, _: Request) -> Response:
        """Answer with how much of the data has been counted, from 0 to 1; nothing if nothing is."""
        counting = self.bench.counting
        done = None if counting is None else counting.done
        return PlainTextResponse("" if done is None else f"{done:.3f}")

    def ledger(self, _: Request) -> Response:
        facts = self.bench.shown().facts
        ledger, releasing = self.bench.ledger, self.bench.releasing
        return part(lambda: panels.ledger_panel(ledger.of(facts), releasing, facts))

    def policy(self, _: Request) -> Response:
        facts = self.bench.shown().facts
        # The page brings a policy of its own, by the hashes of what it holds.
        headers = {"Content-Security-Policy": "frame-ancestors 'none'; form-action 'none'"}
        return part(lambda: self.bench.page.of(facts), headers)

    def guide(self, _: Request) -> Response:
        return HTMLResponse(pages.guide())

    def style(self, _: Request) -> Response:
        return Response(pages.asset("base.css") + pages.asset("studio.css"), media_type="text/css")

    def script(self, _: Request) -> Response:
        return Response(pages.asset("studio.js"), media_type="text/javascript")

    def progress_script(self, _: Request) -> Response:
        return Response(pages.asset("progress.js"), media_type="text/javascript")


def _failed(_: Request, error: Exception) -> Response | Awaitable[Response]:
    """Answer an error that nobody foresaw: what it says may quote the data."""
    words = f"{type(error).__name__}: an unexpected error. What it said is withheld."
    return PlainTextResponse(str(error) if isinstance(error, PerrecordError) else words, 500)


def listening() -> socket.socket:
    """Return a socket that this machine alone can reach, at a port that was free."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.bind(("127.0.0.1", 0))
    found.listen(128)
    return found

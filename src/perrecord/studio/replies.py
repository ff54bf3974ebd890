"""How requests are answered: a form changes something, a part of the page says what it can."""

from collections.abc import Callable, Mapping
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from perrecord.confidential.withheld import withheld
from perrecord.errors import PerrecordError

_MOST_BYTES = 2_000_000

Typed = dict[str, str]


async def after_change(request: Request, change: Callable[[Typed], None]) -> Response:
    """Make a change of what a form holds, and show the page anew."""
    content = await _body(request)
    if content is None:
        return PlainTextResponse("This is longer than a spec may be.", 413)
    typed = dict(parse_qsl(content.decode("utf-8", "replace"), keep_blank_values=True))
    await run_in_threadpool(lambda: withheld(lambda: change(typed)))
    return RedirectResponse("/", 303)


async def _body(request: Request) -> bytes | None:
    content = b""
    async for piece in request.stream():
        content += piece
        if len(content) > _MOST_BYTES:
            return None
    return content


def part(made: Callable[[], str], headers: Mapping[str, str] | None = None) -> Response:
    """Answer with a part of the page; what cannot be computed says why."""
    try:
        return HTMLResponse(withheld(made), headers=headers)
    except PerrecordError as error:
        return PlainTextResponse(str(error), 409)

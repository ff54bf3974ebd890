"""The studio running: until Ctrl-C, until its terminal is closed, or until nobody asks any more."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import uvicorn

from perrecord.studio.doors import CLOSED, StudioDoor
from perrecord.studio.server import Access, Gate, application, listening
from perrecord.studio.workbench import opened

_LOOK = 0.5
"""Seconds between two looks at whether it is to end."""


@contextmanager
def serving(spec: Path, door: StudioDoor = CLOSED) -> Iterator[tuple[Access, Gate]]:
    """Serve the studio of a spec for as long as the block lasts."""
    bench, place = opened(spec, door), listening()
    access = Access(place.getsockname()[1])
    app = application(bench, access)
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            log_config=None,
            log_level="critical",
            access_log=False,
            lifespan="off",
            server_header=False,
            ws="none",
            timeout_graceful_shutdown=1,
        )
    )
    # In a thread of its own it takes no signals: what ends the command ends the block.
    thread = threading.Thread(target=server.run, args=([place],), daemon=True)
    thread.start()
    try:
        yield access, app
    finally:
        server.should_exit = True
        thread.join()
        place.close()
        bench.close()


def run(spec: Path, door: StudioDoor, idle: float, say: Callable[[str], None]) -> None:
    """Serve until interrupted, until the parent is gone, or after so many seconds of silence."""
    parent = os.getppid()
    with serving(spec, door) as (access, app):
        say(access.address)
        ended = threading.Event()
        while os.getppid() == parent and monotonic() - app.last_request < idle:
            ended.wait(_LOOK)

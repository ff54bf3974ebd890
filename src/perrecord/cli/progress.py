# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""What a long command is doing, on stderr; silent when nobody watches."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ShownProgress:
    """Shows the present step when it is called.

    `done` moves the bar on by one part; `share` shows how much of the present step is done.
    """

    show: Callable[[str], None] = lambda _: None
    done: Callable[[], None] = lambda: None
    share: Callable[[float], None] = lambda _: None

    def __call__(self, step: str) -> None:
        """Show what is being done now."""
        self.show(step)


@contextmanager
def progress(*, quiet: bool, parts: int | None = None) -> Iterator[ShownProgress]:
    """Give what shows the present step for as long as the block lasts, with a bar.

    The bar is over the parts; without parts it is over each step, and moves to and fro where
    nobody knows how much of the step is done.
    """
    if quiet or not sys.stderr.isatty():
        yield ShownProgress()
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.progress import Progress as Bar

    counted: list[ProgressColumn] = [] if parts is None else [MofNCompleteColumn()]
    text = TextColumn("{task.description}", markup=False)
    console = Console(stderr=True)
    columns = [SpinnerColumn(), BarColumn(20), *counted, text, TimeElapsedColumn()]
    with Bar(*columns, console=console, transient=True) as shown:
        task = shown.add_task("starting", total=parts)

        def begin(step: str) -> None:
            shown.update(task, description=step)
            if parts is None:
                shown.update(task, total=None, completed=0)
                shown.tasks[task].total = None  # update takes None for no change

        def share(done: float) -> None:
            if parts is None:
                shown.update(task, total=1.0, completed=done)

        yield ShownProgress(begin, lambda: shown.advance(task), share)

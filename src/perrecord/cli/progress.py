# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""What a long command is doing, on stderr; silent when nobody watches."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """Shows the present step when it is called; `done` moves the bar on by one part."""

    show: Callable[[str], None] = lambda _: None
    done: Callable[[], None] = lambda: None

    def __call__(self, step: str) -> None:
        """Show what is being done now."""
        self.show(step)


@contextmanager
def progress(*, quiet: bool, parts: int | None = None) -> Iterator[Progress]:
    """Give what shows the present step for as long as the block lasts, with a bar over parts."""
    if quiet or not sys.stderr.isatty():
        yield Progress()
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

    bar: list[ProgressColumn] = [] if parts is None else [BarColumn(20), MofNCompleteColumn()]
    text = TextColumn("{task.description}", markup=False)
    console = Console(stderr=True)
    columns = [SpinnerColumn(), *bar, text, TimeElapsedColumn()]
    with Bar(*columns, console=console, transient=True) as shown:
        task = shown.add_task("starting", total=parts)
        yield Progress(
            lambda step: shown.update(task, description=step), lambda: shown.advance(task)
        )

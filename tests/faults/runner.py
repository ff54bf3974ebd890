"""Running many rounds on every core, and gathering what came of them."""

import multiprocessing
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.faults.broken import BY_NAME
from tests.faults.kills import Round
from tests.faults.scene import Workshop

Task = tuple[str, *tuple[Any, ...]]
"""The name of a subject, and what else a function of a round takes."""

_WORKSHOP: list[Workshop] = []


@dataclass
class Findings:
    """What a part has to report."""

    figures: list[list[str]] = field(default_factory=list)
    tables: list[dict[str, Any]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def figure(self, name: str, number: int) -> None:
        """Add a number, with separators for thousands."""
        self.figures.append([name, f"{number:,}"])

    def fail(self, rounds: Iterable[Round]) -> None:
        """Add everything that was wrong."""
        for each in rounds:
            self.failures += [f"{each.subject}, {each.fault}: {wrong}" for wrong in each.wrong]


class Runner:
    """Worker processes, forked when everything is loaded, and how much they are asked to do."""

    def __init__(self, root: Path, quick: bool, processes: int) -> None:
        self.quick = quick
        self.workshop = Workshop(root)
        self.workshop.prepare()
        _WORKSHOP[:] = [self.workshop]
        # An executor notices a worker that was killed; multiprocessing.Pool waits for it for ever.
        fork = multiprocessing.get_context("fork")
        self._pool = ProcessPoolExecutor(processes, fork) if processes > 1 else None

    def __enter__(self) -> "Runner":
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def pick(self, quick: int, full: int) -> int:
        """Return the number of the form that is run."""
        return quick if self.quick else full

    def map(self, what: str, function: Callable[..., Any], tasks: Sequence[Task]) -> list[Any]:
        """Run function(workshop, subject, ...) for every task, and say how far it is."""
        calls = [(function, *task) for task in tasks]
        results = []
        found = map(_call, calls) if self._pool is None else self._pool.map(_call, calls)
        for number, each in enumerate(found, 1):
            results.append(each)
            if isinstance(each, Round) and each.wrong:
                print(f"{each.subject}, {each.fault}: {each.wrong}", file=sys.stderr, flush=True)
            if number % 100 == 0 or number == len(calls):
                print(f"{what}: {number} of {len(calls)}", file=sys.stderr, flush=True)
        return results

    def caught(
        self, function: Callable[..., Round], tasks: Sequence[Task], reason: str
    ) -> tuple[int, int]:
        """Return how many rounds were run on a broken twin, and how many caught it for a reason.

        The quick form stops at the first.
        """
        if not self.quick:
            rounds = self.map(f"control, {tasks[0][0]}", function, tasks)
            return len(rounds), sum(is_among(reason, each.wrong) for each in rounds)
        for number, task in enumerate(tasks, 1):
            if is_among(reason, _call((function, *task)).wrong):
                return number, 1
        return len(tasks), 0


def is_among(reason: str, wrong: Iterable[str]) -> bool:
    """Tell whether something is wrong for this reason."""
    return any(reason in each for each in wrong)


def _call(call: tuple[Any, ...]) -> Any:
    function, name, *given = call
    return function(_WORKSHOP[0], BY_NAME[name], *given)

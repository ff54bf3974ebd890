"""`reproduced`: the experiments of the paper, run one after the other."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal

from perrecord.lab.experiments.cbp import experiment as cbp
from perrecord.lab.experiments.experiment import Experiment, Tell
from perrecord.lab.experiments.global_zcdp import experiment as global_zcdp
from perrecord.lab.experiments.keys import experiment as key_selection
from perrecord.lab.experiments.univariate import cis, sim

Which = Literal["sim", "cis", "cbp", "keys", "all"]
Run = Callable[[Tell], Experiment]


def runs(
    which: Which, *, quick: bool, cis_file: Path | None = None, cbp_file: Path | None = None
) -> list[Run]:
    """Return the experiments on one data set, or all of them, ready to be run."""
    every: list[tuple[Which, Callable[..., Experiment]]] = [
        ("sim", global_zcdp.run),
        ("sim", sim.run),
        ("cis", partial(cis.run, source=cis_file)),
        ("cbp", partial(cbp.run, source=cbp_file)),
        ("keys", key_selection.run),
    ]
    return [partial(_run, run, quick) for name, run in every if which in (name, "all")]


def _run(run: Callable[..., Experiment], quick: bool, step: Tell) -> Experiment:
    return run(quick=quick, step=step)


def reproduced(
    every: list[Run], step: Tell = lambda _: None, done: Callable[[], None] = lambda: None
) -> list[Experiment]:
    """Return what the experiments found; `done` is called after each."""
    found = []
    for run in every:
        found.append(run(step))
        done()
    return found

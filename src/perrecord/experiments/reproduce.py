"""`reproduced`: the experiments of the paper, run one after the other."""

from pathlib import Path
from typing import Literal

from perrecord.experiments.cbp import experiment as cbp
from perrecord.experiments.experiment import Experiment, Step
from perrecord.experiments.global_zcdp import experiment as global_zcdp
from perrecord.experiments.keys import experiment as key_selection
from perrecord.experiments.univariate import cis, sim

Which = Literal["sim", "cis", "cbp", "keys", "all"]


def reproduced(
    which: Which,
    *,
    quick: bool,
    step: Step = lambda _: None,
    cis_file: Path | None = None,
    cbp_file: Path | None = None,
) -> list[Experiment]:
    """Return the outcomes of the experiments on one data set, or of all of them."""
    found = []
    if which in ("sim", "all"):
        found += [global_zcdp.run(quick=quick, step=step), sim.run(quick=quick, step=step)]
    if which in ("cis", "all"):
        found.append(cis.run(quick=quick, step=step, source=cis_file))
    if which in ("cbp", "all"):
        found.append(cbp.run(quick=quick, step=step, source=cbp_file))
    if which in ("keys", "all"):
        found.append(key_selection.run(quick=quick, step=step))
    return found

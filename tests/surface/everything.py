"""Every command of perrecord, and a session, one after another in one process and one folder.

    python -m tests.surface.everything FOLDER [long]

A line for each on stdout: its exit code and its name. `long` also tunes, audits in a
tiny form, and reproduces the paper, quickly.
"""

import shlex
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from perrecord import Query, Session, Split, table
from perrecord.accounting.budget import Budget
from tests.cli.conftest import SOURCE, SPEC, run
from tests.cli.test_synth import QUICK_STATS

COMMANDS = (
    "synth business --rows 500 --out business.parquet",
    "synth cbp --rows 500 --out cbp.parquet",
    "synth nass cattle.csv --out nass.parquet --keys nass_keys",
    "synth sim --rows 500 --out sim.parquet",
    "synth cis --rows 500 --out cis.parquet",
    "synth keys --out keys",
    "init est.parquet --out started.yaml",
    "schema",
    "check release.yaml",
    "studio release.yaml --idle 0",
    "ledger create release.yaml",
    "release release.yaml --out published",
    "release release.yaml --out published",
    "ledger create later.yaml",
    "release later.yaml --out later",
    "compare published later --out growth",
    "ledger create changes.yaml",
    "release changes.yaml --out changes",
    "series published changes --out levels",
    "export published --to xlsx --out release.xlsx",
    "policy published --record emp=150 --record county=37001",
    "ledger show est.ledger",
    "ledger verify est.ledger",
    "ledger export est.ledger",
    "doctor release.yaml",
    "evaluate release.yaml --out evaluated",
)
LONG = (
    "tune release.yaml --out tuned --goal '5% for 95% of cells'",
    "audit replay --pairs 50",
    "audit doors --pairs 50 --only CSV",
    "audit figures --releases 1 --records 2",
    "audit utility --tables 2 --cells 1000",
    "audit sample --runs 1000 --only 'number of firms'",
    "reproduce all --quick --out reproduced",
)


def everything(folder: Path, *, is_long: bool = False) -> list[tuple[int, str]]:
    """Run all of it; return exit codes with the names of what was run."""
    pq.write_table(SOURCE, folder / "est.parquet")
    (folder / "release.yaml").write_text(SPEC, encoding="utf-8")
    (folder / "later.yaml").write_text(SPEC.replace("est.ledger", "later.ledger"), encoding="utf-8")
    linked = SPEC.replace("source: est.parquet", "source: {path: est.parquet, last: est.parquet}")
    changes = linked.replace("est.ledger", "changes.ledger")
    (folder / "changes.yaml").write_text(changes, encoding="utf-8")
    (folder / "cattle.csv").write_text(QUICK_STATS, encoding="utf-8")
    found = []
    for command in (*COMMANDS, *(LONG if is_long else ())):
        ran = run(*shlex.split(command))
        if ran.code:
            sys.stderr.write(ran.err)
        found.append((ran.code, command))
    source = pa.table({"county": ["a", "b"], "emp": [3, 400]})
    with table(source, name="est", dimensions=["county"], measures=["emp"]) as opened:
        split = Split(emp=50)
        session = Session(opened, ledger=folder / "s.ledger", budget=Budget(1, split), new=True)
        answers = session.ask(Query("est").sum("emp", split=split, rho="0.5"))
    found.append((len(answers) - 1, "session"))
    return found


if __name__ == "__main__":
    here = Path(sys.argv[1])
    for code, name in everything(here, is_long=sys.argv[2:] == ["long"]):
        print(code, name)

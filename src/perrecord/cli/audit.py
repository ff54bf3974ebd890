# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""`perrecord audit`: programs that try to disprove the guarantee."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from perrecord.cli.command import REFUSED, examples
from perrecord.cli.confidential import Quiet
from perrecord.cli.output import columns, complain, show
from perrecord.cli.progress import progress
from perrecord.errors import InputError, InternalError, listing
from perrecord.extras import LAB, REPORTS, check_extra

if TYPE_CHECKING:
    from perrecord.lab.audit.figures import Figures

REPLAY_EXAMPLES = examples(
    "perrecord audit replay",
    "perrecord audit replay --pairs 5000 --seed 7",
    "perrecord audit replay --json > replay.json",
)
DOORS_EXAMPLES = examples(
    "perrecord audit doors",
    "perrecord audit doors --pairs 2000 --only Parquet",
    "perrecord audit doors --json > doors.json",
)
UTILITY_EXAMPLES = examples(
    "perrecord audit utility",
    "perrecord audit utility --tables 50 --cells 50000",
    "perrecord audit utility --json > utility.json",
)
SAMPLE_EXAMPLES = examples(
    "perrecord audit sample",
    "perrecord audit sample --runs 200000 --only median",
    "perrecord audit sample --json > sample.json",
)
FIGURES_EXAMPLES = examples(
    "perrecord audit figures",
    "perrecord audit figures --releases 20 --records 50 --seed 7",
    "perrecord audit figures --json > figures.json",
)

AsJson = Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")]
Seed = Annotated[int, typer.Option(help="The same seed makes the same tables.")]
_STEPS = 100


def replay(
    pairs: Annotated[int, typer.Option(min=1, help="At least how many pairs of tables.")] = 100_000,
    seed: Seed = 1,
    first: Annotated[int, typer.Option(min=0, help="Start at this table of the seed.")] = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Take records out of random tables, and compare what changes with their policy.

    The exact numbers of every pair of neighbours are compared: what a record changes, divided by
    the noise that is priced, must stay within P(r). Some of the tables are really run and released,
    with the same random bits on both sides: every released number must be the exact one, counted
    afresh, with the noise of its law, drawn afresh. Where keys are declared, keys, their order,
    statements and files must not change except in the record's own cell. The samplers themselves
    are not tested here; audit sample does that. The data is random; nothing of yours is read.
    """
    from perrecord.lab.audit.replay.audit import replay as replayed

    with _pairs_shown(pairs, quiet=quiet) as moved:
        found = replayed(pairs, seed, first, moved)
    report(found, as_json=as_json)


def doors(
    pairs: Annotated[int, typer.Option(min=1, help="At least how many pairs of sources.")] = 20_000,
    seed: Seed = 1,
    first: Annotated[int, typer.Option(min=0, help="Start at this round of the seed.")] = 0,
    only: Annotated[
        str | None, typer.Option(help="Only doors whose name contains this text.")
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Read random records from every kind of source, and compare what is counted with the records.

    Each kind of source is a door. The records are written as people and programs write them, in
    text files, Parquet files, globs, data frames, databases, Ibis and Spark tables, and are given
    to OpenDP measurements by a session. The exact numbers of every pair of neighbours are compared
    with the audit's own reading of the records as written, and with P(r). Files and frames are also
    read as two linked periods, charged to a period of a ledger. Doors whose packages are not
    installed are named and left out. The data is random; nothing of yours is read.
    """
    from perrecord.lab.audit.doors.audit import BY_SESSION, doors_audit, every_door

    every = every_door()
    chosen = [door for door in every if only is None or only in door.name]
    measures = only is None or only in BY_SESSION
    if not chosen and not measures:
        names = [*(door.name for door in every), BY_SESSION]
        raise InputError(f"no door is called {only!r}; there are {listing(names, limit=20)}.")
    with _pairs_shown(pairs, quiet=quiet) as moved:
        found = doors_audit(
            pairs, seed, doors=chosen, measures=measures, first=first, progress=moved
        )
    report(found, as_json=as_json)


def utility(
    tables: Annotated[int, typer.Option(min=1, help="How many random tables.")] = 400,
    cells: Annotated[
        int, typer.Option(min=1000, help="In how many cells each answer gets real noise.")
    ] = 1_000_000,
    seed: Seed = 1,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Compare every kind of answer with its meaning in plain SQL, and its noise with its law.

    With so much rho that noise vanishes, each published number, in answers and in files, must equal
    what an aggregate in plain SQL gives. With little rho, the difference from it must follow the
    law that its price calls for; standard errors and intervals must be those of that law. A correct
    library fails once in a million seeds. The data is random; nothing of yours is read. Needs
    scipy: pip install 'perrecord[lab]'.
    """
    check_extra("the audit of utility", LAB)
    from perrecord.lab.audit.utility.audit import utility_audit

    with progress(quiet=quiet) as step:
        found = utility_audit(tables, cells, seed, step)
    report(found, as_json=as_json)


@contextmanager
def _pairs_shown(pairs: int, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """Give what shows how many pairs of so many were compared."""
    with progress(quiet=quiet, parts=_STEPS) as step:
        shown = 0

        def moved(done: int) -> None:
            nonlocal shown
            step(f"{done:,} of {pairs:,} pairs")
            while shown < done * _STEPS // pairs:
                step.done()
                shown += 1

        yield moved


def sample(
    runs: Annotated[
        int,
        typer.Option(
            min=1000, help="How often each mechanism is run with the record, and without."
        ),
    ] = 4_000_000,
    only: Annotated[
        str | None, typer.Option(help="Only mechanisms whose name contains this text.")
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Attack each mechanism by its outputs alone, and compare the result with its policy.

    Each is run many times with a record and without it. The shares of outputs above fixed cuts show
    how much the record loses at least, with 99.9 % confidence for all mechanisms together: never
    more than P(r), and nearly as much where accounting is exact. The data is made up; nothing of
    yours is read. Needs scipy: pip install 'perrecord[lab]'.
    """
    check_extra("the audit by samples", LAB)
    from perrecord.lab.audit.sample.cases import every_case
    from perrecord.lab.audit.sample.lone_keys import PIECES
    from perrecord.lab.audit.sample.report import sample_audit

    every = list(every_case())
    cases = [case for case in every if only is None or only in case.name]
    if not cases:
        names = dict.fromkeys(case.name for case in every)
        raise InputError(f"no mechanism is called {only!r}; there are {listing(names)}.")
    with progress(quiet=quiet, parts=len(cases) + len(PIECES)) as step:

        def moved(name: str) -> None:
            step(name)
            step.done()

        found = sample_audit(cases, runs, moved)
    report(found, as_json=as_json)


def figures(
    releases: Annotated[int, typer.Option(min=1, help="How many random releases.")] = 100,
    records: Annotated[int, typer.Option(min=1, help="How many random records of each.")] = 10,
    altered: Annotated[
        int, typer.Option(min=0, help="How many figures of each text are slightly altered.")
    ] = 3,
    seed: Seed = 1,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Recompute every number that people are shown, from the published files, spec and source.

    Random specs are checked, released, evaluated and tuned, and random records looked up, by the
    commands themselves. Losses, limits, errors, intervals, shares of cells, counts and digests
    that they print, report and publish are computed again, by code other than that under audit.
    Some are then altered by one in their last digit, which must be noticed. The data is
    random; nothing of yours is read.
    """
    check_extra("perrecord audit figures", REPORTS)
    from perrecord.lab.audit.shown.audit import figures as recomputed

    with progress(quiet=quiet, parts=releases) as step:

        def moved(done: int) -> None:
            step(f"{done:,} of {releases:,} releases")
            step.done()

        found = recomputed(releases, records, altered, seed, command_output, moved)
    report(found, as_json=as_json)


def command_output(*arguments: object) -> str:
    """Return what a command prints to stdout, run inside this process.

    Pictures of reports are left out: they take most of the time, and show the numbers of a table.
    """
    from unittest.mock import patch

    from typer.testing import CliRunner

    from perrecord.cli import app
    from perrecord.report.figure import Pictures

    empty = '<svg width="1" height="1"></svg>'
    with (
        patch("perrecord.report.write.pictures", return_value=Pictures(empty, empty)),
        patch("perrecord.report.write.png", return_value=b""),
    ):
        found = CliRunner().invoke(app, [str(each) for each in arguments], prog_name="perrecord")
    if found.exit_code:
        raise InternalError(
            f"perrecord {arguments[0]} ended with {found.exit_code}: {found.stderr}"
        )
    return found.stdout


def report(found: "Figures", *, as_json: bool) -> None:
    """Show the figures of an audit; end with 1 if it found anything wrong."""
    if as_json:
        show(found.to_json())
    else:
        from perrecord.lab.audit.figures import lines

        show(*lines(found.figures))
        for table in found.tables:
            show("", table.caption, *columns(table.columns, table.rows))
    for failure in found.failures:
        complain(failure)
    if found.failures:
        raise typer.Exit(REFUSED)

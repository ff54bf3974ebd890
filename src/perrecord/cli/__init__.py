"""The command line. Data goes to stdout, everything else to stderr.

One module for each command. What a command needs is loaded when it runs, so that help and
completion stay quick. `command` says how commands end, `output` how they speak.
"""

import gc
from collections.abc import Callable
from typing import Annotated, Any

import typer

import perrecord
from perrecord.cli import (
    audit,
    check,
    compare,
    doctor,
    evaluate,
    export,
    init,
    ledger,
    policy,
    release,
    reproduce,
    schema,
    series,
    studio,
    synth,
    tune,
)
from perrecord.cli.command import EXIT_CODES, Command, Commands, ended_once, examples
from perrecord.cli.logs import with_log

__all__ = ["app", "main"]

_NEW_OBJECTS = 100_000
"""After so many, unused ones are looked for: loading makes many objects, and all are used."""

_EXAMPLES = examples(
    "perrecord synth business --rows 100000 --out est.parquet",
    "perrecord init est.parquet",
    "perrecord check release.yaml",
    "perrecord ledger create release.yaml",
    "perrecord release release.yaml --out published",
    "perrecord policy published --record emp=150",
)


def _group(help_text: str, epilog: str | None = None, *, completion: bool = False) -> typer.Typer:
    return typer.Typer(
        cls=Commands,
        help=help_text,
        epilog=epilog,
        no_args_is_help=True,
        add_completion=completion,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )


app = _group(
    "Publish accurate statistics of skewed data under per-record differential privacy.",
    f"{_EXAMPLES}\n\n{EXIT_CODES}",
    completion=True,
)
_audit = _group("Try to disprove the guarantee.")
_ledger = _group("Create a ledger, read it, check it.")
_synth = _group("Write synthetic data and public keys to experiment with.")


def _add(
    group: typer.Typer, name: str, function: Callable[..., Any], summary: str, epilog: str
) -> None:
    command = with_log(function, name)
    group.command(name, cls=Command, short_help=summary, epilog=epilog)(command)


_add(app, "init", init.init, "Write a spec to start from.", init.EXAMPLES)
_add(app, "check", check.check, "Say what a release costs, and how noisy it is.", check.EXAMPLES)
_add(app, "studio", studio.studio, "Choose methods and amounts on a local page.", studio.EXAMPLES)
_add(
    app,
    "evaluate",
    evaluate.evaluate,
    "Say what a spec costs and how accurate it is.",
    evaluate.EXAMPLES,
)
_add(app, "tune", tune.tune, "Reach a goal at the least loss.", tune.EXAMPLES)
_add(app, "reproduce", reproduce.reproduce, "Reproduce the paper's figures.", reproduce.EXAMPLES)
_add(app, "release", release.release, "Make a release and publish it.", release.EXAMPLES)
_add(app, "policy", policy.policy, "Say what a hypothetical record loses.", policy.EXAMPLES)
_add(app, "compare", compare.compare, "Say what changed between two releases.", compare.EXAMPLES)
_add(app, "export", export.export, "Write a release as Excel, SDMX and more.", export.EXAMPLES)
_add(app, "series", series.series, "Add up changes to levels.", series.EXAMPLES)
_add(app, "doctor", doctor.doctor, "Check whether everything needed is there.", doctor.EXAMPLES)
_add(app, "schema", schema.schema, "Print the JSON Schema of a spec.", schema.EXAMPLES)
app.add_typer(_audit, name="audit")
_add(_audit, "replay", audit.replay, "Compare neighbours exactly.", audit.REPLAY_EXAMPLES)
_add(_audit, "doors", audit.doors, "The same, through every kind of source.", audit.DOORS_EXAMPLES)
_add(_audit, "utility", audit.utility, "Compare answers with SQL.", audit.UTILITY_EXAMPLES)
_add(_audit, "figures", audit.figures, "Recompute every figure.", audit.FIGURES_EXAMPLES)
_add(_audit, "sample", audit.sample, "Attack outputs millions of times.", audit.SAMPLE_EXAMPLES)
app.add_typer(_ledger, name="ledger")
_add(_ledger, "create", ledger.create, "Create the ledger of a spec.", ledger.CREATE_EXAMPLES)
_add(_ledger, "show", ledger.show_ledger, "Show what was charged.", ledger.SHOW_EXAMPLES)
_add(_ledger, "verify", ledger.verify, "Check all of a ledger.", ledger.VERIFY_EXAMPLES)
_add(_ledger, "export", ledger.export, "Print a ledger as lines of JSON.", ledger.EXPORT_EXAMPLES)
app.add_typer(_synth, name="synth")
_add(_synth, "business", synth.business, "Write establishments.", synth.BUSINESS_EXAMPLES)
_add(_synth, "cbp", synth.business, "The same as business.", synth.CBP_EXAMPLES)
_add(_synth, "keys", synth.keys, "Write public keys.", synth.KEYS_EXAMPLES)
_add(_synth, "sim", synth.sim, "Write the paper's simulated records.", synth.SIM_EXAMPLES)
_add(_synth, "cis", synth.cis, "Write counties with cattle and rents.", synth.CIS_EXAMPLES)
_add(_synth, "nass", synth.nass, "Write the counties of a real NASS file.", synth.NASS_EXAMPLES)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"perrecord {perrecord.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; being told to end is taken as Ctrl-C, so that everything is tidied."""
    gc.set_threshold(_NEW_OBJECTS)
    with ended_once():
        app(prog_name="perrecord")

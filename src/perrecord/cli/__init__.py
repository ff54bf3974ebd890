"""The command line. Data goes to stdout, everything else to stderr.

One module for each command, loaded when the command is run, so that it loads no other's and the
list of commands none. `command` says how commands end, `output` how they speak.
"""

import gc
from importlib import import_module
from typing import Annotated, Any

import typer

import perrecord
from perrecord.cli.command import EXIT_CODES, Command, Commands, Deferred, ended_once, examples
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
    group: typer.Typer, name: str, place: str, summary: str, examples_of: str = "EXAMPLES"
) -> None:
    """Add a command by its place, MODULE.FUNCTION; its examples are in the module too."""

    def load() -> Any:
        module, function = place.split(".")
        loaded = import_module(f"perrecord.cli.{module}")
        command = with_log(getattr(loaded, function), name)
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(name, cls=Command, epilog=getattr(loaded, examples_of))(command)
        return typer.main.get_command(alone)

    group.command(name, cls=Deferred, short_help=summary)(load)


_add(app, "init", "init.init", "Write a spec to start from.")
_add(app, "check", "check.check", "Say what a release costs, and how noisy it is.")
_add(app, "studio", "studio.studio", "Choose methods and amounts on a local page.")
_add(app, "evaluate", "evaluate.evaluate", "Say what a spec costs and how accurate it is.")
_add(app, "tune", "tune.tune", "Reach a goal at the least loss.")
_add(app, "reproduce", "reproduce.reproduce", "Reproduce the paper's figures.")
_add(app, "release", "release.release", "Make a release and publish it.")
_add(app, "policy", "policy.policy", "Say what a hypothetical record loses.")
_add(app, "compare", "compare.compare", "Say what changed between two releases.")
_add(app, "export", "export.export", "Write a release as Excel, SDMX and more.")
_add(app, "series", "series.series", "Add up changes to levels.")
_add(app, "doctor", "doctor.doctor", "Check whether everything needed is there.")
_add(app, "schema", "schema.schema", "Print the JSON Schema of a spec.")
app.add_typer(_audit, name="audit")
_add(_audit, "replay", "audit.replay", "Compare neighbours exactly.", "REPLAY_EXAMPLES")
_add(_audit, "doors", "audit.doors", "The same, through every kind of source.", "DOORS_EXAMPLES")
_add(_audit, "utility", "audit.utility", "Compare answers with SQL.", "UTILITY_EXAMPLES")
_add(_audit, "figures", "audit.figures", "Recompute every figure.", "FIGURES_EXAMPLES")
_add(_audit, "sample", "audit.sample", "Attack outputs millions of times.", "SAMPLE_EXAMPLES")
app.add_typer(_ledger, name="ledger")
_add(_ledger, "create", "ledger.create", "Create the ledger of a spec.", "CREATE_EXAMPLES")
_add(_ledger, "show", "ledger.show_ledger", "Show what was charged.", "SHOW_EXAMPLES")
_add(_ledger, "verify", "ledger.verify", "Check all of a ledger.", "VERIFY_EXAMPLES")
_add(_ledger, "export", "ledger.export", "Print a ledger as lines of JSON.", "EXPORT_EXAMPLES")
app.add_typer(_synth, name="synth")
_add(_synth, "business", "synth.business", "Write establishments.", "BUSINESS_EXAMPLES")
_add(_synth, "cbp", "synth.business", "The same as business.", "CBP_EXAMPLES")
_add(_synth, "keys", "synth.keys", "Write public keys.", "KEYS_EXAMPLES")
_add(_synth, "sim", "synth.sim", "Write the paper's simulated records.", "SIM_EXAMPLES")
_add(_synth, "cis", "synth.cis", "Write counties with cattle and rents.", "CIS_EXAMPLES")
_add(_synth, "nass", "synth.nass", "Write the counties of a real NASS file.", "NASS_EXAMPLES")


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

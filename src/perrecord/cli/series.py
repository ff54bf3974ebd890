# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""`perrecord series`: the levels that a base and releases of changes add up to."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perrecord.cli.command import examples
from perrecord.cli.output import columns, say, show, show_json

if TYPE_CHECKING:
    from perrecord.release.accumulating import AccumulatedSeries

EXAMPLES = examples(
    "perrecord series levels_2026 changes_2027 changes_2028",
    "perrecord series levels_2026 changes_2027 --periods 2026,2027 --out levels",
)


def series(
    base: Annotated[
        Path, typer.Argument(help="The folder of the levels to start from.", metavar="BASE")
    ],
    changes: Annotated[
        list[Path],
        typer.Argument(help="Folders of changes, in the order of periods.", metavar="CHANGES..."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="A new folder for the levels, as Parquet and CSV."),
    ] = None,
    periods: Annotated[
        str | None,
        typer.Option(
            help="The names of the periods, separated by commas; default: those of the folders."
        ),
    ] = None,
    confidence: Annotated[
        float,
        typer.Option(help="How likely the intervals are to hold the true numbers.", metavar="P"),
    ] = 0.95,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Add releases of changes to a base: the levels of every period, with errors.

    Every total that the base has as a level, and the others as a change between two periods, gets
    its level, its change and its growth rate for every key and period, each with a standard error
    and an interval. Only published files are read; nothing is charged.
    """
    from perrecord.release.accumulating import accumulate

    if out is not None and out.exists():
        raise typer.BadParameter(f"{str(out)!r} exists already; give a new folder.")
    named = None if periods is None else [each.strip() for each in periods.split(",")]
    found = accumulate(base, changes, periods=named, confidence=confidence)
    if out is not None and found.tables:
        _write(out, found, confidence)
    if as_json:
        show_json(_as_json(found, confidence))
        return
    show(*_lines(found, confidence))
    for each in found.warnings:
        say(f"Mind: {each}.")
    for name, reason in found.left_out:
        say(f"{name} was left out: {reason}.")
    if out is not None and found.tables:
        say(f"The levels are in {str(out)!r}.")


def _write(out: Path, found: "AccumulatedSeries", confidence: float) -> None:
    import json

    from perrecord.mechanisms.write import write_csv, write_parquet

    out.mkdir(parents=True)
    for table in found.tables:
        write_parquet(table.rows, out / f"{table.name}.parquet")
        write_csv(table.rows, out / f"{table.name}.csv")
    noted = json.dumps(_as_json(found, confidence), indent=2, ensure_ascii=False)
    (out / "series.json").write_text(f"{noted}\n", encoding="utf-8")


def _lines(found: "AccumulatedSeries", confidence: float) -> Iterator[str]:
    titles = [f"{each}: {title}" for each, title in zip(found.periods, found.titles, strict=True)]
    yield from titles
    heads = [
        "table",
        "answer",
        "period",
        "cells",
        "level's error",
        "change's error",
        "rose",
        "fell",
    ]
    rows = [
        [table.name, answer, period, *map(_number, table.summary(answer, period).values())]
        for table in found.tables
        for answer in table.answers
        for period in found.periods
    ]
    yield from ("", *columns(heads, rows))
    yield from (
        "",
        "Errors are the median standard errors over cells. A cell rose or fell where the "
        f"{confidence * 100:g} % interval",
        "of its change is all above or below 0.",
    )


def _number(value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return "-" if value != value else f"{value:,.3g}"  # noqa: PLR0124 -- NaN is not itself


def _as_json(found: "AccumulatedSeries", confidence: float) -> dict[str, Any]:
    def plain(value: float) -> float | None:
        return None if value != value else value  # noqa: PLR0124 -- NaN is not itself

    return {
        "confidence": confidence,
        "periods": [
            {"name": name, "title": title}
            for name, title in zip(found.periods, found.titles, strict=True)
        ],
        "tables": [
            {
                "name": table.name,
                "keys": list(table.keys),
                "answers": {
                    answer: {
                        period: {
                            name: plain(each)
                            for name, each in table.summary(answer, period).items()
                        }
                        for period in found.periods
                    }
                    for answer in table.answers
                },
            }
            for table in found.tables
        ],
        "warnings": list(found.warnings),
        "left_out": [{"name": name, "reason": reason} for name, reason in found.left_out],
    }

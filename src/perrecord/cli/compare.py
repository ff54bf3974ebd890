# ruff: noqa: PLC0415 -- what a command needs is loaded when it runs
"""`perrecord compare`: differences and growth rates from one release to another."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perrecord.cli.command import examples
from perrecord.cli.output import columns, say, show, show_json

if TYPE_CHECKING:
    from perrecord.release.comparing import ComparedReleases, ComparedTable

EXAMPLES = examples(
    "perrecord compare published_2025 published_2026",
    "perrecord compare published_2025 published_2026 --out growth",
)

_SHOWN_CELLS = 12
"""So many of each table are printed unless all are asked for."""


def compare(
    old: Annotated[Path, typer.Argument(help="The folder of the earlier release.", metavar="OLD")],
    new: Annotated[Path, typer.Argument(help="The folder of the later release.", metavar="NEW")],
    out: Annotated[
        Path | None,
        typer.Option(help="A new folder for the compared tables, as Parquet and CSV."),
    ] = None,
    confidence: Annotated[
        float,
        typer.Option(help="How likely the intervals are to hold the true changes.", metavar="P"),
    ] = 0.95,
    every: Annotated[
        bool,
        typer.Option("--all", help="Print every cell, and not only those that changed most."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Compare two published releases: what changed from one to the other, with errors.

    Every answer that both have with the same definition, consistent columns and derived numbers
    included, gets its difference and its growth rate, each with a standard error
    and an interval, for every key. Only published files are read; nothing is charged. A growth
    rate whose earlier number cannot be told from 0 has no interval, and its columns are empty. The
    cells that changed most, compared with their standard errors, are printed.
    """
    from perrecord.release.comparing import compare as compared

    if out is not None and out.exists():
        raise typer.BadParameter(f"{str(out)!r} exists already; give a new folder.")
    found = compared(old, new, confidence)
    if out is not None:
        for table in found.tables:
            _write(out, table)
    if as_json:
        show_json(_as_json(found))
        return
    show(*_lines(found, confidence, None if every else _SHOWN_CELLS))
    for each in found.warnings:
        say(f"May differ in meaning: {each}.")
    for name, reason in found.left_out:
        say(f"{name} was left out: {reason}.")
    if out is not None and found.tables:
        say(f"The compared tables are in {str(out)!r}.")


def _write(out: Path, table: "ComparedTable") -> None:
    from perrecord.mechanisms.write import write_csv, write_parquet

    out.mkdir(parents=True, exist_ok=True)
    write_parquet(table.rows, out / f"{table.name}.parquet")
    write_csv(table.rows, out / f"{table.name}.csv")


def _lines(found: "ComparedReleases", confidence: float, most: int | None) -> Iterator[str]:
    yield f"{found.old_title} -> {found.new_title}"
    heads = ["table", "answer", "cells", "rose", "fell", "growth known"]
    rows = [
        [table.name, answer, *(f"{each:,}" for each in table.summary(answer).values())]
        for table in found.tables
        for answer in table.answers
    ]
    yield from ("", *columns(heads, rows))
    yield from (
        "",
        f"A cell rose or fell where its {confidence * 100:g} % interval is all above or below 0; "
        "its growth is known",
        "where the earlier number is far enough from 0 to divide by.",
    )
    for table in found.tables:
        cells = table.rows.num_rows * len(table.answers)
        is_cut = most is not None and cells > most
        cut = f": the {most} of {cells:,} cells that changed most; --all prints them all"
        yield from ("", f"{table.name}{cut if is_cut else ''}", *_rows(table, most))


def _rows(table: "ComparedTable", most: int | None) -> list[str]:
    """Return the cells of a table that changed most, in the order of the table."""
    heads = [*table.keys, "answer", "old", "new", "change", "growth", "from", "to"]
    shown = []
    for place, answer in _changed_most(table, most):
        (row,) = table.rows.slice(place, 1).to_pylist()
        growth = [row[f"{answer}_growth{end}"] for end in ("", "_low", "_high")]
        numbers = [row[f"{answer}_{each}"] for each in ("old", "new", "change")]
        shown.append(
            [
                *(str(row[key]) for key in table.keys),
                answer,
                *("" if each is None else f"{each:,.6g}" for each in numbers),
                *("" if each is None else f"{each * 100:+.3g} %" for each in growth),
            ]
        )
    return columns(heads, shown)


def _changed_most(table: "ComparedTable", most: int | None) -> list[tuple[int, str]]:
    """Return the rows and answers whose change is largest, compared with its standard error."""
    import numpy as np

    from perrecord.release.folders import floats_of

    sizes = []
    for answer in table.answers:
        change, error = (floats_of(table.rows, f"{answer}_change{end}") for end in ("", "_se"))
        with np.errstate(divide="ignore", invalid="ignore"):
            sizes.append(np.nan_to_num(np.abs(change) / error, nan=-1.0))
    order = np.argsort(-np.column_stack(sizes).ravel(), kind="stable")[:most]
    count = len(table.answers)
    return [(each // count, table.answers[each % count]) for each in sorted(order.tolist())]


def _as_json(found: "ComparedReleases") -> dict[str, Any]:
    return {
        "old": found.old_title,
        "new": found.new_title,
        "tables": [
            {
                "name": table.name,
                "keys": list(table.keys),
                "answers": {answer: table.summary(answer) for answer in table.answers},
            }
            for table in found.tables
        ],
        "warnings": list(found.warnings),
        "left_out": [{"name": name, "reason": reason} for name, reason in found.left_out],
    }

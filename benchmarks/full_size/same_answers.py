"""Whether all contenders computed the same numbers: exact answers compared, cell by cell."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import duckdb

from full_size.contenders import CONTENDERS, Perrecord, Plain
from full_size.workload import ANSWERS, key_columns, table_name

PLAIN = tuple(each for each in CONTENDERS if isinstance(each, Plain))


class DifferentAnswersError(Exception):
    """Two contenders do not have the same keys or the same numbers."""


def compare(folder: Path, scratch: Path, contenders: Sequence[Plain] = PLAIN) -> int:
    """Return how many cells were compared; perrecord's amounts are so large that noise is 0.

    Raises:
        DifferentAnswersError: a contender has other keys or other numbers than perrecord.
    """
    ours = scratch / "exact"
    run = Perrecord(is_exact=True).run(folder, ours)
    tables = ours / "published" / "tables"
    for plain in contenders:
        out = scratch / "plain"
        plain.run(folder, out)
        condition = "WHERE establishments > 0" if plain.how.startswith("occupied") else ""
        for level in run.rows_written:
            name = f"{table_name(level)}.parquet"
            columns = [*key_columns(level), *ANSWERS]
            if not is_same(tables / name, out / name, columns, condition):
                raise DifferentAnswersError(
                    f"{plain.name} and perrecord differ in {table_name(level)}"
                )
        print(f"the same answers: {plain.name}", file=sys.stderr)
        shutil.rmtree(out)
    shutil.rmtree(ours)
    return sum(run.rows_written.values())


def is_same(one: Path, other: Path, columns: Sequence[str], condition: str = "") -> bool:
    """Return whether two Parquet files hold the same rows, of the first those that are meant.

    Compared are how many there are, and the sum and the exclusive or of their 64-bit hashes.
    """
    return _fingerprint(one, columns, condition) == _fingerprint(other, columns)


def _fingerprint(path: Path, columns: Sequence[str], condition: str = "") -> object:
    values = ", ".join(f"CAST({column} AS VARCHAR)" for column in columns)
    with duckdb.connect() as connection:
        return connection.execute(
            "SELECT count(*), sum(hashed), bit_xor(hashed) "  # noqa: S608
            f"FROM (SELECT hash({values}) AS hashed FROM '{path}' {condition})"
        ).fetchone()

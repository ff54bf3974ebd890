"""Doors that read otherwise than was spelled: the audit of doors notices each."""

from fractions import Fraction
from random import Random

import pyarrow as pa
import pytest

from perrecord.lab.audit.doors.audit import doors_audit, every_door
from perrecord.lab.audit.doors.measurements import EVERY, measurement_checks
from perrecord.mechanisms import measurements
from perrecord.queries.methods import tapering
from perrecord.tables import records, sources
from perrecord.tables.databases import sqlite
from perrecord.tables.dialects.duckdb import DuckDB
from perrecord.tables.measures import is_text

pytestmark = pytest.mark.filterwarnings(  # of Ibis, which is older than the DuckDB beneath it
    "ignore::FutureWarning", "ignore::DeprecationWarning"
)

DOORS = {door.name: door for door in every_door()}


def caught(name, *messages, pairs=160, violations=1):
    """Tell whether the audit finds such a fault at one door."""
    found = doors_audit(
        pairs, seed=2, doors=[DOORS[name]], measures=False, most_violations=violations
    ).failures
    return any(each in failure for failure in found for each in messages)


def read_by(monkeypatch, is_broken, broken):
    """Put another reading of some columns in place of the library's."""
    honest = records.grid_sql

    def reading(measure, column, kind, dialect):
        grid = honest(measure, column, kind, dialect)
        if not is_broken(kind) or measure.column == "world":
            return grid
        return broken(honest, measure, column, kind, dialect)

    monkeypatch.setattr(records, "grid_sql", reading)


@pytest.mark.parametrize("name", ["text, .csv", "text, .tsv.gz", "several CSV files, by a glob"])
def test_text_that_is_cast_is_caught(monkeypatch, name):
    """The engine's own cast takes 1_000 for a number, and exponents by rules of its own."""

    def cast(honest, measure, column, kind, dialect):
        number = f"TRY_CAST({column} AS DECIMAL(26, 10))"
        return honest(measure, number, pa.decimal128(26, 10), dialect)

    read_by(monkeypatch, is_text, cast)
    assert caught(name, "something else than it adds", "is not in", "OutOfRange", "SourceError")


@pytest.mark.parametrize(
    "name", ["Parquet", "an Arrow dataset of Parquet files", "Polars", "Arrow"]
)
def test_a_nan_that_is_cut_to_the_largest_is_caught(monkeypatch, name):
    """NaN is no number, however a file's statistics describe it."""

    def cut(honest, measure, column, kind, dialect):
        grid = honest(measure, column, kind, dialect)
        return f"CASE WHEN isnan({column}) THEN {measure.largest} ELSE {grid} END"

    read_by(monkeypatch, pa.types.is_floating, cut)
    assert caught(name, "something else than it adds", "pieces", "is not in", violations=4)


@pytest.mark.parametrize("name", ["a DuckDB file, by its address", "Ibis on SQLite"])
def test_a_missing_number_that_is_read_as_nought_is_caught(monkeypatch, name):
    """COUNT(a) and quantiles leave it out."""

    def filled(honest, measure, column, kind, dialect):
        return f"coalesce({honest(measure, column, kind, dialect)}, 0)"

    read_by(monkeypatch, lambda _: True, filled)
    assert caught(name, "something else than it adds", "is not in", "than was spelled")


@pytest.mark.parametrize(
    "name", ["several CSV files, by a glob", "several Parquet files, by a glob"]
)
@pytest.mark.parametrize("times", [slice(None), slice(1)])
def test_a_file_that_is_read_twice_or_not_at_all_is_caught(monkeypatch, name, times):
    """Every record of a file is read once, whatever ways lead to it."""
    honest = sources.find_files

    def found(pattern):
        files = honest(pattern)
        return (*files, *files[:1]) if times.stop is None else files[times]

    monkeypatch.setattr(sources, "find_files", found)
    assert caught(name, "something else than it adds", "is not in", "pieces")


@pytest.mark.parametrize(
    "name", ["Ibis on a DuckDB with odd settings", "a DuckDB file, by its address", "text, .tsv"]
)
def test_a_collation_that_folds_case_is_caught(monkeypatch, name):
    """FARM is not farm: text is compared byte by byte."""
    monkeypatch.setattr(
        DuckDB, "as_text", lambda self, value: f"(lower(CAST({value} AS VARCHAR)) COLLATE C)"
    )
    assert caught(name, "is not in", "something else than it adds", "another key", "other keys")


def test_a_misfit_that_is_taken_for_a_number_is_caught(monkeypatch):
    """SQLite casts 'abc' to 0; in a column of numbers it is as good as NULL."""
    honest = sqlite._selected

    def cast(name, kind):
        return (
            f"CAST({sqlite.quoted(name)} AS INTEGER)" if kind == pa.int64() else honest(name, kind)
        )

    monkeypatch.setattr(sqlite, "_selected", cast)
    found = ("something else than it adds", "is not in")
    assert caught("a SQLite file, by its address", *found, violations=4)


def test_a_taper_that_is_priced_by_wider_noise_is_caught(monkeypatch):
    """Through any door, totals are tapered too, and what they cost is computed once more."""
    honest = tapering.student_loss
    monkeypatch.setattr(
        tapering,
        "student_loss",
        lambda power, spread, nu, at: honest(power, spread * Fraction(11, 10), nu, at),
    )
    assert caught("Arrow", "the policy says", pairs=80)


def faults(random):
    """Return what is wrong with measurements on one table."""
    return [each.fault for each in measurement_checks(random) if each.fault is not None]


class EveryDomain:
    """In place of chance: every domain on the first measure, unsplit."""

    def __init__(self, random):
        self._random = random

    def __getattr__(self, name):
        return getattr(self._random, name)

    def sample(self, population, count):
        """Return all domains where some are asked for."""
        return list(EVERY) if population is EVERY else self._random.sample(population, count)


def test_a_measurement_without_clamping_is_caught(monkeypatch):
    """What is outside its bounds is nothing that its map speaks of."""
    monkeypatch.setattr(measurements.Atoms, "_clamped", lambda self, value: value)
    assert any("its domain does not hold" in each for each in faults(EveryDomain(Random(4))))


def test_a_measurement_of_any_domain_that_is_named_alike_is_caught(monkeypatch):
    """A domain of a known size, of options or of the user's own is not a vector of numbers."""
    monkeypatch.setattr(measurements, "_atoms", lambda _: measurements.Atoms("i64", None))
    found = faults(EveryDomain(Random(4)))
    assert any("known size" in each for each in found)


@pytest.mark.spark
def test_a_missing_number_on_spark_is_caught(monkeypatch):
    """The same twin on the other engine."""

    def filled(honest, measure, column, kind, dialect):
        return f"coalesce({honest(measure, column, kind, dialect)}, 0)"

    read_by(monkeypatch, lambda _: True, filled)
    assert caught("Spark", "something else than it adds", "is not in", "than was spelled", pairs=12)

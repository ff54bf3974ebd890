"""Broken twins of what is done and written: other statements, bits, files, progress."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from perrecord.confidential.revealing import revealed
from perrecord.mechanisms import run
from perrecord.mechanisms.selection import Selected
from perrecord.queries.cells import Reading
from perrecord.release import contents, publish
from perrecord.tables.keys import Keys
from tests.lab.audit.caught import caught

RELEASED = 3
"""A table of which releases are made."""


@pytest.fixture
def seen(monkeypatch):
    """Return a list that gathers the exact integers of every table that is run."""
    honest, found = Reading.numbers, []

    def noting(self, aggregate):
        numbers = honest(self, aggregate)
        found.append(str(revealed(numbers).tolist()))
        return numbers

    monkeypatch.setattr(Reading, "numbers", noting)
    return found


def _cut(answers):
    """Return answers of which the last column is left out."""
    return replace(answers, columns=answers.columns[:-1])


def test_a_manifest_that_holds_exact_numbers_is_caught(monkeypatch, seen):
    """A manifest states files and a charge, and nothing else."""
    honest = publish.release_files

    def telling(*given):
        files = honest(*given)
        stated = {**json.loads(files["manifest.json"]), "secret": seen[-1]}
        written = json.dumps(stated, ensure_ascii=False, indent=2) + "\n"
        return {**files, "manifest.json": written.encode()}

    monkeypatch.setattr(publish, "release_files", telling)
    assert caught("manifest.json: it is not the same", first=RELEASED)


def test_a_manifest_that_hides_numbers_in_its_layout_is_caught(monkeypatch, seen):
    """Blanks tell as much as digits."""
    honest = publish.release_files

    def telling(*given):
        files = honest(*given)
        return {**files, "manifest.json": files["manifest.json"] + b" " * len(seen[-1])}

    monkeypatch.setattr(publish, "release_files", telling)
    assert caught("manifest.json: it holds more than its JSON says", first=RELEASED)


def test_a_csv_file_with_exact_numbers_is_caught(monkeypatch, seen):
    """A CSV file holds what the Parquet file holds."""
    honest = contents.write_csv

    def telling(rows, path):
        honest(rows, path)
        path.write(seen[-1].encode())

    monkeypatch.setattr(contents, "write_csv", telling)
    assert caught(".csv: it is not what the run gave, written", first=RELEASED)


def test_parquet_metadata_with_exact_numbers_is_caught(monkeypatch, seen):
    """A Parquet file has room for notes, and none are made."""

    def telling(rows, path, keys):
        pq.write_table(rows.replace_schema_metadata({"records": seen[-1]}), path)

    monkeypatch.setattr(contents, "write_parquet", telling)
    assert caught(".parquet: it is not what the run gave, written", first=RELEASED)


def test_rows_that_are_not_what_was_run_are_caught(monkeypatch):
    """Between a run and its files nothing is lost or added."""
    honest = publish.released_table

    def other(workload, grouping, answers):
        return honest(workload, grouping, _cut(answers))

    monkeypatch.setattr(publish, "released_table", other)
    # Where tables are added up, what is missing there is missed before anything is written.
    assert caught("it is not what the run gave, written", "there is no answer", first=RELEASED)


def test_noise_that_hangs_on_empty_cells_is_caught(monkeypatch):
    """How many random bits are drawn must not tell which cells are empty."""
    honest = run.estimate

    def telling(name, exact, keys, noise, bits):
        bits.words16(np.count_nonzero(revealed(exact)))
        return honest(name, exact, keys, noise, bits)

    monkeypatch.setattr(run, "estimate", telling)
    assert caught("random bits were drawn in another way", violations=3)


def test_a_statement_that_hangs_on_the_data_is_caught(monkeypatch):
    """A second question only where the first found something: the engine's log would tell."""
    honest = run._Run._released

    def curious(self, asked, keys, read):
        exact = read.exact.numbers(self.grouping.aggregates[0])
        list(read.cells.engine.local(f"SELECT {int(revealed(exact).sum())}"))
        return honest(self, asked, keys, read)

    monkeypatch.setattr(run._Run, "_released", curious)
    assert caught("other statements were sent to the engine")


def test_a_document_that_hangs_on_the_data_is_caught(monkeypatch):
    """Beside the tables every file of a release is the same, byte for byte."""
    honest = publish.release_files

    def telling(workload, tables, public, charge):
        written = contents.written_tables(workload, tables).tables
        said = b"".join(each for table in written for each in table.files.values())
        return honest(workload, tables, {**public, "methodology.md": said}, charge)

    monkeypatch.setattr(publish, "release_files", telling)
    assert caught("methodology.md: it is not the same", first=RELEASED)


def test_progress_that_hangs_on_the_data_is_caught(monkeypatch):
    """What a release says on the way is seen by whoever watches."""
    honest = publish.run_each

    def telling(planned, table, make, **given):
        tables = honest(planned, table, make, **given)
        monkeypatch.setattr(publish._Release, "_seal", sealing(tables))
        return tables

    def sealing(tables):
        def seal(self, charge):
            self.watch.step(str([numbers for _, numbers in tables]))
            return original(self, charge)

        return seal

    original = publish._Release._seal
    monkeypatch.setattr(publish, "run_each", telling)
    assert caught("it said something else on the way", first=RELEASED)


def test_keys_taken_from_the_data_are_caught(monkeypatch):
    """Declared keys that are empty must appear."""
    honest = run._Run._selected

    def occupied(self, read):
        aggregates = self.grouping.aggregates
        if not isinstance(self.grouping.grouping.cells, Keys) or not aggregates:
            return honest(self, read)
        keys = revealed(read.occupied(self.columns, aggregates[0]).keys)
        declared = set(self.grouping.grouping.cells.rows())
        is_known = [row in declared for row in Keys.trusted(keys)]
        return Selected(Keys.trusted(keys.filter(pa.array(is_known, pa.bool_()))), None)

    monkeypatch.setattr(run._Run, "_selected", occupied)
    assert caught("other keys were published")

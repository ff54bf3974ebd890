"""The answers of a query as a table, with their errors and what they cost. All of it is public."""

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from perrecord.errors import InputError, QueryError, listing, number_of
from perrecord.exact import Exact
from perrecord.mechanisms.write import write_csv, write_parquet
from perrecord.policy.policy import Policy
from perrecord.released.columns import Estimate, Ratio, Released
from perrecord.released.derived import Computed, formula, uncertain
from perrecord.released.numbers import as_floats

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

UNGROUPED = pa.table({"": pa.array([True])}).select([])
"""The keys of a total: one row without columns."""

_DIGITS = 38
"""What decimals hold outside Arrow."""


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The answers of one grouping: a row per key, and what they cost.

    Whatever reads Arrow's C stream takes them as they are, exact and with their errors:
    `pyarrow.table(answers)`, `polars.DataFrame(answers)`, `pandas.DataFrame.from_arrow(answers)`,
    `duckdb.sql("SELECT * FROM answers")`.
    """

    keys: pa.Table
    columns: tuple[Released, ...]
    policy: Policy
    charges: tuple[tuple[str, Policy], ...]

    @property
    def table(self) -> pa.Table:
        """The keys, then a column for each answer."""
        table = self.keys
        for column in self.columns:
            table = table.append_column(column.name, column.values())
        return table

    def with_errors(self, confidence: Exact | None = "0.95") -> pa.Table:
        """Return the table with each answer's standard error and confidence interval next to it.

        A quantile has neither. Without a confidence there are no intervals. An average has one more
        column, which says where its noisy count is too small to divide by: `..._few_records`.
        """
        table = self.keys
        for column in self.columns:
            table = table.append_column(column.name, column.values())
            for ending, values in column.beside(confidence):
                table = table.append_column(f"{column.name}{ending}", values)
        return table

    def with_derived(
        self, formulas: Mapping[str, str], confidence: Exact | None = "0.95"
    ) -> pa.Table:
        """Return the same table with numbers that follow from the answers, at no cost (T33).

        Each formula is one sum of answers times numbers, or one such sum divided by another, such
        as {"pay_per_worker": "payroll / employment"}; its error and interval come next to it.
        """
        table = self.with_errors(confidence)
        for name, written in formulas.items():
            found = formula(written, f"the formula of {name!r}")
            given = {each: uncertain(self._with_error(each)) for each in sorted(found.names)}
            if name in table.column_names:
                raise QueryError(f"there is a column {name!r} already; give another name.")
            column = Computed(name, found, given)
            table = table.append_column(name, column.values())
            for ending, values in column.beside(confidence):
                table = table.append_column(f"{name}{ending}", values)
        return table

    def _with_error(self, name: str) -> Estimate:
        column = self.column(name)
        if isinstance(column, Estimate):
            return column
        is_average = isinstance(column, Ratio)
        what = (
            "is an average, whose error is approximate" if is_average else "has no standard error"
        )
        raise QueryError(
            f"{name!r} {what}; derived numbers are of counts and totals, such as a total over a "
            "count."
        )

    def to_arrow(self, confidence: Exact | None = "0.95", *, exact: bool = True) -> pa.Table:
        """Return the table with its errors: exact decimals, or floats with `exact=False`.

        Whole numbers are int64 either way, as long as they fit.
        """
        table = self.with_errors(confidence)
        return table if exact else as_floats(table)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the table with its errors as a stream, which is how Arrow's readers ask for it.

        Numbers of more than 38 digits are floats, since hardly a reader takes longer decimals.
        """
        stream: object = as_floats(self.to_arrow(), _DIGITS).__arrow_c_stream__(requested_schema)
        return stream

    def to_pandas(
        self, confidence: Exact | None = "0.95", *, exact: bool = False
    ) -> "pd.DataFrame":
        """Return the table with its errors as a pandas DataFrame.

        Decimals become the nearest floats, which frames calculate with; with `exact=True` they
        stay Python's decimals.
        """
        _check_installed("pandas", "to_pandas()")
        frame: pd.DataFrame = self.to_arrow(confidence, exact=exact).to_pandas()
        return frame

    def to_polars(
        self, confidence: Exact | None = "0.95", *, exact: bool = False
    ) -> "pl.DataFrame":
        """Return the table with its errors as a Polars DataFrame, in floats unless `exact`."""
        _check_installed("polars", "to_polars()")
        import polars as pl  # noqa: PLC0415 - not everybody has it

        table = self.to_arrow(confidence, exact=exact)
        if as_floats(table, _DIGITS).schema != table.schema:
            raise InputError(
                f"an answer has more than {_DIGITS} digits, which Polars' decimals do not hold; "
                "leave exact out for floats, or take to_arrow()."
            )
        return pl.DataFrame(table)

    def write_parquet(self, path: str | Path, confidence: Exact | None = "0.95") -> None:
        """Write the table with its errors as Parquet."""
        write_parquet(self.with_errors(confidence), path)

    def write_csv(self, path: str | Path, confidence: Exact | None = "0.95") -> None:
        """Write the table with its errors as CSV that is safe to open in a spreadsheet.

        Text that begins like a formula, or with an apostrophe, gets an apostrophe in front of it.
        """
        write_csv(self.with_errors(confidence), path)

    def batches(self, rows: int = 65_536) -> Iterator[pa.RecordBatch]:
        """Yield the table in batches of so many rows."""
        yield from self.table.to_batches(max_chunksize=rows)

    def column(self, name: str) -> Released:
        """Return one answer by its name."""
        for column in self.columns:
            if column.name == name:
                return column
        raise QueryError(
            f"there is no answer {name!r}. There are {listing(each.name for each in self.columns)}."
        )

    def policy_of(self, name: str) -> Policy:
        """Return what one answer costs."""
        for known, policy in self.charges:
            if known == name:
                return policy
        raise QueryError(
            f"there is no charge {name!r}. There are {listing(known for known, _ in self.charges)}."
        )

    def __len__(self) -> int:
        return int(self.keys.num_rows)

    def __repr__(self) -> str:
        names = [*self.keys.column_names, *(column.name for column in self.columns)]
        return f"Answers({number_of(len(self), 'row')}: {listing(names)})"

    def _repr_html_(self) -> str:
        head = self.table.slice(0, 20)
        cells = [[html.escape(str(each)) for each in column.to_pylist()] for column in head]
        rows = "".join(
            f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>"
            for row in zip(*cells, strict=True)
        )
        names = "".join(f"<th>{html.escape(name)}</th>" for name in head.column_names)
        return f"<table><tr>{names}</tr>{rows}</table><p>{number_of(len(self), 'row')}</p>"


def _check_installed(package: str, method: str) -> None:
    try:
        import_module(package)
    except ImportError:
        raise InputError(
            f"{method} needs {package}, which is not installed; type: pip install {package}. "
            "to_arrow(), write_csv(path) and write_parquet(path) need nothing more."
        ) from None

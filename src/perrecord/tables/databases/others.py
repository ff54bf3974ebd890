"""Tables that only Ibis can read: MySQL, Snowflake, BigQuery and the like."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, metadata
from typing import Any

import pyarrow as pa

from perrecord.errors import SourceError, listing
from perrecord.tables.databases.remote import ONE, UNREADABLE, unreadable

_THROUGH_PANDAS = ("mysql", "singlestoredb", "impala")


class IbisTable:
    """A table of a database that we have no reader of our own for."""

    def __init__(self, table: Any, close: Callable[[], None] = lambda: None) -> None:
        self._table, self.close = table, close
        self._backend = table.get_backend()
        self._stored = {name: str(kind) for name, kind in table.schema().items()}
        self.columns = {name: _arriving(kind) for name, kind in table.schema().items()}

    def check(self, names: Iterable[str]) -> None:
        """Refuse types that Arrow lacks, and what Ibis would change on the way."""
        for name in names:
            if self.columns[name] == UNREADABLE:
                raise unreadable(name, self._stored[name], "cast it, such as to text, in a view")
        if self._backend.name == "flink":
            raise SourceError(
                "Ibis reads Flink tables through floats, which change large numbers; save the "
                "table as Parquet and give its path."
            )

    def read(self, names: Sequence[str]) -> pa.RecordBatchReader:
        """Return every row once, made from the database's own integers.

        Some backends of Ibis go through pandas, where a column of integers with a NULL becomes
        floats and 2^62 + 1 becomes 2^62. The method that they override reads the cursor's rows.
        """
        import ibis  # noqa: PLC0415 -- optional, and half a second to import
        from ibis.backends.sql import SQLBackend  # noqa: PLC0415

        chosen = (
            self._table.select(*names) if names else self._table.select(ibis.literal(1).name(ONE))
        )
        with known_warnings():
            if self._backend.name == "duckdb":  # in memory; Ibis 12 cannot stream from DuckDB 2
                return chosen.to_pyarrow().to_reader()
            if self._backend.name in _THROUGH_PANDAS:
                return SQLBackend.to_pyarrow_batches(self._backend, chosen)
            return chosen.to_pyarrow_batches()


def _arriving(kind: Any) -> pa.DataType:
    try:
        found: pa.DataType = kind.to_pyarrow()
    except Exception:  # Ibis raises several kinds
        return UNREADABLE
    return UNREADABLE if pa.types.is_decimal256(found) else found


def ibis_module() -> Any:
    """Return Ibis, or say how to install it."""
    try:
        import ibis  # noqa: PLC0415 -- optional, and half a second to import
    except ImportError:
        raise SourceError(
            "this source needs Ibis, which is not installed; type: pip install 'perrecord[ibis]'."
        ) from None
    return ibis


def driver_advice(scheme: str) -> str:
    """Return what to install for databases of a scheme that only Ibis reads."""
    try:
        extras = metadata("ibis-framework").get_all("Provides-Extra") or []
    except PackageNotFoundError:
        extras = []
    if scheme in extras:
        driver = f"pip install 'ibis-framework[{scheme}]'"
        return f"check its address, and that its driver is installed: {driver}"
    known = ["duckdb", "sqlite", "postgres", *sorted(set(extras) - {"examples", "decompiler"})]
    return f"expected an address that begins with {listing(dict.fromkeys(known), limit=30)}"


@contextmanager
def known_warnings() -> Iterator[None]:
    """Ignore what Ibis 12 is warned of by the newer DuckDB, pandas and PySpark beneath it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "fetch_arrow_table", DeprecationWarning)
        warnings.filterwarnings("ignore", "The 'future.infer_string' option", DeprecationWarning)
        warnings.filterwarnings("ignore", "PySpark does not yet fully", FutureWarning)
        yield

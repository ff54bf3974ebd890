"""Rows of Arrow tables whatever their columns are called: each once, and in order."""

import pyarrow as pa


def different_rows(table: pa.Table) -> pa.Table:
    """Return every row once."""
    plain = numbered(table)
    once = plain.group_by(plain.column_names, use_threads=False).aggregate([])
    return once.rename_columns(table.column_names)


def in_order(table: pa.Table, columns: int | None = None) -> pa.Table:
    """Return the rows, sorted by all columns, or by the first so many."""
    plain = numbered(table)
    ordered = plain.sort_by([(name, "ascending") for name in plain.column_names[:columns]])
    return ordered.rename_columns(table.column_names).combine_chunks()


def numbered(table: pa.Table) -> pa.Table:
    """Return the table with numbers for names: Arrow takes .name and [0] for paths."""
    return table.rename_columns([str(place) for place in range(table.num_columns)])

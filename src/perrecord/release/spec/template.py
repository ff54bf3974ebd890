"""`template`: a spec to start from, written from a source's columns and types alone."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from perrecord.tables.addresses import is_address
from perrecord.tables.files import check_names
from perrecord.tables.kinds import kind_of_column
from perrecord.tables.sources import open_source

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_ ]*(?<! )")
_ID = re.compile(r"(^|_)id$")
_NAME = re.compile(r"(^|_)(id|code|year)$")
_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}


def template(source: str | Path, *, relation: str | None = None, title: str | None = None) -> str:
    """Return a commented spec for a source, which loads as it is: one count of all records.

    It is written from names and types of columns; no value of the data is in it. Save it beside
    the source, or give the source's absolute path. A CSV file whose first line looks
    like a record is refused.
    """
    if relation is None and not is_address(source):
        check_names(source)
    with open_source(source, relation=relation) as engine:
        columns, is_text = dict(engine.columns), engine.is_text
    given = str(source)
    name = title or f"Statistics of {Path(given).stem.strip('*') or 'the records'}"
    identifier = next((column for column in columns if _ID.search(column.lower())), None)
    measures = {} if is_text else _measures(columns)
    dimensions = [
        column
        for column, kind in columns.items()
        if column not in (identifier, *measures) and kind_of_column(kind) is not None
    ]
    blocks = [
        _heading(name, given, relation),
        _roles(identifier, next(iter(columns))),
        _dimensions(dimensions),
        _measured(measures, is_text=is_text, columns=list(columns)),
        _rest(next(iter(measures), "emp"), dimensions),
    ]
    return "\n".join(blocks)


def _measures(columns: Mapping[str, pa.DataType]) -> dict[str, str]:
    """Return the columns of numbers that are no names, with a resolution for each."""
    found: dict[str, str] = {}
    for name, kind in columns.items():
        if pa.types.is_integer(kind) and not _NAME.search(name.lower()):
            found[name] = "1"
        elif pa.types.is_decimal(kind):
            found[name] = "1" if kind.scale <= 0 else f"0.{'0' * (min(kind.scale, 12) - 1)}1"
        elif pa.types.is_floating(kind):
            found[name] = "0.01"
    return found


def scalar(text: str) -> str:
    """Return text as YAML reads it back, in quotes only where it must be.

    >>> scalar("county"), scalar("no"), scalar("a: b")
    ('county', '"no"', '"a: b"')
    """
    is_plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS
    return text if is_plain else json.dumps(text, ensure_ascii=False)


def _path(text: str) -> str:
    return (
        text
        if re.fullmatch(r"[A-Za-z0-9_./-]*[A-Za-z_./-][A-Za-z0-9_./-]*", text)
        else scalar(text)
    )


def _heading(title: str, source: str, relation: str | None) -> str:
    written = _path(source)
    if relation is not None:
        written = (
            f"{{path: {json.dumps(source, ensure_ascii=False)}, relation: {scalar(relation)}}}"
        )
    return f"""\
# A release spec for perrecord. It loads as it is and asks for one count; make it yours.
# Everything in it is public and fixed before the data is read: thresholds, keys and bounds come
# from public knowledge, never from the data itself.
title: {scalar(title)}
source: {written}
table: records            # the table's name in SQL
"""


def _dimensions(names: list[str]) -> str:
    if not names:
        return "# No column can be grouped by as it is; dimensions: {size: ...} derives some.\n"
    lines = [f"  {scalar(name)}:" for name in names]
    return "\n".join(
        [
            "# What records are filtered and grouped by. Remove what is none; derive others:",
            "#   state: substr(county, 1, 2)",
            "dimensions:",
            *lines,
            "",
        ]
    )


def _roles(identifier: str | None, first: str) -> str:
    named = f"# id: {scalar(first)}" if identifier is None else f"id: {scalar(identifier)}"
    return f"""\
{named}      # the column that names a record
# unit: firm    # the column that names whom several records belong to
"""


def _measured(measures: Mapping[str, str], *, is_text: bool, columns: list[str]) -> str:
    if not measures:
        why = "Every column of a CSV file is text" if is_text else "No column is a number"
        return f"""\
# {why}; move the columns to be summed from dimensions to here.
# measures:
#   {scalar(columns[-1])}: 1     # rounded to multiples of 1
"""
    lines = [f"  {scalar(name)}: {resolution}" for name, resolution in measures.items()]
    return "\n".join(
        [
            "# What is summed, with its resolution: every number is rounded to a multiple of it.",
            "measures:",
            *lines,
            "",
        ]
    )


def _rest(measure: str, dimensions: list[str]) -> str:
    summed, column = scalar(measure), scalar(next(iter(dimensions), "county"))
    return f"""\
# How large records are split: the most that one piece may hold. Public, round, not from the data.
# splits:
#   moderate: {{{summed}: 50}}

# Which cells are published: a public list of keys.
# keys:
#   listed: {{values: {{{column}: ["...", "..."]}}}}
#   from_file: {{file: keys.csv, columns: [{column}]}}

# The most that any record may lose over all releases; large records lose pieces^2 times as much
# where splits are named.
budget:
  rho: 1
  # splits: [moderate]
# ledger: release.ledger

queries:
  - name: all_records
    title: Number of records
    answers:
      records: {{count: records, rho: 0.1}}
  # - name: by_key
  #   group_by: [{column}]
  #   keys: listed
  #   answers:
  #     records: {{count: records, rho: 0.1}}
  #     total: {{sum: {summed}, split: moderate, rho: 0.2}}

outputs: {{csv: true, confidence: 0.95}}
"""

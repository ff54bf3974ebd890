"""`template`: a spec to start from, written from a source's columns and types alone."""

import json
import re
import textwrap
from collections.abc import Sequence
from pathlib import Path

from perrecord.release.spec.proposals import Proposal, proposed
from perrecord.tables.addresses import is_address
from perrecord.tables.files import check_names
from perrecord.tables.reading import File
from perrecord.tables.sources import open_source

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_ ]*(?<! )")
_WIDTH, _MOST_LISTED = 96, 60
_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}


def template(
    source: str | Path | File, *, relation: str | None = None, title: str | None = None
) -> str:
    """Return a commented spec for a source, which loads as it is: one count of all records.

    It is written from names and types of columns; no value of the data is in it. Columns whose
    names say what they are become dimensions and measures, and the others are listed. Save it
    beside the source, or give the source's absolute path. A CSV file whose first line looks like a
    record is refused.
    """
    if relation is None and not is_address(source):
        check_names(source if isinstance(source, File) else File(source))
    with open_source(source, relation=relation) as engine:
        columns, is_text = dict(engine.columns), engine.is_text
    given = str(source.path if isinstance(source, File) else source)
    named = relation or Path(given).stem.strip("*") or "the records"
    found = proposed(columns, is_text=is_text)
    blocks = [
        _heading(title or f"Statistics of {named}", given, relation, source),
        _left_out(found),
        _roles(found.identifier, next(iter(columns))),
        _dimensions(found.dimensions),
        _measured(found.measures),
        _rest(next((name for name, _ in found.measures), "emp"), found.dimensions),
    ]
    return "\n".join(blocks)


def scalar(text: str) -> str:
    """Return text as YAML reads it back, in quotes only where it must be.

    >>> scalar("county"), scalar("no"), scalar("a: b")
    ('county', '"no"', '"a: b"')
    """
    is_plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS
    return text if is_plain else json.dumps(text, ensure_ascii=False)


def _alike(names: Sequence[str]) -> list[str]:
    """Return names as YAML reads them back: all of them in quotes if one must be.

    >>> _alike(["county", "sector"]), _alike(["county", "no"])
    (['county', 'sector'], ['"county"', '"no"'])
    """
    plain = [scalar(name) for name in names]
    return plain if plain == list(names) else [_quoted(name) for name in names]


def _path(text: str) -> str:
    return (
        text
        if re.fullmatch(r"[A-Za-z0-9_./-]*[A-Za-z_./-][A-Za-z0-9_./-]*", text)
        else scalar(text)
    )


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _heading(title: str, source: str, relation: str | None, given: str | Path | File) -> str:
    written = _path(source)
    if isinstance(given, File) and given.given:
        said = [f"{name}: {_quoted(getattr(given, name))}" for name in given.given]
        written = f"{{path: {_quoted(source)}, {', '.join(said)}}}"
    if relation is not None:
        written = (
            f"{{path: {_quoted(source)}, relation: {scalar(relation)}}}"
            "\n# A database has no bytes to tell one state of the data from another by: before a "
            'release,\n# add snapshot: "2026-11-01" to the source, and another name when the data '
            "changes."
        )
    return f"""\
# A release spec for perrecord. It loads as it is and asks for one count; make it yours.
# Everything in it is public and fixed before the data is read: thresholds, keys and bounds come
# from public knowledge, never from the data itself.
title: {scalar(title)}
source: {written}
table: records            # the table's name in SQL
"""


def _left_out(found: Proposal) -> str:
    if not found.left_out:
        return "# Every column is proposed for something below; check each.\n"
    shown = [f"{_quoted(name)} ({kind})" for name, kind in found.left_out[:_MOST_LISTED]]
    if len(found.left_out) > _MOST_LISTED:
        shown.append(f"and {len(found.left_out) - _MOST_LISTED} more")
    text = (
        "What follows is proposed from names and types alone; check it. Left out, because their "
        f"names say too little: {', '.join(shown)}."
    )
    lines = textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
    return "".join(f"# {line}\n" for line in lines)


def _dimensions(names: Sequence[str]) -> str:
    if not names:
        return """\
# What records are filtered and grouped by, as columns or derived:
# dimensions:
#   county:
#   state: substr(county, 1, 2)
"""
    lines = [f"  {name}:" for name in _alike(names)]
    return "\n".join(
        [
            "# What records are filtered and grouped by. Remove those that are not; derive others:",
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
# unit: firm    # the column that names the firm a record belongs to
"""


def _measured(measures: Sequence[tuple[str, str]]) -> str:
    if not measures:
        return """\
# What is summed, with its resolution: every number is rounded to a multiple of it.
# measures:
#   emp: 1
"""
    names = _alike([name for name, _ in measures])
    lines = [f"  {name}: {each}" for name, (_, each) in zip(names, measures, strict=True)]
    return "\n".join(
        [
            "# What is summed, with its resolution: every number is rounded to a multiple of it.",
            "measures:",
            *lines,
            "",
        ]
    )


def _rest(measure: str, dimensions: Sequence[str]) -> str:
    summed, column = scalar(measure), scalar(next(iter(dimensions), "county"))
    return f"""\
# How much noise totals get: the size of a record that loses what an answer costs; larger ones lose
# more, but slowly. Public, round, not from the data.
# tapers:
#   moderate: {{{summed}: 50}}

# Which cells are published: a public list of keys.
# keys:
#   listed: {{values: {{{column}: ["...", "..."]}}}}
#   from_file: {{file: keys.csv, columns: [{column}]}}

# The most that any record may lose over all releases: rho, and tapered answers as often as listed.
budget:
  rho: 1
  # tapers: [{{measure: {summed}, at: 50, rho: 0.2, times: 5}}]
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
  #     total: {{sum: {summed}, taper: moderate, rho: 0.2}}

outputs: {{csv: true, confidence: 0.95}}
"""

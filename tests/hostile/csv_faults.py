"""CSV files with ragged rows, open quotes, odd bytes, no header, huge fields, late surprises."""

import gzip
from collections.abc import Callable
from random import Random

from tests.hostile import bases
from tests.hostile.canaries import Canaries
from tests.hostile.cases import Builder, Case
from tests.hostile.parquet_faults import data_case

LATE = 30_000  # rows before the surprise; DuckDB would look at 20,480 to guess types


def _line(text: str, number: int, change: Callable[[str], str]) -> str:
    lines = text.splitlines()
    lines[number] = change(lines[number])
    return "\n".join(lines) + "\n"


def _late(text: str, line: str) -> str:
    """Return the text with a surprise far down; the rows above repeat the first."""
    header, first, *rest = text.splitlines()
    return "\n".join([header, *[first] * LATE, line.format(first=first), *rest]) + "\n"


def _column(text: str, name: str, change: Callable[[str], str]) -> str:
    header, *rows = [line.split(",") for line in text.splitlines()]
    place = header.index(name)
    for row in rows:
        row[place] = change(row[place])
    return "\n".join(",".join(row) for row in [header, *rows]) + "\n"


def _thousands(cell: str) -> str:
    whole, point, cents = cell.partition(".")
    return f'"{int(whole):,}{point}{cents}"'


def _without_header(text: str) -> str:
    return text.partition("\n")[2]


def _text_only(text: str) -> str:
    """Return a file without a header whose first line is text alone, as names would be."""
    rows = [line.split(",")[1:4] for line in text.splitlines()[1:]]
    return "\n".join(",".join([firm, f"x{county}", f"y{kind}"]) for firm, county, kind in rows)


FAULTS: dict[str, Callable[[str], str | bytes]] = {
    "a row too long": lambda text: _line(text, 5, lambda row: f"{row},{row}"),
    "a row too short": lambda text: _line(text, 5, lambda row: row.rpartition(",")[0]),
    "the first row too short": lambda text: _line(text, 1, lambda row: row.rpartition(",")[0]),
    "the last row too short": lambda text: _line(text, -1, lambda row: row.rpartition(",")[0]),
    "a row too long, far down": lambda text: _late(text, "{first},{first}"),
    "a row too short, far down": lambda text: _late(text, "1,2"),
    "an open quote": lambda text: _line(text, 4, lambda row: f'"{row}'),
    "an open quote, far down": lambda text: _late(text, '"{first}'),
    "a quote inside": lambda text: _line(text, 4, lambda row: row.replace(",", ',x"y', 1)),
    "text after a quote": lambda text: _line(text, 4, lambda row: '"a"b' + row),
    "text for a number": lambda text: _column(text, "emp", lambda cell: f"n{cell}"),
    "text for a number, far down": lambda text: _late(text, "{first}").replace("\n", "\n", 1),
    "thousands separators": lambda text: _column(text, "emp", _thousands),
    "decimal commas": lambda text: _column(
        text, "rent", lambda cell: f'"{cell.replace(".", ",")}"'
    ),
    "currency": lambda text: _column(text, "rent", lambda cell: f"${cell}"),
    "spaces": lambda text: _column(text, "emp", lambda cell: f" {cell} "),
    "empty cells": lambda text: _column(text, "emp", lambda _: ""),
    "NaN": lambda text: _column(text, "emp", lambda _: "NaN"),
    "numbers of 400 digits": lambda text: _column(text, "emp", lambda cell: cell * 27),
    "exponents": lambda text: _column(text, "emp", lambda cell: f"{cell}e999999999"),
    "hexadecimals": lambda text: _column(text, "emp", lambda cell: f"0x{cell}"),
    "NUL in a cell": lambda text: _line(text, 3, lambda row: row.replace(",", ",\0", 1)),
    "NUL at the end": lambda text: text + "\0" * 100,
    "escapes in a cell": lambda text: _line(text, 3, lambda row: row.replace(",", ",\x1b[31m", 1)),
    "a cell of 10 MB": lambda text: _line(
        text, 3, lambda row: row.replace(",", "," + "z" * 10**7, 1)
    ),
    "a cell of 17 MB": lambda text: _line(
        text, 3, lambda row: row.replace(",", "," + "z" * 17 * 10**6, 1)
    ),
    "no UTF-8 in a cell": lambda text: text.encode().replace(b",37001,", b",37\xff01,", 1),
    "no UTF-8 in the header": lambda text: text.encode().replace(b"county", b"count\xff", 1),
    "Latin-1": lambda text: text.replace("37001", "37é01").encode("latin-1"),
    "UTF-16": lambda text: text.encode("utf-16"),
    "UTF-16 without its mark": lambda text: text.encode("utf-16-le"),
    "a mark of UTF-8": lambda text: text.encode("utf-8-sig"),
    "line ends of Windows": lambda text: text.replace("\n", "\r\n"),
    "line ends of old": lambda text: text.replace("\n", "\r"),
    "line ends mixed": lambda text: text.replace("\n", "\r\n", 5),
    "semicolons": lambda text: text.replace(",", ";"),
    "tabs": lambda text: text.replace(",", "\t"),
    "pipes": lambda text: text.replace(",", "|"),
    "single quotes": lambda text: _column(text, "county", lambda cell: f"'{cell},{cell}'"),
    "a header alone": lambda text: text.partition("\n")[0] + "\n",
    "a header without its end": lambda text: text.partition("\n")[0],
    "no header": _without_header,
    "no header, and text alone": _text_only,
    "a header twice": lambda text: text.partition("\n")[0] + "\n" + text,
    "a header below": lambda text: _without_header(text) + text.partition("\n")[0] + "\n",
    "a blank line first": lambda text: "\n" + text,
    "a blank line between": lambda text: text.replace("\n", "\n\n", 4),
    "a comment first": lambda text: "# exported\n" + text,
    "a name twice": lambda text: text.replace("payann", "emp", 1),
    "a name twice but for case": lambda text: text.replace("payann", "EMP", 1),
    "a name that is empty": lambda text: text.replace("payann", "", 1),
    "a name that is reserved": lambda text: text.replace("payann", "_perrecord_x", 1),
    "a name with escapes": lambda text: text.replace("firm", "\x1b[31mfirm", 1),
    "a name of 200 kB": lambda text: text.replace("firm", "f" * 200_000, 1),
    "an open quote in the header": lambda text: text.replace("firm", '"firm', 1),
    "no bytes": lambda _: "",
    "blanks": lambda _: "   \n  \n",
    "commas": lambda _: ",,,,,,\n" * 5,
    "NUL bytes": lambda _: "\0" * 500,
    "JSON": lambda text: '[{"id": "' + text.splitlines()[1] + '"}]',
    "Parquet": lambda text: b"PAR1" + text.encode() + b"PAR1",
    "gzip": lambda text: gzip.compress(text.encode()),
    "names in another case": lambda text: text.replace("emp", "Emp", 1),
    "3,000 columns": lambda text: "\n".join(
        line + "".join(f",c{n}" if not row else ",1" for n in range(3_000))
        for row, line in enumerate(text.splitlines())
    ),
}
"""Faults of a CSV file, by name."""

UNREADABLE = frozenset(
    [
        *("a row too long", "a row too short", "the first row too short", "the last row too short"),
        *("a row too long, far down", "a row too short, far down", "no bytes"),
        *("no UTF-8 in a cell", "no UTF-8 in the header", "UTF-16 without its mark", "no header"),
        *("no header, and text alone", "blanks", "commas", "NUL bytes", "gzip"),
    ]
)
"""Those that no reader can take for a whole table with the columns that every spec needs.

A cell that is no number is not among them: it counts as none, because to refuse it would tell.
"""


def faulty(random: Random, turn: int) -> Case:
    """Give a CSV file a fault: every one in turn."""
    canaries = Canaries(random)
    name = list(FAULTS)[turn % len(FAULTS)]
    content = FAULTS[name](bases.csv_text(bases.columns(canaries)))
    content = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    base = random.choice(["simple", "pure", "sql", "everything"])
    is_certain = name in UNREADABLE
    return data_case("bad CSV", name, base, content, canaries, "est.csv", must_refuse=is_certain)


def flipped(random: Random, turn: int) -> Case:
    """Flip bytes of a CSV file, cut it, or do both to its compressed form."""
    canaries = Canaries(random)
    content = bytearray(bases.csv_text(bases.columns(canaries)).encode())
    name = ("est.csv", "est.csv.gz", "est.csv")[turn % 3]
    if name.endswith(".gz"):
        content = bytearray(gzip.compress(bytes(content)))
    for _ in range(random.choice([1, 2, 10])):
        content[random.randrange(len(content))] = random.choice([0, 10, 13, 34, 44, 255, 128, 92])
    if turn % 2:
        del content[random.randrange(len(content)) :]
    base = random.choice(["simple", "pure"])
    return data_case("CSV flipped or cut", name, base, bytes(content), canaries, name)


BUILDERS: dict[Builder, float] = {faulty: 10, flipped: 8}
"""Each kind with its share of the cases."""

"""Parquet files that are cut, flipped, of other types, of odd columns, or no Parquet."""

import io
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa

from tests.hostile import bases
from tests.hostile.canaries import Canaries
from tests.hostile.cases import SPEC, Builder, Case

SOURCE = "est.parquet"


def data_case(
    kind: str,
    what: str,
    base: str,
    source: bytes,
    canaries: Canaries,
    name: str = SOURCE,
    *,
    must_refuse: bool = False,
) -> Case:
    """Return a case whose fault is in the source; the spec is good."""
    files = {
        **bases.public_files(),
        name: source,
        SPEC: bases.spec_text(base, name).encode(),
    }
    return Case(
        kind, what, base, files, (name,), canaries, source_is_bad=True, must_refuse=must_refuse
    )


def _options(random: Random) -> dict[str, Any]:
    """Return a way to write Parquet; without compression the canaries stand in plain sight."""
    return {
        "compression": random.choice(["none", "none", "snappy", "zstd", "gzip", "brotli", "lz4"]),
        "use_dictionary": random.random() < 0.5,
        "data_page_version": random.choice(["1.0", "2.0"]),
        "row_group_size": random.choice([None, 1, 5]),
        "write_statistics": random.random() < 0.5,
    }


def _whole(random: Random) -> tuple[bytes, Canaries]:
    canaries = Canaries(random)
    return bases.parquet(bases.table(canaries), **_options(random)), canaries


def _base(random: Random) -> str:
    return random.choice(["simple", "simple", "pure", "sql", "everything"])


def cut(random: Random, turn: int) -> Case:
    """Cut a file short, or cut a piece out of it."""
    whole, canaries = _whole(random)
    place = random.randrange(len(whole))
    after = random.randrange(place, len(whole))
    is_short = turn % 2 == 1  # without its end it has no footer
    content = whole[:place] if is_short else whole[:place] + whole[after:]
    what = f"at {place}"
    return data_case("Parquet cut", what, _base(random), content, canaries, must_refuse=is_short)


def flipped(random: Random, turn: int) -> Case:
    """Flip bytes of the footer, of the pages, or of both."""
    whole, canaries = _whole(random)
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    content = bytearray(whole)
    first, last = [(footer, len(whole)), (4, footer), (0, len(whole))][turn % 3]
    for _ in range(random.choice([1, 1, 2, 8, 100])):
        content[random.randrange(first, last)] = random.randrange(256)
    where = ("the footer", "the pages", "anywhere")[turn % 3]
    return data_case("Parquet flipped", where, _base(random), bytes(content), canaries)


def _numbers(canaries: Canaries) -> list[int]:
    return [canaries.number() for _ in range(bases.ROWS)]


def _texts(canaries: Canaries) -> list[str]:
    return [canaries.text() for _ in range(bases.ROWS)]


def _durations(canaries: Canaries) -> pa.Array:
    """Return durations; printed, one shows minutes, seconds and their fraction."""
    numbers = _numbers(canaries)
    for each in numbers:
        canaries.phrase(f"{timedelta(microseconds=each)}"[-12:])
    return pa.array(numbers, pa.duration("us"))


def _small_floats(canaries: Canaries) -> pa.Array:
    """Return floats of 32 bits, which hold other numbers than they were given."""
    column = pa.array([float(each) for each in _numbers(canaries)], pa.float32())
    for each in column.to_pylist():
        canaries.holds(int(each))
        for digits in (7, 8):  # as DuckDB prints it
            canaries.holds(int(float(f"{each:.{digits}g}")))
    return column


def _unsigned(canaries: Canaries) -> pa.Array:
    return pa.array([canaries.holds(2**64 - each) for each in _numbers(canaries)], pa.uint64())


def _decimals(canaries: Canaries, kind: pa.DataType) -> pa.Array:
    """Return decimals; Parquet holds them as whole numbers of their last place."""
    numbers = _numbers(canaries)
    for each in numbers:
        canaries.phrase((each * 10**kind.scale).to_bytes(14, "big").lstrip(b"\0"))
    return pa.array([Decimal(each) for each in numbers], kind)


_DAY = date(2020, 1, 1)
TYPES: dict[str, Callable[[Canaries], pa.Array]] = {
    "text": lambda c: pa.array(_texts(c)),
    "digits as text": lambda c: pa.array([str(each) for each in _numbers(c)]),
    "large text": lambda c: pa.array(_texts(c), pa.large_string()),
    "binary": lambda c: pa.array([each.encode() for each in _texts(c)], pa.binary()),
    "fixed binary": lambda c: pa.array([each.encode() for each in _texts(c)], pa.binary(14)),
    "dictionary": lambda c: pa.array(_texts(c)).dictionary_encode(),
    "dictionary of numbers": lambda c: pa.array(_numbers(c)).dictionary_encode(),
    "truth values": lambda _: pa.array([n % 2 == 0 for n in range(bases.ROWS)]),
    "dates": lambda _: pa.array([_DAY + timedelta(n) for n in range(bases.ROWS)]),
    "times": lambda _: pa.array([time(n) for n in range(bases.ROWS)]),
    "moments": lambda _: pa.array(
        [datetime(2020, 1, 1 + n, tzinfo=UTC) for n in range(bases.ROWS)]
    ),
    "durations": _durations,
    "floats": lambda c: pa.array([float(each) for each in _numbers(c)]),
    "NaN and infinities": lambda c: pa.array(
        [
            [float("nan"), float("inf"), float("-inf"), float(c.number())][n % 4]
            for n in range(bases.ROWS)
        ]
    ),
    "small floats": _small_floats,
    "half floats": lambda _: pa.array([float(n) for n in range(bases.ROWS)], pa.float16()),
    "bytes": lambda _: pa.array(range(bases.ROWS), pa.uint8()),
    "unsigned": _unsigned,
    "negative": lambda c: pa.array([c.holds(-each) for each in _numbers(c)]),
    "decimal(38, 18)": lambda c: _decimals(c, pa.decimal128(38, 18)),
    "decimal(76, 2)": lambda c: _decimals(c, pa.decimal256(76, 2)),
    "lists": lambda c: pa.array([[each] for each in _numbers(c)]),
    "lists of text": lambda c: pa.array([[each] for each in _texts(c)]),
    "structs": lambda c: pa.array([{"a": each} for each in _numbers(c)]),
    "maps": lambda c: pa.array([[(key, 1)] for key in _texts(c)], pa.map_(pa.string(), pa.int64())),
    "nested": lambda c: pa.array([[{"a": [each]}] for each in _texts(c)]),
    "nothing": lambda _: pa.nulls(bases.ROWS),
    "NULL of a number": lambda _: pa.nulls(bases.ROWS, pa.int64()),
}
"""Columns of the wrong type, full of canaries where they can hold one."""

COLUMNS = ("id", "firm", "county", "kind", "emp", "rent", "payann")


def retyped(random: Random, turn: int) -> Case:
    """Give a column another type: every column and every type in turn."""
    canaries = Canaries(random)
    name = COLUMNS[turn % len(COLUMNS)]
    kinds = list(TYPES)
    kind = kinds[turn // len(COLUMNS) % len(kinds)]
    data = bases.table(canaries)
    column = TYPES[kind](canaries)
    data = data.set_column(data.column_names.index(name), name, column)
    base = "everything" if name in ("firm", "payann") else _base(random)
    content = bases.parquet(data)
    return data_case("a column's type", f"{name} is {kind}", base, content, canaries)


def _written(data: pa.Table) -> bytes:
    return bases.parquet(data)


def _case_only(data: pa.Table) -> bytes:
    return _written(data.append_column("EMP", data["emp"]))


def _twice(data: pa.Table) -> bytes:
    return _written(pa.table([*data.columns, data["emp"]], names=[*data.column_names, "emp"]))


def _named(name: str) -> Callable[[pa.Table], bytes]:
    return lambda data: _written(data.append_column(name, data["firm"]))


def _renamed(old: str, new: str) -> Callable[[pa.Table], bytes]:
    return lambda data: _written(
        data.rename_columns([new if each == old else each for each in data.column_names])
    )


def _no_columns(data: pa.Table) -> bytes:
    return _written(data.select([]))


def _encrypted(data: pa.Table) -> bytes:
    """Return a file with the magic number of an encrypted footer."""
    content = _written(data)
    return b"PARE" + content[4:-4] + b"PARE"


def _feather(data: pa.Table) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, data.schema) as writer:
        writer.write_table(data)
    return sink.getvalue()


def _many_columns(data: pa.Table) -> bytes:
    extra = pa.table({f"c{n}": data["emp"] for n in range(3_000)})
    return _written(
        pa.table([*data.columns, *extra.columns], names=[*data.column_names, *extra.column_names])
    )


def _metadata(data: pa.Table) -> bytes:
    return _written(data.replace_schema_metadata({b"k" * 1000: b"v" * 1_000_000}))


def _more_rows(data: pa.Table) -> bytes:
    """Return a file whose footer is that of a longer one."""
    short, long = _written(data), _written(pa.concat_tables([data] * 5))
    size = int.from_bytes(long[-8:-4], "little")
    return short[: len(short) - 8 - int.from_bytes(short[-8:-4], "little")] + long[-8 - size :]


SHAPES: dict[str, Callable[[pa.Table], bytes]] = {
    "no bytes": lambda _: b"",
    "a magic number alone": lambda _: b"PAR1",
    "two magic numbers": lambda _: b"PAR1PAR1",
    "a footer of 4 GB": lambda data: _written(data)[:-8] + b"\xff\xff\xff\xff" + b"PAR1",
    "a footer of no length": lambda data: _written(data)[:-8] + b"\0\0\0\0" + b"PAR1",
    "another magic number": lambda data: b"PAR2" + _written(data)[4:-4] + b"PAR2",
    "an encrypted footer": _encrypted,
    "CSV inside": lambda data: bases.csv_text(data.to_pydict()).encode(),
    "Arrow inside": _feather,
    "no rows": lambda data: _written(data.slice(0, 0)),
    "one row": lambda data: _written(data.slice(2, 1)),
    "no columns": _no_columns,
    "a column twice": _twice,
    "a column twice but for case": _case_only,
    "a column without a name": _named(""),
    "a reserved name": _named("_perrecord_source"),
    "a name with escapes": _named("\x1b[31mred\x07"),
    "a name with quotes": _named("a\"b'c`d"),
    "a name that reads right to left": _named("\u202eabc"),
    "a name of 100 kB": _named("n" * 100_000),
    "a name with NUL": _named("a\0b"),
    "a name with a line end": _named("a\nb"),
    "a hostile name for a measure": _renamed("emp", "\x1b[31memp"),
    "a long name for a measure": _renamed("emp", "e" * 50_000),
    "a measure lost": lambda data: _written(data.drop_columns(["emp"])),
    "an id lost": lambda data: _written(data.drop_columns(["id"])),
    "a dimension lost": lambda data: _written(data.drop_columns(["county"])),
    "3,000 columns": _many_columns,
    "a megabyte of metadata": _metadata,
    "names in another case": lambda data: _written(
        data.rename_columns([each.upper() for each in data.column_names])
    ),
    "garbage after it": lambda data: _written(data) + b"garbage" * 100,
    "garbage before it": lambda data: b"garbage" * 100 + _written(data),
    "twice over": lambda data: _written(data) * 2,
    "rows that it does not have": _more_rows,
}
"""Files of odd columns, or no Parquet at all."""

UNREADABLE = frozenset(
    [
        *("no bytes", "a magic number alone", "two magic numbers", "a footer of 4 GB"),
        *("a footer of no length", "another magic number", "an encrypted footer", "CSV inside"),
        *("Arrow inside", "no columns", "a hostile name for a measure", "a measure lost"),
        *("a long name for a measure", "an id lost", "a dimension lost"),
    ]
)
"""Those that are no Parquet, or lack a column that every spec needs."""


def odd(random: Random, turn: int) -> Case:
    """Give a file an odd shape: every one in turn."""
    canaries = Canaries(random)
    name = list(SHAPES)[turn % len(SHAPES)]
    content = SHAPES[name](bases.table(canaries))
    is_certain = name in UNREADABLE
    return data_case("odd Parquet", name, _base(random), content, canaries, must_refuse=is_certain)


BUILDERS: dict[Builder, float] = {cut: 8, flipped: 14, retyped: 12, odd: 4}
"""Each kind with its share of the cases."""

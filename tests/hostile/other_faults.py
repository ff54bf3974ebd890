"""Bad databases, files of keys and lookups, globs, and files that change or vanish on the way."""

import sqlite3
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random

import duckdb
import pyarrow as pa

from tests.hostile import bases, csv_faults
from tests.hostile.canaries import Canaries
from tests.hostile.cases import SPEC, Builder, Case
from tests.hostile.parquet_faults import data_case


def _flip(content: bytes, random: Random) -> bytes:
    changed = bytearray(content)
    for _ in range(random.choice([1, 5, 100, 1000])):
        changed[random.randrange(len(changed))] = random.randrange(256)
    return bytes(changed)


# -- files of keys and lookups -----------------------------------------------------------------

_KEYS = "county,name\n37001,Alamance\n37003,Alexander\n48001,Anderson\n"
_ODD_TABLES: dict[str, Callable[[], bytes]] = {
    "lists as keys": lambda: bases.parquet(
        pa.table({"county": [["37001"]], "region": ["x"], "fips": ["1"]})
    ),
    "floats as keys": lambda: bases.parquet(
        pa.table({"county": [1.5], "region": [2.5], "fips": [0.5]})
    ),
    "dates as keys": lambda: bases.parquet(
        pa.table(
            {
                "county": pa.array([1], pa.date32()),
                "region": ["x"],
                "fips": pa.array([1], pa.date32()),
            }
        )
    ),
    "big numbers as keys": lambda: bases.parquet(
        pa.table(
            {
                "county": pa.array([2**64 - 1], pa.uint64()),
                "region": ["x"],
                "fips": pa.array([2**64 - 1], pa.uint64()),
            }
        )
    ),
    "bytes as keys": lambda: bases.parquet(
        pa.table({"county": [b"\xff\xfe"], "region": ["x"], "fips": [b"\xff"]})
    ),
    "missing keys": lambda: bases.parquet(
        pa.table({"county": pa.nulls(3), "region": pa.nulls(3), "fips": pa.nulls(3)})
    ),
    "no columns": lambda: bases.parquet(pa.table({})),
    "a column twice": lambda: bases.parquet(
        pa.table([pa.array(["37001"])] * 4, names=["county", "county", "fips", "fips"])
    ),
    "no Parquet": lambda: b"PAR1 none",
    "no bytes": lambda: b"",
}


def public_file(random: Random, turn: int) -> Case:
    """Give a file of keys, or of a lookup, a fault of CSV or Parquet."""
    canaries = Canaries(random)
    name = ("counties.csv", "regions.csv")[turn % 2]
    good = (
        bases.public_files()[name]
        .decode()
        .replace("\n", ",0,0,0,0\n")
        .replace(",0,0,0,0", ",id,firm,kind,emp,rent,payann", 1)
        .replace(",0,0,0,0\n", ",0,0,0,0,0,0\n")
    )
    names = [*csv_faults.FAULTS, *_ODD_TABLES]
    fault = names[turn // 2 % len(names)]
    base = "everything" if name == "regions.csv" or turn % 3 else "pure"
    case = data_case(
        "a bad public file",
        f"{name}: {fault}",
        base,
        bases.source_bytes(canaries, "est.parquet"),
        canaries,
    )
    files = dict(case.files)
    if fault in _ODD_TABLES:
        files[name.replace(".csv", ".parquet")] = _ODD_TABLES[fault]()
        files[SPEC] = files[SPEC].replace(name.encode(), name.replace(".csv", ".parquet").encode())
    else:
        try:
            bad = csv_faults.FAULTS[fault](good)
        except (ValueError, IndexError):  # the fault is of a column that this file has not
            bad = _flip(good.encode(), random)
        files[name] = bad.encode() if isinstance(bad, str) else bad
    return replace(case, files=files)


# -- databases ---------------------------------------------------------------------------------


def _duckdb_bytes(canaries: Canaries) -> bytes:
    rows = bases.table(canaries)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "est.ddb"
        connection = duckdb.connect(str(path))
        connection.register("rows", rows)
        connection.execute("CREATE TABLE est AS FROM rows")
        connection.close()
        return path.read_bytes()


def _sqlite_bytes(canaries: Canaries) -> bytes:
    found = bases.columns(canaries)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "est.db"
        connection = sqlite3.connect(path)
        connection.execute(
            "CREATE TABLE est (id INTEGER, firm TEXT, county TEXT, kind TEXT, emp INTEGER, "
            "payann INTEGER, rent REAL)"
        )
        connection.executemany(
            "INSERT INTO est VALUES (?, ?, ?, ?, ?, ?, ?)", list(zip(*found.values(), strict=True))
        )
        connection.commit()
        connection.close()
        return path.read_bytes()


def _confused(canaries: Canaries) -> bytes:
    """Return a SQLite file with text in a column of integers, which SQLite allows."""
    content = _sqlite_bytes(canaries)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "est.db"
        path.write_bytes(content)
        connection = sqlite3.connect(path)
        connection.execute("UPDATE est SET emp = ? WHERE rowid = 3", (canaries.text(),))
        connection.execute("UPDATE est SET firm = ? WHERE rowid = 4", (canaries.text().encode(),))
        connection.commit()
        connection.close()
        return path.read_bytes()


DATABASES: dict[str, tuple[str, str, Callable[[Canaries, Random], bytes]]] = {
    "DuckDB, whole": ("est.ddb", "est", lambda c, _: _duckdb_bytes(c)),
    "DuckDB, flipped": ("est.ddb", "est", lambda c, r: _flip(_duckdb_bytes(c), r)),
    "DuckDB, cut": ("est.ddb", "est", lambda c, r: _duckdb_bytes(c)[: r.randrange(20_000)]),
    "DuckDB, another table": ("est.ddb", "none", lambda c, _: _duckdb_bytes(c)),
    "DuckDB, a hostile table": (
        "est.ddb",
        '"; DROP TABLE est; --\x1b[31m',
        lambda c, _: _duckdb_bytes(c),
    ),
    "DuckDB, no database": ("est.ddb", "est", lambda c, _: bases.source_bytes(c, "est.csv")),
    "DuckDB, no bytes": ("est.ddb", "est", lambda _c, _r: b""),
    "SQLite, whole": ("est.db", "est", lambda c, _: _sqlite_bytes(c)),
    "SQLite, flipped": ("est.db", "est", lambda c, r: _flip(_sqlite_bytes(c), r)),
    "SQLite, cut": ("est.db", "est", lambda c, r: _sqlite_bytes(c)[: r.randrange(8_000)]),
    "SQLite, types confused": ("est.db", "est", lambda c, _: _confused(c)),
    "SQLite, another table": ("est.db", "none", lambda c, _: _sqlite_bytes(c)),
    "SQLite, no database": ("est.db", "est", lambda c, _: bases.source_bytes(c, "est.csv")),
}
"""Databases by what is wrong with them: the file, the relation, its bytes."""


def database(random: Random, turn: int) -> Case:
    """Take a bad database as the source: every one in turn."""
    canaries = Canaries(random)
    what = list(DATABASES)[turn % len(DATABASES)]
    name, relation, content = DATABASES[what]
    scheme = "duckdb" if name.endswith(".ddb") else "sqlite"
    case = data_case("a bad database", what, "simple", content(canaries, random), canaries, name)
    source = f"{{path: '{scheme}://{name}', relation: {relation!r}, snapshot: first}}"
    if "\x1b" in relation:
        escaped = relation.replace('"', '\\"').replace("\x1b", "\\e")
        source = f'{{path: "{scheme}://{name}", relation: "{escaped}", snapshot: first}}'
    spec = case.files[SPEC].decode().replace(f"source: {name}", f"source: {source}")
    # SQLite reads the last page of a file that was cut within it, with zeros in place of the rest
    is_open = ("whole", "flipped", "confused", "SQLite, cut")
    is_certain = not any(each in what for each in is_open)
    return replace(case, files={**case.files, SPEC: spec.encode()}, must_refuse=is_certain)


ADDRESSES = (
    "postgres://curator:{}@127.0.0.1:1/est",
    "postgresql://curator:{}@127.0.0.1:notaport/est",
    "postgres://curator:{}@[::1/est",
    "postgres://curator@127.0.0.1:1/est?password={}&unknown_setting=1",
    "postgres:///est?host=/nowhere&password={}",
    "postgres://127.0.0.1:1/est?service={}",
    "postgres://%zz:{}@127.0.0.1:1/est",
    "postgres://curator:{}@127.0.0.1:1/est?options=-c%20search_path%3D{}",
    "mysql://curator:{}@127.0.0.1:1/est",
    "nothing://curator:{}@127.0.0.1/est",
    "sqlite://{}/none.db",
    "duckdb:///{}/none.ddb?{}",
)
"""Addresses of databases that cannot be read, with a place for what only the curator knows."""


def address(random: Random, turn: int) -> Case:
    """Take the address of a database that cannot be reached as the source: every one in turn.

    A password in it is a canary, but not the path of a file, which messages name.
    """
    canaries = Canaries(random)
    written = ADDRESSES[turn % len(ADDRESSES)]
    is_path = written.startswith(("sqlite", "duckdb"))
    secret = "no_such_folder" if is_path else canaries.text()
    place = f"{{path: {written.replace('{}', secret)!r}, relation: est, snapshot: first}}"
    name = "est.parquet"
    case = data_case(
        "a bad address", written, "simple", bases.source_bytes(canaries, name), canaries, name
    )
    spec = case.files[SPEC].decode().replace(f"source: {name}", f"source: {place}")
    files = {**case.files, SPEC: spec.encode()}
    return replace(case, files=files, data=(name, SPEC), must_refuse=True)


# -- several files, and files that change ------------------------------------------------------


def _several(canaries: Canaries) -> Mapping[str, Mapping[str, bytes]]:
    good = bases.parquet(bases.table(canaries))
    other = bases.table(canaries)
    texts = bases.csv_text(bases.columns(canaries))
    retyped = other.set_column(4, "emp", pa.array([canaries.text() for _ in range(bases.ROWS)]))
    return {
        "*.parquet of other types": {"a.parquet": good, "b.parquet": bases.parquet(retyped)},
        "*.parquet of other columns": {
            "a.parquet": good,
            "b.parquet": bases.parquet(other.drop_columns(["rent"])),
        },
        "*.parquet, one cut": {"a.parquet": good, "b.parquet": good[:500]},
        "*.parquet, one empty": {"a.parquet": good, "b.parquet": b""},
        "* of both formats": {"a.parquet": good, "b.csv": texts.encode()},
        "*.csv of other columns": {
            "a.csv": texts.encode(),
            "b.csv": texts.replace("rent", "rant", 1).encode(),
        },
        "*.csv, one without a header": {
            "a.csv": texts.encode(),
            "b.csv": texts.partition("\n")[2].encode(),
        },
        "*.csv, one ragged": {"a.csv": texts.encode(), "b.csv": texts.encode() + b"1,2\n"},
        "*.nothing": {"a.parquet": good},
        "*.xlsx of a spreadsheet": {"a.xlsx": b"PK\x03\x04" + good},
        "*.json of lines": {"a.json": b'{"id": 1}\n'},
        "[ in a glob": {"a.parquet": good},
    }


def globbed(random: Random, turn: int) -> Case:
    """Take several files that do not go together, or none."""
    canaries = Canaries(random)
    every = _several(canaries)
    what = list(every)[turn % len(every)]
    files = {f"data/{name}": content for name, content in every[what].items()}
    pattern = f"data/{what.split()[0].rstrip(',')}"
    spec = bases.spec_text("simple", f"'{pattern}'").encode()
    kept = {**bases.public_files(), **files, SPEC: spec}
    case = Case("files that do not fit", what, "simple", kept, ("data",), canaries)
    is_certain = what in ("*.nothing", "*.parquet, one cut", "*.parquet, one empty")
    return replace(case, source_is_bad=True, must_refuse=is_certain)


def _vanish(folder: Path) -> None:
    (folder / "est.parquet").unlink()


def _become_a_folder(folder: Path) -> None:
    _vanish(folder)
    (folder / "est.parquet").mkdir()


def _shrink(folder: Path) -> None:
    path = folder / "est.parquet"
    path.write_bytes(path.read_bytes()[:-200])


def _empty(folder: Path) -> None:
    (folder / "est.parquet").write_bytes(b"")


def _zero_pages(folder: Path) -> None:
    path = folder / "est.parquet"
    content = path.read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    path.write_bytes(content[:4] + bytes(footer - 4) + content[footer:])


def _lose_keys(folder: Path) -> None:
    (folder / "counties.csv").unlink()


def _lose_lookup(folder: Path) -> None:
    (folder / "regions.csv").write_bytes(b"fips,region\n37001,a\n37001,b\n")


def _lose_spec(folder: Path) -> None:
    (folder / SPEC).unlink()


def _break_ledger(folder: Path) -> None:
    path = folder / "est.ledger"
    if path.is_file():
        path.write_bytes(path.read_bytes()[:5000])


CHANGES: dict[str, Callable[[Path], None]] = {
    "the source vanishes": _vanish,
    "the source becomes a folder": _become_a_folder,
    "the source is cut": _shrink,
    "the source is emptied": _empty,
    "the source's pages are zeroed": _zero_pages,
    "the keys vanish": _lose_keys,
    "the lookup is not unique any more": _lose_lookup,
    "the spec vanishes": _lose_spec,
    "the ledger is cut": _break_ledger,
}
"""What happens between the check and the release."""


def meanwhile(random: Random, turn: int) -> Case:
    """Change a file after the check and before the release."""
    canaries = Canaries(random)
    what = list(CHANGES)[turn % len(CHANGES)]
    base = "everything" if "lookup" in what or "keys" in what else "simple"
    content = bases.source_bytes(canaries, "est.parquet")
    case = data_case("a file that changes", what, base, content, canaries)
    return replace(case, meanwhile=CHANGES[what], must_refuse=True)


BUILDERS: dict[Builder, float] = {
    public_file: 10,
    database: 4,
    address: 2,
    globbed: 2,
    meanwhile: 2,
}
"""Each kind with its share of the cases."""

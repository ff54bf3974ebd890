"""A PostgreSQL server of our own: in a folder of its own, without a port, gone when it is done."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from perrecord import systems
from perrecord.tables.dialects import POSTGRES

USER = "tester"
TYPES = {
    pa.int8(): "smallint",
    pa.int16(): "smallint",
    pa.int32(): "integer",
    pa.int64(): "bigint",
    pa.float32(): "real",
    pa.float64(): "double precision",
    pa.string(): "text",
    pa.bool_(): "boolean",
    pa.date32(): "date",
}


def programs() -> Path | None:
    """Return the folder of PostgreSQL's programs; Debian keeps them off the path."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    versions = [each.parent for each in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    return max(versions, key=lambda each: int(each.parent.name), default=None)


@contextmanager
def running(found: Path) -> Iterator[str]:
    """Give the address of a new server, and end it. It refuses root, who lends it another user."""
    other = _other_user() if systems.user() == 0 else None
    # Temporary folders of a test may be closed to others, and too deep for a socket's name.
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    try:
        if other is not None:
            os.chown(folder, other.pw_uid, other.pw_gid)
        who = {} if other is None else {"user": other.pw_uid, "group": other.pw_gid}
        quiet = {**who, "cwd": folder, "stdout": subprocess.DEVNULL}
        data: list[str | Path] = ["-D", folder / "data"]
        start = [found / "initdb", *data, "-U", USER, "-A", "trust", "-E", "UTF8", "--no-sync"]
        _run([*start, "--locale=C"], quiet)
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"
        control = [found / "pg_ctl", *data, "-w", "-l", folder / "log"]
        _run([*control, "-o", options, "start"], quiet)
        try:
            yield f"postgres:///postgres?host={folder}&user={USER}"
        finally:
            _run([*control, "-m", "immediate", "stop"], quiet)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def fill(connection: Any, relation: str, data: pa.Table, types: Mapping[str, str]) -> None:
    """Create a table of these rows; `types` names the types of columns that have another there."""
    names = [POSTGRES.identifier(name) for name in data.column_names]
    chosen = [
        types.get(field.name) or TYPES.get(field.type) or f"numeric{str(field.type)[10:]}"
        for field in data.schema
    ]
    columns = ", ".join(f"{name} {kind}" for name, kind in zip(names, chosen, strict=True))
    connection.execute(f"CREATE TABLE {relation} ({columns})")
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY {relation} ({', '.join(names)}) FROM STDIN") as copy,
    ):
        for row in data.to_pylist():
            copy.write_row(list(row.values()))


def _run(program: Sequence[str | Path], options: Mapping[str, Any]) -> None:
    subprocess.run(program, check=True, **options)  # noqa: S603 - PostgreSQL's own


def _other_user() -> pwd.struct_passwd:
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise RuntimeError("PostgreSQL refuses to run as root, and there is no other user here.")

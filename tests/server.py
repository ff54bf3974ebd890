"""A PostgreSQL server for tests: in a folder of its own, without a port, gone with the tests."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

USER = "tester"


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
    other = _other_user() if os.geteuid() == 0 else None
    # Temporary folders of a test may be closed to others, and too deep for a socket's name.
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    try:
        if other is not None:
            os.chown(folder, other.pw_uid, other.pw_gid)
        who = {} if other is None else {"user": other.pw_uid, "group": other.pw_gid}
        quiet = {**who, "cwd": folder, "stdout": subprocess.DEVNULL}
        data = ["-D", folder / "data"]
        start = [found / "initdb", *data, "-U", USER, "-A", "trust", "-E", "UTF8", "--no-sync"]
        subprocess.run([*start, "--locale=C"], check=True, **quiet)
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"
        control = [found / "pg_ctl", *data, "-w", "-l", folder / "log"]
        subprocess.run([*control, "-o", options, "start"], check=True, **quiet)
        try:
            yield f"postgres:///postgres?host={folder}&user={USER}"
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], check=True, **quiet)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _other_user() -> pwd.struct_passwd:
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise RuntimeError("PostgreSQL refuses to run as root, and there is no other user here.")

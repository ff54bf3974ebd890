"""Programs that the ledger's tests run as processes of their own, with rights or room taken away.

    python -m tests.accounting.programs small PATH EXTRA_BYTES
    python -m tests.accounting.programs reader PATH

Each prints one line of JSON.
"""

import json
import os
import resource
import sys

from perrecord import LedgerError, Policy
from perrecord.accounting.budget import Budget
from perrecord.accounting.ledger import Ledger


def small(path, extra):
    """Charge until the disk is full, here a limit on the size of files; then lift the limit."""
    ledger = Ledger.open(path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(path) + int(extra), limits[1]))
    accepted = []
    try:
        while True:
            accepted.append(
                ledger.charge(Policy.constant("0.001"), snapshot="s", label="x" * 300).number
            )
    except LedgerError as error:
        message = str(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    there = [entry.number for entry in ledger.entries()[1:]]
    ledger.charge(Policy.constant("0.001"), snapshot="s", label="after")
    return {"accepted": accepted, "there": there, "message": message}


def reader(path):
    """Read and try to write as a user who may only read."""
    if os.getuid() == 0:
        os.setuid(65534)
    ledger = Ledger.open(path)
    messages = []
    for attempt in (
        lambda: ledger.charge(Policy.constant("0.1"), snapshot="s", label="x"),
        lambda: Ledger.create(f"{path}.new", Budget(1)),
    ):
        try:
            attempt()
        except LedgerError as error:
            messages.append(str(error))
    return {"entries": len(ledger.entries()), "messages": messages}


if __name__ == "__main__":
    _, name, *given = sys.argv
    programs = {"small": small, "reader": reader}
    print(json.dumps(programs[name](*given)))

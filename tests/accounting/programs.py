"""Programs that the ledger's tests run as processes of their own: they fork, crash and kill.

    python -m tests.accounting.programs crowd PATH PROCESSES AMOUNT
    python -m tests.accounting.programs kills PATH ROUNDS SEED
    python -m tests.accounting.programs create PATH MOMENT
    python -m tests.accounting.programs small PATH EXTRA_BYTES
    python -m tests.accounting.programs reader PATH

Each prints one line of JSON. Forking a process that has everything loaded takes a millisecond.
"""

import json
import os
import random
import resource
import signal
import sys
import time

from perrecord import BudgetExceededError, LedgerError, Policy
from perrecord.accounting import creation
from perrecord.accounting.budget import Budget
from perrecord.accounting.ledger import Ledger


def forked(work):
    """Run work(write) in a forked process; return its process and the end to read from."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reading)
        code = 1
        try:
            work(lambda said: os.write(writing, f"{said}\n".encode()))
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    return process, os.fdopen(reading)


def crowd(path, processes, amount):
    """Let many processes charge one ledger, each until it is refused."""

    def work(write):
        ledger = Ledger.open(path)
        while True:
            try:
                write(ledger.charge(Policy.constant(amount), label="one of a crowd").number)
            except BudgetExceededError:
                return

    children = [forked(work) for _ in range(int(processes))]
    numbers = [int(said) for _, pipe in children for said in pipe]
    codes = [os.waitpid(process, 0)[1] for process, _ in children]
    return {"numbers": numbers, "codes": codes}


def kills(path, rounds, seed):
    """Kill a process that charges and seals at random moments; look at the ledger each time."""
    source = random.Random(int(seed))
    promised = {}
    hot = 0

    def work(write):
        ledger = Ledger.open(path)
        while True:
            charge = ledger.charge(
                Policy.constant("0.001"), label="killed", identity=os.urandom(8).hex()
            )
            write(f"{charge.number} {charge.hash}")
            seal = ledger.seal(charge, {"answers": charge.hash})
            write(f"{seal.number} {seal.hash}")

    for _ in range(int(rounds)):
        process, pipe = forked(work)
        time.sleep(source.uniform(0, 0.06))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        promised.update((int(n), code) for n, code in (said.split() for said in pipe))
        pipe.close()
        hot += os.path.exists(f"{path}-journal")
        ledger = Ledger.open(path)
        there = {entry.number: entry.hash for entry in ledger.entries()}
        assert promised.items() <= there.items(), "an acknowledged entry is gone"
        assert sorted(there) == list(range(len(there)))
    assert Ledger.open(path).verify() == len(there)
    return {"promised": len(promised), "entries": len(there), "hot": hot}


def create(path, moment):
    """Make a ledger and die at a given moment of it."""

    def die_before(*_):
        os._exit(9)

    def die_after(original):
        def dying(*given):
            original(*given)
            os._exit(9)

        return dying

    if moment == "before the flush":
        creation._flush = die_before
    elif moment == "before the link":
        os.link = die_before
    elif moment == "after the link":
        os.link = die_after(os.link)
    Ledger.create(path, Budget(1))
    return {}


def small(path, extra):
    """Charge until the disk is full, here a limit on the size of files; then lift the limit."""
    ledger = Ledger.open(path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(path) + int(extra), limits[1]))
    accepted = []
    try:
        while True:
            accepted.append(ledger.charge(Policy.constant("0.001"), label="x" * 300).number)
    except LedgerError as error:
        message = str(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    there = [entry.number for entry in ledger.entries()[1:]]
    ledger.charge(Policy.constant("0.001"), label="after")
    return {"accepted": accepted, "there": there, "message": message}


def reader(path):
    """Read and try to write as a user who may only read."""
    if os.getuid() == 0:
        os.setuid(65534)
    ledger = Ledger.open(path)
    messages = []
    for attempt in (
        lambda: ledger.charge(Policy.constant("0.1"), label="x"),
        lambda: Ledger.create(f"{path}.new", Budget(1)),
    ):
        try:
            attempt()
        except LedgerError as error:
            messages.append(str(error))
    return {"entries": len(ledger.entries()), "messages": messages}


if __name__ == "__main__":
    _, name, *given = sys.argv
    programs = {"crowd": crowd, "kills": kills, "create": create, "small": small, "reader": reader}
    print(json.dumps(programs[name](*given)))

"""Ledgers to test, and programs to test them with."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from perrecord import Policy, Split
from perrecord.accounting.budget import Budget
from perrecord.accounting.ledger import Ledger
from perrecord.accounting.rows import SCHEMA

ROOT = Path(__file__).parents[2]
SCHEME = Split(employees=50)


@pytest.fixture
def path(tmp_path):
    """Return where a ledger is to be."""
    return tmp_path / "ledger.db"


@pytest.fixture
def ledger(path):
    """Return a ledger with a budget of 1 over one scheme."""
    return Ledger.create(path, Budget(1, SCHEME), name="establishments")


@pytest.fixture
def lived(ledger):
    """Return a ledger in which a few things have happened."""
    first = ledger.charge(
        Policy.split("0.25", SCHEME), snapshot="s", label="employees", identity="2026-a"
    )
    ledger.seal(first, {"answers.csv": "ab" * 32})
    ledger.publish(first, place="release/2026-a")
    ledger.charge(
        Policy.constant("0.25"), snapshot="s", label="count", details={"by": ["county"], "cells": 3}
    )
    ledger.charge(Policy.constant("0.125"), snapshot="s", label="count", identity="2026-b")
    return ledger


def run(*given):
    """Run one of the programs and return what it says."""
    command = [sys.executable, "-m", "tests.accounting.programs", *map(str, given)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 9), done.stderr
    return json.loads(done.stdout) if done.returncode == 0 else None


def by_hand(path, *statements):
    """Change a ledger as somebody who has the file can: with its triggers out of the way."""
    triggers = [statement for statement in SCHEMA if statement.startswith("CREATE TRIGGER")]
    connection = sqlite3.connect(path, isolation_level=None)
    for trigger in triggers:
        connection.execute(f"DROP TRIGGER {trigger.split()[2]}")
    for statement, *values in statements:
        connection.execute(statement, values)
    for trigger in triggers:
        connection.execute(trigger)
    connection.close()

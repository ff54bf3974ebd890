"""An error between the exact integers and their noise carries none of them."""

import traceback

import numpy as np
import pyarrow as pa
import pytest

from perrecord import InternalError, Query, SelectKeys, Session, SourceError
from perrecord.confidential.withheld import withheld
from perrecord.mechanisms import additive, quantiles, selection
from perrecord.mechanisms.run import answer
from perrecord.policy.policy import Policy
from perrecord.tables.keys import Keys
from perrecord.tables.table import table

AMOUNTS = (1_000_003, 2_000_011)
CANARY = str(sum(AMOUNTS))
KEYS = Keys.from_dict({"k": ["a", "b"]})
PRICE = Policy.constant(1)
TOTAL = Query("est").group_by("k", keys=KEYS).sum("x", clamp=(0, 10**7), rho=1)


@pytest.fixture
def opened():
    """Give a table of two records of one key, whose total is the canary."""
    source = pa.table({"k": ["a", "a"], "x": list(AMOUNTS)})
    with table(source, name="est", dimensions=["k"], measures=["x"]) as found:
        yield found


def told(error):
    """Return all that an error tells: its text, its causes, the variables of our frames."""
    below = error.__traceback__.tb_next  # without the test's own frame
    shown = traceback.TracebackException(type(error), error, below, capture_locals=True)
    return "".join(shown.format(chain=True))


def quoting(exact, *_, **__):
    """Fail as numpy does: by quoting the number."""
    raise OverflowError(f"Python integer {exact} out of bounds for int8")


def test_numpy_quotes_the_number_it_dislikes():
    """Why this is needed."""
    with pytest.raises(OverflowError, match=CANARY):
        np.array([0], dtype=np.int8)[0:1] = [int(CANARY)]


def test_what_is_said_in_the_middle_is_withheld(opened, tmp_path, monkeypatch):
    """Neither text nor cause, nor a frame with its variables, holds an exact number."""
    session = Session(opened, ledger=tmp_path / "ledger", budget=Policy.constant(9), new=True)
    monkeypatch.setattr(additive, "added", quoting)
    with pytest.raises(InternalError, match=r"OverflowError in perrecord.*withheld") as refusal:
        session.ask(TOTAL)
    assert CANARY not in told(refusal.value)
    assert refusal.value.__context__ is None
    assert refusal.value.__cause__ is None
    assert session.ledger.spent() == PRICE  # never given back


def test_errors_while_keys_and_candidates_are_chosen_are_withheld(opened, monkeypatch):
    """The other two ways out."""
    monkeypatch.setattr(quantiles, "choose", quoting)
    monkeypatch.setattr(selection, "noisy", lambda held, drawn: quoting(list(AMOUNTS)))
    median = Query("est").median("x", candidates=[0, 10**6], rho=1)
    found = Query("est").group_by("k", keys=SelectKeys(rho=1, delta="1e-6")).count(rho=1)
    for asked in (median, found):
        with pytest.raises(InternalError, match="withheld") as refusal:
            answer(opened, asked)
        assert "out of bounds" not in told(refusal.value)
        assert str(AMOUNTS[0]) not in str(refusal.value)


def test_our_own_errors_and_interruptions_pass():
    """They quote nothing, and say what to do."""

    def failing(error):
        raise error

    for error in (SourceError("read it again."), KeyboardInterrupt(), SystemExit(3)):
        with pytest.raises(type(error)) as passed:
            withheld(lambda error=error: failing(error))
        assert passed.value is error
    with pytest.raises(InternalError, match=r"MemoryError in perrecord\.confidential"):
        withheld(lambda: failing(MemoryError("(3000014,) int64")))
    assert withheld(lambda: 3) == 3

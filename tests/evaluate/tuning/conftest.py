"""Tunings of which a test reads no frontier, which is half of the work."""

import pyarrow as pa
import pytest

from perrecord.evaluate.tuning import tune as module


@pytest.fixture
def no_frontier(monkeypatch):
    """Leave the frontier of tunings out."""
    monkeypatch.setattr(module, "frontier", lambda *_: pa.table({}))

"""Every method with every kind of cells: an answer, or a refusal before anything is read."""

from inspect import signature
from itertools import product

import pyarrow as pa
import pytest

from perrecord import (
    Domain,
    InputError,
    Keys,
    Parts,
    Query,
    SelectCells,
    SelectKeys,
    Split,
    Taper,
    clamping,
    splitting,
    table,
    tapering,
)
from perrecord.mechanisms.run import answer
from perrecord.queries.methods.parts import method_of

ROWS = pa.table({"k": ["a", "a", "b"], "emp": [40, -7, None]})
SCHEME = Split(emp=50)
KEYS = Keys.from_dict({"k": ["a", "b"]})
CELLS = {
    "one cell": None,
    "keys": KEYS,
    "selected keys": SelectKeys(rho="0.1", delta="1e-6", split=SCHEME),
    "kept cells": SelectCells(Domain(KEYS), answer="x", at_least=-(10**6)),
}
METHODS = {
    "split": {"split": SCHEME},
    "split, exact": {"split": SCHEME, "accounting": "exact"},
    "clamp": {"clamp": (0, 50)},
    "taper": {"taper": 50},
    "taper, nu = 3": {"taper": Taper(emp=50, nu=3)},
    "blur": {"blur": "0.1", "taper": 50},
}
AMOUNTS = {"rho": "0.2", "epsilon": 1}
REFUSED = {
    *product(("kept cells",), ("taper", "taper, nu = 3", "blur"), ("rho",)),
    *product(("kept cells", "selected keys"), METHODS, ("epsilon",)),
}


def asked(cells, currency, **method):
    """Return the query for a total, with its amount."""
    query = Query("est") if CELLS[cells] is None else Query("est").group_by("k", keys=CELLS[cells])
    return query.sum("emp", **method, **{currency: AMOUNTS[currency]}, name="x")


def shown(query):
    """Return the names of what is answered."""
    with table(ROWS, name="est", dimensions=["k"], measures=["emp"]) as opened:
        (found,) = answer(opened, query)
    return found.table.column_names


@pytest.mark.parametrize("currency", AMOUNTS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("cells", CELLS)
def test_a_total_is_answered_or_refused_in_words(cells, method, currency):
    """Nothing else: a fault of ours would be another error."""
    query = asked(cells, currency, **METHODS[method])
    if (cells, method, currency) not in REFUSED:
        assert "x" in shown(query)
        return
    with pytest.raises(InputError, match=r"(?s)(kept|selected).*(give|keep)") as caught:
        shown(query)
    assert "keys" in caught.value.about


def test_every_method_is_tried():
    """A new one joins the list above."""
    options = set(signature(method_of).parameters) - {"accounting", *AMOUNTS}
    assert {next(iter(given)) for given in METHODS.values()} == options


@pytest.mark.parametrize("cells", ["keys", "selected keys"])
def test_parts_of_several_laws_are_answered_where_keys_tell_them_apart(cells):
    """And cells are kept by none of them."""
    parts = Parts(
        "k",
        {
            "a": tapering(Taper(emp=50), rho="0.2"),
            "b": splitting(SCHEME, rho="0.2"),
            ...: clamping(0, 50, rho="0.2"),
        },
    )
    query = Query("est").group_by("k", keys=CELLS[cells]).sum("emp", parts=parts, name="x")
    assert "x" in shown(query)
    kept = Query("est").group_by("k", keys=CELLS["kept cells"]).sum("emp", parts=parts, name="x")
    with pytest.raises(InputError, match="differs between parts"):
        shown(kept)

"""OpenDP measurements as a door: of every domain, run by a session on records and on split ones.

The measurement of the audit notes what it is given. It is refused before anything is charged, or
it is given a vector of its own domain, which a record changes by one entry, or by one for each of
its pieces: only so does what its map says of neighbours hold for the data.
"""

import math
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from perrecord.accounting.budget import Budget
from perrecord.errors import QueryError
from perrecord.lab.audit.doors.door import arrow_of, package
from perrecord.lab.audit.doors.held import MEASURES, Held, random_held
from perrecord.lab.audit.replay.checks import NOBODY, Check
from perrecord.lab.audit.replay.worlds import WORLD
from perrecord.policy.split import Split
from perrecord.session import Session
from perrecord.tables.table import table

MEASUREMENT = "what an OpenDP measurement is given"
REFUSED = "an OpenDP measurement refused before it is charged"
RECORDS = 12
_LEFT_OUT, _DOMAINS = 3, 8
_CAP = 5


@dataclass(frozen=True, slots=True)
class AskedDomain:
    """A domain of OpenDP, and what its vectors may hold."""

    name: str
    build: Callable[[Any], Any]
    holds: Callable[[Any], bool]
    size: int | None = None

    def fault(self, given: Any) -> str | None:
        """Return what is wrong with a vector that a measurement of this domain was given."""
        if not isinstance(given, list):
            return "it was given no vector"
        if self.size is not None and len(given) != self.size:
            return "it was given a vector of another size than its domain's"
        if not all(self.holds(each) for each in given):
            return "it was given a value that its domain does not hold"
        return None


def _between(low: float, high: float) -> Callable[[Any], bool]:
    return lambda each: isinstance(each, int | float) and low <= each <= high


def _is_number(each: Any) -> bool:
    return isinstance(each, int | float) and not math.isnan(each)


def _is_text(each: Any) -> bool:
    return isinstance(each, str)


def _is_true_or_false(each: Any) -> bool:
    return isinstance(each, bool)


def _vector(**atoms: Any) -> Callable[[Any], Any]:
    return lambda dp: dp.vector_domain(dp.atom_domain(**atoms))


def _optional(kind: str) -> Callable[[Any], Any]:
    return lambda dp: dp.vector_domain(dp.option_domain(dp.atom_domain(T=kind)))


def _anything(_: Any) -> bool:
    return True


_RANGES = {
    **{f"u{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)},
    **{f"i{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
    "usize": (0, 2**64 - 1),
}
EVERY = (
    *(AskedDomain(kind, _vector(T=kind), _between(*ends)) for kind, ends in _RANGES.items()),
    *(
        AskedDomain(f"{kind} in bounds", _vector(T=kind, bounds=(0, 10)), _between(0, 10))
        for kind in _RANGES
    ),
    AskedDomain("i64, narrow bounds", _vector(T="i64", bounds=(3, 3)), _between(3, 3)),
    AskedDomain("i64, negative bounds", _vector(T="i64", bounds=(-5, -2)), _between(-5, -2)),
    AskedDomain("f64", _vector(T="f64", nan=False), _is_number),
    AskedDomain("f64 with NaN", _vector(T="f64", nan=True), lambda each: isinstance(each, float)),
    AskedDomain("f64 in bounds", _vector(T="f64", bounds=(0.0, 10.0)), _between(0, 10)),
    AskedDomain("f32", _vector(T="f32", nan=False), _is_number),
    AskedDomain("f32 in bounds", _vector(T="f32", bounds=(0.0, 10.0)), _between(0, 10)),
    AskedDomain("text", _vector(T="String"), _is_text),
    AskedDomain("truth values", _vector(T="bool"), _is_true_or_false),
    *(
        AskedDomain(f"{kind} or nothing", _optional(kind), _anything)
        for kind in ("i64", "f64", "String")
    ),
    AskedDomain(
        "i64 of a known size",
        lambda dp: dp.vector_domain(dp.atom_domain(T="i64"), size=RECORDS),
        _is_number,
        size=RECORDS,
    ),
    AskedDomain("a lone i64", lambda dp: dp.atom_domain(T="i64"), _is_number),
    AskedDomain("bits", lambda dp: dp.bitvector_domain(8), _anything),
    AskedDomain(
        "a map",
        lambda dp: dp.map_domain(dp.atom_domain(T="String"), dp.atom_domain(T="i64")),
        _anything,
    ),
    AskedDomain(
        "a domain of the user's own",
        lambda dp: dp.user_domain("VectorDomain(AtomDomain(T=i64))", lambda _: True),
        _anything,
    ),
)
"""Every domain that a vector of a column might be taken for; some cannot be built everywhere."""


def measurement_checks(random: Random) -> Iterator[Check]:
    """Yield what measurements of some domains are given of a random table and its neighbours."""
    held = random_held(random, RECORDS, ("int64", "float64", "decimal(9,3)"), is_text=False)
    split = Split({MEASURES[0]: held.measures[MEASURES[0]].resolution}).capped(_CAP)
    budget = Budget(10**12, [split, Split({MEASURES[0]: split.threshold(MEASURES[0])})])
    with (
        tempfile.TemporaryDirectory(prefix="perrecord-audit-") as folder,
        table(arrow_of(held.worlds()), **held.declared()) as opened,
    ):
        session = Session(opened, ledger=Path(folder) / "ledger", budget=budget, new=True)
        for asked in random.sample(EVERY, _DOMAINS):
            column = random.choice([*MEASURES, "sector", "code"])
            chosen = split if random.random() < 0.4 else None
            yield from _measured(session, held, asked, column, chosen, random)


def _measured(
    session: Session,
    held: Held,
    asked: AskedDomain,
    column: str,
    split: Split | None,
    random: Random,
) -> Iterator[Check]:
    seen: list[Any] = []
    measurement = _measurement(asked, seen)
    if measurement is None:  # this OpenDP has no such domain
        return
    left_out = random.sample(range(len(held.rows)), _LEFT_OUT)
    whole: Counter[Any] | None = None
    for record in (NOBODY, *left_out):
        before = len(session.ledger.entries())
        given: dict[str, Any] = {"columns": [column], "where": f"{WORLD} = {record + 1}"}
        try:
            if split is None:
                session.run(measurement, **given)
            else:
                session.run_on_split_rows(measurement, split, **given)
        except QueryError:
            is_charged = len(session.ledger.entries()) > before
            yield Check(REFUSED, record, fault="it was charged before" if is_charged else None)
            return
        except Exception as error:
            shown = f"{type(error).__name__} after the charge"
            yield Check(MEASUREMENT, record, fault=f"{asked.name} on {column}: {shown}")
            return
        fault = asked.fault(seen[-1])
        found = Counter(map(_hashable, seen[-1])) if isinstance(seen[-1], list) else Counter()
        if whole is None:
            whole = found
        elif fault is None:
            pieces = 1 if split is None else split.pieces(held.record(held.rows[record]))
            changed = (whole - found).total() + (found - whole).total()
            if changed > pieces:
                fault = f"{changed} entries changed with a record of {pieces}"
        yield Check(
            MEASUREMENT,
            record,
            fault=None if fault is None else f"{asked.name} on {column}: {fault}",
        )


def _measurement(asked: AskedDomain, seen: list[Any]) -> Any:
    """Return a measurement that notes what it is given, and says nothing; None if there is none."""
    dp = package("opendp.prelude")
    dp.enable_features("contrib", "honest-but-curious")

    def noting(given: Any) -> float:
        seen.append(given)
        return 0.0

    try:
        return dp.m.make_user_measurement(
            asked.build(dp),
            dp.symmetric_distance(),
            dp.zero_concentrated_divergence(),
            noting,
            lambda distance: 0.5 * distance,
            TO="f64",
        )
    except dp.OpenDPException:
        return None


def _hashable(each: Any) -> Any:
    return "NaN" if isinstance(each, float) and math.isnan(each) else each

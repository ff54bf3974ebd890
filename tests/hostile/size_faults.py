"""Specs that are well written and ask for absurd amounts: cells, keys, queries, names, numbers."""

from collections.abc import Callable
from random import Random
from typing import Any

from tests.hostile import bases
from tests.hostile.cases import SPEC, Builder, Case, spec_case
from tests.hostile.nonsense import raw, rendered
from tests.hostile.spec_faults import changed

Files = dict[str, bytes]


def _simple() -> Any:
    return bases.values_of("simple")


def _with_keys(keys: Any, group_by: list[str], *, domain: bool = False) -> Any:
    """Return the simple spec with other keys, over dimensions made of the county."""
    value = changed(_simple(), ("keys",), keys)
    dimensions = dict.fromkeys(group_by, "county")
    value = changed(value, ("dimensions",), {**value["dimensions"], **dimensions})
    query = {
        "name": "large",
        "group_by": group_by,
        "keys": {"domain": "all", "keep": "n", "at_least": 100} if domain else "all",
        "answers": {"n": {"count": "records", "rho": "0.1"}},
    }
    return changed(value, ("queries",), [query])


def _lists(columns: int, values: int) -> dict[str, Any]:
    return {
        f"k{n}": {"values": {f"c{n}": [f"{n}-{v}" for v in range(values)]}} for n in range(columns)
    }


def _domain(columns: int, values: int) -> tuple[Any, Files]:
    names = [f"c{n}" for n in range(columns)]
    keys = {**_lists(columns, values), "all": {"domain": [f"k{n}" for n in range(columns)]}}
    return _with_keys(keys, names, domain=True), {}


def _product(columns: int, values: int) -> tuple[Any, Files]:
    names = [f"c{n}" for n in range(columns)]
    keys = {**_lists(columns, values), "all": {"product": [f"k{n}" for n in range(columns)]}}
    return _with_keys(keys, names), {}


def _combinations(columns: int, values: int) -> tuple[Any, Files]:
    names = [f"c{n}" for n in range(columns)]
    lists = {f"c{n}": [f"{n}-{v}" for v in range(values)] for n in range(columns)}
    return _with_keys({"all": {"values": lists}}, names), {}


def _key_file(lines: int) -> tuple[Any, Files]:
    rows = "".join(f"{number:07}\n" for number in range(lines))
    value = changed(_simple(), ("keys", "counties"), {"file": "many.csv"})
    return value, {"many.csv": f"county\n{rows}".encode()}


def _queries(number: int) -> tuple[Any, Files]:
    one = {"answers": {"n": {"count": "records", "rho": raw("1e-6")}}}
    many = [{"name": f"q{n}", **one} for n in range(number)]
    return changed(_simple(), ("queries",), many), {}


def _answers(number: int) -> tuple[Any, Files]:
    many = {f"a{n}": {"count": "records", "rho": raw("1e-6")} for n in range(number)}
    return changed(_simple(), ("queries", 0, "answers"), many), {}


def _splits(number: int) -> tuple[Any, Files]:
    many = {f"s{n}": {"split": f"s{n + 1}"} for n in range(number)}
    last = {f"s{number}": {"emp": 50}, "moderate": {"split": "s0"}}
    return changed(_simple(), ("splits",), {**many, **last}), {}


def _key_chain(number: int) -> tuple[Any, Files]:
    many = {f"k{n}": {"union": [f"k{n + 1}", f"k{n + 1}"]} for n in range(number)}
    last = {f"k{number}": {"values": {"county": ["37001"]}}, "counties": {"union": ["k0"]}}
    return changed(_simple(), ("keys",), {**many, **last}), {}


def _split_bomb(number: int) -> tuple[Any, Files]:
    many = {
        f"s{n}": {
            "by": "kind",
            "cases": {"11": f"s{n + 1}", "21": f"s{n + 1}"},
            "default": f"s{n + 1}",
        }
        for n in range(number)
    }
    last = {f"s{number}": {"emp": 50}, "moderate": {"split": "s0"}}
    return changed(_simple(), ("splits",), {**many, **last}), {}


def _cases(number: int) -> tuple[Any, Files]:
    cases = {f"{n}": {"emp": n + 1} for n in range(number)}
    split = {"by": "kind", "cases": cases, "default": {"emp": 50}}
    return changed(_simple(), ("splits", "moderate"), split), {}


def _candidates(entry: Any) -> tuple[Any, Files]:
    answer = {"median": "emp", "candidates": entry, "rho": "0.1"}
    return changed(_simple(), ("queries", 0, "answers", "employees"), answer), {}


def _at(path: tuple[str | int, ...], new: Any) -> tuple[Any, Files]:
    return changed(_simple(), path, new), {}


def _rollup(columns: int) -> tuple[Any, Files]:
    names = [f"c{n}" for n in range(columns)]
    value = _with_keys({"all": {"values": {"c0": ["1"]}}}, names)
    query = {"name": "r", "rollup": names, "answers": {"n": {"count": "records", "rho": "0.001"}}}
    return changed(value, ("queries",), [query]), {}


def _sets(number: int) -> tuple[Any, Files]:
    query = {
        "name": "s",
        "grouping_sets": [[]] * number,
        "answers": {"n": {"count": "records", "rho": raw("1e-6")}},
    }
    return changed(_simple(), ("queries",), [query]), {}


def _dimensions(number: int) -> tuple[Any, Files]:
    many = {f"d{n}": "county" for n in range(number)}
    return changed(_simple(), ("dimensions",), {**_simple()["dimensions"], **many}), {}


def _examples(number: int) -> tuple[Any, Files]:
    many = [{"name": f"e{n}", "emp": n, "county": "37001", "kind": "11"} for n in range(number)]
    return {**_simple(), "examples": many}, {}


_EMPLOYEES = ("queries", 0, "answers", "employees", "rho")
_RENTS = ("queries", 0, "answers", "rents", "clamp")
SIZES: dict[str, Callable[[], tuple[Any, Files]]] = {
    "a domain of 10^30 cells": lambda: _domain(10, 1000),
    "a domain of 10^18 cells": lambda: _domain(6, 1000),
    "a domain of one cell": lambda: _domain(1, 1),
    "a product of 10^12 keys": lambda: _product(4, 1000),
    "a product of 2^60 keys": lambda: _product(60, 2),
    "combinations of 10^12 values": lambda: _combinations(4, 1000),
    "combinations of 2^200 values": lambda: _combinations(200, 2),
    "combinations of 10^8 values": lambda: _combinations(2, 10_000),
    "a key file of a million lines": lambda: _key_file(1_000_000),
    "a key file of a header": lambda: _key_file(0),
    "3,000 queries": lambda: _queries(3_000),
    "300 queries": lambda: _queries(300),
    "2,000 answers": lambda: _answers(2_000),
    "200 answers": lambda: _answers(200),
    "a chain of 3,000 splits": lambda: _splits(3_000),
    "a chain of 500 splits": lambda: _splits(500),
    "splits that double, 25 deep": lambda: _split_bomb(25),
    "splits that double, 200 deep": lambda: _split_bomb(200),
    "a chain of 3,000 key sets": lambda: _key_chain(3_000),
    "key sets that double, 60 deep": lambda: _key_chain(60),
    "5,000 cases": lambda: _cases(5_000),
    "10^12 candidates": lambda: _candidates({"from": 0, "to": raw("1e12"), "step": 1}),
    "10^900 candidates": lambda: _candidates({"from": 0, "to": raw("1e900"), "step": raw("1e-90")}),
    "5,000 candidates": lambda: _candidates(list(range(5_000))),
    "candidates beyond 64 bits": lambda: _candidates([0, raw("1e30")]),
    "a rho of 10^-300": lambda: _at(_EMPLOYEES, raw("1e-300")),
    "a rho of 10^300": lambda: _at(_EMPLOYEES, raw("1e300")),
    "a rho of 10^-990": lambda: _at(_EMPLOYEES, raw("1e-990")),
    "a budget of 10^300": lambda: _at(("budget", "rho"), raw("1e300")),
    "a budget of 10^-300": lambda: _at(("budget", "rho"), raw("1e-300")),
    "a threshold of 10^300": lambda: _at(("splits", "moderate", "emp"), raw("1e300")),
    "a threshold of 2^62": lambda: _at(("splits", "moderate", "emp"), 2**62),
    "a threshold of 1": lambda: _at(("splits", "moderate", "emp"), 1),
    "bounds of 10^300": lambda: _at(_RENTS, [raw("-1e300"), raw("1e300")]),
    "bounds of 10^17": lambda: _at(_RENTS, [raw("-1e17"), raw("1e17")]),
    "a resolution of 10^-300": lambda: _at(("measures", "emp"), raw("1e-300")),
    "a resolution of 10^300": lambda: _at(("measures", "emp"), raw("1e300")),
    "a resolution of 10^-12": lambda: _at(("measures", "emp"), raw("1e-12")),
    "a largest of 10^300": lambda: _at(
        ("measures", "emp"), {"resolution": 1, "largest": raw("1e300")}
    ),
    "a confidence of nearly 1": lambda: (
        {**_simple(), "outputs": {"confidence": "0." + "9" * 500}},
        {},
    ),
    "a confidence of nearly 0": lambda: (
        {**_simple(), "outputs": {"confidence": raw("1e-300")}},
        {},
    ),
    "rounding to 10^9 places": lambda: (
        {**_simple(), "post_processing": {"round": {"employees": 10**9}}},
        {},
    ),
    "a rollup of 200 columns": lambda: _rollup(200),
    "500 grouping sets": lambda: _sets(500),
    "3,000 dimensions": lambda: _dimensions(3_000),
    "2,000 examples": lambda: _examples(2_000),
    "a title of 200 kB": lambda: _at(("title",), "t" * 200_000),
    "a query's name of 200 kB": lambda: _at(("queries", 0, "name"), "q" * 200_000),
    "a table's name of 200 kB": lambda: _at(("table",), "q" * 200_000),
    "a ledger's name of 200 kB": lambda: _at(("ledger",), "q" * 200_000),
    "a source's name of 200 kB": lambda: _at(("source",), "q" * 200_000),
    "a source of 5,000 folders": lambda: _at(("source",), "a/" * 5_000 + "x.csv"),
    "a glob of everything": lambda: _at(("source",), "**/*.parquet/**/*.nothing"),
    "a dimension's name of 200 kB": lambda: _at(("dimensions",), {"d" * 200_000: "county"}),
    "a memory limit of 1 kB": lambda: _at(("source",), {"path": "SOURCE", "memory_limit": "1KB"}),
    "a memory limit of 10^30 GB": lambda: _at(
        ("source",), {"path": "SOURCE", "memory_limit": f"1{'0' * 30}GB"}
    ),
    "a folder to spill to that is none": lambda: _at(
        ("source",), {"path": "SOURCE", "spill_folder": "none"}
    ),
    "a file to spill to": lambda: _at(("source",), {"path": "SOURCE", "spill_folder": SPEC}),
    "a ledger that is a folder": lambda: _at(("ledger",), "."),
    "a ledger that is the spec": lambda: _at(("ledger",), SPEC),
    "a ledger that is the source": lambda: _at(("ledger",), "est.parquet"),
    "a ledger in no folder": lambda: _at(("ledger",), "none/est.ledger"),
    "a ledger in /dev": lambda: _at(("ledger",), "/dev/null"),
}
"""Specs by what they ask too much of."""


def absurd_size(random: Random, turn: int) -> Case:
    """Ask for an absurd amount of something."""
    name = list(SIZES)[turn % len(SIZES)]
    value, files = SIZES[name]()
    text = rendered(value).replace("SOURCE", "est.parquet")
    case = spec_case("an absurd size", name, "simple", text, random)
    case.files.update(files)  # type: ignore[attr-defined]
    return case


BUILDERS: dict[Builder, float] = {absurd_size: 5}
"""Each kind with its share of the cases."""

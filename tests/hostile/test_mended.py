"""What bad input once got wrong, each fault by itself."""

import os
from collections.abc import Mapping

import duckdb
import pyarrow as pa
import pytest

from perrecord import SourceError, SpecError
from perrecord.errors import visible
from perrecord.release.spec import build, check_without_data, load_spec, open_table, parse_spec
from perrecord.tables.engines.database import Database
from tests.hostile import bases
from tests.hostile.nonsense import raw, rendered
from tests.hostile.size_faults import SIZES
from tests.hostile.spec_faults import changed
from tests.hostile.text_faults import WHOLE


def refusal(spec: str) -> str:
    """Return why a spec is refused before its source is opened."""
    with pytest.raises(SpecError) as caught:
        check_without_data(parse_spec(spec))
    return str(caught.value)


def simple(*path, to) -> str:
    """Return the simple spec with one value changed."""
    return rendered(changed(bases.values_of("simple"), path, to))


def sized(name: str) -> str:
    """Return a spec that asks for too much."""
    return rendered(SIZES[name]()[0])


@pytest.mark.parametrize("escape", [r"\UFFFFFFFF", r"\U00110000"])
def test_an_escape_beyond_unicode_is_refused_at_its_line(escape):
    """Python's chr() would not take it."""
    with pytest.raises(SpecError, match=r":2: an escape stands for no character; expected"):
        parse_spec(f'table: est\ntitle: "a {escape}"\n')


@pytest.mark.parametrize("name", ["combinations of 10^12 values", "combinations of 2^200 values"])
def test_combinations_are_counted_before_they_are_made(name):
    """They would exhaust the memory, as a product would."""
    assert "keys.all: the product has " in refusal(sized(name))


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("a chain of 3,000 splits", "splits.s0"),
        ("a chain of 500 splits", "splits.s0"),
        ("a chain of 3,000 key sets", "keys.k0"),
        ("key sets that double, 60 deep", "keys.k0"),
    ],
)
def test_a_chain_of_names_is_refused_where_it_begins(name, place):
    """To follow it would go deeper than Python can."""
    message = refusal(sized(name))
    assert f"{place}: " in message
    assert message.endswith("more than 20 times. Write it in fewer steps.")


def chained(section: str, chain: Mapping[str, object]) -> dict[str, str]:
    """Return a spec with a chain of names, as it is written and the other way round."""
    rest = bases.values_of("simple")[section]
    turned = dict(reversed(chain.items()))
    return {
        order: simple(section, to={**rest, **each})
        for order, each in (("as written", chain), ("turned", turned))
    }


def splits(steps: int, levels: int) -> dict[str, object]:
    """Return a chain of so many steps, each of which goes so many levels deep; the base is last."""
    chain: dict[str, object] = {}
    for step in range(steps):
        entry: object = f"s{step + 1}"
        for _ in range(levels):
            entry = {"by": "kind", "default": entry}
        chain[f"s{step}"] = entry if levels else {"split": entry}
    return {**chain, f"s{steps}": {"emp": 50}}


def key_sets(steps: int) -> dict[str, object]:
    """Return a chain of so many steps; the base is last."""
    chain: dict[str, object] = {f"k{n}": {"union": [f"k{n + 1}"]} for n in range(steps)}
    return {**chain, f"k{steps}": {"values": {"county": ["37001"]}}}


@pytest.mark.parametrize("order", ["as written", "turned"])
@pytest.mark.parametrize(
    ("section", "longest", "too_long"),
    [
        ("splits", splits(20, 0), splits(21, 0)),
        ("splits", splits(20, 1), splits(21, 1)),
        ("splits", splits(2, 10), splits(2, 11)),
        ("splits", splits(20, 1), splits(1_000, 1)),
        ("keys", key_sets(20), key_sets(21)),
        ("keys", key_sets(20), key_sets(2_000)),
    ],
)
def test_a_chain_of_names_is_as_long_in_either_order(section, longest, too_long, order):
    """The natural order, in which the base comes first, hid how long it was."""
    check_without_data(parse_spec(chained(section, longest)[order]))
    message = refusal(chained(section, too_long)[order])
    assert f": {section}." in message
    assert message.endswith("more than 20 times. Write it in fewer steps.")


def test_splits_that_double_at_every_step_are_refused():
    """Eleven steps of three are 177,147 parts."""
    steps = {
        f"s{n}": {
            "by": "kind",
            "cases": {"11": f"s{n + 1}", "21": f"s{n + 1}"},
            "default": f"s{n + 1}",
        }
        for n in range(11)
    }
    splits = {**steps, "s11": {"emp": 50}, "moderate": {"emp": 50}}
    message = refusal(simple("splits", to=splits))
    assert "splits.s0: written out, a split has 177,147 parts; at most 10,000 fit." in message


@pytest.mark.parametrize("path", [("ledger",), ("source",), ("keys", "counties", "file")])
@pytest.mark.parametrize(
    ("written", "why"), [("q" * 300, "longer"), ("a/" * 5_000, "longer"), ("a\0b", "NUL")]
)
def test_a_path_that_no_file_can_have_is_refused_at_its_field(path, written, why):
    """The operating system would refuse it without saying which field it is."""
    value = {"file": written} if path[0] == "keys" else written
    message = refusal(simple(*path[:2], to=value))
    assert f"{'.'.join(path)}: the path " in message
    assert why in message


def test_the_address_of_a_database_is_no_path():
    """It may hold a token that is longer than any file's name."""
    address = f"postgres://u:{'t' * 5_000}@host/farms"
    assert parse_spec(simple("source", to=address)).source == address
    assert "source: the path holds the character NUL" in refusal(
        simple("source", to=f"{address}\0")
    )
    assert "ledger: the path is longer" in refusal(simple("ledger", to=address))


@pytest.mark.parametrize("amount", ["1e-990", "1e-121", "1e121", "1e900"])
def test_an_amount_whose_noise_no_float_can_describe_is_refused(amount):
    """It was an error of ours, after everything was checked."""
    path = ("queries", 0, "answers", "employees", "rho")
    message = refusal(simple(*path, to=raw(amount)))
    assert "answers.employees.rho: rho is below 1e-120 or above 1e120" in message


@pytest.mark.parametrize(
    "candidates", [[0, raw("1e-400")], [0, raw("1e400")], [raw("1/7"), f"1/{10**40}"]]
)
def test_candidates_beyond_floats_are_refused(candidates):
    """Whether they were an error depended on the one that was chosen, after the charge."""
    answer = {"median": "emp", "candidates": candidates, "rho": "0.1"}
    path = ("queries", 0, "answers", "employees")
    message = refusal(simple(*path, to=answer))
    assert "answers.employees.candidates: the candidates have too many digits" in message


def test_what_is_quoted_of_a_spec_is_short():
    """The place and the remedy stay; a megabyte between them would hide both."""
    long = "k" * 200_000
    message = refusal(simple("queries", 0, "name", to=long))
    assert len(message) < 1_100
    value = {**bases.values_of("simple"), long[:900]: 1, "dimensions": {long[:900]: 1}}
    for line in refusal(rendered(value)).splitlines():
        assert len(line) <= 1_000


def test_a_pipe_is_no_spec(tmp_path):
    """Nobody writes to it, and reading it would wait for ever."""
    os.mkfifo(tmp_path / "release.yaml")
    (tmp_path / "folder").mkdir()
    for name in ("release.yaml", "folder"):
        with pytest.raises(SpecError, match=r"this is not a plain file .* save the spec to a file"):
            load_spec(tmp_path / name)
    with pytest.raises(SpecError, match="there is no such file"):
        load_spec(tmp_path / "nowhere.yaml")


def test_candidates_may_be_as_large_as_the_message_says():
    """Up to 1e30, which has 31 digits."""

    def asked(candidates: list[object]) -> str:
        answer = {"median": "emp", "candidates": candidates, "rho": "0.1"}
        return simple("queries", 0, "answers", "employees", to=answer)

    check_without_data(parse_spec(asked([-(10**30), 10**30])))
    assert "between -1e30 and 1e30" in refusal(asked([0, 10**30 + 1]))


def test_columns_that_one_scan_cannot_take_are_refused_at_their_query():
    """An engine's limit was shown without the query that goes beyond it."""
    names = [f"c{n}" for n in range(70)]
    answers = {"n": {"count": "records", "rho": "0.01"}}
    value = {
        **{"title": "Wide", "source": "wide.parquet", "budget": {"rho": 1}},
        "dimensions": {name: name for name in names},
        "keys": {name: {"values": {name: ["1"]}} for name in names},
        "queries": [
            {"name": name, "group_by": [name], "keys": name, "answers": answers} for name in names
        ],
    }
    loaded, source = parse_spec(rendered(value)), pa.table({name: ["1"] for name in names})
    expected = r": queries\[62\]\.group_by: .* 70 different columns .*; one scan takes 62\. Ask"
    with open_table(loaded, source) as table, pytest.raises(SpecError, match=expected):
        build(loaded, table.schema)


@pytest.mark.parametrize("limit", [None, "512MB"])
def test_an_engine_that_does_not_start_is_no_fault_of_a_limit_that_was_not_given(
    limit, monkeypatch
):
    """What to change is what was given."""

    def broken(*_, **__):
        raise duckdb.Error

    monkeypatch.setattr("duckdb.connect", broken)
    with pytest.raises(SourceError) as caught:
        Database(memory_limit=limit)
    assert ("this memory limit" in str(caught.value)) == (limit is not None)


@pytest.mark.parametrize(
    "hidden", ["\u00ad", "\u200b", "\u202e", "\u206a", "\u206f", "\ufeff", "\U000e0041"]
)
def test_what_nobody_sees_is_shown_as_an_escape(hidden):
    """Names that look alike are told apart; what joins letters stays."""
    assert visible(f"emp{hidden}") == f"emp{hidden.encode('unicode_escape').decode()}"
    assert visible("\u0645\u06cc\u200c\u062e") == "\u0645\u06cc\u200c\u062e"


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("a cycle", "source: anchors"),
        ("a billion laughs", "a0: anchors"),
        ("brackets, deep", "title[0][0]: more than 30 levels"),
        ("a Python object", "title: the tag"),
    ],
)
def test_what_the_reader_refuses_is_shown_at_its_field(name, place):
    """Not at its line alone."""
    assert f": {place}" in refusal(WHOLE[name].decode())

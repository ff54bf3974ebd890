"""What bad input once got wrong, each fault by itself."""

import os

import pytest

from perrecord import SpecError
from perrecord.release.spec import check_without_data, load_spec, parse_spec
from tests.hostile import bases
from tests.hostile.size_faults import SIZES
from tests.hostile.spec_faults import changed, raw, rendered
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


@pytest.mark.parametrize("amount", ["1e-990", "1e-101", "1e101", "1e900"])
def test_an_amount_whose_noise_no_float_can_describe_is_refused(amount):
    """It was an error of ours, after everything was checked."""
    path = ("queries", 0, "answers", "employees", "rho")
    message = refusal(simple(*path, to=raw(amount)))
    assert "answers.employees.rho: expected a number between 1e-100 and 1e100" in message


@pytest.mark.parametrize(
    "candidates", [[0, raw("1e-400")], [0, raw("1e400")], [raw("1/7"), f"1/{10**40}"]]
)
def test_candidates_beyond_floats_are_refused(candidates):
    """Whether they were an error depended on the one that was chosen, after the charge."""
    answer = {"median": "emp", "candidates": candidates, "rho": "0.1"}
    path = ("queries", 0, "answers", "employees")
    message = refusal(simple(*path, to=answer))
    assert "queries[0].answers.employees: the candidates have too many digits" in message


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
    with pytest.raises(SpecError, match="there is no such file"):
        load_spec(tmp_path / "release.yaml")


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

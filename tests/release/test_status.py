"""How far numbers may be relied on: words that follow from the published columns alone."""

import pyarrow.parquet as pq
import pytest

from perrecord import SpecError
from perrecord.release.publish import release
from perrecord.release.spec import build, load_spec
from tests.noise.checks import Replayed
from tests.release.test_deriving import WITH
from tests.release.test_release import ROWS, prepared

ASKED = WITH.replace(
    "post_processing: {", "post_processing: {status: {reliable: 0.05, caution: 0.5}, "
)


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """All rows of a release with words beside its numbers, and its methodology."""
    folder = tmp_path_factory.mktemp("status")
    release(prepared(folder, ROWS, ASKED), folder / "out", _bits=Replayed(7))
    found = [pq.read_table(each).to_pylist() for each in folder.glob("out/tables/*.parquet")]
    return [row for table in found for row in table], (folder / "out/methodology.md").read_text()


def expected(row, name):
    """Return the word of a number, from the columns beside it."""
    error, value = row[f"{name}_se"], row[name]
    if error is None or value is None or row.get(f"{name}_few_records"):
        return "unreliable"
    if error <= 0.05 * abs(value):
        return "reliable"
    return "use with caution" if error <= 0.5 * abs(value) else "unreliable"


def test_each_word_follows_from_the_number_and_its_error(rows):
    """Of counts, totals, averages and derived numbers; and all three words occur."""
    seen = set()
    for row in rows[0]:
        for name in {column.removesuffix("_status") for column in row if "_status" in column}:
            assert row[f"{name}_status"] == expected(row, name)
            seen.add(row[f"{name}_status"])
    assert seen == {"reliable", "use with caution", "unreliable"}
    named = {column for row in rows[0] for column in row if "_status" in column}
    assert {"farms_status", "cattle_status", "mean_status", "herd_status"} <= named
    assert "median_status" not in named


def test_the_methodology_says_what_the_words_mean(rows):
    """With both cut-offs, and what the words do not speak of."""
    assert "reliable if its standard error is at most 5 % of it" in rows[1]
    assert "use with caution if it is at most 50 %" in rows[1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("{reliable: 0.3, caution: 0.1}", "expected a number above 0.3"),
        ("{reliable: 0.3, caution: 0.3}", "expected a number above 0.3"),
        ("{reliable: 0, caution: 0.3}", "expected a number between 0 and 1, found 0"),
        ("{reliable: 0.3}", "caution"),
        ("yes", "status"),
    ],
)
def test_cut_offs_that_make_no_sense_are_refused(tmp_path, given, message):
    """At their line."""
    text = ASKED.replace("{reliable: 0.05, caution: 0.5}", given)
    with pytest.raises(SpecError, match=message):
        build(load_spec(prepared(tmp_path, ROWS, text)))

"""A whole release from a Spark cluster, also while its workers are killed."""

import pytest

from perrecord import Ledger
from perrecord.accounting.entries import Charge
from perrecord.release.publish import release
from tests import first
from tests.engines.release_program import integers
from tests.noise.checks import Replayed

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def on_duckdb(spec):
    """The release and the exact integers from DuckDB."""
    release(spec, spec.parent / "duckdb", _bits=Replayed(1))
    return tables(spec.parent / "duckdb"), integers(spec)


def tables(folder):
    """Return the files of the answers."""
    return {each.name: each.read_bytes() for each in (folder / "tables").iterdir()}


def test_the_programs_of_the_guide_run(classic, connect, guide):
    """As they stand in docs/spark.md, but for the addresses."""
    assert classic.guided is None
    assert connect.guided is None
    expected = {each.name for each in (guide / "published").rglob("*")}
    assert {"policy.json", "county_industry.parquet"} <= expected
    assert {each.name for each in (guide / "published-in-december").rglob("*")} == expected


@pytest.mark.parametrize("kind", first(1, ["release", "integers"]))
def test_a_release_through_spark_connect_is_the_same(kind, connect, spec, on_duckdb, tmp_path):
    """The same files under the same noise, and the same integers before it."""
    files, numbers = on_duckdb
    if kind == "release":
        assert connect.do("release", tmp_path.name, tmp_path / "out")["did"] == "made"
        assert tables(tmp_path / "out") == files
    else:
        assert connect.do("integers")["integers"] == numbers


def test_a_release_from_a_cluster_outlives_its_workers(cluster, classic, spec, on_duckdb):
    """Two workers, one killed in mid-scan, none at all, new ones: nothing but time changes."""
    files, numbers = on_duckdb
    folder = spec.parent
    whole = classic.do("release", "whole", folder / "whole")
    assert whole == {"did": "made", "lost": 0, "tasks": 0, "executors": 2}
    assert tables(folder / "whole") == files

    halved = classic.do("integers", while_running=cluster.kill_worker)
    assert halved["integers"] == numbers
    assert (halved["executors"], halved["lost"]) == (1, 1)
    assert halved["tasks"] >= 1  # what it was at work on had to be done again

    none = classic.do("release", "again", folder / "again", while_running=cluster.kill_worker)
    assert "no executor for 5 seconds" in none["failed"]
    assert (none["executors"], none["lost"]) == (0, 2)
    assert not (folder / "again").exists()

    cluster.start_worker()
    again = {"failed": "not tried yet"}
    while "failed" in again:  # its executor may take longer to start than we have patience
        again = classic.do("release", "again", folder / "again")
    assert again["did"] == "made"
    assert tables(folder / "again") == files
    charged = [
        each for each in Ledger.open(folder / "again.ledger").entries() if isinstance(each, Charge)
    ]
    assert len(charged) == 1
    cluster.start_worker()  # whoever comes next finds two

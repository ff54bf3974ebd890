"""A whole release from a Spark cluster, also while its workers are killed."""

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pyarrow.csv
import pytest

from perrecord import Ledger
from perrecord.accounting.entries import Charge
from perrecord.lab.synth import business
from perrecord.lab.synth.keys import business_keys
from perrecord.release.publish import release
from perrecord.release.spec import build, load_spec, open_table
from tests.engines.cluster import Cluster
from tests.engines.release_program import integers
from tests.noise.checks import Replayed

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]
ROWS, FILES = 12_000, 16


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    """The worked example on 192,000 records in 16 files, with keys, a ledger and a budget."""
    folder = tmp_path_factory.mktemp("release")
    text = (ROOT / "examples/business/release.yaml").read_text()
    path = folder / "release.yaml"
    text = text.replace("est.parquet", "est/*.parquet")
    path.write_text(text.replace("\n  rho: 1\n", "\n  rho: 10\n").replace("times: 2", "times: 20"))
    for name, keys in business_keys().items():
        pyarrow.csv.write_csv(keys, folder / f"{name}.csv")
    first = folder / "est" / "0.parquet"
    first.parent.mkdir()
    business(ROWS, first)
    for number in range(1, FILES):
        shutil.copy(first, first.parent / f"{number}.parquet")
    loaded = load_spec(path)
    with open_table(loaded) as table:
        Ledger.create(loaded.ledger, build(loaded, table.schema).budget)
    return path


@pytest.fixture(scope="module")
def on_duckdb(spec):
    """The release and the exact integers from DuckDB."""
    release(spec, spec.parent / "duckdb", _bits=Replayed(1))
    return tables(spec.parent / "duckdb"), integers(spec)


def tables(folder):
    """Return the files of the answers."""
    return {each.name: each.read_bytes() for each in (folder / "tables").iterdir()}


@contextmanager
def driver(started, address, spec):
    """Give a function that has a driver at this address do a step, and act while it runs."""
    errors = (started.folder / f"driver-{address.partition(':')[0]}.log").open("w")
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.engines.release_program", address, spec, spec.parent / "est"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        cwd=ROOT,
        env=os.environ | started.environment,
    )

    def do(*step, while_running=None):
        print(*step, file=process.stdin, flush=True)
        seen = process.stdout.readline().strip()
        if seen == "running":
            if while_running is not None:
                while_running()
            seen = process.stdout.readline()
        assert seen, (started.folder / errors.name).read_text()[-3000:]
        return json.loads(seen)

    try:
        yield do
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()
        errors.close()


def test_a_release_from_a_cluster_outlives_its_workers(spec, on_duckdb, tmp_path):
    """Two workers, one killed in mid-scan, none at all, a new one: nothing but time changes."""
    files, numbers = on_duckdb
    folder = spec.parent
    with (
        Cluster(tmp_path, cores=1) as cluster,
        driver(cluster, cluster.address, spec) as do,
    ):
        whole = do("release", "whole", folder / "whole")
        assert whole == {"did": "made", "lost": 0, "tasks": 0, "executors": 2}
        assert tables(folder / "whole") == files

        halved = do("integers", while_running=cluster.kill_worker)
        assert halved["integers"] == numbers
        assert (halved["executors"], halved["lost"]) == (1, 1)
        assert halved["tasks"] >= 1  # what it was at work on had to be done again

        none = do("release", "again", folder / "again", while_running=cluster.kill_worker)
        assert "no executor for 5 seconds" in none["failed"]
        assert (none["executors"], none["lost"]) == (0, 2)
        assert not (folder / "again").exists()

        cluster.start_worker()
        again = {"failed": "not tried yet"}
        while "failed" in again:  # its executor may take longer to start than we have patience
            again = do("release", "again", folder / "again")
        assert again["did"] == "made"
        assert tables(folder / "again") == files
    charged = [
        each for each in Ledger.open(folder / "again.ledger").entries() if isinstance(each, Charge)
    ]
    assert len(charged) == 1


def test_a_release_through_spark_connect_is_the_same(cluster, connect_address, spec, on_duckdb):
    """The same files under the same noise, and the same integers before it."""
    files, numbers = on_duckdb
    with driver(cluster, connect_address, spec) as do:
        assert do("release", "connect", spec.parent / "connect")["did"] == "made"
        assert tables(spec.parent / "connect") == files
        assert do("integers")["integers"] == numbers


def test_the_programs_of_the_guide_run(cluster, connect_address, spec, tmp_path):
    """As they stand in docs/spark.md, but for the addresses."""
    for each in (spec, *spec.parent.glob("*.csv")):
        (tmp_path / each.name).write_bytes(each.read_bytes())
    december = spec.read_text().replace("est.ledger", "december.ledger")
    (tmp_path / "december.yaml").write_text(december)
    Ledger.create(tmp_path / "december.ledger", Ledger.open(spec.parent / "est.ledger").budget)
    text = (ROOT / "docs" / "spark.md").read_text()
    places = {
        "spark://master:7077": cluster.address,
        "sc://server:15002": connect_address,
        "hdfs:///confidential/est": str(spec.parent / "est" / "0.parquet"),
    }
    for shown, here in places.items():
        text = text.replace(shown, here)
    *classic, connect = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    for program in ("\n".join(classic), connect):
        run = subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env=os.environ | cluster.environment,
        )
        assert run.returncode == 0, run.stderr[-3000:]
    expected = {each.name for each in (tmp_path / "published").rglob("*")}
    assert {"policy.json", "county_industry.parquet"} <= expected
    assert {each.name for each in (tmp_path / "published-in-december").rglob("*")} == expected

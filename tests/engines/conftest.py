"""A local Spark session, and a standalone cluster of one master and two workers on this machine."""

import re
import shutil
import warnings
from pathlib import Path

import pyarrow.csv
import pytest

from perrecord import Ledger
from perrecord.lab.synth import business
from perrecord.lab.synth.keys import business_keys
from perrecord.release.spec import build, load_spec, open_table
from perrecord.tables.engines.spark_logs import SILENT
from tests import first
from tests.engines.cluster import QUICK, Cluster
from tests.engines.driver import Driver

ROOT = Path(__file__).parents[2]
ROWS, FILES = 4_000, 16


@pytest.fixture(scope="module")
def spark():
    """A local session in ANSI mode that says nothing; other modules may stop it, so per module."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pyspark's own imports warn of pandas and sockets
        from pyspark.sql import SparkSession

        session = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.defaultJavaOptions", QUICK)
            .config("spark.sql.ansi.enabled", "true")
            .config("spark.sql.shuffle.partitions", "2")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
    return session


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """A standalone cluster: a master and two workers, with room for three drivers."""
    with Cluster(tmp_path_factory.mktemp("cluster"), cores=3) as started:
        yield started


@pytest.fixture(scope="session", params=first(1, ["1", "2"]))
def connect_address(cluster, request):
    """The address of a Spark Connect server with so many executors there, whose log is off."""
    options = {
        "spark.driver.extraJavaOptions": " ".join(SILENT),
        "spark.cores.max": request.param,
    }
    address = cluster.start_connect(f"connect{request.param}", cluster.address, **options)
    yield address
    cluster.end_connect(address)


@pytest.fixture(scope="session")
def spec(tmp_path_factory):
    """The worked example on 64,000 records in 16 files, with keys, a ledger and a budget."""
    folder = tmp_path_factory.mktemp("release")
    text = (ROOT / "examples/business/release.yaml").read_text()
    path = folder / "release.yaml"
    text = text.replace("est.parquet", "est/*.parquet")
    path.write_text(text.replace("\n  rho: 1\n", "\n  rho: 10\n").replace("times: 2", "times: 20"))
    for name, keys in business_keys().items():
        pyarrow.csv.write_csv(keys, folder / f"{name}.csv")
    original = folder / "est" / "0.parquet"
    original.parent.mkdir()
    business(ROWS, original)
    for number in range(1, FILES):
        shutil.copy(original, original.parent / f"{number}.parquet")
    loaded = load_spec(path)
    with open_table(loaded) as table:
        Ledger.create(loaded.ledger, build(loaded, table.schema).budget)
    return path


@pytest.fixture(scope="session")
def guide(spec, tmp_path_factory):
    """A folder with what the guide's programs need: the spec with its first query alone, keys."""
    folder = tmp_path_factory.mktemp("guide")
    for each in spec.parent.glob("*.csv"):
        (folder / each.name).write_bytes(each.read_bytes())
    others = r"  - name: county_employment.*(?=\n# Columns)"
    text, cut = re.subn(others, "", spec.read_text(), flags=re.DOTALL)
    assert cut == 1
    (folder / "release.yaml").write_text(text)
    (folder / "december.yaml").write_text(text.replace("est.ledger", "december.ledger"))
    Ledger.create(folder / "december.ledger", Ledger.open(spec.parent / "est.ledger").budget)
    return folder


@pytest.fixture(scope="session")
def classic(cluster, guide, spec):
    """A driver on the cluster, which has run the guide's program for one."""
    program = written_program(guide, "classic", spec, {"spark://master:7077": cluster.address})
    with Driver(cluster, cluster.address, program, spec) as started:
        yield started


@pytest.fixture(scope="session")
def connect(cluster, connect_address, guide, spec):
    """A client of the Spark Connect server, which has run the guide's program for one."""
    shutil.rmtree(guide / "published-in-december", ignore_errors=True)
    program = written_program(guide, "connect", spec, {"sc://server:15002": connect_address})
    with Driver(cluster, connect_address, program, spec) as started:
        yield started


def written_program(folder, kind, spec, places):
    """Write a program of docs/spark.md as it stands there, but for the addresses."""
    text = (ROOT / "docs" / "spark.md").read_text()
    places |= {"hdfs:///confidential/est": str(spec.parent / "est" / "0.parquet")}
    for shown, here in places.items():
        text = text.replace(shown, here)
    *classic, connect = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    path = folder / f"{kind}.py"
    path.write_text("\n".join(classic) if kind == "classic" else connect)
    return path

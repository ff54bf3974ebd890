"""A local Spark session, and a standalone cluster of one master and two workers on this machine."""

import warnings

import pytest

from perrecord.tables.engines.spark_logs import SILENT
from tests.engines.cluster import QUICK, Cluster


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
    """A standalone cluster: a master and two workers, which no test kills."""
    with Cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture(scope="session")
def connect_address(cluster):
    """The address of a Spark Connect server on that cluster, whose log is off."""
    options = {"spark.driver.extraJavaOptions": " ".join(SILENT)}
    return cluster.start_connect("connect", cluster.address, **options)

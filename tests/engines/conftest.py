"""A local Spark session, and a standalone cluster of one master and two workers on this machine."""

import os
import re
import subprocess
import time
import warnings
from pathlib import Path

import pytest

WAIT = 90


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
            .config("spark.sql.ansi.enabled", "true")
            .config("spark.sql.shuffle.partitions", "2")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
    return session


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """The address of a standalone cluster: a master and two workers of one core each."""
    import pyspark

    home = Path(pyspark.__file__).parent
    folder = tmp_path_factory.mktemp("cluster")
    environment = os.environ | {
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
    }
    started = []

    def start(name: str, *arguments: str) -> Path:
        log = folder / f"{name}.log"
        with log.open("wb") as output:
            started.append(
                subprocess.Popen(
                    [home / "bin" / "spark-class", f"org.apache.spark.deploy.{name}", *arguments],
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    cwd=folder,
                    env=environment,
                )
            )
        return log

    try:
        log = start("master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        address = wait_for(log, r"Starting Spark master at (spark://127\.0\.0\.1:\d+)", 1, started)[
            0
        ]
        for number in (1, 2):
            work = folder / f"work{number}"
            start(
                "worker.Worker",
                *("--host", "127.0.0.1", "--port", "0", "--webui-port", "0"),
                *("--cores", "1", "--memory", "600M", "--work-dir", str(work), address),
            )
        wait_for(log, r"Registering worker (127\.0\.0\.1:\d+)", 2, started)
        yield address, folder
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


def wait_for(log: Path, pattern: str, count: int, started: list) -> list[str]:
    """Return what the pattern finds in the log once it is there often enough."""
    until = time.monotonic() + WAIT
    while time.monotonic() < until:
        found = re.findall(pattern, log.read_text(errors="replace"))
        if len(found) >= count:
            return found
        if any(process.poll() is not None for process in started):
            break
        time.sleep(0.1)
    raise RuntimeError(f"the Spark cluster did not start; its log ends: {log.read_text()[-2000:]}")

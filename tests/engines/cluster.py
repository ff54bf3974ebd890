"""A standalone Spark cluster on this machine, of real processes that may be killed."""

import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Self

from perrecord.tables.engines.spark_logs import SILENT

WAIT = 90

QUICK = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
"""Has a Java process compile what it runs once and simply: none of ours lives long enough for more.

With Java's own ways a session spends half its time on code that it never comes back to, and on
verifying thousands of classes of Spark's own jars.
"""

SESSION = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "700m",
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.cores.max": "2",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.executor.extraJavaOptions": " ".join(SILENT),
    "spark.sql.shuffle.partitions": "4",
}
"""A driver that takes one core of each worker."""

TALKATIVE = """\
rootLogger.level = info
rootLogger.appenderRef.stdout.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %p %c{1}: %m%n%ex
logger.spark.name = org.apache.spark
logger.spark.level = info
"""
"""What a cluster's log4j2.properties may say: names of loggers, each with its level."""

DEFAULTS = f"""\
spark.ui.enabled false
spark.cores.max 1
spark.sql.shuffle.partitions 4
spark.driver.defaultJavaOptions {QUICK}
spark.executor.defaultJavaOptions {QUICK}
"""
"""What a cluster's own settings may be: these keep small work small."""

_DEPLOY = "org.apache.spark.deploy"
_PLACE = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")


class Processes:
    """Programs of Spark, started in one folder and killed together at the end."""

    def __init__(self, folder: Path) -> None:
        import pyspark

        self.folder = folder
        self._home = Path(pyspark.__file__).parent
        self._started: list[subprocess.Popen] = []
        self._servers: dict[str, subprocess.Popen] = {}
        settings = folder / "conf"
        settings.mkdir()
        (settings / "log4j2.properties").write_text(TALKATIVE)
        (settings / "spark-defaults.conf").write_text(DEFAULTS)
        self.environment = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_CONF_DIR": str(settings)}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self._started):
            process.kill()
            process.wait()

    def start(self, name: str, program: str, *arguments: str) -> subprocess.Popen:
        """Start a program of Spark that logs to a file of this name."""
        given = {
            "SPARK_HOME": str(self._home),
            "SPARK_LAUNCHER_OPTS": QUICK,
            **self.environment,
        }
        if program == "spark-class":
            given |= {"SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": QUICK}
        with (self.folder / f"{name}.log").open("wb") as output:
            process = subprocess.Popen(
                [self._home / "bin" / program, *arguments],
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                env=os.environ | given,
            )
        self._started.append(process)
        return process

    def start_connect(self, name: str, master: str, **settings: str) -> str:
        """Start a Spark Connect server, and return its address."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        given = {
            **SESSION,
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(port),
            **settings,
        }
        process = self.start(
            name,
            "spark-submit",
            *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer"),
            *("--master", master),
            *(word for key, value in given.items() for word in ("--conf", f"{key}={value}")),
            "spark-internal",
        )

        def is_up() -> bool:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                return True
            return False

        self.wait_for(name, process, is_up)
        address = f"sc://127.0.0.1:{port}"
        self._servers[address] = process
        return address

    def end_connect(self, address: str) -> None:
        """End a Spark Connect server; the cluster has its cores again."""
        process = self._servers.pop(address)
        process.kill()
        process.wait()

    def wait_for(self, name: str, process: subprocess.Popen, is_done: Callable[[], bool]) -> None:
        """Wait until a process has come so far, and say what it logged if it does not."""
        until = time.monotonic() + WAIT
        while not is_done():
            if time.monotonic() > until or process.poll() is not None:
                raise RuntimeError(f"{name} did not start; its log ends: {self.log(name)[-2000:]}")
            time.sleep(0.1)

    def log(self, name: str) -> str:
        """Return what a program has logged so far."""
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def every_log(self) -> list[str]:
        """Return all that the programs and the executors of workers have logged."""
        paths = [*self.folder.glob("*.log"), *self.executor_logs()]
        return [path.read_text(errors="replace") for path in paths]

    def executor_logs(self) -> list[Path]:
        """Return the files that executors have written to."""
        return [each for each in self.folder.glob("work*/*/*/std*") if each.is_file()]


class Cluster(Processes):
    """A master and two workers on loopback, each with one core for every driver."""

    def __init__(self, folder: Path, *, cores: int = 2) -> None:
        super().__init__(folder)
        self._cores = cores

    def __enter__(self) -> Self:
        self._workers: list[subprocess.Popen] = []
        self._killed = 0
        try:
            process = self.start("master", "spark-class", f"{_DEPLOY}.master.Master", *_PLACE)
            found = re.compile(r"Starting Spark master at (spark://127\.0\.0\.1:\d+)")
            self.wait_for("master", process, lambda: bool(found.search(self.log("master"))))
            self.address = found.findall(self.log("master"))[0]
            self.start_worker()
            self.start_worker()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start_worker(self) -> None:
        """Add a worker and wait until the master knows it."""
        number = len(self._workers) + 1
        name = f"worker{number}"
        process = self.start(
            name,
            "spark-class",
            f"{_DEPLOY}.worker.Worker",
            *_PLACE,
            *("--cores", str(self._cores), "--memory", "4G"),
            *("--work-dir", str(self.folder / f"work{number}"), self.address),
        )
        self._workers.append(process)
        self.wait_for(name, process, lambda: "Successfully registered" in self.log(name))

    def kill_worker(self) -> None:
        """Kill the oldest worker that is left, together with its executors, at once."""
        worker = self._workers[self._killed]
        executors = _executors_of(worker.pid)
        if not executors:
            raise RuntimeError("the worker that is to be killed has no executor")
        for process in (worker.pid, *executors):
            os.kill(process, signal.SIGKILL)
        worker.wait()
        self._killed += 1


def _executors_of(worker: int) -> list[int]:
    """Return the executors that a worker has started: its children."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent = int(status.read_text().rpartition(")")[2].split()[1])
            if parent == worker and b"ExecutorBackend" in (status.parent / "cmdline").read_bytes():
                found.append(int(status.parent.name))
    return found

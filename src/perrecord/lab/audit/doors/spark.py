"""Spark as a door: a DataFrame of a local session, whose rows never leave it unsummed."""

import shutil
import warnings
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from perrecord.lab.audit.doors.door import Door, DoorSource, arrow_of, package
from perrecord.lab.audit.doors.held import Held

_KINDS = (
    *("int8", "int16", "int32", "int64", "float32", "float64"),
    *("decimal(4,2)", "decimal(9,3)", "decimal(18,1)"),
)


def spark_doors() -> list[Door]:
    """Return Spark's door, if there is a Java to run it."""
    needs = ("pyspark",) if shutil.which("java") else ("pyspark", "java")
    return [Door("Spark", _spark, _KINDS, needs=needs, records=12, every=20, is_named=True)]


def _spark(_: Path, held: Held, __: Random) -> DoorSource:
    return DoorSource(_session().createDataFrame(arrow_of(held)))


@cache
def _session() -> Any:
    """Return a local session in ANSI mode that says nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own imports warn of pandas and sockets
        builder = package("pyspark.sql").SparkSession.builder.master("local[2]")
        for name, value in {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.sql.ansi.enabled": "true",
            "spark.sql.shuffle.partitions": "2",
        }.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
    return session

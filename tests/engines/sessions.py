"""Sessions for programs that run as processes of their own."""

import warnings
from typing import Any

from tests.engines.cluster import SESSION


def session_at(address: str, **settings: str) -> Any:
    """Return a classic session on a master, or a session of a Spark Connect server."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pyspark's own imports warn of pandas and sockets
        from pyspark.sql import SparkSession

        if address.startswith("sc://"):
            return SparkSession.builder.remote(address).getOrCreate()
        builder = SparkSession.builder.master(address)
        for name, value in (SESSION | settings).items():
            builder = builder.config(name, value)
        return builder.getOrCreate()

"""The same integers from every engine, and from Spark on a cluster."""

"""Exact numbers: the type that holds them, and the one place where it is opened."""

"""Exact numbers have a type of their own."""

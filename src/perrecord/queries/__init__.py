"""Queries as frozen values, from Python or SQL text; their plan and their policies."""

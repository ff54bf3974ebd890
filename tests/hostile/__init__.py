"""Hostile input: bad specs, bad data, bad keys."""

"""Tests of perrecord.experiments."""

"""Tests of perrecord.lab.experiments."""

"""Tests of perrecord."""

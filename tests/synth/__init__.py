"""Tests of the generators."""

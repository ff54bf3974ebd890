"""Tests of what records and units lose."""

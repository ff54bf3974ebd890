"""Tests of tables and keys."""

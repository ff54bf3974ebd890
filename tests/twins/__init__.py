"""Broken twins: one deliberate fault each, and the test that catches it."""

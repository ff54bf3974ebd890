"""Tests of what the curator alone may see."""

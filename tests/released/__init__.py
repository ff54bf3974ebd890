"""Tests of what is made of noisy numbers."""

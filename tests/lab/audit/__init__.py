"""Tests of the audits, each with deliberately broken twins that it must catch."""

"""Tests of how accurate answers will be."""

"""Tests of goals, fitness for use and tuning."""

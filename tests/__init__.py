"""Tests of perrecord."""

EXAMPLES = 50
"""How many examples Hypothesis tries of a property that does not say so itself; of twins, too."""

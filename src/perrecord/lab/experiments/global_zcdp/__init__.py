"""Plain zCDP on skewed data: sums clamped at the best bound still err too much."""

"""Amounts and schemes that reach a goal of accuracy at the least loss, or keep losses low."""

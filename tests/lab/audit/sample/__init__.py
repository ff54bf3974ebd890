"""The black-box audit."""

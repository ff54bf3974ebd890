"""The policy page in a real browser."""

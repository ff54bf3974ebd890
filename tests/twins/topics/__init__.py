"""The twins by topic."""

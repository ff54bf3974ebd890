"""The black-box audit: run a mechanism with and without a record, and bound what it gives away."""

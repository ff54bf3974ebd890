"""Finding the keys of a group-by: what splitting and its delta cost and bring."""

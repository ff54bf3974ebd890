"""The release of every county and industry, measured end to end beside its alternatives."""

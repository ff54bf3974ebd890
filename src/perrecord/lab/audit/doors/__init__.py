"""The replay audit through every door: the same records as files, frames, databases, mechanisms."""

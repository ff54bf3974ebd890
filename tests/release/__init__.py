"""The release: its spec, and what is published beside the answers."""

"""Digests of what the library gives under given bits, to show that a change changes nothing."""

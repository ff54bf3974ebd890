"""Synthetic data of known shape, to try things on. Nothing here reads confidential data."""

from perrecord.synth.business import business

__all__ = ["business"]

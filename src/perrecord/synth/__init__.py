"""Synthetic data of known shape, to try things on. Nothing here reads confidential data."""

from perrecord.synth.business import business
from perrecord.synth.cattle import cattle
from perrecord.synth.nass import Loaded, nass
from perrecord.synth.published import Published, published
from perrecord.synth.simulation import simulation

__all__ = ["Loaded", "Published", "business", "cattle", "nass", "published", "simulation"]

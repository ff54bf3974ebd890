"""Synthetic data of known shape, to try things on. Nothing here reads confidential data."""

from perrecord.lab.synth.business import business
from perrecord.lab.synth.cattle import cattle
from perrecord.lab.synth.nass import Loaded, nass
from perrecord.lab.synth.published import PublishedCounts, published
from perrecord.lab.synth.simulation import simulation

__all__ = ["Loaded", "PublishedCounts", "business", "cattle", "nass", "published", "simulation"]

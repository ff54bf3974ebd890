"""Noise laws as distributions: enclosed tails, quantiles and variances. No randomness here."""

from perrecord.laws.enclosure import Enclosure
from perrecord.laws.gaussian import DiscreteGaussian
from perrecord.laws.laplace import DiscreteLaplace
from perrecord.laws.law import Law
from perrecord.laws.student import DiscreteStudent

__all__ = ["DiscreteGaussian", "DiscreteLaplace", "DiscreteStudent", "Enclosure", "Law"]

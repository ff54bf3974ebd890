"""Renyi divergences of the real laws on the integers, by plain sums: what checks bounds."""

import numpy as np

ALPHAS = np.array([1.0005, 1.05, 1.3, 2.0, 4.0, 12.0])


def divergences(p, q):
    """Return D_alpha(p||q)/alpha for every alpha, of logarithms of laws along the last axis."""
    weights = ALPHAS * p[..., None] + (1 - ALPHAS) * q[..., None]
    return np.logaddexp.reduce(weights, axis=-2) / (ALPHAS - 1) / ALPHAS


def worst(p, q):
    """Return the largest D_alpha/alpha in both directions."""
    return float(max(divergences(p, q).max(), divergences(q, p).max()))


def around(*centres, reach=400):
    """Return the integers around some centres that matter to any of them."""
    return np.arange(min(centres) - reach, max(centres) + reach + 1)


def gaussian(points, centre, sigma_squared):
    """Return the logarithms of a discrete Gaussian law on points."""
    weights = -((points - centre) ** 2) / (2 * float(sigma_squared))
    return weights - np.logaddexp.reduce(weights)


def laplace(points, centre, scale):
    """Return the logarithms of a discrete Laplace law on points."""
    weights = -np.abs(points - centre) / float(scale)
    return weights - np.logaddexp.reduce(weights)


def shifted_gaussian(one, other, sigma_squared):
    """Return the largest D_alpha/alpha between noisy numbers with these exact values."""
    points = around(one, other)
    laws = (gaussian(points, centre, sigma_squared) for centre in (one, other))
    return worst(*laws) if one != other else 0.0


def shifted_laplace(one, other, scale):
    """Return the largest logarithm of a likelihood ratio between noisy numbers."""
    points = around(one, other, reach=40)
    return float(np.abs(laplace(points, one, scale) - laplace(points, other, scale)).max())

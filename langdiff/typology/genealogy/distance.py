"""Distances between places on Earth, and the covariance of neighbours."""

import numpy as np

from langdiff.base.types import Floats

EARTH = 6371.0088  # kilometres, mean radius
# Ranges in kilometres among which the likelihood chooses. Left free, the range runs off: below the distance of
# neighbours the kernel is nearly the identity, which the residual has already, and above the size of continents it is
# nearly constant, which the intercept has. Factors of two, since likelihoods of a hundred languages are flat between.
RANGES = (250.0, 500.0, 1000.0, 2000.0, 4000.0)


def great_circle(latitude: Floats, longitude: Floats) -> Floats:
    """Return the distances between places along the surface of a sphere.

    Parameters
    ----------
    latitude, longitude : ndarray, shape (n,)
        Places in degrees.

    Returns
    -------
    ndarray, shape (n, n)
        Kilometres.

    Examples
    --------
    >>> great_circle(np.array([0.0, 0.0, 90.0]), np.array([0.0, 90.0, 0.0])).round()
    array([[    0., 10008., 10008.],
           [10008.,     0., 10008.],
           [10008., 10008.,     0.]])
    """
    phi, theta = np.radians(latitude), np.radians(longitude)
    half_phi = np.sin(np.subtract.outer(phi, phi) / 2) ** 2
    half_theta = np.sin(np.subtract.outer(theta, theta) / 2) ** 2
    haversine = np.clip(half_phi + np.outer(np.cos(phi), np.cos(phi)) * half_theta, 0, 1)
    distance: Floats = 2 * EARTH * np.arcsin(np.sqrt(haversine))
    return distance


def exponential_kernel(kilometres: Floats, range_km: float) -> Floats:
    r"""Return the covariance of places, :math:`K_{ij} = \exp(-d_{ij} / \rho)`.

    It is a covariance for every range of distances along a sphere; of the Matérn family only the members at most as
    smooth as this one are (Gneiting 2013).

    Parameters
    ----------
    kilometres : ndarray, shape (n, n)
        Distances.
    range_km : float
        Distance at which the covariance has fallen to 1/e, positive.

    Examples
    --------
    >>> exponential_kernel(np.array([[0.0, 500.0], [500.0, 0.0]]), 500.0).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """
    kernel: Floats = np.exp(-kilometres / range_km)
    return kernel

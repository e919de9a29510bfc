r"""Variances of many small samples, each drawn towards what all have in common.

The true variances are taken to be :math:`d_0 s_0^2` over a chi-square with :math:`d_0` degrees of freedom. The
logarithm of a sample variance with d degrees of freedom then has the variance :math:`\psi'(d/2) + \psi'(d_0/2)`
(trigamma), from which :math:`d_0` follows, and each variance becomes :math:`(d_0 s_0^2 + d s^2) / (d_0 + d)`. See Smyth
(2004), Stat. Appl. Genet. Mol. Biol. 3, section 6.2, and `squeezeVar` in Bioconductor's limma.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, polygamma

from langdiff.base.types import Floats

SMALLEST = 1e-5  # of the median: a sample variance of 0 has no logarithm
WIDEST = 1e7  # ψ' of half the degrees of freedom beyond which d₀ is as small as it gets


class Moderated(NamedTuple):
    """Variances drawn towards their prior, that prior, and its degrees of freedom, which may be infinite."""

    variances: Floats
    prior: float
    prior_freedom: float

    def moderate(self, variances: Floats, freedom: Floats) -> Floats:
        """Draw further variances towards the prior."""
        if np.isinf(self.prior_freedom):
            return np.full_like(variances, self.prior)
        drawn: Floats = (self.prior_freedom * self.prior + freedom * variances) / (self.prior_freedom + freedom)
        return drawn


def moderate_variances(variances: Floats, freedom: Floats) -> Moderated:
    """Estimate the prior of sample variances and draw them towards it.

    Parameters
    ----------
    variances : ndarray, shape (n,)
        Sample variances, not all 0.
    freedom : ndarray, shape (n,)
        Their degrees of freedom; a sample with none takes the prior.

    Returns
    -------
    Moderated

    Examples
    --------
    >>> found = moderate_variances(np.array([0.5, 1.0, 2.0, 30.0]), np.full(4, 5.0))
    >>> round(found.prior_freedom, 2), round(found.prior, 2)
    (1.44, 1.25)
    """
    known = freedom > 0
    s, d = variances[known], freedom[known]
    s = np.maximum(s, SMALLEST * np.median(s))
    logs = np.log(s) - digamma(d / 2) + np.log(d / 2)
    excess = logs.var(ddof=1) - polygamma(1, d / 2).mean() if len(s) > 1 else 0.0
    if excess > 0:
        prior_freedom = 2 * _inverse_trigamma(min(float(excess), WIDEST))
        prior = float(np.exp(logs.mean() + digamma(prior_freedom / 2) - np.log(prior_freedom / 2)))
    else:
        prior_freedom, prior = np.inf, float(s.mean())
    result = Moderated(variances, prior, prior_freedom)
    return result._replace(variances=result.moderate(variances, freedom))


def _inverse_trigamma(value: float) -> float:
    # 1/x + 1/(2x²) < ψ'(x) < 1/x + 1/x²
    low, high = ((1 + np.sqrt(1 + power * value)) / (2 * value) for power in (2, 4))
    return float(brentq(lambda x: float(polygamma(1, x)) - value, low, high, xtol=1e-14, rtol=1e-14))

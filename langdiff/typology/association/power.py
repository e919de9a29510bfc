"""How strong a correlation must be for a number of languages to show it."""

import numpy as np
from scipy import optimize, stats

from langdiff.errors import ConfigError, option


def power_of_correlation(r: float, n: int, *, alpha: float = 0.05, n_tests: int = 1) -> float:
    r"""Return the probability that a correlation is significant.

    Fisher's approximation with its correction for bias (Cohen 1988, section 12.4.1): artanh of the estimate is
    normal with mean :math:`\operatorname{artanh} r + r/(2(n-1))` and standard deviation
    :math:`1/\sqrt{n-3}`; it is held against the critical value of Student's t.

    Parameters
    ----------
    r : float
        True correlation, between −1 and 1.
    n : int
        Number of languages, at least 4. Where related languages are alike, the number of families is the safer
        figure.
    alpha : float
        Level of the two-sided test.
    n_tests : int
        Number of tests in the family of Benjamini and Hochberg; the strictest level, alpha / n_tests, is used,
        which a single true effect among them must pass.

    Returns
    -------
    float
        Probability between 0 and 1.

    Raises
    ------
    ConfigError
        If an argument is out of range.

    Examples
    --------
    >>> round(power_of_correlation(0.5, 21), 2), round(power_of_correlation(0.5, 61), 2)
    (0.66, 0.99)
    """
    _check(n, alpha, n_tests)
    if not -1 < r < 1:
        raise ConfigError(f"{option('r', r)}: a true correlation must lie between -1 and 1.")
    t = float(stats.t.isf(alpha / n_tests / 2, n - 2))
    critical = np.arctanh(t / np.sqrt(t**2 + n - 2))
    center = np.arctanh(abs(r)) + abs(r) / (2 * (n - 1))
    root = np.sqrt(n - 3)
    return float(stats.norm.cdf((center - critical) * root) + stats.norm.cdf((-center - critical) * root))


def detectable_correlation(n: int, *, power: float = 0.8, alpha: float = 0.05, n_tests: int = 1) -> float:
    """Return the smallest correlation that `n` languages show with a given power; see `power_of_correlation`.

    Parameters
    ----------
    n, alpha, n_tests
        Number of languages, level of the test, and size of the family of tests; see `power_of_correlation`.
    power : float
        Probability with which the correlation is to be found; above alpha / n_tests, below 1.

    Returns
    -------
    float
        Positive; a negative correlation of the same size is detected equally well.

    Raises
    ------
    ConfigError
        If an argument is out of range.

    Examples
    --------
    >>> [round(detectable_correlation(n), 2) for n in (21, 61)]
    [0.57, 0.35]
    >>> [round(detectable_correlation(n, n_tests=36), 2) for n in (21, 61)]
    [0.74, 0.49]
    """
    _check(n, alpha, n_tests)
    if not alpha / n_tests < power < 1:
        raise ConfigError(f"{option('power', power)} must lie between the level ({alpha / n_tests:g}) and 1.")
    return float(
        optimize.brentq(lambda r: power_of_correlation(r, n, alpha=alpha, n_tests=n_tests) - power, 0.0, 1 - 1e-12)
    )


def _check(n: int, alpha: float, n_tests: int) -> None:
    if n < 4:
        raise ConfigError(f"{option('n', n)}: at least 4 languages are needed.")
    if not 0 < alpha < 1:
        raise ConfigError(f"{option('alpha', alpha)} must lie between 0 and 1.")
    if n_tests < 1:
        raise ConfigError(f"{option('n_tests', n_tests)}: at least one is needed.")

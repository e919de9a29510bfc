"""What attributes of systems say of their abilities: a regression on as many observations as there are systems."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from scipy.stats import t as student

from langdiff.base.result import Result
from langdiff.base.types import Floats
from langdiff.errors import ConfigError, DataError
from langdiff.regression.design import columns_of_formula
from langdiff.regression.outcomes.estimate import centring
from langdiff.regression.outcomes.result import OutcomeFit

LARGEST_RATIO = 1e4  # of the variance between systems to the largest sampling variance


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class AbilityRegression(Result):
    r"""A regression of abilities on attributes of systems, :math:`\hat\theta \sim \mathcal{N}(Z\alpha, V + \tau^2 I)`.

    Attributes
    ----------
    terms : DataFrame
        One row per term: ``estimate``, ``std_error``, ``low``, ``high`` (95 % interval), log odds, and ``p_value``.
    tau : float
        Standard deviation of abilities that the terms do not explain, log odds.
    scale : float
        Knapp and Hartung's factor of variances, at least 1.
    degrees_of_freedom : int
        Systems less terms and constant.
    formula : str
        The formula.
    signature : str
        That of the fit.
    """

    terms: pd.DataFrame
    tau: float
    scale: float
    degrees_of_freedom: int
    formula: str
    signature: str

    def to_frame(self) -> pd.DataFrame:
        """Return one row per term; see `terms`.

        Returns
        -------
        DataFrame
            The terms.
        """
        return self.terms

    def _lines(self) -> Iterator[str]:
        yield (
            f"abilities ~ {self.formula}: tau {self.tau:.4f} log odds, {self.degrees_of_freedom} degrees of freedom, "
            f"Knapp-Hartung scale {self.scale:.2f}"
        )

    def __repr__(self) -> str:
        """Return the formula and its degrees of freedom."""
        return f"AbilityRegression: {self.formula}, {self.degrees_of_freedom} degrees of freedom"


def explain_abilities(fit: OutcomeFit, formula: str) -> AbilityRegression:
    r"""Regress abilities on attributes of the systems.

    In the formula of `fit_outcomes` a covariate of systems would take all cells for evidence on a few systems; here
    there is one observation per system, with its sampling error, and what terms do not explain varies between systems.
    τ² is estimated by restricted maximum likelihood, intervals follow Knapp and Hartung (2003), whose scale is not
    let below 1.

    Parameters
    ----------
    fit : OutcomeFit
        Fit whose abilities are to be explained; its `systems` have the attributes.
    formula : str
        Right-hand side in Wilkinson's notation, such as ``"log(size)"``.

    Returns
    -------
    AbilityRegression
        Terms with t intervals; the constant is left out, since abilities average 0.

    Raises
    ------
    ConfigError
        If the formula cannot be used with the attributes of the systems.
    DataError
        If there are too few systems for the terms, or the fit did not converge.

    Examples
    --------
    >>> import langdiff as ld
    >>> truth = ld.simulate_outcomes(300, 6, seed=1)
    >>> sizes = pd.DataFrame({"size": [1.0, 2, 3, 5, 8, 13]}, index=truth.outcomes.systems.index)
    >>> fit = ld.fit_outcomes(truth.outcomes.with_systems(sizes))
    >>> ld.explain_abilities(fit, "size")
    AbilityRegression: size, 4 degrees of freedom
    """
    if not isinstance(fit, OutcomeFit):
        raise ConfigError(f"fit must be an OutcomeFit, not {type(fit).__name__}; see fit_outcomes.")
    abilities = fit.abilities
    theta, v = abilities.estimate.to_numpy(dtype=float), abilities.covariance.to_numpy(dtype=float)
    if not np.isfinite(v).all():
        raise DataError("the covariance of the abilities is not known.")
    terms = columns_of_formula(formula, fit.systems, "system")
    freedom = len(theta) - terms.shape[1] - 1
    if freedom < 1:
        raise DataError(
            f"{len(theta)} systems are too few for {terms.shape[1]} term(s) and a constant: at least "
            f"{terms.shape[1] + 2} are needed."
        )
    basis = centring(len(theta))  # abilities are known up to their mean, which the constant takes
    y, z, v = basis.T @ theta, basis.T @ terms.to_numpy(dtype=float), basis.T @ v @ basis
    tau2 = _restricted_maximum(y, z, v)
    weight = np.linalg.inv(v + tau2 * np.eye(len(y)))
    bread = np.linalg.inv(z.T @ weight @ z)
    alpha = bread @ z.T @ weight @ y
    left = y - z @ alpha
    scale = max(1.0, float(left @ weight @ left) / freedom)
    std_error = np.sqrt(scale * np.diag(bread))
    half = float(student.ppf(0.975, freedom)) * std_error
    frame = pd.DataFrame(
        {
            "estimate": alpha,
            "std_error": std_error,
            "low": alpha - half,
            "high": alpha + half,
            "p_value": 2 * student.sf(np.abs(alpha) / std_error, freedom),
        },
        index=pd.Index(terms.columns, name="term"),
    )
    return AbilityRegression(
        terms=frame,
        tau=float(np.sqrt(tau2)),
        scale=scale,
        degrees_of_freedom=freedom,
        formula=formula,
        signature=f"{fit.signature}|abilities:{formula}",
    )


def _restricted_maximum(y: Floats, z: Floats, v: Floats) -> float:
    """Return τ² at the maximum of the restricted likelihood, 0 included."""

    def loss(tau2: float) -> float:
        total = v + tau2 * np.eye(len(y))
        weight = np.linalg.inv(total)
        information = z.T @ weight @ z
        left = y - z @ np.linalg.solve(information, z.T @ weight @ y)
        return float(np.linalg.slogdet(total)[1] + np.linalg.slogdet(information)[1] + left @ weight @ left)

    unit = max(float(np.var(y)), float(np.diag(v).max()))
    grid = unit * np.concatenate([[0.0], np.geomspace(1 / LARGEST_RATIO, LARGEST_RATIO, 81)])
    losses = [loss(tau2) for tau2 in grid]
    best = int(np.argmin(losses))
    bounds = (grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)])
    found = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-10 * unit})
    return float(found.x) if found.fun < losses[best] else float(grid[best])

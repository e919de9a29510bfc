"""Regression of effects on what is known of those that have them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar

from langdiff.base.result import Result
from langdiff.base.types import Floats
from langdiff.errors import ConfigError, DataError, listing
from langdiff.regression.design import columns_of_formula
from langdiff.tables.effect_sources import EffectsLike, as_effects
from langdiff.tables.rule import t_interval, t_p

LARGEST_RATIO = 1e4  # of the variance that is not explained to the largest sampling variance


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Explanation(Result):
    r"""A regression of effects on attributes, :math:`\hat\theta \sim \mathcal{N}(Z\alpha, V + \tau^2 I)`.

    Attributes
    ----------
    terms : DataFrame
        One row per term: ``estimate``, ``std_error``, ``low``, ``high`` (95 % interval), in the unit of the effects,
        and ``p_value``.
    tau : float
        Standard deviation of effects that the terms do not explain, in their unit.
    scale : float
        Knapp and Hartung's factor of variances, at least 1.
    degrees_of_freedom : int
        Effects less terms and constant.
    formula : str
        The formula.
    signature : str
        That of the effects, and the formula.
    quantity, unit : str
        Quantity and unit of the effects.
    """

    terms: pd.DataFrame
    tau: float
    scale: float
    degrees_of_freedom: int
    formula: str
    signature: str
    quantity: str = "ability"
    unit: str = "log odds"

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
            f"{self.quantity} ~ {self.formula}: tau {self.tau:.4f} {self.unit}, {self.degrees_of_freedom} degrees of "
            f"freedom, Knapp-Hartung scale {self.scale:.2f}"
        )

    def __repr__(self) -> str:
        """Return the formula and its degrees of freedom."""
        return f"{type(self).__name__}: {self.formula}, {self.degrees_of_freedom} degrees of freedom"


def explain(effects: EffectsLike, formula: str, table: pd.DataFrame) -> Explanation:
    r"""Regress effects on attributes of what has them, with errors of estimates and variation that is not explained.

    Effects are taken as normal with covariance :math:`V + \tau^2 I`, V that of their estimates, and τ² is found by
    restricted maximum likelihood. Standard errors are those of Knapp and Hartung (2003), "Improved tests for a random
    effects meta-regression with a single covariate", never below those of the model.

    Parameters
    ----------
    effects : Effects, fit, Series or DataFrame
        Difficulties or abilities with their covariance: those of a fit, its ``two_way.languages`` or
        ``two_way.systems``, abilities of an outcome fit.
    formula : str
        Right-hand side in Wilkinson's notation, such as ``"log(size)"``.
    table : DataFrame
        Attributes, indexed by the names of the effects; other rows are ignored.

    Returns
    -------
    Explanation
        Terms with t intervals; the constant is left out, since effects are known up to their average.

    Raises
    ------
    ConfigError
        If the formula cannot be used with the attributes.
    DataError
        If an effect has no row or several, there are too few effects for the terms, or their covariance is not known.

    Examples
    --------
    >>> import langdiff as ld
    >>> fit = ld.fit(ld.simulate(200, 6, seed=1).surprisals)
    >>> vowels = pd.DataFrame({"vowels": [3, 5, 5, 7, 8, 12]}, index=fit.difficulty.index)
    >>> ld.explain(fit, "vowels", vowels)
    Explanation: vowels, 4 degrees of freedom
    """
    found = as_effects(effects)
    theta, v = found.estimate.to_numpy(dtype=float), found.covariance.to_numpy(dtype=float)
    if not (found.converged and np.isfinite(v).all()):
        raise DataError("the covariance of the effects is not known.")
    if not isinstance(table, pd.DataFrame):
        raise ConfigError(f"table must be a DataFrame of attributes, not {type(table).__name__}.")
    names, what = found.estimate.index, found.unit_name
    if len(names) and all(str(name).count("@") == 1 for name in names):
        raise ConfigError(
            f"these effects are of columns, each a language under a system ({listing(names[:2])}, …), which are not "
            "independent: explain two_way.systems by attributes of systems, or two_way.languages by those of languages."
        )
    lacking = names[~names.isin(table.index)]
    if len(lacking) or table.index.has_duplicates:
        twice = table.index[table.index.duplicated()].unique()
        which = f"no row for {listing(lacking)}" if len(lacking) else f"several rows for {listing(twice)}"
        raise DataError(f"the table of attributes has {which}; give each {what} one.")
    terms = columns_of_formula(formula, table.loc[names], what)
    freedom = len(theta) - terms.shape[1] - 1
    if freedom < 1:
        raise DataError(
            f"{len(theta)} {what}s are too few for {terms.shape[1]} term(s) and a constant: at least "
            f"{terms.shape[1] + 2} are needed."
        )
    basis = np.linalg.qr(np.column_stack([np.ones(len(theta)), np.eye(len(theta))[:, 1:]]))[0][:, 1:]  # no constant
    y, z, v = basis.T @ theta, basis.T @ terms.to_numpy(dtype=float), basis.T @ v @ basis
    tau2 = _restricted_maximum(y, z, v)
    weight = np.linalg.inv(v + tau2 * np.eye(len(y)))
    bread = np.linalg.inv(z.T @ weight @ z)
    alpha = bread @ z.T @ weight @ y
    left = y - z @ alpha
    scale = max(1.0, float(left @ weight @ left) / freedom)
    std_error = np.sqrt(scale * np.diag(bread))
    low, high = t_interval(alpha, std_error, freedom)
    frame = pd.DataFrame(
        {
            "estimate": alpha,
            "std_error": std_error,
            "low": low,
            "high": high,
            "p_value": t_p(alpha, std_error, freedom),
        },
        index=pd.Index(terms.columns, name="term"),
    )
    return Explanation(
        terms=frame,
        tau=float(np.sqrt(tau2)),
        scale=scale,
        degrees_of_freedom=freedom,
        formula=formula,
        signature="|".join(filter(None, [found.signature, f"explained:{formula}"])),
        quantity=found.scale.quantity,
        unit=found.scale.unit,
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

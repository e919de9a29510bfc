"""The outcome of a regression of successes."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
from scipy.stats import norm

from langdiff.base.io import as_path, write_text
from langdiff.errors import ConfigError
from langdiff.regression.outcomes import prediction
from langdiff.regression.outcomes.design import ItemDesign, design_items
from langdiff.regression.outcomes.likelihood import Point
from langdiff.regression.outcomes.publish import (
    ABILITY,
    CORRELATION,
    DIFFICULTY,
    PROFILE,
    SPREAD,
    part_of,
)
from langdiff.regression.outcomes.records import ErrorRecord, LikelihoodRatio, LikelihoodsCompared, ProfileTest
from langdiff.regression.outcomes.saving import read_document, to_json
from langdiff.regression.outcomes.summary import summary_of
from langdiff.tables.contrasts import Scale
from langdiff.tables.effects import Effects
from langdiff.tables.outcomes import Outcomes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OutcomeModel = Literal["rasch", "beta-binomial", "slopes", "conditional"]

NORMAL = float(norm.ppf(0.975))
ABILITIES = Scale(quantity="ability", unit="log odds", first="ablest", centre="mean")
DIFFICULTIES = Scale(quantity="difficulty", unit="log odds", first="hardest", centre="mean")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class OutcomeFit:
    r"""Abilities of systems and difficulties of items, from successes out of trials.

    .. math:: \eta_{ij} = \theta_j - x_i^\top\beta - \lambda_j \sigma v_i

    Attributes
    ----------
    model : str
        ``"rasch"``, ``"beta-binomial"``, ``"slopes"`` or ``"conditional"``.
    name : str
        Name of the table of outcomes.
    parameters : DataFrame
        ``estimate`` and ``std_error`` of all parameters, in log odds but for ``loading`` λ and ``correlation`` ρ;
        indexed by (parameter, name).
    covariance : DataFrame
        Joint sampling covariance of the parameters; NaN of a variance that is estimated as 0.
    errors : ErrorRecord
        Where the standard errors come from.
    items : DataFrame, I rows
        ``difficulty`` and ``std_dev``: mean and standard deviation of the difficulty of each item given its outcomes,
        log odds. The means are drawn towards those of their group, so that they are not to be ranked. Then the
        attributes that the model uses. Of the conditional model attributes only.
    systems : DataFrame, J rows
        Attributes of the systems.
    by, formula, interaction : str or None
        What the difficulties depend on, as given.
    log_likelihood : float
        Log-likelihood at the estimates, binomial coefficients included.
    variation : LikelihoodRatio or None
        Test that items do not differ beyond chance, σ = 0; None in the conditional model.
    overdispersion : LikelihoodRatio or None
        Test that trials of a cell are independent, ρ = 0; None but in the beta-binomial model.
    interacts : ProfileTest or None
        Test that the profile is flat; None without an interaction.
    compared : LikelihoodsCompared or None
        Distance to the conditional abilities, if cells are missing, the model is ``"rasch"`` without an interaction,
        and they exist.
    cells, trials : int
        Observed cells and trials.
    converged : bool
        Whether the last Newton step was short, and the information positive definite.
    n_iterations : int
        Number of Newton steps.
    step : float
        Length of the last one, in standard errors.
    point : Point
        The estimates as the search has them.
    signature : str
        Everything the numbers depend on, to be quoted with them.

    Examples
    --------
    >>> import langdiff as ld
    >>> fit = ld.fit_outcomes(ld.simulate_outcomes(300, 4, seed=1).outcomes)
    >>> fit
    OutcomeFit: rasch, 300 items × 4 systems, sigma ..., converged
    >>> fit.abilities.contrast("s4", "s1").estimate > 0
    True
    """

    model: OutcomeModel
    name: str
    parameters: pd.DataFrame
    covariance: pd.DataFrame
    errors: ErrorRecord
    items: pd.DataFrame
    systems: pd.DataFrame
    by: str | None
    formula: str | None
    interaction: str | None
    log_likelihood: float
    variation: LikelihoodRatio | None
    overdispersion: LikelihoodRatio | None
    interacts: ProfileTest | None
    compared: LikelihoodsCompared | None
    cells: int
    trials: int
    converged: bool
    n_iterations: int
    step: float
    point: Point
    signature: str

    @property
    def abilities(self) -> Effects:
        """Abilities of the systems, log odds, averaging 0."""
        return self._effects(ABILITY, "system", ABILITIES)

    @property
    def difficulties(self) -> Effects | None:
        """Difficulties of the groups of items: log odds that the average system fails on the median item of a group.

        None without groups.
        """
        group = self.interaction or self.by
        if group is None or self.model == "conditional":
            return None
        return self._effects(DIFFICULTY, group, DIFFICULTIES)

    @property
    def profile(self) -> Effects | None:
        """How much harder each group is for each system than ability and difficulty say, log odds.

        The effects, named ``"system: group"``, sum to 0 over the systems and over the groups. None without an
        interaction.
        """
        if self.interaction is None:
            return None
        return self._effects(PROFILE, f"system: {self.interaction}", DIFFICULTIES)

    def _effects(self, parameter: str, unit: str, scale: Scale) -> Effects:
        estimate = part_of(self.parameters, parameter)["estimate"]
        index = self.systems.index if parameter == ABILITY else pd.Index(estimate.index, name=unit)
        inside = np.flatnonzero(self.parameters.index.get_level_values(0) == parameter)
        block = self.covariance.to_numpy()[np.ix_(inside, inside)]
        return Effects(
            estimate=pd.Series(estimate.to_numpy(), index, name=scale.quantity),
            covariance=pd.DataFrame(block, index, index),
            scale=scale,
            title=f"{self.name}, {self.model}",
            converged=self.converged,
            signature=self.signature,
        )

    @property
    def spread(self) -> float:
        """σ, the standard deviation of difficulties of items within a group, log odds; NaN if conditioned on."""
        return self._one(SPREAD)

    @property
    def correlation(self) -> float:
        """ρ, the correlation of trials in a cell; NaN but in the beta-binomial model."""
        return self._one(CORRELATION)

    def _one(self, parameter: str) -> float:
        found = part_of(self.parameters, parameter)["estimate"]
        return float(found.iloc[0]) if len(found) else float("nan")

    def to_frame(self) -> pd.DataFrame:
        """Return one row per parameter.

        Returns
        -------
        DataFrame
            Columns ``parameter`` (``ability``, ``difficulty``, ``profile``, ``term``, ``spread``, ``loading``,
            ``correlation``), ``name``, ``estimate``, ``std_error``, ``low`` and ``high`` (95 % interval).

        Examples
        --------
        >>> import langdiff as ld
        >>> frame = ld.fit_outcomes(ld.simulate_outcomes(100, 3, seed=1).outcomes).to_frame()
        >>> frame["parameter"].tolist()
        ['ability', 'ability', 'ability', 'difficulty', 'spread']
        """
        frame = self.parameters.assign(
            low=self.parameters["estimate"] - NORMAL * self.parameters["std_error"],
            high=self.parameters["estimate"] + NORMAL * self.parameters["std_error"],
        )
        return frame.reset_index()

    def summary(self) -> str:
        """Format abilities and difficulties, with what is needed to trust them.

        Returns
        -------
        str
            Several lines: model, convergence, size of the table, variation between items, tests, source of the
            standard errors, tables of abilities and difficulties, other parameters, and the signature.

        Examples
        --------
        >>> import langdiff as ld
        >>> print(ld.fit_outcomes(ld.simulate_outcomes(100, 3, seed=1).outcomes).summary().splitlines()[1])
        300 trials in 300 of 300 cells, 100 items × 3 systems
        """
        return summary_of(self)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw abilities beside the difficulties of items; see `langdiff.plots.plot_wright_map`.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on; by default those of a new figure.

        Returns
        -------
        Axes
            The axes drawn on.

        Raises
        ------
        ConfigError
            If the model is conditional, so that items have no difficulties; `abilities` can be drawn.

        Examples
        --------
        >>> import langdiff as ld
        >>> ld.fit_outcomes(ld.simulate_outcomes(50, 3, seed=1).outcomes).plot().get_ylabel()
        'log odds'
        """
        from langdiff.plots.wright_map import plot_wright_map  # Matplotlib only when asked for

        if self.model == "conditional":
            raise ConfigError("the conditional model has no difficulties of items; draw fit.abilities.plot().")
        return plot_wright_map(self.abilities, self.items["difficulty"], self.difficulties, ax)

    def design(self, items: pd.DataFrame) -> ItemDesign:
        """Return the design of items by their attributes, as the model was fitted.

        Parameters
        ----------
        items : DataFrame
            Attributes of items.

        Returns
        -------
        ItemDesign
            Groups and covariates.
        """
        return design_items(items, self.by, self.formula, self.interaction, known=self.items)

    def predict(self, outcomes: Outcomes) -> pd.DataFrame:
        r"""Predict the probability of a success in every cell, given all outcomes of its item.

        An observed cell is among them; `langdiff.cross_validate_outcomes` with ``over="cells"`` tells how well cells
        are predicted from the others.

        Parameters
        ----------
        outcomes : Outcomes
            Items, old or new, with what is known of them; systems are those of the fit.

        Returns
        -------
        DataFrame, shape (I, J)
            :math:`\int \mathrm{logistic}(\eta_{ij})\, p(v \mid \text{row } i)\, dv`; for a missing cell what its
            success rate may be expected to be. An item without outcomes is predicted from its group.

        Raises
        ------
        ConfigError
            If the model is conditional, so that it has no distribution of items.
        DataError
            If systems are others than those of the fit, or an item lacks an attribute.

        Examples
        --------
        >>> import langdiff as ld
        >>> outcomes = ld.simulate_outcomes(100, 3, seed=1).outcomes
        >>> ld.fit_outcomes(outcomes).predict(outcomes).shape
        (100, 3)
        """
        return prediction.predict(self, outcomes)

    def held_out_log_likelihood(self, held_out: Outcomes, *, given: Outcomes | None = None) -> pd.Series:
        """Return the log-probability of new outcomes of each item.

        Parameters
        ----------
        held_out : Outcomes
            Outcomes that the model was not fitted to, of the systems of the fit.
        given : Outcomes, optional
            Other outcomes of the same items, which say how hard they are.

        Returns
        -------
        Series, shape (I,)
            Natural logarithm of the probability of the successes of each item, one order of trials taken as another;
            0 without outcomes.

        Raises
        ------
        ConfigError
            If the model is conditional.
        DataError
            If systems or items differ.

        Examples
        --------
        >>> import langdiff as ld
        >>> outcomes = ld.simulate_outcomes(100, 3, seed=1).outcomes
        >>> fit = ld.fit_outcomes(outcomes)
        >>> bool(abs(fit.held_out_log_likelihood(outcomes).sum() - fit.log_likelihood) < 1e-9)
        True
        """
        return prediction.held_out_log_likelihood(self, held_out, given)

    def expected_rates(self) -> pd.DataFrame:
        r"""Return the success rate of each system if it had met every item of each group.

        Returns
        -------
        DataFrame
            :math:`\int \mathrm{logistic}(\theta_j - x_i^\top\beta - \lambda_j\sigma v)\, \varphi(v)\, dv`, averaged
            over the items of the fit; one row per group (``"all"`` without groups), one column per system.

        Raises
        ------
        ConfigError
            If the model is conditional.

        Examples
        --------
        >>> import langdiff as ld
        >>> fit = ld.fit_outcomes(ld.simulate_outcomes(100, 3, seed=1).outcomes)
        >>> fit.expected_rates().loc["all"].is_monotonic_increasing
        True
        """
        return prediction.expected_rates(self)

    def to_json(self) -> str:
        """Return all fields as JSON; numbers keep all digits, NaN becomes null.

        Returns
        -------
        str
            A JSON object on one line.

        Raises
        ------
        DataError
            If an item or a system is named by neither text nor a whole number.

        Examples
        --------
        >>> import json
        >>> import langdiff as ld
        >>> json.loads(ld.fit_outcomes(ld.simulate_outcomes(50, 3, seed=1).outcomes).to_json())["model"]
        'rasch'
        """
        return to_json({field.name: getattr(self, field.name) for field in fields(self)})

    def save(self, path: str | Path) -> None:
        """Write all fields as JSON (`to_json`), atomically; `read_outcome_fit` reads them.

        Parameters
        ----------
        path : str or Path
            The file to write, such as ``"fit.json"``.

        Raises
        ------
        DataError
            If an item or a system is named by neither text nor a whole number.
        OutputError
            If the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> import langdiff as ld
        >>> fit = ld.fit_outcomes(ld.simulate_outcomes(50, 3, seed=1).outcomes)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fit.save(f"{folder}/fit.json")
        ...     ld.read_outcome_fit(f"{folder}/fit.json")
        OutcomeFit: rasch, 50 items × 3 systems, sigma ..., converged
        """
        write_text(Path(path), self.to_json() + "\n")

    def __repr__(self) -> str:
        """Return what was fitted and whether it can be trusted."""
        sigma = "" if np.isnan(self.spread) else f", sigma {self.spread:.4g}"
        state = "converged" if self.converged else "NOT CONVERGED"
        return f"OutcomeFit: {self.model}, {len(self.items):,} items × {len(self.systems):,} systems{sigma}, {state}"

    def _repr_html_(self) -> str:
        return f"<p>{self!r}</p>{self.to_frame().to_html(escape=True)}"


def read_outcome_fit(path: str | Path) -> OutcomeFit:
    """Read what `OutcomeFit.save` wrote.

    Parameters
    ----------
    path : str or Path
        A file that `OutcomeFit.save` or ``langdiff outcomes fit --out`` wrote.

    Returns
    -------
    OutcomeFit
        Equal to the one saved; numbers keep all digits.

    Raises
    ------
    DataError
        If the file cannot be read or holds something else.

    Examples
    --------
    >>> import tempfile
    >>> import langdiff as ld
    >>> fit = ld.fit_outcomes(ld.simulate_outcomes(50, 3, seed=1).outcomes)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fit.save(f"{folder}/fit.json")
    ...     ld.read_outcome_fit(f"{folder}/fit.json").parameters.equals(fit.parameters)
    True
    """
    return OutcomeFit(**read_document(as_path(path)))

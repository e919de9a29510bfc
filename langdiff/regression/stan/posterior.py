r"""A posterior ready to be sampled: its program, priors, data, where to start, and names.

Data are the table, or sums over it around a fit that whitens the posterior.

The whitened programs sample under a linear change of variables of constant determinant. With hats for a
fit, v its variances, w = 1/v, M the mask of observed cells (1 or 0) and :math:`N_i` the cells of row i,

.. math::
    d - \bar d &= \hat d + L e, \qquad L L^\top = Q (Q^\top W Q)^{-1} Q^\top, \quad
        W = \sum_i w_i \Bigl(\operatorname{diag}(M_i) - \tfrac{1}{N_i} M_i M_i^\top\Bigr) \\
    \ln\kappa &= \hat k + s k, \qquad s^{-2} = \tfrac12 \sum_i (N_i - 1)
        \Bigl(p_i w_i \frac{1 + q/2}{1 + p_i/2}\Bigr)^2 \\
    r_i - \bar d &= \hat r_i + \frac{1}{1 + p_i/2} \Bigl( \sqrt{v_i/N_i}\, a_i
        + \bigl(1 + \tfrac q2\bigr) s k + \tfrac1{N_i} (M L e)_i \Bigr),
        \qquad r_i = \ln\kappa - \ln n_i

where Q is an orthonormal basis of the vectors with sum 0, :math:`p_i = \kappa/(n_i+\kappa)` and
:math:`q = \kappa/(1+\kappa)`. W is the information on d of the two-way layout, the rows eliminated;
the last two terms of r keep the rows' locations where the cells want them when κ or d moves. So e, a and
k have posterior scale about 1 and little correlation, and Hamiltonian Monte Carlo needs no mass
matrix. The posterior itself does not depend on the fit. Model 1 is whitened exactly; see its program.
"""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np
import pandas as pd
from scipy.linalg import cholesky, helmert, solve_triangular
from scipy.special import logsumexp

from langdiff.base.signature import full_signature, name_of_number
from langdiff.base.types import Floats
from langdiff.errors import ConfigError, DataError, LangdiffWarning, listing
from langdiff.regression.fitting.fit import fit
from langdiff.regression.kernel.likelihood import mu_at_mean
from langdiff.regression.result import DifficultyFit
from langdiff.regression.table import identify_table
from langdiff.regression.variants import StanModel
from langdiff.regression.variants.normal import LogNormal, Normal
from langdiff.regression.variants.variant import Variant
from langdiff.tables.surprisals import Surprisals

Data = dict[str, Any]  # names in the Stan programs to numbers and arrays


def long_data(z: Floats) -> Data:
    """Return the observed cells, edition by edition.

    Shapes: z (I, J).

    Examples
    --------
    >>> data = long_data(np.array([[0.1, np.nan], [0.2, 0.3]]))
    >>> data["row"].tolist(), data["first"].tolist()
    ([1, 2, 2], [1, 3, 4])
    """
    editions, rows = np.nonzero(~np.isnan(z.T))
    per_edition = np.bincount(editions, minlength=z.shape[1])
    return {
        "I": z.shape[0],
        "J": z.shape[1],
        "N": len(rows),
        "z": z[rows, editions],
        "row": rows + 1,
        "first": np.concatenate([[1], 1 + np.cumsum(per_edition)]),
    }


def information(mask: Floats, weight: Floats) -> Floats:
    """Return the information on d of a two-way layout with the rows eliminated, W of the module.

    Shapes: mask (I, J); weight (I,).

    Examples
    --------
    >>> information(np.ones((3, 2)), np.ones(3))
    array([[ 1.5, -1.5],
           [-1.5,  1.5]])
    """
    per_row = mask * (weight / mask.sum(axis=1))[:, None]
    eliminated: Floats = np.diag(weight @ mask) - mask.T @ per_row
    return eliminated


def root_of_inverse(weight: Floats) -> Floats:
    """Return L, shape (J, J − 1), columns summing to 0, with L Lᵀ the pseudo-inverse of `weight`.

    Shapes: weight (J, J).
    """
    q = helmert(len(weight)).T  # (J, J − 1), orthonormal
    lower = cholesky(q.T @ weight @ q, lower=True)
    return solve_triangular(lower, q.T, lower=True).T


def whiten_model_1(z: Floats, difficulty: Floats, log_size: Floats) -> Data:
    """Return the data of ``model_1.stan``.

    Shapes: z (I, J); difficulty, log_size (J,).
    """
    observed = ~np.isnan(z)
    mask = observed.astype(float)
    cells = mask.sum(axis=1)
    d_hat, m_hat = difficulty - difficulty.mean(), log_size + difficulty.mean()
    residual = np.where(observed, z - m_hat[:, None] - d_hat, 0.0)
    squares = np.einsum("ij,ij->i", residual, residual)
    freedom = float(cells.sum() - z.shape[0] - z.shape[1] + 1)
    variance = squares.sum() / freedom
    k_hat = float(np.log(np.expm1(variance)))
    slope = -np.expm1(-variance) / variance  # of ln σ² in ln κ
    root = root_of_inverse(information(mask, np.ones(len(z))))
    return {
        "I": z.shape[0],
        "J": z.shape[1],
        "d_hat": d_hat,
        "d_root": root,
        "m_hat": m_hat,
        "k_hat": k_hat,
        "k_scale": float(np.sqrt(2 / freedom) / slope),
        "cells": cells,
        "sum_of_squares": float(squares.sum()),
        "degrees_of_freedom": freedom,
        "incomplete": int(not mask.all()),
        "mask_root": np.empty((0, root.shape[1])) if mask.all() else mask @ root,
    }


def whiten(z: Floats, difficulty: Floats, log_size: Floats, log_kappa: float) -> Data:
    """Return the data of a fit that the whitened programs of models 2, 2L and 3 take.

    Shapes: z (I, J); difficulty, log_size (J,).
    """
    observed = ~np.isnan(z)
    mask = observed.astype(float)
    cells = mask.sum(axis=1)
    d_hat, m_fit = difficulty - difficulty.mean(), log_size + difficulty.mean()
    level = float(logsumexp(d_hat) - np.log(len(d_hat)))
    location = m_fit + 0.5 * (np.logaddexp(0, log_kappa) - np.logaddexp(0, log_kappa - log_size))
    freedom = cells.sum() - z.shape[0] - z.shape[1] + 1
    k = log_kappa + float(np.log(cells.sum() / freedom)) / (1 - 0.5 * float(np.expm1(-np.logaddexp(0, log_kappa))))
    sigma_square = float(np.logaddexp(0, k))
    log_size = mu_at_mean(location + level - 0.5 * sigma_square - k) + k  # the same locations, at the new κ
    ratio = k - log_size
    v, p, q = np.logaddexp(0, ratio), 1 / (1 + np.exp(-ratio)), -np.expm1(-sigma_square)
    slope = 1 + p / 2  # of a location, less ln κ, in −r
    r_on_k = (1 + q / 2) / slope
    root = root_of_inverse(information(mask, 1 / v))
    residual = np.where(observed, z - location[:, None] - d_hat, 0.0)
    return {
        "I": z.shape[0],
        "J": z.shape[1],
        "d_hat": d_hat,
        "d_root": root,
        "r_hat": ratio + level,
        "r_scale": np.sqrt(v / cells) / slope,
        "r_on_k": r_on_k,
        "r_on_row": 1 / (cells * slope),
        "k_hat": k,
        "k_scale": float(np.sum(0.5 * (cells - 1) * (r_on_k * p / v) ** 2) ** -0.5),
        "location_hat": location,
        "cells": cells,
        **_mask_data(mask, root),
        "residual_sum": residual.sum(axis=1),
        "residual_square": np.einsum("ij,ij->i", residual, residual),
        "residual_root": residual @ root,
        "row_variance": v,
    }


def whiten_sizes(log_size: Floats | None) -> Data:
    """Return the data of the distribution of sizes that the programs take.

    Shapes: log_size (I,).
    """
    if log_size is None:
        hats = (0.0, 0.0, 0.0, 0.0)
    else:
        spread, intents = float(np.std(log_size)), len(log_size)
        hats = (
            float(np.mean(log_size)),
            spread / np.sqrt(intents),
            float(np.log(spread)),
            float((2 * intents) ** -0.5),
        )
    names = ("size_mean_hat", "size_mean_scale", "log_spread_hat", "log_spread_scale")
    return {"random_intents": int(log_size is not None), **dict(zip(names, hats, strict=True))}


def _mask_data(mask: Floats, root: Floats) -> Data:
    if mask.all():
        return {"incomplete": 0, "mask": np.empty((0, mask.shape[1])), "mask_root": np.empty((0, root.shape[1]))}
    return {"incomplete": 1, "mask": mask, "mask_root": mask @ root}


HERE = Path(__file__).parent
LEAST_FREEDOM = 3  # flat priors leave a tail of the posterior like κ, or ln κ, to minus half the degrees of freedom
NOTICED = 1.1  # design effect from which standard deviations are 5 % too small
RANDOM_RADIUS = 2.0  # of uniform starts, in posterior standard deviations; Stan's own habit


def program_path(model: str, *, plain: bool = False) -> Path:
    """Return the path of the Stan program of a model.

    Examples
    --------
    >>> program_path("2", plain=True).name
    'plain_2.stan'
    """
    if model not in get_args(StanModel):
        other = " Stan has the exact density: model 2L." if model == "2L-rounded" else ""
        raise ConfigError(f"no Stan program of model {model!r}; use one of {listing(get_args(StanModel))}.{other}")
    return HERE / f"{'plain' if plain else 'model'}_{model}.stan"


@dataclass(frozen=True, kw_only=True)
class Priors:
    r"""Priors on the parameters under the convention that the factors exp(d) average 1.

    All are flat by default, so that the posterior is the normalized likelihood: flat in every
    :math:`m_i = \ln n_i`, in the contrasts :math:`d_j - \bar d`, and in :math:`\ln\kappa`. The plain and
    the whitened programs have this same measure, whatever they call their parameters.

    Attributes
    ----------
    log_size : (float, float), optional
        Mean and standard deviation, nats, of a normal prior on every :math:`\ln n_i`.
    difficulty : float, optional
        Standard deviation, nats, of the normal prior with mean 0 on d, given that its mean is 0.
    log_dispersion : (float, float), optional
        Mean and standard deviation of a normal prior on :math:`\ln\kappa`.

    Raises
    ------
    ConfigError
        If a mean is not finite or a standard deviation not positive and finite.

    Examples
    --------
    >>> Priors(difficulty=0.5).to_data()["difficulty_precision"]
    4.0
    """

    log_size: tuple[float, float] | None = None
    difficulty: float | None = None
    log_dispersion: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        """Refuse parameters that do not make a normal distribution."""
        given = {"log_size": self.log_size, "log_dispersion": self.log_dispersion}
        if self.difficulty is not None:
            given["difficulty"] = (0.0, self.difficulty)
        for name, prior in given.items():
            if prior is not None and not (np.isfinite(prior[0]) and 0 < prior[1] < np.inf):
                raise ConfigError(
                    f"prior {name}={getattr(self, name)!r}: the mean must be finite, the standard deviation positive "
                    "and finite. Leave the prior out for a flat one."
                )

    def to_data(self) -> dict[str, float]:
        """Return the data that the Stan programs take; a precision of 0 is flat.

        Returns
        -------
        dict of float
            Means and precisions (one over the variance) of the three priors, by their names in the programs.

        Examples
        --------
        >>> Priors().to_data()["log_size_precision"]
        0.0
        """
        size, dispersion = self.log_size or (0.0, np.inf), self.log_dispersion or (0.0, np.inf)
        return {
            "log_size_mean": float(size[0]),
            "log_size_precision": float(size[1]) ** -2,
            "difficulty_precision": 0.0 if self.difficulty is None else float(self.difficulty) ** -2,
            "log_dispersion_mean": float(dispersion[0]),
            "log_dispersion_precision": float(dispersion[1]) ** -2,
        }

    @property
    def proper(self) -> bool:
        """Whether all are given, so that data sets can be drawn from them."""
        return None not in (self.log_size, self.difficulty, self.log_dispersion)

    def __str__(self) -> str:
        """Name the priors that are not flat, for signatures."""
        parts = []
        if self.log_size:
            parts.append(f"log_size~N({','.join(map(name_of_number, self.log_size))})")
        if self.difficulty:
            parts.append(f"difficulty~N(0,{name_of_number(self.difficulty)})")
        if self.log_dispersion:
            parts.append(f"log_dispersion~N({','.join(map(name_of_number, self.log_dispersion))})")
        return ",".join(parts) or "flat"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Posterior:
    """Inputs of the engines and labels, from a table and a model.

    Attributes
    ----------
    variant : Variant
        The model.
    whitened : bool
        Whether the program is the whitened one.
    program : Path
        The Stan program.
    data : dict
        Data of the program.
    bits : DataFrame, shape (I, J)
        The table; unless intents are random, without those of one cell.
    fit : DifficultyFit
        The fit that whitens the posterior.
    lm, signature, priors : str
        Name of the language model, signature and priors, for the attributes of the result.
    single_cell_intents : int
        Number of intents of one cell, which are left out unless intents are random.
    random_intents : bool
        Whether sizes have a normal distribution of unknown mean and standard deviation.
    independence : str
        What `langdiff.fit` finds of clusters of intents, which the posterior does not know of.
    """

    variant: Variant
    whitened: bool
    program: Path
    data: Data
    bits: pd.DataFrame
    fit: DifficultyFit
    lm: str
    signature: str
    priors: str
    single_cell_intents: int
    random_intents: bool
    independence: str

    @property
    def dimension(self) -> int:
        """Number of parameters."""
        intents, editions = self.bits.shape
        cells = int(self.bits.notna().to_numpy().sum()) if self.variant.laplace_scale is not None else 0
        return intents + editions + cells + 2 * self.random_intents

    def start(self, rng: np.random.Generator | None) -> dict[str, Any]:
        """Return a start of every parameter: at the fit, or if `rng` is given, around it."""
        intents, editions = self.bits.shape
        latent = 0 if self.variant.laplace_scale is None else int(self.data.get("N", 0))

        def near(size: int) -> Floats:
            return np.zeros(size) if rng is None else rng.uniform(-RANDOM_RADIUS, RANDOM_RADIUS, size)

        a, e, k, t = near(intents), near(editions - 1), float(near(1)[0]), near(latent)
        if self.whitened:
            start = {"a": a, "e": e, "k": k} | ({"t": t} if latent else {})
            return start | ({"s": near(2 * self.random_intents)} if self.variant.laplace_scale is None else {})
        # some posterior standard deviations, without regard to how large an intent or edition is
        noise = self.fit.sigma / np.sqrt(max(1.0, float(self.fit.intent_size.median())))
        size = self.fit.intent_size.reindex(self.bits.index).to_numpy() * np.exp(noise * a)
        share = np.exp(self.fit.difficulty.to_numpy() + noise * np.append(e, 0.0))
        start = {"n": size, "share": share / share.sum(), "kappa": self.fit.dispersion * float(np.exp(0.1 * k))}
        return start | ({"nu": self.data["laplace_scale"] * t} if latent else {})


def prepare(
    surprisals: Surprisals | pd.DataFrame,
    *,
    variant: Variant,
    priors: Priors,
    plain: bool,
    random_intents: bool = False,
) -> Posterior:
    """Fit, and whiten the posterior with the fit."""
    program, scale = program_path(variant.name, plain=plain), variant.laplace_scale
    if random_intents:
        _check_random(variant, priors, plain)
    # model 2 whitens 2L and 3 as well: their fits differ by little, and the posterior does not depend on it
    near = LogNormal() if variant.common_variance else Normal()
    point = fit(surprisals, model=near, restricted=False, clusters=None, dispersion="common")
    table = surprisals if isinstance(surprisals, Surprisals) else Surprisals(bits=surprisals)
    several = table.bits.notna().sum(axis=1) > 1
    kept = several | random_intents
    bits = table.bits[kept]
    z = np.log(bits.to_numpy())
    _check_proper(bits, priors)
    difficulty, log_size = point.difficulty.to_numpy(), np.log(point.intent_size[kept].to_numpy())
    data: Data = {**priors.to_data()}
    if plain:
        data |= long_data(z)
    elif variant.common_variance:
        data |= whiten_model_1(z, difficulty, log_size)
    else:
        data |= _cells_or_sums(variant, z, whiten(z, difficulty, log_size, float(np.log(point.dispersion))))
    if not plain and scale is None:
        data |= whiten_sizes(_sizes_at_fit(data) if random_intents else None)
    if scale is not None:
        data["laplace_scale"] = scale
    parts = {
        "model": variant.name,
        "sizes": "normal" if random_intents else None,
        "laplace_scale": None if scale is None else name_of_number(scale),
        "program": program.stem,
        "priors": str(priors),
        **identify_table(table),
        "cells": int(bits.notna().to_numpy().sum()),
        "intents": bits.shape[0],
        "editions": bits.shape[1],
    }
    return Posterior(
        variant=variant,
        whitened=not plain,
        program=program,
        data=data,
        bits=bits,
        fit=point,
        lm=table.lm,
        signature=full_signature(parts),
        priors=str(priors),
        single_cell_intents=int((~several).sum()),
        random_intents=random_intents,
        independence=_independence(table, near),
    )


def _independence(table: Surprisals, near: Variant) -> str:
    """Return what the audit of a fit says of the independence of intents, which every posterior here assumes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # of its errors, which are not used
        audited = fit(table, model=near, restricted=False, dispersion="common")
    audit = audited.audit
    if audit is None or audit.clusters.kind == "intents" or not audit.design_effect > NOTICED:
        return "intents are taken as independent, and langdiff.fit finds nothing against it"
    effect = audit.design_effect
    return (
        f"intents are taken as independent; langdiff.fit finds a design effect of {effect:.1f} by "
        f"{audit.clusters.name}: multiply standard deviations by {np.sqrt(effect):.1f}, or use langdiff.fit"
    )


def _sizes_at_fit(data: Data) -> Floats:
    """Return ln n where all whitened parameters are 0."""
    d_hat = data["d_hat"]
    level = float(logsumexp(d_hat) - np.log(len(d_hat)))
    at_fit: Floats = data["m_hat"] + level if "m_hat" in data else data["k_hat"] - data["r_hat"] + level
    return at_fit


def _check_random(variant: Variant, priors: Priors, plain: bool) -> None:
    if plain or not variant.random_sizes:
        what = "a plain program" if plain else f"model {variant.name!r}"
        raise ConfigError(f"{what} has no random intents; use the whitened program of model '1', '2' or '2L'.")
    if priors.log_size is not None:
        raise ConfigError("random intents estimate the distribution of sizes: leave out the prior log_size.")


def _cells_or_sums(variant: Variant, z: Floats, whitened: Data) -> Data:
    """Return the data of the program of model 2, or of 2L or 3, which visit every cell."""
    variance = whitened.pop("row_variance")
    if variant.has_information:
        return whitened
    common = ("d_hat", "d_root", "r_hat", "r_scale", "r_on_k", "r_on_row", "k_hat", "k_scale")
    observed = (~np.isnan(z)).astype(float)
    data = {name: whitened[name] for name in common} | long_data(z)
    data["mask_root"] = observed @ cast(Floats, whitened["d_root"])
    if variant.laplace_scale is not None:
        data["nu_scale"] = 1 / np.sqrt(0.5 / variant.laplace_scale**2 + 1 / variance)
    return data


def _check_proper(bits: pd.DataFrame, priors: Priors) -> None:
    freedom = int(bits.notna().to_numpy().sum()) - sum(bits.shape) + 1
    if freedom < LEAST_FREEDOM and not priors.proper:
        raise DataError(
            f"{freedom} degree(s) of freedom are left for the dispersion: with flat priors the posterior needs at "
            f"least {LEAST_FREEDOM}. Add intents that several editions have, or give all priors."
        )

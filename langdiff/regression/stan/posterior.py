"""A posterior ready to be sampled: program, data, where to start, and names."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from langdiff import __version__
from langdiff.base.signature import join_signature, name_of_number
from langdiff.base.types import Floats
from langdiff.errors import ConfigError, DataError
from langdiff.regression.fitting import fit
from langdiff.regression.identity import identify_table
from langdiff.regression.result import DifficultyFit
from langdiff.regression.stan.priors import Priors
from langdiff.regression.stan.programs import program_path
from langdiff.regression.stan.whiten import Data, long_data, whiten, whiten_model_1, whiten_sizes
from langdiff.regression.variants.variant import Variant
from langdiff.tables.surprisals import Surprisals

LEAST_FREEDOM = 3  # flat priors leave a tail of the posterior like κ, or ln κ, to minus half the degrees of freedom
RANDOM_RADIUS = 2.0  # of uniform starts, in posterior standard deviations; Stan's own habit


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Posterior:
    """What engines and labels need of a table and a model.

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
    save_log_lik: bool,
    save_bits: bool,
    random_intents: bool = False,
) -> Posterior:
    """Fit, and whiten the posterior with the fit.

    Raises
    ------
    DataError
        If the table cannot be fitted (see `langdiff.fit`), or if the posterior would be improper.
    ConfigError
        If the model has no Stan program, or intents cannot be random.
    """
    program, scale = program_path(variant.name, plain=plain), variant.laplace_scale
    if random_intents:
        _check_random(variant, priors, plain)
    # model 2 whitens 2L and 3 as well: their fits differ by little, and the posterior does not depend on it
    point = fit(surprisals, model="1" if variant.common_variance else "2")
    table = surprisals if isinstance(surprisals, Surprisals) else Surprisals(bits=surprisals)
    several = table.bits.notna().sum(axis=1) > 1
    kept = several | random_intents
    bits = table.bits[kept]
    z = np.log(bits.to_numpy())
    _check_proper(bits, priors)
    difficulty, log_size = point.difficulty.to_numpy(), np.log(point.intent_size[kept].to_numpy())
    save = {"save_log_lik": int(save_log_lik), "save_bits": int(save_bits)}
    data = save | priors.to_data()
    if plain:
        data |= long_data(z)
    elif variant.common_variance:
        data |= whiten_model_1(z, difficulty, log_size, save_log_lik=save_log_lik)
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
        "version": __version__,
    }
    return Posterior(
        variant=variant,
        whitened=not plain,
        program=program,
        data=data,
        bits=bits,
        fit=point,
        lm=table.lm,
        signature=join_signature(parts),
        priors=str(priors),
        single_cell_intents=int((~several).sum()),
        random_intents=random_intents,
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

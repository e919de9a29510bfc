"""Conversion of fits, plain numbers and posterior draws to effects."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from langdiff.base.cells import exact_numbers
from langdiff.base.result import opened
from langdiff.base.types import generator
from langdiff.errors import ConfigError, DataError, listing
from langdiff.tables.effects import Effects
from langdiff.tables.rule import count_ranks


@runtime_checkable
class HasEffects(Protocol):
    """Interface of a result that has effects, such as `langdiff.DifficultyFit`."""

    @property
    def effects(self) -> Effects:
        """The estimates with their covariance."""
        ...


@runtime_checkable
class HasPosterior(Protocol):
    """Posterior draws of difficulties by chain, draw and edition, such as `langdiff.sample` returns."""

    @property
    def posterior(self) -> Any:
        """Group of posterior draws, an xarray Dataset or a node of a DataTree."""
        ...


EffectsLike = Effects | HasEffects | HasPosterior | pd.Series | pd.DataFrame | Path | str
Sources = EffectsLike | Mapping[str, EffectsLike] | Iterable[EffectsLike]


def as_effects(source: EffectsLike, *, title: str = "") -> Effects:
    """Return the effects of a fit, or effects made from plain numbers or posterior draws.

    Parameters
    ----------
    source : Effects, fit, posterior, Series, DataFrame, or path
        Effects, or anything that has them as ``effects``, or the file of such a result; a posterior of
        `langdiff.sample`, of whose draws mean and covariance are taken; difficulties in nats by edition, as a Series or
        a frame of one column; or a frame with a column ``difficulty`` and, if errors are known, ``std_error``,
        such as `DifficultyFit.to_frame` returns. The errors of plain numbers are taken to have an unknown
        covariance, so that each edition has an interval, but contrasts have none.
    title : str
        Name of the source of plain numbers; by default the name of the Series or column.

    Returns
    -------
    Effects
        Effects of `source`; those made of plain numbers are difficulties in nats.

    Raises
    ------
    DataError
        If numbers are not finite, names occur twice, or a frame of several columns or a posterior has no
        ``difficulty``.
    ConfigError
        If `source` is of another type.

    Examples
    --------
    >>> published = pd.DataFrame({"difficulty": [0.04, -0.04], "std_error": [0.01, 0.02]}, index=["deu", "eng"])
    >>> as_effects(published).to_frame()[["percent", "percent_std_error"]].round(1)
             percent  percent_std_error
    edition
    deu          4.1                1.0
    eng         -3.9                1.9
    """
    source = opened(source)
    if isinstance(source, Effects):
        return source
    if isinstance(source, pd.DataFrame):  # before HasEffects, since a column may be called "effects"
        if "difficulty" in source:
            std_error = source.get("std_error")
            return _from_numbers(source["difficulty"], std_error, title)
        if source.shape[1] != 1:
            raise DataError(
                f"a frame of difficulties needs a column 'difficulty'; this one has {listing(source.columns)}. "
                "Give one column of it."
            )
        source = source.iloc[:, 0]
    if isinstance(source, pd.Series):
        name = "" if source.name in (None, "difficulty") else str(source.name)
        return _from_numbers(source, None, title or name)
    if isinstance(source, HasEffects):
        return source.effects
    if isinstance(source, HasPosterior):
        return _from_draws(source)
    raise ConfigError(
        f"difficulties must be effects, a fit, a posterior, a Series or a DataFrame; got {type(source).__name__}."
        + (" Give its abilities, difficulties or profile." if hasattr(source, "abilities") else "")
        + (" Give what langdiff.fit makes of it." if hasattr(source, "bits") else "")
    )


def _from_numbers(difficulty: pd.Series, std_error: pd.Series | None, title: str) -> Effects:
    estimate = exact_numbers(difficulty).astype(float).rename("difficulty")
    names = estimate.index
    covariance = np.full((len(names), len(names)), np.nan)
    if std_error is not None:
        np.fill_diagonal(covariance, std_error.to_numpy(dtype=float) ** 2)
    return Effects.from_covariance(estimate, pd.DataFrame(covariance, names, names), title=title)


def _from_draws(source: HasPosterior) -> Effects:
    draws, facts = posterior_draws(source), source.posterior.attrs
    title = [str(facts["lm"])] if "lm" in facts else []
    title += [f"model {facts['model']}"] if "model" in facts else []
    return Effects.from_draws(draws, title=", ".join(title), signature=str(facts.get("signature", "")))


def posterior_draws(source: HasPosterior) -> pd.DataFrame:
    """Return the posterior draws of difficulties, draws × editions, with the chains concatenated."""
    found = source.posterior.get("difficulty")
    if found is None or set(found.dims) != {"chain", "draw", "edition"}:
        has = list(source.posterior.data_vars) if found is None else list(found.dims)
        raise DataError(
            "there is no posterior of difficulties by chain, draw and edition; "
            f"{'there are' if found is None else 'they are by'} {listing(has)}."
        )
    values = found.transpose("chain", "draw", "edition").to_numpy()
    names = pd.Index([str(name) for name in found["edition"].to_numpy()], name="edition")
    bad = np.count_nonzero(~np.isfinite(values))
    if bad:
        raise DataError(f"{bad:,} of {values.size:,} difficulties in the posterior are not finite; sample it again.")
    return pd.DataFrame(values.reshape(-1, len(names)), columns=names)


def effects_by_source(sources: Sources) -> list[tuple[str, Effects]]:
    """Return the effects of several named sources, such as the fits of several language models.

    Examples
    --------
    >>> from langdiff.datasets import mielke2019
    >>> effects_by_source(mielke2019().difficulties("bibles"))
    [('bpe', Effects: difficulty of 106 editions by bpe (nats), errors not known),
     ('char', Effects: difficulty of 106 editions by char (nats), errors not known)]
    """
    if isinstance(sources, pd.DataFrame) and "difficulty" not in sources:
        return [(str(name), as_effects(sources[name].dropna(), title=str(name))) for name in sources]
    if isinstance(sources, Mapping) and not isinstance(sources, HasPosterior):  # which is a mapping of groups
        return [(str(name), as_effects(source, title=str(name))) for name, source in sources.items()]
    sources = opened(sources)
    single = isinstance(sources, Effects | pd.Series | pd.DataFrame | HasEffects | HasPosterior)
    each: Any = [sources] if single or not isinstance(sources, Iterable) else sources
    return [(_source_name(source), as_effects(source)) for source in each]


def _source_name(source: Any) -> str:
    source = opened(source)
    plain = isinstance(source, pd.Series | pd.DataFrame)  # whose attributes are their own data
    if isinstance(source, HasPosterior) and not plain:
        return str(source.posterior.attrs.get("lm", "unknown"))
    return str(("" if plain else getattr(source, "lm", "")) or as_effects(source).title or "unknown")


def rank_probabilities(
    source: EffectsLike,
    *,
    n_draws: int = 4000,
    seed: int | np.random.Generator = 0,
) -> pd.DataFrame:
    """Estimate the probability of every rank of every edition.

    Difficulties are correlated, as their factors have a fixed sum, so that ranks are counted in draws of all
    difficulties together.

    Parameters
    ----------
    source : Effects, fit, posterior or DataFrame
        Effects or a fit, from whose joint sampling distribution is drawn; a posterior of `langdiff.sample`; or a frame
        of draws, shape (draws, J) with columns named by edition, such as a bootstrap gives.
    n_draws : int
        Number of draws from effects; 4,000 give a probability to within .016 (two standard errors at most).
    seed : int or numpy.random.Generator, optional
        Seed of these draws; without effect if `source` is a posterior or a frame of draws.

    Returns
    -------
    DataFrame, shape (J, J)
        One row per edition, the highest mean rank first; one column per rank, 1 the hardest. Rows and
        columns sum to 1. Editions that are tied, as by a formula, share their ranks evenly.

    Raises
    ------
    DataError
        If the covariance of effects is not known, as where a fit did not converge, or draws are missing.
    ConfigError
        If `n_draws` or `seed` is out of range.

    Examples
    --------
    >>> draws = pd.DataFrame({"eng": [0.0, 0.1, 0.0, 0.0], "fin": [0.2, 0.0, 0.1, 0.3]})
    >>> rank_probabilities(draws)
    rank         1     2
    edition
    fin      0.75  0.25
    eng      0.25  0.75
    """
    source = opened(source)
    if isinstance(source, pd.DataFrame) and "difficulty" not in source:
        return count_ranks(source)
    if isinstance(source, HasPosterior) and not isinstance(source, pd.Series | pd.DataFrame):
        return count_ranks(posterior_draws(source))
    return as_effects(source).ranks(n_draws, seed=generator(seed, "ranks of effects"))

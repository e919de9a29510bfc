"""The spread of difficulties between seeds: language models trained several times."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from langdiff._random import generator, seed_numbers
from langdiff._types import Model
from langdiff.errors import ConfigError
from langdiff.experiments.cautions import warns_caller
from langdiff.lm import compute_surprisals
from langdiff.lm.ngram.recipe import AnyRecipe
from langdiff.lm.scoring import Scoring
from langdiff.multitext import Parts
from langdiff.regression import fit
from langdiff.surprisals import Surprisals


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Replicates:
    r"""Surprisals of the same intents by language models that differ only in their seed.

    The standard error of a difficulty describes the sampling of intents only; language models trained from another
    seed would give another difficulty, which the spread between seeds describes. The standard error of a difficulty
    from the models of one seed that covers both is

    .. math:: \sqrt{\text{std\_error}^2 + \text{seed\_sd}^2}

    Attributes
    ----------
    surprisals : mapping from int to Surprisals
        Surprisals of the test part for each seed.
    difficulty, std_error : DataFrame, shape (J, R)
        Difficulties and their standard errors in nats, editions × seeds, from the fits to each seed's surprisals.
    covariance : DataFrame, shape (J, J)
        Covariance of the difficulties over samples of intents, nats squared; the mean over the fits.
    model : str
        Regression model that was fitted.
    """

    surprisals: Mapping[int, Surprisals]
    difficulty: pd.DataFrame
    std_error: pd.DataFrame
    covariance: pd.DataFrame
    model: str

    def to_frame(self) -> pd.DataFrame:
        """Return one row per edition, hardest first.

        ``bits``, the total of the intents, and ``difficulty`` (nats) are means over the seeds, with
        their standard deviations between seeds in ``bits_seed_sd`` and ``seed_sd``; ``std_error`` is
        that of the fits (root mean square) and ``total_std_error`` covers both.
        """
        bits = pd.DataFrame({seed: table.bits.sum() for seed, table in self.surprisals.items()})
        seed_sd = self.difficulty.std(axis=1, ddof=1)
        variance = self.std_error.pow(2).mean(axis=1)
        columns = {
            "bits": bits.mean(axis=1),
            "bits_seed_sd": bits.std(axis=1, ddof=1),
            "difficulty": self.difficulty.mean(axis=1),
            "seed_sd": seed_sd,
            "std_error": np.sqrt(variance),
            "total_std_error": np.sqrt(variance + seed_sd**2),
        }
        return pd.DataFrame(columns).rename_axis("edition").sort_values("difficulty", ascending=False)

    @property
    def seed_sd(self) -> float:
        """Standard deviation of a difficulty between seeds, nats: root mean square over editions."""
        return float(np.sqrt(self.difficulty.var(axis=1, ddof=1).mean()))

    def draws(self, n_draws: int = 4000, *, seed: int | np.random.Generator) -> pd.DataFrame:
        r"""Draw difficulties that vary by both errors, for functions such as `langdiff.typology.propagate_errors`.

        .. math:: \bar d + e + u, \quad e \sim \mathcal N(0, \Sigma), \quad u_j \sim \mathcal N(0, s^2 / R)

        with Σ the `covariance`, s the `seed_sd` pooled over editions (that of one edition is poorly known from a
        few seeds) and R the number of seeds.

        Parameters
        ----------
        n_draws : int
            Number of draws.
        seed : int or numpy.random.Generator
            Seed of the draws.

        Returns
        -------
        DataFrame, shape (n_draws, J)
            Difficulties in nats, one column per edition.

        Examples
        --------
        >>> difficulty = pd.DataFrame({1: [0.2, -0.2], 2: [0.2, -0.2]}, index=["deu", "eng"])
        >>> none = pd.DataFrame(0.0, index=difficulty.index, columns=difficulty.index)
        >>> exact = Replicates(surprisals={}, difficulty=difficulty, std_error=none, covariance=none, model="2")
        >>> exact.draws(1, seed=0)
           deu  eng
        0  0.2 -0.2
        """
        rng = generator(seed)
        mean = self.difficulty.mean(axis=1)
        drawn = rng.multivariate_normal(mean, self.covariance.loc[mean.index, mean.index], size=n_draws, method="eigh")
        luck = rng.normal(0, self.seed_sd / np.sqrt(self.difficulty.shape[1]), size=drawn.shape)
        return pd.DataFrame(drawn + luck, columns=mean.index)

    def summary(self) -> str:
        """Format the table, with what is needed to trust it."""
        frame = self.to_frame()
        seeds = ", ".join(map(str, self.surprisals))
        formats = {"bits": 0, "bits_seed_sd": 0, "difficulty": 4, "seed_sd": 4, "std_error": 4, "total_std_error": 4}
        return (
            f"{self!r}\n{frame.round(formats).to_string()}\n"
            f"Between seeds, a difficulty varies by {self.seed_sd:.4f} nats (root mean square of seed_sd).\n"
            f"[seeds:{seeds}|model:{self.model}]"
        )

    def __repr__(self) -> str:
        """Say how large it is."""
        lms = {table.lm for table in self.surprisals.values()}
        return f"Replicates of {', '.join(lms)}: {len(self.surprisals)} seeds × {len(self.difficulty)} editions"


@warns_caller
def replicate(
    parts: Parts,
    *,
    lm: str | AnyRecipe = "char-small",
    scoring: Scoring | str | None = None,
    max_replaced: float = 0.05,
    n_seeds: int = 3,
    seed: int | np.random.Generator,
    model: Model = "2",
    device: str = "auto",
    cache: str | Path | None = None,
    workers: int = 1,
    progress: bool | None = None,
) -> Replicates:
    """Train the language models of all editions several times, and report the spread between seeds.

    Parameters
    ----------
    parts : Parts
        Texts to train on (train), to choose the best epoch by (dev) and to measure (test).
    lm : str, Recipe or KneserNeyRecipe
        Language model to train, by name or as a recipe; see `langdiff.compute_surprisals`.
    scoring : Scoring or str, optional
        How the trained models score, such as ``"unpriced"``; see `langdiff.lm.Scoring`.
    max_replaced : float
        Fraction of an edition's test characters, from 0 to 1, that may be replaced as too rare in training.
    n_seeds : int
        Number of seeds, at least 2; one model per edition is trained from each.
    seed : int or numpy.random.Generator
        Seed from which the seeds of the models are made. With the same number, the first seeds are the same
        whatever `n_seeds` is.
    model : {"1", "2", "2L", "2C", "3"}
        Regression model to fit to each seed's surprisals; see `langdiff.fit`.
    device : str
        Device to train on: ``"auto"``, ``"cpu"`` or ``"cuda"``.
    cache : str or Path, optional
        Folder that keeps models and surprisals, in ``seed-SEED/EDITION/LM/``.
    workers : int
        Number of processes that train side by side; see `langdiff.compute_surprisals`.
    progress : bool, optional
        Whether to draw a progress bar; by default if stderr is a terminal.

    Returns
    -------
    Replicates
        Surprisals, difficulties and standard errors of each seed.

    Raises
    ------
    ConfigError
        If `n_seeds` is less than 2, `seed` is not a seed, there is only one edition, or another setting
        cannot be used.
    LangdiffError
        If a language model cannot be trained or a fit fails; see `langdiff.compute_surprisals` and `langdiff.fit`.

    Warns
    -----
    LangdiffWarning
        As `langdiff.compute_surprisals` and `langdiff.fit`, each kind once for all seeds and editions.

    Examples
    --------
    >>> import langdiff as ld
    >>> from dataclasses import replace
    >>> verses = {"eng": ["the cat sat", "a dog ran"] * 70, "deu": ["die Katze sass", "ein Hund lief"] * 70}
    >>> bible = ld.read_frame(pd.DataFrame(verses))
    >>> train, dev, test = (bible.intents[a:b] for a, b in ((0, 120), (120, 130), (130, 140)))
    >>> parts = ld.Parts(train=bible.sel(intents=train), dev=bible.sel(intents=dev), test=bible.sel(intents=test))
    >>> short = replace(ld.lm.RECIPES["char-tiny"], epochs=1, embedding_size=16)
    >>> replicate(parts, lm=short, n_seeds=2, seed=1, progress=False)
    Replicates of char-tiny: 2 seeds × 2 editions
    """
    if n_seeds < 2:
        raise ConfigError(f"n_seeds must be at least 2, got {n_seeds}: one seed has no spread.")
    numbers = seed_numbers(seed, n_seeds)
    if len(parts.train.editions) < 2:
        raise ConfigError("replicates compare difficulties of at least two editions; there is only one.")
    tables = {}
    for number in numbers:
        tables[number] = compute_surprisals(
            parts,
            lm=lm,
            scoring=scoring,
            max_replaced=max_replaced,
            device=device,
            seed=number,
            cache=None if cache is None else Path(cache) / f"seed-{number}",
            workers=workers,
            progress=progress,
        )
    fits = {number: fit(table, model=model) for number, table in tables.items()}
    return Replicates(
        surprisals=tables,
        difficulty=pd.DataFrame({number: one.difficulty for number, one in fits.items()}),
        std_error=pd.DataFrame({number: one.std_error for number, one in fits.items()}),
        covariance=pd.concat([one.covariance for one in fits.values()]).groupby(level=0, sort=False).mean(),
        model=model,
    )

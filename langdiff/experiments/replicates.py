"""The spread of difficulties between seeds: language models trained several times."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from langdiff.base.result import Result, rounded
from langdiff.base.types import seed_numbers
from langdiff.errors import ConfigError, option, warns_caller
from langdiff.lm.compute import Compute, as_compute, compute_where_possible
from langdiff.lm.language_model import LanguageModelRecipe
from langdiff.lm.scoring import Scoring
from langdiff.regression import fit
from langdiff.regression.clustering import AnyClusters
from langdiff.regression.seeds import SeedEffects, centred_variances, combine_seeds
from langdiff.regression.variants import PlainModel, find_variant, own_numbers
from langdiff.regression.variants.variant import Variant
from langdiff.tables.effects import Effects
from langdiff.tables.multitext import Folds, Parts
from langdiff.tables.surprisals import Surprisals


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Replicates(Result):
    r"""Surprisals of the same intents by language models that differ only in their seed.

    The standard error of a difficulty describes the sampling of intents only; language models trained from another
    seed would give another difficulty, which the spread between seeds describes. `effects` are the difficulties
    from the mean of log bits over the R seeds, with the covariance

    .. math:: \bar C + \frac bR \Bigl(I - \frac{11^\top}J\Bigr)

    in which :math:`\bar C` is that of the fit and b the variance between seeds; see `langdiff.regression.seeds`.
    Functions that take a fit, such as `langdiff.rank_probabilities`, take replicates as well.

    Attributes
    ----------
    surprisals : mapping from int to Surprisals
        Surprisals of the test part for each seed.
    combined : SeedEffects
        Difficulties of the mean over seeds and of each seed, and their spread.
    model : str
        Regression model that was fitted.
    numbers : mapping from str to str
        Numbers of the model's own that are not the usual ones, such as the scale of model 3.
    """

    surprisals: Mapping[int, Surprisals]
    combined: SeedEffects
    model: str
    numbers: Mapping[str, str] = field(default_factory=dict)

    @property
    def effects(self) -> Effects:
        """Difficulties of the mean over seeds, nats, with the errors of intents and of seeds."""
        return self.combined.effects

    @property
    def difficulty(self) -> pd.DataFrame:
        """Difficulties in nats, editions × seeds, from the fits to each seed's surprisals."""
        return self.combined.by_seed

    @property
    def std_error(self) -> pd.DataFrame:
        """Standard errors of `difficulty` over samples of intents, nats, editions × seeds."""
        return self.combined.std_errors

    @property
    def covariance(self) -> pd.DataFrame:
        """Covariance of the difficulties of the mean over seeds, with both errors, nats squared."""
        return self.effects.covariance

    @property
    def seed_sd(self) -> float:
        """Standard deviation √b of a difficulty between seeds, nats, pooled over editions."""
        return float(np.sqrt(self.combined.variance))

    def to_frame(self) -> pd.DataFrame:
        """Return one row per edition, hardest first.

        Returns
        -------
        DataFrame
            Indexed by edition: ``bits``, the total of the intents, mean over the seeds, and its standard deviation
            between seeds, ``bits_seed_sd``; ``difficulty``, that of the mean over seeds, and the standard deviation
            between seeds of the difficulty of one seed, ``seed_sd``, both in nats. Of the standard errors of
            ``difficulty``, ``std_error`` covers the sample of intents, ``total_std_error`` the seeds too, and
            ``one_model_std_error`` is that of ``difficulty`` as an estimate for models trained from one other seed.
        """
        bits = pd.DataFrame({seed: table.bits.sum() for seed, table in self.surprisals.items()})
        editions, seeds = self.difficulty.shape
        normalized = 1 - 1 / editions  # the share of a seed's variance that is left in normalized difficulties
        of_intents = pd.Series(np.diag(self.combined.of_intents), index=self.difficulty.index)
        of_one_model = of_intents + self.combined.variances * (1 + 1 / seeds) * normalized
        columns = {
            "bits": bits.mean(axis=1),
            "bits_seed_sd": bits.std(axis=1, ddof=1),
            "difficulty": self.effects.estimate,
            "seed_sd": np.sqrt(centred_variances(self.difficulty) / normalized),
            "std_error": np.sqrt(of_intents),
            "total_std_error": self.effects.std_error,
            "one_model_std_error": np.sqrt(of_one_model),
        }
        return pd.DataFrame(columns).rename_axis("edition").sort_values("difficulty", ascending=False)

    def draws(self, n_draws: int = 4000, *, seed: int | np.random.Generator = 0) -> pd.DataFrame:
        """Draw difficulties that vary by both errors, for functions such as `langdiff.typology.propagate_errors`.

        Parameters
        ----------
        n_draws : int
            Number of draws.
        seed : int or numpy.random.Generator
            Seed of the draws.

        Returns
        -------
        DataFrame, shape (n_draws, J)
            Difficulties of the mean over seeds in nats, one column per edition, from the joint normal
            distribution of `effects`.

        Examples
        --------
        >>> import langdiff as ld
        >>> tables = [ld.simulate(50, 2, seed=1).surprisals] * 2  # the second model is as the first
        >>> exact = Replicates(surprisals={}, combined=combine_seeds(tables, ld.fit), model="2")
        >>> exact.seed_sd
        0.0
        >>> exact.draws(100, seed=0).shape
        (100, 2)
        """
        return self.effects.draws(n_draws, seed=seed)

    def _table(self) -> pd.DataFrame:
        return rounded(self.to_frame(), self.digits).round({"bits": 0, "bits_seed_sd": 0})

    def _notes(self) -> Iterator[str]:
        if self.combined.audit is not None:
            yield self.combined.audit.words
        yield f"Between seeds, a difficulty varies by {self.seed_sd:.4f} nats (root mean square of seed_sd)."
        numbers = "".join(f"|{name}:{value}" for name, value in self.numbers.items())
        yield f"[seeds:{', '.join(map(str, self.surprisals))}|model:{self.model}{numbers}]"

    def __repr__(self) -> str:
        """Return a one-line description with the numbers of seeds and editions."""
        lms = {table.lm for table in self.surprisals.values()}
        return f"Replicates of {', '.join(lms)}: {len(self.surprisals)} seeds × {len(self.difficulty)} editions"


@warns_caller
def replicate(
    parts: Parts | Folds,
    *,
    lm: str | LanguageModelRecipe = "char-residual",
    scoring: Scoring | str | None = None,
    max_replaced: float = 0.05,
    n_seeds: int = 3,
    seed: int | np.random.Generator = 0,
    model: PlainModel | Variant = "2",
    clusters: AnyClusters | None = "auto",
    compute: Compute | None = None,
) -> Replicates:
    """Train the language models of all editions several times, and report the spread between seeds.

    Parameters
    ----------
    parts : Parts or Folds
        Texts to train on (train), to choose the best epoch by (dev) and to measure (test), or several such divisions.
    lm : str or LanguageModelRecipe
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
    model : {"1", "2", "2L", "2C"} or Variant
        Regression model to fit to each seed's surprisals; see `langdiff.fit`. Model 3, which needs a scale,
        is an object.
    clusters : "auto", str, mapping, Series, DifficultyFit or None
        Intents that share errors, as `langdiff.fit` takes them.
    compute : langdiff.lm.Compute, optional
        Device, workers and cache; the cache has ``seed-SEED/EDITION/LM/`` or ``seed-SEED/fold-NUMBER/EDITION/LM/``.

    Returns
    -------
    Replicates
        Surprisals, difficulties and standard errors of each seed.

    Raises
    ------
    ConfigError
        If `n_seeds` is less than 2, `seed` is not a seed, there is only one edition, `model` is not one of these, or
        another setting cannot be used.
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
    >>> replicate(parts, lm=short, n_seeds=2, seed=1)
    Replicates of char-tiny: 2 seeds × 2 editions
    """
    if n_seeds < 2:
        raise ConfigError(f"{option('n_seeds')} must be at least 2, got {n_seeds}: one seed has no spread.")
    numbers = seed_numbers(seed, n_seeds)
    variant = find_variant(model)  # refused before models are trained
    if len(parts.editions) < 2:
        raise ConfigError(
            "replicates compare the difficulties of at least two editions, but there is only one; add an edition."
        )
    compute = as_compute(compute)
    tables = {}
    for number in numbers:
        tables[number], _ = compute_where_possible(
            parts,
            lm=lm,
            scoring=scoring,
            max_replaced=max_replaced,
            seed=number,
            compute=compute.inside(f"seed-{number}"),
        )
    combined = combine_seeds(
        list(tables.values()), lambda table: fit(table, model=variant, clusters=clusters), seeds=numbers
    )
    numbers_of_model = own_numbers([variant])
    return Replicates(surprisals=tables, combined=combined, model=variant.name, numbers=numbers_of_model)

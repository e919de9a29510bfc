"""Dev bits against the number of BPE merges (Mielke et al. 2019, section 2, footnote 8, Figures 2 and 3)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import numpy as np
import pandas as pd

from langdiff.base.result import Drawn, Result
from langdiff.base.types import seed_number
from langdiff.errors import ConfigError, option, warns_caller
from langdiff.lm import Recipe, read_training_logs
from langdiff.lm.compute import Compute, as_compute, compute_where_possible
from langdiff.lm.language_model import LanguageModelRecipe, find_scored_lm
from langdiff.tables.long_tables import BESIDE, join_provenance
from langdiff.tables.multitext import Parts
from langdiff.tables.surprisals import Surprisals

RATIOS = tuple(tenth / 10 for tenth in range(11))


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SweepResult(Result):
    """Language models that differ only in their number of merges.

    Attributes
    ----------
    lm : str
        Name of the recipe that was varied.
    dev_bits : DataFrame, shape (R, J)
        Total surprisal of the dev part in bits, end symbols included: one row per ratio (merges per distinct word
        of the training text), one column per edition.
    surprisals : mapping from ratio to Surprisals
        Surprisals of the test part for each ratio.
    seed : int
        Seed of every model.
    """

    lm: str
    dev_bits: pd.DataFrame
    surprisals: Mapping[float, Surprisals]
    seed: int

    @property
    def best(self) -> pd.Series:
        """Ratio with the fewest dev bits for each edition; the lowest of several such."""
        return self.dev_bits.idxmin().rename("best_ratio")

    @property
    def best_overall(self) -> float:
        """Ratio with the fewest dev bits on average over all editions.

        The bits of each edition are divided by their minimum before they are averaged, so that no edition has more
        weight because its text is longer or its language harder.
        """
        means = self._relative().mean(axis=1).to_numpy()
        return float(self.dev_bits.index[int(means.argmin())])

    def best_surprisals(self) -> Surprisals:
        """Return test surprisals that take each edition at its own best ratio."""
        tables = [
            self.surprisals[ratio].sel(editions=[edition])
            for edition, ratio in zip(self.dev_bits.columns, self.best, strict=True)
        ]

        frames = {name: [getattr(table, name) for table in tables] for name in BESIDE}
        known = {name: pd.concat(parts, axis=1) for name, parts in frames.items() if not any(f is None for f in parts)}
        return Surprisals(
            bits=pd.concat([table.bits for table in tables], axis=1),
            intent_info=tables[0].intent_info,
            lm=f"{self.lm}-best",
            provenance=join_provenance([table.provenance for table in tables], f"{self.lm}-best"),
            **known,
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row per edition and ratio: ``dev_bits`` and ``excess_percent`` over the edition's best."""
        columns = {"dev_bits": self.dev_bits.T.stack(), "excess_percent": 100 * (self._relative().T.stack() - 1)}
        return pd.DataFrame(columns).reset_index()

    def _lines(self) -> Iterator[str]:
        ratios = ", ".join(f"{ratio:g}" for ratio in self.dev_bits.index)
        yield (
            f"Merges per distinct word, {self.lm}: {self.best_overall:g} is best for all "
            f"{self.dev_bits.shape[1]} edition(s) together, of {ratios}"
        )

    def _table(self) -> pd.DataFrame:
        """Return the best ratios, and the bits that one ratio for all editions adds."""
        relative = self._relative()
        return pd.DataFrame(
            {
                "best_ratio": self.best,
                "dev_bits": self.dev_bits.min().round(),
                "percent_more_at_best_overall": (100 * (relative.loc[self.best_overall] - 1)).round(2),
                "percent_more_at_worst": (100 * (relative.max() - 1)).round(2),
            }
        )

    def _notes(self) -> Iterator[str]:
        yield f"[experiment:bpe-sweep|lm:{self.lm}|seed:{self.seed}]"

    plot = Drawn("plot_bpe_sweep")

    def _relative(self) -> pd.DataFrame:
        return self.dev_bits / self.dev_bits.min()

    def __repr__(self) -> str:
        """Return a one-line description with the ratios and the best one."""
        ratios, editions = self.dev_bits.shape
        return f"SweepResult of {self.lm}: {ratios} ratios × {editions} editions, best overall {self.best_overall:g}"


@warns_caller
def sweep_merges(
    parts: Parts,
    *,
    ratios: Iterable[float] = RATIOS,
    lm: str | Recipe = "bpe-small",
    max_replaced: float = 0.05,
    seed: int | np.random.Generator = 0,
    compute: Compute | None = None,
) -> SweepResult:
    """Train the same recipe with several numbers of merges, one model per edition and ratio.

    Parameters
    ----------
    parts : Parts
        Texts to train on (train), to compare ratios on (dev) and to measure (test).
    ratios : iterable of float
        Merges per distinct white-space token of the training text; 0 leaves single characters.
    lm : str or Recipe
        Recipe of BPE units, whose own ``bpe_ratio`` is replaced. The name of a model is that of the recipe followed
        by the ratio, such as ``bpe-small-0.4``. A name given here may end in ``-unpriced``, which is a way of
        scoring; see `langdiff.lm.Scoring`.
    max_replaced : float
        Fraction of an edition's test characters, from 0 to 1, that may be replaced as too rare in training.
    seed : int or numpy.random.Generator
        Seed of every model.
    compute : langdiff.lm.Compute, optional
        Device, workers and cache; the cache has ``EDITION/LM-RATIO/``.

    Returns
    -------
    SweepResult
        Dev bits and test surprisals for each ratio, with the best ratios.

    Raises
    ------
    ConfigError
        If the recipe does not predict BPE units, no ratio is given or one twice, a ratio is negative, or `seed` is
        not a seed.
    LangdiffError
        If an edition cannot be trained or scored; the message names it.

    Warns
    -----
    LangdiffWarning
        As `langdiff.compute_surprisals`, each kind once for all ratios and editions.

    Notes
    -----
    Bits also differ between seeds, so a shallow minimum may be due to chance. A ratio chosen by its dev bits is not
    independent of them; report bits of the test part.

    Examples
    --------
    >>> import langdiff as ld
    >>> verses = {"eng": ["the cat sat", "a dog ran"] * 70, "deu": ["die Katze sass", "ein Hund lief"] * 70}
    >>> bible = ld.read_frame(pd.DataFrame(verses))
    >>> train, dev, test = (bible.intents[a:b] for a, b in ((0, 120), (120, 130), (130, 140)))
    >>> parts = ld.Parts(train=bible.sel(intents=train), dev=bible.sel(intents=dev), test=bible.sel(intents=test))
    >>> sweep = sweep_merges(parts, ratios=[0, 0.5], lm="bpe-tiny", seed=0)
    >>> sweep.dev_bits.shape, sweep.surprisals[0.5].lm
    ((2, 2), 'bpe-tiny-0.5')
    """
    number = seed_number(seed)
    named = find_scored_lm(lm)
    recipe = _subword_recipe(named.recipe)
    tried = _checked_ratios(recipe, ratios)
    with TemporaryDirectory(prefix="langdiff-") as temporary:  # removed when there is a cache as well
        compute = as_compute(compute)
        folder = compute.folder or Path(temporary)
        surprisals, rates = {}, {}
        for ratio, varied in tried.items():
            surprisals[ratio], _ = compute_where_possible(
                parts,
                lm=varied,
                scoring=named.scoring,
                max_replaced=max_replaced,
                seed=number,
                compute=replace(compute, cache=folder),
            )
            logs = read_training_logs(folder)
            rates[ratio] = logs[logs["lm"] == varied.name].groupby("edition")["dev_bits_per_character"].min()
    editions = list(parts.train.editions)
    characters = pd.Series({edition: sum(map(len, parts.dev.text(edition))) for edition in editions})
    dev_bits = pd.DataFrame(rates).T[editions] * characters
    return SweepResult(
        lm=named.name,
        dev_bits=dev_bits.rename_axis(index="ratio", columns="edition"),
        surprisals=surprisals,
        seed=number,
    )


def _subword_recipe(recipe: LanguageModelRecipe) -> Recipe:
    units = getattr(recipe, "units", "char")
    if units == "bpe":
        return cast(Recipe, recipe)
    units = "characters" if units == "char" else units
    raise ConfigError(f"{recipe.name!r} predicts {units}, which are not merged; choose a recipe such as bpe-small.")


def _checked_ratios(recipe: Recipe, ratios: Iterable[float]) -> dict[float, Recipe]:
    """Return the recipe at each ratio, lowest first."""
    wanted = sorted(map(float, ratios))
    names = [f"{recipe.name}-{ratio:g}" for ratio in wanted]
    if not names or len(set(names)) < len(names):
        raise ConfigError(f"{option('ratios')} must name at least one ratio, and each once; got {wanted}.")
    return {ratio: replace(recipe, name=name, bpe_ratio=ratio) for ratio, name in zip(wanted, names, strict=True)}

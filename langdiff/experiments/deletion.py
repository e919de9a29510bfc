"""Bias of difficulties from missing translations: cells are deleted by three mechanisms (appendix A)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from langdiff.base.progress import progress_bar
from langdiff.base.result import Drawn, Result, rounded
from langdiff.base.signature import full_signature, name_of_seed
from langdiff.base.types import Floats, generator
from langdiff.errors import ConfigError, DataError, listing, missing_by_design, option, warns_caller
from langdiff.regression import DifficultyFit, fit
from langdiff.regression.simulation import Mechanism, draw_missing
from langdiff.regression.table import as_surprisals, identify_table
from langdiff.regression.variants import PlainModel, find_variant, own_numbers
from langdiff.regression.variants.variant import Variant
from langdiff.tables.effect_sources import EffectsLike, as_effects
from langdiff.tables.surprisals import Surprisals

Intents = Literal["fixed", "random"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class DeletionBias(Result):
    """Differences between difficulties from incomplete tables and the expected ones.

    Attributes
    ----------
    results : DataFrame
        One row per mechanism, deletion rate, repeat and edition: ``mechanism``, ``rate``, ``repeat``, ``edition``,
        ``difference`` from the reference and ``std_error`` of the fit, both in nats.
    reference : Series
        Difficulties that estimates are compared with, nats.
    intents : {"fixed", "random"}
        Whether each intent had a size of its own, or sizes had a distribution.
    signature : str
        Everything the numbers depend on, to be quoted with them.
    """

    results: pd.DataFrame
    reference: pd.Series
    intents: str
    signature: str

    def to_frame(self) -> pd.DataFrame:
        """Return one row per mechanism, rate and edition.

        Returns
        -------
        DataFrame
            ``mechanism``, ``rate``, ``edition``; ``bias``, the mean difference over repeats, and its Monte Carlo error
            ``bias_std_error`` (NaN for one repeat); ``rms``, the root mean square difference; and ``std_error``, the
            mean that fits report. All in nats.
        """
        groups = self.results.groupby(["mechanism", "rate", "edition"], sort=False)
        difference = groups["difference"]
        columns = {
            "bias": difference.mean(),
            "bias_std_error": difference.std(ddof=1) / np.sqrt(difference.size()),
            "rms": np.sqrt((self.results["difference"] ** 2).groupby([self.results[n] for n in groups.keys]).mean()),
            "std_error": groups["std_error"].mean(),
        }
        return pd.DataFrame(columns).reindex(difference.mean().index).reset_index()

    def overall(self) -> pd.DataFrame:
        """Return one row per mechanism and rate.

        Returns
        -------
        DataFrame
            ``mechanism``, ``rate``; ``bias_of_first``, of the edition that stays complete under MAR and MNAR;
            ``largest_bias`` of the others, by amount; ``rms`` and ``std_error`` over all editions. All in nats.
        """
        frame = self.to_frame()
        first = frame["edition"] == self.reference.index[0]
        keys = ["mechanism", "rate"]
        others = frame[~first].groupby(keys, sort=False)["bias"]
        table = frame[first].set_index(keys)[["bias"]].rename(columns={"bias": "bias_of_first"})
        table["largest_bias"] = others.agg(lambda bias: bias.iloc[int(np.argmax(np.abs(bias.to_numpy())))])
        table["rms"] = np.sqrt((frame["rms"] ** 2).groupby([frame[name] for name in keys]).mean())
        table["std_error"] = frame.groupby(keys, sort=False)["std_error"].mean()
        whole: pd.DataFrame = table.reset_index()
        return whole

    def _lines(self) -> Iterator[str]:
        yield f"{self!r}; nats"

    def _table(self) -> pd.DataFrame:
        return rounded(self.overall(), self.digits)

    def _notes(self) -> Iterator[str]:
        yield f"Under MAR and MNAR the first edition ({self.reference.index[0]}) stays complete."

    plot = Drawn("plot_deletion_bias", lambda bias: bias.to_frame())

    def __repr__(self) -> str:
        """Return a one-line description with mechanisms, rates and repeats."""
        counts = self.results.nunique()
        return (
            f"DeletionBias: {counts['mechanism']} mechanism(s) × {counts['rate']} rate(s) × "
            f"{counts['repeat']} repeat(s), {counts['edition']} editions, {self.intents} intents"
        )


@warns_caller
def deletion_bias(
    surprisals: Surprisals | pd.DataFrame | Floats,
    *,
    rates: Sequence[float] = (0.1, 0.3, 0.5),
    mechanisms: Sequence[Mechanism] | Mechanism = ("MCAR", "MAR", "MNAR"),
    truth: EffectsLike | None = None,
    n_repeats: int = 20,
    model: PlainModel | Variant = "2",
    intents: Intents = "fixed",
    seed: int | np.random.Generator = 0,
    progress: bool | None = None,
) -> DeletionBias:
    """Delete cells of a complete table, fit the rest, and compare the difficulties with those of the whole.

    The mechanisms are those of `langdiff.simulate`: the chance of a cell to go depends on nothing (MCAR), on the bits
    of the intent in the first edition, which stays complete (MAR), or on the residual of the cell itself (MNAR).

    Parameters
    ----------
    surprisals : Surprisals, DataFrame or array, shape (I, J)
        Bits of intent i (row) in edition j (column), without missing cells.
    rates : sequence of float
        Shares of cells to delete, between 0 and 1; under MAR and MNAR shares of the cells of all editions but the
        first.
    mechanisms : {"MCAR", "MAR", "MNAR"}, or sequence of them
        Mechanisms by which cells are deleted.
    truth : Series, DifficultyFit, Effects or DataFrame, optional
        Difficulties in nats to compare with, such as those of a simulation, which are taken relative to their average
        as those of a fit are; by default those of the fit to the whole table, so that differences are the work of
        deletion alone. Either way the bias is that of this one table; that of a method is its mean over many tables,
        against the truth.
    n_repeats : int
        Number of random deletions for each mechanism and rate.
    model : {"1", "2", "2L", "2C"} or Variant
        Regression model to fit; see `langdiff.fit`. Model 3, which needs a scale, is an object.
    intents : {"fixed", "random"}
        Whether each intent has a size of its own, or sizes have a distribution.
    seed : int or numpy.random.Generator
        Seed of the deletions.
    progress : bool, optional
        Whether to draw a progress bar; by default if stderr is a terminal.

    Returns
    -------
    DeletionBias
        Differences of every fit, and their means.

    Raises
    ------
    DataError
        If a cell is missing, `truth` has other editions or is not finite, or what a deletion leaves cannot be fitted.
    ConfigError
        If a rate, a mechanism or the number of repeats is out of range, or a rate or mechanism is named twice.

    Warns
    -----
    LangdiffWarning
        As `langdiff.fit`, each kind once.

    References
    ----------
    Mielke, Cotterell, Gorman, Roark and Eisner (2019), appendix A; Rubin (1976), "Inference and Missing Data".

    Examples
    --------
    >>> import langdiff as ld
    >>> surprisals = ld.simulate(200, 4, seed=0).surprisals
    >>> found = ld.experiments.deletion_bias(surprisals, rates=[0.3], mechanisms=["MCAR", "MNAR"], n_repeats=5, seed=1)
    >>> found
    DeletionBias: 2 mechanism(s) × 1 rate(s) × 5 repeat(s), 4 editions, fixed intents
    >>> found.overall().set_index("mechanism")["bias_of_first"].round(2).to_dict()
    {'MCAR': 0.01, 'MNAR': 0.04}
    """
    named: list[Mechanism] = [mechanisms] if isinstance(mechanisms, str) else list(mechanisms)
    _check(rates, named, n_repeats)
    table = as_surprisals(surprisals)
    missing = int(table.bits.isna().to_numpy().sum())
    if missing:
        raise DataError(
            f"{missing:,} cells are missing; give a complete table: keep the intents that all editions have."
        )
    rng = generator(seed, "deleted cells")
    called = name_of_seed(seed, rng)
    variant = find_variant(model)
    how: dict[str, Any] = {"model": variant, "intents": intents}
    usual: dict[str, Any] = {"restricted": False, "clusters": None, "dispersion": "common"}
    whole = fit(table, **how, **usual)
    reference = _reference(whole, truth)
    z = np.log(table.bits.to_numpy())
    residual = z - np.log(whole.intent_size.to_numpy())[:, None] - whole.difficulty.to_numpy()
    rows = []
    with progress_bar(progress=progress) as bar:
        task = bar.add_task("deleting", total=len(named) * len(rates) * n_repeats, note="")
        for mechanism in named:
            for rate in rates:
                bar.update(task, note=f"{mechanism}, {rate:g}")
                for repeat in range(1, n_repeats + 1):
                    gone = draw_missing(z, residual, rate, mechanism, rng)
                    rest = _fit_rest(table, gone, f"{mechanism} at rate {rate:g}", how | usual)
                    difference = rest.difficulty - reference
                    columns = {"difference": difference, "std_error": rest.std_error}
                    frame = pd.DataFrame(columns).rename_axis("edition").reset_index()
                    rows.append(frame.assign(mechanism=mechanism, rate=float(rate), repeat=repeat))
                    bar.update(task, advance=1)
    order = ["mechanism", "rate", "repeat", "edition", "difference", "std_error"]
    parts = {
        "deletion": ",".join(named),
        "rates": ",".join(f"{rate:g}" for rate in rates),
        "repeats": n_repeats,
        "reference": "truth" if truth is not None else None,
        "model": variant.name,
        "intents": intents,
        **own_numbers([variant]),
        "seed": called,
        **identify_table(table),
    }
    results = pd.concat(rows, ignore_index=True)[order]
    return DeletionBias(results=results, reference=reference, intents=intents, signature=full_signature(parts))


def _reference(whole: DifficultyFit, truth: EffectsLike | None) -> pd.Series:
    if truth is None:
        return whole.difficulty
    effects = as_effects(truth)
    given = effects.estimate
    if set(given.index) != set(whole.difficulty.index):
        raise DataError(f"truth has other editions ({listing(given.index)}) than the table; give one for each edition.")
    given = given[whole.difficulty.index]
    return pd.Series(effects.scale.center(given.to_numpy()), given.index)


def _fit_rest(table: Surprisals, gone: np.ndarray, what: str, how: dict[str, Any]) -> DifficultyFit:
    kept = table.bits.mask(gone)
    try:
        with missing_by_design():
            return fit(Surprisals(bits=kept[kept.notna().any(axis=1)], lm=table.lm), **how)
    except DataError as error:
        raise DataError(
            f"what is left after {what} cannot be fitted: {error} Delete less, or give more intents."
        ) from error


def _check(rates: Sequence[float], mechanisms: Sequence[str], n_repeats: int) -> None:
    unknown = [name for name in mechanisms if name not in get_args(Mechanism)]
    if unknown:
        raise ConfigError(f"unknown mechanisms {listing(unknown)}; use {listing(get_args(Mechanism))}.")
    for what, given in (("mechanisms", mechanisms), ("rates", rates)):
        if not len(given) or len(set(given)) < len(given):  # twice the same would be counted as more repeats
            raise ConfigError(f"{what} must be named once each, and at least one; got {list(given)}.")
    if not all(0 < rate < 1 for rate in rates):
        raise ConfigError(f"{option('rates')} are shares between 0 and 1, got {list(rates)}.")
    if not isinstance(n_repeats, int | np.integer) or n_repeats < 1:
        raise ConfigError(f"{option('n_repeats')} must be at least 1, got {n_repeats!r}.")

"""Stability of difficulties in the number of intents, by nested random subsets of a table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from langdiff.base.progress import progress_bar
from langdiff.base.result import Drawn, Result, rounded
from langdiff.base.signature import full_signature, name_of_seed
from langdiff.base.types import Floats, generator
from langdiff.errors import ConfigError, DataError, option, warns_caller
from langdiff.regression import DifficultyFit, fit
from langdiff.regression.table import as_surprisals, identify_table
from langdiff.regression.variants import PlainModel, find_variant, own_numbers
from langdiff.regression.variants.variant import Variant
from langdiff.tables.surprisals import Surprisals

HALVINGS = 4  # the default sizes are halves, quarters, … of the table


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class IntentStability(Result):
    """Difficulties from random subsets of intents, and from all of them.

    Attributes
    ----------
    results : DataFrame
        One row per repeat, size and edition: ``repeat``, ``size``, ``edition``, ``difficulty`` and ``std_error`` in
        nats. The subsets of a repeat are nested.
    whole : DifficultyFit
        Fit to all intents.
    signature : str
        Everything the numbers depend on, to be quoted with them.
    """

    results: pd.DataFrame
    whole: DifficultyFit
    signature: str

    def to_frame(self) -> pd.DataFrame:
        """Return one row per size and edition, all intents last.

        Returns
        -------
        DataFrame
            ``size``, ``edition``; ``difficulty``, mean over repeats; ``sd`` between repeats (NaN for one repeat, and 0
            for all intents); ``std_error``, the mean that fits report. In nats.
        """
        groups = self.results.groupby(["size", "edition"], sort=False)
        columns = {
            "difficulty": groups["difficulty"].mean(),
            "sd": groups["difficulty"].std(ddof=1),
            "std_error": groups["std_error"].mean(),
        }
        frame = pd.DataFrame(columns).reset_index()
        whole = pd.DataFrame({"difficulty": self.whole.difficulty, "sd": 0.0, "std_error": self.whole.std_error})
        whole = whole.rename_axis("edition").reset_index().assign(size=len(self.whole.intent_size))
        return pd.concat([frame, whole[frame.columns]], ignore_index=True)

    def overall(self) -> pd.DataFrame:
        r"""Return one row per size.

        Returns
        -------
        DataFrame
            Indexed by ``size``: ``sd`` between repeats, the root mean square over editions; ``expected_sd``, which the
            standard errors of the fits predict, :math:`\sqrt{1 - n/N}` of them, as n of N intents were drawn;
            ``rank_correlation``, mean over repeats of Spearman's with the difficulties of all intents; and
            ``same_hardest``, the share of repeats in which the hardest edition is that of all intents.
        """
        frame = self.to_frame()
        total = len(self.whole.intent_size)
        squares = (frame[["sd", "std_error"]] ** 2).groupby(frame["size"], sort=False).mean() ** 0.5
        squares = squares.drop(index=total)
        reference, rows = self.whole.difficulty, []
        for size in squares.index:
            part = self.results[self.results["size"] == size]
            wide = part.pivot(index="edition", columns="repeat", values="difficulty").loc[reference.index]
            agreement = wide.corrwith(reference, method="spearman").mean()
            rows.append((agreement, float((wide.idxmax() == reference.idxmax()).mean())))
        columns = {
            "sd": squares["sd"],
            "expected_sd": squares["std_error"] * np.sqrt(1 - squares.index.to_numpy() / total),
            "rank_correlation": [agreement for agreement, _ in rows],
            "same_hardest": [same for _, same in rows],
        }
        return pd.DataFrame(columns, index=squares.index)

    def _lines(self) -> Iterator[str]:
        yield f"{self!r}; nats"

    def _table(self) -> pd.DataFrame:
        return rounded(self.overall(), self.digits)

    plot = Drawn("plot_intent_stability", lambda stability: stability.to_frame())

    def __repr__(self) -> str:
        """Return a one-line description with sizes and repeats."""
        counts = self.results.nunique()
        sizes = ", ".join(f"{size:,}" for size in self.results["size"].unique())
        return (
            f"IntentStability: {counts['edition']} editions, {sizes} of {len(self.whole.intent_size):,} intents, "
            f"{counts['repeat']} {'repeat' if counts['repeat'] == 1 else 'repeats'}"
        )


@warns_caller
def intent_stability(
    surprisals: Surprisals | pd.DataFrame | Floats,
    *,
    n_intents: Sequence[int] | None = None,
    n_repeats: int = 20,
    model: PlainModel | Variant = "2",
    seed: int | np.random.Generator = 0,
    progress: bool | None = None,
) -> IntentStability:
    """Fit difficulties to nested random subsets of the intents, and compare them with those of all intents.

    Each repeat draws one order of the intents, of which every size takes the beginning. For the spread between seeds
    of the language model see `langdiff.replicate`.

    Parameters
    ----------
    surprisals : Surprisals, DataFrame or array, shape (I, J)
        Bits of intent i (row) in edition j (column); NaN where missing.
    n_intents : sequence of int, optional
        Numbers of intents, rising, all below that of the table; by default a sixteenth, an eighth, a quarter and a half
        of it.
    n_repeats : int
        Number of random orders.
    model : {"1", "2", "2L", "2C"} or Variant
        Regression model to fit; see `langdiff.fit`. Model 3, which needs a scale, is an object.
    seed : int or numpy.random.Generator
        Seed of the orders.
    progress : bool, optional
        Whether to draw a progress bar; by default if stderr is a terminal.

    Returns
    -------
    IntentStability
        Difficulties of every subset, and their spread by size.

    Raises
    ------
    ConfigError
        If the sizes do not rise or are out of range, or there is no repeat.
    DataError
        If the table or a subset cannot be fitted.

    Warns
    -----
    LangdiffWarning
        As `langdiff.fit`, each kind once.

    Examples
    --------
    >>> import langdiff as ld
    >>> surprisals = ld.simulate(400, 5, seed=0).surprisals
    >>> found = ld.experiments.intent_stability(surprisals, n_intents=[50, 200], n_repeats=5, seed=1)
    >>> found
    IntentStability: 5 editions, 50, 200 of 400 intents, 5 repeats
    >>> bool(found.overall()["sd"].is_monotonic_decreasing)
    True
    """
    table = as_surprisals(surprisals)
    total = len(table.intents)
    given = [total // 2**k for k in range(HALVINGS, 0, -1)] if n_intents is None else list(n_intents)
    chosen = [int(size) for size in given]
    if not chosen or given != sorted(set(chosen)) or chosen[0] < 2 or chosen[-1] >= total:
        raise ConfigError(
            f"{option('sizes')} must rise, from 2 up and below the {total:,} intents of the table; got {given}."
        )
    if not isinstance(n_repeats, int | np.integer) or n_repeats < 1:
        raise ConfigError(f"{option('n_repeats')} must be at least 1, got {n_repeats!r}.")
    rng = generator(seed, "subsets of intents")
    called = name_of_seed(seed, rng)
    variant = find_variant(model)
    whole = fit(table, model=variant, dispersion="common", clusters=None)
    rows = []
    with progress_bar(progress=progress) as bar:
        task = bar.add_task("fitting", total=n_repeats * len(chosen), note="")
        for repeat in range(1, n_repeats + 1):
            order = rng.permutation(total)
            for size in chosen:
                part = table.bits.iloc[np.sort(order[:size])]
                found = _fit(Surprisals(bits=part, lm=table.lm), size, variant)
                columns = {"difficulty": found.difficulty, "std_error": found.std_error}
                frame = pd.DataFrame(columns).rename_axis("edition").reset_index()
                rows.append(frame.assign(repeat=repeat, size=size))
                bar.update(task, advance=1, note=f"{size:,} intents")
    parts = {
        "sizes": ",".join(map(str, chosen)),
        "repeats": n_repeats,
        "model": variant.name,
        **own_numbers([variant]),
        "seed": called,
        **identify_table(table),
    }
    results = pd.concat(rows, ignore_index=True)[["repeat", "size", "edition", "difficulty", "std_error"]]
    results = results.sort_values(["size", "repeat"], kind="stable", ignore_index=True)
    return IntentStability(results=results, whole=whole, signature=full_signature(parts))


def _fit(table: Surprisals, size: int, model: Variant) -> DifficultyFit:
    try:
        return fit(table, model=model, dispersion="common", clusters=None)
    except DataError as error:
        raise DataError(f"a subset of {size:,} intents cannot be fitted: {error} Use larger sizes.") from error

"""Held-out log-likelihoods of models, over subsets of the data and settings of the comparison."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, get_args

import numpy as np
import pandas as pd

from langdiff import __version__
from langdiff.base.checksums import read_sealed, seal
from langdiff.base.io import write_json
from langdiff.base.progress import progress_bar
from langdiff.base.result import Result, drawing
from langdiff.base.signature import full_hash, full_signature, name_of_number
from langdiff.base.types import Floats, generator, seed_number, seed_numbers
from langdiff.errors import CheckpointError, ConfigError, DataError, listing, option, warns_caller
from langdiff.regression import DifficultyFit, fit, held_out_log_likelihood
from langdiff.regression.check.held_out import Fix, Sizes
from langdiff.regression.table import as_surprisals, identify_table
from langdiff.regression.variants import COMPARED, Model, find_variants, own_numbers
from langdiff.regression.variants.variant import Variant
from langdiff.tables.surprisals import Surprisals

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMAT = "langdiff goodness"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Goodness(Result):
    """Log-likelihoods that models give to intents held out of their fit, over subsets of the data.

    Attributes
    ----------
    results : DataFrame
        One row per setting, subset and model: ``n``, ``fix``, ``subset``, ``model``, ``per_cell`` (log-likelihood of
        log bits, nats per held-out cell) and its ``std_error`` within the subset, ``total``, ``dispersion``, number of
        held-out ``cells``, and whether the fit ``converged``.
    signature : str
        Everything the numbers depend on, to be quoted with them.
    """

    results: pd.DataFrame
    signature: str

    printing: ClassVar = {"index": False}

    @property
    def settings(self) -> list[tuple[Sizes, Fix]]:
        """Treatments of new sizes, with the parameters kept from the fit, in the order given."""
        pairs = self.results[["n", "fix"]].drop_duplicates()
        return list(pairs.itertuples(index=False, name=None))

    def scores(self, *, n: Sizes | None = None, fix: Fix | None = None) -> pd.DataFrame:
        """Return nats per held-out cell of one setting, as `langdiff.plots.plot_goodness_of_fit` takes them.

        Parameters
        ----------
        n, fix : str, optional
            Setting; by default the first that was asked for.

        Returns
        -------
        DataFrame
            One row per subset, one column per model.

        Raises
        ------
        ConfigError
            If the setting was not asked for.
        """
        setting = (n or self.settings[0][0], fix or self.settings[0][1])
        if setting not in self.settings:
            raise ConfigError(f"setting {setting} was not computed; there are {listing(self.settings)}.")
        rows = self.results[(self.results["n"] == setting[0]) & (self.results["fix"] == setting[1])]
        models = list(rows["model"].unique())
        return rows.pivot(index="subset", columns="model", values="per_cell")[models]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per setting and model, best first within a setting.

        Returns
        -------
        DataFrame
            ``n``, ``fix``, ``model``; ``per_cell``, mean over subsets of the log-likelihood in nats per held-out cell,
            and ``sd``, its standard deviation over subsets; ``difference`` to the best model of the setting, and
            ``difference_std_error`` from the differences within subsets; ``subsets``, ``not_converged``.
        """
        tables = []
        for n, fix in self.settings:
            scores = self.scores(n=n, fix=fix)
            rows = self.results[(self.results["n"] == n) & (self.results["fix"] == fix)]
            behind = scores.sub(scores[scores.mean().idxmax()], axis=0)
            columns = {
                "n": n,
                "fix": fix,
                "model": scores.columns,
                "per_cell": scores.mean(),
                "sd": scores.std(ddof=1),
                "difference": behind.mean(),
                "difference_std_error": behind.std(ddof=1) / np.sqrt(len(scores)),
                "subsets": len(scores),
                "not_converged": (~rows["converged"]).groupby(rows["model"]).sum()[scores.columns],
            }
            tables.append(pd.DataFrame(columns).sort_values("per_cell", ascending=False, kind="stable"))
        return pd.concat(tables, ignore_index=True)

    def _lines(self) -> Iterator[str]:
        yield f"{self!r}; log-likelihood of log bits, nats per held-out cell"
        yield (
            "n: sizes of held-out intents, most likely (map) or integrated out (posterior); fix: what stays as fitted."
        )

    def plot(self, ax: "Axes | None" = None, *, n: Sizes | None = None, fix: Fix | None = None, **style: Any) -> "Axes":
        """Draw the scores of one setting; see `langdiff.plots.plot_goodness_of_fit`.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on. Without axes, `n` and `fix`, all settings are drawn, each in a panel of a new figure, and
            the first panel is returned.
        n, fix : str, optional
            Setting; by default the first that was asked for.
        **style
            Settings for ``Axes.errorbar``, which override the defaults.

        Returns
        -------
        Axes
            The axes drawn on.

        Raises
        ------
        ConfigError
            If the setting was not computed.
        """
        chosen = self.settings if ax is None and n is None and fix is None else [(n, fix)]
        panels = [ax]
        if ax is None and len(chosen) > 1:
            import matplotlib.pyplot as plt

            size = (len(chosen) * (1.6 + 0.8 * self.results["model"].nunique()), 3.6)
            panels = list(plt.subplots(ncols=len(chosen), figsize=size, layout="constrained")[1])
        draw = drawing("plot_goodness_of_fit")
        drawn = [
            draw(self.scores(n=a, fix=b), panel, title=f"{a or ''}, {b or ''}".strip(", "), **style)
            for (a, b), panel in zip(chosen, panels, strict=True)
        ]
        return drawn[0]

    def __repr__(self) -> str:
        """Return a one-line description with models, settings and subsets."""
        counts = self.results.nunique()
        return (
            f"Goodness of {counts['model']} models over {counts['subset']} subsets of intents, "
            f"{len(self.settings)} setting(s)"
        )


KEY = 16  # hexadecimal digits in the name of a stored result
VALUES = ("per_cell", "std_error", "total", "dispersion", "cells", "converged")  # what is stored
LEAST = 2  # intents of each part of a subset


@warns_caller
def goodness(
    surprisals: Surprisals | pd.DataFrame | Floats,
    models: Sequence[Model | Variant] | Model | Variant = COMPARED,
    *,
    n_subsets: int = 5,
    held_out: float = 0.2,
    n: Sequence[Sizes] | Sizes = ("map",),
    fix: Sequence[Fix] | Fix = ("difficulty+dispersion",),
    restricted: bool = True,
    cache: str | Path | None = None,
    seed: int | np.random.Generator = 0,
    progress: bool | None = None,
) -> Goodness:
    """Compare how well models explain intents that were held out of their fit, over subsets of the data.

    Intents are dealt at random into disjoint subsets. In each, the models are fitted to most intents and scored on the
    others by `langdiff.held_out_log_likelihood`, under every combination of `n` and `fix`. The spread over subsets is
    that of Figure 6 of the paper. Models are compared on the same intents, so that the differences within subsets say
    more than the spread.

    Parameters
    ----------
    surprisals : Surprisals, DataFrame or array, shape (I, J)
        Bits of intent i (row) in edition j (column); NaN where missing.
    models : {"1", "2", "2L", "2C"}, Variant, or sequence of them
        Regression models to compare.
    n_subsets : int
        Number of disjoint subsets of intents; with one, there is no spread.
    held_out : float
        Share of the intents of a subset that are held out, between 0 and 1.
    n : {"map", "posterior"}, or sequence of them
        Treatments of the sizes of held-out intents: most likely, or integrated out by quadrature.
    fix : {"difficulty+dispersion", "difficulty"}, or sequence of them
        Parameters that stay as fitted; with ``"difficulty"`` the dispersion is fitted to the held-out intents.
    restricted : bool
        Whether models 2, 2L and 2C are fitted by restricted likelihood. Without it, their dispersion is too small and
        that of model 1 is not, so that they are not compared on equal terms.
    cache : str or Path, optional
        Folder that keeps the result of each combination of subset, model and setting; what it has is not computed
        again.
    seed : int or numpy.random.Generator
        Seed of the subsets and of the random starts.
    progress : bool, optional
        Whether to draw a progress bar; by default if stderr is a terminal.

    Returns
    -------
    Goodness
        Log-likelihood per held-out cell of every model, subset and setting.

    Raises
    ------
    ConfigError
        If a setting is unknown, out of range or named twice.
    DataError
        If there are too few intents for so many subsets, or a subset cannot be fitted.
    CheckpointError
        If a stored result is damaged.

    Warns
    -----
    LangdiffWarning
        As `langdiff.fit`, each kind once.

    References
    ----------
    Mielke, Cotterell, Gorman, Roark and Eisner (2019), appendix C and Figure 6. The paper samples the sizes of held-out
    intents by HMC; given the other parameters they are independent, so that one integral per intent is exact.

    Examples
    --------
    >>> import langdiff as ld
    >>> surprisals = ld.simulate(300, 5, model="2", seed=0).surprisals
    >>> found = ld.goodness(surprisals, ["1", "2"], n_subsets=3, n="posterior", seed=0)
    >>> found
    Goodness of 2 models over 3 subsets of intents, 1 setting(s)
    >>> found.to_frame()["model"].tolist()
    ['2', '1']
    """
    variants = find_variants(models)
    settings = list(product(_choices("n", n, get_args(Sizes)), _choices("fix", fix, get_args(Fix))))
    table = as_surprisals(surprisals)
    number = seed_number(seed, "subsets of intents")
    _check_sizes(len(table.intents), n_subsets, held_out)
    scale = next((variant.laplace_scale for variant in variants if variant.laplace_scale is not None), None)
    how: dict[str, Any] = {"restricted": bool(restricted), "laplace_scale": scale}
    how |= {name: value for name, value in own_numbers(variants).items() if name not in how}
    rows = []
    with progress_bar(progress=progress) as bar:
        task = bar.add_task("comparing", total=n_subsets * len(variants), note="")
        for subset, train, test, start in _subsets(table, n_subsets, held_out, number):
            for model in variants:
                bar.update(task, note=f"subset {subset}, model {model.name}")
                work = _Work(subset, train, test, start, model, how, None if cache is None else Path(cache))
                rows += [
                    {"n": a, "fix": b, "subset": subset, "model": model.name} | found
                    for (a, b), found in zip(settings, work.scores(settings), strict=True)
                ]
                bar.update(task, advance=1)
    parts = {
        "goodness": ",".join(variant.name for variant in variants),
        "subsets": n_subsets,
        "held_out": name_of_number(held_out),
        "restricted": bool(restricted),
        **own_numbers(variants),
        "seed": number,
        **identify_table(table),
    }
    order = pd.DataFrame(rows, columns=["n", "fix", "subset", "model", *VALUES])
    order["place"] = [settings.index((row.n, row.fix)) for row in order.itertuples()]
    results = order.sort_values("place", kind="stable").drop(columns="place").reset_index(drop=True)
    return Goodness(results=results, signature=full_signature(parts))


@dataclass(frozen=True)
class _Work:
    """One model on one subset: fitted once, and only if a score is not stored."""

    subset: int
    train: Surprisals
    test: Surprisals
    seed: int
    model: Variant
    how: dict[str, Any]
    cache: Path | None

    def scores(self, settings: Sequence[tuple[Sizes, Fix]]) -> list[dict[str, Any]]:
        """Return the score under each setting."""
        fitted: DifficultyFit | None = None
        found = []
        for n, fix in settings:
            path = self._path(n, fix)
            stored = None if path is None else _read(path)
            if stored is None:
                fitted = fitted or self._fit()
                score = held_out_log_likelihood(fitted, self.test, n=n, fix=fix, seed=self.seed)
                stored = {name: getattr(score, name) for name in VALUES if name != "converged"}
                stored["converged"] = fitted.converged
                if path is not None:
                    about = {"format": FORMAT, "format_version": 1, "model": self.model.name, "subset": self.subset}
                    write_json(path, seal(about | {"n": n, "fix": fix} | stored))
            found.append(stored)
        return found

    def _fit(self) -> DifficultyFit:
        restricted = self.how["restricted"] and self.model.restrictable
        try:
            return fit(self.train, model=self.model, restricted=restricted, clusters=None, dispersion="common")
        except DataError as error:
            raise DataError(
                f"subset {self.subset} of the intents cannot be fitted: {error} Use fewer subsets."
            ) from error

    def _path(self, n: Sizes, fix: Fix) -> Path | None:
        if self.cache is None:
            return None
        depends = (self.train.bits, self.test.bits, self.seed, self.model.name, self.how, n, fix, __version__)
        return self.cache / f"goodness-{full_hash(*depends)[:KEY]}.json"


def _read(path: Path) -> dict[str, Any] | None:
    """Return a stored score; None if there is none."""
    if not path.exists():
        return None
    try:
        content = read_sealed(path, kind=FORMAT, version=1, what="stored result of goodness")
    except DataError as error:
        raise CheckpointError(f"{error} Delete the file to compute it anew.") from error
    return {name: content[name] for name in VALUES}


def _subsets(
    table: Surprisals, n_subsets: int, held_out: float, number: int
) -> Iterator[tuple[int, Surprisals, Surprisals, int]]:
    """Yield number, train and test part, and a seed of each subset; intents keep their order within a part."""
    order = generator(number).permutation(len(table.intents))
    parts, starts = np.array_split(order, n_subsets), seed_numbers(number, n_subsets)
    for subset, (part, start) in enumerate(zip(parts, starts, strict=True), 1):
        cut = _held_out(len(part), held_out)
        test, train = (
            Surprisals(bits=table.bits.iloc[np.sort(rows)], lm=table.lm) for rows in (part[:cut], part[cut:])
        )
        yield subset, train, test, start


def _held_out(size: int, share: float) -> int:
    return max(1, round(size * share))


def _choices(what: str, given: Any, offered: Sequence[Any]) -> list[Any]:
    chosen = [given] if isinstance(given, str) else list(given)
    unknown = [name for name in chosen if name not in offered]
    if unknown:
        raise ConfigError(f"unknown {what} {listing(unknown)}; use {listing(offered)}.")
    if not chosen or len(set(chosen)) < len(chosen):
        raise ConfigError(f"{what} must be named once each, and at least one; got {json.dumps(chosen)}.")
    return chosen


def _check_sizes(n_intents: int, n_subsets: int, held_out: float) -> None:
    if not isinstance(n_subsets, int | np.integer) or n_subsets < 1:
        raise ConfigError(f"{option('n_subsets')} must be at least 1, got {n_subsets!r}.")
    if not 0 < held_out < 1:
        raise ConfigError(f"{option('held_out')} is a share between 0 and 1, got {held_out!r}.")
    least = n_intents // n_subsets
    cut = _held_out(least, held_out)
    if min(cut, least - cut) < LEAST:
        raise DataError(
            f"{n_intents:,} intents in {n_subsets:,} subsets are {least:,} each, of which {cut:,} would be held out; "
            f"at least {LEAST} must be held out and {LEAST} remain. Use fewer subsets."
        )

"""Cross-validation of models: assignment of cells to folds, and log-densities of held-out cells."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from langdiff.base.progress import progress_bar
from langdiff.base.result import Drawn, Result
from langdiff.base.signature import full_signature, name_of_seed
from langdiff.base.types import Booleans, Floats, Integers, generator
from langdiff.errors import ConfigError, DataError, LangdiffWarning, option
from langdiff.regression.check.held_out import known_editions, mean_per_cell, predictive_size_prior
from langdiff.regression.clustering import AnyClusters, name_of_clusters, one_clustering
from langdiff.regression.fitting.fit import fit
from langdiff.regression.kernel.quadrature import log_marginal
from langdiff.regression.kernel.two_way import edition_components
from langdiff.regression.result import DifficultyFit
from langdiff.regression.table import as_surprisals, identify_table
from langdiff.regression.variants import COMPARED, Model, find_variants, own_numbers
from langdiff.regression.variants.variant import Variant
from langdiff.tables.surprisals import Surprisals

LEAST_LEFT = 2  # cells of an intent that stay: one alone says nothing of difficulties
NEVER = -1


def assign_folds(observed: Booleans, k: int, rng: np.random.Generator, clusters: Integers | None = None) -> Integers:
    """Assign the cells of a table to k folds.

    The cells that a cluster has in an edition are held out together or never. Whichever fold is held out, every intent
    keeps at least two cells, all editions stay connected, and so many cells are left that I intents and J editions can
    be fitted.

    Shapes: observed (I, J); clusters (I,).

    Examples
    --------
    >>> observed = np.array([[True, True, True], [True, True, True], [True, True, False]])
    >>> assign_folds(observed, 3, np.random.default_rng(0))
    array([[ 0,  2, -1],
           [ 2,  0,  1],
           [-1, -1, -1]])
    >>> observed = np.array([[True] * 4, [True] * 4, [True, True, True, False], [True] * 4])
    >>> assign_folds(observed, 3, np.random.default_rng(0), clusters=np.array([0, 0, 1, 1]))
    array([[ 1,  0,  2,  1],
           [ 1,  0,  2,  1],
           [ 0,  2,  1, -1],
           [ 0,  2,  1,  2]])
    """
    if clusters is None:
        clusters = np.arange(len(observed))
    blocks = clusters[:, None] * observed.shape[1] + np.arange(observed.shape[1])  # (I, J): cells that go together
    folds = _deal(observed, k, rng, clusters)
    for fold in range(k):
        _reconnect(folds, fold, observed, blocks)
        _leave_enough(folds, fold, observed, blocks, rng)
    return folds


def _deal(observed: Booleans, k: int, rng: np.random.Generator, clusters: Integers) -> Integers:
    """Assign the editions of each cluster to folds one by one, as long as every intent keeps enough cells."""
    editions = observed.shape[1]
    by_cluster = np.argsort(clusters, kind="stable")
    starts = np.searchsorted(clusters[by_cluster], np.arange(int(clusters.max()) + 1))

    def any_of_cluster(rows: Booleans) -> Booleans:  # (I, K) -> (G, K)
        found: Booleans = np.logical_or.reduceat(rows[by_cluster], starts, axis=0)
        return found

    seen, groups = any_of_cluster(observed), len(starts)
    order = np.argsort(rng.random((groups, editions)) + ~seen, axis=1)  # random, editions without the cluster last
    first = rng.integers(k, size=(groups, 1))  # the fold of the first edition
    spare = observed.sum(axis=1, keepdims=True) - LEAST_LEFT
    held_out = np.zeros((len(observed), k), dtype=np.int_)  # cells of each intent in each fold
    folds = np.full(observed.shape, NEVER)
    for turn in range(editions):
        edition = order[clusters, turn]  # (I,)
        has_cell = np.take_along_axis(observed, edition[:, None], axis=1)  # (I, 1)
        full = any_of_cluster(has_cell & (held_out >= spare))
        preferred = (first + turn + np.arange(k)) % k  # (G, k): the next fold, and those after it
        free = ~np.take_along_axis(full, preferred, axis=1)
        place = np.arange(groups), free.argmax(axis=1)
        chosen, fits = preferred[place], free[place]  # (G,)
        rows = np.flatnonzero(has_cell[:, 0] & fits[clusters])
        folds[rows, edition[rows]] = chosen[clusters[rows]]
        held_out[rows, chosen[clusters[rows]]] += 1
    return folds


def _leave_enough(folds: Integers, fold: int, observed: Booleans, blocks: Integers, rng: np.random.Generator) -> None:
    """Remove cells from a fold, in place, until one more than connects them all stays for each intent and edition."""
    out = blocks[folds == fold]
    short = sum(observed.shape) - (int(observed.sum()) - len(out))
    if short > 0:
        found, first, sizes = np.unique(out, return_index=True, return_counts=True)
        in_order = np.argsort(first)  # of rows, so that without clusters cells are permuted as they lie
        shuffled = in_order[rng.permutation(len(found))]
        needed = 1 + int(np.searchsorted(np.cumsum(sizes[shuffled]), short))
        folds[(folds == fold) & np.isin(blocks, found[shuffled[:needed]])] = NEVER


def _reconnect(folds: Integers, fold: int, observed: Booleans, blocks: Integers) -> None:
    """Remove cells from a fold, in place, until the cells that stay are connected."""
    while True:
        left = observed & (folds != fold)
        component = edition_components(left)
        if component.max() == 0:
            return
        own = component[left.argmax(axis=1)]  # of each intent: that of its first edition left
        rows, columns = np.nonzero((folds == fold) & (component[None, :] != own[:, None]))
        # joins two components; there is one, as all cells together connect
        folds[(folds == fold) & (blocks == blocks[rows[0], columns[0]])] = NEVER


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CrossValidation(Result):
    """Log-densities that models predict for cells held out of their fit.

    Attributes
    ----------
    per_intent : DataFrame, shape (I, models)
        Sum over the held-out cells of each intent of the predictive log-density of z = ln(bits), nats;
        only intents of which cells were held out.
    held_out : Series, shape (I,)
        Number of held-out cells of each of these intents; each cell is held out once.
    clusters : Series, shape (I,), or None
        Cluster of each of these intents; None if each is one.
    kept_cells, kept_intents : int
        Cells that were never held out, since too few would have been left, and intents of which none was.
    not_converged : Series, shape (models,)
        Number of fits of each model, one per fold, that did not converge.
    folds : int
        Number of folds that hold cells: as many as asked for, or fewer for a small table.
    signature : str
        Everything the numbers depend on, to be quoted with them.
    """

    per_intent: pd.DataFrame
    held_out: pd.Series
    kept_cells: int
    kept_intents: int
    not_converged: pd.Series
    folds: int
    signature: str
    clusters: pd.Series | None = None

    plot = Drawn("plot_goodness_of_fit")

    @property
    def best(self) -> str:
        """The model with the highest mean log-density."""
        return str(self.to_frame().index[0])

    def to_frame(self) -> pd.DataFrame:
        """Return one row per model, best first.

        Returns
        -------
        DataFrame
            Indexed by model: ``log_density``, mean per held-out cell, nats, of log bits, its ``std_error``, and ``low``
            and ``high``, the ends of its 95 % interval;
            ``difference`` to the best model, at most 0, and ``difference_std_error``, of the paired
            differences (both with the intents, or their clusters, as the sample); ``rank``; ``not_converged``, the
            number of such fits.
        """
        counts, clusters = self.held_out.to_numpy(), self.clusters
        scores = {name: mean_per_cell(column.to_numpy(), counts, clusters) for name, column in self.per_intent.items()}
        best = max(scores, key=lambda name: scores[name]["per_cell"])
        paired = {
            name: mean_per_cell((column - self.per_intent[best]).to_numpy(), counts, clusters)
            for name, column in self.per_intent.items()
        }
        frame = pd.DataFrame(
            {
                "log_density": {name: score["per_cell"] for name, score in scores.items()},
                "std_error": {name: score["std_error"] for name, score in scores.items()},
                "low": {name: score["low"] for name, score in scores.items()},
                "high": {name: score["high"] for name, score in scores.items()},
                "difference": {name: score["per_cell"] for name, score in paired.items()},
                "difference_std_error": {name: score["std_error"] for name, score in paired.items()},
                "not_converged": self.not_converged,
            }
        )
        frame = frame.rename_axis("model").sort_values("log_density", ascending=False, kind="stable")
        frame.insert(4, "rank", np.arange(1, len(frame) + 1))
        return frame

    def _lines(self) -> Iterator[str]:
        yield (
            f"{self.folds}-fold cross-validation: {int(self.held_out.sum()):,} cells of {len(self.held_out):,} intents "
            f"predicted, {self.kept_cells:,} cells never held out ({self.kept_intents:,} intents with too few to spare)"
        )
        yield "log-density of log bits, nats per cell; differences are paired, to the best model"
        if self.clusters is not None:
            yield f"whole clusters held out and sampled: {self._clusters()}"

    def _clusters(self) -> str:
        """Describe the number of clusters and their sizes in intents."""
        sizes = pd.Series(self.clusters).value_counts()
        return f"{len(sizes):,} of {sizes.min():,} to {sizes.max():,} intents ({pd.Series(self.clusters).name})"

    def __repr__(self) -> str:
        """Rank the models."""
        order = ", ".join(f"{name} ({value:.4f})" for name, value in self.to_frame()["log_density"].items())
        return f"CrossValidation, {self.folds} folds, nats per cell: {order}"


def cross_validate(
    surprisals: Surprisals | pd.DataFrame | Floats,
    models: Sequence[Model | Variant] | Model | Variant = COMPARED,
    *,
    n_folds: int = 10,
    restricted: bool = True,
    clusters: AnyClusters | None = "auto",
    seed: int | np.random.Generator = 0,
    progress: bool | None = None,
) -> CrossValidation:
    r"""Score models by the cells that they predict from the others.

    The cells are dealt into folds, the same for all models. Each fold in turn is left out, the model is fitted
    to the rest, and the cells left out are scored jointly, intent by intent, with the intent's size integrated
    out over what its remaining cells leave open:

    .. math::
        \ln p(z_i^{out} \mid z_i^{in}) =
        \ln\int p(z_i \mid n)\, p(n)\, dn - \ln\int p(z_i^{in} \mid n)\, p(n)\, dn

    with d and κ as fitted, and for p(n) a log-normal distribution with the moments of the fitted sizes. So
    no model is scored on cells to which it has been fitted, unlike with sizes of held-out *intents*
    (`langdiff.held_out_log_likelihood`). An intent always keeps two cells, and editions stay connected; cells
    that cannot be spared are never held out, and counted.

    Parameters
    ----------
    surprisals : Surprisals, DataFrame or array, shape (I, J)
        Bits of intent i (row) in edition j (column); NaN where missing.
    models : {"1", "2", "2L", "2C"}, Variant, or sequence of them
        Regression models to compare; see `langdiff.fit`.
    n_folds : int
        Number of folds, at least 2.
    restricted : bool
        Fit models 2, 2L and 2C by restricted likelihood. Without it their dispersion is too
        small, unlike that of model 1, and with few editions so are the densities of what they predict.
    clusters : "auto", str, mapping, Series, DifficultyFit or None
        Clusters of intents whose errors are shared, such as ``"document"``, ``"book"`` or ``"chapter"``: a column of
        `intent_info` (books and chapters of verse ids need none), or the cluster of each intent. All cells that a
        cluster has in an edition are held out together, so that no error that they share is known from the
        others; standard errors take clusters for the sample. Clusters that are found are no fewer than the folds.
    seed : int or numpy.random.Generator
        Seed of the folds and of random starts.
    progress : bool, optional
        Whether to draw a progress bar on stderr; by default only on a terminal.

    Returns
    -------
    CrossValidation
        Predictive log-densities of every model, by intent.

    Raises
    ------
    ConfigError
        If `n_folds` is below 2, models are unknown or named twice, a column of clusters is unknown, or `seed` is
        neither a whole number nor a generator.
    DataError
        If no cell can be held out, the table, or what a fold leaves of it, cannot be fitted, or an intent has no
        cluster, or all the same.

    Examples
    --------
    >>> import langdiff as ld
    >>> surprisals = ld.simulate(200, 5, model="2", seed=0).surprisals
    >>> cross_validate(surprisals, ["1", "2"], n_folds=3, seed=0).best
    '2'
    """
    variants = find_variants(models)
    if not isinstance(n_folds, int | np.integer) or n_folds < 2:
        raise ConfigError(f"{option('n_folds')} must be at least 2, got {n_folds!r}.")
    table = as_surprisals(surprisals)
    labels = one_clustering(table, clusters, usable=lambda found: found.nunique() >= n_folds)
    observed = table.bits.notna().to_numpy()
    # a table that cannot be fitted is refused here, in full, not fold by fold
    fit(table, model="1", clusters=None, dispersion="common")
    rng = generator(seed)
    named = name_of_seed(seed, rng)
    folds = assign_folds(observed, n_folds, rng, None if labels is None else pd.factorize(labels)[0])
    used = np.unique(folds[folds != NEVER])
    if not len(used):
        raise DataError(
            "no cell can be held out: an intent keeps two, and the table one more than its intents and editions "
            "together"
            + ("" if labels is None else f", and with one cell goes its whole cluster ({labels.name})")
            + ". Use models on more editions."
        )
    scores = {variant.name: np.zeros(len(observed)) for variant in variants}
    failed = dict.fromkeys(scores, 0)
    with progress_bar(progress=progress) as bar:
        task = bar.add_task("validating", total=len(used) * len(variants), note="")
        for fold in used:
            for variant in variants:
                trained = _fit_rest(table, folds == fold, variant, restricted)
                failed[variant.name] += not trained.converged
                scores[variant.name] += _predict(table, folds == fold, trained, rng)
                bar.update(task, advance=1, note=f"model {variant.name}")
    counts = (folds != NEVER).sum(axis=1)
    some = counts > 0
    never = observed & (folds == NEVER)
    parts = {
        "models": ",".join(scores),
        "folds": n_folds,
        "restricted": bool(restricted),
        **own_numbers(variants),
        "clusters": None if labels is None else name_of_clusters(labels),
        "seed": named,
        **identify_table(table),
        "cells": int(observed.sum()),
    }
    return CrossValidation(
        per_intent=pd.DataFrame(scores, index=table.intents)[some],
        held_out=pd.Series(counts[some], index=table.intents[some], name="held_out"),
        kept_cells=int(never.sum()),
        kept_intents=int((~some).sum()),
        not_converged=pd.Series(failed, name="not_converged"),
        folds=len(used),
        signature=full_signature(parts),
        clusters=None if labels is None else labels[some],
    )


def _fit_rest(table: Surprisals, out: Booleans, variant: Variant, restricted: bool) -> DifficultyFit:
    rest = Surprisals(bits=table.bits.mask(out), lm=table.lm)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # convergence is counted; standard errors are not used
        try:
            restricted = restricted and variant.restrictable
            return fit(rest, model=variant, restricted=restricted, clusters=None, dispersion="common")
        except DataError as error:
            raise DataError(
                f"with a fold of {int(out.sum()):,} cells held out, the rest cannot be fitted: {error} "
                "Try more folds, or leave out editions with few cells."
            ) from error


def _predict(table: Surprisals, out: Booleans, trained: DifficultyFit, rng: np.random.Generator) -> Floats:
    """Return the log-density of each intent's held-out cells given its other cells, shape (I,)."""
    rows = out.any(axis=1)
    z = np.log(table.bits.to_numpy()[rows])
    editions, prior = known_editions(trained, table.editions), predictive_size_prior(trained)
    density = np.zeros(len(out))
    density[rows] = log_marginal(z, editions, prior, rng) - log_marginal(
        np.where(out[rows], np.nan, z), editions, prior, rng
    )
    return density

"""Comparison of treebanks with one another, whole or in equal subsamples, and with themselves."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from langdiff import __version__
from langdiff.base.grids import Shown
from langdiff.base.progress import progress_bar
from langdiff.base.result import Drawn, Result, rounded
from langdiff.base.signature import name_of_seed, short_hash
from langdiff.base.types import LEAST_EXPONENT, Floats, check_choice, check_kind, generator
from langdiff.errors import ConfigError, DataError, option
from langdiff.tables.effects import Effects
from langdiff.tables.influences import Covariance
from langdiff.tables.rule import Scale, freedom_of, t_interval
from langdiff.treebanks.chains import Counts, divergence
from langdiff.treebanks.profile import TreebankProfile, profile_treebank
from langdiff.treebanks.tables import AVERAGED, METRICS, Metric, SimilaritySettings, box, shared_names, tables
from langdiff.treebanks.treebank import Paths, Treebank, counted, read_treebank, refuse_equal_names

Column = Metric | Literal["mean"]
COLUMNS: tuple[Column, ...] = (*METRICS, "mean")
PARTS = (1, 2, 4)  # of whose halves noise is measured: the whole, half and quarter of a treebank
RESAMPLES = 40  # of the documents or blocks of each treebank, for errors
DIVERGENCE = Scale(quantity="divergence", unit="divergence", first="highest", centre="mean", ends="log")
Equalize = Literal["tokens", "sentences"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TreebankComparison(Result):
    """Divergences of every treebank from every other.

    Attributes
    ----------
    divergence, std : mapping from metric to DataFrame, shape (N, N)
        Row: the reference R, column: the compared C, cell: D(R ‖ C); ``"mean"`` is over size, depth, width and
        length. With repeated subsamples the mean over them and its standard deviation (of one, NaN); else std
        is NaN.
    noise, noise_std : DataFrame, index: treebank, columns: metrics and ``mean``
        D between two random halves of each treebank, mean and standard deviation over divisions; NaN if not
        asked for.
    noise_of_parts : DataFrame, index: treebank and part, columns: metrics, ``mean`` and ``words``
        The same of each treebank (part 1), a random half (2) and a quarter (4), from which `words_needed` plans.
    resampled : mapping from metric to DataFrame, shape (R, N · (N - 1))
        Divergences of all pairs, named ``"reference → compared"``, in bootstrap samples; empty without noise.
    freedom : Series, index: pair
        Degrees of freedom of their errors, by the sizes of the units that were resampled.
    units : str
        These units, in words.
    profiles : mapping from name to TreebankProfile
        Counts of the metrics in each whole treebank.
    settings : SimilaritySettings
        Settings of the metrics and of the divergence.
    equalize : {"tokens", "sentences"} or None
        Quantity of which all subsamples had the same amount; None for whole treebanks.
    signature : str
        Settings, and a hash of the treebanks, to be quoted with the numbers.
    """

    divergence: dict[Column, pd.DataFrame]
    std: dict[Column, pd.DataFrame]
    noise: pd.DataFrame
    noise_std: pd.DataFrame
    noise_of_parts: pd.DataFrame
    resampled: dict[Column, pd.DataFrame]
    freedom: pd.Series
    units: str
    profiles: dict[str, TreebankProfile]
    settings: SimilaritySettings
    equalize: str | None
    signature: str

    def to_frame(self) -> pd.DataFrame:
        """Return one row per metric, reference and compared treebank.

        Columns: ``metric``, ``reference``, ``compared``, ``divergence``, ``std``, ``noise`` (the larger of the
        two treebanks' own; a smaller divergence cannot be distinguished from 0), ``std_error``, and ``low`` and
        ``high``, the ends of the 95 % interval for treebanks of these sizes.
        """
        rows = []
        for metric in COLUMNS:
            frame, std, noise = self.divergence[metric], self.std[metric], self.noise[metric]
            rows += [
                (metric, one, other, frame.at[one, other], std.at[one, other], max(noise[one], noise[other]))
                for one in frame.index
                for other in frame.columns
            ]
        found = pd.DataFrame(rows, columns=["metric", "reference", "compared", "divergence", "std", "noise"])
        error = {(metric, pair): value for metric, own in self.resampled.items() for pair, value in own.std().items()}
        pair = found["reference"] + " → " + found["compared"]
        found["std_error"] = [error.get(key, np.nan) for key in zip(found["metric"], pair, strict=True)]
        freedom = self.freedom.reindex(pair).to_numpy()
        value, spread = (found[name].to_numpy(dtype=float) for name in ("divergence", "std_error"))
        found["low"], found["high"] = t_interval(value, spread, freedom, ends=DIVERGENCE.ends)
        return found

    def effects(self, metric: Column = "mean") -> Effects:
        """Return divergences of all pairs with their errors, which all functions of effects take.

        Parameters
        ----------
        metric : str
            One of the metrics, or ``"mean"``.

        Raises
        ------
        ConfigError
            If the metric is unknown.
        DataError
            If noise, and with it errors, was not asked for.
        """
        check_choice("metric", metric, COLUMNS)
        if metric not in self.resampled:
            raise DataError("divergences have no errors: compare the treebanks with noise.")
        frame, freedom = self.resampled[metric], self.freedom.to_numpy()
        divergence = {" → ".join(pair): value for pair, value in self.divergence[metric].stack().items()}  # type: ignore[arg-type]
        return Effects(
            estimate=pd.Series(divergence)[frame.columns],
            influence=Covariance(np.atleast_2d(np.cov(frame, rowvar=False)), np.minimum.outer(freedom, freedom)),
            scale=DIVERGENCE,
            title=f"divergence in {metric}",
        )

    def words_needed(self, difference: float = 0.1, *, metric: Column = "mean") -> pd.DataFrame:
        r"""Plan how many words each treebank needs for a difference to be as large as the noise.

        The noise of a whole treebank, of halves and of quarters of it gives a power law, :math:`\log` noise
        :math:`= a_i - b \log` words, with a level for each treebank and one exponent by least squares.

        Parameters
        ----------
        difference : float
            Divergence to be seen, above 0.
        metric : str
            One of the metrics, or ``"mean"``.

        Returns
        -------
        DataFrame, index: treebank
            ``words`` and ``noise`` of the treebank (or its subsamples), the ``exponent`` b, and ``words_needed``.

        Raises
        ------
        ConfigError
            If the difference is not above 0 or the metric is unknown.
        DataError
            If noise was not measured or is 0, or falls too slowly with the words to plan by.
        """
        check_choice("metric", metric, COLUMNS)
        if not 0 < difference < np.inf:
            raise ConfigError(f"{option('difference')} must be finite and above 0; got {difference!r}.")
        noise, size = (self.noise_of_parts[name].unstack("part").loc[list(self.profiles)] for name in (metric, "words"))
        level, words = np.log(noise.where(noise > 0).to_numpy()), np.log(size.to_numpy())
        if not np.isfinite(level).all():
            raise DataError(f"{metric} has no noise in parts of each treebank; use noise and eight sentences or more.")
        across = words - words.mean(axis=1, keepdims=True)
        exponent = float(-(across * level).sum() / (across**2).sum())
        if exponent < LEAST_EXPONENT:
            raise DataError(
                f"the noise of {metric} falls too slowly with the words (exponent {exponent:.2f}) for a plan: use "
                "larger treebanks, more repeats, or settings of contexts with one ancestor."
            )
        needed = np.exp(words.mean(axis=1) + (level.mean(axis=1) - np.log(difference)) / exponent)
        frame = pd.DataFrame({"words": size[1], "noise": noise[1], "exponent": exponent})
        return frame.assign(words_needed=needed)

    def sizes(self) -> pd.DataFrame:
        """Return one row per treebank: its sentences, words, leaves, … (see `TreebankProfile`)."""
        frame = pd.DataFrame({name: profile.sizes for name, profile in self.profiles.items()}).T
        return frame.infer_objects().rename_axis("treebank")

    def cluster_order(self) -> list[str]:
        """Return the treebanks in an order in which similar ones are neighbours.

        Raises
        ------
        DataError
            If a divergence is infinite.
        """
        from scipy.cluster.hierarchy import leaves_list

        names = list(self.profiles)
        return [names[place] for place in leaves_list(self._linkage())]

    def groups(self, n_groups: int) -> pd.Series:
        """Return groups of treebanks by average linkage on the mean divergence of both directions.

        Parameters
        ----------
        n_groups : int
            Largest number of groups.

        Returns
        -------
        Series, index: treebank
            Number of the group, from 1.

        Raises
        ------
        DataError
            If a divergence is infinite.
        ConfigError
            If `n_groups` is below 1.
        """
        from scipy.cluster.hierarchy import fcluster

        if n_groups < 1:
            raise ConfigError(f"n_groups must be at least 1; got {n_groups}.")
        members = fcluster(self._linkage(), n_groups, criterion="maxclust")
        return pd.Series(members, index=pd.Index(list(self.profiles), name="treebank"), name="group")

    def _linkage(self) -> "np.ndarray[Any, np.dtype[np.float64]]":
        from scipy.cluster.hierarchy import linkage
        from scipy.spatial.distance import squareform

        means = self.divergence["mean"].to_numpy()
        if not np.isfinite(means).all():
            raise DataError("treebanks at infinite divergence cannot be clustered; use alpha above 0.")
        both = (means + means.T) / 2
        np.fill_diagonal(both, 0)
        return linkage(squareform(both), method="average")

    def _lines(self) -> Iterator[str]:
        what = f"of subsamples of equal {self.equalize}" if self.equalize else "of whole treebanks"
        yield f"Mean divergence over size, depth, width and length, {what} (row: reference, column: compared)"

    def _table(self) -> pd.DataFrame:
        return rounded(self.divergence["mean"], self.digits)

    def _notes(self) -> Iterator[str]:
        try:
            needed = self.words_needed()["words_needed"]
            yield f"Noise as small as 0.1 needs {needed.min():,.0f} to {needed.max():,.0f} words (words_needed)."
        except DataError as error:
            if self.noise["mean"].notna().all():
                yield f"No plan: {error}"
        yield "Natural is not correct: trees of usual shapes may be wrong."
        words = self.sizes()["words"]
        if not self.equalize and words.max() > words.min():
            yield (
                f"The largest treebank has {words.max() / words.min():.1f} times the words of the smallest. Size and "
                "Depth depend on the size of"
            )
            yield "a treebank and on the length of its sentences: compare equal ones (equalize), of one language."

    def tables(self) -> list[Shown]:
        """Return the mean divergences, the noise and the sizes."""
        plain = {"index_names": False}
        found = [Shown(self._table(), "divergence", printing=plain)]
        if self.noise["mean"].notna().all():
            caption = "The same between random halves of one treebank; differences below mean nothing"
            found.append(Shown(self.noise.T[list(self.profiles)].round(4), "noise", caption))
        if self.resampled:
            caption = f"Standard errors of the mean divergence, by bootstrap of {self.units}"
            frame, names = self.to_frame().query("metric == 'mean'"), list(self.profiles)
            error = frame.pivot(index="reference", columns="compared", values="std_error").loc[names, names]
            found.append(Shown(rounded(error, self.digits), "errors", caption, printing=plain))
        return [*found, Shown(self.sizes().round(4), "sizes", "Sizes", tuple(self._notes()), plain)]

    plot = Drawn("plot_divergences")

    def __repr__(self) -> str:
        """Return a line with the treebanks, the divergence and the quantity equalized."""
        kind = "" if not self.equalize else f", equal {self.equalize}"
        return f"TreebankComparison of {', '.join(self.profiles)} ({self.settings.divergence}{kind})"


def compare_treebanks(
    treebanks: Mapping[str, Treebank | Paths] | Iterable[Treebank | str | Path],
    *,
    settings: SimilaritySettings | None = None,
    equalize: Equalize | None = None,
    n_repeats: int = 5,
    noise: bool = True,
    punctuation: bool = True,
    seed: int | np.random.Generator = 0,
    progress: bool | None = None,
) -> TreebankComparison:
    """Compute the divergence of the syntax of every treebank from that of every other, and of its own halves.

    Five tables are counted in each treebank and compared one by one: mean depth and length of sentences
    (``size``), probabilities of chains from root words to leaves (``depth``) and of chains of children
    (``width``), numbers of children (``length``), and pairs of children (``matrix``). The mean is over the first
    four.

    Parameters
    ----------
    treebanks : mapping from name to Treebank or path, or iterable of Treebanks and paths
        Treebanks to compare, at least two. A path without a name gets that of its file.
    settings : SimilaritySettings, optional
        Settings of the metrics and of the divergence; by default those of `SimilaritySettings`.
    equalize : {"tokens", "sentences"}, optional
        Compare random subsamples of all treebanks that are as large as the smallest (in words: as many
        sentences as do not exceed it).
    n_repeats : int
        Number of subsamples of each treebank, and of its divisions into halves.
    noise : bool
        Whether to compare random halves of each treebank (or of its subsamples) as well, and resample its documents
        (or blocks of sentences) for errors; with `equalize` these are of one subsample, and cautious.
    punctuation : bool
        Whether trees keep words whose relation is ``punct``. It applies to files; a `Treebank` stays as it was read.
    seed : int or numpy.random.Generator
        Seed of the random subsamples and of the random halves, where there are any.
    progress : bool, optional
        Draw a bar on stderr; by default only on a terminal.

    Returns
    -------
    TreebankComparison
        Divergences of all pairs under every metric and their mean, noise, and a profile of each treebank.

    Raises
    ------
    ConfigError
        If there are fewer than two treebanks, two have the same name, `equalize` is unknown, `n_repeats` is
        below 1, or subsamples or halves are wanted and the seed is not one; or if ``rescale`` meets an infinite
        divergence.
    DataError
        If a treebank cannot be read, or a treebank or subsample that is to be divided into halves has one sentence.

    Notes
    -----
    Zykova, "Statistical evaluation of the syntactic similarity for a collection of texts". Depth is dominated by
    keys that occur once, whose cost grows with the logarithm of the corpus; Size follows the length of
    sentences. Compare treebanks of similar size and, for either, of one language.

    Examples
    --------
    >>> from langdiff.treebanks.conllu import Tree
    >>> bark = Tree(("dogs", "bark"), ("NOUN", "VERB"), (2, 0), ("nsubj", "root"))
    >>> sleep = Tree(("cats", "sleep", "here"), ("NOUN", "VERB", "ADV"), (2, 0, 2), ("nsubj", "root", "advmod"))
    >>> dogs, cats = Treebank.from_trees([bark] * 9, name="dogs"), Treebank.from_trees([sleep] * 9, name="cats")
    >>> compare_treebanks([dogs, cats], seed=0).divergence["length"].round(3)
    compared   dogs  cats
    reference
    dogs       0.00  2.65
    cats       2.65  0.00
    """
    settings = settings or SimilaritySettings()
    if n_repeats < 1:
        raise ConfigError(f"{option('n_repeats')} must be at least 1; got {n_repeats}.")
    if equalize not in (None, *get_args(Equalize)):
        raise ConfigError(f"{option('equalize')} is one of {', '.join(get_args(Equalize))}, or None; got {equalize!r}.")
    banks = shared_names(_opened(treebanks, punctuation))
    if noise and (single := [bank.name for bank in banks if bank.sentences < 2]):
        raise DataError(
            f"Treebank {single[0]!r} needs at least two sentences to estimate the noise floor; leave the treebank or "
            "the noise floor (noise) out."
        )
    random = noise or equalize is not None
    rng = generator(seed, "subsamples and halves of treebanks") if random else generator(0)
    named = name_of_seed(seed, rng) if random else "none"
    count = len(banks)
    across = np.empty((n_repeats if equalize else 1, len(METRICS), count, count))
    halves = np.full((n_repeats, len(METRICS), count, len(PARTS)), np.nan)
    words = np.full((n_repeats, count, len(PARTS)), np.nan)
    drawn: list[Floats] = []
    with progress_bar(progress=progress) as bar:
        task = bar.add_task("treebanks", total=n_repeats + (RESAMPLES if noise else 0), note="")
        for repeat, children in enumerate(rng.spawn(n_repeats)):
            samples = list(_samples(banks, equalize, children))
            if equalize or repeat == 0:
                across[repeat] = between(samples, settings)
            for place, part in enumerate(PARTS if noise else ()):
                for column, bank in enumerate(samples):
                    own = bank if part == 1 else bank.take(np.sort(children.permutation(bank.sentences)[::part]))
                    if part == 1 or own.sentences > 1:
                        halves[repeat, :, column, place] = between_halves(own, settings, children)
                        words[repeat, column, place] = own.words
            bar.advance(task)
        for children in rng.spawn(RESAMPLES) if noise else ():
            resampled = [bank.resample(children) for bank in banks]
            drawn.append(between(list(_samples(resampled, equalize, children)), settings))
            bar.advance(task)
    scale = _scale(across, settings)
    parts = [
        settings.signature,
        *(f"{option}:{_common(banks, option)}" for option in ("punctuation", "strip_subtypes")),
        f"equalize:{equalize or 'no'}|repeats:{n_repeats}|seed:{named}|noise:{'yes' if noise else 'no'}",
        f"treebanks:{len(banks)}#{short_hash([bank.digest for bank in banks])}|version:{__version__}",
    ]
    names = [bank.name for bank in banks]
    means, stds = _summarized(across, scale)
    noise_mean, noise_std = _summarized(halves, scale)
    of_part = zip(PARTS, np.moveaxis(noise_mean, -1, 0), words.mean(axis=0).T, strict=True)
    parts_of = {part: _table(values, names).assign(words=counts) for part, values, counts in of_part}
    return TreebankComparison(
        divergence={column: _square(matrix, names) for column, matrix in zip(COLUMNS, means, strict=True)},
        std={column: _square(matrix, names) for column, matrix in zip(COLUMNS, stds, strict=True)},
        noise=_table(noise_mean[..., 0], names),
        noise_std=_table(noise_std[..., 0], names),
        noise_of_parts=pd.concat(parts_of, names=["part"]).swaplevel(),
        **_resampled(_with_mean(np.array(drawn), scale) if noise else np.empty((0, len(COLUMNS), count, count)), banks),
        units=counted((bank.blocks.kind, bank.blocks.source, len(np.unique(bank.blocks.of))) for bank in banks),
        profiles={bank.name: profile_treebank(bank, settings) for bank in banks},
        settings=settings,
        equalize=equalize,
        signature="|".join(parts),
    )


def _opened(
    treebanks: Mapping[str, Treebank | Paths] | Iterable[Treebank | str | Path], punctuation: bool
) -> list[Treebank]:
    """Read treebanks given as files; check that there are two or more, of different names."""
    if isinstance(treebanks, (str, os.PathLike)):
        raise ConfigError(f"a comparison needs at least two treebanks; got {str(treebanks)!r}.")
    check_kind(treebanks, Iterable, "treebanks are compared by name, {'eng': …}, or in a list")
    sources = treebanks.items() if isinstance(treebanks, Mapping) else ((None, source) for source in treebanks)
    banks = [
        replace(source, name=name or source.name)
        if isinstance(source, Treebank)
        else read_treebank(source, name=name, punctuation=punctuation)
        for name, source in sources
    ]
    if len(banks) < 2:
        raise ConfigError(f"a comparison needs at least two treebanks; got {len(banks)}.")
    refuse_equal_names([bank.name for bank in banks])
    return banks


def _samples(banks: Sequence[Treebank], equalize: Equalize | None, rng: np.random.Generator) -> Iterator[Treebank]:
    """Yield the treebanks, or random subsamples as large as the smallest."""
    smallest = min(bank.words if equalize == "tokens" else bank.sentences for bank in banks)
    for bank in banks:
        if equalize is None:
            yield bank
            continue
        order = rng.permutation(bank.sentences)
        count = smallest
        if equalize == "tokens":
            count = int(np.searchsorted(np.cumsum(bank.lengths[order]), smallest, side="right"))
            if not count:
                raise DataError(
                    f"The smallest treebank has {smallest} words, fewer than a sentence of {bank.name!r}; leave it out."
                )
        yield bank.take(np.sort(order[:count]))


def between(banks: Sequence[Treebank], settings: SimilaritySettings) -> Floats:
    """Return the divergences of all pairs, shape (metrics, N, N): reference, compared."""
    own = [tables(bank, settings) for bank in banks]
    result = np.empty((len(METRICS), len(banks), len(banks)))
    for i, reference in enumerate(banks):
        for j, compared in enumerate(banks):
            seen = own[j]
            if settings.statistics == "reference" and i != j:
                seen = tables(compared, settings, reference)
            result[:, i, j] = _apart(own[i], seen, settings, len(reference.deprel_names))
    return result


def between_halves(bank: Treebank, settings: SimilaritySettings, rng: np.random.Generator) -> Floats:
    """Return the divergence of one random half of a treebank from the other, shape (metrics,)."""
    if bank.sentences < 2:
        raise DataError(
            f"Treebank {bank.name!r}, or a subsample of it, needs at least two sentences to estimate the noise floor. "
            "Use larger treebanks."
        )
    halves = [bank.take(np.sort(part)) for part in np.split(rng.permutation(bank.sentences), [bank.sentences // 2])]
    result: Floats = between(halves, settings)[:, 0, 1]
    return result


def _apart(
    reference: Mapping[Metric, Counts], compared: Mapping[Metric, Counts], settings: SimilaritySettings, relations: int
) -> list[float]:
    return [
        divergence(
            reference[metric],
            compared[metric],
            kind=settings.divergence,
            alpha=settings.alpha,
            base=settings.base,
            box=box(metric, [reference[metric], compared[metric]], relations),
        )
        for metric in METRICS
    ]


def _scale(across: Floats, settings: SimilaritySettings) -> Floats:
    """Return the divisor of each averaged metric before the mean, shape (averaged,)."""
    if not settings.rescale:
        return np.ones(len(AVERAGED))
    largest = across.mean(axis=0)[: len(AVERAGED)].max(axis=(1, 2))
    if not np.isfinite(largest).all():
        raise ConfigError("rescale needs finite divergences; use alpha above 0.")
    return np.where(largest > 0, largest, 1)


def _summarized(values: Floats, scale: Floats) -> tuple[Floats, Floats]:
    """Return mean and standard deviation over repeats, the first axis, with the mean over metrics added."""
    values = _with_mean(values, scale)
    if len(values) == 1:
        return values[0], np.full(values.shape[1:], np.nan)
    with np.errstate(invalid="ignore"):  # inf has no standard deviation
        return values.mean(axis=0), values.std(axis=0, ddof=1)


def _with_mean(values: Floats, scale: Floats) -> Floats:
    """Return values of the metrics, the second axis, in the order of `COLUMNS`."""
    averaged = values[:, : len(AVERAGED)]
    mean = (averaged / scale.reshape(-1, *[1] * (averaged.ndim - 2))).mean(axis=1, keepdims=True)
    return np.concatenate([values, mean], axis=1)


def _resampled(drawn: Floats, banks: Sequence[Treebank]) -> dict[str, Any]:
    """Return divergences of pairs in bootstrap samples, (R, columns, N, N), as frames, and their degrees of freedom."""
    one, other = np.nonzero(~np.eye(len(banks), dtype=bool))
    own_names = np.array([bank.name for bank in banks], dtype=object)
    names = pd.Index(own_names[one] + " → " + own_names[other], name="pair")
    sizes = [np.bincount(bank.blocks.of, weights=bank.lengths) for bank in banks]
    own = np.array([float(freedom_of(size / size.sum())) for size in sizes])
    few = np.minimum(own[one], own[other])  # whose inverse corrects the variance of a bootstrap of few units
    wide = {column: drawn[:, place, one, other] * np.sqrt(1 + 1 / few) for place, column in enumerate(COLUMNS)}
    frames = {column: pd.DataFrame(values, columns=names) for column, values in wide.items() if len(values)}
    return {"resampled": frames, "freedom": pd.Series(1 / (1 / few + 1 / (RESAMPLES - 1)), names)}


def _square(matrix: Floats, names: list[str]) -> pd.DataFrame:
    return pd.DataFrame(matrix, index=pd.Index(names, name="reference"), columns=pd.Index(names, name="compared"))


def _table(by_metric: Floats, names: list[str]) -> pd.DataFrame:
    return pd.DataFrame(by_metric.T, index=pd.Index(names, name="treebank"), columns=list(COLUMNS))


def _common(banks: Sequence[Treebank], option: str) -> str:
    values = {getattr(bank, option) for bank in banks}
    return "mixed" if len(values) > 1 else "yes" if values.pop() else "no"

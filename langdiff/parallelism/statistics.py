"""Statistics of annotated documents, and tests whether treatments differ over blocks (Friedman, Nemenyi)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from langdiff.base.result import Drawn, Result, drawing
from langdiff.base.types import Integers
from langdiff.errors import DataError
from langdiff.parallelism.documents import Branch, Document, strata

if TYPE_CHECKING:
    from matplotlib.axes import Axes


N_BINS = 10
ALPHA = 0.05  # of the critical difference


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ParallelismStatistics(Result):
    """Sizes of annotated documents, and the lexical overlap of branches that are parallel to each other.

    Attributes
    ----------
    table : DataFrame
        One row per ``statistic``: ``value`` (a count or a mean) and ``std`` (sample standard deviation; missing for
        counts). Tokens of nested branches count once per branch; ``nested`` are those of strata above the lowest; a
        parallelism belongs to the section in which its first branch begins.
    pairs : DataFrame
        One row per pair of branches of one parallelism: ``document``, ``number`` of the parallelism, ``branch``,
        ``other`` (from 1), ``shared`` and ``joint`` (tokens in the multiset intersection and union), ``overlap``
        (their quotient), ``bin`` (that of the overlap: ten of width 0.1, numbered from 0, the last closed).
    """

    table: pd.DataFrame
    pairs: pd.DataFrame

    @property
    def histogram(self) -> Integers:
        """Numbers of pairs by overlap in ten bins of width 0.1, the last closed; shape (10,)."""
        return np.bincount(self.pairs["bin"], minlength=N_BINS)

    def _table(self) -> pd.DataFrame:
        cells = zip(self.table["value"], self.table["std"], strict=True)
        shown = [f"{value:,g}" if np.isnan(std) else f"{value:.2f} ± {std:.2f}" for value, std in cells]
        return pd.DataFrame({"value": shown}, index=self.table["statistic"].rename(None))

    def _notes(self) -> Iterator[str]:
        yield f"pairs by overlap, in bins of 0.1: {' '.join(map(str, self.histogram))}"

    plot = Drawn("plot_lexical_overlap", lambda statistics: {"": statistics.pairs})

    def __repr__(self) -> str:
        """Return a line with the main counts."""
        counts = self.table.set_index("statistic")["value"]
        names = ("documents", "parallelisms", "branches", "tokens")
        return f"ParallelismStatistics: {', '.join(f'{counts[name]:,.0f} {name}' for name in names)}"


def parallelism_statistics(documents: Mapping[str, Document]) -> ParallelismStatistics:
    r"""Return the statistics of annotated documents (Bothwell et al. 2023, Table 1).

    The normalized lexical overlap of two branches, as multisets of tokens, is

    .. math:: \mathrm{NLO}(A, B) = |A \cap B| \,/\, |A \cup B|

    with the smaller and the larger of the two counts of each token; the distance of two consecutive branches is the
    start of the later minus the last token of the earlier.

    Parameters
    ----------
    documents : mapping from str to Document
        Annotated documents by name.

    Returns
    -------
    ParallelismStatistics
        Table and pairs.

    Raises
    ------
    DataError
        If there are no documents, or branches of one stratum share a token.

    Examples
    --------
    >>> from langdiff.parallelism import Parallelism, make_document
    >>> tokens = "he came , she came and saw".split()
    >>> found = parallelism_statistics({"1": make_document("1", tokens, [Parallelism(((0, 2), (3, 7)))])})
    >>> found
    ParallelismStatistics: 1 documents, 1 parallelisms, 2 branches, 7 tokens
    >>> found.pairs[["shared", "joint"]].to_numpy().tolist()
    [[1, 5]]
    """
    if not documents:
        raise DataError("there are no documents; give at least one.")
    levels = {name: strata(document) for name, document in documents.items()}
    found = [(document, one) for document in documents.values() for one in document.parallelisms]
    nested = [
        one
        for name, document in documents.items()
        for one, stratum in zip(document.parallelisms, levels[name], strict=True)
        if stratum
    ]
    pairs = _pairs(documents)
    overlaps = pairs["overlap"].to_numpy()
    sizes = [end - start for _, one in found for start, end in one.branches]
    gaps = [later[0] - (earlier[1] - 1) for _, one in found for earlier, later in pairwise(one.branches)]
    rows: list[tuple[str, float, float]] = [
        ("documents", len(documents), np.nan),
        ("sections", sum(len(document.sections) for document in documents.values()), np.nan),
        ("tokens", sum(len(document.tokens) for document in documents.values()), np.nan),
        ("branched tokens", sum(sizes), np.nan),
        ("branches", len(sizes), np.nan),
        ("nested branches", sum(len(one.branches) for one in nested), np.nan),
        ("parallelisms", len(found), np.nan),
        ("nested parallelisms", len(nested), np.nan),
        ("parallelisms per section", *_mean([n for one in documents.values() for n in _per_section(one)])),
        ("branches per parallelism", *_mean([len(one.branches) for _, one in found])),
        ("branch distance", *_mean(gaps)),
        ("branch size", *_mean(sizes)),
        ("lexical overlap", *_mean(overlaps)),
        ("% pairs without overlap", 100 * float(np.mean(overlaps == 0)) if len(overlaps) else np.nan, np.nan),
        ("related pairs", len(pairs), np.nan),
    ]
    return ParallelismStatistics(table=pd.DataFrame(rows, columns=["statistic", "value", "std"]), pairs=pairs)


def shared_tokens(document: Document, one: Branch, other: Branch) -> tuple[int, int]:
    """Return the numbers of tokens in the multiset intersection and in the union of two branches."""
    shared = (Counter(document.tokens[slice(*one)]) & Counter(document.tokens[slice(*other)])).total()
    return shared, one[1] - one[0] + other[1] - other[0] - shared


def _pairs(documents: Mapping[str, Document]) -> pd.DataFrame:
    rows = [
        (name, number, branch, other, *shared_tokens(document, first, second))
        for name, document in documents.items()
        for number, one in enumerate(document.parallelisms, 1)
        for (branch, first), (other, second) in combinations(enumerate(one.branches, 1), 2)
    ]
    table = pd.DataFrame(rows, columns=["document", "number", "branch", "other", "shared", "joint"])
    table = table.astype({"shared": np.int64, "joint": np.int64})
    # in integers: 3/10 must not fall into the bin below
    bins = (N_BINS * table["shared"] // table["joint"]).clip(upper=N_BINS - 1)
    return table.assign(overlap=table["shared"] / table["joint"], bin=bins)


def _per_section(document: Document) -> list[int]:
    """Return the number of parallelisms that begin in each section."""
    starts = [section.start for section in document.sections]
    first = [one.branches[0][0] for one in document.parallelisms]
    places = np.searchsorted(starts, first, side="right") - 1
    return [int(count) for count in np.bincount(places.astype(np.int64), minlength=len(starts))]


def _mean(values: Sequence[float] | np.ndarray) -> tuple[float, float]:
    """Return the mean and the sample standard deviation, NaN where undefined."""
    mean = float(np.mean(values)) if len(values) else np.nan
    return mean, float(np.std(values, ddof=1)) if len(values) > 1 else np.nan


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RankComparison(Result):
    """Average ranks of treatments over blocks, with the tests of Friedman and Nemenyi.

    Attributes
    ----------
    ranks : Series
        Average rank of each treatment, 1 for the highest value of a block; the best first.
    n_blocks : int
        Number of blocks.
    statistic : float
        Friedman's chi-squared with correction for ties.
    p_value : float
        Its p-value, with one degree of freedom less than there are treatments.
    critical_difference : float
        Difference of average ranks at which Nemenyi's p-value is 0.05.
    pairs : DataFrame
        One row per pair of treatments: ``treatment``, ``other`` (the worse), ``difference`` of average ranks and
        Nemenyi's ``p_value``, which counts all pairs.
    """

    digits = 2
    printing: ClassVar[Mapping[str, Any]] = {"index": False}

    ranks: pd.Series
    n_blocks: int
    statistic: float
    p_value: float
    critical_difference: float
    pairs: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """Return one row per treatment: ``treatment`` and ``rank``, the best first."""
        return self.ranks.rename("rank").rename_axis("treatment").reset_index()

    def groups(self) -> list[list[str]]:
        """Return the largest groups of treatments whose ranks differ by less than the critical difference."""
        names, values = list(self.ranks.index), self.ranks.to_numpy()
        found: list[list[str]] = []
        last = 0
        for first in range(len(names)):
            end = int(np.searchsorted(values, values[first] + self.critical_difference, side="left"))
            if end > last and end - first > 1:
                found.append(names[first:end])
            last = max(last, end)
        return found

    def _notes(self) -> Iterator[str]:
        apart = self.pairs[self.pairs["p_value"] < ALPHA]
        yield (
            f"Friedman: chi-squared {self.statistic:.2f}, {len(self.ranks) - 1} degrees of freedom, "
            f"p = {self.p_value:.2g} ({self.n_blocks} blocks)"
        )
        yield (
            f"Nemenyi: critical difference {self.critical_difference:.3f} at {ALPHA}; {len(apart)} of "
            f"{len(self.pairs)} pairs differ"
        )
        yield from (f"  {row.treatment} and {row.other}: p = {row.p_value:.2g}" for row in apart.itertuples())

    def plot(self, ax: "Axes | None" = None, **style: Any) -> "Axes":
        """Draw the ranks; see `langdiff.plots.plot_average_ranks`.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on; by default those of a new figure.
        **style
            Settings for Matplotlib, which override the defaults.

        Returns
        -------
        Axes
            The axes drawn on.
        """
        axes: Axes = drawing("plot_average_ranks")(
            self.to_frame(), self.groups(), self.critical_difference, ax, **style
        )
        return axes

    def __repr__(self) -> str:
        """Return a line with the best treatment and the test."""
        best = self.ranks.index[0]
        return (
            f"RankComparison: {len(self.ranks)} treatments, {self.n_blocks} blocks, best {best!r}, Friedman p = "
            f"{self.p_value:.2g}"
        )


def compare_treatments(table: pd.DataFrame) -> RankComparison:
    r"""Test whether treatments differ over blocks, by their ranks within each block.

    .. math::

        \chi^2 = \frac{12 N}{k(k+1)} \sum_j \bigl(\bar R_j - \tfrac{k+1}{2}\bigr)^2, \quad
        q_{ij} = |\bar R_i - \bar R_j| \Big/ \sqrt{\tfrac{k(k+1)}{6N}}

    with a correction for ties of the first; the p-value of the second comes from the studentized range of k groups
    with infinitely many degrees of freedom at :math:`q\sqrt2` (Demšar 2006).

    Parameters
    ----------
    table : DataFrame
        One row per block (such as a model), one column per treatment (such as a tagging scheme); higher values are
        better, and get the lower ranks.

    Returns
    -------
    RankComparison
        Average ranks and tests.

    Raises
    ------
    DataError
        If a cell is missing, there are fewer than two blocks or three treatments, or all values of every block are
        equal.

    Examples
    --------
    >>> found = compare_treatments(pd.DataFrame({"a": [3, 5, 4], "b": [2, 4, 3], "c": [1, 2, 1]}))
    >>> found.ranks.tolist(), round(found.statistic, 3)
    ([1.0, 2.0, 3.0], 6.0)
    """
    from scipy.stats import friedmanchisquare, rankdata, studentized_range

    n_blocks, k = table.shape
    if n_blocks < 2 or k < 3:
        raise DataError(f"the test takes two or more blocks and three or more treatments; got {n_blocks} and {k}.")
    values = table.to_numpy(float)
    if len(gaps := np.argwhere(~np.isfinite(values))):
        block, treatment = table.index[gaps[0][0]], table.columns[gaps[0][1]]
        raise DataError(
            f"{len(gaps)} cell(s) are missing or not finite, among them {treatment!r} of {block!r}; the test needs "
            "complete blocks."
        )
    if table.index.has_duplicates:
        twice = table.index[table.index.duplicated()][0]
        raise DataError(f"block {twice!r} is there twice; give each block one row.")
    if (values == values[:, :1]).all():
        raise DataError("all values of every block are equal, so that there are no ranks to compare.")
    statistic, p_value = friedmanchisquare(*values.T)
    means = pd.Series(rankdata(-values, axis=1).mean(axis=0), index=table.columns.astype(str))
    ranks = means.sort_values(kind="stable")
    scale = np.sqrt(k * (k + 1) / (6 * n_blocks))
    pairs = pd.DataFrame(list(combinations(ranks.index, 2)), columns=["treatment", "other"])
    pairs["difference"] = [late - early for early, late in combinations(ranks, 2)]
    pairs["p_value"] = studentized_range.sf(pairs["difference"] / scale * np.sqrt(2), k, np.inf)
    return RankComparison(
        ranks=ranks,
        n_blocks=n_blocks,
        statistic=float(statistic),
        p_value=float(p_value),
        critical_difference=float(studentized_range.ppf(1 - ALPHA, k, np.inf) / np.sqrt(2) * scale),
        pairs=pairs,
    )

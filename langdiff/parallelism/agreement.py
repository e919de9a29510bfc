"""Agreement of two annotators of parallelisms, and clean-ups of annotations before they are compared."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from string import punctuation
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from langdiff.base.result import Result
from langdiff.base.signature import full_signature, name_of_seed, short_hash
from langdiff.base.types import Floats, check_resamples, generator
from langdiff.errors import DataError
from langdiff.parallelism.documents import Branch, Document, Parallelism, depths, make_document
from langdiff.parallelism.matching import METRICS, Metric, match_parallelisms, sizes
from langdiff.parallelism.scoring import ParallelismScores, ratio, score_parallelisms
from langdiff.tables.effects import Effects

_LATIN = "et at ac atque atqui autem uel aut sed nam enim etenim nec neque ergo igitur itaque tamen uero"
CONJUNCTIONS = frozenset(_LATIN.split())
BOOTSTRAP = ("mean", "std_error", "low", "high")


def align_conjunctions(document: Document, conjunctions: Collection[str] = CONJUNCTIONS) -> Document:
    """Align conjunctions: all branches of a parallelism begin with one, or none does.

    A branch has a conjunction if that is its first token or the token before it. If all branches have one, those that
    do not begin with it are extended by it; else conjunctions at the start of branches are taken off.

    Examples
    --------
    >>> words = "et uenit , et uidit et uicit".split()
    >>> document = make_document("1", words, [Parallelism(((0, 2), (4, 5), (6, 7)))])
    >>> align_conjunctions(document).parallelisms[0].branches
    ((0, 2), (3, 5), (5, 7))
    """
    known = [token.lower() in conjunctions for token in document.tokens]
    changed = []
    for one in document.parallelisms:
        ends = {end for _, end in one.branches}
        if all(known[start] or (start > 0 and known[start - 1]) for start, _ in one.branches):
            branches = [(s if known[s] or s in ends else s - 1, e) for s, e in one.branches]
        else:
            branches = [(s + 1 if known[s] else s, e) for s, e in one.branches]
            branches = [(start, end) for start, end in branches if start < end]
        if branches:
            changed.append(Parallelism(tuple(branches), one.kind))
    return make_document(document.name, document.tokens, changed, document.sections)


def merge_interlocked(document: Document, conjunctions: Collection[str] = CONJUNCTIONS) -> Document:
    """Merge parallelisms whose branches follow one another throughout.

    Two parallelisms of one stratum with as many branches interlock if every branch of the first is followed by the
    branch of the second with only conjunctions and punctuation between. Chains of such parallelisms become one, whose
    branches run from the first to the last of each place. If that equals a parallelism of a lower stratum, it is left
    out.

    Examples
    --------
    >>> words = "uenit et uidit , uicit et rediit".split()
    >>> document = make_document("1", words, [Parallelism(((0, 1), (4, 5))), Parallelism(((2, 3), (6, 7)))])
    >>> merge_interlocked(document).parallelisms
    (Parallelism(branches=((0, 3), (4, 7)), kind=None),)
    """
    levels = depths(document)
    lower: list[set[tuple[Branch, ...]]] = [set() for _ in range(1 + max(levels, default=0))]
    for one, depth in zip(document.parallelisms, levels, strict=True):
        for above in range(depth + 1, len(lower)):
            lower[above].add(one.branches)
    kept = []
    for depth, earlier in enumerate(lower):
        own = [one for one, other in zip(document.parallelisms, levels, strict=True) if other == depth]
        for group in _interlocked(own, document.tokens, conjunctions):
            merged = _merged(group)
            if any(one[1] > other[0] for one, other in pairwise(merged.branches)):
                kept += group  # places of several branches run into each other
            elif len(group) == 1 or merged.branches not in earlier:
                kept.append(merged)
    return make_document(document.name, document.tokens, kept, document.sections)


def _interlocked(
    parallelisms: Sequence[Parallelism], tokens: Sequence[str], conjunctions: Collection[str]
) -> list[list[Parallelism]]:
    """Return groups of parallelisms that interlock; most have one member."""
    content = [
        place
        for place, token in enumerate(tokens)
        if token.lower() not in conjunctions and not all(character in punctuation for character in token)
    ]

    def following(places: Sequence[int]) -> tuple[int, ...]:
        return tuple(bisect_left(content, place) for place in places)

    begun: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for number, one in enumerate(parallelisms):
        begun[following([start for start, _ in one.branches])].append(number)
    group = list(range(len(parallelisms)))  # number of the first member
    for number, one in enumerate(parallelisms):
        for other in begun.get(following([end for _, end in one.branches]), []):
            pairs = zip(one.branches, parallelisms[other].branches, strict=True)
            if other != number and all(before[1] <= after[0] for before, after in pairs):
                old, new = sorted((group[number], group[other]), reverse=True)
                group = [new if known == old else known for known in group]
    members: defaultdict[int, list[Parallelism]] = defaultdict(list)
    for number, one in zip(group, parallelisms, strict=True):
        members[number].append(one)
    return list(members.values())


def _merged(group: Sequence[Parallelism]) -> Parallelism:
    places = zip(*(one.branches for one in group), strict=True)
    branches = tuple((min(s for s, _ in place), max(e for _, e in place)) for place in places)
    kinds = {one.kind for one in group}
    return Parallelism(branches, kinds.pop() if len(kinds) == 1 else None)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class AnnotatorAgreement(Result):
    """Agreement of two annotators on parallelisms.

    Attributes
    ----------
    scores : ParallelismScores
        Scores of the first annotator against the second, after the clean-ups.
    published : DataFrame or None
        One row per metric: ``mean``, ``std_error``, ``low`` and ``high`` of F as the published figures have them, by a
        bootstrap of pairs with two flaws; None if errors are by document.
    signature : str
        Settings and a hash of the annotations, to be quoted with the numbers.
    """

    printing: ClassVar[Mapping[str, Any]] = {"index": False, "float_format": "{:.4f}".format}

    scores: ParallelismScores
    published: pd.DataFrame | None
    signature: str

    def to_frame(self) -> pd.DataFrame:
        """Return one row per metric.

        Columns: ``metric``, ``matched``, ``size_a``, ``size_b``, ``precision``, ``recall``, ``f``, its ``std_error``,
        ``low`` and ``high`` (95 %, by document); or those of the published bootstrap with its ``mean``.
        """
        names = {"hypothesis_size": "size_a", "reference_size": "size_b"}
        totals = self.scores.to_frame().rename(columns=names)
        columns = ["metric", "matched", "size_a", "size_b", "precision", "recall", "f"]
        errors = self.published
        if errors is None:
            rows = [self.effects(metric).to_frame()[["std_error", "low", "high"]].iloc[0] for metric in METRICS]
            errors = pd.DataFrame(rows).reset_index(drop=True).assign(metric=list(METRICS))
        return totals[columns].merge(errors, on="metric")

    def effects(self, metric: Metric = "MBAWO") -> Effects:
        """Return F of the first annotator against the second with its error by document.

        Parameters
        ----------
        metric : str
            Metric of `ParallelismScores`, such as ``"MBAWO"``.
        """
        return self.scores.effects(metric)

    def _lines(self) -> Iterator[str]:
        documents = self.scores.documents["document"].nunique()
        yield f"Agreement of two annotators on {documents} document(s); the first counts as the hypothesis"
        if self.published is not None:
            yield "Errors as published, by a bootstrap of pairs, divided by √pairs once too often: too narrow"

    def _notes(self) -> Iterator[str]:
        if self.published is None:
            yield self.effects().words

    def _table(self) -> pd.DataFrame:
        return self.to_frame()

    def __repr__(self) -> str:
        """Return a line with the number of documents, and F by all metrics."""
        totals = self.to_frame()
        f = ", ".join(f"{metric} {value:.3f}" for metric, value in zip(totals["metric"], totals["f"], strict=True))
        return f"AnnotatorAgreement on {self.scores.documents['document'].nunique()} document(s): F of {f}"


def annotator_agreement(
    one: Mapping[str, Document],
    other: Mapping[str, Document],
    *,
    seed: int | np.random.Generator = 0,
    conjunctions: bool = True,
    interlocks: bool = True,
    n_draws: int = 1000,
    as_published: bool = False,
) -> AnnotatorAgreement:
    """Measure the agreement of two annotators by F of the four metrics, with intervals by document.

    Parameters
    ----------
    one, other : mapping from str to Document
        Annotations of the same documents by name.
    seed : int or numpy.random.Generator
        Seed of the published bootstrap.
    conjunctions : bool
        Let all branches of a parallelism begin with a conjunction, or none; see `align_conjunctions`. It comes first.
    interlocks : bool
        Merge parallelisms that follow one another throughout; see `merge_interlocked`.
    n_draws : int
        Number of samples of the published bootstrap.
    as_published : bool
        Errors by the bootstrap of the published figures, of pairs of a maximum matching and parallelisms without a
        partner, with its two flaws: under EPM, a missing partner counts as a parallelism, so that the mean of F is too
        low; and the interval is divided by the square root of the number of pairs once too often, which makes it far
        too narrow.

    Returns
    -------
    AnnotatorAgreement
        F by metric with intervals.

    Raises
    ------
    ConfigError
        If `n_draws` is less than 99.
    DataError
        If the documents of the two annotators or their numbers of tokens differ, or no parallelism is annotated.

    References
    ----------
    Bothwell, DeBenedetto, Crnkovich, Müller and Chiang (2023), "Introducing Rhetorical Parallelism Detection: A New
    Task with Datasets, Metrics, and Baselines", EMNLP.

    Examples
    --------
    >>> from langdiff.parallelism import make_document
    >>> words = "we came , we saw , we stayed".split()
    >>> one = make_document("1", words, [Parallelism(((0, 2), (3, 5), (6, 8)))])
    >>> other = make_document("1", words, [Parallelism(((0, 2), (3, 5)))])
    >>> annotator_agreement({"1": one}, {"1": other}, seed=0)
    AnnotatorAgreement on 1 document(s): F of EPM 0.000, MPBM 0.800, MBAWO 0.800, MWO 0.800
    """
    check_resamples("n_draws", n_draws)
    rng = generator(seed, "bootstrap samples")
    if differ := sorted(set(one) ^ set(other)):
        raise DataError(f"{len(differ)} document(s) have only one annotator: {', '.join(differ[:5])}.")
    sides = [{name: _cleaned(side[name], conjunctions, interlocks) for name in one} for side in (one, other)]
    scores = score_parallelisms({"first annotator": sides[0]}, sides[1])
    items = np.concatenate([_items(sides[0][name].parallelisms, sides[1][name].parallelisms) for name in one])
    if not len(items):
        raise DataError("neither annotator has marked a parallelism, so that agreement is undefined.")
    parts = {
        "agreement": "parallelism",
        "conjunctions": conjunctions,
        "interlocks": interlocks,
        "as-published": as_published,
        "draws": n_draws if as_published else None,
        "seed": name_of_seed(seed, rng) if as_published else None,
        "annotations": short_hash([[side[n].parallelisms for n in one] for side in (one, other)], list(one)),
    }
    return AnnotatorAgreement(
        scores=scores,
        published=_published(items, n_draws, rng) if as_published else None,
        signature=full_signature(parts),
    )


def _cleaned(document: Document, conjunctions: bool, interlocks: bool) -> Document:
    cleaned = align_conjunctions(document) if conjunctions else document
    return merge_interlocked(cleaned) if interlocks else cleaned


def _items(one: tuple[Parallelism, ...], other: tuple[Parallelism, ...]) -> Floats:
    """Return score, size of the first and of the second side of the pairs of each metric, shape (N, 4, 3)."""
    items = np.zeros((max(len(one), len(other)), len(METRICS), 3))
    matched = match_parallelisms(other, one)
    for place, metric in enumerate(METRICS):
        pairs = [(credit, column, row) for row, (column, credit) in matched[metric].items()]
        alone = [sorted(set(range(len(side))) - {pair[k] for pair in pairs}) for k, side in ((1, one), (2, other))]
        for number, (credit, *own) in enumerate([*pairs, *((0, *rest) for rest in zip_longest(*alone))]):
            both = [0 if k is None else sizes(side[k])[place] for side, k in zip((one, other), own, strict=True)]
            items[number, place] = credit, *both
    return items


def _published(items: Floats, n_draws: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return mean, error and interval of F by the published bootstrap, one row per metric."""
    n, items = len(items), items.copy()
    items[:, METRICS.index("EPM"), 1:] = 1
    times = rng.multinomial(n, np.full(n, 1 / n), size=n_draws).astype(float)  # (draws, N)
    rows: list[dict[str, Any]] = []
    for place, metric in enumerate(METRICS):
        matched, first, second = (times @ items[:, place]).T
        f = ratio(2 * matched, first + second)
        mean, std_error = f.mean(), f.std(ddof=1)
        low, high = mean - 1.96 * std_error / np.sqrt(n), mean + 1.96 * std_error / np.sqrt(n)
        rows.append({"metric": metric, **dict(zip(BOOTSTRAP, (mean, std_error, low, high), strict=True))})
    return pd.DataFrame(rows)

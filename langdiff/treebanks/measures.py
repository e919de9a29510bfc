"""Measures of treebanks: head-POS entropy, dependency length, and the probability of the shapes of sub-trees."""

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from langdiff.base.grids import Shown
from langdiff.base.io import as_paths
from langdiff.base.progress import followed
from langdiff.base.result import Drawn, Result, rounded
from langdiff.base.types import ROUNDING, Floats, Integers, check_choice
from langdiff.errors import ConfigError, DataError
from langdiff.tables.effects import Effects
from langdiff.tables.influences import Influence, Units, sums
from langdiff.tables.rule import Scale
from langdiff.treebanks.conllu import Tree, TreeSource, read_trees, with_function_heads
from langdiff.treebanks.treebank import Blocks, blocks_of, counted, file_name, refuse_equal_names

ROOT = "ROOT"  # used as the part of speech of the root word's head
UNKNOWN = "_"
Over = Literal["tokens", "types"]
Shape = tuple[str, ...]
HEAD, START, END = "HEAD", "BOS", "EOS"
PRIOR = 1.0  # weight of the smoother distribution, in observations


@dataclass(frozen=True, kw_only=True)
class HeadPosEntropy:
    """Distribution of head-POS entropy over the tokens or the types of a corpus.

    Attributes
    ----------
    mean : float
        Mean in bits. Over tokens, the entropy of the POS of a random token's head, given the token's type.
    skew : float
        Skewness, m3 / m2 ** 1.5; NaN if all tokens have the same entropy.
    tokens, types : int
        Numbers of words and of distinct words.
    zero_share : float
        Share of tokens (or of types) whose type has one head POS only, for instance because it occurs once.
    over : {"tokens", "types"}
        Whether mean, skewness and share count each type as often as it occurs, or once.

    Examples
    --------
    >>> from langdiff.treebanks.conllu import Tree
    >>> head_pos_entropy([Tree(("dogs", "bark"), ("NOUN", "VERB"), (2, 0), ("nsubj", "root"))])
    HeadPosEntropy(mean=0.0, skew=nan, tokens=2, types=2, zero_share=1.0, over='tokens')
    """

    mean: float
    skew: float
    tokens: int
    types: int
    zero_share: float
    over: Over = "tokens"


def head_pos_entropy(
    source: TreeSource,
    *,
    over: Over = "tokens",
    lowercase: bool = False,
    punctuation: bool = True,
    root: bool = True,
) -> HeadPosEntropy:
    r"""Measure the entropy of the part of speech of a token's head, given the token's type.

    .. math:: \mathrm{HPE}(w) = -\sum_{p} P(p \mid w) \log_2 P(p \mid w)

    with relative frequencies for P; then its mean and skewness over the corpus.

    Parameters
    ----------
    source : path, paths or trees
        CoNLL-U files of one corpus (see `langdiff.read_treebank`), or trees.
    over : {"tokens", "types"}
        Units of the mean: tokens, so that a type counts as often as it occurs, or types, each of which counts
        once.
    lowercase : bool
        Whether "The" and "the" count as one type.
    punctuation : bool
        Whether trees keep words whose relation is ``punct``. If not, the children of such words count as
        children of their heads (`Tree.without_punctuation`).
    root : bool
        Whether root words count, as tokens whose head has a part of speech of its own, ``ROOT``.

    Returns
    -------
    HeadPosEntropy
        Mean and skewness, the share of zeros, and how many tokens and types they come from.

    Raises
    ------
    ConfigError
        If `over` is neither of the two.
    DataError
        If the corpus has no token to count, or no word has a part of speech.

    Notes
    -----
    Dehouck and Denis (2018), as used by Mielke et al. (2019, section 5), who say that their mean is over
    tokens; their figures look more like means over types (see the page on predictors). Frequencies of rare
    types underestimate entropy, and the entropy of a type that occurs once is always 0: the mean grows with
    the corpus. Compare corpora of equal size, best translations of one text.

    Examples
    --------
    >>> from langdiff.treebanks.conllu import Tree
    >>> run = Tree(("I", "run"), ("PRON", "VERB"), (2, 0), ("nsubj", "root"))
    >>> nap = Tree(("a", "run"), ("DET", "NOUN"), (2, 0), ("det", "root"))
    >>> me = Tree(("run", "I"), ("NOUN", "NOUN"), (2, 0), ("nmod", "root"))
    >>> head_pos_entropy([run, nap, me]).mean  # run: ROOT, ROOT, NOUN; I: VERB, ROOT; a: NOUN
    0.7924...
    >>> head_pos_entropy([run, nap, me], over="types").mean  # (0.9183 + 1 + 0) / 3
    0.6394...
    """
    pairs = HeadPairs(over=over, lowercase=lowercase, punctuation=punctuation, root=root)
    for tree in read_trees(source):
        pairs.add(tree)
    return pairs.entropy()


class HeadPairs:
    """Counts of types with the parts of speech of their heads; options as for `head_pos_entropy`."""

    def __init__(
        self, *, over: Over = "tokens", lowercase: bool = False, punctuation: bool = True, root: bool = True
    ) -> None:
        check_choice("over", over, get_args(Over))
        self._over, self._lowercase, self._punctuation, self._root = over, lowercase, punctuation, root
        self._codes: dict[tuple[str, str], int] = {}
        self._words, self._ends = array("i"), array("q", [0])  # pair of each word, and how many up to each tree
        self._tagged = False

    def add(self, tree: Tree) -> None:
        """Count the words of a tree."""
        if not self._punctuation:
            tree = tree.without_punctuation()
        self._tagged = self._tagged or any(upos != UNKNOWN for upos in tree.upos)
        for word, head in enumerate(tree.heads, start=1):
            if self._root or head:
                form = tree.forms[word - 1]
                pair = form.lower() if self._lowercase else form, tree.upos[head - 1] if head else ROOT
                self._words.append(self._codes.setdefault(pair, len(self._codes)))
        self._ends.append(len(self._words))

    def entropy(self) -> HeadPosEntropy:
        """Return the distribution of head-POS entropy in the trees counted."""
        if not self._words:
            raise DataError("There are no tokens to measure: the corpus has no sentences, or all words are left out.")
        if not self._tagged:
            raise DataError("No word has a part of speech (UPOS is _ everywhere); head-POS entropy needs them.")
        return _summarized(self._types(), np.bincount(self._words), self._over)

    def without(self, block: Integers) -> Floats:
        """Return mean and skewness without each block of neighbouring trees, (S,) → (G, 2)."""
        types, counts, words = self._types(), np.bincount(self._words), np.asarray(self._words)
        ends = np.asarray(self._ends)[1:][np.flatnonzero(np.diff(block))]
        left = (counts - np.bincount(part, minlength=len(counts)) for part in np.split(words, ends))
        return np.array([(one.mean, one.skew) for one in (_summarized(types, rest, self._over) for rest in left)])

    def _types(self) -> Integers:
        codes = {form: code for code, form in enumerate(dict.fromkeys(form for form, _ in self._codes))}
        return np.array([codes[form] for form, _ in self._codes])


def _summarized(types: Integers, counts: Integers, over: Over) -> HeadPosEntropy:
    """Return the distribution of head-POS entropy for counts of (type, head POS) pairs, given the type of each."""
    types, counts = np.unique(types[counts > 0], return_inverse=True)[1], counts[counts > 0]
    if not len(counts):
        return HeadPosEntropy(mean=math.nan, skew=math.nan, tokens=0, types=0, zero_share=math.nan, over=over)
    totals = np.bincount(types, weights=counts)
    share = counts / totals[types]
    entropy = np.bincount(types, weights=-share * np.log2(share)) + 0.0  # no -0.0
    tokens = totals.sum()
    weights = totals / tokens if over == "tokens" else np.full(len(totals), 1 / len(totals))
    mean = weights @ entropy
    deviation = entropy - mean
    constant = np.ptp(entropy) < ROUNDING
    skew = float("nan") if constant else float((weights @ deviation**3) / (weights @ deviation**2) ** 1.5)
    return HeadPosEntropy(
        mean=float(mean),
        skew=skew,
        tokens=int(tokens),
        types=len(totals),
        zero_share=float(weights[entropy == 0].sum()),
        over=over,
    )


class ShapeCounts:
    """Smoothed counts of the shapes of sub-trees: relations of a word's children in text order, with the word's place.

    The probability of a shape given the relation of its head is its relative frequency, smoothed by a bigram model
    of the shapes under that relation, which is smoothed by how often each relation occurs at all. Each prior has
    the weight of one observation, so that unseen shapes have a positive probability.

    Examples
    --------
    >>> run = Tree(("I", "run"), ("PRON", "VERB"), (2, 0), ("nsubj", "root"))
    >>> turned = Tree(("run", "I"), ("VERB", "PRON"), (0, 1), ("root", "nsubj"))
    >>> counts = ShapeCounts([run] * 10)
    >>> counts.log_probability(run) > counts.log_probability(turned)
    True
    """

    def __init__(self, trees: Iterable[Tree] = ()) -> None:
        self._shapes: Counter[tuple[str, Shape]] = Counter()
        self._heads: Counter[str] = Counter()
        self._pairs: Counter[tuple[str, str, str]] = Counter()
        self._firsts: Counter[tuple[str, str]] = Counter()
        self._symbols: Counter[str] = Counter()
        for head, shape in (found for tree in trees for found in _shapes(tree)):
            self._shapes[head, shape] += 1
            self._heads[head] += 1
            self._pairs.update((head, *pair) for pair in _steps(shape))
            self._firsts.update((head, first) for first, _ in _steps(shape))
            self._symbols.update(second for _, second in _steps(shape))
        self._total = self._symbols.total()

    def log_probability(self, tree: Tree, without: "ShapeCounts | None" = None) -> float:
        """Return the natural logarithm of the probability of all shapes of a tree, without some of those counted."""
        less = without or ShapeCounts()
        gone = sum(self._symbols[symbol] == count for symbol, count in less._symbols.items())
        unseen = len(self._symbols) - gone + 1  # one more for relations never seen
        return sum(math.log(self._probability(head, shape, less, unseen)) for head, shape in _shapes(tree))

    def _probability(self, head: str, shape: Shape, less: "ShapeCounts", kinds: int) -> float:
        def left(counts: str, key: Any) -> int:
            return int(getattr(self, counts).get(key, 0) - getattr(less, counts).get(key, 0))

        smoother = 1.0
        for first, second in _steps(shape):
            anywhere = (left("_symbols", second) + PRIOR) / (self._total - less._total + PRIOR * kinds)
            pair = left("_pairs", (head, first, second))
            smoother *= (pair + PRIOR * anywhere) / (left("_firsts", (head, first)) + PRIOR)
        return (left("_shapes", (head, shape)) + PRIOR * smoother) / (left("_heads", head) + PRIOR)


def score_trees(reference: TreeSource, trees: TreeSource | None = None) -> pd.DataFrame:
    """Score each tree by the probability of the shapes of its sub-trees in a reference treebank.

    Parameters
    ----------
    reference : path, paths or trees
        CoNLL-U files of the reference, or trees.
    trees : path, paths or trees, optional
        Trees to score. By default those of the reference, each without its own counts (leave-one-out).

    Returns
    -------
    DataFrame, index: sentence (from 1)
        ``words``, ``log_probability`` (natural logarithm) and ``per_word``, its quotient by the number of words. A
        document's score is the sum over its sentences, or that sum by its words.

    Raises
    ------
    ConfigError
        If `trees` is the same object as `reference`; leave `trees` out for the leave-one-out form.
    DataError
        If a file cannot be read, or the reference or `trees` has no tree.

    Notes
    -----
    A score says how usual the shapes of a tree are, not whether they are right: parsers of lower LAS may score higher.
    Trees that are also part of the reference score too high if they are given as `trees`. A score depends on the
    size of the reference and its relations: compare scores under one reference only.

    Examples
    --------
    >>> run = Tree(("I", "run"), ("PRON", "VERB"), (2, 0), ("nsubj", "root"))
    >>> turned = Tree(("run", "I"), ("VERB", "PRON"), (0, 1), ("root", "nsubj"))
    >>> score_trees([run] * 10, [run, turned])[["words", "per_word"]].round(2).to_dict("list")
    {'words': [2, 2], 'per_word': [-0.01, -6.54]}
    """
    if trees is reference:
        raise ConfigError(
            "trees is the reference itself: leave it out, and each tree is scored without its own counts."
        )
    known = list(read_trees(reference))
    if not known:
        raise DataError("The reference has no tree.")
    counts = ShapeCounts(known)
    scored = read_trees(known if trees is None else trees)
    rows = [(len(tree), counts.log_probability(tree, ShapeCounts([tree] if trees is None else []))) for tree in scored]
    if not rows:
        raise DataError("There is no tree to score.")
    frame = pd.DataFrame(rows, columns=["words", "log_probability"])
    frame.index = pd.RangeIndex(1, len(frame) + 1, name="sentence")
    return frame.assign(per_word=frame["log_probability"] / frame["words"])


def _steps(shape: Shape) -> Iterator[tuple[str, str]]:
    return zip((START, *shape), (*shape, END), strict=True)


def _shapes(tree: Tree) -> Iterator[tuple[str, Shape]]:
    children: list[list[int]] = [[] for _ in range(len(tree) + 1)]
    for word, head in enumerate(tree.heads, start=1):
        children[head].append(word)
    for word, relation in enumerate(tree.deprels, start=1):
        place = sorted([*children[word], word])
        yield relation, tuple(HEAD if other == word else tree.deprels[other - 1] for other in place)


Heads = Literal["content", "function"]


@dataclass(frozen=True, kw_only=True)
class DependencyLength:
    """Distances of words from their heads over a corpus.

    Attributes
    ----------
    mean : float
        Mean distance in words; 1 for neighbours.
    head_final : float
        Share of dependencies whose head comes after the dependent.
    dependencies : int
        Number of dependencies measured.

    Examples
    --------
    >>> dependency_length([Tree(("dogs", "bark"), ("NOUN", "VERB"), (2, 0), ("nsubj", "root"))])
    DependencyLength(mean=1.0, head_final=1.0, dependencies=1)
    """

    mean: float
    head_final: float
    dependencies: int


def dependency_length(source: TreeSource, *, heads: Heads = "content", punctuation: bool = False) -> DependencyLength:
    """Measure the mean distance of words from their heads, root words excluded.

    Parameters
    ----------
    source : path, paths or trees
        CoNLL-U files of one corpus (see `langdiff.read_treebank`), or trees.
    heads : {"content", "function"}
        Heads of the trees: content words, as in Universal Dependencies, or adpositions and subordinators;
        see `langdiff.treebanks.conllu.with_function_heads`.
    punctuation : bool
        Whether trees keep words whose relation is ``punct``. If not, such words are neither measured nor
        counted between a word and its head (`Tree.without_punctuation`).

    Returns
    -------
    DependencyLength
        The mean, the share of dependencies whose head comes later, and their number.

    Raises
    ------
    DataError
        If the corpus has no dependency to measure.
    ConfigError
        If `heads` is neither of the two.

    Notes
    -----
    This is the measure of Mielke et al. (2019, section 5), after Futrell et al. (2015). Long sentences have longer
    dependencies: compare corpora whose sentences are about as long, best translations of one text.

    Examples
    --------
    >>> tree = Tree(("on", "the", "mat"), ("ADP", "DET", "NOUN"), (3, 3, 0), ("case", "det", "root"))
    >>> dependency_length([tree]).mean, dependency_length([tree], heads="function").mean
    (1.5, 1.5)
    >>> dependency_length([tree]).head_final, dependency_length([tree], heads="function").head_final
    (1.0, 0.5)
    """
    distances = Distances(heads=heads, punctuation=punctuation)
    for tree in read_trees(source):
        distances.add(tree)
    return distances.length()


class Distances:
    """Sums of distances between words and their heads; options as for `dependency_length`."""

    def __init__(self, *, heads: Heads = "content", punctuation: bool = False) -> None:
        check_choice("heads", heads, get_args(Heads))
        self._heads, self._punctuation = heads, punctuation
        self._sums = array("q")  # of each tree: distances, heads that come after, dependencies

    def add(self, tree: Tree) -> None:
        """Measure the words of a tree."""
        tree = tree if self._punctuation else tree.without_punctuation()
        tree = with_function_heads(tree) if self._heads == "function" else tree
        found = [head - word for word, head in enumerate(tree.heads, start=1) if head]
        self._sums.extend((sum(map(abs, found)), sum(distance > 0 for distance in found), len(found)))

    def length(self) -> DependencyLength:
        """Return the mean distance in the trees measured."""
        total, final, count = np.asarray(self._sums).reshape(-1, 3).sum(axis=0).tolist()
        if not count:
            raise DataError("No dependency to measure: the corpus has no sentence of two words.")
        return DependencyLength(mean=total / count, head_final=final / count, dependencies=count)

    def without(self, block: Integers) -> Floats:
        """Return the mean distance and the share of later heads without each block of trees, (S,) → (G, 2)."""
        own = np.asarray(self._sums).reshape(-1, 3)
        left = own.sum(axis=0) - sums(own, block, int(block.max()) + 1)
        with np.errstate(invalid="ignore"):
            found: Floats = left[:, :2] / left[:, 2:]
        return found


SIDES = ("low", "high")
MEASURES = {"hpe_mean": ("bits", "log"), "hpe_skew": ("", "identity")} | {  # units, and scales of intervals
    f"{name}{heads}": of
    for heads in ("", "_function")
    for name, of in (("dependency_length", ("words", "log")), ("head_final", ("share", "logit")))
}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TreebankMeasures(Result):
    """Head-POS entropy and dependency length of treebanks.

    Attributes
    ----------
    table : DataFrame, index: treebank
        ``sentences``, ``words``, ``words_per_sentence``; ``hpe_mean`` (bits) and ``hpe_skew``;
        ``dependency_length`` and ``head_final`` of trees with content words as heads, and
        ``dependency_length_function`` and ``head_final_function`` with function words as heads.
    over : {"tokens", "types"}
        Units over which ``hpe_mean`` and ``hpe_skew`` are taken.
    punctuation : bool or None
        Whether all measures were taken with or without punctuation; if None, head-POS entropy with and
        dependency length without.
    without : DataFrame, index: treebank and unit
        The six measures without each document or block of sentences, and its ``words``, from which errors come.
    units : str
        What these are, in words.

    Examples
    --------
    >>> from langdiff.treebanks.conllu import Tree, with_function_heads
    >>> tree = Tree(("dogs", "bark"), ("NOUN", "VERB"), (2, 0), ("nsubj", "root"))
    >>> measures = measure_treebanks({"eng": [tree]})
    >>> measures
    TreebankMeasures of 1 treebanks, 2 words
    >>> float(measures.table.loc["eng", "head_final"])
    1.0
    """

    digits = 3
    plot = Drawn("plot_treebank_measures")

    table: pd.DataFrame
    without: pd.DataFrame
    units: str
    over: Over = "tokens"
    punctuation: bool | None = None

    def to_frame(self) -> pd.DataFrame:
        """Return one row per treebank; ``hpe_mean_low``, ``hpe_mean_high`` and so on are ends of 95 % intervals."""
        ends = {f"{name}_{side}": end for name in MEASURES for side, end in self._ends(name).items()}
        return self.table.assign(**ends).reset_index()

    def effects(self, measure: str = "dependency_length") -> Effects:
        """Return a measure with its errors, which all functions of effects take.

        Parameters
        ----------
        measure : str
            One of the columns of `table` from ``hpe_mean`` on. Treebanks count as independent samples.

        Raises
        ------
        ConfigError
            If the measure is unknown.
        DataError
            If no treebank has an error: each has one sentence, or all of its words have the same value.
        """
        check_choice("measure", measure, tuple(MEASURES))
        unit, ends = MEASURES[measure]
        left = self.without[measure].groupby(level="treebank", sort=False)
        vary = [name for name, own in left if np.ptp(own.to_numpy()) > 0]  # not if one of them is not known
        known = pd.Index([name for name in vary if np.isfinite(self.table[measure][name])])
        if not len(known):
            raise DataError(f"no treebank has an error of {measure}: it needs two sentences that differ.")
        own = self.without.loc[known]
        strata = known.get_indexer(own.index.get_level_values("treebank"))
        without = np.where(strata[:, None] == np.arange(len(known)), own[[measure]].to_numpy(), 0.0)
        names = pd.Index([f"{name} {unit}" for name, unit in own.index])
        share = own["words"].to_numpy(dtype=float) / own["words"].sum()
        return Effects(
            estimate=self.table[measure].loc[known],
            influence=Influence.of_jackknife(without, share, Units("block", names, self.units, strata)),
            scale=Scale(quantity=measure, unit=unit, first="highest", centre="mean", ends=ends),  # type: ignore[arg-type]
        )

    def _ends(self, measure: str) -> dict[str, pd.Series]:
        try:
            found = self.effects(measure)._ends()
        except DataError:
            found = (pd.Series(np.nan, self.table.index),) * 2
        return dict(zip(SIDES, found, strict=True))

    def tables(self) -> list[Shown]:
        """Return the measures and their intervals."""
        frame = self.to_frame().set_index("treebank").round(self.digits).astype(object)
        low, high = (frame[[f"{name}_{side}" for name in MEASURES]].set_axis([*MEASURES], axis=1) for side in SIDES)
        ends = (low.astype(str) + " to " + high.astype(str)).where(low.notna())
        caption = "95 % intervals, by the jackknife"
        return [Shown(self._table(), "measures"), Shown(ends, "intervals", caption, tuple(self._notes()))]

    def _lines(self) -> Iterator[str]:
        yield f"Head-POS entropy in bits over {self.over}, dependency length in words"

    def _table(self) -> pd.DataFrame:
        return rounded(self.table, self.digits)

    def _notes(self) -> Iterator[str]:
        punctuation = {None: "hpe", True: "yes", False: "no"}[self.punctuation]
        yield f"Independent units: {self.units}."
        frame = self.to_frame()
        if frame["dependency_length_low"].isna().any() and frame["dependency_length"].notna().all():
            yield "–: no interval from a single unit, or from units that do not differ."
        yield f"[hpe_over:{self.over}|punctuation:{punctuation}]"

    def __repr__(self) -> str:
        """Return a line with the numbers of treebanks and words."""
        return f"TreebankMeasures of {len(self.table)} treebanks, {self.table['words'].sum():,} words"


def measure_treebanks(
    treebanks: Mapping[str, TreeSource] | str | Path | Iterable[str | Path],
    *,
    over: Over = "tokens",
    punctuation: bool | None = None,
    progress: bool | None = None,
) -> TreebankMeasures:
    """Measure head-POS entropy and dependency length of each treebank.

    Parameters
    ----------
    treebanks : mapping from name to path, paths or trees; or path or paths
        Treebanks to measure. A path without a name gets that of its file, without ``.conllu`` and the like.
    over : {"tokens", "types"}
        Units over which the mean and the skewness of head-POS entropy are taken; see `head_pos_entropy`.
    punctuation : bool, optional
        Whether trees keep words whose relation is ``punct``. By default each measure does what its definition
        says: `head_pos_entropy` counts all tokens, `dependency_length` leaves punctuation out. The numbers of
        words are those of the trees as they are, unless it is False.
    progress : bool, optional
        Draw a bar on stderr; by default only on a terminal.

    Returns
    -------
    TreebankMeasures
        One row per treebank.

    Raises
    ------
    ConfigError
        If no treebank is given, two have the same name, or `over` is unknown.
    DataError
        If a file cannot be read, or a treebank has no token, no part of speech or no dependency to measure.

    Examples
    --------
    >>> from langdiff.treebanks.conllu import Tree, with_function_heads
    >>> tree = Tree(("dogs", "bark"), ("NOUN", "VERB"), (2, 0), ("nsubj", "root"))
    >>> measure_treebanks({"eng": [tree]}).to_frame()[["treebank", "words", "dependency_length"]]
      treebank  words  dependency_length
    0      eng      2                1.0
    """
    sources = named(treebanks)
    rows, left, units = {}, {}, []
    for name in followed(sources, "treebanks", progress=progress):
        rows[name], blocks, left[name] = _measure(name, read_trees(sources[name]), over, punctuation)
        units.append((blocks.kind, blocks.source, len(left[name])))
    return TreebankMeasures(
        table=pd.DataFrame.from_dict(rows, orient="index").rename_axis("treebank"),
        without=pd.concat(left, names=["treebank", "unit"]),
        units=counted(units),
        over=over,
        punctuation=punctuation,
    )


def _measure(
    name: str, trees: Iterable[Tree], over: Over, punctuation: bool | None
) -> tuple[dict[str, float], Blocks, pd.DataFrame]:
    pairs = HeadPairs(over=over)
    content, function = (Distances(heads=heads, punctuation=bool(punctuation)) for heads in get_args(Heads))
    words, opens = array("i"), array("b")
    for tree in trees:  # in one pass, so that a large file is read once and never held
        if punctuation is False:
            tree = tree.without_punctuation()
        words.append(len(tree))
        opens.append(tree.opens)
        pairs.add(tree)
        content.add(tree)
        function.add(tree)
    try:
        entropy, of_content, of_function = pairs.entropy(), content.length(), function.length()
    except DataError as error:
        raise DataError(f"Treebank {name!r}: {error}") from error
    row = {
        "sentences": len(words),
        "words": sum(words),
        "words_per_sentence": sum(words) / len(words),
        "hpe_mean": entropy.mean,
        "hpe_skew": entropy.skew,
        "dependency_length": of_content.mean,
        "head_final": of_content.head_final,
        "dependency_length_function": of_function.mean,
        "head_final_function": of_function.head_final,
    }
    blocks = blocks_of(opens)
    without = np.hstack([each.without(blocks.of) for each in (pairs, content, function)])
    own = pd.DataFrame(without, columns=list(MEASURES)).assign(words=np.bincount(blocks.of, weights=words))
    return row, blocks, own


def named(treebanks: Mapping[str, TreeSource] | str | Path | Iterable[str | Path]) -> dict[str, TreeSource]:
    """Return treebanks by name; a path is named after its file."""
    if isinstance(treebanks, Mapping):
        sources = dict(treebanks)
    else:
        paths = as_paths(treebanks)
        names = [file_name(path) for path in paths]
        refuse_equal_names(names)
        sources = dict(zip(names, paths, strict=True))
    if not sources:
        raise ConfigError("no treebank is given; name at least one.")
    return sources

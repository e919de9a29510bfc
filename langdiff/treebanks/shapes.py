"""Scores of trees: probability of the shapes of their sub-trees in a reference treebank."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator

import pandas as pd

from langdiff.errors import ConfigError, DataError
from langdiff.treebanks.conllu import Tree, TreeSource, read_trees

Shape = tuple[str, ...]
HEAD, START, END = "HEAD", "BOS", "EOS"
PRIOR = 1.0  # weight of the smoother distribution, in observations


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
        self._total = self._kinds = 0
        self.add(trees)

    def add(self, trees: Iterable[Tree]) -> None:
        """Count the shapes of trees.

        Parameters
        ----------
        trees : iterable of Tree
            Trees to add to the reference.
        """
        self._change(trees, 1)

    def remove(self, trees: Iterable[Tree]) -> None:
        """Subtract trees that were counted before.

        Parameters
        ----------
        trees : iterable of Tree
            Trees of the reference.

        Raises
        ------
        DataError
            If a tree has a shape that is not counted.
        """
        trees = list(trees)
        removed = Counter(shape for tree in trees for shape in _shapes(tree))
        if any(self._shapes[shape] < count for shape, count in removed.items()):
            raise DataError("These trees are not among those counted; take out only trees of the reference.")
        self._change(trees, -1)

    def log_probability(self, tree: Tree) -> float:
        """Return the natural logarithm of the probability of all shapes of a tree.

        Parameters
        ----------
        tree : Tree
            Tree to score; it may be one of the reference.
        """
        return sum(math.log(self._probability(head, shape)) for head, shape in _shapes(tree))

    def _change(self, trees: Iterable[Tree], by: int) -> None:
        for tree in trees:
            for head, shape in _shapes(tree):
                self._shapes[head, shape] += by
                self._heads[head] += by
                for first, second in zip((START, *shape), (*shape, END), strict=True):
                    self._pairs[head, first, second] += by
                    self._firsts[head, first] += by
                    self._kinds += by * (self._symbols[second] == (by < 0))
                    self._symbols[second] += by
                    self._total += by

    def _probability(self, head: str, shape: Shape) -> float:
        smoother = 1.0
        kinds = self._kinds + 1  # one more for relations never seen
        for first, second in zip((START, *shape), (*shape, END), strict=True):
            anywhere = (self._symbols.get(second, 0) + PRIOR) / (self._total + PRIOR * kinds)
            pair = self._pairs.get((head, first, second), 0)
            smoother *= (pair + PRIOR * anywhere) / (self._firsts.get((head, first), 0) + PRIOR)
        return (self._shapes.get((head, shape), 0) + PRIOR * smoother) / (self._heads.get(head, 0) + PRIOR)


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
    rows = []
    for tree in known if trees is None else read_trees(trees):
        if trees is None:
            counts.remove([tree])
        rows.append((len(tree), counts.log_probability(tree)))
        if trees is None:
            counts.add([tree])
    if not rows:
        raise DataError("There is no tree to score.")
    frame = pd.DataFrame(rows, columns=["words", "log_probability"])
    frame.index = pd.RangeIndex(1, len(frame) + 1, name="sentence")
    return frame.assign(per_word=frame["log_probability"] / frame["words"])


def _shapes(tree: Tree) -> Iterator[tuple[str, Shape]]:
    children: list[list[int]] = [[] for _ in range(len(tree) + 1)]
    for word, head in enumerate(tree.heads, start=1):
        children[head].append(word)
    for word, relation in enumerate(tree.deprels, start=1):
        place = sorted([*children[word], word])
        yield relation, tuple(HEAD if other == word else tree.deprels[other - 1] for other in place)

"""How far words are from their heads, with content words or function words as heads."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, get_args

from langdiff.errors import ConfigError, DataError
from langdiff.treebanks.conllu import TreeSource, read_trees
from langdiff.treebanks.tree import Tree

Heads = Literal["content", "function"]
RAISED = ("case", "mark")  # relations of words that become heads, inner before outer
RAISED_UPOS = ("ADP", "SCONJ")


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
    """Mean distance of words from their heads, root words excluded.

    Parameters
    ----------
    source : path, paths or trees
        CoNLL-U files of one corpus (see `langdiff.read_treebank`), or trees.
    heads : {"content", "function"}
        Heads of the trees: content words, as in Universal Dependencies, or adpositions and subordinators;
        see `langdiff.treebanks.lengths.with_function_heads`.
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
        if heads not in get_args(Heads):
            raise ConfigError(f"heads is one of {', '.join(get_args(Heads))}; got {heads!r}.")
        self._heads, self._punctuation = heads, punctuation
        self._total = self._final = self._count = 0

    def add(self, tree: Tree) -> None:
        """Measure the words of a tree."""
        for distance in _distances(tree, self._heads, self._punctuation):
            self._total += abs(distance)
            self._final += distance > 0
            self._count += 1

    def length(self) -> DependencyLength:
        """Summarize what was measured.

        Raises
        ------
        DataError
            If nothing was measured.
        """
        if not self._count:
            raise DataError("No dependency to measure: the corpus has no sentence of two words.")
        return DependencyLength(
            mean=self._total / self._count, head_final=self._final / self._count, dependencies=self._count
        )


def _distances(tree: Tree, heads: Heads, punctuation: bool) -> Iterator[int]:
    if not punctuation:
        tree = tree.without_punctuation()
    if heads == "function":
        tree = with_function_heads(tree)
    for word, head in enumerate(tree.heads, start=1):
        if head:
            yield head - word


def with_function_heads(tree: Tree) -> Tree:
    """Make adpositions and subordinators the heads of what they introduce.

    A word whose relation is ``case`` or ``mark`` and whose part of speech is ADP or SCONJ takes the place
    of its head, which becomes its dependent; every other word stays where it is attached. Of several under
    one head, adpositions are below subordinators and the nearer below the farther (of two as near the right
    one). The edge between a function word and its former head keeps its relation, the function word takes
    over its head's: *in* (case) under *London* (obl) becomes *in* (obl) above *London* (case).

    Parameters
    ----------
    tree : Tree
        A tree as Universal Dependencies draws it, with content words as heads.

    Returns
    -------
    Tree
        The converted tree; `tree` itself if nothing is to be moved.

    Examples
    --------
    >>> tree = Tree(("go", "to", "bed"), ("VERB", "ADP", "NOUN"), (0, 3, 1), ("root", "case", "obl"))
    >>> with_function_heads(tree).heads, with_function_heads(tree).deprels
    ((0, 1, 2), ('root', 'obl', 'case'))
    """
    raised: dict[int, list[int]] = {}  # content word → function words under it
    for word, (head, upos) in enumerate(zip(tree.heads, tree.upos, strict=True), start=1):
        if head and upos in RAISED_UPOS and _relation(tree, word) in RAISED:
            raised.setdefault(head, []).append(word)
    if not raised:
        return tree
    heads, deprels = [0, *tree.heads], ["", *tree.deprels]
    for content in sorted(raised, key=lambda word: _depth(tree, word)):  # a raised word may have its own
        below = content
        for word in sorted(raised[content], key=lambda word: _nesting(tree, word)):
            heads[word], heads[below] = heads[below], word
            deprels[word], deprels[below] = deprels[below], deprels[word]
            below = word
    return replace(tree, heads=tuple(heads[1:]), deprels=tuple(deprels[1:]))


def _nesting(tree: Tree, word: int) -> tuple[int, int, int]:
    """Sort function words under one head from the inner to the outer."""
    return RAISED.index(_relation(tree, word)), abs(word - tree.heads[word - 1]), -word


def _depth(tree: Tree, word: int) -> int:
    depth = 0
    while tree.heads[word - 1]:
        word = tree.heads[word - 1]
        depth += 1
    return depth


def _relation(tree: Tree, word: int) -> str:
    return tree.deprels[word - 1].partition(":")[0]

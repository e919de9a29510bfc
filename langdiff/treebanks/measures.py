"""Measures of treebanks: head-POS entropy and dependency length, one row per treebank."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import pandas as pd

from langdiff.base.grids import frame_text
from langdiff.base.io import as_paths
from langdiff.base.progress import progress_bar
from langdiff.base.result import Drawn, Result, rounded
from langdiff.errors import ConfigError, DataError, option
from langdiff.treebanks.conllu import Tree, TreeSource, read_trees, with_function_heads
from langdiff.treebanks.head_entropy import HeadPairs, Over
from langdiff.treebanks.treebank import file_name, refuse_equal_names

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
        if heads not in get_args(Heads):
            raise ConfigError(f"{option('heads')} is one of {', '.join(get_args(Heads))}; got {heads!r}.")
        self._heads, self._punctuation = heads, punctuation
        self._total = self._final = self._count = 0

    def add(self, tree: Tree) -> None:
        """Measure the words of a tree."""
        for distance in _distances(tree, self._heads, self._punctuation):
            self._total += abs(distance)
            self._final += distance > 0
            self._count += 1

    def length(self) -> DependencyLength:
        """Return the mean distance in the trees measured."""
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
    over: Over = "tokens"
    punctuation: bool | None = None

    def to_frame(self) -> pd.DataFrame:
        """Return one row per treebank."""
        return self.table.reset_index()

    def _table(self) -> pd.DataFrame:
        return rounded(self.table, self.digits)

    def _notes(self) -> Iterator[str]:
        punctuation = {None: "hpe", True: "yes", False: "no"}[self.punctuation]
        yield f"[hpe_over:{self.over}|punctuation:{punctuation}]"

    def summary(self) -> str:
        """Return the table as text, with the units of head-POS entropy and the treatment of punctuation."""
        return "\n".join([frame_text(self._table()), *self._notes()])

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
    rows = {}
    with progress_bar(progress=progress) as bar:
        task = bar.add_task("treebanks", total=len(sources), note="")
        for name, source in sources.items():
            bar.update(task, note=name)
            rows[name] = _measure(name, read_trees(source), over, punctuation)
            bar.advance(task)
    return TreebankMeasures(
        table=pd.DataFrame.from_dict(rows, orient="index").rename_axis("treebank"), over=over, punctuation=punctuation
    )


def _measure(name: str, trees: Iterable[Tree], over: Over, punctuation: bool | None) -> dict[str, float]:
    pairs = HeadPairs(over=over)
    content, function = (Distances(heads=heads, punctuation=bool(punctuation)) for heads in get_args(Heads))
    sentences = words = 0
    for tree in trees:  # in one pass, so that a large file is read once and never held
        if punctuation is False:
            tree = tree.without_punctuation()
        sentences += 1
        words += len(tree)
        pairs.add(tree)
        content.add(tree)
        function.add(tree)
    try:
        entropy, of_content, of_function = pairs.entropy(), content.length(), function.length()
    except DataError as error:
        raise DataError(f"Treebank {name!r}: {error}") from error
    return {
        "sentences": sentences,
        "words": words,
        "words_per_sentence": words / sentences,
        "hpe_mean": entropy.mean,
        "hpe_skew": entropy.skew,
        "dependency_length": of_content.mean,
        "head_final": of_content.head_final,
        "dependency_length_function": of_function.mean,
        "head_final_function": of_function.head_final,
    }


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

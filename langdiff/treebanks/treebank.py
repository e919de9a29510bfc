"""A corpus of dependency trees as a few arrays, for statistics over all of it."""

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from langdiff.base.archives import unpacked
from langdiff.base.io import as_paths, name_of_file
from langdiff.base.signature import short_hash
from langdiff.base.suspicion import LEFT_OUT_COLUMNS, report
from langdiff.base.types import Integers
from langdiff.errors import ConfigError, DataError, Fault, warn
from langdiff.tables.units import FEWEST_NAMED
from langdiff.treebanks.conllu import Repeats, Tree, read_conllu

Codes = npt.NDArray[np.int32]
Paths = str | Path | Iterable[str | Path]
FEW_SENTENCES = 50
MOST_BLOCKS = 50


class Blocks(NamedTuple):
    """Independent units of a treebank: kind, source in words, and the number of that of every sentence, (S,)."""

    kind: str
    source: str
    of: Integers


def blocks_of(opens: Sequence[int]) -> Blocks:
    """Return documents as units, of fewer than five sentences, and of more than 50 blocks of neighbours.

    Examples
    --------
    >>> blocks_of([True, False] * 5)
    Blocks(kind='document', source='from # newdoc', of=array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4]))
    """
    number = np.unique(np.cumsum(opens), return_inverse=True)[1]
    found = Blocks("document", "from # newdoc", number)
    if number.max() + 1 < FEWEST_NAMED:
        found = Blocks("sentence", "", np.arange(len(number)))
    sizes = np.bincount(found.of)
    if len(sizes) <= MOST_BLOCKS:
        return found
    middle = np.cumsum(sizes) - (sizes + 1) // 2
    block = np.unique(middle * MOST_BLOCKS // len(number), return_inverse=True)[1]
    return Blocks("block", f"of neighbouring {found.kind}s", block[found.of])


def counted(units: Iterable[tuple[str, str, int]]) -> str:
    """Return the units of treebanks, kind, source and number of each, in words.

    Examples
    --------
    >>> counted([("document", "from # newdoc", 37), ("block", "of neighbouring sentences", 50)] * 2)
    '74 documents from # newdoc and 100 blocks of neighbouring sentences'
    """
    numbers: Counter[tuple[str, str]] = Counter()
    for kind, source, number in units:
        numbers[kind, source] += number
    return " and ".join(f"{number} {kind}s {source}".rstrip() for (kind, source), number in numbers.items())


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Treebank:
    """The shapes and labels of all trees of a corpus, without their words: 12 bytes per word.

    Words are numbered through the corpus, in text order; V of them, in S sentences.

    Attributes
    ----------
    name : str
        Name of the treebank in tables and pictures.
    starts : ndarray of int64, shape (S + 1,)
        First word of every sentence; the last is V.
    parents : ndarray of int32, shape (V,)
        Number of every word's head; -1 for root words.
    upos, deprels : ndarray of int32, shape (V,)
        Every word's part of speech and relation, as places in the two lists of names.
    upos_names, deprel_names : tuple of str
        Distinct parts of speech and relations.
    left_out : DataFrame
        What was not used, and what is doubted: one row per sentence that is not a tree, and per kind of doubt. Columns:
        ``edition`` (the name), ``level``, ``what``, ``why``.
    blocks : Blocks
        Independent units for errors: documents, or blocks of neighbouring documents or sentences.
    punctuation, strip_subtypes : bool
        Whether words whose relation is ``punct`` are in it, and whether relations lost their subtypes when it
        was read.
    """

    name: str
    starts: Integers
    parents: Codes
    upos: Codes
    deprels: Codes
    upos_names: tuple[str, ...]
    deprel_names: tuple[str, ...]
    blocks: Blocks
    left_out: pd.DataFrame = field(default_factory=partial(pd.DataFrame, columns=list(LEFT_OUT_COLUMNS), dtype=object))
    punctuation: bool = True
    strip_subtypes: bool = False

    @property
    def sentences(self) -> int:
        """Number of trees, S."""
        return len(self.starts) - 1

    @property
    def words(self) -> int:
        """Number of words, V."""
        return len(self.parents)

    @property
    def lengths(self) -> Integers:
        """Words of each sentence, shape (S,)."""
        return np.diff(self.starts)

    @classmethod
    def from_trees(cls, trees: Iterable[Tree], *, name: str) -> "Treebank":
        """Collect trees.

        Examples
        --------
        >>> run = Tree(("I", "run"), ("PRON", "VERB"), (2, 0), ("nsubj", "root"))
        >>> corpus = Treebank.from_trees([run, run], name="runs")
        >>> corpus
        Treebank 'runs': 2 sentences, 4 words, 2 relations
        >>> corpus.parents
        array([ 1, -1,  3, -1], dtype=int32)
        """
        starts, parents, upos, deprels, opens = array("q", [0]), array("i"), array("i"), array("i"), array("b")
        upos_codes: dict[str, int] = {}
        deprel_codes: dict[str, int] = {}
        for tree in trees:
            before = len(parents) - 1
            parents.extend(head + before if head else -1 for head in tree.heads)
            upos.extend(upos_codes.setdefault(label, len(upos_codes)) for label in tree.upos)
            deprels.extend(deprel_codes.setdefault(label, len(deprel_codes)) for label in tree.deprels)
            starts.append(len(parents))
            opens.append(tree.opens)
        if not parents:
            raise DataError(f"Treebank {name!r} has no usable sentence.")
        return cls(
            name=name,
            starts=np.array(starts, dtype=np.int64),
            parents=np.array(parents, dtype=np.int32),
            upos=np.array(upos, dtype=np.int32),
            deprels=np.array(deprels, dtype=np.int32),
            upos_names=tuple(upos_codes),
            deprel_names=tuple(deprel_codes),
            blocks=blocks_of(opens),
        )

    @property
    def digest(self) -> str:
        """Hash of the data of all statistics, for signatures."""
        names = [self.name, self.upos_names, self.deprel_names]
        return short_hash(names, self.starts, self.parents, self.upos, self.deprels)

    def take(self, sentences: Integers) -> "Treebank":
        """Return the treebank of some sentences, given by number, in the order given."""
        lengths = self.lengths[sentences]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        shift = np.repeat(self.starts[sentences] - starts[:-1], lengths)
        words = shift + np.arange(starts[-1])
        parents = self.parents[words]
        return replace(
            self,
            starts=starts,
            parents=np.where(parents < 0, -1, parents - shift).astype(np.int32),
            upos=self.upos[words],
            deprels=self.deprels[words],
            blocks=self.blocks._replace(of=self.blocks.of[sentences]),
        )

    def resample(self, rng: np.random.Generator) -> "Treebank":
        """Return as many of its independent units as there are, drawn with replacement."""
        places = np.split(np.argsort(self.blocks.of, kind="stable"), np.cumsum(np.bincount(self.blocks.of))[:-1])
        return self.take(np.concatenate([places[unit] for unit in rng.integers(len(places), size=len(places))]))

    def with_names(self, upos_names: Sequence[str], deprel_names: Sequence[str]) -> "Treebank":
        """Return the same treebank with labels numbered by other lists, which must contain all of its labels."""
        upos = np.array([upos_names.index(name) for name in self.upos_names], dtype=np.int32)
        deprels = np.array([deprel_names.index(name) for name in self.deprel_names], dtype=np.int32)
        return replace(
            self,
            upos=upos[self.upos],
            deprels=deprels[self.deprels],
            upos_names=tuple(upos_names),
            deprel_names=tuple(deprel_names),
        )

    def __repr__(self) -> str:
        """Return a line with the numbers of sentences, words and relations."""
        relations = len(np.unique(self.deprels))
        return f"Treebank {self.name!r}: {self.sentences:,} sentences, {self.words:,} words, {relations} relations"


def read_treebank(
    path: Paths,
    *,
    name: str | None = None,
    strict: bool = False,
    punctuation: bool = True,
    strip_subtypes: bool = False,
    trust: Sequence[str] = (),
) -> Treebank:
    r"""Read a corpus of one or several CoNLL-U files.

    Parameters
    ----------
    path : str, Path or iterable of them
        CoNLL-U file or files of one corpus, plain or compressed.
    name : str, optional
        Name of the treebank; by default that of the first file, without its endings.
    strict : bool
        Whether to stop at a sentence that is not a tree, instead of leaving it out with a warning.
    punctuation : bool
        Whether trees keep words whose relation is ``punct``; see `Tree.without_punctuation`.
    strip_subtypes : bool
        Whether to use universal relations only: ``acl:relcl`` becomes ``acl``.
    trust : sequence of str
        Kinds of doubt not to raise, such as ``sent_id_twice``.

    Returns
    -------
    Treebank
        The trees of all files, one after the other.

    Raises
    ------
    DataError
        If a file cannot be read, a row has fewer than 8 columns or more than 10, IDs are not 1, 2, 3, …, a HEAD is not
        an integer, or no sentence is left; with `strict` also if a sentence is not a tree. The message names the line.
    ConfigError
        If no path is given, or a kind of doubt is unknown.

    Warns
    -----
    LangdiffWarning
        If sentences are left out or are there twice (a ``sent_id`` in one file, or three of ten words or more), or
        there are fewer than 50.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> rows = ["1 Dogs _ NOUN _ _ 2 nsubj _ _", "2 bark _ VERB _ _ 0 root _ _", "", ""]
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "dogs.conllu"
    ...     _ = path.write_text("\n".join(rows).replace(" ", "\t") * 50)
    ...     read_treebank(path)
    Treebank 'dogs': 50 sentences, 100 words, 2 relations
    """
    files = as_paths(path)
    if not files:
        raise ConfigError("no file is given; name at least one.")
    name = name or file_name(files[0])
    faults: list[Fault] = []
    repeats = Repeats(name, trust)
    reading = {"strict": strict, "punctuation": punctuation, "strip_subtypes": strip_subtypes}
    trees = (tree for file in files for tree in read_conllu(file, **reading, faults=faults, repeats=repeats))
    treebank = Treebank.from_trees(trees, name=name)
    unused = [(name, "sentence", f"{fault.file}, line {fault.line}", fault.fault) for fault in faults]
    doubted = report(repeats.doubts.judged())
    left_out = pd.DataFrame([*unused, *doubted.to_numpy()], columns=list(LEFT_OUT_COLUMNS), dtype=object)
    treebank = replace(treebank, left_out=left_out, punctuation=punctuation, strip_subtypes=strip_subtypes)
    if treebank.sentences < FEW_SENTENCES:
        warn(
            f"Treebank {treebank.name!r} has {treebank.sentences} sentences; statistics of fewer than "
            f"{FEW_SENTENCES} say little."
        )
    return treebank


def file_name(path: Path) -> str:
    """Return the name of a file without its endings.

    Examples
    --------
    >>> file_name(Path("ud/en_ewt.conllu.gz"))
    'en_ewt'
    """
    return name_of_file(unpacked(path).stem)


def refuse_equal_names(names: Sequence[str]) -> None:
    """Raise a ConfigError if two treebanks have the same name."""
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigError(
            f"several treebanks are called {twice[0]!r}; rename files, or give a mapping from names to treebanks."
        )

"""Dependency trees of sentences, their conversions, and reading them from CoNLL-U, one sentence at a time."""

import os
import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from langdiff.base.io import as_path, read_lines
from langdiff.base.suspicion import Doubts, report
from langdiff.errors import ConfigError, DataError, Fault, warn

RAISED = ("case", "mark")  # relations of words that become heads, inner before outer
RAISED_UPOS = ("ADP", "SCONJ")
COLUMNS = (8, 10)  # ID to DEPREL are needed; the last two, of ten, are not used
LONG = 10  # words of a sentence that is not there twice by chance
DIGITS = 4000  # at most, in a number: Python reads none of more than 4300
_SPACES = re.compile(" {2,}")
_WORD, _INTEGER = re.compile("0|[1-9][0-9]*"), re.compile("0|-?[1-9][0-9]*")
_SENT_ID = re.compile(r"#\s*sent_id\s*=\s*(\S.*?)\s*")
_RANGE, _EMPTY = re.compile("([1-9][0-9]*)-([1-9][0-9]*)"), re.compile(r"[0-9]+\.[1-9][0-9]*")


@dataclass(frozen=True, slots=True)
class Tree:
    """The dependency tree of a sentence, of words alone: no ranges and no empty nodes.

    Attributes
    ----------
    forms, upos, deprels : tuple of str, length n
        FORM, UPOS and DEPREL of every word, in text order.
    heads : tuple of int, length n
        Number of every word's head, from 1; 0 for the root word.
    line : int
        Line of the file at which the sentence begins; 0 if it comes from none.
    opens : bool
        Whether a document begins with the sentence (``# newdoc``).

    Raises
    ------
    DataError
        If there is no word, the columns differ in length, there is not exactly one root, a head does
        not exist, or heads form a cycle.

    Examples
    --------
    >>> tree = Tree(("dogs", "bark", "."), ("NOUN", "VERB", "PUNCT"), (2, 0, 2), ("nsubj", "root", "punct"))
    >>> len(tree), tree.without_punctuation().forms
    (3, ('dogs', 'bark'))
    """

    forms: tuple[str, ...]
    upos: tuple[str, ...]
    heads: tuple[int, ...]
    deprels: tuple[str, ...]
    line: int = 0
    opens: bool = False

    def __post_init__(self) -> None:
        if not len(self.forms) == len(self.upos) == len(self.heads) == len(self.deprels):
            raise DataError("forms, upos, heads and deprels of a tree must have the same length.")
        fault = tree_fault(self.heads)
        if fault:
            raise DataError(f"This is not a tree: {fault}.")

    def __len__(self) -> int:
        return len(self.heads)

    def without_subtypes(self) -> "Tree":
        """Return the tree with universal relations only: ``acl:relcl`` becomes ``acl``."""
        return replace(self, deprels=tuple(deprel.partition(":")[0] for deprel in self.deprels))

    def without_punctuation(self) -> "Tree":
        """Return the tree without words whose relation is ``punct``; their children go to their heads.

        The root is kept even if it is punctuation, so that no sentence becomes empty. Positions are
        counted anew.
        """
        kept = [word for word, head in enumerate(self.heads, start=1) if head == 0 or not self.is_punctuation(word)]
        if len(kept) == len(self):
            return self
        places = {word: place for place, word in enumerate(kept, start=1)} | {0: 0}
        return Tree(
            forms=tuple(self.forms[word - 1] for word in kept),
            upos=tuple(self.upos[word - 1] for word in kept),
            heads=tuple(places[self._kept_head(word, places)] for word in kept),
            deprels=tuple(self.deprels[word - 1] for word in kept),
            line=self.line,
            opens=self.opens,
        )

    def is_punctuation(self, word: int) -> bool:
        """Return whether the relation of a word, numbered from 1, is ``punct`` or a subtype of it."""
        return self.deprels[word - 1].partition(":")[0] == "punct"

    def _kept_head(self, word: int, places: dict[int, int]) -> int:
        head = self.heads[word - 1]
        while head not in places:
            head = self.heads[head - 1]
        return head


def tree_fault(heads: Sequence[int]) -> str | None:
    """Return the reason why heads are not those of a tree; None if they are."""
    if not heads:
        return "it has no words"
    roots = [word for word, head in enumerate(heads, start=1) if head == 0]
    if len(roots) != 1:
        which = f" (words {', '.join(map(str, roots[:5]))})" if roots else ""
        return f"it has {len(roots)} roots{which}"
    for word, head in enumerate(heads, start=1):
        if not 0 <= head <= len(heads):
            return f"the head of word {word} does not exist"
    # every word is passed once: what a walk to the root has seen need not be walked again
    seen = [0] * (len(heads) + 1)  # the walk that came by
    seen[0] = -1
    for start in range(1, len(heads) + 1):
        word = start
        while not seen[word]:
            seen[word] = start
            word = heads[word - 1]
        if seen[word] == start:
            return f"word {word} is its own ancestor"
    return None


def with_function_heads(tree: Tree) -> Tree:
    """Convert a tree so that adpositions and subordinators are heads of the words they introduce.

    A word whose relation is ``case`` or ``mark`` and whose part of speech is ADP or SCONJ takes the place
    of its head, which becomes its dependent; every other word stays where it is attached. Of several under
    one head, adpositions are below subordinators and the nearer below the farther (of two as near the right
    one). The edge between a function word and its former head keeps its relation, the function word takes
    over its head's: *in* (case) under *London* (obl) becomes *in* (obl) above *London* (case).

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
        nesting = {word: (RAISED.index(_relation(tree, word)), abs(word - content), -word) for word in raised[content]}
        for word in sorted(nesting, key=nesting.__getitem__):  # from the inner to the outer
            heads[word], heads[below] = heads[below], word
            deprels[word], deprels[below] = deprels[below], deprels[word]
            below = word
    return replace(tree, heads=tuple(heads[1:]), deprels=tuple(deprels[1:]))


def _depth(tree: Tree, word: int) -> int:
    depth = 0
    while tree.heads[word - 1]:
        word = tree.heads[word - 1]
        depth += 1
    return depth


def _relation(tree: Tree, word: int) -> str:
    return tree.deprels[word - 1].partition(":")[0]


TreeSource = str | Path | Iterable[str | Path | Tree]


class Repeats:
    """Sentences of a treebank so far, to find repeated names and words.

    Parameters
    ----------
    treebank : str
        Name of the treebank, for messages.
    trust : iterable of str
        Kinds that are not doubted; see `langdiff.base.suspicion`.
    """

    def __init__(self, treebank: str, trust: Iterable[str] = ()) -> None:
        self.doubts = Doubts(trust)
        self._treebank = treebank
        self._seen: set[Hashable] = set()

    def see(self, path: Path, comments: Iterable[str], tree: Tree) -> None:
        """Count a sentence, with the comments before it."""
        if names := [found[1] for line in comments if (found := _SENT_ID.fullmatch(line))]:
            self._see("sent_id_twice", (str(path), names[-1]), path, tree.line, names[-1])
        if len(tree) >= LONG:
            self._see("sentence_twice", hash(tree.forms), path, tree.line, " ".join(tree.forms[:LONG]))

    def _see(self, kind: str, key: Hashable, path: Path, line: int, example: str) -> None:
        again = key in self._seen
        self._seen.add(key)
        self.doubts.see(kind, self._treebank, int(again), 1, example, line, example if again else None, path)


def read_conllu(
    path: str | Path,
    *,
    strict: bool = False,
    punctuation: bool = True,
    strip_subtypes: bool = False,
    faults: list[Fault] | None = None,
    repeats: Repeats | None = None,
) -> Iterator[Tree]:
    r"""Yield the dependency trees of a CoNLL-U file; no more than one sentence is held at a time.

    Warns
    -----
    LangdiffWarning
        If sentences were left out (the message has their number and the lines of the first five) or are there twice.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> rows = ["1 Dogs _ NOUN _ _ 2 nsubj _ _", "2 bark _ VERB _ _ 0 root _ _"]
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "dogs.conllu"
    ...     _ = path.write_text("\n".join(rows).replace(" ", "\t"))
    ...     [tree.heads for tree in read_conllu(path)]
    [(2, 0)]
    """
    own: list[Fault] = []
    used, opens = 0, False
    path = as_path(path)
    seen = Repeats(str(path)) if repeats is None else repeats
    for sentence in read_sentences(path):
        opens = opens or sentence.opens  # a document whose first sentence is left out begins with the next
        tree = sentence_tree(path, sentence.rows, opens)
        if isinstance(tree, Tree):
            used, opens = used + 1, False
            seen.see(path, sentence.comments, tree)
            tree = tree if punctuation else tree.without_punctuation()
            yield tree.without_subtypes() if strip_subtypes else tree
        elif strict:
            raise DataError(str(tree))
        else:
            own.append(tree)
    warn_left_out(path, own, used)
    if repeats is None:
        report(seen.doubts.judged())
    if faults is not None:
        faults += own


def warn_left_out(path: str | Path, faults: list[Fault], used: int) -> None:
    """Warn of sentences that are not trees, if there are any."""
    if faults:
        first = "; ".join(f"line {fault.line}: {fault.fault}" for fault in faults[:5])
        warn(f"{path}: {len(faults):,} of {used + len(faults):,} sentences left out: {first}")


def read_trees(source: TreeSource) -> Iterator[Tree]:
    """Yield the trees of a file or of several files, or the trees given."""
    items = [source] if isinstance(source, (str, os.PathLike)) else source
    if not isinstance(items, Iterable):
        raise ConfigError(
            f"a {type(items).__name__} is neither a file nor a list of files or trees; measures of words need the "
            "files (a Treebank holds no words)."
        )
    for item in items:
        if isinstance(item, Tree):
            yield item
        else:
            yield from read_conllu(item)


class Sentence(NamedTuple):
    """Rows of a sentence, each with its line and its cells, and the comments before them."""

    comments: list[str]
    rows: list[tuple[int, list[str]]]

    @property
    def opens(self) -> bool:
        """Whether a document begins with the sentence."""
        return any(line.startswith("# newdoc") for line in self.comments)


def read_sentences(path: Path) -> Iterator[Sentence]:
    """Yield the rows of each sentence of a CoNLL-U file, divided at tabs and not checked."""
    found = Sentence([], [])
    for number, line in read_lines(path):
        if line.startswith("#"):
            found.comments.append(line)
        elif line and not line.isspace():
            found.rows.append((number, line.split("\t")))
        elif found.rows:
            yield found
            found = Sentence([], [])
    if found.rows:  # the last blank line is missing
        yield found


def word_number(cell: str) -> int | None:
    """Return the number in an ID; None for a range (``3-4``) or an empty node (``5.1``)."""
    if _WORD.fullmatch(cell):
        return int(cell)
    span = _RANGE.fullmatch(cell)
    if not (span and int(span[1]) <= int(span[2])) and not _EMPTY.fullmatch(cell):
        raise ValueError(f"{cell[:20]!r} is not a valid ID.")
    return None


def sentence_tree(path: Path, rows: list[tuple[int, list[str]]], opens: bool = False) -> Tree | Fault:
    """Return the tree of the rows of a sentence, or the reason why its heads do not form one."""
    words: list[tuple[str, str, int, str]] = []
    for number, cells in rows:
        try:
            word = _word(cells, len(words) + 1)
        except ValueError as error:  # also of Python, which reads no number of thousands of digits
            raise DataError(f"{path}, line {number}: {error}") from error
        if word is not None:
            words.append(word)
    start = rows[0][0]
    try:
        return Tree(
            forms=tuple(form for form, _, _, _ in words),
            upos=tuple(upos for _, upos, _, _ in words),
            heads=tuple(head for _, _, head, _ in words),
            deprels=tuple(deprel for _, _, _, deprel in words),
            line=start,
            opens=opens,
        )
    except DataError as error:
        return Fault(str(path), start, str(error), level="sentence")


def _word(cells: list[str], expected: int) -> tuple[str, str, int, str] | None:
    """Return FORM, UPOS, HEAD and DEPREL of a row, None of a range or an empty node."""
    least, most = COLUMNS
    if not least <= len(cells) <= most:
        raise ValueError(f"{len(cells)} column(s) separated by tabs; CoNLL-U has {most}, and {least} are needed.")
    number = word_number(cells[0])
    if number is None:
        return None
    if number != expected:
        what = "row" if number > expected else "blank line"
        raise ValueError(f"ID {cells[0][:20]!r} where {expected} is next; IDs are 1, 2, 3, … (is a {what} missing?).")
    form, upos, head, deprel = (_SPACES.sub(" ", cells[place]) for place in (1, 3, 6, 7))
    if not _INTEGER.fullmatch(head) or len(head) > DIGITS:
        raise ValueError(f"HEAD {head[:20]!r} is not an integer; 0 marks the root.")
    return form, upos, int(head), deprel

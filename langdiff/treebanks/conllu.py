"""Reading CoNLL-U, one sentence at a time."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from langdiff.base.io import as_path, read_lines
from langdiff.errors import ConfigError, DataError, warn
from langdiff.treebanks.tree import Tree

COLUMNS = 8  # ID to DEPREL; the last two are not used
TreeSource = str | Path | Iterable[str | Path | Tree]
DIGITS = 4000  # at most, in a number: Python reads none of more than 4300
_SPACES = re.compile(" {2,}")
_WORD, _INTEGER = re.compile("0|[1-9][0-9]*"), re.compile("0|-?[1-9][0-9]*")
_RANGE, _EMPTY = re.compile("([1-9][0-9]*)-([1-9][0-9]*)"), re.compile(r"[0-9]+\.[1-9][0-9]*")


class Fault(NamedTuple):
    """A sentence that is not used: the line at which it begins, and the reason."""

    line: int
    reason: str


def read_conllu(
    path: str | Path,
    *,
    strict: bool = False,
    punctuation: bool = True,
    strip_subtypes: bool = False,
    faults: list[Fault] | None = None,
) -> Iterator[Tree]:
    r"""Yield the dependency trees of a CoNLL-U file; no more than one sentence is held at a time.

    Parameters
    ----------
    path : str or Path
        CoNLL-U file, plain or compressed (``.gz``, ``.bz2``, ``.xz``). Ranges (``3-4``) and empty nodes
        (``5.1``) are ignored.
    strict : bool
        Stop at a sentence that is not a tree, instead of leaving it out with a warning at the end.
    punctuation : bool
        Whether trees keep words whose relation is ``punct``; see `Tree.without_punctuation`.
    strip_subtypes : bool
        Use universal relations only; see `Tree.without_subtypes`.
    faults : list of Fault, optional
        List to which the reasons are added why sentences were left out.

    Yields
    ------
    Tree
        Tree of each sentence, in the order of the file.

    Raises
    ------
    DataError
        If the file cannot be read, a row has fewer than 8 columns, an ID is not valid, occurs twice
        or is lower than the one before, or a HEAD is not an integer; with ``strict`` also if a sentence
        has not exactly one root, a head that does not exist or a cycle. The message names the line.

    Warns
    -----
    LangdiffWarning
        If sentences were left out; the message has their number and the lines of the first five.

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
    used = 0
    for sentence in scan(as_path(path)):
        if isinstance(sentence, Tree):
            used += 1
            tree = sentence if punctuation else sentence.without_punctuation()
            yield tree.without_subtypes() if strip_subtypes else tree
        elif strict:
            raise DataError(f"{path}, line {sentence.line}: {sentence.reason}")
        else:
            own.append(sentence)
    warn_left_out(path, own, used)
    if faults is not None:
        faults += own


def warn_left_out(path: str | Path, faults: list[Fault], used: int) -> None:
    """Warn of sentences that are not trees, if there are any."""
    if faults:
        first = "; ".join(f"line {line}: {reason}" for line, reason in faults[:5])
        warn(f"{path}: {len(faults):,} of {used + len(faults):,} sentences left out: {first}")


def read_trees(source: TreeSource) -> Iterator[Tree]:
    """Yield the trees of a file or of several files, or the trees given.

    Raises
    ------
    ConfigError
        If it is none of these, such as a `Treebank`.
    """
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


def read_sentences(path: Path) -> Iterator[Sentence]:
    """Yield the rows of each sentence of a CoNLL-U file, divided at tabs and not checked.

    Raises
    ------
    DataError
        If the file cannot be read.
    """
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
    """Return the number in an ID; None for a range (``3-4``) or an empty node (``5.1``).

    Raises
    ------
    ValueError
        If it is not a valid ID.
    """
    if _WORD.fullmatch(cell):
        return int(cell)
    span = _RANGE.fullmatch(cell)
    if not (span and int(span[1]) <= int(span[2])) and not _EMPTY.fullmatch(cell):
        raise ValueError(f"{cell[:20]!r} is not a valid ID.")
    return None


def scan(path: Path) -> Iterator[Tree | Fault]:
    """Yield every sentence as a tree, or the reason why its heads do not form a tree."""
    for sentence in read_sentences(path):
        yield sentence_tree(path, sentence.rows)


def sentence_tree(path: Path, rows: list[tuple[int, list[str]]]) -> Tree | Fault:
    """Return the tree of the rows of a sentence, or the reason why its heads do not form one."""
    places: dict[int, int] = {0: 0}  # ID → position
    words = []
    for number, cells in rows:
        try:
            word = _word(cells, last=next(reversed(places)))
        except ValueError as error:  # also of Python, which reads no number of thousands of digits
            raise DataError(f"{path}, line {number}: {error}") from error
        if word is not None:
            places[word[0]] = len(places)
            words.append(word)
    start = rows[0][0]
    heads = tuple(places.get(head, -1) for _, _, _, head, _ in words)
    try:
        return Tree(
            forms=tuple(form for _, form, _, _, _ in words),
            upos=tuple(upos for _, _, upos, _, _ in words),
            heads=heads,
            deprels=tuple(deprel for _, _, _, _, deprel in words),
            line=start,
        )
    except DataError as error:
        return Fault(start, str(error))


def _word(cells: list[str], last: int) -> tuple[int, str, str, int, str] | None:
    """Return ID, FORM, UPOS, HEAD and DEPREL of a row, None of a range or an empty node."""
    if len(cells) < COLUMNS:
        raise ValueError(f"{len(cells)} column(s) separated by tabs; CoNLL-U has 10, and {COLUMNS} are needed.")
    number = word_number(cells[0])
    if number is None:
        return None
    if number <= last:
        raise ValueError(f"ID {cells[0]!r} comes after {last}; IDs rise from 1 (is a blank line missing?).")
    form, upos, head, deprel = (_SPACES.sub(" ", cells[place]) for place in (1, 3, 6, 7))
    if not _INTEGER.fullmatch(head) or len(head) > DIGITS:
        raise ValueError(f"HEAD {head[:20]!r} is not an integer; 0 marks the root.")
    return number, form, upos, int(head), deprel

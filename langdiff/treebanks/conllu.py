"""Reading CoNLL-U, one sentence at a time."""

import os
import re
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from conllu.exceptions import ParseException
from conllu.parser import DEFAULT_FIELDS, parse_id_value, parse_int_value, parse_line

from langdiff.base.io import as_path, read_lines
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from langdiff.treebanks.tree import Tree

COLUMNS = 8  # ID to DEPREL; the last two are not used
TreeSource = str | Path | Iterable[str | Path | Tree]
_PARSERS: dict[str, Any] = {"id": lambda cells, i: parse_id_value(cells[i])}  # other columns are kept as text


class Fault(NamedTuple):
    """Why a sentence is not used: the line at which it begins, and what is wrong."""

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
    if own:
        first = "; ".join(f"line {line}: {reason}" for line, reason in own[:5])
        warnings.warn(
            f"{path}: {len(own):,} of {used + len(own):,} sentences left out: {first}", LangdiffWarning, stacklevel=2
        )
    if faults is not None:
        faults += own


def read_trees(source: TreeSource) -> Iterator[Tree]:
    """Yield the trees of a file, of several files, or those given.

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


def scan(path: Path) -> Iterator[Tree | Fault]:
    """Yield every sentence as a tree, or as the reason why it is not one."""
    rows: list[tuple[int, str]] = []
    for number, line in read_lines(path):
        if line.startswith("#"):
            continue
        if line and not line.isspace():
            rows.append((number, line))
        elif rows:
            yield _sentence(path, rows)
            rows = []
    if rows:  # the last blank line is missing
        yield _sentence(path, rows)


def _sentence(path: Path, rows: list[tuple[int, str]]) -> Tree | Fault:
    places: dict[int, int] = {0: 0}  # ID → position
    words = []
    for number, row in rows:
        try:
            word = _word(row, last=next(reversed(places)))
        except (ParseException, ValueError) as error:  # ValueError: Python reads no number of thousands of digits
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


def _word(row: str, last: int) -> tuple[int, str, str, int, str] | None:
    """Return ID, FORM, UPOS, HEAD and DEPREL of a row, None of a range or an empty node."""
    columns = row.count("\t") + 1
    if columns < COLUMNS:
        raise ParseException(f"{columns} column(s) separated by tabs; CoNLL-U has 10, and {COLUMNS} are needed.")
    # the parser also takes two spaces for a tab, but a word may contain them
    token = parse_line(re.sub(" {2,}", " ", row), DEFAULT_FIELDS, _PARSERS)
    number = token["id"]
    if isinstance(number, tuple):
        return None
    if number is None or number <= last:
        raise ParseException(
            f"ID {row.partition(chr(9))[0]!r} comes after {last}; IDs rise from 1 (is a blank line missing?)."
        )
    try:
        head = parse_int_value(token["head"])
    except (ParseException, ValueError):
        head = None
    if head is None:
        raise ParseException(f"HEAD {token['head'][:20]!r} is not an integer; 0 marks the root.")
    return number, token["form"], token["upos"], head, token["deprel"]

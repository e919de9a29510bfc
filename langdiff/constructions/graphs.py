"""Sentences of CoNLL-U with features, heads, and the enhanced graph of DEPS."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from langdiff.base.io import as_path
from langdiff.errors import DataError
from langdiff.treebanks.conllu import Sentence, read_sentences, word_number

COLUMNS = 10
ELSEWHERE = -2  # the head of a word whose head is in another sentence of the gold set; no rule matches it
SENT_ID = "# sent_id ="
_EDGE = re.compile(r"([0-9]+(?:[.-][0-9]+)?)((?::[^\d:_\-|][^:|]*)+)")  # 4:nsubj, 8.1:nmod:of


class Word(NamedTuple):
    """A word of a sentence; positions count from 0, and -1 is the head of the root, -2 (`ELSEWHERE`) one outside."""

    form: str
    lemma: str
    upos: str
    xpos: str
    features: dict[str, str]
    head: int
    deprel: str
    enhanced: tuple[tuple[str, str], ...]  # (head, relation) of every edge in DEPS; an empty node is "8.1"


@dataclass(frozen=True, slots=True)
class Graph:
    """A sentence with its tree and its enhanced graph.

    Attributes
    ----------
    item : str
        Its ``sent_id``; empty if it has none.
    line : int
        Line at which it begins.
    words : tuple of Word
        Words in order.
    surface : tuple of (str, tuple of int)
        Tokens as they are written, each with the positions of its words: several for a range such as ``3-4``.
    empty : tuple of (str, tuple)
        Empty nodes, each with its name (``8.1``) and its edges in DEPS.
    """

    item: str
    line: int
    words: tuple[Word, ...]
    surface: tuple[tuple[str, tuple[int, ...]], ...]
    empty: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]

    @property
    def forms(self) -> tuple[str, ...]:
        """Words without spaces in them, as files of sentences need them."""
        return tuple(word.form.replace(" ", "") for word in self.words)

    def triples(self, graph: str) -> tuple[str, ...]:
        """Return lines ``head relation dependent`` of the ``"basic"`` tree or the ``"enhanced"`` graph."""
        if graph == "basic":
            return tuple(f"{word.head} {word.deprel} {place}" for place, word in enumerate(self.words))
        nodes = [(str(place), word.enhanced) for place, word in enumerate(self.words)] + list(self.empty)
        return tuple(f"{head} {relation} {name}" for name, edges in nodes for head, relation in edges)


def read_graphs(path: str | Path, *, named: bool = True) -> Iterator[Graph]:
    r"""Yield the sentences of a CoNLL-U file.

    Parameters
    ----------
    path : str or Path
        CoNLL-U file, plain or compressed.
    named : bool
        Whether every sentence needs a ``sent_id``.

    Yields
    ------
    Graph
        Sentences in the order of the file.

    Raises
    ------
    DataError
        If a row is malformed, a head does not exist, or a sentence lacks the ``sent_id`` that it needs; the message
        names the line.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> rows = ["1 Dogs dog NOUN NNS _ 2 nsubj 2:nsubj _", "2 bark bark VERB VBP _ 0 root 0:root _"]
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "dogs.conllu"
    ...     _ = path.write_text("\n".join(["# sent_id = d1", *(row.replace(" ", "\t") for row in rows)]))
    ...     [graph.triples("enhanced") for graph in read_graphs(path)]
    [('1 nsubj 0', '-1 root 1')]
    """
    for sentence in read_sentences(as_path(path)):
        yield _graph(path, sentence, named)


def _graph(path: str | Path, sentence: Sentence, named: bool) -> Graph:
    start = sentence.rows[0][0]
    for number, cells in sentence.rows:
        if len(cells) != COLUMNS:
            raise DataError(f"{path}, line {number}: {len(cells)} columns separated by tabs; CoNLL-U has 10.")
    items = [line.removeprefix(SENT_ID).strip() for line in sentence.comments if line.startswith(SENT_ID)]
    if named and not (items and items[-1]):
        raise DataError(f"{path}, line {start}: the sentence has no sent_id, by which items are found.")
    words: list[Word] = []
    ranges: list[tuple[str, int, int]] = []
    empty = []
    ids = [cells[0] for _, cells in sentence.rows if cells[0].isdigit()]
    if ids != [str(place) for place in range(1, len(ids) + 1)]:
        raise DataError(f"{path}, line {start}: the IDs of words are not 1, 2, 3, …; is a blank line missing?")
    for number, cells in sentence.rows:
        try:
            is_word = word_number(cells[0]) is not None
            edges = _edges(cells[8], len(ids))
            if is_word:
                words.append(_word(cells, edges, len(ids)))
            elif "-" in cells[0]:
                first, last = map(int, cells[0].split("-"))
                ranges.append((cells[1], first - 1, last - 1))
            else:
                empty.append((cells[0], edges))
        except ValueError as error:
            raise DataError(f"{path}, line {number}: {error}") from error
    return Graph(items[-1] if items else "", start, tuple(words), _surface(words, ranges), tuple(empty))


def _word(cells: list[str], edges: tuple[tuple[str, str], ...], count: int) -> Word:
    head = int(cells[6]) if cells[6].isdigit() else -1
    if not (cells[6].isdigit() and head <= count):
        raise ValueError(f"HEAD {cells[6][:20]!r} is not the number of a word; 0 marks the root.")
    _, form, lemma, upos, xpos = cells[:5]
    pairs = [part.partition("=") for part in cells[5].split("|")]
    features = {name: "" if value == "_" else value for name, _, value in pairs if name not in ("", "_")}
    return Word(form, lemma, upos, xpos, features, head - 1, cells[7], edges)


def _edges(cell: str, count: int) -> tuple[tuple[str, str], ...]:
    """Return (head, relation) of every edge in DEPS, positions from 0."""
    edges = []
    for part in cell.split("|") if cell != "_" else ():
        match = _EDGE.fullmatch(part)
        if match is None:
            raise ValueError(f"DEPS {cell[:30]!r} is not made of head:relation, joined by |.")
        number = word_number(match[1])
        if number is not None and number > count:
            raise ValueError(f"DEPS names word {number}, which does not exist.")
        edges.append((match[1] if number is None else str(number - 1), match[2][1:]))
    return tuple(edges)


def _surface(words: list[Word], ranges: list[tuple[str, int, int]]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    inside = {place for _, first, last in ranges for place in range(first, last + 1)}
    tokens: list[tuple[str, tuple[int, ...]]] = [
        (word.form, (place,)) for place, word in enumerate(words) if place not in inside
    ]
    tokens += [(form, tuple(range(first, last + 1))) for form, first, last in ranges]
    return tuple(sorted(tokens, key=lambda token: token[1]))

"""Sentences of CoNLL-U with their enhanced graphs, and where their words are in text divided another way."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from langdiff.base.io import as_path
from langdiff.errors import DataError, warn
from langdiff.treebanks.conllu import Sentence, read_sentences, word_number

COLUMNS = 10
ELSEWHERE = -2  # the head of a word whose head is in another sentence of the gold set; no rule matches it
SENT_ID = "# sent_id ="
_EDGE = re.compile(r"([0-9]+(?:[.-][0-9]+)?)((?::[^\d:_\-|][^:|]*)+)")  # 4:nsubj, 8.1:nmod:of
# Relations and features of Universal Dependencies, without subtypes
CONTENT = frozenset([
    "acl", "advcl", "advmod", "amod", "appos", "ccomp", "compound", "conj", "csubj", "dep", "discourse",
    "dislocated", "expl", "fixed", "flat", "goeswith", "iobj", "list", "nmod", "nsubj", "nummod", "obj", "obl",
    "orphan", "parataxis", "reparandum", "root", "vocative", "xcomp",
])  # fmt: skip
FUNCTION = frozenset(["aux", "case", "cc", "clf", "cop", "det", "mark"])
FEATURES = frozenset([
    "Abbr", "Animacy", "Aspect", "Case", "Definite", "Degree", "Evident", "Foreign", "Gender", "Mood",
    "NumType", "Number", "Person", "Polarity", "Polite", "Poss", "PronType", "Reflex", "Tense", "VerbForm",
    "Voice",
])  # fmt: skip
Token = tuple[str, tuple[int, ...]]  # what is written, and the positions of its words
Span = tuple[int, int, int]  # first character, last + 1, position of the word
# How the Penn Treebank's parsers write brackets and quotation marks
_ESCAPES = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
    "``": '"',
    "''": '"',
}
_QUOTES = str.maketrans("“”", '""')


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


def plain(word: str) -> str:
    """Return a word as words are compared: without spaces and case, with one kind of quotation marks.

    Examples
    --------
    >>> plain("-LRB-"), plain("“"), plain("New York")
    ('(', '"', 'newyork')
    """
    return _ESCAPES.get(word, "".join(word.split())).translate(_QUOTES).casefold()


def spans_of(tokens: Sequence[Token], forms: Sequence[str]) -> tuple[str, list[Span]]:
    """Return the characters of tokens and the span of each word among them.

    Where the words of a token do not add up to it, each has the span of the whole token.

    Examples
    --------
    >>> spans_of([("can", (0,)), ("du", (1, 2))], ["can", "de", "le"])
    ('candu', [(0, 3, 0), (3, 5, 1), (3, 5, 2)])
    """
    spans: list[Span] = []
    text = ""
    for token, positions in tokens:
        written = plain(token)
        parts = [plain(forms[position]) for position in positions]
        start, end = len(text), len(text) + len(written)
        for part, position in zip(parts, positions, strict=True):
            if "".join(parts) == written:
                spans.append((start, start + len(part), position))
                start += len(part)
            else:
                spans.append((start, end, position))
        text += written
    return text, spans


class Stream:
    """The whole output of a parser as one text without spaces, with the place of each word.

    Parameters
    ----------
    graphs : iterable of Graph
        The parser's sentences, in the order of the text.
    """

    def __init__(self, graphs: Iterable[Graph]) -> None:
        self._graphs = tuple(graphs)
        self._first_words = [0, *accumulate(len(graph.words) for graph in self._graphs)]
        self._firsts: list[int] = []  # character at which each word begins
        self._lasts: list[int] = []
        texts: list[str] = []
        place = 0
        for graph in self._graphs:
            text, spans = spans_of(graph.surface, graph.forms)
            self._firsts += [place + first for first, _, _ in spans]
            self._lasts += [place + last for _, last, _ in spans]
            texts.append(text)
            place += len(text)
        self._text = "".join(texts)
        self._begins, self._ends = set(self._firsts), set(self._lasts)
        self._sentences = {0, *accumulate(map(len, texts))}

    def find(self, texts: Mapping[str, str], wanted: Collection[str]) -> dict[str, Graph]:
        """Return what the parser says of some sentences of a gold set."""
        alike: dict[str, list[str]] = {}
        for item, text in texts.items():
            alike.setdefault(text, []).append(item)
        places: dict[str, int] = {}
        for text, items in alike.items():
            for starts in self._occurrences(text):
                if len(starts) == len(items):
                    places |= dict(zip(items, starts, strict=True))
                    break
        places = _apart(places, texts)
        end = -1
        for item, text in texts.items():  # of texts that come more often: the one after the sentence before
            if item not in places and end >= 0 and text and self._text.startswith(text, end):
                places[item] = end
            end = places[item] + len(text) if item in places else -1
        for text, items in alike.items():
            missing = [item for item in items if item in wanted and item not in places]
            found = [start for start in self._occurrences(text)[1] if missing and start + len(text) in self._sentences]
            same = [self._piece("", start, len(text)) for start in found]
            if len(found) > len(items) and len({(own.triples("basic"), own.triples("enhanced")) for own in same}) == 1:
                places |= dict.fromkeys(missing, found[0])
            elif len(found) > len(items):
                found_of = f"item {missing[0]!r} stands {len(found)} times in the output, with unlike analyses"
                warn(f"{found_of}, and has none; give the sentence before it, too.")
        places = _apart(places, texts)
        pieces = {item: self._piece(item, places[item], len(texts[item])) for item in wanted if item in places}
        # a word that reaches into the next sentence belongs to neither
        return {item: own for item, own in pieces.items() if spans_of(own.surface, own.forms)[0] == texts[item]}

    def _occurrences(self, text: str) -> tuple[list[int], ...]:
        """Return the places of a text by three rules: between words, at the beginning of a sentence, and anywhere."""
        found = []
        place = self._text.find(text) if text else -1
        while place >= 0:
            found.append(place)
            place = self._text.find(text, place + 1)
        between = [start for start in found if start in self._begins and start + len(text) in self._ends]
        return between, [start for start in found if start in self._sentences], found

    def _piece(self, item: str, first: int, characters: int) -> Graph:
        """Return the words that overlap some characters as one sentence."""
        begin = bisect_right(self._lasts, first)
        end = bisect_left(self._firsts, first + characters)
        numbers = range(bisect_right(self._first_words, begin) - 1, bisect_left(self._first_words, end))
        parts = [_part(self._graphs[number], self._first_words[number] - begin, end - begin) for number in numbers]
        return replace(
            parts[0],
            item=item,
            words=tuple(word for part in parts for word in part.words),
            surface=tuple(token for part in parts for token in part.surface),
            empty=tuple(node for part in parts for node in part.empty),
        )


def _apart(places: Mapping[str, int], texts: Mapping[str, str]) -> dict[str, int]:
    """Return the places of texts without those within a longer text, whose words are of that text alone.

    Examples
    --------
    >>> _apart({"s1": 7, "s2": 0, "s3": 12}, {"s1": "stop!", "s2": "hesaid:stop!", "s3": "no."})
    {'s2': 0, 's3': 12}
    """
    spans = {item: (first, first + len(texts[item])) for item, first in places.items()}
    outer, furthest = set(), -1
    for first, last in sorted(set(spans.values()), key=lambda span: (span[0], -span[1])):
        if last > furthest:
            outer.add((first, last))
            furthest = last
    return {item: first for item, first in places.items() if spans[item] in outer}


def _part(graph: Graph, shift: int, length: int) -> Graph:
    """Return the words of a sentence whose positions, moved by `shift`, are below `length`."""

    def edges(given: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        return tuple((_moved(head, shift, length), relation) for head, relation in given)

    words = [
        word._replace(head=int(_moved(str(word.head), shift, length)), enhanced=edges(word.enhanced))
        for place, word in enumerate(graph.words, shift)
        if 0 <= place < length
    ]
    tokens = [
        (token, tuple(place + shift for place in own if 0 <= place + shift < length)) for token, own in graph.surface
    ]
    nodes = [(_moved(name, shift, length), edges(own)) for name, own in graph.empty]
    return replace(
        graph,
        words=tuple(words),
        surface=tuple((token, own) for token, own in tokens if own),
        empty=tuple(node for node in nodes if node[0] != str(ELSEWHERE)),
    )


def _moved(node: str, shift: int, length: int) -> str:
    """Return the name of a node of the enhanced graph in a sentence that begins `shift` words later.

    Examples
    --------
    >>> _moved("3", 10, 20), _moved("-1", 10, 20), _moved("4.1", 10, 20), _moved("3", 10, 12)
    ('13', '-1', '14.1', '-2')
    """
    number, point, minor = node.partition(".")
    place = int(number)
    if not point:
        return node if place < 0 else str(place + shift) if 0 <= place + shift < length else str(ELSEWHERE)
    # 8.1 comes after the word that CoNLL-U calls 8
    return f"{place + shift}.{minor}" if 0 <= place + shift <= length else str(ELSEWHERE)

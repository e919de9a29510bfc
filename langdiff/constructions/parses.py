"""Output of a parser: its lines of dependencies by item, in one of four shapes, and the alignment of its words."""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, cast, get_args

from langdiff.base.io import as_paths, read_lines
from langdiff.base.signature import short_hash
from langdiff.constructions.gold import read_sentences
from langdiff.constructions.graphs import Graph, Stream, Token, plain, read_graphs, spans_of
from langdiff.errors import ConfigError, DataError, Fault, FaultsError, listing

ShapeName = Literal["gr", "stanford", "triples", "conllu"]
GraphName = Literal["basic", "enhanced"]


def align(item: str, words: Sequence[str], tokens: Sequence[Token], forms: Sequence[str]) -> list[tuple[int, ...]]:
    """Return the positions of the parser's words that overlap each word of the sentence.

    Examples
    --------
    >>> tokens = [("can", (0,)), ("not", (1,)), ("go", (2,)), (".", (3,))]
    >>> align("a", ["cannot", "go."], tokens, ["can", "not", "go", "."])
    [(0, 1), (2, 3)]
    """
    ours = [plain(word) for word in words]
    text, theirs = spans_of(tokens, forms)
    wanted = "".join(ours)
    if text != wanted:
        same = next(
            (i for i, (a, b) in enumerate(zip(text, wanted, strict=False)) if a != b), min(map(len, (text, wanted)))
        )
        raise DataError(
            f"item {item!r}: the parser's words are not those of the sentence; they differ after {same} characters "
            f"(spaces aside): {text[same : same + 15]!r}, but the sentence has {wanted[same : same + 15]!r}."
        )
    aligned = []
    place = 0
    for word in ours:
        end = place + len(word)
        aligned.append(tuple(position for first, last, position in theirs if first < end and last > place))
        place = end
    return aligned


class Shape(NamedTuple):
    """How positions of words appear in a parser's lines."""

    node: str  # regular expression of a node; # stands for the position
    joined: str | None  # the same for a node whose word is given in place of @
    first: int  # number of the first word


# Nodes of triples must not match within -1, the head of the root, nor within 8.1, an empty node. A comma may be part
# of a word, as in year,-8; Stanford's copies of words end in '.
_TRIPLES = Shape(r"(?<![\w.+-])#(?![\w.])", None, 0)
SHAPES: dict[str, Shape] = {
    "gr": Shape(r"[^\s()]+_#(?!\d)", r"@_#(?!\d)", 0),
    "stanford": Shape(r"[^\s()]+-#(?!\d)'*", r"@-#(?!\d)'*", 1),
    "triples": _TRIPLES,
    "conllu": _TRIPLES,
}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Parses:
    """Analyses by one parser.

    Attributes
    ----------
    name : str
        Name of the parser.
    shape : str
        Shape of the lines, ``"gr"``, ``"stanford"``, ``"triples"`` or ``"conllu"``.
    blocks : mapping from str to tuple of str
        Lines of dependencies by item; no lines for an analysis without dependencies.
    tokens : mapping from str to tuple
        The parser's tokens by item, each with the positions of its words; empty where they are those of the sentence.
    forms : mapping from str to tuple of str
        The parser's words by item.
    lines : mapping from str to int
        Line of the file at which each block begins.
    by_text : frozenset of str
        Items that were found by their text, not by ``sent_id``.
    are_trees : bool
        Whether the lines are those of basic trees, in which a word has one head.
    """

    name: str
    shape: ShapeName
    blocks: Mapping[str, tuple[str, ...]]
    tokens: Mapping[str, tuple[Token, ...]] = field(default_factory=dict)
    forms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    by_text: frozenset[str] = frozenset()
    are_trees: bool = False

    def positions(self, item: str, words: tuple[str, ...]) -> list[tuple[int, ...]]:
        """Return the positions, from 0, of the parser's words for each word of a sentence.

        Parameters
        ----------
        item : str
            Identifier of the sentence.
        words : tuple of str
            Words of the gold sentence.

        Returns
        -------
        list of tuple of int

        Raises
        ------
        DataError
            If the parser's words have other characters than the sentence.
        """
        if item not in self.tokens:
            return [(place,) for place in range(len(words))]
        return align(item, words, self.tokens[item], self.forms[item])

    def last_position(self, item: str) -> int:
        """Return the last position, from 0, that a dependency of an item names; -1 if none does or the words are known.

        Parameters
        ----------
        item : str
            Identifier of the sentence.

        Returns
        -------
        int
        """
        if item in self.tokens:
            return -1
        shape = SHAPES[self.shape]
        node = re.compile(shape.node.replace("#", r"(\d+)"))
        numbers = [int(number) for line in self.blocks[item] for number in node.findall(line)]
        return max(numbers, default=shape.first - 1) - shape.first

    @property
    def digest(self) -> str:
        """Hash of all lines, for signatures."""
        return short_hash(self.shape, {item: list(lines) for item, lines in sorted(self.blocks.items())})

    def __repr__(self) -> str:
        """Return a line with the numbers of blocks and lines."""
        lines = sum(map(len, self.blocks.values()))
        return f"Parses {self.name!r} ({self.shape}): {len(self.blocks):,} items, {lines:,} dependencies"


def read_parses(
    path: str | Path | Iterable[str | Path],
    shape: ShapeName | None = None,
    *,
    name: str | None = None,
    graph: GraphName = "basic",
    tokens: str | Path | None = None,
    items: Container[str] | None = None,
) -> Parses:
    r"""Read the output of a parser.

    Parameters
    ----------
    path : str, Path or iterable of them
        File or files of blocks, each a line ``# item`` and the parser's own lines after it; or CoNLL-U, whose items are
        found by ``sent_id`` or by their text (see `items`). Plain or compressed.
    shape : str, optional
        Shape of the lines; by default the ending of the first file, such as ``mine.gr`` or ``mine.conllu.gz``.
        ``"gr"``: ``(ncsubj passed_4 Act_1 _)``, positions from 0. ``"stanford"``: ``nsubj(passed-5, act-2)``,
        positions from 1. ``"triples"``: ``4 ARG1 1``, positions from 0. ``"conllu"``: columns, read as triples.
    name : str, optional
        Name of the parser; by default that of the first file.
    graph : str
        CoNLL-U only: the ``"basic"`` tree of HEAD and DEPREL, or the ``"enhanced"`` graph of DEPS.
    tokens : str or Path, optional
        The parser's own words, in the layout of files of sentences, if it divides sentences in another way. CoNLL-U
        has them.
    items : container of str, optional
        Items to keep, of a file that has many more; by default all. If it is a mapping from items to their words, such
        as the sentences of a gold set, items of CoNLL-U without such a ``sent_id``, or with other words under it, are
        found by their characters: sentences of the parser that lie in one of the gold set are joined, one that
        spans several is cut, and a dependency across the cut counts for neither. A sentence whose text comes more
        often in one of the two than in the other is found if it follows the sentence before it, or has the same
        analysis wherever it comes.

    Returns
    -------
    Parses
        Lines by item.

    Raises
    ------
    DataError
        If a line stands before the first item, an item comes twice, CoNLL-U is malformed, has no ``sent_id`` and
        `items` has no words, or has no enhanced graph though it is asked for, or `tokens` lacks an item; the message
        names the line or the item.
    ConfigError
        If the shape or the graph is unknown, no ending names the shape, or `tokens` is given for CoNLL-U.

    Warns
    -----
    LangdiffWarning
        If a sentence comes more often in the output than in `items`, with unlike analyses; it has none then.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "mine.gr"
    ...     _ = path.write_text("# v1\n(dobj carried_1 plan_4)\n# v2\n")
    ...     parses = read_parses(path)
    >>> parses
    Parses 'mine' (gr): 2 items, 1 dependencies
    >>> parses.blocks
    {'v1': ('(dobj carried_1 plan_4)',), 'v2': ()}
    """
    if shape is not None and shape not in SHAPES:
        raise ConfigError(f"unknown shape {shape!r}; known are {', '.join(SHAPES)}.")
    if graph not in ("basic", "enhanced"):
        raise ConfigError(f"unknown graph {graph!r}; it is 'basic' or 'enhanced'.")
    files = as_paths(path)
    if not files:
        raise ConfigError("no file is given; name at least one.")
    shape = shape or _shape_of(files[0])
    name = name or re.sub(r"\.(gz|bz2|xz)$", "", files[0].name).rsplit(".", 1)[0]
    if shape == "conllu":
        if tokens is not None:
            raise ConfigError("tokens are read from the CoNLL-U file itself; leave tokens out.")
        return _read_conllu(files, name, graph, items)
    faults: list[Fault] = []
    words = {} if tokens is None else read_sentences(tokens, faults)[0]
    if faults:
        raise FaultsError(faults)
    blocks, lines = _read_blocks(files)
    if items is not None:
        blocks = {item: block for item, block in blocks.items() if item in items}
    if tokens is not None and (lacking := [item for item in blocks if item not in words]):
        raise DataError(f"{tokens}: no words for {len(lacking)} items of {files[0]}: {listing(lacking)}.")
    alone = {item: tuple((word, (place,)) for place, word in enumerate(forms)) for item, forms in words.items()}
    return Parses(name=name, shape=shape, blocks=blocks, tokens=alone, forms=words, lines=lines)


def _shape_of(path: Path) -> ShapeName:
    for shape in get_args(ShapeName):
        if f".{shape}" in path.suffixes:
            return cast(ShapeName, shape)
    raise ConfigError(f"{path}: the ending says the shape of the lines; use .gr, .stanford, .triples or .conllu.")


def _read_blocks(files: Sequence[Path]) -> tuple[dict[str, tuple[str, ...]], dict[str, int]]:
    blocks: dict[str, list[str]] = {}
    lines: dict[str, int] = {}
    for path in files:
        item = ""
        for number, line in read_lines(path):
            if line.startswith("#"):
                item = line[1:].strip()
                if not item:
                    raise DataError(f"{path}, line {number}: no item after '#'.")
                _refuse_second(path, number, item, lines)
                blocks[item], lines[item] = [], number
            elif line.strip():
                if not item:
                    raise DataError(f"{path}, line {number}: a dependency before the first line '# item'.")
                blocks[item].append(line.strip())
    return {key: tuple(block) for key, block in blocks.items()}, lines


def _read_conllu(files: Sequence[Path], name: str, graph: GraphName, items: Container[str] | None) -> Parses:
    found: dict[str, Graph] = {}
    lines: dict[str, int] = {}
    words = items if isinstance(items, Mapping) else None
    unnamed: list[Graph] = []  # the text, as long as none of its sentences is called as one of the items
    for path in files:
        for sentence in read_graphs(path, named=words is None):
            item = sentence.item
            if words is not None and not found:
                unnamed.append(sentence)
            if not item or (items is not None and item not in items):
                continue
            _refuse_second(path, sentence.line, item, lines)
            found[item], lines[item] = sentence, sentence.line
    by_text = {} if words is None else find_by_text(files, words, found, () if found else unnamed)
    found |= by_text
    blocks = {item: own.triples(graph) for item, own in found.items()}
    if graph == "enhanced" and blocks and not any(blocks.values()):
        raise DataError(f"{files[0]}: column DEPS is empty throughout; there is no enhanced graph.")
    return Parses(
        name=name,
        shape="conllu",
        blocks=blocks,
        tokens={item: own.surface for item, own in found.items()},
        forms={item: own.forms for item, own in found.items()},
        lines={item: own.line for item, own in found.items()},
        by_text=frozenset(by_text),
        are_trees=graph == "basic",
    )


def find_by_text(
    files: Sequence[Path],
    words: Mapping[str, Sequence[str]],
    by_name: Mapping[str, Graph],
    sentences: Sequence[Graph] = (),
) -> dict[str, Graph]:
    """Return the analyses of items that CoNLL-U has under no or another ``sent_id``, found by their characters."""
    texts = {item: "".join(map(plain, own)) for item, own in words.items()}
    wanted = {
        item: text
        for item, text in texts.items()
        if item not in by_name or spans_of(by_name[item].surface, by_name[item].forms)[0] != text
    }
    if not wanted:
        return {}
    stream = Stream(sentences or (graph for path in files for graph in read_graphs(path, named=False)))
    return stream.find(texts, wanted)


def _refuse_second(path: Path, number: int, item: str, lines: Mapping[str, int]) -> None:
    if item in lines:
        raise DataError(f"{path}, line {number}: a second block for item {item!r}; the first is in line {lines[item]}.")

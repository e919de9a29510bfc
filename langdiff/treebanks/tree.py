"""Dependency trees of sentences: words, parts of speech, heads and relations, and conversions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from langdiff.errors import DataError

RAISED = ("case", "mark")  # relations of words that become heads, inner before outer
RAISED_UPOS = ("ADP", "SCONJ")


@dataclass(frozen=True, slots=True)
class Tree:
    """The dependency tree of a sentence, of words alone: no ranges and no empty nodes.

    Attributes
    ----------
    forms, upos, deprels : tuple of str, length n
        FORM, UPOS and DEPREL of every word, in text order.
    heads : tuple of int, length n
        Position of every word's head, from 1; 0 for the root word. (CoNLL-U numbers words likewise,
        but may leave numbers out; positions have no gaps.)
    line : int
        Line of the file at which the sentence begins; 0 if it comes from none.

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

    def __post_init__(self) -> None:
        if not len(self.forms) == len(self.upos) == len(self.heads) == len(self.deprels):
            raise DataError("forms, upos, heads and deprels of a tree must have the same length.")
        fault = _fault(self.heads)
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
        )

    def is_punctuation(self, word: int) -> bool:
        """Return whether the relation of a word, numbered from 1, is ``punct`` or a subtype of it."""
        return self.deprels[word - 1].partition(":")[0] == "punct"

    def _kept_head(self, word: int, places: dict[int, int]) -> int:
        head = self.heads[word - 1]
        while head not in places:
            head = self.heads[head - 1]
        return head


def _fault(heads: Sequence[int]) -> str | None:
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
    return _cycle(heads)


def _cycle(heads: Sequence[int]) -> str | None:
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

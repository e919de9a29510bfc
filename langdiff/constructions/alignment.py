"""Which words of a parser stand for which words of the sentence: alignment by characters without spaces."""

from collections.abc import Sequence

from langdiff.errors import DataError

Token = tuple[str, tuple[int, ...]]  # what is written, and the positions of its words

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


def align(item: str, words: Sequence[str], tokens: Sequence[Token], forms: Sequence[str]) -> list[tuple[int, ...]]:
    """Return the positions of the parser's words that overlap each word of the sentence.

    Parameters
    ----------
    item : str
        Identifier of the sentence, for the message.
    words : sequence of str
        Words of the gold sentence.
    tokens : sequence of (str, tuple of int)
        The parser's tokens as they are written, each with the positions of its words.
    forms : sequence of str
        The parser's words by position. Where those of a token of several words do not add up to it, each
        stands for all of it.

    Returns
    -------
    list of tuple of int
        Positions, from 0, for each word of the sentence.

    Raises
    ------
    DataError
        If the characters of the two differ.

    Examples
    --------
    >>> tokens = [("can", (0,)), ("not", (1,)), ("go", (2,)), (".", (3,))]
    >>> align("a", ["cannot", "go."], tokens, ["can", "not", "go", "."])
    [(0, 1), (2, 3)]
    """
    ours = [_plain(word) for word in words]
    theirs: list[tuple[int, int, int]] = []  # first character, last + 1, position
    text = ""
    for token, positions in tokens:
        written = _plain(token)
        parts = [_plain(forms[position]) for position in positions]
        start, end = len(text), len(text) + len(written)
        for part, position in zip(parts, positions, strict=True):
            if "".join(parts) == written:
                theirs.append((start, start + len(part), position))
                start += len(part)
            else:
                theirs.append((start, end, position))
        text += written
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


def _plain(word: str) -> str:
    return _ESCAPES.get(word, "".join(word.split())).translate(_QUOTES).casefold()

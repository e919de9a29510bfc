"""Division of long texts into windows, and scoring of windows in batches that fit into memory."""

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from langdiff.base.types import Floats
from langdiff.lm.lstm.batches import rows_by_length

LOGITS_AT_ONCE = 1 << 26  # elements, 256 MB

logger = logging.getLogger(__name__)


class Window(NamedTuple):
    """Stretch of a text: `targets` follow `inputs` one by one; those before `first` were scored before.

    The first target is symbol number `begin` of the text, which is number `row`.
    """

    row: int
    begin: int
    inputs: list[int]
    targets: list[int]
    first: int
    last: bool


def cut_windows(row: int, ids: list[int], *, start: int, end: int, size: int | None, overlap: int) -> Iterator[Window]:
    """Divide a text, with its end, into windows that each begin with the start token.

    Parameters
    ----------
    row : int
        Number of the text.
    ids : list of int
        Its tokens, without start and end.
    start, end : int
        Tokens before each window and after the text.
    size : int, optional
        Tokens in a window, the start token included; by default the text is one window.
    overlap : int
        Tokens of the text that a window has in common with the next, fewer than `size`.

    Examples
    --------
    >>> for window in cut_windows(0, [5, 6, 7], start=0, end=1, size=3, overlap=1):
    ...     print(window.inputs, window.targets, window.first)
    [0, 5, 6] [5, 6, 7] 0
    [0, 7] [7, 1] 1
    """
    symbols = [*ids, end]
    size = size or len(symbols)
    begin = scored = 0
    while scored < len(symbols):
        targets = symbols[begin : begin + size]
        last = begin + size >= len(symbols)
        yield Window(row, begin, [start, *targets[:-1]], targets, scored - begin, last)
        scored = begin + size
        begin = scored - overlap


class Batches:
    """Batches of windows of similar length, smaller once memory has run out.

    Parameters
    ----------
    vocabulary_size : int
        Logits that the model gives for each token.
    name : str
        Name of the model, for the log.
    """

    def __init__(self, vocabulary_size: int, name: str) -> None:
        self._vocabulary_size, self._name = vocabulary_size, name
        self._logits_at_once = LOGITS_AT_ONCE  # fewer once memory has run out

    def scored(
        self, windows: Sequence[Window], score: Callable[[list[Window]], list[Floats]], *, most_windows: int
    ) -> Iterator[tuple[Window, Floats]]:
        """Yield every window with its score, in no particular order.

        Parameters
        ----------
        windows : sequence of Window
            What to score.
        score : callable
            Scores of a batch; it is called again with each half of a batch that does not fit into memory.
        most_windows : int
            Windows in a batch at most.
        """
        waiting = list(self._of(windows, most_windows))
        while waiting:
            batch = waiting.pop()
            try:
                found = score(batch)
            except torch.cuda.OutOfMemoryError:
                if len(batch) == 1:
                    raise
                found = None
            if found is None:  # outside of the handler, which keeps the tensors of what failed
                waiting += [batch[: len(batch) // 2], batch[len(batch) // 2 :]]
                self._ask_less(batch)
                continue
            yield from zip(batch, found, strict=True)

    def _of(self, windows: Sequence[Window], most_windows: int) -> Iterator[list[Window]]:
        lengths = np.array([len(window.inputs) for window in windows], dtype=np.int64)
        most = max(1, self._logits_at_once // self._vocabulary_size)
        for rows in rows_by_length(lengths, most_units=most, most_intents=most_windows):
            yield [windows[row] for row in rows]

    def _ask_less(self, batch: Sequence[Window]) -> None:
        """Reduce the size of further batches after one that did not fit into memory."""
        units = len(batch) * max(len(window.inputs) for window in batch)
        self._logits_at_once = min(self._logits_at_once, units * self._vocabulary_size // 2)
        torch.cuda.empty_cache()
        logger.warning("%s: out of memory: going on with at most %d tokens at once", self._name, units // 2)


def padded(rows: Sequence[list[int]], symbol: int) -> Tensor:
    """Return rows of tokens as one array with padding on the right, shape (B, T)."""
    length = max(map(len, rows))
    return torch.tensor([row + [symbol] * (length - len(row)) for row in rows])  # (B, T)

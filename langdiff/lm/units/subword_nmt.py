"""Subwords of the package subword-nmt, the segmentation of Mielke et al. (2019)."""

import io
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from langdiff.base.types import import_extra
from langdiff.errors import CheckpointError
from langdiff.lm.units.alphabet import SPACE, Alphabet
from langdiff.lm.units.bpe import BPE_RATIO, MIN_MERGE_COUNT, merges_wanted, stand_ins
from langdiff.lm.units.characters import Ids, StringUnits

_END = "</w>"  # how subword-nmt writes that a unit ends a word
_HEADER = b"#version: 0.2\n"
_CONTINUED = "@@"  # put at the end of every unit but the last of a word


@dataclass(frozen=True)
class SubwordNMTUnits(StringUnits):
    """Subwords by byte-pair encoding (Sennrich, Haddow & Birch 2016) with their authors' package.

    A unit that ends a word is another one than the same characters within a word, and holds the
    space after it; single characters exist in both forms. Beside them there is the empty word, which
    stands between two spaces, so that every string over the alphabet can be written.

    Parameters
    ----------
    alphabet : Alphabet
        The symbols of the strings.
    model : bytes
        The merges, as subword-nmt writes them to a file.

    Raises
    ------
    MissingExtraError
        If subword-nmt is not installed.
    CheckpointError
        If `model` is not a file of merges over the alphabet.

    Examples
    --------
    >>> texts = ["low lower lowest", "slow slower slowest"] * 9
    >>> units = SubwordNMTUnits.train(texts, Alphabet.from_texts(texts, min_count=1), ratio=0.5)
    >>> units.merges
    3
    >>> len(units.encode("low slow")), units.decode(units.encode("  slow low "))
    (5, '  slow low ')
    """

    model: bytes

    def __post_init__(self) -> None:
        """Check that there are merges, over this alphabet."""
        known = set(self.alphabet.symbols.translate(self._escapes)) - {SPACE}
        try:
            pairs = self._pairs
        except UnicodeDecodeError as error:
            raise CheckpointError("the merges are damaged: they are not UTF-8.") from error
        wrong = [pair for pair in pairs if len(pair) != 2 or set("".join(pair).removesuffix(_END)) - known]
        if not self.model.startswith(_HEADER) or wrong:
            raise CheckpointError(
                f"the merges are damaged, or of another text: {len(wrong)} of {len(pairs)} lines are not pairs of "
                "units over the alphabet."
            )

    @classmethod
    def train(cls, texts: Sequence[str], alphabet: Alphabet, *, ratio: float = BPE_RATIO) -> "SubwordNMTUnits":
        """Learn merges from the training texts."""
        wanted = merges_wanted(texts, alphabet, ratio)
        longest = max(len(word) for text in texts for word in text.split())
        if not wanted or longest == 1:  # subword-nmt fails where there is nothing to merge
            return cls(alphabet, _HEADER)
        learn = _import("learn_bpe")
        table = _escapes(alphabet)
        codes = io.StringIO()
        with redirect_stderr(io.StringIO()):  # it draws a bar of its own, and complains where pairs run out
            learn.learn_bpe((text.translate(table) for text in texts), codes, wanted, min_frequency=MIN_MERGE_COUNT)
        return cls(alphabet, codes.getvalue().encode())

    @cached_property
    def _pairs(self) -> tuple[list[str], ...]:
        """Two units of each merge, as in the file."""
        lines = self.model.decode().split("\n")[1:]
        return tuple(line.split(" ") for line in lines if line)

    @cached_property
    def _escapes(self) -> dict[int, str]:
        return _escapes(self.alphabet)

    @cached_property
    def _unescapes(self) -> dict[int, str]:
        return {ord(stand_in): chr(code) for code, stand_in in self._escapes.items()}

    @cached_property
    def strings(self) -> tuple[str, ...]:
        """String of each unit, with the end of a word as a space."""
        letters = self.alphabet.symbols.replace(SPACE, "")
        merged = [(left + right).replace(_END, SPACE).translate(self._unescapes) for left, right in self._pairs]
        # two merges may well spell the same unit
        return tuple(dict.fromkeys([SPACE, *letters, *(letter + SPACE for letter in letters), *merged]))

    @property
    def merges(self) -> int:
        """Number of merges; several may spell the same unit."""
        return len(self._pairs)

    @cached_property
    def _segmenter(self) -> Any:
        return _import("apply_bpe").BPE(io.StringIO(self.model.decode()), separator=_CONTINUED)

    def cut(self, text: str) -> Iterator[str]:
        """Yield the units of every word, the last with the space after it, which decoding removes from the text."""
        for word in text.split(SPACE) if text else []:
            if word and self._pairs:  # without merges, subword-nmt ends the process
                *inner, last = self._segmenter.segment_tokens([word.translate(self._escapes)])
                yield from (piece.removesuffix(_CONTINUED).translate(self._unescapes) for piece in inner)
                yield last.translate(self._unescapes) + SPACE
            else:
                yield from word[:-1]
                yield word[-1:] + SPACE

    def decode(self, ids: Sequence[int] | Ids) -> str:
        """Return the string of these ids."""
        return super().decode(ids).removesuffix(SPACE)


def _escapes(alphabet: Alphabet) -> dict[int, str]:
    """Return a replacement of text that could be mistaken for the end of a word."""
    return {ord(_END[0]): stand_ins(alphabet)[0]}


def _import(module: str) -> Any:
    return import_extra(f"subword_nmt.{module}", "subword-nmt is not installed: pip install 'langdiff[subword-nmt]'.")

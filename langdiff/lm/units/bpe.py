"""Subwords learned by byte-pair encoding, with SentencePiece or with subword-nmt."""

import io
import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

from langdiff.base.types import import_extra
from langdiff.errors import CheckpointError, ConfigError, DataError, TrainingError
from langdiff.lm.units.alphabet import SPACE, Alphabet
from langdiff.lm.units.characters import Ids, StringUnits, refuse_outside

BPE_RATIO = 0.4  # merges per distinct word (Mielke et al. 2019, section 2 and footnote 8)
LONGEST_WORDS = 12  # mean characters per white-space token; polysynthetic languages reach 10, Burmese 14
MIN_MERGE_COUNT = 2

_SP_SPACE = "\u2581"
_RESERVED = _SP_SPACE + "\u2585\0"  # SentencePiece drops lines with these: they are symbols of its own
_TOO_HIGH = re.compile(r"set it to a value <= (\d+)")

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class BPEUnits:
    """Subwords by byte-pair encoding (Sennrich, Haddow & Birch 2016), trained by SentencePiece.

    Merges never cross white space. The units contain the whole alphabet, so that no string over it
    has an unknown unit, and as many longer pieces as there were merges.

    Parameters
    ----------
    alphabet : Alphabet
        The symbols of the strings.
    model : bytes
        A SentencePiece model, as its own library writes it to a file.

    Raises
    ------
    CheckpointError
        If `model` is not a SentencePiece model over the alphabet.

    Examples
    --------
    >>> texts = ["low lower lowest", "slow slower slowest"] * 9
    >>> units = BPEUnits.train(texts, Alphabet.from_texts(texts, min_count=1), ratio=0.5)
    >>> units.merges
    3
    >>> len(units.encode("low slow")), units.decode(units.encode("  slow low "))
    (5, '  slow low ')
    """

    alphabet: Alphabet
    model: bytes

    def __post_init__(self) -> None:
        """Check that the model is valid and over this alphabet."""
        try:
            processor = self._processor
        except RuntimeError as error:
            raise CheckpointError("the subword model is damaged: SentencePiece cannot read it.") from error
        pieces = self.alphabet.symbols.translate(self._escapes).replace(SPACE, _SP_SPACE)
        missing = sum(processor.is_unknown(processor.piece_to_id(piece)) for piece in pieces)
        if missing:
            raise CheckpointError(
                f"the subword model lacks {missing} of {len(pieces)} symbols of the alphabet: "
                "it was trained on another text."
            )

    @classmethod
    def train(cls, texts: Sequence[str], alphabet: Alphabet, *, ratio: float = BPE_RATIO) -> "BPEUnits":
        """Learn merges from the training texts."""
        wanted = merges_wanted(texts, alphabet, ratio)
        return cls(alphabet, _train_largest(texts, alphabet, wanted))

    @property
    def size(self) -> int:
        """Number of units: the alphabet and one per merge."""
        return int(self._processor.get_piece_size()) - 1

    @property
    def merges(self) -> int:
        """Number of units that are longer than one character."""
        return self.size - len(self.alphabet.symbols)

    @cached_property
    def _processor(self) -> SentencePieceProcessor:
        return SentencePieceProcessor(model_proto=self.model)

    @cached_property
    def _escapes(self) -> dict[int, str]:
        return _escapes(self.alphabet)

    @cached_property
    def _unescapes(self) -> dict[int, str]:
        return {ord(stand_in): chr(reserved) for reserved, stand_in in self._escapes.items()}

    def encode(self, text: str) -> Ids:
        """Return the ids of the subwords."""
        # piece 0 is SentencePiece's unknown piece, which no model of ours has to predict
        ids = np.array(self._processor.encode(text.translate(self._escapes)), dtype=np.int64) - 1
        if len(ids) and ids.min() < 0:
            refuse_outside(text, self.alphabet)
        return ids

    def decode(self, ids: Sequence[int] | Ids) -> str:
        """Return the string of these ids."""
        text: str = self._processor.decode([int(number) + 1 for number in ids])
        return text.translate(self._unescapes)

    @cached_property
    def _pieces(self) -> list[str]:
        """Units as SentencePiece writes them, in the order of their ids."""
        return [self._processor.id_to_piece(number + 1) for number in range(self.size)]

    def spell(self, ids: Ids) -> tuple[list[str], Ids]:
        """Return each unit with ``▁`` for a space, and where each ends in the text."""
        pieces = [self._pieces[number] for number in ids]
        # a text begins with a space of SentencePiece's own
        ends = np.cumsum([len(piece) for piece in pieces], dtype=np.int64) - 1
        return [piece.translate(self._unescapes) for piece in pieces], ends

    @property
    def after_space(self) -> Ids:
        """Ids of units that begin with a space."""
        return np.array([number for number, piece in enumerate(self._pieces) if piece.startswith(_SP_SPACE)])


def caution_about_words(texts: Sequence[str]) -> str | None:
    """Return a caution if the script seems not to separate words, since merges per word then mean little."""
    words = [len(word) for text in texts for word in text.split()]
    if not words or np.mean(words) <= LONGEST_WORDS:
        return None
    return (
        f"white-space tokens have {np.mean(words):.0f} characters on average, so this script seems not to "
        "separate words, and a number of merges that follows from theirs is arbitrary. Prefer characters, "
        "or choose bpe_ratio with care."
    )


def caution_about_merges(texts: Sequence[str], merges: int, ratio: float) -> str | None:
    """Return a caution if there were fewer merges to learn than a recipe requests."""
    wanted = int(ratio * len({word for text in texts for word in text.split()}))
    if merges >= wanted:
        return None
    return (
        f"only {merges:,} of the {wanted:,} merges asked for could be learned: no further pair of units occurs twice."
    )


def merges_wanted(texts: Sequence[str], alphabet: Alphabet, ratio: float) -> int:
    """Return the number of merges to learn from texts: `ratio` times their distinct words."""
    if not 0 <= ratio < float("inf"):
        raise ConfigError(f"bpe_ratio must be a number of merges per word, 0 or more; got {ratio!r}.")
    for text in texts:
        refuse_outside(text, alphabet)
    words = {word for text in texts for word in text.split()}
    if not words:
        raise DataError("there are no words to learn subwords from: the texts are empty.")
    return int(ratio * len(words))


def stand_ins(alphabet: Alphabet) -> list[str]:
    """Return private-use characters that occur in no string over the alphabet."""
    free = (chr(code) for code in range(0xE000, 0xF900) if chr(code) not in alphabet.symbols)
    return list(islice(free, 1 + len(_RESERVED)))


def _escapes(alphabet: Alphabet) -> dict[int, str]:
    return {ord(reserved): s for reserved, s in zip(_RESERVED, stand_ins(alphabet)[1:], strict=True)}


def _train_largest(texts: Sequence[str], alphabet: Alphabet, wanted: int) -> bytes:
    """Train with `wanted` merges, or as many as there are pairs seen at least `MIN_MERGE_COUNT` times."""
    model, reached = _train(texts, alphabet, wanted)
    if _last_merge_is_frequent(texts, alphabet, model):
        return model
    low, high = 0, reached  # bisect: the count of the pair that is merged next never rises
    while high - low > 1:
        middle = (low + high) // 2
        model, _ = _train(texts, alphabet, middle)
        low, high = (middle, high) if _last_merge_is_frequent(texts, alphabet, model) else (low, middle)
    return _train(texts, alphabet, low)[0]


def _last_merge_is_frequent(texts: Sequence[str], alphabet: Alphabet, model: bytes) -> bool:
    units = BPEUnits(alphabet, model)
    if not units.merges:
        return True
    last = units.merges - 1  # the pieces are in the order of the merges, then come the characters
    return sum(int((units.encode(text) == last).sum()) for text in texts) >= MIN_MERGE_COUNT


def _train(texts: Sequence[str], alphabet: Alphabet, merges: int) -> tuple[bytes, int]:
    """Return a model and its number of merges, `merges` or as many as the text allows."""
    table = _escapes(alphabet)
    others = 1 + len(alphabet.symbols)  # the unknown piece; characters, replacement symbol and space
    model = io.BytesIO()
    try:
        SentencePieceTrainer.train(
            sentence_iterator=(text.translate(table) for text in texts),
            model_writer=model,
            model_type="bpe",
            vocab_size=merges + others,
            required_chars=alphabet.symbols.removeprefix(SPACE).translate(table),
            unk_piece=stand_ins(alphabet)[0],  # a text may well have "<unk>"
            character_coverage=1.0,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            split_by_whitespace=True,
            split_by_unicode_script=False,
            split_by_number=False,
            split_digits=False,
            byte_fallback=False,
            max_sentencepiece_length=512,
            max_sentence_length=10**7,  # longer lines are skipped, the default is 4192 bytes
            bos_id=-1,
            eos_id=-1,
            pad_id=-1,
            unk_id=0,
            input_sentence_size=0,
            num_threads=1,
            minloglevel=2,
        )
    except RuntimeError as error:
        reachable = _TOO_HIGH.search(str(error))
        if reachable is None:
            raise TrainingError(f"SentencePiece could not learn {merges:,} merges: {error}") from error
        return _train(texts, alphabet, int(reachable[1]) - others)
    return model.getvalue(), merges


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
        table = _stand_in(alphabet)
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
        return _stand_in(self.alphabet)

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


def _stand_in(alphabet: Alphabet) -> dict[int, str]:
    """Return a replacement of text that could be mistaken for the end of a word."""
    return {ord(_END[0]): stand_ins(alphabet)[0]}


def _import(module: str) -> Any:
    return import_extra(f"subword_nmt.{module}", "subword-nmt is not installed: pip install 'langdiff[subword-nmt]'.")

"""Vectors of words from files, and the sources of vectors that settings name."""

import hashlib
import io
import lzma
import zlib
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import torch

from langdiff.base.archives import open_bytes, unpacked
from langdiff.base.io import BLOCK, as_path, read_lines
from langdiff.errors import ConfigError, DataError, warn
from langdiff.parallelism.taggers.bert import FrozenBert
from langdiff.parallelism.taggers.settings import TaggerSettings
from langdiff.parallelism.taggers.words import Inputs, LearnedWords, Source, count_words, learn_subwords

Row = npt.NDArray[np.float32]

_LONGEST_WORD = 1 << 16  # bytes; a longer one is not a word, and its end would be looked for in the whole file
_WIDEST = 1 << 20


class WordVectors(NamedTuple):
    """Vectors of some words.

    Attributes
    ----------
    width : int
        Numbers in each vector.
    vectors : dict from str to ndarray of float32, shape (width,)
        Vectors by word; words that the file does not have are missing.
    """

    width: int
    vectors: dict[str, Row]

    def unknown_share(self, words: Sequence[str]) -> float:
        """Return the share of words that have no vector."""
        return sum(word not in self.vectors for word in words) / max(len(words), 1)


def read_word_vectors(path: str | Path, words: Collection[str], *, binary: bool | None = None) -> WordVectors:
    r"""Read vectors of words from a file of word2vec, as a stream: memory follows the words that are kept.

    The text form has a line per word, ``word v1 … vD``, with single spaces, after an optional line ``count width``. The
    binary form has that line, then for each word its UTF-8, a space, D little-endian numbers of 32 bits, and an
    optional line break.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "vectors.txt").write_text("2 3\nsea 0.5 1 2\nland 1 1 0\n")
    ...     read_word_vectors(Path(folder, "vectors.txt"), ["sea", "sky"])
    WordVectors(width=3, vectors={'sea': array([0.5, 1. , 2. ], dtype=float32)})
    """
    path = as_path(path)
    kept: dict[str, Row] = {}
    twice = []
    width = 0
    for word, row, width, place in _rows(path, frozenset(words), binary):  # noqa: B007 the last width
        if row is None:
            continue
        if not np.isfinite(row).all():
            raise DataError(f"{path}, {place}: the vector of {word!r} has a number that is not finite.")
        if word in kept:
            twice.append(word)
        else:
            kept[word] = row
    if not width:
        raise DataError(f"{path}: the file has no vectors.")
    if twice:
        warn(f"{path}: {len(twice)} word(s) are there twice, {twice[0]!r} first; their first vectors count.")
    return WordVectors(width, kept)


class FileVectors:
    """Vectors of words from a file; those of unknown words are zero.

    Parameters
    ----------
    path : Path
        File of word2vec.
    """

    size = None

    def __init__(self, path: Path) -> None:
        self.path = path
        width = next((width for _, _, width, _ in _rows(path, frozenset(), None)), 0)
        if not width:
            raise DataError(f"{path}: the file has no vectors.")
        self._known = WordVectors(width, {})
        self._asked: set[str] = set()

    @property
    def width(self) -> int:
        """Width of the vectors."""
        return self._known.width

    def prepare(self, sections: Sequence[Sequence[str]]) -> list[Inputs]:
        """Return the vectors of the words of each section; the file is read if a word is new."""
        new = {word for words in sections for word in words} - self._asked
        if new:
            self._known.vectors.update(read_word_vectors(self.path, new).vectors)
            self._asked |= new
        return [Inputs(len(words), vectors=self._vectors(words)) for words in sections]

    def _vectors(self, words: Sequence[str]) -> torch.Tensor:
        zero = np.zeros(self.width, dtype=np.float32)
        return torch.from_numpy(np.stack([self._known.vectors.get(word, zero) for word in words]))

    def unknown_share(self, words: Sequence[str]) -> float:
        """Return the share of running words without a vector, of words that were prepared."""
        return self._known.unknown_share(words)

    def digest(self) -> str:
        """Return the SHA-256 of the file."""
        with self.path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()


def _rows(path: Path, wanted: frozenset[str], binary: bool | None) -> Iterator[tuple[str, Row | None, int, str]]:
    """Yield word, vector (None if it is not wanted), width, and place of each row."""
    if binary is None:
        binary = unpacked(path).suffix == ".bin"
    return _binary_rows(path, wanted) if binary else _text_rows(path, wanted)


def _text_rows(path: Path, wanted: frozenset[str]) -> Iterator[tuple[str, Row | None, int, str]]:
    announced, width, rows = None, 0, 0
    for number, line in read_lines(path):
        word, _, rest = line.rstrip(" ").partition(" ")
        found = rest.count(" ") + 1 if rest else 0
        if number == 1 and found == 1 and word.isdecimal() and rest.isdecimal():
            announced, width = int(word), _width(path, rest)
            continue
        width = width or found
        if found != width or not width:
            raise DataError(f"{path}, line {number}: {found} numbers after the word, but {width or 1} are expected.")
        rows += 1
        row = None
        if word in wanted:
            try:
                row = np.array(rest.split(" "), dtype=np.float32)
            except ValueError as error:
                raise DataError(f"{path}, line {number}: not all that follows {word!r} is numbers.") from error
        yield word, row, width, f"line {number}"
    if announced is not None and rows < announced:
        raise DataError(f"{path}: {rows:,} words, but line 1 announces {announced:,}; the file was cut.")


def _binary_rows(path: Path, wanted: frozenset[str]) -> Iterator[tuple[str, Row | None, int, str]]:
    try:
        with open_bytes(path) as (raw, allowed):
            stream = io.BufferedReader(cast(io.RawIOBase, raw), BLOCK)
            for row in _rows_of_stream(path, stream, wanted):
                if allowed is not None and stream.tell() > allowed.size:
                    raise DataError(f"{path}: expands to more than {allowed.size:,} bytes; decompress it.")
                yield row
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}.") from error


def _rows_of_stream(
    path: Path, stream: "io.BufferedReader[Any]", wanted: frozenset[str]
) -> Iterator[tuple[str, Row | None, int, str]]:
    header = stream.readline(_LONGEST_WORD).split()
    if len(header) != 2 or not all(part.isdigit() for part in header):
        raise DataError(f"{path}, byte 0: the binary form begins with a line of the number of words and their width.")
    announced, width = int(header[0]), _width(path, header[1].decode())
    for rows in range(announced):
        if stream.peek(1)[:1] == b"\n":
            stream.read(1)
        place, raw = stream.tell(), bytearray()
        while (byte := stream.read(1)) not in (b" ", b""):
            raw += byte
            if len(raw) > _LONGEST_WORD:
                raise DataError(f"{path}, byte {place:,}: no word ends here; is this the binary form?")
        values = stream.read(4 * width)
        if len(values) < 4 * width:
            raise DataError(
                f"{path}, byte {place:,}: ends after {rows:,} words, but {announced:,} are announced; the file was cut."
            )
        try:
            word = raw.decode()
        except UnicodeDecodeError as error:
            raise DataError(f"{path}, byte {place + error.start:,}: not UTF-8; is this the binary form?") from error
        row = np.frombuffer(values, dtype="<f4").astype(np.float32) if word in wanted else None
        yield word, row, width, f"byte {place:,}"


def _width(path: Path, text: str) -> int:
    if len(text) > len(str(_WIDEST)) or not 0 < int(text) <= _WIDEST:
        raise DataError(f"{path}, line 1: a width of {text[:20]} is not that of vectors of words.")
    return int(text)


class Sources:
    """Sources of the input of one tagger or of several, which share a file of word2vec or a BERT.

    Parameters
    ----------
    vectors, bert : str or Path, optional
        File of word2vec, folder of a BERT.
    device : torch.device
        Where a BERT computes, and the networks that read what it gives.
    """

    def __init__(self, vectors: str | Path | None, bert: str | Path | None, device: torch.device) -> None:
        self._paths = {"word2vec": ("vectors", vectors), "bert": ("bert", bert)}
        self.device = device

    @cached_property
    def vectors(self) -> FileVectors | None:
        """The file of word2vec, if one was given."""
        path = self._paths["word2vec"][1]
        return None if path is None else FileVectors(Path(path))

    @cached_property
    def bert(self) -> FrozenBert | None:
        """The BERT, if one was given."""
        path = self._paths["bert"][1]
        return None if path is None else FrozenBert(Path(path), "mean", self.device)

    @property
    def width(self) -> int | None:
        """Width of vectors that are not learned, if a file or folder was given."""
        given = self.vectors or self.bert
        return None if given is None else given.width

    def of(self, settings: TaggerSettings, sections: Sequence[Sequence[str]]) -> Source:
        """Return the source of a tagger's inputs, with the words and subwords of the training part."""
        for embedding, (what, given) in self._paths.items():
            if (settings.embedding == embedding) != (given is not None):
                verb = "needs" if given is None else "takes no"
                raise ConfigError(f"a tagger of {settings.embedding!r} {verb} {what}: a local file or folder.")
        if self.vectors is not None:
            return self.vectors
        if self.bert is not None:
            return self.bert.with_blending(settings.blending or "mean")
        if settings.embedding == "learned-subword":
            return learn_subwords(sections, settings.bpe_ratio)
        return LearnedWords(count_words(sections).words)

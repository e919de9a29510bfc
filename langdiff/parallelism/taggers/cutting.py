"""Cutting words into the subwords of a BERT, by whichever tokenizer its folder has."""

import importlib
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from langdiff.base.io import parse_json, read_lines
from langdiff.errors import CheckpointError, MissingExtraError
from langdiff.lm.external.huggingface import load_local

TENSOR2TENSOR = ("*.subword.encoder", "*.subwords")
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")  # ids 0 to 4 of models with such a file
_RUN = re.compile(r"1+|0+")
_ESCAPES = "\\_u;0123456789"


class Specials(NamedTuple):
    """Ids of the unknown token, of the one before a text and of the one after it."""

    unknown: int
    first: int
    last: int


class Cutter(Protocol):
    """What cuts words into subwords."""

    specials: Specials
    size: int  # of the vocabulary

    def cut(self, words: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return the ids of the subwords, and the number of the word of each; words may have none."""
        ...


def find_cutter(folder: Path) -> Cutter:
    """Return the tokenizer of a folder.

    Parameters
    ----------
    folder : Path
        Folder with a subword file of tensor2tensor (``*.subword.encoder``, ``*.subwords``), a ``tokenizer.json``, or a
        ``vocab.txt`` of WordPiece.

    Returns
    -------
    Cutter

    Raises
    ------
    CheckpointError
        If there is none of these, or it cannot be read.
    MissingExtraError
        If Transformers is not installed.
    """
    encoders = sorted(path for pattern in TENSOR2TENSOR for path in folder.glob(pattern))
    if len(encoders) > 1:
        raise CheckpointError(f"{folder}: {encoders[0].name} and {encoders[1].name}; leave one subword file there.")
    if encoders:
        return Tensor2TensorSubwords(encoders[0])
    if (folder / "tokenizer.json").is_file():
        return _FastTokenizer(folder)
    if (folder / "vocab.txt").is_file():
        return _WordPiece(folder)
    raise CheckpointError(
        f"{folder}: no tokenizer: tokenizer.json is wanted, or vocab.txt (WordPiece), or a subword file of "
        f"tensor2tensor ({', '.join(TENSOR2TENSOR)}). A slow tokenizer must be saved as a fast one first."
    )


class _FastTokenizer:
    """The tokenizer of a ``tokenizer.json``, by Transformers."""

    def __init__(self, folder: Path) -> None:
        tokenizer: Any = load_local("AutoTokenizer", folder)
        if not tokenizer.is_fast:
            raise CheckpointError(f"{folder}: a slow tokenizer was found; a fast one, in tokenizer.json, is wanted.")
        ids = (tokenizer.unk_token_id, tokenizer.cls_token_id, tokenizer.sep_token_id)
        if None in ids:
            raise CheckpointError(f"{folder / 'tokenizer.json'}: no [UNK], [CLS] or [SEP]; is this of a BERT?")
        self.specials, self.size, self._tokenizer = Specials(*ids), len(tokenizer), tokenizer

    def cut(self, words: Sequence[str]) -> tuple[list[int], list[int]]:
        """As for `Cutter`."""
        found = self._tokenizer(list(words), is_split_into_words=True, add_special_tokens=False, verbose=False)
        return found.input_ids, found.word_ids()


class _WordPiece:
    """WordPiece over a ``vocab.txt``; the folder's configuration says whether case is kept."""

    def __init__(self, folder: Path) -> None:
        try:
            tokenizers: Any = importlib.import_module("tokenizers")
        except ModuleNotFoundError as error:
            raise MissingExtraError("tokenizers is not installed: pip install 'langdiff[hf]'.") from error
        path = folder / "vocab.txt"
        pieces = [line for _, line in read_lines(path)]
        vocabulary = {piece: number for number, piece in enumerate(pieces)}
        if missing := [token for token in _SPECIAL[1:4] if token not in vocabulary]:
            raise CheckpointError(f"{path}: has no {', '.join(missing)}; is this the vocabulary of a BERT?")
        self._tokenizer = tokenizers.BertWordPieceTokenizer(vocabulary, lowercase=_lower_case(folder))
        self.specials, self.size = Specials(*(vocabulary[token] for token in _SPECIAL[1:4])), len(pieces)

    def cut(self, words: Sequence[str]) -> tuple[list[int], list[int]]:
        """As for `Cutter`."""
        found = self._tokenizer.encode(list(words), is_pretokenized=True, add_special_tokens=False)
        return found.ids, found.word_ids


def _lower_case(folder: Path) -> bool:
    """Return what the configuration says of case; by default, as BERT's tokenizers do, that it is not kept."""
    for name in ("tokenizer_config.json", "config.json"):
        path = folder / name
        if path.is_file():
            try:
                found = parse_json(path.read_bytes())
            except (OSError, ValueError) as error:
                raise CheckpointError(f"{path}: cannot be read: {error}.") from error
            if isinstance(found, dict) and "do_lower_case" in found:
                return bool(found["do_lower_case"])
    return True


class Tensor2TensorSubwords:
    r"""Subwords of a file of tensor2tensor, as Latin BERT has them.

    The file has a subword per line, in quotation marks; its id is the line's number from 0, plus 5. A word is split
    where letters and digits meet other characters. Of each part, backslashes are doubled, ``_`` becomes ``\u``, and a
    character that no subword has becomes a backslash, its code point and a semicolon; then ``_`` is added, and the
    longest subword that fits is cut off again and again.

    Parameters
    ----------
    path : Path
        The file.

    Raises
    ------
    CheckpointError
        If the file has no subwords.
    """

    def __init__(self, path: Path) -> None:
        lines = [_unquoted(line) for _, line in read_lines(path)]
        self._id_of = {line: number for number, line in reversed(list(enumerate(lines, len(_SPECIAL)))) if line}
        if not self._id_of:
            raise CheckpointError(f"{path}: no subwords in it; one subword per line is expected.")
        self._longest = max(map(len, self._id_of))
        self._alphabet = frozenset("".join(self._id_of)) | frozenset(_ESCAPES)
        self.specials, self.size = Specials(1, 2, 3), len(lines) + len(_SPECIAL)

    def cut(self, words: Sequence[str]) -> tuple[list[int], list[int]]:
        """As for `Cutter`."""
        cut = [self._cut(word) for word in words]
        return [i for ids in cut for i in ids], [number for number, ids in enumerate(cut) for _ in ids]

    def _cut(self, word: str) -> list[int]:
        ids = []
        for part in _parts(word):
            text = self._escaped(part)
            start = 0
            while start < len(text):
                ends = range(min(len(text), start + self._longest), start, -1)
                end = next((end for end in ends if text[start:end] in self._id_of), None)
                if end is None:  # the file lacks even the characters of escapes
                    return [self.specials.unknown]
                ids.append(self._id_of[text[start:end]])
                start = end
        return ids

    def _escaped(self, part: str) -> str:
        doubled = part.replace("\\", "\\\\").replace("_", "\\u")
        return "".join(c if c in self._alphabet and c != "\n" else f"\\{ord(c)};" for c in doubled) + "_"


def _unquoted(line: str) -> str:
    line = line.strip()
    return line[1:-1] if len(line) > 1 and line[0] == line[-1] and line[0] in "'\"" else line


def _parts(word: str) -> list[str]:
    """Split a word where letters and digits meet other characters.

    Examples
    --------
    >>> _parts("l'an2,")
    ['l', "'", 'an2', ',']
    """
    kinds = "".join("01"[unicodedata.category(character)[0] in "LN"] for character in word)
    return [word[match.start() : match.end()] for match in _RUN.finditer(kinds)]

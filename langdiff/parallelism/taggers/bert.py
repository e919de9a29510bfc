"""Vectors of words from a frozen BERT in a local folder, and its subword tokenizers."""

import copy
import hashlib
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from langdiff.base.io import parse_json, read_bytes, read_lines
from langdiff.base.pretrained import load_local
from langdiff.base.types import import_extra
from langdiff.errors import CheckpointError
from langdiff.parallelism.taggers.words import Inputs, blend

TENSOR2TENSOR = ("*.subword.encoder", "*.subwords")
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")  # ids 0 to 4 of models with such a file
_RUN = re.compile(r"1+|0+")
_ESCAPES = "\\_u;0123456789"
LONGEST = 512  # subwords read at once, the tokens before and after a text included
_WEIGHTS = ("*.safetensors", "*.bin")


class Specials(NamedTuple):
    """Ids of the unknown token, of the one before a text and of the one after it."""

    unknown: int
    first: int
    last: int


class Cutter(Protocol):
    """Interface of tokenizers that cut words into subwords."""

    specials: Specials
    size: int  # of the vocabulary

    def cut(self, words: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return the ids of the subwords, and the number of the word of each; words may have none."""


def find_cutter(folder: Path) -> Cutter:
    """Return the tokenizer of a folder."""
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
        f"{folder}: no tokenizer: tokenizer.json is needed, or vocab.txt (WordPiece), or a subword file of "
        f"tensor2tensor ({', '.join(TENSOR2TENSOR)}). A slow tokenizer must be saved as a fast one first."
    )


class _FastTokenizer:
    """The tokenizer of a ``tokenizer.json``, by Transformers."""

    def __init__(self, folder: Path) -> None:
        tokenizer: Any = load_local("AutoTokenizer", folder)
        if not tokenizer.is_fast:
            raise CheckpointError(f"{folder}: a slow tokenizer was found; a fast one, in tokenizer.json, is needed.")
        ids = (tokenizer.unk_token_id, tokenizer.cls_token_id, tokenizer.sep_token_id)
        if None in ids:
            raise CheckpointError(
                f"{folder / 'tokenizer.json'}: [UNK], [CLS] or [SEP] is missing; is this the tokenizer of a BERT?"
            )
        self.specials, self.size, self._tokenizer = Specials(*ids), len(tokenizer), tokenizer

    def cut(self, words: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return the subwords of words, as for `Cutter`."""
        found = self._tokenizer(list(words), is_split_into_words=True, add_special_tokens=False, verbose=False)
        return found.input_ids, found.word_ids()


class _WordPiece:
    """WordPiece over a ``vocab.txt``; the folder's configuration says whether case is kept."""

    def __init__(self, folder: Path) -> None:
        tokenizers = import_extra("tokenizers", "tokenizers is not installed: pip install 'langdiff[hf]'.")
        path = folder / "vocab.txt"
        pieces = [line for _, line in read_lines(path)]
        vocabulary = {piece: number for number, piece in enumerate(pieces)}
        if missing := [token for token in _SPECIAL[1:4] if token not in vocabulary]:
            raise CheckpointError(f"{path}: has no {', '.join(missing)}; is this the vocabulary of a BERT?")
        self._tokenizer = tokenizers.BertWordPieceTokenizer(vocabulary, lowercase=_lower_case(folder))
        self.specials, self.size = Specials(*(vocabulary[token] for token in _SPECIAL[1:4])), len(pieces)

    def cut(self, words: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return the subwords of words, as for `Cutter`."""
        found = self._tokenizer.encode(list(words), is_pretokenized=True, add_special_tokens=False)
        return found.ids, found.word_ids


def _lower_case(folder: Path) -> bool:
    """Return whether the configuration asks for lower case; by default it does, as in BERT's tokenizers."""
    for name in ("tokenizer_config.json", "config.json"):
        path = folder / name
        if path.is_file():
            try:
                found = parse_json(read_bytes(path))
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
        """Return the subwords of words, as for `Cutter`."""
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


class FrozenBert:
    """The last hidden layer of a BERT, blended into one vector per word.

    A section longer than the model reads is cut into consecutive pieces, each read on its own. Only the first begins
    with [CLS], and only the last ends with [SEP].

    Parameters
    ----------
    folder : Path
        Folder of configuration, weights and tokenizer; nothing is downloaded.
    blending : {"first", "mean", "sum"}
        How vectors of subwords become the vector of a word.
    device : torch.device or str
        Where the model computes.

    Raises
    ------
    CheckpointError
        If the folder holds no model or no tokenizer that can be loaded, or the two do not fit.
    MissingExtraError
        If Transformers is not installed.
    """

    size = None

    def __init__(self, folder: Path, blending: str, device: torch.device | str = "cpu") -> None:
        self.folder = folder
        self._blending = blending
        self._encoded: dict[tuple[int, ...], Tensor] | None = None  # vectors by subwords, while they are kept
        model: Any = load_local("AutoModel", folder, dtype=torch.float32)
        self.model = model.eval().requires_grad_(False).to(device)
        self.cutter = find_cutter(folder)
        if self.cutter.size > self.model.config.vocab_size:
            raise CheckpointError(
                f"{folder}: the tokenizer has {self.cutter.size:,} subwords, the model "
                f"{self.model.config.vocab_size:,}; they do not belong together."
            )
        self.width = int(self.model.config.hidden_size)
        self.longest = min(LONGEST, int(self.model.config.max_position_embeddings))

    def with_blending(self, blending: str) -> "FrozenBert":
        """Return the same model with another blending; the two share the stored vectors."""
        other = copy.copy(self)
        other._blending = blending
        return other

    def keep_encoded(self, keep: bool) -> None:
        """Set whether vectors of subwords are kept in memory, so that each section is encoded once."""
        self._encoded = {} if keep else None

    def prepare(self, sections: Sequence[Sequence[str]]) -> list[Inputs]:
        """Return the vectors of the words of each section, on the CPU."""
        found = []
        for words in sections:
            ids, owners = self.subwords(words)
            vectors = blend(self._vectors(ids), torch.tensor(owners), len(words), self._blending)
            found.append(Inputs(len(words), vectors=vectors))
        return found

    def subwords(self, words: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return the ids of the subwords of a section and the number of the word of each; every word has one."""
        cut: list[list[int]] = [[] for _ in words]
        for number, owner in zip(*self.cutter.cut(words), strict=True):
            cut[owner].append(number)
        whole = [ids or [self.cutter.specials.unknown] for ids in cut]
        return [i for ids in whole for i in ids], [owner for owner, ids in enumerate(whole) for _ in ids]

    def _vectors(self, ids: list[int]) -> Tensor:
        if self._encoded is None:
            return self.encode(ids)
        key = tuple(ids)
        if key not in self._encoded:
            self._encoded[key] = self.encode(ids)
        return self._encoded[key]

    @torch.no_grad()
    def encode(self, ids: Sequence[int]) -> Tensor:
        """Return the vectors of the subwords of a section, shape (S, D), on the CPU."""
        row = torch.tensor([self.cutter.specials.first, *ids, self.cutter.specials.last], device=self.model.device)
        pieces = [self.model(input_ids=piece[None]).last_hidden_state[0] for piece in torch.split(row, self.longest)]
        found: Tensor = torch.cat(pieces)[1:-1].cpu()
        return found

    def digest(self) -> str:
        """Return a hash of the folder's configuration, weights and tokenizer."""
        digest = hashlib.sha256()
        patterns = ("config.json", *_WEIGHTS, "tokenizer.json", "vocab.txt", "*.subword.encoder", "*.subwords")
        for path in (path for pattern in patterns for path in sorted(self.folder.glob(pattern))):
            with path.open("rb") as stream:
                digest.update(path.name.encode() + hashlib.file_digest(stream, "sha256").digest())
        return digest.hexdigest()

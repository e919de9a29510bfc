"""External tokenizers, and diagnostics of their tokens."""

import inspect
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd

from langdiff.base.io import as_path
from langdiff.base.types import Integers
from langdiff.errors import ConfigError, DataError, MissingExtraError, option
from langdiff.tables.long_tables import numbers_of, read_table_file

TABLES = (".csv", ".tsv", ".parquet")
USUAL_ALPHA = 2.5  # the order with which Zouhar et al. (2023) found the highest correlation with BLEU


def renyi_entropy(counts: Mapping[Hashable, int], alpha: float) -> float:
    r"""Return the Rényi entropy of a distribution of tokens, in bits; Shannon's for α = 1.

    .. math:: H_\alpha = \frac{1}{1 - \alpha} \log_2 \sum_t p_t^\alpha, \quad H_1 = -\sum_t p_t \log_2 p_t

    Examples
    --------
    >>> renyi_entropy({"a": 2, "b": 2}, 2.5), renyi_entropy({"a": 2, "b": 2}, 1)
    (1.0, 1.0)
    """
    share = np.array(list(counts.values()), dtype=float)
    share /= share.sum()
    if alpha == 1:
        return float(-(share * np.log2(share)).sum()) + 0.0
    most = np.log(share.max())  # taken out, so that nothing cancels for α near 1, nor underflows for a great one
    rest = np.log1p((share * np.expm1((alpha - 1) * (np.log(share) - most))).sum()) / (alpha - 1)
    return float(-(most + rest) / np.log(2)) + 0.0


def efficiencies(counts: Mapping[Hashable, int], bigrams: int, alpha: float) -> dict[str, float]:
    """Return entropies, efficiencies and accessor variety by name; an efficiency of one type of token is NaN."""
    most = np.log2(len(counts))
    entropy = {"renyi": renyi_entropy(counts, alpha), "shannon": renyi_entropy(counts, 1)}
    found = {f"{name}_entropy": bits for name, bits in entropy.items()}
    found |= {f"{name}_efficiency": bits / most if most else np.nan for name, bits in entropy.items()}
    return found | {"accessor_variety": bigrams / len(counts)}


def check_alpha(alpha: float) -> None:
    """Check that an order is positive and finite."""
    if not (np.isfinite(alpha) and alpha > 0):
        raise ConfigError(
            f"{option('alpha', alpha)}: the order of the entropy must be positive and finite, such as 2.5."
        )


def diagnose_tokens(tokens: Iterable[Sequence[Hashable]], *, alpha: float = USUAL_ALPHA) -> pd.Series:
    r"""Measure how evenly tokens are used, and how many neighbours they have.

    The efficiency of an entropy is its quotient by the greatest that is possible with the types of token that occur,
    :math:`\log_2 V`. The accessor variety of a token is the number of different tokens beside it; its mean over
    types, which is the same to the left and to the right, is the number of different pairs of neighbours divided by V.
    All three depend on how much text there is: compare editions of the same content.

    References
    ----------
    Zouhar, Meister, Gastaldi, Du, Sachan and Cotterell (2023), "Tokenization and the Noiseless Channel"; Feng, Chen,
    Deng and Zheng (2004), "Accessor variety criteria for Chinese word extraction"; Poelman, Bauwens and de Lhoneux
    (2025), "Confounding factors in relating model performance to morphology".

    Examples
    --------
    >>> diagnose_tokens(["pick @@ed pick @@l @@ed pick @@les".split()]).round(4)
    tokens                7.0000
    types                 4.0000
    renyi_entropy         1.6530
    shannon_entropy       1.8424
    renyi_efficiency      0.8265
    shannon_efficiency    0.9212
    accessor_variety      1.2500
    dtype: float64
    """
    check_alpha(alpha)
    counts: Counter[Hashable] = Counter()
    pairs: set[tuple[Hashable, Hashable]] = set()
    for text in tokens:
        if isinstance(text, str) or not isinstance(text, Iterable):
            raise DataError(f"{text!r:.20} is not a sequence of tokens; give one list of tokens per text.")
        counts.update(text)
        pairs.update(pairwise(text))
    if not counts:
        raise DataError("there is no token.")
    found = {"tokens": float(counts.total()), "types": float(len(counts))}
    return pd.Series(found | efficiencies(counts, len(pairs), alpha))


PLAIN = {"add_special_tokens": False, "disallowed_special": ()}  # options for the tokens of the text and no others


class Tokenizer(Protocol):
    """Interface of tokenizers with ``encode``: those of Hugging Face, SentencePiece and tiktoken."""

    def encode(self, text: str, /) -> Any:
        """Return the tokens of a text: a sequence, or an object that has one as ``ids``."""
        ...


def encoder_of(tokenizer: Tokenizer) -> Callable[[str], list[Hashable]]:
    """Return the function that tokenizes a text, without symbols for its start and end.

    Examples
    --------
    >>> class Words:
    ...     def encode(self, text):
    ...         return text.split()
    >>> encoder_of(Words())("two words")
    ['two', 'words']
    """
    encode = getattr(tokenizer, "encode", None)
    if not callable(encode) or isinstance(tokenizer, str):
        raise ConfigError(
            f"a tokenizer needs a method encode(text) that returns a list of tokens; {type(tokenizer).__name__} has "
            "none."
        )
    try:
        known = set(inspect.signature(encode).parameters)
    except (TypeError, ValueError):  # compiled without a signature
        known = set()
    options = {name: value for name, value in PLAIN.items() if name in known}

    def tokens_of(text: str) -> list[Hashable]:
        found = encode(text, **options)
        found = getattr(found, "ids", found)
        if hasattr(found, "tolist"):
            found = found.tolist()  # of an array or a tensor, whose elements are not equal to one another
        listed = isinstance(found, Iterable) and not isinstance(found, str | Mapping)
        tokens = list(found) if listed else []
        if not listed or not all(isinstance(token, Hashable) for token in tokens):
            raise DataError(
                f"encode({text[:20]!r}) gave {type(found).__name__}, not a list of tokens. Wrap the tokenizer in a "
                "class whose encode(text) returns a list."
            )
        return tokens

    return tokens_of


def read_tokenizer(source: str | Path) -> Tokenizer | pd.DataFrame:
    r"""Read a tokenizer, or a table of its tokens per text, for `langdiff.measure_parity`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "counts.csv"
    ...     _ = path.write_text("intent,deu,eng\n40001001,12,9\n")
    ...     read_tokenizer(path).to_dict()
    {'deu': {'40001001': 12.0}, 'eng': {'40001001': 9.0}}
    """
    is_name = str(source).startswith("tiktoken:")
    source, path = str(source), Path(source) if is_name else as_path(source)
    if path.suffix in TABLES:
        table = read_table_file(path)
        return table.set_index(table.columns[0]).apply(lambda column: numbers_of(column, path))
    library = "tiktoken" if is_name else _library_of(path)
    if library != "tiktoken" and not path.exists():
        raise DataError(f"{source}: there is no such file or folder.")
    try:
        return _LIBRARIES[library](source)
    except ImportError as error:
        raise MissingExtraError(f"{source}: needs {library}, which is not installed: pip install {library}.") from error
    except Exception as error:  # libraries raise errors of many kinds
        raise DataError(f"{source}: {library} cannot read it: {str(error).splitlines()[0]}") from error


def _library_of(path: Path) -> str:
    return {".model": "sentencepiece", ".json": "tokenizers"}.get(path.suffix, "transformers")


def _of_sentencepiece(source: str) -> Tokenizer:
    import sentencepiece

    processor: Tokenizer = sentencepiece.SentencePieceProcessor(model_file=source)
    return processor


def _of_tokenizers(source: str) -> Tokenizer:
    import tokenizers

    read: Tokenizer = tokenizers.Tokenizer.from_file(source)
    return read


def _of_transformers(source: str) -> Tokenizer:
    import transformers

    read: Tokenizer = transformers.AutoTokenizer.from_pretrained(source, local_files_only=True)
    return read


def _of_tiktoken(source: str) -> Tokenizer:
    import tiktoken

    encoding: Tokenizer = tiktoken.get_encoding(source.partition(":")[2])
    return encoding


_LIBRARIES: dict[str, Callable[[str], Tokenizer]] = {
    "sentencepiece": _of_sentencepiece,
    "tokenizers": _of_tokenizers,
    "transformers": _of_transformers,
    "tiktoken": _of_tiktoken,
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Tokenized:
    """Counts of the tokens of one edition.

    Attributes
    ----------
    tokens, split_words : ndarray of int, shape (I,)
        Tokens of each intent, and its white-space words that are more than one token.
    counts : Counter
        Tokens by type.
    bigrams : int
        Number of different pairs of neighbours inside an intent.
    """

    tokens: Integers
    split_words: Integers
    counts: Counter[Hashable]
    bigrams: int


def tokenize_texts(encode: Callable[[str], list[Hashable]], texts: Iterable[str]) -> Tokenized:
    """Count the tokens of texts, and the words that are split into several tokens.

    A word is split if it is more than one token both alone and after a space, so that it does not matter on which
    side of a word a tokenizer keeps its space.
    """

    @cache
    def is_split(word: str) -> bool:
        return len(encode(" " + word)) > 1 and len(encode(word)) > 1

    lengths, split = [], []
    counts: Counter[Hashable] = Counter()
    pairs: set[tuple[Hashable, Hashable]] = set()
    for text in texts:
        tokens = encode(text)
        lengths.append(len(tokens))
        split.append(sum(map(is_split, text.split())))
        counts.update(tokens)
        pairs.update(pairwise(tokens))
    return Tokenized(
        tokens=np.array(lengths, dtype=int), split_words=np.array(split, dtype=int), counts=counts, bigrams=len(pairs)
    )

"""Predictors computed from the text alone: characters, words, their entropy and its rate, compression."""

import lzma
import math
import zlib
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from langdiff.base.types import Floats
from langdiff.corpora import tokenize
from langdiff.errors import ConfigError, DataError

EntropyEstimator = Literal["plug-in", "miller-madow", "chao-shen"]
Compressor = Literal["lzma", "zlib"]


def count_words(texts: Iterable[str], *, tokenized: bool = False) -> Counter[str]:
    """Count the white-space tokens of texts.

    Examples
    --------
    >>> count_words(["The dog, the dog."])
    Counter({'dog': 2, 'The': 1, '↹,': 1, 'the': 1, '↹.': 1})
    """
    return Counter(words_of(texts, tokenized=tokenized))


def words_of(texts: Iterable[str], *, tokenized: bool = False) -> Iterator[str]:
    """Yield the white-space tokens of texts, in order; see `count_words`."""
    return (word for text in texts for word in (text if tokenized else tokenize(text)).split())


def type_token_ratio(counts: Mapping[str, int]) -> float:
    """Return distinct words divided by words; it falls as texts grow, so compare texts of the same content.

    Examples
    --------
    >>> type_token_ratio(count_words(["to be or not to be"]))
    0.6666666666666666
    """
    _check_words(counts)
    return len(counts) / sum(counts.values())


def unigram_entropy(counts: Mapping[str, int], estimator: EntropyEstimator = "plug-in") -> float:
    r"""Entropy of the distribution of words, in bits per word.

    With K types of :math:`n_k` tokens, :math:`N = \sum_k n_k`, :math:`p_k = n_k / N`, the estimators are

    .. math::
        H_\text{plug-in} = -\sum_k p_k \log_2 p_k, \qquad
        H_\text{Miller–Madow} = H_\text{plug-in} + \frac{K - 1}{2 N \ln 2}, \qquad
        H_\text{Chao–Shen} = -\sum_k \frac{C p_k \log_2 (C p_k)}{1 - (1 - C p_k)^N}, \quad
        C = 1 - \frac{f_1}{N}

    where :math:`f_1` types are seen once. The first is the figure of Mielke et al. (2019). It is too low by
    about the second's correction, and more so the richer the vocabulary; the third estimates what part
    C of the distribution has been seen at all.

    References
    ----------
    Miller (1955), "Note on the bias of information estimates"; Chao & Shen (2003), "Nonparametric estimation
    of Shannon's index of diversity when there are unseen species in sample", equation 7.

    Examples
    --------
    >>> counts = {"the": 13, "of": 5, "dog": 1, "cat": 1}
    >>> [round(unigram_entropy(counts, name), 4) for name in ("plug-in", "miller-madow", "chao-shen")]
    [1.3362, 1.4444, 1.6087]
    """
    _check_words(counts)
    tokens = np.fromiter(counts.values(), dtype=np.float64, count=len(counts))  # (K,)
    if tokens.min() <= 0:
        raise DataError("a word is counted 0 times or fewer; leave out words that do not occur.")
    match estimator:
        case "plug-in":
            return _plug_in(tokens)
        case "miller-madow":
            return _plug_in(tokens) + (len(tokens) - 1) / (2 * float(tokens.sum()) * math.log(2))
        case "chao-shen":
            return _chao_shen(tokens)
    raise ConfigError(f"unknown estimator {estimator!r}; use 'plug-in', 'miller-madow' or 'chao-shen'.")


def entropy_rate(words: Sequence[Hashable]) -> float:
    r"""Estimate the entropy rate of a sequence of words from its longest matches, in bits per word.

    .. math:: h = \frac{1}{N} \sum_{i=1}^N \frac{\log_2 i}{L_i}

    where :math:`L_i - 1` is the length of the longest match of the words from position i on with words that stand
    together before position i. Unlike `unigram_entropy` it counts what words tell about the next ones. It depends on
    the order of texts, and is the higher the shorter the text.

    References
    ----------
    Gao, Kontoyiannis & Bienenstock (2008), "Estimating the entropy of binary time series", equation 6; Bentz,
    Alikaniotis, Cysouw & Ferrer-i-Cancho (2017), "The entropy of words", who use it for languages.

    Examples
    --------
    >>> round(entropy_rate("abracadabra"), 6), round(entropy_rate("a b a b a b a b".split()), 6)
    (1.294203, 0.717675)
    """
    if not len(words):
        raise DataError("no word to measure: the text is empty.")
    matched = np.fromiter(_longest_matches(words), dtype=np.float64, count=len(words))
    return float((np.log2(np.arange(1, len(words) + 1)) / (matched + 1)).mean())


def _longest_matches(words: Sequence[Hashable]) -> Iterator[int]:
    """Yield the length of the longest match of the words from each position on with words before it.

    The suffix automaton (Blumer et al. 1985) of the words before the position is extended word by word. The match
    loses its first word from one position to the next and never ends earlier, so that all of it is linear.
    """
    following: list[dict[Hashable, int]] = [{}]
    longest, shorter = [0], [-1]  # of each state: its longest string, and the state of that string's longest suffixes
    last = state = matched = 0
    for place, word in enumerate(words):
        while place + matched < len(words) and (after := following[state].get(words[place + matched])) is not None:
            state, matched = after, matched + 1
        yield matched
        new, before, last = len(longest), last, len(longest)
        following.append({})
        longest.append(longest[before] + 1)
        shorter.append(0)
        while before >= 0 and word not in following[before]:
            following[before][word] = new
            before = shorter[before]
        if before >= 0:
            reached = following[before][word]
            if longest[reached] > longest[before] + 1:  # divided: its shorter strings now end in more places
                copy = len(longest)
                following.append(dict(following[reached]))
                longest.append(longest[before] + 1)
                shorter.append(shorter[reached])
                while before >= 0 and following[before].get(word) == reached:
                    following[before][word] = copy
                    before = shorter[before]
                shorter[reached] = reached = copy
            shorter[new] = reached
        matched = max(matched - 1, 0)
        while state and longest[shorter[state]] >= matched:
            state = shorter[state]


def compressed_bits(texts: Sequence[str], compressor: Compressor = "lzma") -> float:
    """Compute the compressed size in bits of texts, each ended by a line feed.

    The compressor is given characters, not UTF-8: those that occur are numbered by code point, and a number is
    one byte, or two if there are more than 256. In UTF-8, where a Greek or Cyrillic letter is two bytes and
    one of most other scripts three, the same text takes more bits for its script alone: LZMA 6 to 16 % and
    zlib 18 to 30 % in non-Latin New Testaments, as much as languages differ.

    See Also
    --------
    langdiff.lm.lzma_bits : what test texts add to training texts, as a baseline for language models.

    Examples
    --------
    >>> compressed_bits(["a rose is a rose is a rose"] * 100) < compressed_bits([str(7**n) for n in range(100)])
    True
    >>> compressed_bits(["abba baab"]) == compressed_bits(["πρρπ ρππρ"])
    True
    """
    if compressor not in ("lzma", "zlib"):
        raise ConfigError(f"unknown compressor {compressor!r}; use 'lzma' or 'zlib'.")
    data, width = _numbered("".join(f"{text}\n" for text in texts))
    if compressor == "zlib":
        deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)  # negative: neither header nor check sum
        return 8.0 * len(deflate.compress(data) + deflate.flush()) if data else 0.0
    aligned = width // 2  # 0 for one byte per character, 1 for two
    filters = [
        {
            "id": lzma.FILTER_LZMA1,
            "preset": 9 | lzma.PRESET_EXTREME,
            "dict_size": max(len(data), 1 << 12),  # the whole text; at least the smallest size that LZMA takes
            "pb": aligned,
            "lp": aligned,
        }
    ]
    ends = len(lzma.compress(b"", lzma.FORMAT_RAW, filters=filters))
    return 8.0 * (len(lzma.compress(data, lzma.FORMAT_RAW, filters=filters)) - ends)


def _numbered(text: str) -> tuple[bytes, int]:
    """Return the characters as numbers, and the bytes of a number."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    occurs = np.zeros(int(codes.max(initial=0)) + 1, dtype=np.bool_)
    occurs[codes] = True
    characters = int(occurs.sum())
    width = 1 if characters <= 256 else 2 if characters <= 65_536 else 4
    rank = np.cumsum(occurs, dtype=np.int64) - 1  # shape (code points,): place among those that occur
    number_of: npt.NDArray[np.generic] = rank.astype(np.dtype(f"<u{width}"))
    return number_of[codes].tobytes(), width


def _plug_in(tokens: Floats) -> float:
    share = tokens / tokens.sum()
    return float(-(share * np.log2(share)).sum()) + 0.0  # no -0.0 for a single type


def _chao_shen(tokens: Floats) -> float:
    total = tokens.sum()
    if total == 1:
        return 0.0
    once = min(float((tokens == 1).sum()), total - 1)
    share = (1 - once / total) * tokens / total
    if len(tokens) == 1:
        return 0.0
    seen = -np.expm1(total * np.log1p(-share))  # 1 - (1 - p)^N, also where N p is tiny
    return float(-(share * np.log2(share) / seen).sum())


def _check_words(counts: Mapping[str, int]) -> None:
    if not counts:
        raise DataError("no word to count: the text is empty.")

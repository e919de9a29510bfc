"""One table of predictors, editions × predictors, from texts (entropy, compression) and properties of languages."""

import lzma
import math
import zlib
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from langdiff.base.iso639 import iso639_3
from langdiff.base.progress import progress_bar
from langdiff.base.result import Drawn, Result
from langdiff.base.types import Floats
from langdiff.corpora import tokenize
from langdiff.errors import ConfigError, DataError, listing, option, warn
from langdiff.tables.multitext import Multitext, check_multitext
from langdiff.tables.text_features import separates_words
from langdiff.typology.predictors.external import (
    Column,
    Lexicons,
    Syncretism,
    Treebanks,
    check_codes,
    lang2vec_columns,
    lexicon_column,
    treebank_columns,
    wals_columns,
)
from langdiff.typology.predictors.wals import Wals

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


FEATURES = ("26A", "81A")  # those of the paper
_UNITS = {
    "characters": "characters",
    "word_tokens": "tokens",
    "word_types": "types",
    "type_token_ratio": "types per token",
    "unigram_entropy": "bits per token",
    "entropy_rate": "bits per token",
    "compression_bits_per_character": "bits per character",
    "compression_bits_per_intent": "bits per intent",
}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Predictors(Result):
    """Predictors of difficulty, one row per edition.

    Attributes
    ----------
    values : DataFrame, shape (J, P)
        Editions × predictors; numbers, or categories (WALS). NaN where a value is missing: see `missing`.
    language : Series of str, shape (J,)
        ISO 639-3 code of each edition, NaN where it is not known.
    info : DataFrame, P rows
        One row per predictor: ``kind`` (``"numeric"`` or ``"categorical"``), ``unit``, ``source``, ``editions`` (number
        of editions with a value) and ``distinct`` (number of different values; a predictor with one value cannot
        correlate with anything).
    missing : DataFrame
        One row per missing value: ``edition``, ``predictor``, ``reason``.
    """

    values: pd.DataFrame
    language: pd.Series
    info: pd.DataFrame
    missing: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """Return ``language`` and the predictors, one row per edition."""
        return pd.concat([self.language, self.values], axis=1)

    def _notes(self) -> Iterator[str]:
        """Yield which predictors are constant, and which values are missing for what reason."""
        constant = list(self.info.index[self.info["distinct"] == 1])
        if constant:
            yield f"The same everywhere, so of no use as predictors: {listing(constant)}"
        alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}  # predictors missing in the same editions
        for (predictor, reason), rows in self.missing.groupby(["predictor", "reason"], sort=False):
            alike.setdefault((str(reason), tuple(rows["edition"])), []).append(str(predictor))
        for (reason, editions), names in alike.items():
            yield f"{', '.join(names)} missing in {len(editions)} ({reason}): {listing(editions)}"

    def _table(self) -> pd.DataFrame:
        """Return source and range of the predictors."""
        numbers = self.values.select_dtypes("number")
        return self.info.join(numbers.agg(["min", "median", "max"]).T.map("{:.6g}".format)).fillna("")

    plot = Drawn("plot_predictor")

    def __repr__(self) -> str:
        """Return a one-line description with the size of the table and the number of missing values."""
        editions, count = self.values.shape
        return (
            f"Predictors: {editions} editions ({self.language.nunique()} languages) × {count} predictors, "
            f"{len(self.missing)} of {self.values.size} values missing"
        )


def predictors(
    multitext: Multitext,
    *,
    tokenized: bool = False,
    entropy: EntropyEstimator = "plug-in",
    compressor: Compressor = "lzma",
    treebanks: Treebanks | None = None,
    lexicons: Lexicons | None = None,
    syncretism: Syncretism = "count",
    wals: str | Path | Wals | None = None,
    features: str | Iterable[str] = FEATURES,
    lang2vec: str | Iterable[str] = (),
    progress: bool | None = None,
) -> Predictors:
    """Compute predictors of difficulty for every edition (Mielke et al. 2019, section 5).

    Always ``characters`` (of the text as it is), ``word_tokens``, ``word_types``, ``type_token_ratio``,
    ``unigram_entropy``, ``entropy_rate``, ``compression_bits_per_character`` and ``compression_bits_per_intent``. The
    others come with their sources: ``hpe_mean``, ``hpe_skew`` and ``dependency_length`` with treebanks, ``mcc`` with
    lexicons, features of WALS and of lang2vec under their own names.

    Parameters
    ----------
    multitext : Multitext
        Texts of all editions; the paper counts words in the training text, ``parts.train``. Every edition should
        have every intent (`Multitext.dropna`): counts of different contents cannot be compared.
    tokenized : bool
        Whether the texts are tokenized already; if not, words are counted after `langdiff.tokenize`.
    entropy : {"plug-in", "miller-madow", "chao-shen"}
        Estimator of the entropy of words; see `langdiff.typology.predictors.table.unigram_entropy`.
    compressor : {"lzma", "zlib"}
        Program that measures compressed size; see `langdiff.typology.predictors.table.compressed_bits`.
    treebanks : path or mapping, optional
        Folder of CoNLL-U files named by edition or language (``deu.conllu``, ``de_pud.conllu.gz``), or
        a mapping from edition or language to one file or several.
    lexicons : path or mapping, optional
        Folder of lexicons in UniMorph's format, named in the same way, or as frames with columns ``lemma``, ``form``
        and ``features``.
    syncretism : {"count", "merge"}
        Whether cells that no word of a lexicon distinguishes count separately or as one in ``mcc``.
    wals : path or Wals, optional
        Folder of the CLDF tables of WALS; or the result of `langdiff.typology.read_wals`.
    features : str or iterable of str
        Ids of the WALS features to look up, used with `wals`.
    lang2vec : str or iterable of str
        Features of URIEL to look up, each written ``SET:FEATURE``; needs the extra ``lang2vec``.
    progress : bool, optional
        Draw a bar on stderr; by default only on a terminal.

    Returns
    -------
    Predictors
        One row per edition and one column per predictor, with units, sources and reasons of missing values.

    Raises
    ------
    DataError
        If a source cannot be read, or has no value for any edition.
    ConfigError
        If `multitext` is not one, a feature or option is unknown, a mapping names no edition or language of it, or
        `features` are given without `wals`, or `syncretism` without `lexicons`.
    MissingExtraError
        If lang2vec is asked for and not installed.

    Warns
    -----
    LangdiffWarning
        If intents are missing; if words cannot be counted since none are separated by spaces (those predictors
        are then missing); if editions have no ISO 639-3 code and a source is joined by it.

    Examples
    --------
    >>> import langdiff as ld
    >>> frame = pd.DataFrame({"eng": ["two dogs", "two cats"], "deu": ["zwei Hunde", "zwei Katzen"]})
    >>> ld.predictors(ld.read_frame(frame)).to_frame()[["language", "characters", "word_types"]]
            language  characters  word_types
    edition
    eng          eng        16.0         3.0
    deu          deu        21.0         3.0
    """
    check_multitext(multitext)
    features, lang2vec = _names(features), _names(lang2vec)
    _check_used(features, wals is not None, syncretism, lexicons is not None)
    codes = {str(edition): iso639_3(code) for edition, code in multitext.edition_info["language"].items()}
    external: list[Column] = []  # before the texts are read, so that errors are reported at once
    if wals is not None or lang2vec:
        check_codes(codes)
    if wals is not None:
        external += wals_columns(wals, features, codes)
    if lang2vec:
        external += lang2vec_columns(lang2vec, codes)
    if lexicons is not None:
        external.append(lexicon_column(lexicons, syncretism, codes))
    if treebanks is not None:
        external += treebank_columns(treebanks, codes, progress)
    _warn_of_gaps(multitext)
    of_texts = _text_columns(multitext, tokenized, entropy, compressor, progress)
    return _assemble(multitext, codes, [*of_texts, *external])


def _check_used(features: list[str], has_wals: bool, syncretism: Syncretism, has_lexicons: bool) -> None:
    """Check that every option has its source, and every source some predictor."""
    if not has_wals and features != list(FEATURES):
        raise ConfigError(f"features {listing(features)} are of WALS: give the folder of its tables as wals, too.")
    if has_wals and not features:
        raise ConfigError("no features are named: name those to look up in WALS, or leave wals out.")
    if not has_lexicons and syncretism != "count":
        raise ConfigError(
            f"{option('syncretism', syncretism)} is for lexicons, and none are given: give them, or leave it out."
        )


def _text_columns(
    multitext: Multitext, tokenized: bool, entropy: EntropyEstimator, compressor: Compressor, progress: bool | None
) -> list[Column]:
    rows, reasons = {}, {}
    with progress_bar(progress=progress) as bar:
        task = bar.add_task("predictors", total=len(multitext.editions), note="")
        for edition in multitext.editions:
            bar.update(task, note=edition)
            texts = multitext.text(edition).tolist()
            rows[edition] = _of_text(texts, tokenized, entropy, compressor)
            reasons[edition] = "no spaces between words" if texts else "no text"
            bar.advance(task)
    unspaced = [edition for edition, row in rows.items() if row and "word_types" not in row]
    if unspaced:
        warn(
            f"{len(unspaced)} edition(s) do not separate words by spaces: {listing(unspaced)}; predictors made of "
            "words are missing there. Segment those texts to have them."
        )
    sources = {"unigram": f"text, {entropy}", "compression": f"text, {compressor}"}
    return [
        Column(
            name=name,
            unit=unit,
            source=sources.get(name.partition("_")[0], "text"),
            values={edition: row[name] for edition, row in rows.items() if name in row},
            missing={edition: reasons[edition] for edition, row in rows.items() if name not in row},
        )
        for name, unit in _UNITS.items()
    ]


def _of_text(texts: list[str], tokenized: bool, entropy: EntropyEstimator, compressor: Compressor) -> dict[str, float]:
    """Return the predictors that are computed from a text, by name."""
    if not texts:
        return {}
    words = list(words_of(texts, tokenized=tokenized))
    counts = Counter(words)
    characters, bits = sum(map(len, texts)), compressed_bits(texts, compressor)
    of_words = {
        "word_tokens": sum(counts.values()),
        "word_types": len(counts),
        "type_token_ratio": type_token_ratio(counts),
        "unigram_entropy": unigram_entropy(counts, entropy),
        "entropy_rate": entropy_rate(words),
    }
    return {
        "characters": characters,
        **(of_words if separates_words(counts) else {}),
        "compression_bits_per_character": bits / characters,
        "compression_bits_per_intent": bits / len(texts),
    }


def _assemble(multitext: Multitext, codes: Mapping[str, str | None], columns: Sequence[Column]) -> Predictors:
    values = {column.name: column.series(multitext.editions) for column in columns}
    info = {
        column.name: {
            "kind": "numeric" if column.categories is None else "categorical",
            "unit": column.unit,
            "source": column.source,
            "editions": len(column.values),
            "distinct": values[column.name].nunique(),
        }
        for column in columns
    }
    missing = [(edition, column.name, reason) for column in columns for edition, reason in column.missing.items()]
    given = multitext.edition_info["language"]
    return Predictors(
        values=pd.DataFrame(values, index=multitext.editions),
        language=pd.Series([codes[e] or given[e] for e in given.index], given.index, dtype=object, name="language"),
        info=pd.DataFrame.from_dict(info, orient="index").rename_axis("predictor"),
        missing=pd.DataFrame(missing, columns=["edition", "predictor", "reason"]),
    )


def _names(names: str | Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(dict.fromkeys(names))


def _warn_of_gaps(multitext: Multitext) -> None:
    have = multitext.presence.sum()
    short = have[have < len(multitext)].sort_values()
    if len(short):
        warn(
            f"{len(short)} of {len(have)} editions lack some of the {len(multitext):,} intents, most of all "
            f"{short.index[0]!r}, which has {short.iloc[0]:,}. Counts of different contents cannot be compared: "
            "keep the intents that all editions have, or select editions first."
        )

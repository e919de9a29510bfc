"""Surprisals of single tokens, and their sums over texts and over words."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from langdiff.base.result import Result, rounded
from langdiff.base.types import Booleans
from langdiff.errors import ConfigError, DataError, listing, warn
from langdiff.tables.long_tables import LongTable, Unit, as_bits, as_pandas, check_unit, numbers_of, read_table_file
from langdiff.tables.surprisals import Surprisals

SPACES = (" ", "▁", "Ġ")  # with which tokens begin that begin a word
END = ""  # stands for the end of a text
COLUMNS = ("intent", "edition", "token", "bits")
BOUNDARIES = ("boundary", "boundary_bits")  # of what may be read, the second of what is written


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TokenScores(Result):
    """Surprisals (bits) of all tokens of texts, in their order.

    Attributes
    ----------
    tokens : DataFrame
        One row per token: ``intent``, ``edition``, ``token``, ``bits``; an empty token is the end of a text. And, if it
        is known, ``boundary_bits``: −log2 of the probability that, after this token, a word begins or the text ends;
        ``text``, the characters that the token covers, where tokens are written otherwise; and ``begins_word``, whether
        a word begins with the token. Where this is not told, one begins with every token that starts with a space,
        ``▁`` or ``Ġ``.
    """

    tokens: pd.DataFrame

    digits = 3

    @property
    def has_boundaries(self) -> bool:
        """Whether word surprisals can be corrected for spaces that tokens attach to the next word."""
        return "boundary_bits" in self.tokens

    def to_frame(self) -> pd.DataFrame:
        """Return one row per token."""
        return self.tokens.copy()

    def surprisals(self, *, lm: str = "unknown") -> Surprisals:
        """Return the surprisals of texts, summed over tokens.

        Parameters
        ----------
        lm : str
            Name of the language model.

        Returns
        -------
        Surprisals
            Bits and tokens of every intent in every edition, and the bits of the end where it was scored.

        Warns
        -----
        LangdiffWarning
            If only some texts have an end that was scored.
        """
        intents, editions = self.tokens["intent"].unique(), self.tokens["edition"].unique()

        def wide(rows: pd.DataFrame, what: str) -> pd.DataFrame:
            found = rows.groupby(["intent", "edition"], sort=False)["bits"].agg(what).unstack("edition")
            return found.reindex(index=intents, columns=editions)

        is_end = self.tokens["token"] == END
        ends = self.tokens[is_end]
        texts = len(self.tokens[["intent", "edition"]].drop_duplicates())
        if 0 < len(ends) < texts:
            warn(
                f"{texts - len(ends):,} of {texts:,} texts have no end that was scored: the bits of the others are of "
                "more. Score the end of all texts, or of none."
            )
        return Surprisals(
            bits=wide(self.tokens, "sum"),
            eos_bits=wide(ends, "sum") if len(ends) else None,
            units=wide(self.tokens[~is_end], "size"),
            lm=lm,
        )

    def words(self) -> pd.DataFrame:
        r"""Return the surprisals of words, summed over tokens.

        A tokenizer that joins a space to the word after it scores the end of a word with the next token. The
        probability of a word is then that of its tokens times

        .. math:: \frac{P(\text{a word begins, or the text ends} \mid \text{context, word})}
                       {P(\text{a word begins, or the text ends} \mid \text{context})}

        The denominator is 1 at the start of a text, where a word always begins; the numerator is 1 after the last token
        that was scored. The words of a text and its end multiply to the probability of the text.

        Returns
        -------
        DataFrame
            One row per word: ``intent``, ``edition``, ``place`` (from 0), ``word``, ``tokens`` and ``bits``; and
            ``corrected_bits``, NaN where no boundary is known. The end of a text is an empty word. A space before a
            word is part of its tokens and its bits, but not of ``word``.

        References
        ----------
        Pimentel and Meister (2024), "How to Compute the Probability of a Word"; Oh and Schuler (2024), "Leading
        Whitespaces of Language Models' Subword Vocabulary Pose a Confound for Calculating Word Probabilities".
        """
        table = self.tokens
        text = table.groupby(["intent", "edition"], sort=False).ngroup().to_numpy()
        new_text = np.diff(text, prepend=-1) != 0
        told = "begins_word" in table
        begins = new_text | (table["begins_word"].to_numpy(dtype=bool) if told else _begins_word(table["token"]))
        word = np.cumsum(begins) - 1
        first = np.flatnonzero(begins)
        sums = np.bincount(word, weights=table["bits"])
        rows = table.iloc[first][["intent", "edition"]].reset_index(drop=True)
        rows["place"] = np.arange(len(first)) - np.maximum.accumulate(
            np.where(new_text[first], np.arange(len(first)), 0)
        )
        if "text" in table:
            rows["word"] = table["text"].groupby(word).sum().map(str.strip).to_numpy()
        else:
            rows["word"] = table["token"].groupby(word).sum().str.lstrip("".join(SPACES)).to_numpy()
        rows["tokens"] = np.bincount(word)
        rows["bits"] = sums
        rows["corrected_bits"] = np.nan
        if self.has_boundaries:
            after = table["boundary_bits"].to_numpy()[np.append(first[1:], len(table)) - 1]
            last = np.append(new_text[first][1:], True)
            after = np.where(last, 0.0, after)  # the text is over, and was scored as far as it was
            before = np.where(new_text[first], 0.0, np.append(0.0, after[:-1]))
            rows["corrected_bits"] = sums + after - before
        return rows

    def _table(self) -> pd.DataFrame:
        columns = {"size": "tokens", "mean": "bits per token"}
        per = self.tokens.groupby("edition", sort=False)["bits"].agg(list(columns)).rename(columns=columns)
        return rounded(per, self.digits)

    def __repr__(self) -> str:
        """Return the numbers of tokens, texts and editions in one line."""
        texts = self.tokens[["intent", "edition"]].drop_duplicates()
        known = "" if self.has_boundaries else ", boundaries of words not scored"
        return f"TokenScores: {len(self.tokens):,} tokens of {len(texts):,} texts in {texts['edition'].nunique():,} \
editions{known}"


def _begins_word(tokens: pd.Series) -> Booleans:
    found: Booleans = (tokens.str.startswith(SPACES) | (tokens == END)).to_numpy(dtype=bool)
    return found


def read_token_scores(
    source: str | Path | LongTable, *, unit: Unit, bits: str = "bits", boundary: str | None = None
) -> TokenScores:
    r"""Read the surprisals of single tokens.

    Parameters
    ----------
    source : str, Path, DataFrame, mapping of lists, or table of Polars or PyArrow
        Table with columns ``intent``, ``edition`` and ``token``, in the order of the text; a token that begins a word
        starts with a space, ``▁`` or ``Ġ``. An empty token at the end of a text stands for its end. A column
        ``begins_word`` (true or false), as `langdiff score --per token` writes it, tells instead where words begin, and
        a column ``text`` beside it what tokens cover.
    unit : {"bits", "nats", "log10"}
        Base of the logarithms.
    bits : str
        Column of the surprisals of tokens, or of their log-probabilities.
    boundary : str, optional
        Column of the log-probability (or its negative, as in `bits`) that after this token a word begins or the text
        ends: the sum over all tokens that start with a space, and the end. By default ``boundary`` or, as
        `langdiff score --per token` writes it, ``boundary_bits``, if there is one. It is not used after the last token
        of a text, and may be missing there.

    Returns
    -------
    TokenScores
        The table in bits.

    Raises
    ------
    DataError
        If there is no token, a column, a name or a number is missing or has the wrong sign, the rows of a text are not
        together, or something follows an end.
    ConfigError
        If the unit is unknown.

    Examples
    --------
    >>> table = {
    ...     "intent": ["1"] * 3,
    ...     "edition": ["eng"] * 3,
    ...     "token": ["un", "do", " it"],
    ...     "bits": [-3.0, -1.0, -2.0],
    ...     "boundary": [-4.0, -0.5, -1.0],
    ... }
    >>> read_token_scores(table, unit="bits").words()[["word", "tokens", "bits", "corrected_bits"]]
       word  tokens  bits  corrected_bits
    0  undo       2   4.0             4.5
    1    it       1   2.0             1.5
    """
    check_unit(unit)
    is_file = isinstance(source, str | Path)
    where = str(source) if is_file else "the table"
    frame = read_table_file(Path(str(source))) if is_file else as_pandas(source)
    if frame is None:
        raise DataError(f"scores of tokens are a file or a table, not {type(source).__name__}.")
    boundary = boundary or next((name for name in BOUNDARIES if name in frame), BOUNDARIES[0])
    absent = [name for name in ("intent", "edition", "token", bits) if name not in frame]
    if absent:
        raise DataError(f"{where}: no column {listing(absent)}; there are {listing(frame.columns, 20)}.")
    if bits == boundary:
        raise ConfigError(f"bits and boundary are different columns; got {bits!r} for both.")
    if frame.empty:
        raise DataError(f"{where}: no token.")
    unnamed = np.flatnonzero(frame[["intent", "edition"]].isna().any(axis=1))
    if len(unnamed):
        raise DataError(
            f"{where}: {len(unnamed):,} token(s) without intent or edition, the first in row {unnamed[0] + 1}."
        )
    columns = [bits, boundary] if boundary in frame else [bits]
    numbers = pd.DataFrame({name: numbers_of(frame[name], Path(where)) for name in columns})
    unknown = numbers.isna()
    if boundary in frame:
        unknown[boundary] &= ~_is_last(frame)
    missing = np.flatnonzero(unknown.any(axis=1))
    if len(missing):
        raise DataError(f"{where}: {len(missing):,} token(s) without a number, the first in row {missing[0] + 1}.")
    numbers = as_bits(numbers, unit, where)
    if np.isinf(numbers.to_numpy()).any():
        raise DataError(f"{where}: infinite numbers; a token that occurs has a probability above 0.")
    table = frame[["intent", "edition"]].assign(token=frame["token"].fillna(END).astype(str), bits=numbers[bits])
    if boundary in frame:
        table["boundary_bits"] = numbers[boundary]
    table = table.assign(**_words_told(frame, where))
    _check_texts(table, where)
    return TokenScores(tokens=table.reset_index(drop=True))


def _words_told(frame: pd.DataFrame, where: str) -> dict[str, pd.Series]:
    """Return the columns ``begins_word`` and ``text`` of a table that marks word beginnings."""
    if "begins_word" not in frame:
        return {}  # a column named text may then be anything
    told = frame["begins_word"]
    truths = told.astype(str).str.lower().map({"true": True, "false": False})
    wrong = np.flatnonzero(truths.isna())
    if len(wrong):
        raise DataError(
            f"{where}: the column 'begins_word' is true or false, but {told.iloc[wrong[0]]!r} in row {wrong[0] + 1}."
        )
    columns = {"begins_word": truths.astype(bool)}
    return columns | ({"text": frame["text"].fillna("").astype(str)} if "text" in frame else {})


def _is_last(table: pd.DataFrame) -> Booleans:
    """Return an indicator of the last token of each text."""
    text = table.groupby(["intent", "edition"], sort=False).ngroup().to_numpy()
    return np.append(np.diff(text) != 0, True)


def _check_texts(table: pd.DataFrame, where: str) -> None:
    text = table.groupby(["intent", "edition"], sort=False).ngroup().to_numpy()
    starts = np.flatnonzero(np.diff(text, prepend=-1) != 0)
    if len(starts) > (text.max(initial=-1) + 1):
        row = table.iloc[starts[np.flatnonzero(pd.Series(text[starts]).duplicated())[0]]]
        raise DataError(
            f"{where}: the tokens of intent {row['intent']!r} in edition {row['edition']!r} are not together. Give the "
            "rows of each text in its order, without others between."
        )
    early = np.flatnonzero((table["token"] == END).to_numpy() & ~_is_last(table))
    if len(early):
        raise DataError(f"{where}, row {early[0] + 1}: an empty token stands for the end of a text, but more follows.")

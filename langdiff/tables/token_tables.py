"""Surprisals of single tokens, and their sums over texts and over words."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from langdiff.base.result import Result, rounded
from langdiff.base.types import Booleans
from langdiff.errors import warn
from langdiff.tables.surprisals import Surprisals

SPACES = (" ", "▁", "Ġ")  # with which tokens begin that begin a word
END = ""  # stands for the end of a text


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
    return (tokens.str.startswith(SPACES) | (tokens == END)).to_numpy(dtype=bool)

"""Figures of papers on many languages: bytes and tokens for the same content, translation, small language models."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

import numpy as np
import pandas as pd

from langdiff.base.cells import read_exact_csv
from langdiff.base.result import Result

FIRST = 10  # rows that a summary shows


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PublishedFigures(Result):
    """Table of figures with its paper and the terms of its publication.

    Attributes
    ----------
    name : str
        Name of the function that returns them.
    figures : DataFrame
        The figures, one row per edition or language.
    paper : str
        Authors, year and title.
    source : str
        Where the figures were taken from.
    licence : str
        Terms of the source.
    """

    name: str
    figures: pd.DataFrame
    paper: str
    source: str
    licence: str

    def _lines(self) -> Iterator[str]:
        yield from (repr(self), f"{self.paper}.", f"Source: {self.source}. Licence: {self.licence}.")

    def _table(self) -> pd.DataFrame:
        return self.figures.head(FIRST)

    def _notes(self) -> Iterator[str]:
        if len(self.figures) > FIRST:
            yield f"The first {FIRST} of {len(self.figures):,} rows."

    def __repr__(self) -> str:
        """Return the size of the table."""
        rows, columns = self.figures.shape
        return f"{self.name}: {rows:,} rows × {columns} columns"


def byte_premium2024() -> PublishedFigures:
    """Return the byte premiums of Arnett, Chang and Bergen (2024), shipped with the package.

    UTF-8 bytes for the same content relative to English, by corpus. Indexed by ``lang`` (ISO 639-3 and script, in
    lower case): ``iso``, ``script_name``, ``writing_type``; ``byte_coef_CORPUS``, ``char_coef_CORPUS`` and
    ``bytes_per_char_CORPUS``; and ``byte_coef``, what the authors' tool returns by default, with its ``source``
    (``nllb``, which was mined from the web, else ``flores``, else ``bible``).

    Returns
    -------
    PublishedFigures
        1,318 rows, of which 1,155 have a default.

    Examples
    --------
    >>> byte_premium2024().figures.loc["mya_mymr", ["byte_coef", "byte_coef_flores_2000lines"]].round(2).tolist()
    [5.1, 3.51]
    """
    return _published("byte_premium2024")


def tokenization_lengths2023() -> PublishedFigures:
    """Return the token counts of Petrov, La Malfa, Torr and Bibi (2023), shipped with the package.

    Tokens of all 2,009 sentences of FLORES-200 by tokenizer (columns), special tokens included: ``ByT5`` is the number
    of UTF-8 bytes and ``CANINE`` that of code points, each plus 2,010. Indexed by ``edition``; ``Language`` is its
    English name.

    Returns
    -------
    PublishedFigures
        204 rows.

    Examples
    --------
    >>> counts = tokenization_lengths2023().figures["cl100k_base"]
    >>> float((counts["shn_Mymr"] / counts["eng_Latn"]).round(2))
    15.05
    """
    return _published("tokenization_lengths2023")


def xmi2020() -> PublishedFigures:
    """Return the figures of translation of Bugliarello et al. (2020), shipped with the package.

    Indexed by ``language`` (ISO 639-1). Bits per sentence of Europarl by Transformers: ``bits_lm`` of the language by a
    language model, ``bits_lm_english`` of English; ``bits_mt_into`` of the language given English, ``bits_mt_out_of``
    of English given the language; ``xmi_into`` and ``xmi_out_of``, what the source spares; ``bleu_into``,
    ``bleu_out_of``.

    Returns
    -------
    PublishedFigures
        20 rows, the other languages of Europarl.

    Examples
    --------
    >>> xmi2020().figures[["xmi_into", "xmi_out_of"]].mean().round(2).tolist()
    [102.16, 96.91]
    """
    return _published("xmi2020")


def goldfish2024() -> PublishedFigures:
    """Return the FLORES-200 figures of Chang, Arnett, Tu and Bergen (2024), shipped with the package.

    Mean bits of the second half of each sentence given its first half. Indexed by ``flores_lang``: ``goldfish_5mb`` to
    ``goldfish_1000mb``, monolingual models by size of their training data; ``ngram1``, ``ngram2``; ``xglm4b5``,
    ``xglm7b5``, ``bloom7b1``, and whether the language was among their training data. ``goldfish_used`` is the language
    of the model: use a row only where it is the row's own.

    Returns
    -------
    PublishedFigures
        204 rows, of which 167 have a model of their own language.

    Examples
    --------
    >>> table = goldfish2024().figures
    >>> int((table["goldfish_used"] == table.index).sum())
    167
    """
    return _published("goldfish2024")


def belebele2024() -> PublishedFigures:
    """Return the Belebele scores of Chang, Arnett, Tu and Bergen (2024), shipped with the package.

    Numbers of right answers to the same 900 questions with four choices each, indexed by ``belebele_lang``:
    ``goldfish``, monolingual models; ``xglm7b5``, ``xglm4b5``, ``bloom7b1``, ``mala500``. ``goldfish_used`` is the
    language of the monolingual model. Who always guesses has 225 right on average.

    Returns
    -------
    PublishedFigures
        122 rows.

    Examples
    --------
    >>> table = belebele2024().figures
    >>> (table.drop(columns="goldfish_used").median() / 900).round(4).to_dict()
    {'goldfish': 0.2828, 'xglm7b5': 0.2989, 'xglm4b5': 0.3, 'bloom7b1': 0.3, 'mala500': 0.2972}
    """
    return _published("belebele2024")


def _published(name: str) -> PublishedFigures:
    """Return the figures of a paper, which is described in ``published_figures.csv``."""
    about: dict[Any, Any] = read_shipped("published_figures.csv").set_index("name").loc[name].to_dict()
    return PublishedFigures(name=name, figures=read_shipped(f"{name}.csv", index_col=0), **about)


def read_shipped(name: str, **options: Any) -> pd.DataFrame:
    """Read a CSV file of this package with exact numbers; only empty cells are missing, not names such as NA."""
    usual: dict[str, Any] = {"keep_default_na": False, "na_values": [""]}
    return read_exact_csv(resources.files("langdiff.datasets").joinpath(name), **usual | options)


Corpus = Literal["europarl", "bibles"]
LanguageSet = Literal["iso_join", "iso_join_without_cmn", "reconstruction"]

PREDICTORS = {
    "bibles": ["characters", "bpe_tokens", "word_tokens", "word_types", "unigram_entropy"],
    "europarl": [
        *["mcc", "dependency_length", "hpe_mean", "hpe_skew"],
        *["characters", "bpe_tokens", "word_tokens", "word_types", "unigram_entropy"],
    ],
}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Mielke2019:
    """Figures of "What Kind of Language Is Hard to Language-Model?" (ACL 2019, arXiv 1906.04726).

    The numbers are those of ``analysis.py`` in ``github.com/sjmielke/whatkind-scripts`` (revision
    74d44ef). Values of WALS are from release v2020.4 (Dryer and Haspelmath, CC BY 4.0). Families of the
    Bibles' languages agree with the counts in the paper's footnote 18, genera of Europarl's with WALS.

    Attributes
    ----------
    europarl : DataFrame, 21 rows
        Indexed by edition (ISO 639-1); ``language`` (ISO 639-3), ``family``, ``genus``; difficulty factors
        exp(d) under three language models, each adding up to 21: ``factor_bpe`` (0.4 merges per word type),
        ``factor_bpe_best`` (merges tuned by language), ``factor_char``; and predictors of the training
        text: ``mcc`` (cells of inflection), ``dependency_length`` (tokens, test text), ``hpe_mean``,
        ``hpe_skew``, ``characters``, ``bpe_tokens``, ``word_tokens``, ``word_types`` (counts),
        ``unigram_entropy`` (bits per token).
    bibles : DataFrame, 106 rows
        The same columns for 106 Bibles in 62 languages; the factors add up to 106. No measure of morphology or syntax.
    wals : DataFrame
        Features 26A and 81A of the Bibles' languages, and which ``language_set`` each row is in.
    claims : DataFrame, 76 rows
        Claims of the paper: ``claim``, ``where``, ``published``, how each is recomputed (``kind``, ``about``), and a
        ``note`` where the result disagrees or these figures do not suffice.

    Examples
    --------
    >>> figures = mielke2019()
    >>> figures
    Mielke2019: 21 languages of Europarl, 106 Bibles in 62 languages, 76 claims
    >>> figures.difficulties("bibles").round(3).head(2)
    language_model    bpe   char
    edition
    afr-1953       -0.065  0.003
    aln-aln        -0.002 -0.021
    """

    europarl: pd.DataFrame
    bibles: pd.DataFrame
    wals: pd.DataFrame
    claims: pd.DataFrame

    def editions(self, corpus: Corpus) -> pd.DataFrame:
        """Return `europarl` or `bibles`: one row per edition."""
        return self.europarl if corpus == "europarl" else self.bibles

    def edition_info(self, corpus: Corpus) -> pd.DataFrame:
        """Return language, family and, of Europarl, genus; one row per edition."""
        columns = ["language", "family", "genus"] if corpus == "europarl" else ["language", "family"]
        return self.editions(corpus)[columns]

    def difficulties(self, corpus: Corpus) -> pd.DataFrame:
        """Return the difficulties in nats, ln of the factors: one row per edition, one column per language model."""
        table = self.editions(corpus).filter(like="factor_")
        logs = table.rename(columns=lambda name: name.removeprefix("factor_")).apply(np.log)
        return logs.rename_axis(columns="language_model")

    def predictors(self, corpus: Corpus) -> pd.DataFrame:
        """Return the predictors, ``type_token_ratio`` = types / tokens among them; one row per edition."""
        table = self.editions(corpus)
        return table[PREDICTORS[corpus]].assign(type_token_ratio=table["word_types"] / table["word_tokens"])

    def wals_features(self, language_set: LanguageSet = "iso_join") -> pd.DataFrame:
        """Return features 26A and 81A as categories in the order of WALS: one row per language."""
        if language_set == "reconstruction":
            rows = self.wals[self.wals["in_reconstruction"]]
        else:
            rows = self.wals[self.wals["in_iso_join"]]
            if language_set == "iso_join_without_cmn":
                rows = rows[rows["language"] != "cmn"]
        columns = {}
        for feature, part in rows.groupby("feature"):
            ordered = part.sort_values("value")["value_name"].drop_duplicates()
            columns[str(feature)] = part.set_index("language")["value_name"].astype(
                pd.CategoricalDtype(ordered, ordered=True)
            )
        return pd.DataFrame(columns).sort_index()

    def __repr__(self) -> str:
        """Return the numbers of languages, Bibles and claims."""
        return (
            f"Mielke2019: {len(self.europarl)} languages of Europarl, {len(self.bibles)} Bibles in "
            f"{self.bibles['language'].nunique()} languages, {len(self.claims)} claims"
        )


def mielke2019() -> Mielke2019:
    """Return the published difficulties and predictors of Mielke et al. (2019), shipped with the package.

    Returns
    -------
    Mielke2019
        Frames of difficulty factors, predictors, features and claims.

    Examples
    --------
    >>> mielke2019().europarl.loc["fi", ["language", "genus", "mcc"]].to_dict()
    {'language': 'fin', 'genus': 'Finnic', 'mcc': 198}
    """
    return Mielke2019(
        europarl=read_shipped("mielke2019_europarl.csv", index_col="edition"),
        bibles=read_shipped("mielke2019_bibles.csv", index_col="edition"),
        wals=read_shipped("mielke2019_wals.csv").astype({"in_iso_join": bool, "in_reconstruction": bool}),
        claims=read_shipped("mielke2019_claims.csv", dtype=str, na_values=[]),
    )

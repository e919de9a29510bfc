"""Figures of papers on many languages: bytes and tokens for the same content, translation, small language models."""

from dataclasses import dataclass
from importlib import resources
from typing import Any

import pandas as pd

from langdiff.base.numbers import read_exact_csv
from langdiff.base.result import Result


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

    def to_frame(self) -> pd.DataFrame:
        """Return the figures."""
        return self.figures.copy()

    def summary(self) -> str:
        """Return the description of the figures, their source and their terms."""
        columns = ", ".join(map(str, self.figures.columns))
        return f"{self!r}\n{self.paper}.\nSource: {self.source}. Licence: {self.licence}.\nColumns: {columns}"

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
    about = read_shipped("published_figures.csv", index_col="name").loc[name]
    return PublishedFigures(
        name=name, figures=read_shipped(f"{name}.csv", index_col=0), **{str(key): value for key, value in about.items()}
    )


def read_shipped(name: str, **options: Any) -> pd.DataFrame:
    """Read a CSV file of this package with exact numbers; only empty cells are missing, not names such as NA."""
    usual: dict[str, Any] = {"keep_default_na": False, "na_values": [""]}
    return read_exact_csv(resources.files("langdiff.datasets").joinpath(name), **usual | options)

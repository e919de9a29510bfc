"""Figures of Mielke et al. (2019) behind their sections 4 and 5."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from langdiff.datasets.published_figures import read_shipped

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

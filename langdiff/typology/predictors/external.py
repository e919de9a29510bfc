"""Predictors that come from elsewhere than the text, brought to editions through language codes."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from langdiff.errors import ConfigError, DataError, LangdiffWarning, listing
from langdiff.treebanks import measure_treebanks
from langdiff.typology.predictors.codes import files_by_edition
from langdiff.typology.predictors.lang2vec import lang2vec_features
from langdiff.typology.predictors.lexicon import Syncretism, morphological_counting_complexity, read_unimorph
from langdiff.typology.predictors.wals import Wals, read_wals

Treebanks = str | Path | Mapping[str, Any]  # file or files, by edition or language
Lexicons = str | Path | Mapping[str, str | Path | pd.DataFrame]
Codes = Mapping[str, str | None]  # ISO 639-3 by edition

NO_CODE = "no ISO 639-3 code"
_TREEBANK_UNITS = {"hpe_mean": "bits", "hpe_skew": "", "dependency_length": "words"}


@dataclass(frozen=True, kw_only=True)
class Column:
    """One predictor: for each edition a value, or the reason why it is missing."""

    name: str
    unit: str
    source: str
    values: Mapping[str, Any]
    missing: Mapping[str, str]
    categories: Sequence[str] | None = None  # of a categorical predictor, in order

    def series(self, editions: pd.Index) -> pd.Series:
        """Return the values, NaN where one is missing."""
        values = [self.values.get(edition) for edition in editions]
        if self.categories is None:
            return pd.Series(values, index=editions, dtype="float64")
        return pd.Series(pd.Categorical(values, categories=list(self.categories)), index=editions)


def wals_columns(wals: str | Path | Wals, features: Sequence[str], codes: Codes) -> list[Column]:
    """Look up features of WALS."""
    atlas = wals if isinstance(wals, Wals) else read_wals(wals)
    known = {code for several in atlas.languages["codes"] for code in several}
    columns = []
    for feature in features:
        table = atlas.feature(feature, [code for code in codes.values() if code is not None])
        _warn_of_varieties(feature, table)
        value_of = table["value"].astype(object).to_dict()
        columns.append(
            Column(
                name=feature,
                unit=str(atlas.features[feature]),
                source="WALS",
                values={edition: value_of[code] for edition, code in codes.items() if code in value_of},
                missing={
                    edition: _reason(code, atlas.same_as.get(code or "", code) in known, "WALS")
                    for edition, code in codes.items()
                    if code not in value_of
                },
                categories=list(table["value"].cat.categories),
            )
        )
    return columns


def lang2vec_columns(features: Sequence[str], codes: Codes) -> list[Column]:
    """Look up features of URIEL."""
    table = lang2vec_features(features, [code for code in codes.values() if code is not None])
    columns = []
    for feature in features:
        value_of = table[feature].dropna().to_dict()
        columns.append(
            Column(
                name=feature,
                unit="",
                source="lang2vec",
                values={edition: value_of[code] for edition, code in codes.items() if code in value_of},
                missing={
                    edition: _reason(code, known=True, source="lang2vec")
                    for edition, code in codes.items()
                    if code not in value_of
                },
            )
        )
    return columns


def lexicon_column(lexicons: Lexicons, syncretism: Syncretism, codes: Codes) -> Column:
    """Count the cells of lexicons."""
    cells: dict[int, int] = {}  # several editions may share a lexicon, which is counted once
    values = {}
    lexicon_of = _by_edition(lexicons, codes, "lexicons")
    for edition, lexicon in lexicon_of.items():
        if id(lexicon) not in cells:
            frame = lexicon if isinstance(lexicon, pd.DataFrame) else read_unimorph(lexicon)
            cells[id(lexicon)] = morphological_counting_complexity(frame, syncretism=syncretism)
        values[edition] = cells[id(lexicon)]
    missing = {edition: "no lexicon" for edition in codes if edition not in values}
    return Column(name="mcc", unit="cells", source=f"lexicons, {syncretism}", values=values, missing=missing)


def treebank_columns(treebanks: Treebanks, codes: Codes, progress: bool | None) -> list[Column]:
    """Measure treebanks."""
    treebank_of = _by_edition(treebanks, codes, "treebanks")
    representative: dict[int, str] = {}  # several editions may share a treebank, which is measured once
    for edition, treebank in treebank_of.items():
        representative.setdefault(id(treebank), edition)
    table = measure_treebanks({e: treebank_of[e] for e in representative.values()}, progress=progress).table
    columns = []
    for name, unit in _TREEBANK_UNITS.items():
        column = table[name].astype(float).to_dict()
        measured = {edition: column[representative[id(file)]] for edition, file in treebank_of.items()}
        undefined = {edition: "not defined for so little" for edition, value in measured.items() if value != value}
        values = {edition: value for edition, value in measured.items() if edition not in undefined}
        missing = undefined | {edition: "no treebank" for edition in codes if edition not in measured}
        columns.append(Column(name=name, unit=unit, source="treebanks", values=values, missing=missing))
    return columns


def _by_edition(source: str | Path | Mapping[str, Any], codes: Codes, what: str) -> dict[str, Any]:
    """Return what a mapping or folder has for each edition; what is named by edition goes first."""
    if not isinstance(source, Mapping):
        return dict(files_by_edition(Path(source).expanduser(), codes, what))
    unknown = [name for name in source if name not in codes and name not in codes.values()]
    if unknown or not source:
        languages = sorted({code for code in codes.values() if code is not None})
        raise ConfigError(
            f"{what}: {len(unknown)} of {len(source)} names are neither an edition nor a language of the multitext: "
            f"{listing(unknown)}. Its languages: {listing(languages)}."
        )
    found = {edition: source.get(edition, source.get(code) if code else None) for edition, code in codes.items()}
    return {edition: value for edition, value in found.items() if value is not None}


def _reason(code: str | None, known: bool, source: str) -> str:
    if code is None:
        return NO_CODE
    return f"no value in {source}" if known else f"language not in {source}"


def _warn_of_varieties(feature: str, table: pd.DataFrame) -> None:
    differing = table[table["differing"] != ""]
    if len(differing):
        chosen = [
            f"{code}: {row['name']} ({row['value']}) but {row['differing']}" for code, row in differing.iterrows()
        ]
        warnings.warn(
            f"{feature}: WALS has varieties of {len(chosen)} language(s) with different values: {listing(chosen)}. "
            "The first is taken.",
            LangdiffWarning,
            stacklevel=4,
        )


def check_codes(codes: Codes) -> None:
    """Refuse a multitext whose languages are all unknown; warn of editions whose language is.

    Raises
    ------
    DataError
        If no edition has an ISO 639-3 code.
    """
    without = [edition for edition, code in codes.items() if code is None]
    advice = "Set edition_info['language'], or a column iso639_3 in edition_info."
    if len(without) == len(codes):
        raise DataError(
            f"no edition has an ISO 639-3 code, such as {listing(without)}; nothing can be joined. {advice}"
        )
    if without:
        warnings.warn(
            f"{len(without)} edition(s) have no ISO 639-3 code: {listing(without)}; predictors joined by language "
            f"are missing there. {advice}",
            LangdiffWarning,
            stacklevel=3,
        )

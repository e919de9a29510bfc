"""Features of the World Atlas of Language Structures, from its CLDF tables."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

import pandas as pd

from langdiff.base.cells import exact_numbers
from langdiff.base.io import as_path
from langdiff.base.suspicion import UNKNOWN, Doubts, report
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.typology.glottolog import file_in, read_columns

_PLACE = {"latitude": "Latitude", "longitude": "Longitude", "glottocode": "Glottocode", "macroarea": "Macroarea"}
_EXPECTED = (
    "WALS's CLDF tables, languages.csv, parameters.csv, codes.csv and values.csv, as in cldf/ of "
    "github.com/cldf-datasets/wals"
)
_COLUMNS = {
    "languages": ["ID", "Name", "ISO639P3code"],
    "parameters": ["ID", "Name"],
    "codes": ["ID", "Parameter_ID", "Name", "Number"],
    "values": ["Language_ID", "Parameter_ID", "Code_ID"],
}


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Wals:
    """The tables of WALS, and a join by ISO 639-3 code.

    Attributes
    ----------
    features : Series of str
        Names of features, by id such as ``26A``.
    languages : DataFrame
        Indexed by WALS code: ``name``, ``family``, ``codes`` (ISO 639-3, a tuple), ``sample`` (100 or 200 if it is in
        WALS's sample of that many languages, else 9999), ``coded`` (how many features it has a value for), ``latitude``
        and ``longitude`` (degrees; NaN where not given), ``glottocode`` and ``macroarea`` ("" where not given).
    values : DataFrame
        One row per value: ``language`` (WALS code), ``feature``, ``number``, ``label``.
    same_as : mapping from str to str
        ISO 639-3 codes to be looked up as others; see `read_wals`.
    """

    features: pd.Series
    languages: pd.DataFrame
    values: pd.DataFrame
    same_as: Mapping[str, str] = field(default_factory=dict)

    def feature(self, feature: str, languages: Iterable[str]) -> pd.DataFrame:
        """Look up one feature of languages.

        WALS distinguishes varieties: several of its languages may have the same ISO 639-3 code (``deu`` is German and
        five dialects). Of those with a value for the feature, the one is taken that is in WALS's sample of 100
        languages, else in that of 200, else has the most features coded, else comes first by WALS code. The values of
        the others are reported where they differ. A WALS language with several codes gives its value to each of them
        that no other language has alone.
        """
        if feature not in self.features.index:
            raise ConfigError(_unknown(feature, self.features))
        rows = self.values[self.values["feature"] == feature]
        rows = rows.merge(self.languages, left_on="language", right_index=True)
        labels = rows.sort_values("number")["label"].unique().tolist()
        by_code = dict(tuple(self._ranked(rows).groupby("codes")))
        found = {}
        for code in dict.fromkeys(languages):
            looked_up = self.same_as.get(code, code)
            if looked_up in by_code:
                found[code] = _first(by_code[looked_up])
        table = pd.DataFrame.from_dict(found, orient="index", columns=["value", "wals", "name", "differing"])
        return table.rename_axis("code").assign(value=pd.Categorical(table["value"], categories=labels))

    def places(self, languages: Iterable[str]) -> pd.DataFrame:
        """Look up coordinates of languages, as for ``coordinates=`` of `langdiff.correlate`.

        Of several WALS languages with one code the one is taken that `feature` would take if all had a value.
        """
        rows = self._ranked(self.languages.rename_axis("language").reset_index())
        first = rows.drop_duplicates("codes").set_index("codes").rename(columns={"language": "wals"})
        looked_up = {code: self.same_as.get(code, code) for code in dict.fromkeys(languages)}
        known = {code: wanted for code, wanted in looked_up.items() if wanted in first.index}
        return first.loc[list(known.values()), [*_PLACE, "wals"]].set_axis(pd.Index(list(known), name="code"))

    @staticmethod
    def _ranked(rows: pd.DataFrame) -> pd.DataFrame:
        """Return one row per WALS language and code, the representative of each code before the others."""
        rows = rows.assign(several=rows["codes"].map(len) > 1, fewer=-rows["coded"]).explode("codes")
        return rows.sort_values(["several", "sample", "fewer", "language"])

    def __repr__(self) -> str:
        """Return a one-line description with the numbers of features, languages and values."""
        return f"Wals: {len(self.features)} features of {len(self.languages):,} languages, {len(self.values):,} values"


def read_wals(path: str | Path, *, same_as: Mapping[str, str] | None = None) -> Wals:
    r"""Read the CLDF tables of WALS.

    Parameters
    ----------
    path : str or Path
        Folder with ``languages.csv``, ``parameters.csv``, ``codes.csv`` and ``values.csv`` (each may end in
        ``.gz``), as in ``cldf/`` of the release at github.com/cldf-datasets/wals; or the folder above.
    same_as : mapping from str to str, optional
        ISO 639-3 codes that are to be looked up under other codes. WALS uses ``hbs`` for Serbian-Croatian, ``nor``
        for Norwegian and ``sqi`` for Albanian; ``{"hrv": "hbs"}`` gives Croatian the values of Serbian-Croatian.

    Returns
    -------
    Wals
        Names of features and languages, and the value of each feature in each language.

    Raises
    ------
    DataError
        If a table is missing, cannot be read, lacks columns, or refers to a row that another table lacks.
    ConfigError
        If `same_as` names a code to look up that no language of WALS has.

    Notes
    -----
    The CSV tables are read directly, without CLDF's metadata: a few columns of four tables are needed.

    References
    ----------
    Dryer & Haspelmath (2013), "The World Atlas of Language Structures Online".

    Examples
    --------
    >>> import tempfile
    >>> tables = {
    ...     "languages": "ID,Name,ISO639P3code\nger,German,deu\njpn,Japanese,jpn\n",
    ...     "parameters": "ID,Name\n83A,Order of Object and Verb\n",
    ...     "codes": "ID,Parameter_ID,Name,Number\n83A-1,83A,OV,1\n83A-3,83A,No dominant order,3\n",
    ...     "values": "Language_ID,Parameter_ID,Code_ID\nger,83A,83A-3\njpn,83A,83A-1\n",
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, table in tables.items():
    ...         _ = Path(folder, f"{name}.csv").write_text(table)
    ...     wals = read_wals(folder)
    >>> wals
    Wals: 1 features of 2 languages, 2 values
    >>> wals.feature("83A", ["jpn", "deu", "eng"])["value"].astype(str).to_dict()
    {'jpn': 'OV', 'deu': 'No dominant order'}
    """
    folder = as_path(path).expanduser()
    if (folder / "cldf").is_dir():
        folder = folder / "cldf"
    tables = {
        name: read_columns(file_in(folder, f"{name}.csv", _EXPECTED), columns) for name, columns in _COLUMNS.items()
    }
    languages, codes = tables["languages"], tables["codes"]
    values = _known(folder, tables["values"], codes)
    codes = codes[~codes["Name"].isin(UNKNOWN)]
    _check_known(folder, values["Language_ID"], languages["ID"], "languages")
    _check_known(folder, values["Parameter_ID"], tables["parameters"]["ID"], "parameters")
    _check_known(folder, values["Code_ID"], codes["ID"], "codes")
    unnumbered = codes[~codes["Number"].str.fullmatch("[0-9]+")]
    if len(unnumbered):
        raise DataError(
            f"{folder}: codes.csv gives no whole Number to {len(unnumbered)} code(s): {listing(unnumbered['ID'])}."
        )
    labelled = values.merge(codes, left_on="Code_ID", right_on="ID", suffixes=("", "_of_code"))
    columns = {
        "language": labelled["Language_ID"],
        "feature": labelled["Parameter_ID"],
        "number": labelled["Number"].astype(int),
        "label": labelled["Name"],
    }
    atlas = _languages(languages, values["Language_ID"])
    known_codes = {code for several in atlas["codes"] for code in several}
    unknown = [f"{code} = {other}" for code, other in (same_as or {}).items() if other not in known_codes]
    if unknown:
        raise ConfigError(
            f"{option('same_as')}: no language of WALS has the ISO 639-3 code that {listing(unknown)} would get."
        )
    return Wals(
        features=tables["parameters"].set_index("ID")["Name"],
        languages=atlas,
        values=pd.DataFrame(columns),
        same_as=dict(same_as or {}),
    )


def _known(folder: Path, values: pd.DataFrame, codes: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that have a value: neither it nor its code says that it is not known."""
    names = values["Code_ID"].map(codes.drop_duplicates("ID").set_index("ID")["Name"])
    shown = names.where(names.notna(), values["Value"] if "Value" in values else values["Code_ID"])
    known = ~shown.isin(UNKNOWN | {""})
    doubts = Doubts()
    doubts.see("unknown_value", str(folder), int((~known).sum()), len(values), listing(shown[~known].unique()))
    report(doubts.judged())
    return values[known]


def _first(candidates: pd.DataFrame) -> tuple[str, str, str, str]:
    best = candidates.iloc[0]
    others = candidates[candidates["label"] != best["label"]]
    differing = "; ".join(f"{name}: {label}" for name, label in zip(others["name"], others["label"], strict=True))
    return best["label"], best["language"], best["name"], differing


def _check_known(folder: Path, named: pd.Series, known: pd.Series, table: str) -> None:
    unknown = named[~named.isin(known)].unique()
    if len(unknown):
        raise DataError(
            f"{folder}: {named.name} of {len(unknown)} value(s) is not in {table}.csv: {listing(unknown)}. "
            "Take all tables from one release."
        )


def _languages(table: pd.DataFrame, coded: pd.Series) -> pd.DataFrame:
    """Return the attributes of the languages that have values; see `Wals`."""
    table = table.set_index("ID").loc[coded.unique()]
    sample = pd.Series(9999, index=table.index)
    for size in (200, 100):  # the smaller is part of the larger
        if (column := f"Samples_{size}") in table:
            sample[table[column] == "true"] = size
    columns = {
        "name": table["Name"],
        "family": table.get("Family", ""),
        "codes": table["ISO_codes" if "ISO_codes" in table else "ISO639P3code"].map(lambda codes: tuple(codes.split())),
        "sample": sample,
        "coded": coded.value_counts(),
    }
    for name, column in _PLACE.items():
        columns[name] = table[column] if column in table else pd.Series("", index=table.index)
    frame = pd.DataFrame(columns, index=table.index).rename_axis("wals")
    for name in ("latitude", "longitude"):
        frame[name] = exact_numbers(frame[name])
    return frame


def _unknown(feature: str, features: pd.Series) -> str:
    """Return the message for an unknown feature, with similar ids or names."""
    close = get_close_matches(feature.upper(), features.index, n=3, cutoff=0.5)
    words = [str(feature_id) for feature_id, name in features.items() if feature.lower() in name.lower()]
    likely = list(dict.fromkeys([*close, *words]))[:5] if feature else []
    meant = "; ".join(f"{feature_id} ({features[feature_id]})" for feature_id in likely)
    return (
        f"WALS has no feature {feature!r}. "
        + (f"The most similar: {meant}. " if meant else "")
        + "All are in parameters.csv of the folder, and on wals.info/feature."
    )

"""One row per language with its codes, family, place and features of WALS, for names as users write them."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from langdiff.base.iso639 import ISO_639_3, iso639_3
from langdiff.base.result import Result
from langdiff.errors import ConfigError, DataError, option, words
from langdiff.typology.glottolog import STANDARD, Glottolog, read_glottolog
from langdiff.typology.predictors.table import FEATURES
from langdiff.typology.predictors.wals import Wals, read_wals

CODES = ("glottocode", "iso639_3")
PLACE = ("name", "family", "macroarea", "latitude", "longitude")
MOST_LISTED = 20
# Groups of languages that WALS describes as one, by the languages that belong to them
GROUP = {member: group for group, member in STANDARD.items()} | {
    **dict.fromkeys(("nob", "nno"), "nor"),
    **dict.fromkeys(("bos", "hrv", "srp"), "hbs"),
}
_OWN_NAMES = """
deutsch:deu français:fra español:spa italiano:ita português:por nederlands:nld svenska:swe dansk:dan norsk:nob suomi:fin
eesti:ekk magyar:hun polski:pol čeština:ces slovenčina:slk slovenščina:slv hrvatski:hrv srpski:srp русский:rus
українська:ukr български:bul ελληνικά:ell türkçe:tur العربية:arb עברית:heb فارسی:pes हिन्दी:hin 中文:cmn
日本語:jpn 한국어:kor ไทย:tha euskara:eus català:cat galego:glg română:ron lietuvių:lit latviešu:lvs íslenska:isl
gaeilge:gle cymraeg:cym kiswahili:swh shqip:als
"""
OWN_NAMES = dict(pair.split(":") for pair in _OWN_NAMES.split())  # for suggestions only


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class LanguageTable(Result):
    """Languages by the names that were given.

    Attributes
    ----------
    table : DataFrame, one row per name
        Indexed by name: ``glottocode``, ``iso639_3``, ``name``, ``family``, ``macroarea``, ``latitude`` and
        ``longitude`` (degrees), ``matched_by``, then one column per feature of WALS with names of values. What is not
        known is "" or NaN, and a feature without a value is NaN.
    unmatched : DataFrame
        One row per name that is no language here: ``name`` and ``suggestion``, such as ``German (deu)``, or "".
    remarks : tuple of str
        What was chosen where WALS has several rows for a language, or none but that of a group of languages.
    """

    table: pd.DataFrame
    unmatched: pd.DataFrame
    remarks: tuple[str, ...] = ()

    def _notes(self) -> Iterator[str]:
        """Yield the names that fit no language, each with its suggestion, and the remarks."""
        rows = list(self.unmatched.itertuples(index=False, name=None))
        if rows:
            shown = [f"{name}: {meant}?" if meant else str(name) for name, meant in rows[:MOST_LISTED]]
            where = words(python="in `unmatched`", command="which --unmatched FILE lists")
            more = f"; and {len(rows) - MOST_LISTED} more, {where}" if len(rows) > MOST_LISTED else ""
            yield f"Not matched, {len(rows)} of {len(self.table)} names: {'; '.join(shown)}{more}"
        yield from self.remarks

    def __repr__(self) -> str:
        """Return a one-line description with the numbers of names, matches and features."""
        features = self.table.shape[1] - len(CODES) - len(PLACE) - 1
        return (
            f"LanguageTable: {len(self.table)} names, {len(self.table) - len(self.unmatched)} of them matched, "
            f"{features} features"
        )


def language_table(
    names: Iterable[str],
    *,
    wals: str | Path | Wals | None = None,
    glottolog: str | Path | Glottolog | None = None,
    features: str | Iterable[str] = FEATURES,
) -> LanguageTable:
    r"""Look up languages by their codes or names in Glottolog and WALS.

    A name is tried as a glottocode, a code of ISO 639-3, 639-1 (or 639-2), that of the group of languages to which it
    belongs, such as Norwegian, a code of WALS that is none of ISO 639-3, the name of an edition with
    what follows its first hyphen, underscore or dot removed (``eng-GB``, ``deu_Latn``), and an English name whatever
    its capitals. The first that fits is taken.

    A row of WALS is joined by glottocode, else by code of ISO 639-3, else by that of the group to which the language
    belongs, such as Norwegian. Of several rows the one with most of the features asked for is taken, then the first by
    code of WALS.

    References
    ----------
    Hammarström, Forkel, Haspelmath & Bank (2024), "Glottolog 5.1". Dryer & Haspelmath (2013), "The World Atlas of
    Language Structures Online".

    Examples
    --------
    >>> import tempfile
    >>> tables = {
    ...     "languages": "ID,Name,ISO639P3code,Glottocode,Family\nger,German,deu,stan1295,Indo-European\n",
    ...     "parameters": "ID,Name\n83A,Order of Object and Verb\n",
    ...     "codes": "ID,Parameter_ID,Name,Number\n83A-1,83A,OV,1\n83A-3,83A,No dominant order,3\n",
    ...     "values": "Language_ID,Parameter_ID,Code_ID\nger,83A,83A-3\n",
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, table in tables.items():
    ...         _ = Path(folder, f"{name}.csv").write_text(table)
    ...     found = language_table(["de", "deu-luther", "Germann"], wals=folder, features="83A")
    >>> found.table[["glottocode", "iso639_3", "matched_by", "83A"]]
               glottocode iso639_3 matched_by                83A
    edition
    de           stan1295      deu   iso639_1  No dominant order
    deu-luther   stan1295      deu    edition  No dominant order
    Germann                                                  NaN
    >>> found.unmatched.to_dict("list")
    {'name': ['Germann'], 'suggestion': ['German (deu)']}
    """
    wanted = [features] if isinstance(features, str) else list(dict.fromkeys(features))
    if wals is None and glottolog is None:
        raise ConfigError(
            f"there is nothing to look names up in: give {option('wals')}, {option('glottolog')} or both."
        )
    if wals is None and wanted != list(FEATURES):
        raise ConfigError(f"features are of WALS: give the folder of its tables, {option('wals')}, too.")
    sources = _Sources(
        wals if isinstance(wals, Wals) or wals is None else read_wals(wals),
        glottolog if isinstance(glottolog, Glottolog) or glottolog is None else read_glottolog(glottolog),
    )
    listed = list(names)
    missing = [place for place, name in enumerate(listed, 1) if pd.isna(name) or str(name) in ("", "None")]
    if missing:
        raise DataError(
            f"{len(missing)} of {len(listed)} names are missing, the first in place {missing[0]}: give each row a "
            "name, or leave it out."
        )
    given = [str(name) for name in dict.fromkeys(listed)]
    found = {name: sources.find(name) for name in given}
    unmatched = [(name, sources.suggestion(name)) for name, (how, _) in found.items() if not how]
    if len(unmatched) == len(given):
        shown = [f"{name!r}" + (f" ({meant}?)" if meant else "") for name, meant in unmatched[:5]]
        raise DataError(
            f"none of {len(given)} names is a language: {', '.join(shown)}. Names are glottocodes, codes of ISO 639 or "
            "of WALS, names of editions that begin with one of these, or English names."
        )
    values, remarks = sources.features(wanted if wals is not None else [], [code for _, code in found.values()])
    rows = [sources.describe(code) | {"matched_by": how} | values.get(code, {}) for how, code in found.values()]
    columns = [*CODES, *PLACE, "matched_by", *(wanted if wals is not None else [])]
    return LanguageTable(
        table=pd.DataFrame(rows, pd.Index(given, name="edition"), columns),
        unmatched=pd.DataFrame(unmatched, columns=["name", "suggestion"], dtype=str),
        remarks=remarks,
    )


@dataclass(frozen=True)
class _Sources:
    """WALS and Glottolog; a language is the pair of its glottocode and its ISO 639-3 code, of which one may be ""."""

    wals: Wals | None
    glottolog: Glottolog | None

    @cached_property
    def languages(self) -> pd.DataFrame:
        """Languages of both, Glottolog's before WALS's: `CODES`, `PLACE` and ``wals``, the code of WALS."""
        tables = []
        if self.glottolog is not None:
            known = self.glottolog.languages[self.glottolog.languages["level"] != "family"]
            # languages before dialects, which may have the name of one
            known = known.sort_values("level", key=lambda levels: levels != "language", kind="stable")
            tables.append(self.glottolog.places(known.index).assign(iso639_3=known["code"], wals=""))
        if self.wals is not None:
            own = self.wals.languages.assign(wals=self.wals.languages.index).explode("codes")
            # rows with a code of their own before rows that have several, and of these the ones of most values
            several = own.index.duplicated(keep=False)
            few = -self.wals.values["language"].value_counts().reindex(own.index).fillna(0).to_numpy(dtype=float)
            own = own.iloc[np.lexsort([few, several])]
            tables.append(own.rename(columns={"codes": "iso639_3"}).fillna({"iso639_3": ""}))
        return pd.concat([table[[*CODES, *PLACE, "wals"]] for table in tables], ignore_index=True)

    @cached_property
    def by(self) -> dict[str, dict[str, tuple[str, str]]]:
        """Languages by what they are called, one mapping for each kind of name."""
        table = self.languages
        pairs = list(zip(table["glottocode"], table["iso639_3"], strict=True))
        found: dict[str, dict[str, tuple[str, str]]] = {}
        for how, keys in {
            "glottocode": table["glottocode"],
            "iso639_3": table["iso639_3"],
            "wals": table["wals"],
            "name": table["name"].str.casefold(),
        }.items():
            found[how] = {}
            for key, pair in zip(keys, pairs, strict=True):
                if key and any(pair):
                    found[how].setdefault(key, pair)
        for group, member in STANDARD.items():
            if member in found["iso639_3"]:
                found["iso639_3"].setdefault(group, found["iso639_3"][member])
        return found

    def find(self, name: str) -> tuple[str, tuple[str, str]]:
        """Return how a name was matched, "" if it was not, and the language."""
        how, language = self._by_code(name)
        if not how and (head := re.split("[-_.]", name, maxsplit=1)[0]) != name:
            how, language = self._by_code(head)
            how = "edition" if how else ""
        if not how and name.casefold() in self.by["name"]:
            how, language = "name", self.by["name"][name.casefold()]
        return how, language

    def _by_code(self, code: str) -> tuple[str, tuple[str, str]]:
        former = "iso639_1" if len(code) == 2 else "iso639_2"
        for how, kind, key in (
            ("glottocode", "glottocode", code),
            ("iso639_3", "iso639_3", code),
            (former, "iso639_3", ISO_639_3.get(code, "")),
            ("group", "iso639_3", GROUP.get(code, "")),
        ):
            if key in self.by[kind]:
                return how, self.by[kind][key]
        # A code of ISO 639-3 that is not in the tables is no code of WALS, where it means another language.
        if iso639_3(code) is None and code in self.by["wals"]:
            return "wals", self.by["wals"][code]
        return "", ("", "")

    def suggestion(self, name: str) -> str:
        """Return the language that a name may mean, such as ``German (deu)``; "" if none is like it."""
        own = self.by["iso639_3"].get(OWN_NAMES.get(name.casefold(), ""))
        near = get_close_matches(name.casefold(), self.by["name"], n=1, cutoff=0.75)
        meant = own or (self.by["name"][near[0]] if near else None)
        if meant is None:
            return ""
        return f"{self.describe(meant)['name']} ({meant[1] or meant[0]})"

    @cached_property
    def _described(self) -> dict[tuple[str, str], dict[str, object]]:
        table = self.languages.drop(columns="wals").drop_duplicates(list(CODES))
        records = [{str(column): value for column, value in record.items()} for record in table.to_dict("records")]
        return {(str(record["glottocode"]), str(record["iso639_3"])): record for record in records}

    def describe(self, language: tuple[str, str]) -> dict[str, object]:
        """Return codes, name, family and place; empty for a name that was not matched."""
        if any(language):
            return self._described[language]
        return {**dict.fromkeys((*CODES, *PLACE), ""), **dict.fromkeys(PLACE[-2:], float("nan"))}

    def features(
        self, features: list[str], languages: Iterable[tuple[str, str]]
    ) -> tuple[dict[tuple[str, str], dict[str, str]], tuple[str, ...]]:
        """Return the values of features by language, and remarks on the rows of WALS that were chosen."""
        if self.wals is None or not features:
            return {}, ()
        for feature in features:
            self.wals.feature(feature, [])  # which refuses one that is unknown
        asked = self.wals.values[self.wals.values["feature"].isin(features)]
        coded: dict[str, dict[str, str]] = {}
        for row, feature, label in zip(asked["language"], asked["feature"], asked["label"], strict=True):
            coded.setdefault(row, {})[feature] = label
        values: dict[tuple[str, str], dict[str, str]] = {}
        remarks: dict[str, None] = {}
        for language in filter(any, dict.fromkeys(languages)):
            rows, through = self._rows(*language)
            best = min(rows, key=lambda row: (-len(coded.get(row, {})), row), default="")
            values[language] = coded.get(best, {})
            if len(rows) > 1 or (best and through):
                others = [row for row in rows if row != best]
                beside = f", not {', '.join(others)}" if others else ""
                remarks[f"{language[1] or language[0]}: row {best} of WALS{beside}{through}."] = None
        return values, tuple(remarks)

    def _rows(self, glottocode: str, iso: str) -> tuple[list[str], str]:
        """Return the rows of WALS for a language, and a remark if they are those of a group of languages."""
        table = self.languages[self.languages["wals"] != ""].drop_duplicates("wals").set_index("wals")
        same = table.index[(table["glottocode"] == glottocode) & (glottocode != "")]
        own = list(same) if self.glottolog is not None and len(same) else [*same, *self._by_iso.get(iso, [])]
        own = list(dict.fromkeys(own))
        group = GROUP.get(iso, "")
        return (own, "") if own else (self._by_iso.get(group, []), f" (the group {group})")

    @cached_property
    def _by_iso(self) -> dict[str, list[str]]:
        """Rows of WALS by code of ISO 639-3."""
        table = self.languages[(self.languages["wals"] != "") & (self.languages["iso639_3"] != "")]
        return {str(code): [str(row) for row in rows] for code, rows in table.groupby("iso639_3")["wals"]}

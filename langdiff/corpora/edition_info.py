"""Attributes of editions, from a CSV file or frame, from headers and names; what marks an edition, and which stands."""

import csv
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from fontTools.unicodedata import script

from langdiff.base.archives import COMPRESSED, File
from langdiff.base.cells import check_names, guard
from langdiff.base.io import read_table
from langdiff.base.iso639 import contradict, iso639_3
from langdiff.corpora.files import language_of
from langdiff.errors import ConfigError, DataError, listing, option, warn
from langdiff.tables.multitext import Multitext
from langdiff.tables.surprisals import Surprisals

FILE_NAME = "metadata.csv"
EditionInfo = pd.DataFrame | pd.Series | Mapping[str, str]  # where only languages are needed; see `languages_of`
_USUAL = {  # our name of a column: names that corpora have for it, in lower case without punctuation
    "file": ("filename",),
    "edition": ("translationid",),
    "iso639_3": ("iso6393", "iso", "isocode", "iso639p3code", "languagecode"),
}
UNDETERMINED = ("", "und", "mis", "mul", "zxx")  # what stands in place of a language in ISO 639
_RESERVED = ("file", "edition", "iso639_3")
POINTED, BRACKETED, DIGITS = 0.05, 0.12, 0.02  # marks per letter off the median, share of intents, digits per letter
LENGTHS = 0.85, 1.15  # of the median of the language, that an edition may have
BRACKETS = re.compile(r"[\[\](){}]")
USUAL = {"zho": "Hans", "cmn": "Hans"}  # scripts that are usual although other ones have more editions
IDENTICAL = 1 - 1e-9  # correlation of ln bits
COPIED = 0.9  # correlation of residuals above which one edition is taken for a copy of another
WHOLE, MIDDLE_YEAR = 0.95, 1900  # of a representative edition: share of the most intents, year that it is close to


def find_edition_info(
    files: Mapping[str, File],
    edition_info: str | Path | pd.DataFrame | None,
    edition_columns: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Return the attributes of editions from a CSV file or a frame."""
    if edition_info is None:
        tables = [
            _read(
                folder / FILE_NAME,
                {edition: file for edition, file in files.items() if file.parent == folder},
                edition_columns or {},
            )
            for folder in dict.fromkeys(file.parent for file in files.values())
            if (folder / FILE_NAME).is_file()
        ]
        if edition_columns and not tables:
            raise ConfigError(
                f"{option('edition_columns')} names columns of a table of editions ({listing(edition_columns)}), but "
                f"there is none: {FILE_NAME} is not in the folder of the files. Give the table as "
                f"{option('edition_info')}."
            )
        return pd.concat(tables) if tables else pd.DataFrame(index=pd.Index([], dtype=object))
    if isinstance(edition_info, pd.DataFrame):
        twice = edition_info.index[edition_info.index.duplicated()]
        if len(twice):
            raise DataError(f"{option('edition_info')} has several rows for {listing(twice)}; give one.")
        names = _our_names([str(column) for column in edition_info], edition_columns or {}, "edition_info")
        what, table = "edition_info", _with_codes(edition_info.set_axis(names, axis=1), "edition_info")
        table = table.loc[table.index.isin(files)]
        advice = "Its index must hold names of editions."
    else:
        what, table = str(edition_info), _read(Path(edition_info).expanduser(), files, edition_columns or {})
        advice = "Its column 'file' holds names of files, its column 'edition' names of editions."
    if not len(table):
        raise DataError(f"{what}: no row is about any of the {len(files)} editions read, {listing(files)}. {advice}")
    return table


def edition_info_of(
    editions: Iterable[str], known: pd.DataFrame, headers: Mapping[str, Mapping[str, str]]
) -> pd.DataFrame:
    """Join attributes of editions from the user, from headers and from names, in this order of precedence."""
    check_names(editions, "edition")  # pandas takes no half characters, which names of files may have
    rows = pd.Index(list(editions), name="edition")
    info = known.reindex(rows).astype(object)
    if "language" in info:
        info["language"] = info["language"].mask(info["language"].isin(UNDETERMINED))
    own = {edition: dict(header) for edition, header in headers.items()}
    supposed = {edition: iso639_3(header.pop("supposed_language", "").lower()) for edition, header in own.items()}
    _check_languages(own, info.get("language"))
    above = pd.DataFrame.from_dict(own, orient="index").reindex(rows)
    for column in above:
        info[column] = info[column].fillna(above[column]) if column in info else above[column]
    info = with_language(info).astype(object)
    info["language"] = info["language"].fillna(pd.Series(supposed, dtype=object))
    return info.where(info.notna(), np.nan)


def _check_languages(headers: Mapping[str, dict[str, str]], known: pd.Series | None) -> None:
    """Remove languages of headers that are not codes, and warn where a header contradicts the edition's name."""
    different, unknown = [], []
    for edition, header in headers.items():
        if (given := header.pop("language", None)) in (None, *UNDETERMINED):
            continue
        code, named = iso639_3(given.lower()), language_of(edition)
        if code is None:
            header.setdefault("language_name", given)
            unknown += [f"{edition} ({given})"] if len(given) <= 3 else []
            continue
        header["language"] = code
        if named and contradict(code, named) and (known is None or pd.isna(known[edition])):
            different.append(f"{edition} ({code})")
    if unknown:
        warn(
            f"headers of {len(unknown)} edition(s) give a language that is not a code of ISO 639: "
            f"{listing(unknown)}. It is not used; give the language by {option('edition_info')}."
        )
    if different:
        warn(
            f"headers of {len(different)} edition(s) name another language than their files' names: "
            f"{listing(different)}. The header counts; if it is wrong, give the language by {option('edition_info')}."
        )


def with_language(info: pd.DataFrame) -> pd.DataFrame:
    """Return the table with the column ``language`` first, filled from the editions' names where it is missing."""
    info = info.copy()
    named = pd.Series([language_of(str(edition)) for edition in info.index], index=info.index, dtype=object)
    language = info.pop("language").astype(object).fillna(named) if "language" in info else named
    info.insert(0, "language", language)
    return info


def languages_of(edition_info: EditionInfo | None, editions: pd.Index) -> dict[str, str]:
    """Return the languages given by the user for some editions.

    Examples
    --------
    >>> languages_of(pd.Series({"Vulgate": "lat"}), pd.Index(["Vulgate", "Luther"]))
    {'Vulgate': 'lat'}
    """
    if isinstance(edition_info, pd.DataFrame):
        if "language" not in edition_info:
            raise DataError(f"{option('edition_info')} needs a column 'language', has {listing(edition_info.columns)}.")
        edition_info = edition_info["language"][edition_info.index.isin(editions)]
    given = {} if edition_info is None else {str(e): code for e, code in edition_info.items() if pd.notna(code)}
    unknown = [edition for edition in given if edition not in editions]
    if unknown:
        raise DataError(f"{option('edition_info')}: {len(unknown)} unknown edition(s): {listing(unknown)}.")
    return given


def edition_info_csv(edition_info: pd.DataFrame, files: Mapping[str, str]) -> str:
    """Return the CSV text that `find_edition_info` reads."""
    taken = [column for column in _RESERVED if column in edition_info]
    if taken:
        raise DataError(
            f"{option('edition_info')} has column(s) {listing(taken)}, reserved in {FILE_NAME}. Rename them."
        )
    table = edition_info.drop(columns="path", errors="ignore")
    renamed: dict[Hashable, str] = {"language": "iso639_3", "language_name": "language"}
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\r\n")  # quotes cells with either of the two
    writer.writerow(["file", *(guard(str(renamed.get(column, column))) for column in table)])
    for edition, row in zip(table.index, table.astype(object).where(table.notna(), "").to_numpy(), strict=True):
        writer.writerow([guard(cell) if isinstance(cell, str) else cell for cell in (files[edition], *row)])
    text = stream.getvalue()
    if unwritable := re.search(r"[\0\ud800-\udfff]", text):
        line = text.count("\n", 0, unwritable.start()) + 1
        raise DataError(
            f"{option('edition_info')}: a value holds {unwritable[0]!r} (line {line} of {FILE_NAME}); take it out."
        )
    return text


def _read(path: Path, files: Mapping[str, File], edition_columns: Mapping[str, str]) -> pd.DataFrame:
    header, rows = read_table(path)
    header = _our_names(header, edition_columns, str(path))
    key = next((name for name in ("file", "edition") if name in header), None)
    if key is None:
        raise DataError(
            f"{path}: needs a column 'file' or 'edition', has {listing(header)}. If such a column has another name, "
            f"give it by {option('edition_columns')}; if the file is not a table of editions, pass the right one as "
            f"{option('edition_info')}."
        )
    editions_of: dict[str, list[str]] = {}  # a file may hold several
    for edition, file in files.items():
        for name in {file.name, _unpacked(file.name), edition} if key == "file" else {edition}:
            editions_of.setdefault(name, []).append(edition)
    position = header.index(key)
    known: dict[str, dict[str, str]] = {}
    lines: dict[str, int] = {}
    for line, row in rows:
        name = row[position]
        if name and lines.setdefault(name, line) != line:  # a row may be about an edition without a file
            raise DataError(f"{path}, lines {lines[name]} and {line}: {name!r} is there twice.")
        cells = {column: cell for column, cell in zip(header, row, strict=True) if cell}
        known |= dict.fromkeys(editions_of.get(name, ()), cells)
    table = pd.DataFrame(list(known.values()), index=list(known), columns=header, dtype=object)
    return _with_codes(table.drop(columns=key), str(path))


def _with_codes(table: pd.DataFrame, what: str) -> pd.DataFrame:
    """Rename the column of codes to ``language``, and an existing ``language`` column to ``language_name``."""
    if "iso639_3" not in table:
        return table
    if {"language", "language_name"} <= set(table):
        raise DataError(f"{what}: in addition to 'iso639_3', give the name as 'language' or 'language_name', not both.")
    table = table.rename(columns={"language": "language_name"}).rename(columns={"iso639_3": "language"})
    return table.assign(
        language=[(iso639_3(code.lower()) if isinstance(code, str) else None) or code for code in table["language"]]
    )


def _our_names(header: Sequence[str], edition_columns: Mapping[str, str], what: str) -> list[str]:
    """Return the new names of columns: those given by the user, and those known from usual corpora."""
    without = [column for column in edition_columns if column not in header]
    if without:
        raise DataError(f"{option('edition_columns')}: {what} has no column {listing(without)}, but {listing(header)}.")
    given = {theirs: "iso639_3" if ours == "language" else ours for theirs, ours in edition_columns.items()}
    names = [given.get(column, column) for column in header]
    for ours, usual in _USUAL.items():
        if ours not in names:
            fitting = [place for place, name in enumerate(names) if re.sub("[^a-z0-9]", "", name.lower()) in usual]
            if len(fitting) == 1:
                names[fitting[0]] = ours
    if len(set(names)) < len(names):
        raise DataError(f"{what}: two columns would have the same name: {listing(names, most=len(names))}.")
    return names


def _unpacked(name: str) -> str:
    return name[: -len(Path(name).suffix)] if Path(name).suffix.lower() in COMPRESSED else name


def edition_marks(
    texts: Multitext, *, languages: Mapping[str, str] | None = None, characters: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return what sets editions apart from others of their language, so that difficulty may be due to it.

    Parameters
    ----------
    texts : Multitext
        Editions, in languages of which there are several.
    languages : mapping from str to str, optional
        Language of each edition; by default that of the multitext.
    characters : DataFrame, shape (I, J), optional
        Characters of the intents of editions, also of such without text, of which lengths are compared; by default
        those of `texts`.

    Returns
    -------
    DataFrame
        One row per edition: ``script``; ``combining`` marks and ``digits`` per letter; ``brackets``, the share of
        intents with some; ``length``, characters of the intents that all editions of the language have, over the
        median of these editions; and ``marked``, the words *script* (not that of most editions of the language;
        traditional characters in Mandarin), *pointed* (combining marks off the median of the language by more than
        .05), *brackets* (in more than 12 %), *digits* (more than .02) and *length* (outside .85 to 1.15) that hold.

    Raises
    ------
    DataError
        If the language of an edition is not known, or an edition has no text.

    Examples
    --------
    >>> import langdiff as ld
    >>> three = pd.DataFrame({"eng-a": ["In the beginning"], "eng-b": ["At the beginning"], "eng-c": ["[3] First, 4"]})
    >>> edition_marks(ld.read_frame(three))["marked"].to_dict()
    {'eng-a': '', 'eng-b': '', 'eng-c': 'brackets length digits'}
    """
    if not isinstance(texts, Multitext):
        raise DataError(f"marks are those of a Multitext, not of a {type(texts).__name__}.")
    named = texts.edition_info["language"].dropna() if languages is None else languages
    own = {str(edition): str(language) for edition, language in named.items()}
    frame = pd.DataFrame({str(edition): _features(texts.text(edition).dropna(), edition) for edition in texts.editions})
    found = frame.T.rename_axis("edition")
    lengths = texts.to_frame().map(len, na_action="ignore") if characters is None else characters
    known = [*found.index, *lengths.columns]
    if unknown := [edition for edition in dict.fromkeys(known) if edition not in own]:
        raise DataError(f"the language of {len(unknown)} edition(s) is not known: {listing(unknown)}.")
    language = found.index.map(own)
    found["length"] = _relative_lengths(lengths.astype(float), own).reindex(found.index)
    numbers = found.drop(columns="script").astype(float)
    scripts = found["script"].groupby(language).agg(_of_most)
    usual = pd.Series([USUAL.get(str(name), scripts[name]) for name in language], found.index)
    combining = numbers["combining"].groupby(language)
    off = (numbers["combining"] - combining.transform("median")).abs()
    of_two = combining.transform("size") == 2  # whose median is neither's: the one with fewer marks is the plain one
    off = off.where(~of_two, numbers["combining"] - combining.transform("min"))
    holds = {
        "script": (found["script"] != usual) & (usual != ""),
        "pointed": off > POINTED,
        "brackets": numbers["brackets"] > BRACKETED,
        "length": ~numbers["length"].between(*LENGTHS),
        "digits": numbers["digits"] > DIGITS,
    }
    marked = [" ".join(word for word, of in holds.items() if of[edition]) for edition in found.index]
    return pd.concat([found["script"], numbers], axis=1).assign(marked=marked)


def _of_most(names: "pd.Series[str]") -> str:
    """Return the script that more than half of the editions have; empty if none has."""
    counts = names.value_counts()
    return str(counts.index[0]) if 2 * counts.iloc[0] > len(names) else ""


def _features(texts: pd.Series, edition: str) -> dict[str, object]:
    """Return script, and combining marks, digits and brackets of an edition."""
    counts = Counter(unicodedata.normalize("NFC", "".join(texts)))
    kinds: Counter[str] = Counter()
    scripts: Counter[str] = Counter()
    for character, count in counts.items():
        kind = unicodedata.category(character)
        kinds[kind if kind == "Nd" else kind[0]] += count
        if kind[0] == "L":
            scripts[script(character)] += count
    if not scripts:
        raise DataError(f"{edition} has no letters.")
    name = "Jpan" if scripts.keys() & {"Hira", "Kana"} else scripts.most_common(1)[0][0]
    if name == "Hani":
        simplified, traditional = (_only_in(counts, *codes) for codes in (("gb2312", "big5"), ("big5", "gb2312")))
        name = "Hant" if traditional > simplified else "Hans"
    letters = kinds["L"]
    with_brackets = sum(BRACKETS.search(text) is not None for text in texts) / len(texts)
    marks = {"combining": kinds["M"] / letters, "digits": kinds["Nd"] / letters}
    return {"script": name, **marks, "brackets": with_brackets}


def _only_in(counts: Counter[str], one: str, other: str) -> int:
    """Return how many characters one encoding has and another has not."""
    only = [c for c in counts if c.encode(one, "ignore") and not c.encode(other, "ignore")]
    return sum(counts[character] for character in only)


def _relative_lengths(lengths: pd.DataFrame, languages: Mapping[str, str]) -> "pd.Series[float]":
    """Return mean characters over the median of the editions of a language, of the intents that all of them have."""
    found = []
    for _, names in lengths.columns.to_series().groupby(lengths.columns.map(languages)):
        some = lengths[list(names)]
        means = (some.dropna() if len(some.dropna()) else some).mean()
        found.append(means / means.median())
    together: pd.Series[float] = pd.concat(found)
    return together


def same_as(table: Surprisals, threshold: float = COPIED) -> "pd.Series[str]":
    """Return the editions that are copies of others, by their bits: a copy finds the same intents surprising.

    Parameters
    ----------
    table : Surprisals
        Bits of intents by edition.
    threshold : float
        Correlation of the residuals of ln bits, freed of the means of intents and editions, above which two editions
        are taken for one. The means of intents should be over several languages; identical ones are found anyhow.

    Returns
    -------
    Series
        Indexed by edition: the first edition of which it is a copy, as `langdiff.difficulty_shares` takes it in
        ``edition_info["same_as"]``. Empty if there are no copies.

    Raises
    ------
    ConfigError
        If the threshold is not between 0 and 1.
    DataError
        If `table` is something else.

    Examples
    --------
    >>> import langdiff as ld
    >>> short, _ = ld.datasets.ntrex10()
    >>> bits = short.bits[["deu", "dan", "fra", "fin"]].assign(copy=1.01 * short.bits["dan"])
    >>> same_as(ld.Surprisals(bits=bits, lm="kneser-ney-3")).to_dict()
    {'copy': 'dan'}
    """
    if not isinstance(table, Surprisals):
        raise DataError(f"copies are found in Surprisals, not in a {type(table).__name__}.")
    if not 0 < threshold < 1:
        raise ConfigError(f"threshold is between 0 and 1, not {threshold!r}.")
    logs = table.bits.map(np.log)
    residuals = logs.sub(logs.mean(axis=1), axis=0)
    alike = (residuals.corr().to_numpy() > threshold) | (logs.corr().to_numpy() > IDENTICAL)
    alike = np.tril(alike, -1)
    copies: dict[str, str] = {}
    names = [str(name) for name in logs.columns]
    for place in np.flatnonzero(alike.any(axis=1)):
        first = names[int(np.argmax(alike[place]))]
        copies[names[int(place)]] = copies.get(first, first)
    return pd.Series(copies, dtype=object, name="same_as").rename_axis("edition")


def representative(edition_info: pd.DataFrame) -> "pd.Series[bool]":
    """Return which edition stands for its language: unmarked, whole, with text that may be passed on, nearest to 1900.

    `edition_info` is indexed by edition: ``glottocode`` or ``language``; ``year``, of which the first counts, unknown
    ones last; and where they are known ``marked``, ``verses``, of which it has 95 % of the most, and ``text``, "no"
    where the text may not be passed on. Of equals it is the first by name; a language may have none.

    Examples
    --------
    >>> info = pd.DataFrame({"language": "eng", "year": ["1611", "1901", "1949"], "marked": ["", "", "simplified"]})
    >>> representative(info.set_axis(["eng-kjv", "eng-asv", "eng-bbe"])).to_dict()
    {'eng-kjv': False, 'eng-asv': True, 'eng-bbe': False}
    """
    language = next((name for name in ("glottocode", "language") if name in edition_info), None)
    if language is None or "year" not in edition_info:
        raise DataError(f"no columns language and year; there are {listing(edition_info.columns)}.")
    info = edition_info
    stands = pd.Series(data=True, index=info.index)
    if "marked" in info:
        stands &= info["marked"].fillna("").astype(str) == ""
    if "verses" in info:
        verses = info["verses"].astype(float)
        stands &= verses >= WHOLE * verses.max()
    if "text" in info:
        stands &= info["text"] != "no"
    years = pd.to_numeric(info["year"].astype(str).str.extract(r"(\d{4})")[0])
    order = pd.DataFrame(
        {"off": (years - MIDDLE_YEAR).abs(), "name": info.index, "language": info[language]}, info.index
    )
    first = order[stands].sort_values(["off", "name"], na_position="last").drop_duplicates("language")
    return pd.Series(info.index.isin(first.index), info.index)

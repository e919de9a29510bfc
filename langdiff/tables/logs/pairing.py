"""Which rows of several languages are one item: the key is found in the documents, and the pairing is checked."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from langdiff.base.suspicion import Doubts
from langdiff.base.types import Floats
from langdiff.errors import DataError, listing, option
from langdiff.tables.logs.flat import ROW

PREFERRED = ("id", "uid", "question_id", "item", "idx", "number")  # names of keys, by preference
ROWS = ("doc_id", ROW)  # keys that are numbers of rows
OVERLAP = 0.5  # of the items of a language with those of another, of which a key is the same in all languages
LEAST_TEXT, FEWEST_TEXTS = 0.3, 50
ERROR_AT, WARNING_AT = 6.0, 4.0  # times 1/√I: what the usual correlation of easiness has to be to judge one language
LEAST_KAPPA = 0.9
DIGITS = re.compile(r"\d")
MOST_DIGITS = 18  # of the number of a row
Strictness = Literal["checked", "unchecked"]


@dataclass(frozen=True)
class Pairing:
    """How items of several languages were paired, and what speaks for it.

    Attributes
    ----------
    key : tuple of str
        Keys of the documents that name the item.
    checks : DataFrame
        One row per language: ``items``; ``text``, the correlation of ln characters with the median of the other
        languages; ``bits``, that of ln bits; ``digits``, the share of texts that have the digits of most other
        languages, where either has some;
        ``easiness``, the correlation of the share of systems that are right with that in the other languages;
        ``targets``, Cohen's kappa of the right options with those of the other languages. NaN where logs do not tell.
    notes : tuple of str
        What the checks found wrong, or could not tell.
    by_row : bool
        Whether the key is the number of a row.
    """

    key: tuple[str, ...]
    checks: pd.DataFrame
    notes: tuple[str, ...] = field(default=())
    by_row: bool = False

    def lines(self) -> list[str]:
        """Return the lines of a summary."""
        by = " + ".join(self.key)
        said = [
            f"items of {len(self.checks)} languages paired by {f'the number of the row ({by})' if self.by_row else by}"
        ]
        for name, what in (("text", "lengths of texts"), ("easiness", "easiness"), ("targets", "right options, kappa")):
            values = self.checks[name].dropna()
            if len(values):
                worst = values.idxmin()
                said.append(f"{what}: median {values.median():.2f}, lowest {values.min():.2f} ({worst})")
        return ["; ".join(said), *self.notes]


class Found(NamedTuple):
    """Keys that name the items, () if there are none; whether they are numbers of rows; and what was tried."""

    keys: tuple[str, ...]
    by_row: bool = False
    tried: tuple[str, ...] = ()


def find_key(documents: pd.Series, files: pd.Series, languages: pd.Series) -> Found:
    """Return the fewest keys that are unique in each file and name the same items in all languages.

    A key whose values are 0, 1, 2, … or 1, 2, 3, … in every file is the number of a row whatever its name, and serves
    only if nothing else does and all files are equally long.

    Examples
    --------
    >>> rows = [{"link": "a", "n": 1}, {"link": "a", "n": 2}, {"link": "b", "n": 1}] * 2
    >>> find_key(pd.Series(rows), pd.Series([0, 0, 0, 1, 1, 1]), pd.Series(["eng"] * 3 + ["deu"] * 3)).keys
    ('link', 'n')
    """
    scalar = [key for key in documents.iloc[0] if all(_is_scalar(document.get(key)) for document in documents)]
    ordered = [key for key in PREFERRED if key in scalar] + [key for key in scalar if key not in PREFERRED]
    file, language = pd.factorize(files)[0], pd.factorize(languages)[0]
    codes: dict[str, Any] = {}
    rows, tried = [], []
    for key in ordered:
        values = np.array([str(document[key]) for document in documents], dtype=object)
        codes[key] = pd.factorize(values)[0]
        if not _is_unique(codes[key], file):
            continue
        own = codes.pop(key)  # with another key it overlaps no more
        if key in ROWS or _is_position(values, file):
            rows.append(key)
            continue
        overlap = _overlap(own, language)
        if overlap >= OVERLAP:
            return Found((key,))
        tried.append(f"{key!r} (overlap {overlap:.2f})")
    for one, other in combinations(codes, 2):
        both = codes[one].astype(np.int64) * (int(codes[other].max()) + 1) + codes[other]
        if _is_unique(both, file):
            overlap = _overlap(pd.factorize(both)[0], language)
            if overlap >= OVERLAP:
                return Found((one, other))
            tried.append(f"{one!r} with {other!r} (overlap {overlap:.2f})")
    lengths = np.bincount(file)
    if rows and (rows[0] == ROW or lengths.min() == lengths.max() or language.max() == 0):
        return Found((rows[0],), by_row=True)
    of_files = f"files have {lengths.min():,} to {lengths.max():,} rows"
    return Found((), tried=(*tried, *(f"{key!r} (the number of the row, and {of_files})" for key in rows)))


def _is_unique(codes: Any, file: Any) -> bool:
    return not pd.DataFrame({"code": codes, "file": file}).duplicated().any()


def _is_position(values: Any, file: Any) -> bool:
    """Return whether values that are unique in each file are 0, 1, 2, … or 1, 2, 3, … there, in any order."""
    if not all(value.isdecimal() and value.isascii() and len(value) < MOST_DIGITS for value in values):
        return False
    by_file = pd.Series(values.astype(np.int64)).groupby(file)
    begins, last = by_file.min(), by_file.max() - by_file.size()
    return bool((((begins == 0) & (last == -1)) | ((begins == 1) & (last == 0))).all())


def _overlap(codes: Any, language: Any) -> float:
    """Return the least over languages of the greatest share of items in common with another; 1 of one language."""
    own = pd.DataFrame({"language": language, "code": codes}).drop_duplicates()
    sizes = np.bincount(own["language"])
    shared = own[own.groupby("code")["language"].transform("size") > 1]
    there = np.zeros((len(sizes), int(shared["code"].nunique())), dtype=np.float32)
    there[shared["language"], pd.factorize(shared["code"])[0]] = 1
    share = (there @ there.T) / np.minimum.outer(sizes, sizes)
    np.fill_diagonal(share, 1.0 if len(sizes) == 1 else 0.0)
    return float(share.max(axis=1).min())


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def names_by(columns: "dict[str, Any]", keys: Sequence[str]) -> Any:
    """Return the names of items by one key or several; of several, joined by a slash."""
    if len(keys) == 1:
        return columns[keys[0]]
    return np.array(["/".join(parts) for parts in zip(*(columns[key] for key in keys), strict=True)], dtype=object)


def check_pairing(
    key: Sequence[str], rows: pd.DataFrame, *, strictness: Strictness, doubts: Doubts, by_row: bool = False
) -> Pairing:
    """Check that rows of several languages are of the same items."""
    languages = pd.unique(rows["language"])
    checks = pd.DataFrame(index=pd.Index(languages, name="language"))
    checks["items"] = rows.groupby("language")["item"].nunique()
    texts = rows.dropna(subset=["text"]).drop_duplicates(["item", "language"])
    checks["text"], checks["digits"] = _texts(texts, languages)
    checks["bits"] = _lengths(rows.dropna(subset=["bits"]).drop_duplicates(["item", "language"]), "bits", languages)
    checks["easiness"], easy_items = _easiness(rows.dropna(subset=["rate"]), languages)
    checks["targets"] = _targets(rows.dropna(subset=["target"]), languages)
    faults, cautions, notes = _judged(checks, len(pd.unique(texts["item"])), easy_items)
    named = " + ".join(key)
    if faults and strictness == "checked":
        raise DataError(
            f"{' '.join(faults)} Shuffled rows? Items are named by {named}; name another key: {option('item')}, or "
            f"pass {option('pairing', 'unchecked')}."
        )
    items = checks["items"]
    for text in (*faults, *cautions):
        doubts.see("pairing", f"items named by {named}", int(items.sum()), int(items.sum()), text)
    if by_row and ROW not in key and not (faults or cautions or _is_confirmed(checks, easy_items)):
        doubts.see("row", f"{len(items)} languages", int(items.max()), int(items.max()), named)
    return Pairing(tuple(key), checks, (*faults, *cautions, *notes), by_row)


def _is_confirmed(checks: pd.DataFrame, easy_items: int) -> bool:
    """Return whether a check of all languages says that the same row is the same item."""
    least = {"text": LEAST_TEXT, "bits": LEAST_TEXT, "targets": LEAST_KAPPA}
    if any((checks[name] >= bound).all() for name, bound in least.items()):
        return True
    easy, least = checks["easiness"], WARNING_AT / np.sqrt(max(easy_items, 1))
    return bool(easy.notna().all() and easy.median() >= least and (easy >= easy.median() / 2).all())


def check_documents(rows: pd.DataFrame, doubts: Doubts) -> None:
    """Check that every item was the same document for all systems of a language, and another one in other languages."""
    known = rows[rows["checked"].notna()]
    key = [known["item"], known["task"].fillna(""), known["language"].fillna("")]
    differ = known[known.groupby(key)["checked"].transform("nunique") > 1]
    if len(differ):
        items = pd.unique(differ["item"])
        first = differ[differ["item"] == items[0]].drop_duplicates("checked")["where"].tolist()
        raise DataError(
            f"{len(items)} item(s) are not the same document in all files: {items[0]} ({first[0]}, and {first[1]}). "
            "Versions of a task or of its data differ: run all systems on one."
        )
    once = known.dropna(subset=["language"]).drop_duplicates(["item", "language"])
    hashes = {str(language): set(part) for language, part in once.groupby("language", sort=False)["checked"]}
    for one, other in combinations(hashes, 2):
        common = len(hashes[one] & hashes[other])
        doubts.see("same_documents", f"{one} and {other}", common, min(len(hashes[one]), len(hashes[other])))


def _wide(rows: pd.DataFrame, values: pd.Series, languages: Any, how: str = "mean") -> pd.DataFrame:
    table = rows.assign(value=values).groupby(["item", "language"], sort=False)["value"].agg(how).unstack("language")
    return table.reindex(columns=languages)


def correlation(x: Floats, y: Floats, fewest: int = 3) -> float:
    """Return Pearson's correlation over pairs that are there; NaN if there are few, or one does not vary."""
    there = ~(np.isnan(x) | np.isnan(y))
    x, y = x[there], y[there]
    if len(x) < fewest or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])


def _texts(rows: pd.DataFrame, languages: Any) -> tuple[pd.Series, pd.Series]:
    """Return correlations of ln characters with the median of the others, and the share of equal digits."""
    empty = pd.Series(np.nan, index=languages)
    if rows.empty:
        return empty, empty
    digits = rows["text"].map(lambda text: "".join(sorted(DIGITS.findall(text))))
    sizes = rows.assign(size=rows["text"].map(len))
    return _lengths(sizes, "size", languages), _equal_digits(_wide(rows, digits, languages, "first"))


def _lengths(rows: pd.DataFrame, column: str, languages: Any) -> pd.Series:
    """Return correlations of the logarithm of a size with the median of the other languages."""
    if rows.empty:
        return pd.Series(np.nan, index=languages)
    sizes = rows[column].astype(float).clip(lower=1)
    table = _wide(rows, sizes.map(np.log), languages)
    r = {
        language: correlation(
            table[language].to_numpy(), table.drop(columns=language).median(axis=1).to_numpy(), FEWEST_TEXTS
        )
        for language in languages
    }
    return pd.Series(r)


def _equal_digits(table: pd.DataFrame) -> pd.Series:
    """Return by language the share of texts whose digits are those of most other languages, where either has some."""
    equal, either = np.zeros(table.shape[1]), np.zeros(table.shape[1])
    for row in table.astype(object).where(table.notna(), None).to_numpy():
        counts = Counter(own for own in row if own is not None)
        for place, own in enumerate(row):
            if own is None or counts.total() < 2:
                continue
            counts[own] -= 1
            usual = counts.most_common(1)[0][0]
            counts[own] += 1
            if own or usual:
                either[place] += 1
                equal[place] += own == usual
    with np.errstate(invalid="ignore"):
        return pd.Series(equal / either, index=table.columns)


def _easiness(rows: pd.DataFrame, languages: Any) -> tuple[pd.Series, int]:
    """Return the correlation of an item's mean over systems with that over the other languages, and the items."""
    if rows.empty:
        return pd.Series(np.nan, index=languages), 0
    means = _wide(rows, rows["rate"], languages)
    found = {
        language: correlation(means[language].to_numpy(), means.drop(columns=language).mean(axis=1).to_numpy())
        for language in languages
    }
    return pd.Series(found), len(means)


def _targets(rows: pd.DataFrame, languages: Any) -> pd.Series:
    """Return the agreement of right options with the usual ones of the other languages, beyond chance."""
    found = pd.Series(np.nan, index=languages)
    if rows.empty:
        return found
    table = _wide(rows, rows["target"], languages, "first")
    counts = {target: (table == target).astype(float) for target in pd.unique(rows["target"])}
    if len(counts) > 26 or len(counts) < 2:  # answers, not options
        return found
    for language in languages:
        votes = pd.DataFrame({target: part.drop(columns=language).sum(axis=1) for target, part in counts.items()})
        both = table[language].notna() & (votes.sum(axis=1) > 0)
        one, other = table[language][both], votes[both].idxmax(axis=1)
        if len(one):
            share = float((one == other).mean())
            p, q = one.value_counts(normalize=True), other.value_counts(normalize=True)
            expected = float(p.mul(q, fill_value=0).sum())
            found[language] = np.nan if expected == 1 else (share - expected) / (1 - expected)
    return found


def _judged(checks: pd.DataFrame, texts: int, items: int) -> tuple[list[str], list[str], list[str]]:
    """Return faults, cautions and notes."""
    faults, cautions, notes = [], [], []
    lengths = checks["text"].dropna()
    if texts >= FEWEST_TEXTS:
        for language, r in lengths[lengths < LEAST_TEXT].items():
            others = lengths.drop(language).median()
            faults.append(
                f"texts of {language} do not go with those of other languages: the correlation of their lengths is "
                f"{r:.2f} (others {others:.2f})."
            )
    easy = checks["easiness"].dropna()
    if len(easy):
        usual = float(easy.median())
        for language, r in easy.items():
            if r >= usual / 2 and usual > 0:
                continue
            said = (
                f"items of {language} do not go with those of other languages (r = {r:.2f}, others "
                f"{easy.drop(language).median():.2f})."
            )
            if usual >= ERROR_AT / np.sqrt(items):
                faults.append(said)
            elif usual >= WARNING_AT / np.sqrt(items):
                cautions.append(said)
        if usual < WARNING_AT / np.sqrt(max(items, 1)):
            notes.append("pairing cannot be told from these answers")
    low = checks["targets"].dropna()
    low = low[low < LEAST_KAPPA]
    if len(low):
        cautions.append(
            f"right options of {listing(low.index)} are others than in other languages (kappa {low.min():.2f}): keys "
            "or the order of options differ."
        )
    return faults, cautions, notes

"""Which rows of several languages are one item: the key is found in the documents, and the pairing is checked."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd

from langdiff.base.types import Floats
from langdiff.errors import DataError, listing, option, warn
from langdiff.tables.logs.flat import ROW

PREFERRED = ("id", "uid", "question_id", "item", "idx", "number")  # names of keys, by preference
LAST = ("doc_id", ROW)  # numbers of rows, which serve if nothing else does
ALIKE = 0.95  # Jaccard index of the names in two languages that make a key
LEAST_TEXT, FEWEST_TEXTS = 0.3, 50
ERROR_AT, WARNING_AT = 6.0, 4.0  # times 1/√I: what the usual correlation of easiness has to be to judge one language
LEAST_KAPPA = 0.9
DIGITS = re.compile(r"\d")
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
        languages; ``digits``, the share of texts that have the digits of most other languages, where either has some;
        ``easiness``, the correlation of the share of systems that are right with that in the other languages;
        ``targets``, Cohen's kappa of the right options with those of the other languages. NaN where logs do not tell.
    notes : tuple of str
        What the checks found wrong, or could not tell.
    """

    key: tuple[str, ...]
    checks: pd.DataFrame
    notes: tuple[str, ...] = field(default=())

    def lines(self) -> list[str]:
        """Return the lines of a summary."""
        named = " + ".join(self.key)
        by = "the number of the row" if set(self.key) <= set(LAST) else named
        said = [f"items of {len(self.checks)} languages paired by {by}"]
        for name, what in (("text", "lengths of texts"), ("easiness", "easiness"), ("targets", "right options, kappa")):
            values = self.checks[name].dropna()
            if len(values):
                worst = values.idxmin()
                said.append(f"{what}: median {values.median():.2f}, lowest {values.min():.2f} ({worst})")
        return ["; ".join(said), *self.notes]


def find_key(documents: pd.Series, files: pd.Series, languages: pd.Series) -> tuple[str, ...]:
    """Return the fewest keys that are unique in each file and the same set in all languages.

    Parameters
    ----------
    documents : Series of mappings
        Document of each row.
    files, languages : Series
        File and language of each row.

    Returns
    -------
    tuple of str
        One key, or two; empty if no keys do.

    Examples
    --------
    >>> rows = [{"link": "a", "n": 1}, {"link": "a", "n": 2}, {"link": "b", "n": 1}] * 2
    >>> find_key(pd.Series(rows), pd.Series([0, 0, 0, 1, 1, 1]), pd.Series(["eng"] * 3 + ["deu"] * 3))
    ('link', 'n')
    """
    first = documents.iloc[0]
    scalar = [key for key in first if all(_is_scalar(document.get(key)) for document in documents)]
    ordered = [key for key in PREFERRED if key in scalar]
    ordered += [key for key in scalar if key not in ordered and key not in LAST]
    columns = {key: np.array([str(document[key]) for document in documents], dtype=object) for key in scalar}
    for size in (1, 2):
        for keys in combinations(ordered, size):
            if _serves(names_by(columns, keys), files, languages):
                return keys
    return next(((key,) for key in LAST if key in scalar and _serves(columns[key], files, None)), ())


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def names_by(columns: "dict[str, Any]", keys: Sequence[str]) -> Any:
    """Return the names of items by one key or several; of several, joined by a slash."""
    if len(keys) == 1:
        return columns[keys[0]]
    return np.array(["/".join(parts) for parts in zip(*(columns[key] for key in keys), strict=True)], dtype=object)


def _serves(names: Any, files: pd.Series, languages: pd.Series | None) -> bool:
    table = pd.DataFrame({"name": names, "file": files.to_numpy()})
    if table.duplicated().any():
        return False
    if languages is None:
        return True
    sets = [set(part) for _, part in table["name"].groupby(languages.to_numpy())]
    union, common = set.union(*sets), set.intersection(*sets)
    one = sets[0]
    return (
        all(len(one & other) >= ALIKE * len(one | other) for other in sets[1:]) and len(common) > 0 and len(union) > 0
    )


def check_pairing(
    key: Sequence[str],
    rows: pd.DataFrame,
    *,
    strictness: Strictness,
) -> Pairing:
    """Check that rows of several languages are of the same items.

    Parameters
    ----------
    key : sequence of str
        Keys that name the items.
    rows : DataFrame
        ``item``, ``language``, ``system``; ``text``, ``rate`` (right answers) and ``target``, missing where unknown.
    strictness : {"checked", "unchecked"}
        Whether what is certainly wrong is an error or a warning.

    Returns
    -------
    Pairing
        The key, figures by language, and notes.

    Raises
    ------
    DataError
        If items of a language certainly do not go with those of the others.

    Warns
    -----
    LangdiffWarning
        If this is likely, or right options differ.
    """
    languages = pd.unique(rows["language"])
    checks = pd.DataFrame(index=pd.Index(languages, name="language"))
    checks["items"] = rows.groupby("language")["item"].nunique()
    texts = rows.dropna(subset=["text"]).drop_duplicates(["item", "language"])
    checks["text"], checks["digits"] = _texts(texts, languages)
    checks["easiness"], easy_items = _easiness(rows.dropna(subset=["rate"]), languages)
    checks["targets"] = _targets(rows.dropna(subset=["target"]), languages)
    faults, cautions, notes = _judged(checks, len(pd.unique(texts["item"])), easy_items)
    if faults and strictness == "checked":
        raise DataError(
            f"{' '.join(faults)} Shuffled rows? Items are named by {' + '.join(key)}; name another key: item=…, or "
            f"pass {option('pairing', 'unchecked')}."
        )
    for text in (*faults, *cautions):
        warn(f"{text} Items are named by {' + '.join(key)}; another key: item=….")
    return Pairing(tuple(key), checks, (*faults, *cautions, *notes))


def check_documents(rows: pd.DataFrame) -> None:
    """Check that every item was the same document for all systems of a language, and another one in other languages.

    Parameters
    ----------
    rows : DataFrame
        ``item``, ``task``, ``language``, ``where``, and ``checked``, the hash of the document where the log has it.

    Raises
    ------
    DataError
        If a hash differs between systems.

    Warns
    -----
    LangdiffWarning
        If most documents of two languages are the same.
    """
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
        fewer = min(len(hashes[one]), len(hashes[other]))
        if fewer > 1 and 2 * len(hashes[one] & hashes[other]) > fewer:
            warn(f"most documents of {one} and {other} are the same: is one file given for two languages?")


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
    lengths = _wide(rows, rows["text"].map(lambda text: float(np.log(max(len(text), 1)))), languages)
    digits = rows["text"].map(lambda text: "".join(sorted(DIGITS.findall(text))))
    same = _equal_digits(_wide(rows, digits, languages, "first"))
    r = {
        language: correlation(
            lengths[language].to_numpy(), lengths.drop(columns=language).median(axis=1).to_numpy(), FEWEST_TEXTS
        )
        for language in languages
    }
    return pd.Series(r), same


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

"""Properties of editions in words, such as the family of a language, and how far editions of one language differ."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import resources

import numpy as np
import pandas as pd

from langdiff.base.cells import read_exact_csv
from langdiff.base.iso639 import english_names, iso639_3
from langdiff.base.result import Result
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.tables.intent_info import check_attributes

PREFIX = "edition_"  # of these columns in a long table
KEPT = ("family", "genus", "macroarea", "script", "name")  # of the properties of a multitext, those of its surprisals
FEWEST_SEVERAL = 5  # languages with several editions in a corpus, from which their spread is known
SHOWN = (2.0, 4.0, 6.0, 10.0)  # percent, of which a spread tells by default
MOST_PAIRED = 2000  # editions whose pairs are all looked at


def check_edition_info(info: object, editions: pd.Index) -> pd.DataFrame | None:
    """Return properties of editions as words, after checking that they are those of a table; None without any.

    Examples
    --------
    >>> check_edition_info(pd.DataFrame({"family": ["Uralic"]}, index=["fin"]), pd.Index(["fin"]))
             family
    edition
    fin      Uralic
    """
    if info is None:
        return None
    return words_of(
        check_attributes(info, editions, "edition", option("edition_info"), "use edition_info.loc[bits.columns]")
    )


def words_of(info: pd.DataFrame) -> pd.DataFrame | None:
    """Return the properties as text, empty where not known; None if nothing is."""
    words = info.astype(object).where(info.notna(), "").map(str)
    known = words.loc[:, (words != "").any()]
    return known.rename_axis("edition") if known.shape[1] else None


def kept_of(info: pd.DataFrame) -> pd.DataFrame | None:
    """Return those properties of the editions of a multitext that its surprisals keep; None without any."""
    return words_of(info[[name for name in KEPT if name in info]])


def long_editions(info: pd.DataFrame | None) -> dict[str, pd.Series]:
    """Return the properties under the names that they have in a long table."""
    return {} if info is None else {f"{PREFIX}{name}": values for name, values in info.items()}


def editions_of_long(frame: pd.DataFrame, editions: Iterable[object]) -> pd.DataFrame | None:
    """Return the properties of editions that a long table has; None if it has none.

    Examples
    --------
    >>> long = {"edition": ["fin", "fin"], "edition_family": ["Uralic", "Uralic"]}
    >>> editions_of_long(pd.DataFrame(long), ["fin"]).to_numpy().tolist()
    [['Uralic']]
    """
    own = [name for name in frame if isinstance(name, str) and name.startswith(PREFIX) and name != PREFIX]
    if not own:
        return None
    known = frame[["edition", *own]].drop_duplicates().set_index("edition")
    twice = known.index[known.index.duplicated()].unique()
    if len(twice):
        several = [name for name in own if (frame.groupby("edition")[name].nunique(dropna=False) > 1).any()]
        raise DataError(
            f"{listing(several)}: {len(twice)} edition(s) with several values: {listing(twice)}. A column that begins "
            "with edition_ is a property of the edition: rename it if it is not."
        )
    return known.loc[list(editions)].rename(columns=lambda name: str(name).removeprefix(PREFIX))


def joined_info(frames: Iterable[object]) -> pd.DataFrame | None:
    """Return the properties that several frames have of editions, the first of which count most; None without any."""
    joined: pd.DataFrame | None = None
    for frame in frames:
        if frame is None:
            continue
        if not isinstance(frame, pd.DataFrame):
            raise ConfigError(
                f"{option('edition_info')} must be a DataFrame indexed by edition, not {type(frame).__name__}."
            )
        if len(twice := frame.index[frame.index.duplicated()].unique()):
            raise ConfigError(
                f"{len(twice)} edition(s) are in {option('edition_info')} more than once: {listing(twice)}. Keep one "
                "row each."
            )
        own = frame.astype(object)
        joined = own if joined is None else joined.combine_first(own)
    return joined


def printed_names(
    info: pd.DataFrame | None, names: Mapping[str, str] | str | None, editions: Iterable[str]
) -> dict[str, str]:
    """Return the names to print by edition: those given, of a property, or English ones by codes of languages.

    Examples
    --------
    >>> printed_names(None, "english", ["deu", "Vulgate"])
    {'deu': 'German'}
    """
    if names is None:
        return {}
    if isinstance(names, Mapping):
        return {str(code): str(name) for code, name in names.items()}
    if info is not None and names in info:
        known = info[names].dropna().astype(str)
        counts = known.value_counts()
        several = {name for name in known if name and counts[name] > 1}  # told apart by their editions
        return {str(code): f"{name} ({code})" if name in several else name for code, name in known[known != ""].items()}
    if names == "english":
        editions = list(editions)
        if found := english_names(editions):
            return found
        raise ConfigError(
            f"{option('names', names)}: no edition is called by a code of ISO 639, or begins with one: "
            f"{listing(editions)}. Name a property of editions, or give the names."
        )
    there = "no properties of editions" if info is None else listing(info.columns)
    raise ConfigError(f"{option('names', names)}: no such column of the properties of editions; there are {there}.")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class EditionSpread(Result):
    """How far two editions of one book in one language are apart.

    Attributes
    ----------
    corpus : str
        The book, as the Edition Atlas calls it.
    marked : bool
        Whether editions that a script, points, brackets or simple words set apart are among them.
    editions : DataFrame
        Indexed by edition: its ``language``, and ``nats``, its difficulty.
    percent : tuple of float
        Differences of which `to_frame` tells.
    """

    corpus: str
    marked: bool
    editions: pd.DataFrame
    percent: tuple[float, ...] = SHOWN

    @property
    def sd(self) -> float:
        """Standard deviation of the editions of a language, pooled over languages, nats."""
        nats = self.editions["nats"]
        groups = nats.groupby(self.editions["language"])
        left = np.square(nats - groups.transform("mean")).sum()
        return float(np.sqrt(left / (len(nats) - groups.ngroups)))

    @property
    def rms(self) -> float:
        """Typical difference of two editions, the root of its mean square: √2 `sd`, nats."""
        return float(np.sqrt(2)) * self.sd

    def share_larger(self, percent: float) -> float:
        """Return the share of pairs of editions that differ by more, languages weighing the same.

        Parameters
        ----------
        percent : float
            Difference in bits, above −100.
        """
        nats, shares = _nats(percent), []
        for _, own in self.editions.groupby("language")["nats"]:
            shares.append((pair_differences(own.to_numpy()) > nats).mean())
        return float(np.mean(shares))

    def sentence(self, percent: float) -> str:
        """Compare a difference with that of two editions, in words.

        Parameters
        ----------
        percent : float
            Difference in bits, above −100.

        Examples
        --------
        >>> edition_spread().sentence(4)
        '4 % is .7 of the typical difference between two translations of one book into one language (5.5 %); 45 % of \
such pairs differ by more.'
        """
        typical = f"the typical difference between two translations of one book into one language ({self._typical})"
        return self._sentence(percent, typical)

    @property
    def _typical(self) -> str:
        return f"{100 * np.expm1(self.rms):.1f} %"

    def _sentence(self, percent: float, typical: str) -> str:
        ratio, share = _nats(percent) / self.rms, 100 * self.share_larger(percent)
        times = f"{ratio:.1f}".lstrip("0") + " of" if ratio < 0.95 else f"{ratio:.1f} times"
        more = f"{share:.0f} %" if share >= 0.5 or share == 0 else "less than 1 %"
        return f"{percent:.2g} % is {times} {typical}; {more} of such pairs differ by more."

    def to_frame(self) -> pd.DataFrame:
        """Return one row per ``percent``: ``nats``, ``of_typical``, its ratio to `rms`, and ``share_larger``."""
        rows = [(x, _nats(x), _nats(x) / self.rms, self.share_larger(x)) for x in self.percent]
        return pd.DataFrame(rows, columns=["percent", "nats", "of_typical", "share_larger"]).set_index("percent")

    def _notes(self) -> Iterator[str]:
        yield from map(self.sentence, self.percent[:1] if len(self.percent) == 1 else ())

    def __repr__(self) -> str:
        """Return the numbers of editions and languages, and the typical difference."""
        which, languages = "" if self.marked else "unmarked ", self.editions["language"].nunique()
        return (
            f"EditionSpread: {len(self.editions)} {which}editions of {self.corpus} in {languages} languages; "
            f"s.d. {100 * self.sd:.2f} %, two differ by {self._typical}"
        )


def edition_spread(percent: float | None = None, *, corpus: str = "nt", marked: bool = False) -> EditionSpread:
    """Return how far two editions of one book in one language are apart, by the shipped bits of character 6-grams.

    Parameters
    ----------
    percent : float, optional
        Difference in bits that is set beside it; several are by default.
    corpus : str
        A corpus of `langdiff.datasets.edition_atlas` with several editions per language: ``"nt"``.
    marked : bool
        Whether to take editions, too, that a script, points, brackets, length or simple words set apart.

    Returns
    -------
    EditionSpread
        Standard deviation, typical difference, shares of pairs, and sentences.

    Raises
    ------
    ConfigError
        If the corpus has no several editions, or the difference is not above −100 %.

    Examples
    --------
    >>> spread = edition_spread(4)
    >>> spread.to_frame()[["of_typical", "share_larger"]].round(2).to_numpy().tolist()
    [[0.74, 0.45]]
    """
    file = resources.files("langdiff.datasets") / "atlas_editions.csv"
    table = read_exact_csv(file, index_col="edition", dtype=str, keep_default_na=False)
    own = table[(table["nats"] != "") & ((table["marked"] == "") | marked)]
    counts = own.groupby(["corpus", "glottocode"])["nats"].transform("size")
    own = own[counts > 1]
    known = own.groupby("corpus")["glottocode"].nunique()
    if known.get(corpus, 0) < FEWEST_SEVERAL:
        there = listing(known.index[known >= FEWEST_SEVERAL])
        raise ConfigError(f"{option('corpus', corpus)} has no several editions per language; use one of {there}.")
    own = own[own["corpus"] == corpus]
    editions = pd.DataFrame({"language": own["glottocode"], "nats": own["nats"].astype(float)})
    shown = SHOWN if percent is None else (percent,)
    for each in shown:
        _nats(each)
    return EditionSpread(corpus=corpus, marked=marked, editions=editions, percent=tuple(map(float, shown)))


def spread_notes(difficulty: pd.Series, info: pd.DataFrame | None = None) -> list[str]:
    """Compare the largest and the median difference of two languages with that of two editions of one, in sentences.

    Languages are those of the properties of editions, else codes with which editions begin; editions of one language
    are no pair.
    """
    values = difficulty.to_numpy(dtype=float)
    if not 1 < len(values) <= MOST_PAIRED or not np.isfinite(values).all():
        return []
    names = [str(name) for name in difficulty.index]
    codes = [iso639_3(re.split(r"[-_.]", name.split(":")[-1], maxsplit=1)[0]) or name for name in names]
    if info is not None and "language" in info:
        known = info["language"].reindex(difficulty.index)
        codes = [own if pd.isna(given) or given == "" else given for own, given in zip(codes, known, strict=True)]
    numbers = pd.factorize(np.array(codes, dtype=object))[0]
    apart = pair_differences(values)[pair_differences(numbers) > 0]
    if not len(apart):
        return []
    spread, largest, median = edition_spread(), *(100 * np.expm1([apart.max(), np.median(apart)]))
    found = [f"Largest difference of two languages: {spread.sentence(largest)}"]
    return found if len(apart) == 1 else [*found, f"Median difference: {spread._sentence(median, 'it')}"]


def pair_differences(values: np.ndarray) -> np.ndarray:
    """Return the absolute differences of all pairs. Shapes: (n,) → (n (n − 1) / 2,)."""
    first, second = np.triu_indices(len(values), 1)
    apart: np.ndarray = np.abs(values[first] - values[second])
    return apart


def _nats(percent: float) -> float:
    if isinstance(percent, bool) or not isinstance(percent, int | float) or not percent > -100:
        raise ConfigError(f"a difference in percent is above −100, not {percent!r}.")
    return abs(float(np.log1p(percent / 100)))

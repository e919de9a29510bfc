"""Languages in which texts were written, and statistics of corpora: sizes, and the turns of CoStEP kept and lost."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from langdiff.base.grids import Shown
from langdiff.base.result import Drawn, Result
from langdiff.corpora.edition_info import EditionInfo, languages_of
from langdiff.corpora.files import language_of
from langdiff.errors import DataError, listing, option, warn, words
from langdiff.tables.multitext import Multitext

UNKNOWN = ("", "und")  # ISO 639-2: undetermined


def original_language_of(multitext: Multitext, original_language: pd.Series | None = None) -> pd.Series:
    """Return the original language of every intent, NaN where unknown."""
    if original_language is None:
        if "original_language" not in multitext.intent_info:
            raise DataError(
                "no original language is known of the intents (intent_info has no column 'original_language'); give "
                f"{option('original_language')}, {words(python='a Series of codes', command='a table of codes')} by "
                "intent."
            )
        original_language = multitext.intent_info["original_language"]
    return align_origins(original_language, multitext.intents)


def align_origins(original_language: object, intents: pd.Index) -> pd.Series:
    """Return the original languages of some intents, NaN where they are ``""`` or ``"und"``."""
    if not isinstance(original_language, pd.Series):
        raise DataError(
            f"{option('original_language')} must be a Series indexed by intent, not "
            f"{type(original_language).__name__}; pd.Series(mapping) makes one."
        )
    known = original_language.index
    twice = known[known.duplicated()].unique()
    if len(twice):
        raise DataError(f"{len(twice)} intent(s) with several original languages: {listing(twice)}. Give one each.")
    without = intents.difference(known, sort=False)
    if len(without):
        raise DataError(
            f"{len(without):,} of {len(intents):,} intents have no original language: {listing(without)}. "
            f"Names there look like {listing(known, most=2)}; where the language is not known, write 'und'."
        )
    source = original_language.loc[intents].astype(object)
    return source.mask(source.isin(UNKNOWN)).rename("original_language")


def codes_of_editions(multitext: Multitext, source: pd.Series, edition_info: EditionInfo | None = None) -> pd.Series:
    """Return the code of each edition's language as the original languages write it.

    It is the edition's name, its ``language`` in the multitext's `edition_info` or the code that begins its name, the
    first of these that is among the original languages; if none is, the edition's language or name.
    """
    given = languages_of(edition_info, multitext.editions)
    codes = set(source.dropna())
    found = {}
    for edition, language in multitext.edition_info["language"].items():
        candidates = [edition, language, language_of(str(edition))]
        fallback = language if isinstance(language, str) else edition
        found[edition] = given.get(str(edition)) or next((code for code in candidates if code in codes), fallback)
    return pd.Series(found, index=multitext.editions, dtype=object)


def native_cells(
    multitext: Multitext,
    original_language: pd.Series | None = None,
    edition_info: EditionInfo | None = None,
) -> pd.DataFrame:
    """Return an indicator of the cells that are present and in the original language of their intent.

    Warns
    -----
    LangdiffWarning
        If origins are known, but no edition is in any of these languages.

    Examples
    --------
    >>> import langdiff as ld
    >>> texts = pd.DataFrame({"deu": ["ja", "nein", None], "eng": ["yes", "no", "well"]}, index=["a", "b", "c"])
    >>> native_cells(ld.read_frame(texts), pd.Series({"a": "eng", "b": "deu", "c": "deu"}))
    edition    deu    eng
    intent
    a        False   True
    b         True  False
    c        False  False
    """
    source = original_language_of(multitext, original_language)
    codes = codes_of_editions(multitext, source, edition_info)
    if source.notna().any() and not source.isin(codes).any():
        warn(
            "no edition is in an original language, so that nothing is native: editions are in "
            f"{listing(codes.unique())}, intents from {listing(source.dropna().unique())}. If these are other codes "
            "for the same languages, write the original languages in the codes of the editions"
            f"{words(python=', or give edition_info', command='')}."
        )
    own = pd.DataFrame({edition: source == codes[edition] for edition in multitext.editions})
    return multitext.presence & own.set_axis(multitext.editions, axis=1)


def native_share(
    multitext: Multitext,
    original_language: pd.Series | None = None,
    edition_info: EditionInfo | None = None,
) -> pd.DataFrame:
    """Count the intents that each edition has, and those of them whose original language is the edition's.

    Parameters
    ----------
    multitext : Multitext
        Multitext whose intents are counted; no text is read.
    original_language : Series of str, optional
        Language codes indexed by intent, ``""``, ``"und"`` or NaN where not known; by default
        ``multitext.intent_info["original_language"]``.
    edition_info : DataFrame, Series or mapping, optional
        Languages of editions in the codes of `original_language`: a frame indexed by edition with a column
        ``language``, or the languages of some editions. By default the edition's name, its language in
        ``multitext.edition_info`` or the code that begins its name, whichever is among the original languages.

    Returns
    -------
    DataFrame
        One row per edition: ``language``, ``intents``, ``native`` and ``native_percent``, 100 × native / intents, NaN
        without intents. Intents of unknown origin count as not native, so that the share is a lower bound (Mielke et
        al. 2019, Figure 9).

    Raises
    ------
    DataError
        If there is no original language, it is not a Series, intents have no row or several in it, or `edition_info`
        names an unknown edition or has no language.

    Warns
    -----
    LangdiffWarning
        If original languages are known, but no edition is in any of them.

    Examples
    --------
    >>> import langdiff as ld
    >>> texts = pd.DataFrame({"deu": ["ja", "nein", None], "eng": ["yes", "no", "well"]}, index=["a", "b", "c"])
    >>> native_share(ld.read_frame(texts), pd.Series({"a": "eng", "b": "deu", "c": "eng"})).round(1)
            language  intents  native  native_percent
    edition
    deu          deu        2       1            50.0
    eng          eng        3       2            66.7
    """
    cells = native_cells(multitext, original_language, edition_info)
    counts = pd.DataFrame(
        {
            "language": multitext.edition_info["language"],
            "intents": multitext.presence.sum(),
            "native": cells.sum(),
        }
    )
    return counts.assign(native_percent=100 * counts["native"] / counts["intents"]).rename_axis("edition")


def origin_accounting(
    multitext: Multitext,
    original_language: pd.Series | None = None,
    edition_info: EditionInfo | None = None,
) -> pd.DataFrame:
    """Count the intents with a native text, and the others by the reason why they have none.

    Examples
    --------
    >>> import langdiff as ld
    >>> texts = pd.DataFrame({"deu": ["ja", "nein", None], "eng": ["yes", "no", "well"]}, index=["a", "b", "c"])
    >>> origin_accounting(ld.read_frame(texts), pd.Series({"a": "eng", "b": "und", "c": "deu"}))["intents"].to_dict()
    {'native': 1, 'president': 0, 'unknown': 1, 'not found': 1}
    """
    source = original_language_of(multitext, original_language)
    kind = pd.Series("not found", index=multitext.intents)
    kind[native_cells(multitext, original_language, edition_info).any(axis=1)] = "native"
    kind[source.isna()] = "unknown"
    if "president" in multitext.intent_info:
        kind[source.isna() & multitext.intent_info["president"].eq(True)] = "president"  # NaN is not known to be one
    counts = kind.value_counts().reindex(["native", "president", "unknown", "not found"], fill_value=0)
    return pd.DataFrame({"intents": counts, "percent": 100 * counts / max(len(kind), 1)}).rename_axis("origin")


def languages_per_intent(multitext: Multitext) -> pd.Series:
    """Count the intents by the number of languages that have them (Mielke et al. 2019, Figure 7).

    Examples
    --------
    >>> import langdiff as ld
    >>> texts = pd.DataFrame({"deu-a": ["ja", None], "deu-b": ["ja", "nein"], "eng": ["yes", None]}, index=["1", "2"])
    >>> languages_per_intent(ld.read_frame(texts)).to_dict()
    {0: 0, 1: 1, 2: 1}
    """
    language = multitext.edition_info["language"]
    language = language.where(language.notna(), multitext.editions.to_series())
    codes, known = pd.factorize(language)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], range(len(known)))  # of the languages' columns
    have = multitext.presence.to_numpy()[:, order]
    numbers = np.logical_or.reduceat(have, starts, axis=1).sum(axis=1) if len(known) else np.zeros(len(have), int)
    counts = np.bincount(numbers, minlength=len(known) + 1)
    return pd.Series(counts, name="intents").rename_axis("languages")


def corpus_sizes(corpora: Mapping[str, Multitext]) -> pd.DataFrame:
    """Read all texts of several corpora and return the size of each.

    Parameters
    ----------
    corpora : mapping from name to Multitext
        Corpora to count, with the names of their rows.

    Returns
    -------
    DataFrame
        One row per corpus; see `langdiff.Multitext.describe` for the columns.

    Raises
    ------
    DataError
        If a text cannot be read.

    Examples
    --------
    >>> import langdiff as ld
    >>> verses = ld.read_frame(pd.DataFrame({"eng": ["a dog", "a cat"], "deu": ["ein Hund", None]}))
    >>> corpus_sizes({"all": verses, "complete": verses.dropna()})[["editions", "intents", "words", "characters"]]
              editions  intents  words  characters
    corpus
    all              2        2      6          18
    complete         2        1      4          13
    """
    return pd.DataFrame({name: multitext.describe() for name, multitext in corpora.items()}).T.rename_axis("corpus")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CostepStatistics(Result):
    """Statistics of CoStEP, as `langdiff.corpora.costep_statistics` returns them.

    `langdiff.plots.plot_languages_per_intent` draws its `languages_per_intent`, `plot_intents_per_edition` its
    multitext.

    Attributes
    ----------
    multitext : Multitext
        The intents of all turns that fit.
    turns : DataFrame
        One row per turn: ``president``, ``original_language``, the name of the ``speaker`` if it is given, the numbers
        of ``languages`` and of ``intents`` (for a turn that does not fit, the largest number of any language), and
        whether it ``fits``.
    days : int
        Files read.
    """

    multitext: Multitext
    turns: pd.DataFrame
    days: int

    digits = 1

    @property
    def lost_intents(self) -> int:
        """Intents of the turns whose languages differ in paragraphs, counted in the language with most."""
        return int(self.turns.loc[~self.turns["fits"], "intents"].sum())

    def loss(self) -> str:
        """Return a sentence on the turns left out."""
        found = int(self.turns["intents"].sum())
        turns = int((~self.turns["fits"]).sum())
        return (
            f"{turns:,} of {len(self.turns):,} turns are left out, their languages having different numbers of "
            f"paragraphs: {self.lost_intents:,} of {found:,} intents ({100 * self.lost_intents / max(found, 1):.1f} %)."
        )

    def accounting(self) -> pd.DataFrame:
        """Count the intents with a native text; see `langdiff.corpora.origin.origin_accounting`."""
        return origin_accounting(self.multitext)

    def languages_per_intent(self) -> pd.Series:
        """Return the numbers of intents by number of languages; see `langdiff.corpora.origin.languages_per_intent`."""
        return languages_per_intent(self.multitext)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per language; see `langdiff.corpora.native_share`."""
        return native_share(self.multitext)

    def _lines(self) -> Iterator[str]:
        multitext = self.multitext
        complete = int(multitext.presence.all(axis=1).sum())
        yield f"CoStEP, {self.days:,} day(s): {len(multitext):,} intents × {len(multitext.editions)} languages"
        yield self.loss()
        yield f"In all languages: {complete:,} intents ({100 * complete / len(multitext):.1f} %)"

    def tables(self) -> list[Shown]:
        """Return counts of intents with a native text, and those by language."""
        return [
            Shown(self.accounting().round(1), "native", "Intents with a native text"),
            Shown(self._table(), "languages", "Languages"),
        ]

    plot = Drawn("plot_native_share", lambda statistics: statistics.to_frame())

    def __repr__(self) -> str:
        """Return the size of the corpus and the share of the turns left out, in one line."""
        return f"CostepStatistics of {self.days:,} day(s): {self.multitext!r}. {self.loss()}"

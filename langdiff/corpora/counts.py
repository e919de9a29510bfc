"""Statistics of corpora: sizes (Mielke et al. 2019, Table 1), and the turns of CoStEP kept and lost (appendix D)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from langdiff.base.grids import frame_text
from langdiff.base.result import Drawn, Result
from langdiff.corpora.origin import languages_per_intent, native_share, origin_accounting
from langdiff.tables.multitext import Multitext


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

    def summary(self) -> str:
        """Return all figures as text."""
        accounting = frame_text(self.accounting().round(1))
        return "\n".join([*self._lines(), "", accounting, "", frame_text(self._table())])

    plot = Drawn("plot_native_share", lambda statistics: statistics.to_frame())

    def __repr__(self) -> str:
        """Return the size of the corpus and the share of the turns left out, in one line."""
        return f"CostepStatistics of {self.days:,} day(s): {self.multitext!r}. {self.loss()}"

"""Corpora side by side (Mielke et al. 2019, Table 1)."""

from collections.abc import Mapping

import pandas as pd

from langdiff.tables.multitext import Multitext


def corpus_sizes(corpora: Mapping[str, Multitext]) -> pd.DataFrame:
    """Read all texts of several corpora and count.

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

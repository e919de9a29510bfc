"""Equal amounts of native and of translated text in a language."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
import pandas as pd

from langdiff.base.seeds import generator
from langdiff.corpora.edition_info import EditionInfo
from langdiff.corpora.origin import codes_of_editions, original_language_of
from langdiff.errors import ConfigError, DataError, listing, option, words
from langdiff.experiments.native import NATIVE, TRANSLATED
from langdiff.tables.multitext import Multitext

Unit = Literal["words", "intents"]


def balance_by_origin(
    multitext: Multitext,
    language: str,
    *,
    by: Unit = "words",
    budget_words: int = 500_000,
    reference: str = "eng",
    seed: int | np.random.Generator = 0,
    original_language: pd.Series | None = None,
    edition_info: EditionInfo | None = None,
) -> Multitext:
    """Draw equal amounts of text that was first said in a language and of text translated into it.

    With ``by="words"``, native intents are taken in random order until they have as many words as the budget, then
    translated intents until they have as many words as the native ones. With ``by="intents"``, one native and one
    translated intent are taken at a time, both in random order, until all together have twice the budget. Native and
    translated intents are then shuffled together. Words are counted in one reference edition, so that an intent has
    the same size whichever language is balanced. Only intents that every edition has are drawn.

    Parameters
    ----------
    multitext : Multitext
        Multitext to draw from.
    language : str
        Language to balance, in the codes of the original languages.
    by : {"words", "intents"}
        Unit of which native and translated text have equal numbers. The default is words: where native sentences
        are longer or shorter than translated ones, equal numbers of sentences give a language model more text of
        one kind. The paper balances numbers of sentences, ``"intents"``.
    budget_words : int
        Number of white-space tokens of the reference edition to draw for native and for translated intents each
        (with ``by="intents"``, the mean of the two); the last intents may exceed it.
    reference : str
        Edition whose words are counted, or the ISO 639-3 code of a language with one edition.
    seed : int or numpy.random.Generator
        Seed of the draw.
    original_language : Series of str, optional
        Code of the original language of each intent; intents with NaN, ``""`` or ``"und"`` are of unknown origin
        and not drawn. By default ``intent_info["original_language"]``.
    edition_info : DataFrame, Series or mapping from edition to language, optional
        Language codes of editions, where neither their names nor the multitext's ``edition_info["language"]``
        give them.

    Returns
    -------
    Multitext
        The drawn intents, shuffled; its ``intent_info`` has the columns ``origin`` (``"native"`` or
        ``"translated"``) and ``original_language``.

    Raises
    ------
    DataError
        If the language or the reference is unknown, no intent is native or none translated, or there are fewer
        words than the budget asks for.
    ConfigError
        If `by` is neither of the two, the budget is below 1, or `seed` is not a seed.

    References
    ----------
    Mielke et al. (2019), section 6: equal numbers of native and non-native sentences, about a million words in the
    English column, which are these defaults with ``by="intents"``.

    Examples
    --------
    >>> import langdiff as ld
    >>> texts = pd.DataFrame({"deu": ["ein Satz"] * 6, "eng": ["a sentence"] * 6}, index=list("abcdef"))
    >>> origin = pd.Series(["deu", "deu", "eng", "eng", "eng", "und"], index=texts.index)
    >>> drawn = balance_by_origin(ld.read_frame(texts), "deu", budget_words=4, seed=0, original_language=origin)
    >>> drawn.intent_info["origin"].value_counts().sort_index().to_dict()
    {'native': 2, 'translated': 2}
    """
    rng = generator(seed)
    if by not in get_args(Unit):
        raise ConfigError(f"by is one of {', '.join(get_args(Unit))}; got {by!r}.")
    if not budget_words >= 1:  # catches NaN too
        raise ConfigError(f"{option('budget_words')} must be at least 1, got {budget_words!r}.")
    complete = multitext.dropna()
    source = original_language_of(complete, original_language)
    codes = codes_of_editions(complete, source, edition_info)
    if language not in set(codes):
        raise DataError(
            f"unknown language {language!r}: editions are in {listing(codes.unique(), most=10)}, intents from "
            f"{listing(source.dropna().unique(), most=10)}. If these are other codes for the same languages, write the "
            f"original languages in the codes of the editions{words(python=', or give edition_info', command='')}."
        )
    counts = count_words(complete, reference)
    pools = {NATIVE: source.index[source == language], TRANSLATED: source.index[source.notna() & (source != language)]}
    empty = [part for part, pool in pools.items() if not len(pool)]
    if empty:
        raise DataError(
            f"no {empty[0]} intent for {language!r} among the {len(complete):,} that all editions have; their original "
            f"languages are {listing(source.dropna().unique(), most=10)}."
        )
    drawn = _draw({part: counts[pool] for part, pool in pools.items()}, by, budget_words, rng, language)
    origin = pd.concat([pd.Series(part, index=intents) for part, intents in drawn.items()])
    origin = origin.iloc[rng.permutation(len(origin))]
    chosen = complete.sel(intents=origin.index)
    info = chosen.intent_info.assign(original_language=source[origin.index], origin=origin)
    return replace(chosen, intent_info=info)


def count_words(multitext: Multitext, reference: str) -> pd.Series:
    """Count the white-space tokens of every intent in the reference edition."""
    language = multitext.edition_info["language"]
    found = [reference] if reference in multitext.editions else list(language.index[language == reference])
    if len(found) != 1:
        raise DataError(
            f"reference {reference!r} is {'the language of several editions' if found else 'not an edition'}: "
            f"{listing(found or multitext.editions)}. Name one edition."
        )
    return multitext.text(found[0]).map(lambda text: len(text.split())).astype(int)


def _draw(
    pools: Mapping[str, pd.Series], by: Unit, budget: int, rng: np.random.Generator, language: str
) -> dict[str, pd.Index]:
    """Take intents in random order: native ones and as many words of translated ones, or pairs of the two."""
    orders = {part: words.iloc[rng.permutation(len(words))] for part, words in pools.items()}
    if by == "intents":
        pairs = min(map(len, orders.values()))
        both = pd.Series(np.sum([order.to_numpy()[:pairs] for order in orders.values()], axis=0))
        count = _until(both, 2 * budget, f"native and translated intents of {language!r}", "pairs")
        return {part: order.index[:count] for part, order in orders.items()}
    drawn: dict[str, pd.Index] = {}
    for part, order in orders.items():
        drawn[part] = order.index[: _until(order, budget, f"{part} intents of {language!r}", "intents")]
        budget = int(order[drawn[part]].sum())
    return drawn


def _until(words: pd.Series, budget: int, what: str, unit: str) -> int:
    """Return how many of these, taken in their order, first hold the budget."""
    total = words.cumsum()
    if total.iloc[-1] < budget:
        raise DataError(
            f"{what}: {total.iloc[-1]:,} words in {len(words):,} {unit}, but {budget:,} are wanted. Lower "
            f"{option('budget_words')}."
        )
    return int(total.searchsorted(budget)) + 1

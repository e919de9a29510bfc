"""Counts of texts by edition, and quotients of totals with errors by independent units."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd

from langdiff.base.types import Floats, Integers
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.parity.result import MEAN
from langdiff.parity.tokenizers import Tokenizer, efficiencies, encoder_of, tokenize_texts
from langdiff.regression.kernel.two_way import Premiums, two_way_premiums
from langdiff.tables.effects import Effects
from langdiff.tables.influences import Influence, Units, sums
from langdiff.tables.multitext import Multitext
from langdiff.tables.rule import Scale, shares
from langdiff.tables.surprisals import Surprisals
from langdiff.tables.text_features import separates_words


@dataclass(frozen=True, eq=False)
class Quotient:
    """A measure of editions that is a total divided by another over the same intents.

    Attributes
    ----------
    over, under : ndarray, shape (I, J)
        Numerators and denominators; 0 where a cell does not count.
    premium : bool
        Whether both are counts of the same kind, of two editions, so that each has a share in the information.
    share : bool
        Whether the quotient is a share, between 0 and 1.
    """

    over: Floats
    under: Floats
    premium: bool = False
    share: bool = False

    def estimate(self) -> Floats:
        """Return the quotient of the totals by edition, shape (J,); NaN where no cell counts."""
        return _quotient(self.over.sum(axis=0), self.under.sum(axis=0))

    def effects(self, name: str, editions: pd.Index, units: Units, code: Integers) -> Effects:
        """Return the quotients of editions that have one, with errors by unit; logarithms, but for shares."""
        over, under = (sums(cells, code, len(units.names)) for cells in (self.over, self.under))
        known = (under.sum(axis=0) > 0) & (self.share | (over.sum(axis=0) > 0))
        over, under, value = over[:, known], under[:, known], self.estimate()[known]
        influence = Influence.of_ratio(over, under, units, "identity" if self.share else "log")
        if self.premium:
            influence = replace(influence, share=(influence.share + over / over.sum(axis=0)) / 2)
        return self._named(name, editions[known], value if self.share else np.log(value), influence)

    def _named(self, name: str, editions: pd.Index, values: Floats, influence: Influence) -> Effects:
        scale = shares(name) if self.share else Scale(quantity=name, first="highest", centre="mean")
        return Effects(estimate=pd.Series(values, editions, name=name), influence=influence, scale=scale, title=name)


@dataclass(frozen=True, eq=False)
class AgainstMean(Quotient):
    """Totals relative to those of the mean edition; see `langdiff.parity.result`.

    Attributes
    ----------
    over, under : ndarray, shape (I, J)
        Counts, 0 where an edition lacks an intent; and whether it has it.
    inverse : bool
        Whether to divide the mean by the edition instead.
    """

    inverse: bool = False

    @cached_property
    def _found(self) -> Premiums:
        return two_way_premiums(self.over, self.under)

    def estimate(self) -> Floats:
        """Return the premiums of the editions, shape (J,), whose logarithms average 0."""
        premiums: Floats = np.exp(self._sign * self._found.logarithms)
        return premiums

    def effects(self, name: str, editions: pd.Index, units: Units, code: Integers) -> Effects:
        """Return the logarithms of premiums with errors by unit; see `Quotient.effects`."""
        found, count = self._found, len(units.names)
        values, expected = (sums(cells, code, count) for cells in (found.influence, found.expected))
        share = (expected / expected.sum(axis=0)).mean(axis=1)
        if self.under.all():
            part = sums(self.over, code, len(units.names)) / self.over.sum(axis=0)
            values, share = part - part.mean(axis=1, keepdims=True), part.mean(axis=1)
        influence = Influence(self._sign * values, share, units)
        return self._named(name, editions, self._sign * self._found.logarithms, influence)

    @property
    def _sign(self) -> float:
        return -1.0 if self.inverse else 1.0


def against_mean(counts: Floats) -> AgainstMean:
    """Return the totals relative to those of the mean edition, of counts with NaN where an edition lacks an intent."""
    known = ~np.isnan(counts)
    return AgainstMean(np.where(known, counts, 0.0), known.astype(float))


def of_reference(counts: Floats, reference: int | None) -> Quotient:
    """Return the totals divided by those of one edition, over the intents that both have, or by those of the mean.

    Shapes: counts (I, J).
    """
    if reference is None:
        return against_mean(counts)
    shared = ~np.isnan(counts) & ~np.isnan(counts[:, [reference]])
    return Quotient(np.where(shared, counts, 0.0), np.where(shared, counts[:, [reference]], 0.0), premium=True)


def _quotient(over: Floats, under: Floats) -> Floats:
    quotient: Floats = np.divide(over, under, out=np.full(over.shape, np.nan), where=under != 0)
    return quotient


TokenSource = Tokenizer | pd.DataFrame


@dataclass(kw_only=True, eq=False)
class Measured:
    """Measures of editions from one table of intents × editions.

    Attributes
    ----------
    intents, editions : Index
        Rows and columns of all counts.
    intent_info : DataFrame or None
        Properties of the intents.
    totals : dict
        Total by edition, of all its intents.
    quotients : dict
        Measures that are quotients of totals, in the order in which they are shown.
    others : dict
        Measures of another kind, by edition; they have no bootstrap.
    """

    intents: pd.Index
    editions: pd.Index
    intent_info: pd.DataFrame | None
    totals: dict[str, Floats] = field(default_factory=dict)
    quotients: dict[str, Quotient] = field(default_factory=dict)
    others: dict[str, Floats] = field(default_factory=dict)

    def add_sizes(self, characters: Floats, size: Floats, reference: int | None) -> None:
        """Add the premiums of characters and of bytes, and the bytes per character."""
        self.totals |= {"characters": np.nansum(characters, axis=0), "bytes": np.nansum(size, axis=0)}
        premiums = {name: of_reference(counts, reference) for name, counts in (("c", characters), ("b", size))}
        over, under = premiums["b"], premiums["c"]
        self.quotients |= {
            "byte_premium": over,
            "character_premium": under,
            "bytes_per_character": Quotient(over.over, under.over),
        }
        # of the mean, what makes the product of the three factors hold
        factors = self.quotients["bytes_per_character"].estimate() * under.estimate()
        self.others["reference_bytes_per_character"] = factors / over.estimate()

    def add_tokens(self, tokens: Floats, name: str, reference: int | None, words: Floats | None = None) -> None:
        """Add the token premium and, if words are known, fertility."""
        self.totals[f"tokens{name}"] = np.nansum(tokens, axis=0)
        self.quotients[f"token_premium{name}"] = of_reference(tokens, reference)
        if words is not None:
            self.quotients[f"fertility{name}"] = per_word(tokens, words)


def per_word(counts: Floats, words: Floats) -> Quotient:
    """Return counts per word where both are known."""
    known = ~(np.isnan(counts) | np.isnan(words))
    return Quotient(np.where(known, counts, 0.0), np.where(known, words, 0.0))


def named_sources(tokenizers: TokenSource | Mapping[str, TokenSource] | None) -> dict[str, TokenSource]:
    """Return tokenizers and tables of counts under the suffixes of their columns."""
    if tokenizers is None:
        return {}
    if isinstance(tokenizers, Mapping):
        return {f"_{name}": one for name, one in tokenizers.items()}
    return {"": tokenizers}


def measure_texts(
    multitext: Multitext, reference: int | None, sources: Mapping[str, TokenSource], alpha: float
) -> Measured:
    """Count the bytes, characters and tokens of every text."""
    shape = multitext.presence.shape
    measured = Measured(intents=multitext.intents, editions=multitext.editions, intent_info=multitext.intent_info)
    encoders = {name: encoder_of(one) for name, one in sources.items() if not isinstance(one, pd.DataFrame)}
    sizes = {name: np.full(shape, np.nan) for name in ("characters", "bytes")}
    tokens = {name: np.full(shape, np.nan) for name in encoders}
    split = {name: np.full(shape, np.nan) for name in encoders}
    for j, edition in enumerate(multitext.editions):
        texts = multitext.text(edition).tolist()
        rows = np.flatnonzero(multitext.presence.iloc[:, j])
        sizes["characters"][rows, j] = [len(text) for text in texts]
        sizes["bytes"][rows, j] = [len(text.encode("utf-8", "surrogatepass")) for text in texts]
        for name, encode in encoders.items():
            found = tokenize_texts(encode, texts)
            tokens[name][rows, j], split[name][rows, j] = found.tokens, found.split_words
            if found.counts:
                for what, value in efficiencies(found.counts, found.bigrams, alpha).items():
                    measured.others.setdefault(f"{what}{name}", np.full(shape[1], np.nan))[j] = value
    measured.add_sizes(sizes["characters"], sizes["bytes"], reference)
    if encoders:
        words = count_words(multitext).to_numpy()
        for name in encoders:
            measured.add_tokens(tokens[name], name, reference, words)
            measured.quotients[f"split_words{name}"] = replace(per_word(split[name], words), share=True)
    return measured


def count_words(multitext: Multitext) -> pd.DataFrame:
    """Count the white-space words of every text; NaN where it is missing, or the script separates no words."""
    columns = {}
    for edition in multitext.editions:
        texts = multitext.text(edition)
        if separates_words(Counter(word for text in texts for word in text.split())):
            columns[edition] = texts.map(lambda text: len(text.split())).astype(float)
    return pd.DataFrame(columns, index=multitext.intents, dtype=float).reindex(columns=multitext.editions)


def measure_counts(counts: pd.DataFrame, name: str, reference: str, intent_info: pd.DataFrame | None) -> Measured:
    """Measure a table of tokens, intents × editions, of whose intents some attributes may be known."""
    for what, names in (("intent", counts.index), ("edition", counts.columns)):
        twice = names[names.duplicated()].unique()
        if len(twice):
            raise DataError(f"counts of tokens: {len(twice)} {what}(s) named twice: {listing(twice)}.")
    try:
        cells = counts.to_numpy(dtype=float, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"counts of tokens are numbers, intents × editions: {error}. Texts are read by `langdiff.read_frame`."
        ) from error
    bad = np.argwhere(~(np.isnan(cells) | ((cells > 0) & np.isfinite(cells))))
    if len(bad):
        i, j = bad[0]
        raise DataError(
            f"{len(bad):,} count(s) of tokens are not positive: intent {counts.index[i]!r}, edition "
            f"{counts.columns[j]!r} has {cells[i, j]:g}. Give NaN where an edition lacks an intent."
        )
    info = None if intent_info is None else intent_info.reindex(counts.index)
    measured = Measured(intents=counts.index, editions=counts.columns, intent_info=info)
    measured.add_tokens(cells, name, place_of(counts.columns, reference))
    return measured


def measure_bits(table: Surprisals, reference: int | None, texts: Multitext | None, name: str) -> Measured:
    """Measure the bits of every intent, and the tokens of the language model, relative to the reference."""
    measured = Measured(intents=table.intents, editions=table.editions, intent_info=table.intent_info)
    if texts is None and table.characters is not None and table.bytes is not None:
        known = (table.bits.notna() & table.characters.notna() & table.bytes.notna()).to_numpy()
        characters, size = (np.where(known, part.to_numpy(float), np.nan) for part in (table.characters, table.bytes))
        measured.add_sizes(characters, size, reference)
    if table.tokens is not None:
        words = None if texts is None else count_words(texts).reindex(table.intents, columns=table.editions).to_numpy()
        tokens = table.tokens.where(table.bits.notna()).to_numpy(dtype=float)
        measured.add_tokens(tokens, name, reference, words)
    totals = of_reference(table.bits.to_numpy(), reference)
    measured.totals["bits"] = np.nansum(table.bits.to_numpy(), axis=0)
    if isinstance(totals, AgainstMean):  # the published quotients are of a named edition
        measured.others["information_parity"] = np.full(len(measured.editions), np.nan)
        measured.quotients["information_parity_totals"] = replace(totals, inverse=True)
        return measured
    shared = totals.under > 0
    ratio = np.divide(totals.under, totals.over, out=np.zeros_like(totals.over), where=shared)
    measured.quotients["information_parity"] = Quotient(ratio, shared.astype(float))
    measured.quotients["information_parity_totals"] = Quotient(totals.under, totals.over, premium=True)
    return measured


def place_of(editions: pd.Index, reference: str) -> int | None:
    """Return the column of the reference; None for the mean, unless an edition has this name."""
    if reference not in editions:
        if reference == MEAN:
            return None
        raise ConfigError(
            f"{option('reference', reference)}: there is no such edition; there are {listing(editions)}. "
            f"{MEAN!r} stands for the mean of all."
        )
    return int(editions.get_indexer(pd.Index([reference]))[0])

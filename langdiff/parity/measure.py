"""Parity of editions with a reference, with intervals; information of a source text about its translation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import pandas as pd

from langdiff.base.result import Result
from langdiff.base.signature import full_signature, name_of_number, short_hash
from langdiff.base.types import check_kind
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.parity.counting import (
    Measured,
    TokenSource,
    measure_bits,
    measure_counts,
    measure_texts,
    named_sources,
    place_of,
)
from langdiff.parity.result import MEAN, MODEL, Parity, of_model
from langdiff.parity.tokenizers import USUAL_ALPHA, check_alpha
from langdiff.regression import fit
from langdiff.regression.clustering import AnyClusters, name_of_clusters, one_clustering, units_of
from langdiff.tables.effects import Effects
from langdiff.tables.multitext import Multitext
from langdiff.tables.rule import Scale
from langdiff.tables.surprisals import Surprisals

SPARED = Scale(quantity="xmi", unit="bits")
ParityModel = Literal["1", "2"]


def measure_parity(
    source: Multitext | Surprisals | pd.DataFrame,
    *,
    reference: str = MEAN,
    surprisals: Surprisals | None = None,
    tokenizers: TokenSource | Mapping[str, TokenSource] | None = None,
    origin: str | Sequence[str] | None = None,
    clusters: AnyClusters | None = "auto",
    model: ParityModel = "2",
    alpha: float = USUAL_ALPHA,
) -> Parity:
    r"""Measure the length of the same content in every edition, relative to the mean of all or to one of them.

    The premium of bytes (characters, tokens) is the quotient of totals over the intents that an edition shares with the
    reference; against the mean it is :math:`e^{b_j}` of counts :math:`a_i e^{b_j}`, :math:`\sum_j b_j = 0`, fitted by
    the Poisson likelihood: of a complete table the total over the geometric mean of all totals. That of bytes is a
    product of three factors,

    .. math:: \frac{B_j}{B_r} = \frac{B_j}{C_j} \cdot \frac{C_j}{C_r} \cdot \frac{C_r}{B_r}

    of which the first and the last are of the script, and the second of the language and its orthography. Information
    parity is the quotient of bits, reference by edition, in three forms: as published, the mean over intents of
    :math:`y_{ir} / y_{ij}`; the quotient of totals; and :math:`\exp(d_r - d_j)` of a regression model, which we
    recommend: it is antisymmetric, as the others are not or not for single intents, and weighs intents by what they
    say.

    Parameters
    ----------
    source : Multitext, Surprisals or DataFrame
        Texts; bits, with bytes and characters if they are known; or numbers of tokens, intents × editions.
    reference : str
        ``"mean"``, or the edition that the others are compared with, such as one that publications use. Texts that
        were translated from it are then compared with an original.
    surprisals : Surprisals, optional
        Bits beside texts; they may be of other intents, such as the test part. Where the tokens of the language model
        are known (``units``) and are not characters, they are compared, too, as those of a tokenizer; the name of the
        model becomes part of the names of columns where tokens without a name are given as well.
    tokenizers : tokenizer, DataFrame, or mapping from name to them, optional
        Tokenizers, which have a method ``encode(text)`` that returns a list (those of Hugging Face, SentencePiece and
        tiktoken do), or tables of numbers of tokens, intents × editions. Names of a mapping become parts of the
        names of columns.
    origin : str or sequence of str, optional
        Editions that the others were translated from, which the summary and the figure mark; by default those whose
        language is the ``original_language`` of most intents (`Multitext.intent_info`), if that is known.
    clusters : "auto", str, mapping, Series, DifficultyFit or None
        Intents that are sampled together: a column of `intent_info`, such as ``"document"``, or the cluster of each
        intent. ``"auto"`` looks for them as `langdiff.fit` does, and None takes intents to be independent.
    model : {"1", "2"}
        Regression model behind ``information_parity_model``; see `langdiff.fit`.
    alpha : float
        Order α of the Rényi entropy of the tokens of a tokenizer.

    Returns
    -------
    Parity
        One row per edition. The interval of ``information_parity_model`` is that of the fit.

    Raises
    ------
    ConfigError
        If there is no such reference or origin, tokenizers have no texts to encode, two tables of counts have no names
        that tell them apart, or a setting is out of range.
    DataError
        If an edition shares no intent with the reference, counts are not positive, or bits cannot be fitted.

    Warns
    -----
    LangdiffWarning
        If units are few, so that intervals are long and hang on single ones.

    References
    ----------
    Arnett, Chang and Bergen (2024), "A Bit of a Problem: Measurement Disparities in Dataset Sizes Across Languages";
    Petrov, La Malfa, Torr and Bibi (2023), "Language Model Tokenizers Introduce Unfairness Between Languages"; Rust,
    Pfeiffer, Vulić, Ruder and Gurevych (2021), "How Good is Your Tokenizer?"; Tsvetkov and Kipnis (2024), "Information
    Parity: Measuring and Predicting the Multilingual Capabilities of Language Models".

    Examples
    --------
    >>> import langdiff as ld
    >>> texts = pd.DataFrame({"eng": ["Good day", "Thanks"] * 8, "ell": ["Καλημέρα", "Ευχαριστώ"] * 8})
    >>> ld.measure_parity(ld.read_frame(texts), reference="eng").estimates.T.round(3)
    edition                        eng    ell
    byte_premium                   1.0  2.429
    character_premium              1.0  1.214
    bytes_per_character            1.0  2.000
    reference_bytes_per_character  1.0  1.000
    """
    if model not in get_args(ParityModel):
        raise ConfigError(f"{option('model', model)}: must be '1' or '2'.")
    check_alpha(alpha)
    tables, bits = _tables(source, reference, surprisals, tokenizers, alpha)
    editions = tables[0].editions.rename("edition")
    _check_shared(tables)
    originals = _originals(source, editions, origin)
    columns = _by_edition(tables, editions)
    fitted = None if bits is None else fit(bits, model=model, clusters=clusters)
    if fitted is not None:
        columns.estimates[MODEL] = pd.Series(of_model(fitted, reference, editions)[0], editions)
    return Parity(
        reference=reference,
        totals=pd.DataFrame(columns.totals, index=editions),
        estimates=pd.DataFrame(columns.estimates, index=editions),
        measures=_measures(tables, editions, clusters),
        language=source.edition_info["language"] if isinstance(source, Multitext) else None,
        originals=originals,
        signature=full_signature(
            {
                "reference": reference,
                "model": model if bits is not None else None,
                "alpha": name_of_number(alpha) if tokenizers is not None else None,
                "clusters": _name_of_clusters(tables, clusters),
                "data": short_hash(pd.DataFrame(columns.totals), pd.DataFrame(columns.estimates)),
            }
        ),
        fit=fitted,
    )


def _originals(
    source: Multitext | Surprisals | pd.DataFrame, editions: pd.Index, origin: str | Sequence[str] | None
) -> tuple[str, ...]:
    """Return the editions that the others were translated from, as far as they are known."""
    if origin is not None:
        named = (origin,) if isinstance(origin, str) else tuple(origin)
        if unknown := [name for name in named if name not in editions]:
            raise ConfigError(f"{option('origin', unknown[0])}: not among the editions {listing(editions, 10)}.")
        return named
    known = None if isinstance(source, pd.DataFrame) else source.intent_info
    if known is None or "original_language" not in known or not isinstance(source, Multitext):
        return ()
    counts = known["original_language"].value_counts(dropna=False)
    language = source.edition_info["language"]
    return tuple(language.index[language == counts.index[0]]) if 2 * counts.iloc[0] > len(known) else ()


def _tables(
    source: Multitext | Surprisals | pd.DataFrame,
    reference: str,
    surprisals: Surprisals | None,
    tokenizers: TokenSource | Mapping[str, TokenSource] | None,
    alpha: float,
) -> tuple[list[Measured], Surprisals | None]:
    """Measure each table of intents; return the bits as well, if there are any."""
    sources = named_sources(tokenizers)
    if isinstance(source, Surprisals) and surprisals is not None:
        raise ConfigError("two tables of surprisals: give one, as source or as surprisals.")
    bits = source if isinstance(source, Surprisals) else surprisals
    tables = []
    if isinstance(source, Multitext):
        tables.append(measure_texts(source, place_of(source.editions, reference), sources, alpha))
    elif any(not isinstance(one, pd.DataFrame) for one in sources.values()):
        raise ConfigError("tokenizers need texts: give a Multitext as source, or tables of numbers of tokens.")
    if isinstance(source, pd.DataFrame):
        if "" in sources:
            raise ConfigError("two tables of counts: give the second a name, as tokenizers={'name': table}.")
        tables.append(measure_counts(source, "", reference, None))
    elif not isinstance(source, Multitext | Surprisals):
        raise ConfigError(f"source must be a Multitext, Surprisals or DataFrame, not {type(source).__name__}.")
    if bits is not None:
        place = place_of(bits.editions, reference)
        texts = source if isinstance(source, Multitext) else None
        unnamed = "" in sources or isinstance(source, pd.DataFrame)
        tables.append(measure_bits(bits, place, texts, f"_{bits.lm}" if unnamed else ""))
    info = None if isinstance(source, pd.DataFrame) else source.intent_info
    for name, one in sources.items():
        if isinstance(one, pd.DataFrame):
            tables.append(measure_counts(one, name, reference, info))
    return tables, bits


def _check_shared(tables: list[Measured]) -> None:
    for table in tables:
        for name, quotient in table.quotients.items():
            if name.startswith(("fertility", "split_words")):
                continue  # not of scripts without spaces
            without = table.editions[quotient.under.sum(axis=0) == 0]
            if len(without):
                raise DataError(
                    f"{name}: {len(without)} edition(s) share no intent with the reference in which something is "
                    f"counted: {listing(without)}. Leave them out."
                )


class _Columns:
    """Totals and estimates by name, each of all editions."""

    def __init__(self) -> None:
        self.totals: dict[str, pd.Series] = {}
        self.estimates: dict[str, pd.Series] = {}


def _by_edition(tables: list[Measured], editions: pd.Index) -> _Columns:
    columns = _Columns()
    for table in tables:
        for kept, found in (
            (columns.totals, table.totals),
            (columns.estimates, {name: one.estimate() for name, one in table.quotients.items()} | table.others),
        ):
            kept |= {name: pd.Series(values, table.editions).reindex(editions) for name, values in found.items()}
    return columns


def _name_of_clusters(tables: list[Measured], clusters: AnyClusters | None) -> str | None:
    """Return the part of the signature on the clusters of all tables; None without any."""
    found = (one_clustering(table, clusters) for table in tables)
    return "+".join(dict.fromkeys(name_of_clusters(labels) for labels in found if labels is not None)) or None


def _measures(tables: list[Measured], editions: pd.Index, clusters: AnyClusters | None) -> dict[str, Effects]:
    """Return quotients with their errors, and warn where there are few units."""
    found: dict[str, Effects] = {}
    for table in tables:
        units, code = units_of(table, clusters)
        own = {
            name: quotient.effects(name, table.editions.rename(editions.name), units, code)
            for name, quotient in table.quotients.items()
        }
        next(iter(own.values())).warn_of_few()
        found |= own
    return found


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CrossMutualInformation(Result):
    """Bits of texts alone minus their bits given a source, by edition.

    Attributes
    ----------
    table : DataFrame
        One row per edition: ``intents``; ``bits`` and ``conditional_bits`` per intent; ``xmi``, their difference, with
        ``std_error``, ``low`` and ``high`` (95 %, paired over intents).
    effects : Effects
        The same differences, in bits, to be compared between editions; ``effects.words`` tells the independent units.
    """

    table: pd.DataFrame
    effects: Effects

    digits = 2

    def __repr__(self) -> str:
        """Return the number of editions and the mean."""
        return f"XMI of {len(self.table)} editions, mean {self.table['xmi'].mean():.2f} bits per intent"


def xmi(
    surprisals: Surprisals, conditional: Surprisals, *, clusters: AnyClusters | None = "auto"
) -> CrossMutualInformation:
    r"""Measure the bits per intent that the source text saves a translation model.

    .. math:: \mathrm{XMI}(s \to t) = \frac1I \sum_i \left[ -\log_2 q_\mathrm{LM}(t_i) + \log_2 q_\mathrm{MT}(t_i \mid
              s_i) \right]

    The greater it is, the easier the translation: bits that the target needs by itself are taken off.

    Parameters
    ----------
    surprisals : Surprisals
        Bits of the targets by a language model.
    conditional : Surprisals
        Bits of the same targets by a translation model, given their sources.
    clusters : "auto", str, mapping, Series, DifficultyFit or None
        Intents whose errors depend on one another: a column of `intent_info`, or the cluster of each intent; see
        `langdiff.fit`.

    Returns
    -------
    CrossMutualInformation
        One row per edition that both tables have, over the intents that both have.

    Raises
    ------
    DataError
        If the tables share no edition, or an edition has fewer than two intents (clusters) in both.
    ConfigError
        If `clusters` names no column, or one of the tables is none.

    References
    ----------
    Bugliarello, Mielke, Anastasopoulos, Cotterell and Okazaki (2020), "It's Easier to Translate out of English than
    into it: Measuring Neural Translation Difficulty by Cross-Mutual Information", equation 5.

    Examples
    --------
    >>> alone = Surprisals(bits=pd.DataFrame({"deu": [160.0, 150.0, 170.0]}))
    >>> given = Surprisals(bits=pd.DataFrame({"deu": [60.0, 48.0, 72.0]}))
    >>> xmi(alone, given).to_frame().round(2)
             intents   bits  conditional_bits    xmi  std_error    low   high
    edition
    deu            3  160.0              60.0  100.0       1.15  95.03  104.97
    """
    for table in (surprisals, conditional):
        check_kind(table, Surprisals, "give bits alone and given the source, both as read_surprisals reads them")
    editions = surprisals.editions.intersection(conditional.editions, sort=False)
    intents = surprisals.intents.intersection(conditional.intents, sort=False)
    if not len(editions) or not len(intents):
        raise DataError(
            f"the tables share {len(editions)} editions and {len(intents)} intents; both must score the same targets."
        )
    alone, given = (table.bits.loc[intents, editions] for table in (surprisals, conditional))
    units, code = units_of(surprisals, clusters)
    both = alone.notna() & given.notna()
    code = code[surprisals.intents.get_indexer(intents)]
    spared, counts = (
        each.groupby(code).sum().reindex(range(len(units.names)), fill_value=0)
        for each in ((alone - given).where(both, 0.0), both)
    )
    for edition, found in (counts > 0).sum().items():
        if found < 2:
            raise DataError(f"edition {edition!r} has {found} intent(s) or cluster(s) in both tables; two are needed.")
    effects = Effects.of_ratios(spared, counts, units, SPARED)
    frame = effects.to_frame().loc[editions, ["xmi", "std_error", "low", "high"]]
    means = {"intents": both.sum(), "bits": alone[both].mean(), "conditional_bits": given[both].mean()}
    rows = pd.concat([pd.DataFrame(means), frame], axis=1).rename_axis("edition")
    return CrossMutualInformation(table=rows, effects=effects)

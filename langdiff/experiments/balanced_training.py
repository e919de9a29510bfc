"""Samples with equal amounts of native and of translated text, and differences under models trained on them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pandas as pd

from langdiff.base.grids import Shown
from langdiff.base.result import Drawn, Result, rounded
from langdiff.base.types import check_choice, generator, seed_number
from langdiff.corpora.edition_info import EditionInfo
from langdiff.corpora.origin import codes_of_editions, original_language_of
from langdiff.errors import ConfigError, DataError, listing, option, warns_caller, words
from langdiff.experiments.native import NATIVE, TRANSLATED, divide_by_origin, find_origins
from langdiff.experiments.native_and_translated import TranslationeseResult, translationese
from langdiff.selection import split, split_into_folds
from langdiff.tables.multitext import Folds, Multitext, Parts
from langdiff.tables.surprisals import Surprisals

if TYPE_CHECKING:
    from langdiff.lm import Compute, LanguageModelRecipe
    from langdiff.selection.splits import Groups


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
    check_choice("by", by, get_args(Unit))
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
    """Draw native intents and as many words of translated ones in random order, or pairs of the two."""
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
    """Return the smallest number of leading intents whose words reach the budget."""
    total = words.cumsum()
    if total.iloc[-1] < budget:
        raise DataError(
            f"{what}: {total.iloc[-1]:,} words in {len(words):,} {unit}, but {budget:,} are wanted. Lower "
            f"{option('budget_words')}."
        )
    return int(total.searchsorted(budget)) + 1


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class BalancedResult(Result):
    """Native against translated texts, each language under models trained on equal amounts of both.

    Attributes
    ----------
    results : mapping from language to TranslationeseResult
        Result for the test part of each language's own balanced sample. It also has other languages that have
        native intents, for which the sample is not balanced.
    words : DataFrame, one row per language
        ``native_intents`` and ``translated_intents`` of the whole sample, and their ``native_words`` and
        ``translated_words``, counted in the reference edition.
    by : {"words", "intents"}
        Unit of which native and translated text have equal numbers.
    """

    results: Mapping[str, TranslationeseResult]
    words: pd.DataFrame
    by: Unit = "words"

    @property
    def mean(self) -> float:
        """Mean difference over the editions, nats; without a standard error, since the samples may share intents."""
        return float(self.to_frame()["difference"].mean())

    @property
    def standard_deviation(self) -> float:
        """Sample standard deviation of the differences, nats, as the paper gives after ±; NaN for one edition."""
        return float(self.to_frame()["difference"].std(ddof=1))

    def to_frame(self) -> pd.DataFrame:
        """Return one row per balanced edition: columns of `TranslationeseResult.to_frame`, and sizes of the sample."""
        frames = {name: result.to_frame() for name, result in self.results.items()}
        frame = pd.concat([frame[frame["language"] == name] for name, frame in frames.items()])
        return frame.join(self.words, on="language")

    def _lines(self) -> Iterator[str]:
        if failed := [language for language, result in self.results.items() if not result.fit.converged]:
            yield f"NOT CONVERGED: {listing(failed)}"
        how = "harder" if self.mean > 0 else "easier"
        over = f"average over {len(self.results)} language(s)"
        yield f"Native texts were {100 * abs(np.expm1(self.mean)):.1f} % {how} than translated ones on {over}."

    def tables(self) -> list[Shown]:
        """Return the differences by language, and what they depend on."""
        spread = f", standard deviation {self.standard_deviation:.4f}" if len(self.results) > 1 else ""
        models = ", ".join(dict.fromkeys(result.fit.model for result in self.results.values()))
        notes = [f"Mean {self.mean:+.4f}{spread}; model {models}."]
        for name, result in self.results.items():
            notes.append(f"[experiment:balanced|by:{self.by}|language:{name}|{result.fit.signature}]")
        caption = "Native less translated texts, nats, trained on equal amounts of both"
        return [Shown(rounded(self.to_frame(), self.digits), "differences", caption, notes)]

    plot = Drawn("plot_balanced")

    def __repr__(self) -> str:
        """Return the mean difference and the number of languages."""
        return (
            f"BalancedResult: native - translated {self.mean:+.4f} nats on average over {len(self.results)} language(s)"
        )


@warns_caller
def run_balanced(
    multitext: Multitext,
    languages: Iterable[str],
    *,
    by: Unit = "words",
    budget_words: int = 500_000,
    reference: str = "eng",
    seed: int | np.random.Generator = 0,
    original_language: pd.Series | None = None,
    edition_info: EditionInfo | None = None,
    groups: "Groups | None" = None,
    folds: int | None = None,
    lm: "str | LanguageModelRecipe" = "bpe-residual",
    compute: "Compute | None" = None,
    **fit_settings: Any,
) -> BalancedResult:
    """Balance one language at a time, train on its sample, and compare its native and translated texts.

    Language models of all editions are trained on the sample of each language. In the fit every language that has
    native and translated intents is divided, as in `translationese`; only the balanced one is reported.

    Parameters
    ----------
    multitext : Multitext
        Texts in the form in which language models are to read them. Of each sample, two thirds are for training, one
        sixth to choose the best epoch and one sixth to measure (`langdiff.split`), unless there are folds.
    languages : iterable of str
        Languages to balance, in the codes of the original languages.
    by : {"words", "intents"}
        Unit of which native and translated text have equal numbers; see `balance_by_origin`.
    budget_words : int
        Number of words of the reference edition to draw for native and for translated intents each.
    reference : str
        Edition whose words are counted, or the ISO 639-3 code of a language with one edition.
    seed : int or numpy.random.Generator
        Seed of the draws, of every language model, and of the bootstrap if `fit_settings` ask for one.
    original_language : Series of str, optional
        Code of the original language of each intent; see `balance_by_origin`.
    edition_info : DataFrame, Series or mapping from edition to language, optional
        Language codes of editions; see `balance_by_origin`.
    groups : str, mapping or Series, optional
        Intents that stay together where samples are divided, such as ``"document"``; see `langdiff.split`.
    folds : int, optional
        Number of folds, by which all intents of a sample are measured; see `langdiff.split_into_folds`.
    lm : str or LanguageModelRecipe
        Language model to train, by name or as a recipe; see `langdiff.compute_surprisals`.
    compute : langdiff.lm.Compute, optional
        Device, workers and cache; the cache has ``balanced-LANGUAGE/EDITION/LM/``.
    **fit_settings
        Settings of `langdiff.fit`, as in `translationese`.

    Returns
    -------
    BalancedResult
        The difference between native and translated texts of each language, and the sizes of the samples.

    Raises
    ------
    ConfigError
        If no language is named or one twice, `seed` is not a seed, or a setting of the draws cannot be used.
    DataError
        If a sample cannot be drawn, or its test part cannot be compared; both are found before any training.
    LangdiffError
        If a language model cannot be trained or a fit fails; see `langdiff.compute_surprisals` and `langdiff.fit`.

    Warns
    -----
    LangdiffWarning
        As `langdiff.compute_surprisals` and `langdiff.fit`, each kind once for all samples, naming all editions.

    References
    ----------
    Mielke et al. (2019), section 6: −0.0044 ± 0.022 over 10 languages of Europarl, with ``by="intents"``.

    Examples
    --------
    >>> import langdiff as ld
    >>> rng, origin = np.random.default_rng(0), ["deu", "eng", "fra"] * 200
    >>> texts = {name: [f"{name} {word}" for word in rng.permutation(600)] for name in ("deu", "eng", "fra")}
    >>> multitext = ld.read_frame(pd.DataFrame(texts))
    >>> result = run_balanced(
    ...     multitext,
    ...     ["deu"],
    ...     budget_words=200,
    ...     seed=0,
    ...     lm="kneser-ney-2",
    ...     original_language=pd.Series(origin, index=multitext.intents),
    ... )
    >>> result.words[["native_words", "translated_words"]].to_numpy().tolist()
    [[200, 200]]
    """
    from langdiff.lm.compute import as_compute, compute_where_possible

    number = seed_number(seed)
    names = [languages] if isinstance(languages, str) else list(languages)
    if not names or len(set(names)) < len(names):
        raise ConfigError(f"name at least one language, and each once; got {names}.")
    samples = {  # all draws first: a language that cannot be balanced is told before hours of training
        name: balance_by_origin(
            multitext,
            name,
            by=by,
            budget_words=budget_words,
            reference=reference,
            seed=rng,
            original_language=original_language,
            edition_info=edition_info,
        )
        for name, rng in zip(names, generator(number).spawn(len(names)), strict=True)
    }
    parts: dict[str, Parts | Folds] = {}
    sources, codes = {}, {}
    for name, sample in samples.items():
        division = split(sample, groups=groups) if folds is None else split_into_folds(sample, folds, groups=groups)
        parts[name] = division
        sources[name] = sample.intent_info["original_language"]
        found = codes_of_editions(sample, sources[name], edition_info)
        codes[name] = {str(edition): code for edition, code in found.items()}
        measured = division.multitext if isinstance(division, Folds) else division.test
        _check_test_part(measured, name, sources[name], codes[name])
    results, compute = {}, as_compute(compute)
    for name in names:
        surprisals, _ = compute_where_possible(
            parts[name], lm=lm, seed=number, compute=compute.inside(f"balanced-{name}")
        )
        # all languages are divided: what native text of another is like must not be taken for the intent's size
        results[name] = translationese(
            surprisals, sources[name], min_native=1, edition_info=codes[name], seed=number, **fit_settings
        )
    return BalancedResult(
        results=results,
        words=pd.DataFrame({name: _sizes(sample, reference) for name, sample in samples.items()}).T.rename_axis(
            "language"
        ),
        by=by,
    )


def _sizes(sample: Multitext, reference: str) -> dict[str, int]:
    """Return the numbers of intents and of words by origin."""
    words, origin = count_words(sample, reference), sample.intent_info["origin"]
    parts = {part: words[origin == part] for part in (NATIVE, TRANSLATED)}
    intents = {f"{part}_intents": len(counts) for part, counts in parts.items()}
    return intents | {f"{part}_words": int(counts.sum()) for part, counts in parts.items()}


def _check_test_part(test: Multitext, language: str, source: pd.Series, codes: Mapping[str, str]) -> None:
    """Check, before training, that the test part allows the comparison."""
    table = Surprisals(bits=pd.DataFrame(1.0, index=test.intents, columns=test.editions))
    origins = find_origins(table, source, codes)
    both = origins.native.any() & origins.translated.any()
    if language not in set(origins.language[both]):
        raise DataError(
            f"the test part has no native, or no translated, intents of {language!r}. Raise {option('budget_words')}."
        )
    divide_by_origin(table, origins, list(both.index[both]))

"""Native against translated texts under models that read as much of either (Mielke et al. 2019, section 6)."""

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from langdiff._random import generator, seed_number
from langdiff.corpora._origin import codes_of_editions, original_language_of
from langdiff.errors import ConfigError, DataError, listing
from langdiff.experiments._cautions import Heard, hearing, warn_once
from langdiff.experiments._origins import NATIVE, TRANSLATED, divide_by_origin, find_origins
from langdiff.experiments._translationese import TranslationeseResult, translationese
from langdiff.multitext import Multitext
from langdiff.selection import split
from langdiff.surprisals import Surprisals

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from langdiff.lm import Recipe
    from langdiff.lm.ngrams import KneserNeyRecipe


def balance_by_origin(
    multitext: Multitext,
    language: str,
    *,
    budget_words: int = 500_000,
    reference: str = "eng",
    seed: int | np.random.Generator,
    original_language: pd.Series | None = None,
    edition_languages: Mapping[str, str] | None = None,
) -> Multitext:
    """Draw as many words first said in a language as words translated into it.

    Native intents are taken in random order until they hold the budget, then translated ones until these hold as
    much as the native ones; both are shuffled together. Words are counted in one reference edition, so that
    the same intents are as large whichever language is balanced. Only intents that every edition has are drawn.

    Parameters
    ----------
    multitext : Multitext
        What to draw from.
    language : str
        The language to balance, in the codes of the original languages.
    budget_words : int
        White-space tokens of the reference edition to take of either; the last intent may exceed it.
    reference : str
        The edition that is counted, or the ISO 639-3 code of a language with one edition.
    seed : int or numpy.random.Generator
        Seed of the draw.
    original_language : Series of str, optional
        By intent; NaN, ``""`` or ``"und"`` where it is not known, which are not drawn. By default
        ``intent_info["original_language"]``.
    edition_languages : mapping from edition to str, optional
        Codes of editions, where neither their names nor ``edition_info["language"]`` give them.

    Returns
    -------
    Multitext
        In the order of the draw; ``intent_info`` has ``origin``, ``"native"`` or ``"translated"``, and
        ``original_language``.

    Raises
    ------
    DataError
        If the language or the reference is unknown, no intent is native or none translated, or there are fewer
        words than the budget asks for.
    ConfigError
        If the budget is below 1, or the seed is not one.

    References
    ----------
    Mielke et al. (2019), section 6: 500,000 words of either in the English column.

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
    if not budget_words >= 1:  # catches NaN too
        raise ConfigError(f"budget_words must be at least 1, got {budget_words!r}.")
    complete = multitext.dropna()
    source = original_language_of(complete, original_language)
    codes = codes_of_editions(complete, source, edition_languages)
    if language not in set(codes):
        raise DataError(
            f"unknown language {language!r}: editions are in {listing(codes.unique(), most=10)}, intents from "
            f"{listing(source.dropna().unique(), most=10)}. If these are other codes for the same languages, give "
            "edition_languages."
        )
    words = _words(complete, reference)
    pools = {NATIVE: source.index[source == language], TRANSLATED: source.index[source.notna() & (source != language)]}
    empty = [part for part, pool in pools.items() if not len(pool)]
    if empty:
        raise DataError(
            f"no {empty[0]} intent for {language!r} among the {len(complete):,} that all editions have; their original "
            f"languages are {listing(source.dropna().unique(), most=10)}."
        )
    drawn: dict[str, pd.Index] = {}
    wanted = budget_words
    for part, pool in pools.items():
        drawn[part] = _draw(words[pool], wanted, rng, f"{part} intents of {language!r}")
        wanted = int(words[drawn[part]].sum())
    origin = pd.concat([pd.Series(part, index=intents) for part, intents in drawn.items()])
    origin = origin.iloc[rng.permutation(len(origin))]
    chosen = complete.sel(intents=origin.index)
    info = chosen.intent_info.assign(original_language=source[origin.index], origin=origin)
    return replace(chosen, intent_info=info)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class BalancedResult:
    """Native against translated texts, each language under models trained on as much of either.

    Attributes
    ----------
    results : mapping from language to TranslationeseResult
        Of the test part of the language's own balanced sample. Other languages are in there, too, as far as they
        have native intents; for them the sample is not balanced.
    words : DataFrame, one row a language
        ``native_words`` and ``translated_words`` of the whole sample, counted in the reference edition.
    """

    results: Mapping[str, TranslationeseResult]
    words: pd.DataFrame

    @property
    def mean(self) -> float:
        """Mean difference over the editions, nats. The samples may share intents: no standard error follows."""
        return float(self.to_frame()["difference"].mean())

    @property
    def standard_deviation(self) -> float:
        """Sample standard deviation of the differences, nats: what the paper gives after ±; NaN for one."""
        return float(self.to_frame()["difference"].std(ddof=1))

    def to_frame(self) -> pd.DataFrame:
        """Return one row a balanced edition: see `TranslationeseResult.to_frame`, and the words of the sample."""
        frames = {name: result.to_frame() for name, result in self.results.items()}
        frame = pd.concat([frame[frame["language"] == name] for name, frame in frames.items()])
        return frame.join(self.words, on="language")

    def summary(self) -> str:
        """Format the table and the mean, with what is needed to trust them."""
        fits = [result.fit for result in self.results.values()]
        failed = [language for language, result in self.results.items() if not result.fit.converged]
        state = f"NOT CONVERGED: {listing(failed)}" if failed else "converged"
        spread = f", standard deviation {self.standard_deviation:.4f}" if len(fits) > 1 else ""
        return "\n".join(
            [
                f"Native - translated, nats, trained on as much of either: model {fits[0].model}, {state}",
                "",
                self.to_frame().round(4).to_string(),
                "",
                f"Mean {self.mean:+.4f}{spread}",
                *(f"[experiment:balanced|language:{name}|{r.fit.signature}]" for name, r in self.results.items()),
            ]
        )

    def plot(self, ax: "Axes | None" = None, **style: Any) -> "Axes":
        """Draw the differences with intervals; see `langdiff.plots.plot_balanced`."""
        from langdiff.plots.translationese import plot_balanced  # Matplotlib only when asked for

        return plot_balanced(self, ax, **style)

    def __repr__(self) -> str:
        """Say what was found."""
        return (
            f"BalancedResult: native - translated {self.mean:+.4f} nats on average over {len(self.results)} language(s)"
        )


def run_balanced(
    multitext: Multitext,
    languages: Iterable[str],
    *,
    budget_words: int = 500_000,
    reference: str = "eng",
    seed: int | np.random.Generator,
    original_language: pd.Series | None = None,
    edition_languages: Mapping[str, str] | None = None,
    lm: "str | Recipe | KneserNeyRecipe" = "bpe-small",
    device: str = "auto",
    cache: str | Path | None = None,
    workers: int = 1,
    executor: Executor | None = None,
    progress: bool | None = None,
    **fit_settings: Any,
) -> BalancedResult:
    """Balance one language at a time, train all on its sample, and compare its native and translated texts.

    In the fit every language that has native and translated intents is divided, as in `translationese`; only the
    balanced one is reported.

    Parameters
    ----------
    multitext, budget_words, reference, original_language, edition_languages
        See `balance_by_origin`, also for the errors; texts as models are to see them.
    languages : iterable of str
        Languages to balance, in the codes of the original languages.
    seed : int or numpy.random.Generator
        Seed of the draws, of every model, and of the bootstrap if `fit_settings` ask for one.
    lm, device, workers, executor, progress
        See `langdiff.compute_surprisals`, also for the errors. Models are trained on two thirds of a sample,
        stopped by a sixth and measured on a sixth (`langdiff.split`).
    cache : str or Path, optional
        Folder of the models, with one folder a balanced language.
    **fit_settings
        For `langdiff.fit`, as in `translationese`.

    Returns
    -------
    BalancedResult

    Raises
    ------
    ConfigError
        If no language is named, or one twice, or the seed is not one.
    DataError
        If what a sample has for the test cannot be compared; like the errors of the draws, before any training.

    Warns
    -----
    LangdiffWarning
        As `langdiff.compute_surprisals` and `langdiff.fit`, each kind once for all samples, naming all editions.

    References
    ----------
    Mielke et al. (2019), section 6: −0.0044 ± 0.022 over 10 languages of Europarl.
    """
    from langdiff.lm import compute_surprisals

    number = seed_number(seed)
    names = [languages] if isinstance(languages, str) else list(languages)
    if not names or len(set(names)) < len(names):
        raise ConfigError(f"name at least one language, and each once; got {names}.")
    samples = {  # all draws first: a language that cannot be balanced is told before hours of training
        name: balance_by_origin(
            multitext,
            name,
            budget_words=budget_words,
            reference=reference,
            seed=rng,
            original_language=original_language,
            edition_languages=edition_languages,
        )
        for name, rng in zip(names, generator(number).spawn(len(names)), strict=True)
    }
    parts, sources, codes = {}, {}, {}
    for name, sample in samples.items():
        parts[name] = split(sample)
        sources[name] = sample.intent_info["original_language"]
        found = codes_of_editions(sample, sources[name], edition_languages)
        codes[name] = {str(edition): code for edition, code in found.items()}
        _check_test_part(parts[name].test, name, sources[name], codes[name])
    results = {}
    heard: Heard = []
    for name in names:
        with hearing(heard):
            surprisals = compute_surprisals(
                parts[name],
                lm=lm,
                device=device,
                seed=number,
                cache=None if cache is None else Path(cache) / f"balanced-{name}",
                workers=workers,
                executor=executor,
                progress=progress,
            )
            # all languages are divided: what native text of another is like must not be taken for the intent's size
            results[name] = translationese(
                surprisals, sources[name], min_native=1, edition_languages=codes[name], seed=number, **fit_settings
            )
    warn_once(heard, stacklevel=2)
    counted = {
        name: _words(sample, reference).groupby(sample.intent_info["origin"]).sum() for name, sample in samples.items()
    }
    words = pd.DataFrame(counted).T.rename(columns=lambda part: f"{part}_words").rename_axis("language")
    return BalancedResult(results=results, words=words[[f"{NATIVE}_words", f"{TRANSLATED}_words"]])


def _check_test_part(test: Multitext, language: str, source: pd.Series, codes: Mapping[str, str]) -> None:
    """Refuse before training what could not be compared after it."""
    table = Surprisals(bits=pd.DataFrame(1.0, index=test.intents, columns=test.editions))
    origins = find_origins(table, source, codes)
    both = origins.native.any() & origins.translated.any()
    if language not in set(origins.language[both]):
        raise DataError(f"the test part has no native, or no translated, intents of {language!r}. Raise budget_words.")
    divide_by_origin(table, origins, list(both.index[both]))


def _words(multitext: Multitext, reference: str) -> pd.Series:
    """Count the white-space tokens of every intent in the reference edition."""
    language = multitext.edition_info["language"]
    found = [reference] if reference in multitext.editions else list(language.index[language == reference])
    if len(found) != 1:
        raise DataError(
            f"reference {reference!r} is {'the language of several editions' if found else 'no edition'}: "
            f"{listing(found or multitext.editions)}. Name one edition."
        )
    return multitext.text(found[0]).map(lambda text: len(text.split())).astype(int)


def _draw(words: pd.Series, budget: int, rng: np.random.Generator, what: str) -> pd.Index:
    """Take intents in random order until they hold the budget."""
    order = words.iloc[rng.permutation(len(words))]
    total = order.cumsum()
    if total.iloc[-1] < budget:
        raise DataError(
            f"{what}: {total.iloc[-1]:,} words in {len(words):,} intents, but {budget:,} are wanted. "
            "Lower budget_words."
        )
    return order.index[: int(total.searchsorted(budget)) + 1]

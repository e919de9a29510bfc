"""Tests of predictors against difficulties (Mielke et al. 2019, section 5)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from langdiff.base.signature import full_signature, name_of_number, name_of_seed
from langdiff.base.types import Floats, check_resamples, generator
from langdiff.errors import ConfigError, listing, option, warn
from langdiff.tables.effect_sources import Sources
from langdiff.tables.effects import Effects
from langdiff.typology.association.comparison import (
    COLUMNS,
    MIN_LEVEL,
    Key,
    compare_levels,
    compare_models,
    expanded,
    kept_levels,
    with_shares,
)
from langdiff.typology.association.correlation import (
    MIN_LANGUAGES,
    RELATED,
    Outcome,
    RelatedTest,
    Test,
    compare_categories,
    correlation,
    is_constant,
)
from langdiff.typology.association.related import mixed_slope, permute_within_families, related_slope
from langdiff.typology.association.relatives import Relatives, Tree, check_tree, find_relatives, has_places
from langdiff.typology.association.result import Correlations, adjust_within
from langdiff.typology.association.sample import (
    Averaging,
    PredictorTable,
    Sample,
    Unit,
    check_names,
    gather,
    hash_sample,
    name_of_unit,
    names_once,
)

Interval = Literal["fisher", "bootstrap"]
NUMERIC = ("pearson", "spearman", "kendall", "mixed", "permutation", *RELATED)
CATEGORICAL = ("mood", "kruskal", "permutation", *RELATED)
FAMILY_AWARE = ("mixed", "permutation")
PARTIAL = ("pearson", "spearman", *RELATED)
CORRELATED = ("pearson", "spearman", "kendall")
N_RESAMPLES = 9999
ALPHA = 0.05  # false discovery rate; `adjust` takes others
FIGURES = ("df", "df_residual", "phylo_share", "area_share")
RULE = f"Numbers are tested by {listing(NUMERIC, 9)}, categories by {listing(CATEGORICAL)}."


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of `correlate`."""

    tests: tuple[Test, ...]
    given: tuple[str, ...]
    unit: Unit
    interval: Interval
    n_resamples: int
    min_level: int


def correlate(
    difficulties: Sources,
    predictors: PredictorTable,
    *,
    edition_info: pd.DataFrame | None = None,
    corpus: str = "",
    tests: Test | Iterable[Test] | None = None,
    only: str | Iterable[str] = (),
    given: str | Iterable[str] = (),
    tree: Tree | None = None,
    coordinates: pd.DataFrame | None = None,
    averaging: Averaging = "difficulty",
    average: Literal["language"] | None = "language",
    interval: Interval = "fisher",
    n_resamples: int = N_RESAMPLES,
    min_level: int = MIN_LEVEL,
    seed: int | np.random.Generator = 0,
) -> Correlations:
    """Test predictors against difficulties, with one observation per language.

    Difficulties and predictors are first averaged over the editions of a language, since translations of one
    text into one language are not independent evidence. Then every predictor is tested by every test of its kind,
    under every language model. Several tests of one hypothesis are no family: p-values are adjusted by Benjamini and
    Hochberg's procedure within each test, over predictors and language models, at a false discovery rate of 5 %.

    Parameters
    ----------
    difficulties : fit, Effects, Series or DataFrame; or a mapping or sequence of them
        Fit, or table of difficulties by edition; as `langdiff.as_effects` takes them, from one or several language
        models: a mapping goes from language model to fit, Effects or Series, and a DataFrame in nats has one column per
        language model, or a column ``difficulty`` as the frame of a fit has.
    predictors : Predictors, DataFrame or Series
        Table of predictors, one row per edition or language; numbers are tested as such, everything else as categories.
        Columns ``language``, ``family`` and ``genus`` are not tested: they are used if there is no `edition_info`.
    edition_info : DataFrame, optional
        Table of the editions, with columns language and family; ``language`` and, for tests that allow for families,
        ``family``. Without it, every edition counts as a language of its own.
    corpus : str
        Name of the corpus in the table of tests.
    tests : str or iterable of str, optional
        Tests to make. For numbers: ``"pearson"``, ``"spearman"``, ``"kendall"``; ``"mixed"`` (slope with a random
        intercept of family) and ``"permutation"`` (within families), which allow for families; ``"phylo"``,
        ``"area"`` and ``"phylo+area"`` (slope with residuals that relatives share along `tree`, that neighbours share
        over distance, or both). For categories: ``"mood"``, ``"kruskal"``, ``"permutation"``, and along the tree and
        over distance F tests of the means of levels. By default Pearson's, Spearman's and, if nothing is held fixed,
        Mood's; with a `tree` also ``"phylo+area"``, or ``"phylo"`` where there are no coordinates.
    only : str or iterable of str, optional
        Predictors to test; by default all.
    given : str or iterable of str, optional
        Predictors to hold fixed (categories by treatment coding, along the tree and over distance only): Pearson's and
        Spearman's become partial correlations, and regressions along the tree and over distance get more regressors.
        The other tests have no such form.
    tree : Glottolog, LanguageTree, str or Path, optional
        Family tree for the tests ``"phylo"`` and ``"phylo+area"``: of `langdiff.typology.read_glottolog` or
        `read_tree`; or a folder with Glottolog's files, or a file in Newick's format or NEXUS. Languages are found by
        name: in Glottolog by ISO 639-3 code or glottocode. A tree that no test uses is an error.
    coordinates : DataFrame, optional
        Places for the tests ``"area"`` and ``"phylo+area"``: ``latitude`` and ``longitude`` in degrees, one row per
        language. Where a language is missing, these columns of `edition_info` are used, then Glottolog.
    averaging : {"difficulty", "factor"}
        Mean over the editions of a language: the mean difficulty, as in the paper's correlations, or the logarithm
        of the mean factor, as in its Table 2.
    average : {"language", None}
        Whether difficulties and predictors are averaged over the editions of each language. None keeps editions apart;
        only the test ``"mixed"`` allows for this, by a random intercept of language inside that of family.
    interval : {"fisher", "bootstrap"}
        Kind of 95 % interval of the correlations ``"pearson"``, ``"spearman"`` and ``"kendall"``: see
        `langdiff.typology.association.correlation.correlation`.
    n_resamples : int
        Number of permutations and of bootstrap samples; for ``"permutation"`` and ``interval="bootstrap"``.
    min_level : int
        Least number of languages of a level for the tests of categories along the tree and over distance. Levels of
        fewer are left out and named in ``reason``, never merged: one or two languages do not tell a level apart from
        the languages that happen to have it.
    seed : int or numpy.random.Generator, optional
        Seed of permutations and bootstrap; without effect unless `tests` has ``"permutation"`` or `interval` is
        ``"bootstrap"``.

    Returns
    -------
    Correlations
        A test that cannot be made (a constant predictor, fewer than four languages with a value) has NaN
        as its p-value and the cause in ``reason``; it is not counted in the family. Languages that are not in the tree
        or have no coordinates are left out of the tests that need them, counted in ``missing`` and named in ``reason``.

    Raises
    ------
    ConfigError
        If a setting or predictor is unknown; a test fits no predictor, or a predictor of `only` no test; a seed, tree
        or coordinates are needed and were not given, or a tree, coordinates, bootstrap interval or number of
        resamples are given and no test would use them.
    DataError
        If values are infinite, names occur twice, languages are unknown, fewer than four languages have both
        difficulties and predictors, no language is in the tree, or tree or coordinates are not valid.

    Warns
    -----
    LangdiffWarning
        If `only` is empty and some predictors fit none of the `tests`.

    Examples
    --------
    >>> from langdiff.datasets import mielke2019
    >>> figures = mielke2019()
    >>> result = correlate(
    ...     figures.difficulties("bibles")["bpe"],
    ...     figures.predictors("bibles"),
    ...     edition_info=figures.edition_info("bibles"),
    ...     tests=["pearson", "mixed"],
    ...     only=["word_types"],
    ... )
    >>> result.to_frame()[["test", "n", "statistic", "estimate", "low", "high"]].round(3)
          test   n    statistic  estimate    low   high
    0  pearson  62            r     0.750  0.616  0.842
    1    mixed  62  nats per SD     0.064  0.049  0.080
    """
    if average not in ("language", None):
        raise ConfigError(f"{option('average', average)}: must be 'language' or None.")
    unit: Unit = "edition" if average is None else "language"
    usual: RelatedTest = "phylo+area" if has_places(tree, coordinates, edition_info) else "phylo"
    settings = settle(tests, given, unit, interval, n_resamples, tree is not None, usual=usual, min_level=min_level)
    random = interval == "bootstrap" or "permutation" in settings.tests
    rng = generator(seed, "permutations and bootstrap samples") if random else generator(0)
    sample = gather(difficulties, predictors, edition_info=edition_info, corpus=corpus, averaging=averaging, unit=unit)
    named = name_of_seed(seed, rng) if random else None
    planned = _plan(sample, names_once(only), settings, tests is not None)
    made = [test for test in settings.tests if any(test in fitting for fitting in planned.values())]
    check_used(made, settings)
    relatives = find_relatives(sample.difficulty.index, made, tree, coordinates, edition_info)
    _warn_of_untested(planned, settings)
    rows, levels = _rows(sample, relatives, planned, settings, rng)
    frame = pd.DataFrame(rows)
    models = _models(sample, relatives, frame["predictor"].unique(), settings)
    frame["p_adjusted"], frame["significant"] = adjust_within(frame["p"], frame["test"], ALPHA)
    columns = [name for name in frame if name not in (*FIGURES, "reason")]
    return Correlations(
        tests=frame[[*columns, *FIGURES, "reason"]],
        level_means=levels,
        tree=relatives.source,
        samples=(sample,),
        relatedness=pd.DataFrame(models, columns=list(COLUMNS)),
        alpha=ALPHA,
        signature=full_signature(
            {
                "tests": ",".join(settings.tests),
                "given": ",".join(settings.given) or None,
                "averaging": averaging,
                "unit": unit,
                "interval": interval,
                "resamples": n_resamples if random else None,
                "seed": named,
                "alpha": name_of_number(ALPHA),
                "min_level": min_level if levels else None,
                "tree": relatives.source or None,
                "relatives": relatives.hash(),
                "data": f"{corpus}#{hash_sample(sample, frame['predictor'].unique())}",
            }
        ),
    )


def settle(
    tests: Test | Iterable[Test] | None,
    given: str | Iterable[str],
    unit: Unit,
    interval: Interval,
    n_resamples: int,
    has_tree: bool,
    *,
    usual: RelatedTest = "phylo+area",
    min_level: int = MIN_LEVEL,
) -> Settings:
    """Return the settings of `correlate`, with the usual tests filled in."""
    held = names_once(given)
    default: list[Test] = ["pearson", "spearman", *([usual] if has_tree else [])]
    default += [] if held else ["mood"]
    settings = Settings(
        tests=names_once(default if tests is None else tests),
        given=held,
        unit=unit,
        interval=interval,
        n_resamples=n_resamples,
        min_level=min_level,
    )
    known = tuple(dict.fromkeys((*NUMERIC, *CATEGORICAL)))
    if not settings.tests:
        raise ConfigError(f"name at least one test; there are {listing(known, 9)}.")
    unknown = [test for test in settings.tests if test not in known]
    if unknown:
        raise ConfigError(f"unknown test(s) {listing(unknown)}; there are {listing(known, 9)}.")
    if settings.interval not in ("fisher", "bootstrap"):
        raise ConfigError(f"{option('interval', settings.interval)}: must be 'fisher' or 'bootstrap'.")
    check_resamples("n_resamples", settings.n_resamples)
    if isinstance(min_level, bool) or min_level < 1:
        raise ConfigError(f"{option('min_level', min_level)}: at least 1 language, which keeps all levels.")
    if settings.unit == "edition" and settings.tests != ("mixed",):
        raise ConfigError(
            f"editions of one language are not independent: with {name_of_unit('edition')}, name "
            f"{option('tests', 'mixed')} alone; or keep {name_of_unit('language')}."
        )
    if settings.given and not set(settings.tests) <= set(PARTIAL):
        raise ConfigError(f"predictors can be held fixed ({option('given')}) for tests {listing(PARTIAL, 9)} only.")
    check_tree(settings.tests, given=has_tree)
    check_used(settings.tests, settings)
    return settings


def check_used(tests: Sequence[str], settings: Settings) -> None:
    """Check that every setting is used by some test."""
    if settings.interval == "bootstrap" and not set(tests) & set(CORRELATED):
        raise ConfigError(
            f"{option('interval', 'bootstrap')} is for the correlations {listing(CORRELATED)}, and none of them is "
            f"made: tests are {listing(tests, 9)}. Add one of them, or leave the kind of interval out."
        )
    if settings.n_resamples != N_RESAMPLES and settings.interval != "bootstrap" and "permutation" not in tests:
        raise ConfigError(
            f"{option('n_resamples', settings.n_resamples)}: nothing is drawn by tests {listing(tests, 9)}. Add "
            f"{option('tests', 'permutation')} or {option('interval', 'bootstrap')}, or leave it out."
        )


def _plan(sample: Sample, only: Sequence[str], settings: Settings, named: bool) -> dict[str, list[Test]]:
    """Return the tests of every predictor, after checking that none would be left out silently."""
    for name in settings.given:
        if not is_numeric_dtype(sample.column(name)) and not set(settings.tests) <= set(RELATED):
            raise ConfigError(
                f"{option('given', name)} is a category, which only tests {listing(RELATED)} can hold fixed."
            )
    both = [name for name in only if name in settings.given]
    if both:
        raise ConfigError(f"{listing(both)} cannot be tested and held fixed (given) at once: leave one out.")
    names = [name for name in check_names(sample, only) if name not in settings.given]
    kinds = {name: NUMERIC if is_numeric_dtype(sample.predictors[name]) else CATEGORICAL for name in names}
    planned = {name: [test for test in settings.tests if test in kind] for name, kind in kinds.items()}
    without = [name for name in names if not planned[name]]
    if len(without) == len(names):
        raise ConfigError(
            f"no test to make: {listing(settings.tests, 9)} of predictors {listing(names)}. "
            f"{_way(settings.tests)}{RULE}"
        )
    idle = [test for test in settings.tests if not any(test in fitting for fitting in planned.values())]
    if idle and named:
        what = "number" if idle[0] in NUMERIC else "category"
        raise ConfigError(
            f"{option('tests', idle[0])} cannot be made: no predictor of {listing(names)} is a {what}. "
            f"{_way(idle)}{RULE}"
        )
    if without and only:
        raise ConfigError(
            f"predictor {without[0]!r} fits none of the tests {listing(settings.tests, 9)}. "
            f"{_way(settings.tests)}{RULE}"
        )
    return planned


def _way(tests: Sequence[str]) -> str:
    """Name the tests of categories if a test of numbers was asked for."""
    if tests[0] not in NUMERIC or tests[0] in CATEGORICAL:
        return ""
    related = f"{option('tests', 'phylo+area')} (allows for kinship and area)"
    return f"{tests[0]} cannot test a category: use {related}, 'mood' or 'kruskal'. "


def _warn_of_untested(planned: Mapping[str, Sequence[Test]], settings: Settings) -> None:
    without = [name for name, fitting in planned.items() if not fitting]
    if without:
        warn(
            f"{len(without)} of {len(planned)} predictors fit none of the tests {listing(settings.tests, 9)} and are "
            f"not tested: {listing(without)}. {RULE}"
        )


def _rows(
    sample: Sample,
    relatives: Relatives,
    planned: Mapping[str, Sequence[Test]],
    settings: Settings,
    rng: np.random.Generator,
) -> tuple[list[dict[str, object]], dict[Key, Effects]]:
    rows, levels = [], {}
    for name, tests in planned.items():
        for lm in sample.difficulty:
            for test in tests:
                outcome, missing, means = _one(sample, relatives, name, str(lm), test, settings, rng)
                if means is not None:
                    levels[Key(name, str(lm), sample.corpus, test)] = means
                key = {"predictor": name, "language_model": lm, "corpus": sample.corpus, "test": test}
                given = ", ".join(settings.given)
                rows.append(key | {"given": given, "n": outcome.n, "missing": missing} | outcome._asdict())
    return rows, levels


def _one(
    sample: Sample,
    relatives: Relatives,
    name: str,
    lm: str,
    test: str,
    settings: Settings,
    rng: np.random.Generator,
) -> tuple[Outcome, int, Effects | None]:
    """Run one test on the complete cases; return it, the number of languages dropped, and means of levels."""
    needed = pd.concat([sample.difficulty[lm], sample.predictors[[name, *settings.given]]], axis=1)
    have = needed.notna().all(axis=1)
    if test in FAMILY_AWARE and sample.family is not None:
        have &= sample.family.notna()
    left_out = relatives.left_out(test, have.to_numpy(dtype=bool))
    have &= relatives.known(test)
    if test in RELATED and not is_numeric_dtype(sample.predictors[name]):
        kept, small = kept_levels(sample.predictors[name].where(have), settings.min_level)
        have &= kept
        left_out = "; ".join(filter(None, [small, left_out]))
    n, missing = int(have.sum()), int((~have).sum())
    x, y = sample.predictors.loc[have, name], sample.difficulty.loc[have, lm].to_numpy(dtype=float)
    if reason := _obstacle(x, y, settings.unit):
        return Outcome("", n, reason="; ".join(filter(None, [reason, left_out]))), missing, None
    values = x.to_numpy(dtype=float) if is_numeric_dtype(x) else None
    held = sample.predictors.loc[have, list(settings.given)]
    if test in RELATED:
        given, matrices = expanded(held) if len(held.columns) else None, relatives.take(test, have.to_numpy(dtype=bool))
        levels = None
        if values is None:
            title = f"{name}, {lm}, {test}"
            outcome, levels = compare_levels(x, y, *matrices, given=given, title=title)
        else:
            outcome, fit = related_slope(values, y, *matrices, given=given)
            outcome = outcome if fit is None else with_shares(outcome, fit)
        return outcome._replace(reason="; ".join(filter(None, [outcome.reason, left_out]))), missing, levels
    return _unrelated(sample, have, x, y, values, test, settings, rng), missing, None


def _unrelated(
    sample: Sample,
    have: pd.Series,
    x: pd.Series,
    y: Floats,
    values: Floats | None,
    test: str,
    settings: Settings,
    rng: np.random.Generator,
) -> Outcome:
    """Run a test that uses neither tree nor distances."""
    n = len(x)
    if test in FAMILY_AWARE:
        if sample.family is None:
            return Outcome("", n, reason="families are not known: nothing names the 'family' of editions")
        family = sample.family[have]
        if test == "permutation":
            column = x if values is None else values
            return permute_within_families(column, y, family, n_resamples=settings.n_resamples, seed=rng)
        language = sample.language[have] if settings.unit == "edition" else None
        return mixed_slope(np.asarray(values), y, family, language)
    if values is None:
        return compare_categories(pd.Series(y, index=x.index), x, test)
    given = sample.predictors.loc[have, list(settings.given)].to_numpy(dtype=float) if settings.given else None
    n_resamples = settings.n_resamples if settings.interval == "bootstrap" else 0
    return correlation(values, y, test, given=given, n_resamples=n_resamples, seed=rng)


def _models(sample: Sample, relatives: Relatives, names: Iterable[str], settings: Settings) -> list[dict[str, object]]:
    """Compare the models of relatedness that tests use with independence."""
    tests = [test for test in settings.tests if test in RELATED]
    return [
        row
        for name in (names if tests else ())
        for lm in sample.difficulty
        for row in compare_models(sample, relatives, str(lm), [name, *settings.given], tests, settings.min_level)
    ]


def _obstacle(x: pd.Series, y: Floats, unit: Unit) -> str:
    """Return the reason why these values cannot be tested; empty if they can."""
    if len(x) < MIN_LANGUAGES:
        return f"{len(x)} {unit}s with a value; at least {MIN_LANGUAGES} are needed"
    if is_constant(y):
        return "all difficulties are equal"
    if is_numeric_dtype(x) and is_constant(x.to_numpy(dtype=float)):
        return f"the predictor is constant: {x.iloc[0]:g}"
    return ""

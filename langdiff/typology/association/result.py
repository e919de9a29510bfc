"""The outcome of tests of predictors against difficulties, and its adjustment for their number."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from langdiff.base.cells import exact_numbers
from langdiff.base.grids import Shown
from langdiff.base.result import Drawn, Result
from langdiff.base.signature import name_of_number
from langdiff.base.types import Booleans, Floats
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.tables.effects import Effects
from langdiff.tables.pairs import Pairs
from langdiff.tables.rule import Contrast
from langdiff.typology.association.comparison import COLUMNS, Key, shown_models
from langdiff.typology.association.correlation import RELATED, category_means
from langdiff.typology.association.sample import Sample

KEY = ["predictor", "language_model", "corpus"]
RECOMMENDED = {"phylo+area": "kinship and area", "phylo": "kinship"}  # tests that stand first
SHARES = ("df", "df_residual", "phylo_share", "area_share")
LEVEL_FIGURES = ("mean", "std_error", "low", "high", "percent", "percent_low", "percent_high")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Correlations(Result):
    """Tests of predictors against difficulties, adjusted together.

    Attributes
    ----------
    tests : DataFrame
        One row per test: ``predictor``, ``language_model``, ``corpus``, ``test``, ``given`` (predictors held
        fixed), ``n`` (languages tested), ``missing`` (languages without a value), ``statistic`` (what the
        estimate is), ``estimate``, ``low`` and ``high`` (95 % interval; NaN where the test has none), ``p``
        (two-sided), ``p_adjusted`` (Benjamini–Hochberg within each test), ``significant``, ``df``,
        ``df_residual``, ``phylo_share`` and ``area_share`` (of tests along the tree and over distance), and
        ``reason`` (why there is no p, or what limits it).
    samples : tuple of Sample
        Languages, difficulties and predictors that were tested, one sample per corpus.
    alpha : float
        False discovery rate at which `significant` was decided.
    signature : str
        The settings, to be quoted with the figures.
    relatedness : DataFrame
        Models behind the tests ``"phylo"``, ``"area"`` and ``"phylo+area"``, and independence, with the shares of the
        variance that follow tree and distance; see `langdiff.typology.compare_relatedness`.
    level_means : mapping from Key to Effects
        Means of the levels of categories along the tree and over distance; see `levels`, `contrast` and `pairs`.
    tree : str
        Name of the family tree that tests used, with a hash of its file; empty without one.

    Examples
    --------
    >>> import langdiff as ld
    >>> figures = ld.datasets.mielke2019()
    >>> result = ld.correlate(
    ...     figures.difficulties("europarl")["bpe"], figures.predictors("europarl"), corpus="europarl"
    ... )
    >>> result
    Correlations: 20 tests (europarl), 0 significant at false discovery rate 0.05
    >>> result.points("mcc").columns.tolist()
    ['corpus', 'language_model', 'name', 'family', 'predictor', 'difficulty']
    """

    tests: pd.DataFrame
    samples: tuple[Sample, ...]
    alpha: float
    signature: str
    relatedness: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(COLUMNS)))
    level_means: Mapping[Key, Effects] = field(default_factory=dict)
    tree: str = ""

    printing: ClassVar = {"index": False}

    @property
    def family_size(self) -> int:
        """Number of tests with a p: the m of Benjamini and Hochberg."""
        return int(self.tests["p"].notna().sum())

    def categories(self) -> pd.DataFrame:
        """Return mean difficulties of the categories of each categorical predictor (Mielke et al. 2019, Table 2).

        Returns
        -------
        DataFrame
            ``predictor``, ``language_model``, ``corpus``, ``category``, ``n``, ``mean``, ``sd`` (nats).
        """
        tables = []
        for sample in self.samples:
            tested = set(self.tests.loc[self.tests["corpus"] == sample.corpus, "predictor"])
            for name in sample.predictors:
                if name not in tested or is_numeric_dtype(sample.predictors[name]):
                    continue
                for lm in sample.difficulty:
                    both = sample.difficulty[lm].notna() & sample.predictors[name].notna()
                    means = category_means(sample.difficulty[lm][both], sample.predictors[name][both])
                    means = means.reset_index().astype({"category": str})
                    means["predictor"], means["language_model"], means["corpus"] = str(name), str(lm), sample.corpus
                    tables.append(means)
        columns = [*KEY, "category", "n", "mean", "sd"]
        return pd.concat(tables, ignore_index=True)[columns] if tables else pd.DataFrame(columns=columns)

    @property
    def levels(self) -> pd.DataFrame:
        """Means of the levels of categories by the tests along the tree and over distance, one row per level.

        ``predictor``, ``language_model``, ``corpus``, ``test``, ``level``, ``n``, ``mean``, ``std_error``, ``low`` and
        ``high`` (95 %) in nats, ``percent``, ``percent_low`` and ``percent_high``.
        """
        tables = []
        for key, effects in self.level_means.items():
            frame = effects._marginal().rename(columns={"difficulty": "mean"})
            sample = next(sample for sample in self.samples if sample.corpus == key.corpus)
            both = sample.difficulty[key.language_model].notna()
            frame["n"] = sample.predictors.loc[both, key.predictor].astype(str).value_counts().reindex(frame.index)
            tables.append(frame.reset_index().assign(**key._asdict()))
        columns = [*Key._fields, "level", "n", *LEVEL_FIGURES]
        return pd.concat(tables, ignore_index=True)[columns] if tables else pd.DataFrame(columns=columns)

    def level_effects(self, **which: str) -> Effects:
        """Return the means of the levels of one category by one test, with their joint errors.

        Parameters
        ----------
        **which : str
            ``predictor``, ``language_model``, ``corpus`` or ``test``, as far as there are several.

        Raises
        ------
        ConfigError
            If none or several fit; the message names them.
        """
        keys = [key for key in self.level_means if all(getattr(key, name, None) == is_ for name, is_ in which.items())]
        if len(keys) != 1:
            known = listing([" ".join(filter(None, key)) for key in keys or self.level_means], 9)
            found = (
                f"{len(keys)} fit: {known}. Choose one by its predictor, language_model, corpus or test"
                if keys
                else (f"none fits; there are {known}" if self.level_means else "no category was tested along a tree")
            )
            raise ConfigError(f"means of levels: {found}.")
        return self.level_means[keys[0]]

    def contrast(self, one: str, other: str, **which: str) -> Contrast:
        """Compare two levels of a category along the tree.

        Parameters
        ----------
        one, other : str
            Levels, whose difference is the mean of the first less that of the second.
        **which : str
            Category, language model, corpus or test; see `level_effects`.
        """
        return self.level_effects(**which).contrast(one, other)

    def contrasts(self, names: Iterable[str]) -> pd.DataFrame:
        """Return contrasts of levels, such as ``"SOV - SVO"``, by each test that has the means of both.

        Parameters
        ----------
        names : iterable of str
            Contrasts, two levels with a minus between spaces.

        Returns
        -------
        DataFrame
            One row per contrast and test: `Key`'s fields, ``contrast``, ``difference`` (nats), ``std_error``, ``low``,
            ``high`` (95 %), ``percent`` and ``p``.

        Raises
        ------
        ConfigError
            If no category that was tested along a tree or over distance has both levels.
        """
        rows = []
        for text in names:
            one, _, other = map(str.strip, text.partition(" - "))
            having = {key: own for key, own in self.level_means.items() if {one, other} <= set(own.estimate.index)}
            if not having or one == other:
                levels = dict.fromkeys(level for own in self.level_means.values() for level in own.estimate.index)
                raise ConfigError(
                    f"{option('contrast', text)}: two levels of one category, as 'SOV - SVO'; tests along "
                    f"a tree or over distance have means of {listing(levels, 9)}."
                )
            for key, own in having.items():
                made = own.contrast(one, other)
                rows.append(
                    key._asdict()
                    | {"contrast": text, "difference": made.estimate, "std_error": made.std_error}
                    | {name: getattr(made, name) for name in ("low", "high", "percent")}
                    | {"p": made.p_value}
                )
        return pd.DataFrame(rows)

    def pairs(self, **which: str) -> Pairs:
        """Compare all levels of a category in pairs, adjusted together.

        Parameters
        ----------
        **which : str
            Category, language model, corpus or test; see `level_effects`.
        """
        return self.level_effects(**which).pairs()

    def points(self, predictor: str) -> pd.DataFrame:
        """Return the data of the tests of a predictor: one row per language, language model and corpus.

        Parameters
        ----------
        predictor : str
            Name of the predictor.

        Returns
        -------
        DataFrame
            ``corpus``, ``language_model``, ``name`` (of the language or edition), ``family``, the ``predictor``'s
            value and ``difficulty`` (nats).

        Raises
        ------
        ConfigError
            If the predictor is in no sample.
        """
        having = [sample for sample in self.samples if predictor in sample.predictors]
        if not having:
            known = sorted({str(name) for sample in self.samples for name in sample.predictors})
            raise ConfigError(f"unknown predictor {predictor!r}; there are {', '.join(known)}.")
        parts = [
            pd.DataFrame(
                {
                    "corpus": sample.corpus,
                    "language_model": lm,
                    "name": sample.difficulty.index.astype(str),
                    "family": None if sample.family is None else sample.family.to_numpy(),
                    "predictor": sample.predictors[predictor].array,  # keeps the order of categories
                    "difficulty": sample.difficulty[lm].to_numpy(),
                }
            )
            for sample in having
            for lm in sample.difficulty
        ]
        return pd.concat(parts, ignore_index=True).dropna(subset=["predictor", "difficulty"])

    def _lines(self) -> Iterator[str]:
        if any(sample.has_errors for sample in self.samples):
            yield "std_error, the errors of difficulties, are not used; langdiff.typology.propagate_errors uses them"
        found = int(self.tests["significant"].sum())
        sizes = self.tests[self.tests["p"].notna()].groupby("test", sort=False).size()
        kinds = ", ".join(f"{test} {size}" for test, size in sizes.items())
        yield (
            f"{self.family_size} tests with a p ({kinds}), Benjamini-Hochberg within each kind at false discovery rate "
            f"{self.alpha:g}: {found} significant"
        )
        if recommended := next((test for test in RECOMMENDED if test in set(self.tests["test"])), ""):
            yield f"{recommended} allows for {RECOMMENDED[recommended]}, and stands first"
            if recommended == "phylo":
                yield "phylo does not allow for area: phylo+area does, and needs places of languages"

    def _table(self) -> pd.DataFrame:
        """Return the tests without empty columns, the recommended one first, then the smallest p."""
        order = {test: place for place, test in enumerate(RECOMMENDED)}
        first = self.tests["test"].map(lambda test: order.get(test, len(order)))
        table = self.tests.assign(first=first).sort_values(["first", "p", *KEY], kind="stable").drop(columns="first")
        blank = [name for name in ("corpus", "given", "reason") if not table[name].str.len().any()]
        blank += [name for name in ("missing", "significant") if not table[name].any()]  # the first line counts them
        blank += [name for name in ("estimate", "low", "high", *SHARES) if table[name].isna().all()]
        table = table.drop(columns=blank)
        forms = dict.fromkeys(("estimate", "low", "high"), "{:.3f}") | dict.fromkeys(SHARES, "{:.3g}")
        forms |= {"p": "{:.2g}", "p_adjusted": "{:.2g}"}
        digits = {name: 3 for name in SHARES if name in table}  # a share of 1e-16 is 0
        shown = {name: table.round(digits)[name].map(form.format) for name, form in forms.items() if name in table}
        shown = {name: column.replace("nan", "") for name, column in shown.items()}
        if "significant" in table:
            shown["significant"] = table["significant"].map({True: "yes", False: ""})
        return table.assign(**shown)

    def tables(self) -> list[Shown]:
        """Return the tests, means of levels and of categories, shares of the variance, and cautions."""
        found = [Shown(self._table(), "tests", printing=self.printing)]
        if len(levels := self.levels):
            shown = ["n", "mean", "std_error", "percent", "percent_low", "percent_high"]
            key = [name for name in Key._fields if levels[name].str.len().any()]
            table = levels[[*key, "level", *shown]].round(dict.fromkeys(shown[3:], 1) | {"mean": 4, "std_error": 4})
            caption = "Means of levels that allow for relatives, nats and %"
            found.append(Shown(table, "levels", caption, printing=self.printing))
        if len(categories := self.categories()):
            found.append(Shown(categories.round(4), "categories", "Means of categories, nats", (), self.printing))
        unmatched = dict.fromkeys(sample.unmatched for sample in self.samples if sample.unmatched)
        return [*found, *shown_models(self.relatedness), Shown(notes=(*unmatched, *self._cautions()))]

    def _cautions(self) -> list[str]:
        """Return a caution with the number of families of the languages, where known."""
        aware = {"mixed", "permutation", *RELATED}
        naive = sorted(set(self.tests["test"]) - aware)
        cautions = []
        for sample in self.samples:
            if sample.family is None or not naive:
                continue
            sizes = sample.family.value_counts()
            rows = f"{sizes.sum()} of {sample.corpus}" if sample.corpus else f"{sizes.sum()}"
            cautions.append(
                f"The {rows} are in {len(sizes)} families, the largest of {sizes.iloc[0]}; {', '.join(naive)} take "
                "them as independent"
                + ("." if set(self.tests["test"]) & aware else "; give a tree for a test that allows for kinship.")
            )
        return cautions

    plot = Drawn("plot_correlation")

    def strongest(self) -> str:
        """Return the numeric predictor with the smallest p.

        Raises
        ------
        DataError
            If no numeric predictor was tested.
        """
        names = {n for s in self.samples for n in s.predictors if is_numeric_dtype(s.predictors[n])}
        tested = self.tests[self.tests["p"].notna() & self.tests["predictor"].isin(names)]
        if tested.empty:
            raise DataError("no numeric predictor was tested; name the categorical one to be drawn.")
        return str(tested["predictor"].iloc[int(tested["p"].argmin())])

    def __repr__(self) -> str:
        """Return a one-line description with the numbers of tests and of significant ones."""
        found = int(self.tests["significant"].sum())
        corpora = ", ".join(sample.corpus or "unnamed" for sample in self.samples)
        return (
            f"Correlations: {self.family_size} tests ({corpora}), {found} significant at false discovery rate "
            f"{self.alpha:g}"
        )


def benjamini_hochberg(p: Floats, alpha: float = 0.05) -> tuple[Floats, Booleans]:
    r"""Adjust p-values so that rejecting those up to `alpha` keeps the false discovery rate at `alpha`.

    .. math:: \tilde p_{(i)} = \min\Bigl(1, \min_{j \ge i} \frac{m}{j}\, p_{(j)}\Bigr)

    for the m values that are not NaN, sorted (Benjamini and Hochberg 1995). NaN stays NaN and is not counted.

    Examples
    --------
    >>> benjamini_hochberg(np.array([0.01, 0.04, np.nan, 0.03]))
    (array([0.03, 0.04,  nan, 0.04]), array([ True,  True, False,  True]))
    """
    from statsmodels.stats.multitest import multipletests

    if not 0 < alpha < 1:
        raise ConfigError(f"{option('alpha', alpha)} must lie between 0 and 1.")
    p = exact_numbers(pd.Series(p)).to_numpy(dtype=float)
    known = ~np.isnan(p)
    if not ((p[known] >= 0) & (p[known] <= 1)).all():
        raise DataError(f"p-values must lie between 0 and 1; got {p[known].min():g} to {p[known].max():g}.")
    adjusted: Floats = np.full(len(p), np.nan)
    rejected: Booleans = np.zeros(len(p), dtype=bool)
    if known.any():
        rejected[known], adjusted[known] = multipletests(p[known], alpha=alpha, method="fdr_bh")[:2]
    return adjusted, rejected


def adjust_within(p: pd.Series, kinds: pd.Series, alpha: float) -> tuple[Floats, Booleans]:
    """Adjust p-values by Benjamini and Hochberg's procedure within each kind of test; see `benjamini_hochberg`."""
    adjusted, significant = np.full(len(p), np.nan), np.zeros(len(p), dtype=bool)
    for kind in kinds.unique():
        rows = (kinds == kind).to_numpy(dtype=bool)
        adjusted[rows], significant[rows] = benjamini_hochberg(p[rows].to_numpy(dtype=float), alpha)
    return adjusted, significant


def adjust(
    results: Iterable[Correlations], *, alpha: float = 0.05, within: Literal["test"] | None = "test"
) -> Correlations:
    """Adjust the tests of several calls of `correlate` together, those of each kind as one family.

    Two corpora or language models that are examined together make one family of tests, so their p-values
    must be adjusted together before any is called significant.

    Parameters
    ----------
    results : iterable of Correlations
        Results of any number of calls of `langdiff.correlate`.
    alpha : float
        False discovery rate.
    within : {"test", None}
        Whether Pearson's, Mood's, … make a family each; None makes one family of all tests, as the paper does.

    Returns
    -------
    Correlations
        All tests, in order, with ``p_adjusted`` and ``significant`` computed over all of a family.

    Raises
    ------
    ConfigError
        If there is nothing to adjust, or alpha is out of range.
    DataError
        If a test occurs twice.

    Examples
    --------
    >>> from langdiff.datasets import mielke2019
    >>> from langdiff.typology import correlate
    >>> figures = mielke2019()
    >>> chinese = "cmn-sf_ncv-zefania"  # has no spaces to count words by
    >>> adjust(
    ...     correlate(
    ...         figures.difficulties(corpus)[["bpe", "char"]].drop(chinese, errors="ignore"),
    ...         figures.predictors(corpus),
    ...         edition_info=figures.edition_info(corpus),
    ...         corpus=corpus,
    ...         tests=["pearson"],
    ...     )
    ...     for corpus in ("europarl", "bibles")
    ... )
    Correlations: 32 tests (europarl, bibles), 8 significant at false discovery rate 0.05
    """
    results = list(results)
    if not results:
        raise ConfigError("there are no results to adjust; give at least one.")
    tests = pd.concat([result.tests for result in results], ignore_index=True)
    key = ["predictor", "language_model", "corpus", "test", "given"]
    twice = tests[tests.duplicated(key)]
    if len(twice):
        first = "; ".join(" ".join(filter(None, map(str, row))) for row in twice[key].head(5).itertuples(index=False))
        raise DataError(f"{len(twice)} test(s) are duplicated: {first}; give each call its own corpus name.")
    tests["p_adjusted"], tests["significant"] = adjust_within(
        tests["p"], tests["test"] if within == "test" else tests["test"].map(lambda _: ""), alpha
    )
    return Correlations(
        tests=tests,
        samples=tuple({id(s): s for result in results for s in result.samples}.values()),
        relatedness=pd.concat([result.relatedness for result in results], ignore_index=True),
        level_means={key: means for result in results for key, means in result.level_means.items()},
        tree=next((result.tree for result in results if result.tree), ""),
        alpha=alpha,
        signature=f"{' + '.join(result.signature for result in results)}|adjusted:{name_of_number(alpha)}",
    )

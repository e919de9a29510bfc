"""Regression on several predictors, and their collinearity."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from langdiff.base.grids import Shown
from langdiff.base.result import Result, rounded
from langdiff.base.types import Floats
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.tables.effect_sources import Sources
from langdiff.tables.rule import f_p, t_interval, t_p
from langdiff.typology.association.comparison import COLUMNS, INDEPENDENT, compare_models, dummies, shown_models
from langdiff.typology.association.correlation import RELATED, RelatedTest
from langdiff.typology.association.related import fit_related, obstacle, slopes
from langdiff.typology.association.relatives import Tree, find_relatives, has_places
from langdiff.typology.association.result import adjust_within
from langdiff.typology.association.sample import (
    Averaging,
    PredictorTable,
    check_names,
    gather,
    names_once,
)

Residuals = Literal["independent", RelatedTest]
TERMS = (
    "estimate",
    "std_error",
    "low",
    "high",
    "t",
    "p",
    "p_adjusted",
    "significant",
    "vif",
    "test",
    "degrees",
    "f",
    "df",
)
COLLINEAR = 1e-8  # smallest singular value of standardized predictors, relative to the largest


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MultipleRegression(Result):
    """Difficulty regressed on several predictors.

    Attributes
    ----------
    terms : DataFrame
        Indexed by predictor: ``estimate``, nats by which difficulty rises with one standard deviation of the
        predictor, the others held fixed; its ``std_error``, ``low`` and ``high`` (95 %), ``t``, ``p``,
        ``p_adjusted`` (Benjamini–Hochberg over predictors, within each test), ``significant``; ``vif``, the variance
        inflation factor: by how much the variance of the estimate is greater than if the predictor were
        uncorrelated with the others (above 10, signs should not be believed); ``test``, how residuals are related;
        and ``degrees`` of freedom. With several tests, every predictor has one row per test. A category has one row per
        level but the reference, such as ``81A: SOV``, with the difference from that level in nats, and one row for all
        of them together with ``f`` and ``df``; p is adjusted for this row alone.
    language_model : str
        Name of the language model whose difficulties are regressed.
    n, missing : int
        Number of languages used, and of languages left out because a predictor, their place in the tree or
        coordinates are missing.
    r_squared, r_squared_adjusted : float
        Share of the variance explained by least squares; the latter allows for the number of predictors.
    f_p : float
        p-value of all predictors together (F test of least squares).
    alpha : float
        False discovery rate.
    relatedness : DataFrame
        Models of relatedness, with the shares of the variance that follow tree and distance and their restricted
        likelihoods; see `langdiff.typology.compare_relatedness`. Empty for ``tests="independent"``.
    left_out : str
        Languages that are not in the tree or have no coordinates.

    Examples
    --------
    >>> from langdiff.datasets import mielke2019
    >>> figures = mielke2019()
    >>> result = regress(
    ...     figures.difficulties("europarl")["bpe"], figures.predictors("europarl"), only=["mcc", "hpe_mean"]
    ... )
    >>> result.terms["vif"].round(2).to_dict()
    {'mcc': 1.5, 'hpe_mean': 1.5}
    """

    terms: pd.DataFrame
    language_model: str
    n: int
    missing: int
    r_squared: float
    r_squared_adjusted: float
    f_p: float
    alpha: float
    relatedness: pd.DataFrame
    left_out: str

    def _lines(self) -> Iterator[str]:
        left_out = f", {self.missing} left out" if self.missing else ""
        yield (
            f"{self.language_model}: {self.n} languages{left_out}; R2 {self.r_squared:.3f} "
            f"(adjusted {self.r_squared_adjusted:.3f}), F test p = {self.f_p:.2g}"
        )

    def _table(self) -> pd.DataFrame:
        shown = {name: self.terms[name].map("{:.2g}".format) for name in ("p", "p_adjusted")}
        return rounded(self.terms.assign(**shown), self.digits)

    def tables(self) -> list[Shown]:
        """Return the terms, and shares of the variance that follow tree and distance."""
        size = int(self.terms["p_adjusted"].notna().sum()) // self.terms["test"].nunique()
        notes = [f"p adjusted over {size} predictors within each test at false discovery rate {self.alpha:g}"]
        notes += filter(None, [self.left_out])
        if len(inflated := self.terms.index[self.terms["vif"] > 10].unique()):
            notes.append(f"VIF above 10, estimates cannot be told apart: {listing(inflated)}")
        return [Shown(self._table(), "terms", notes=notes), *shown_models(self.relatedness)]

    def __repr__(self) -> str:
        """Return a one-line description with R² and the number of languages."""
        return (
            f"MultipleRegression: {self.terms.index.nunique()} predictors of {self.language_model}, "
            f"{self.n} languages, R2 {self.r_squared:.3f} (adjusted {self.r_squared_adjusted:.3f})"
        )


def regress(
    difficulties: Sources,
    predictors: PredictorTable,
    *,
    edition_info: pd.DataFrame | None = None,
    only: str | Iterable[str] = (),
    tests: Residuals | Iterable[Residuals] | None = None,
    tree: Tree | None = None,
    coordinates: pd.DataFrame | None = None,
    averaging: Averaging = "difficulty",
    reference: Mapping[str, str] | None = None,
    alpha: float = 0.05,
) -> MultipleRegression:
    """Regress difficulties on several predictors, with one observation per language.

    Parameters
    ----------
    difficulties : fit, Effects, Series or DataFrame
        Difficulties by edition under one language model; see `langdiff.correlate`.
    predictors : Predictors, DataFrame or Series
        Predictors, one row per edition or per language; see `langdiff.correlate`.
    edition_info : DataFrame, optional
        One row per edition, with a column ``language``; see `langdiff.correlate`.
    only : str or iterable of str, optional
        Predictors to use, numbers or categories; by default all.
    tests : str or iterable of str, optional
        Models of the residuals: ``"independent"`` (least squares), ``"phylo"`` (relatives share them along `tree`),
        ``"area"`` (neighbours share them over distance), ``"phylo+area"``. The last three are fitted by restricted
        maximum likelihood and tested by Student's t with Satterthwaite's degrees of freedom. By default
        ``"independent"``, and with a `tree` also ``"phylo+area"``, or ``"phylo"`` where there are no coordinates.
    tree : Glottolog, LanguageTree, str or Path, optional
        Family tree; see `langdiff.correlate`.
    coordinates : DataFrame, optional
        Places of languages; see `langdiff.correlate`.
    averaging : {"difficulty", "factor"}
        Mean over the editions of a language: of their difficulties, or of their factors; see `langdiff.correlate`.
    reference : mapping from str to str, optional
        Level of a category that its other levels are compared with; by default the most frequent one.
    alpha : float
        False discovery rate.

    Returns
    -------
    MultipleRegression
        One row per predictor, with the share of variance explained.

    Raises
    ------
    ConfigError
        If a predictor, level or test is unknown, there are several language models, a tree or
        coordinates are needed and were not given, or they were given and no test uses them.
    DataError
        If there are fewer than three more languages than predictors, a predictor is constant or determined by
        the others, or no two languages are related; or for the reasons given at `langdiff.correlate`.

    Examples
    --------
    >>> from langdiff.datasets import mielke2019
    >>> figures = mielke2019()
    >>> regress(
    ...     figures.difficulties("bibles")["bpe"],
    ...     figures.predictors("bibles"),
    ...     edition_info=figures.edition_info("bibles"),
    ...     only=["word_types", "characters"],
    ... )
    MultipleRegression: 2 predictors of bpe, 62 languages, R2 0.581 (adjusted 0.567)
    """
    import statsmodels.api as sm

    along: Residuals = "phylo+area" if has_places(tree, coordinates, edition_info) else "phylo"
    usual = (INDEPENDENT,) if tree is None else (INDEPENDENT, along)
    models = _check_tests(usual if tests is None else names_once(tests))
    sample = gather(
        difficulties, predictors, edition_info=edition_info, corpus="", averaging=averaging, unit="language"
    )
    if sample.difficulty.shape[1] != 1:
        raise ConfigError(f"the difficulties of one language model are needed; got {listing(sample.difficulty)}.")
    names = check_names(sample, names_once(only))
    unknown = [name for name in reference or {} if name not in names or is_numeric_dtype(sample.predictors[name])]
    if unknown:
        raise ConfigError(f"{option('reference')} names {listing(unknown)}, which are no categories that are used.")
    related = [test for test in models if test in RELATED]
    relatives = find_relatives(sample.difficulty.index, models, tree, coordinates, edition_info)
    lm = str(sample.difficulty.columns[0])
    values = (sample.predictors[names].notna().all(axis=1) & sample.difficulty[lm].notna()).to_numpy(dtype=bool)
    rows = np.logical_and.reduce([values, *(relatives.known(test) for test in related)])
    y = sample.difficulty.loc[rows, lm].to_numpy(dtype=float)
    x, of = _columns(sample.predictors.loc[rows, names], reference or {})
    _check_design(x.to_numpy(), x.columns.astype(str).tolist())
    design = np.column_stack([np.ones(len(x)), x])
    fitted = sm.OLS(y, design).fit()
    terms = pd.concat([_terms(x, y, of, test, relatives.take(test, rows)) for test in models])
    single = terms["f"].isna() & ~terms.index.isin(list(x.columns[x.columns != of]))
    adjusted, found = adjust_within(terms["p"].where(single | terms["f"].notna()), terms["test"], alpha)
    terms["p_adjusted"], terms["significant"] = adjusted, found
    compared = compare_models(sample, relatives, lm, names, related) if related else []
    return MultipleRegression(
        terms=terms[list(TERMS)],
        language_model=lm,
        n=len(x),
        missing=int((~rows).sum()),
        r_squared=float(fitted.rsquared),
        r_squared_adjusted=float(fitted.rsquared_adj),
        f_p=f_p(float(fitted.fvalue), fitted.df_model, fitted.df_resid),
        alpha=alpha,
        relatedness=pd.DataFrame(compared, columns=list(COLUMNS)),
        left_out=relatives.left_out(RELATED[-1], values),
    )


def _check_tests(tests: tuple[str, ...]) -> tuple[str, ...]:
    known = (INDEPENDENT, *RELATED)
    unknown = [test for test in tests if test not in known]
    if unknown or not tests:
        raise ConfigError(f"{option('tests', tests)}: must be among {listing(known)}.")
    return tests


def _columns(frame: pd.DataFrame, reference: Mapping[str, str]) -> tuple[pd.DataFrame, pd.Index]:
    """Return standardized numbers and coded categories, and the predictor that each column is of."""
    parts, of = [], []
    for name in frame:
        if is_numeric_dtype(frame[name]):
            column = frame[[name]].astype(float)
            spread = column.std(ddof=1)
            part = (column - column.mean()) / spread.where(spread > 0, 1.0)
        else:
            part = dummies(frame[name], reference.get(str(name)))
            part = part.rename(columns=(f"{name}: {{}}").format)
        parts.append(part)
        of += [name] * part.shape[1]
    return pd.concat(parts, axis=1), pd.Index(of)


def _terms(
    x: pd.DataFrame, y: Floats, of: pd.Index, test: str, matrices: tuple[Floats | None, Floats | None]
) -> pd.DataFrame:
    """Return the coefficients of one model of the residuals; see `MultipleRegression`."""
    scale = float(y.std(ddof=1))
    design = np.column_stack([np.ones(len(x)), x])
    if reason := obstacle(design, y, matrices[0]):
        raise DataError(f"{option('tests', test)}: {reason}.")
    fit = fit_related(design, y / scale, *matrices)
    found, jointly = slopes(design, y / scale, fit), slopes(design, y / scale, fit, zeros=False)
    estimate, std_error, degrees = (column[1:] for column in found[:3])
    low, high = t_interval(estimate, std_error, degrees)
    columns = {
        "estimate": estimate * scale,
        "std_error": std_error * scale,
        "low": low * scale,
        "high": high * scale,
        "t": estimate / std_error,
        "p": t_p(estimate, std_error, degrees),
        "vif": np.diag(np.linalg.inv(np.atleast_2d(np.corrcoef(x.to_numpy(), rowvar=False)))),
        "test": test,
        "degrees": degrees,
    }
    table = pd.DataFrame(columns, index=pd.Index(x.columns, name="predictor")).assign(f=np.nan, df=np.nan)
    for name in of[of != x.columns].unique():
        contrasts = np.eye(design.shape[1])[1 + np.flatnonzero(of == name)]
        f, df, freedom = jointly.wald(contrasts)
        row = {"f": f, "df": float(df), "degrees": freedom, "p": f_p(f, df, freedom), "test": test}
        table = pd.concat([table, pd.DataFrame(row, index=pd.Index([name], name="predictor"))])
    return table


def _check_design(x: Floats, names: list[str]) -> None:
    n, count = x.shape
    if n < count + 3:
        raise DataError(
            f"{n} languages have all {count} predictors; at least {count + 3} are needed. Choose fewer "
            f"by {option('only')}."
        )
    constant = [name for name, column in zip(names, x.T, strict=True) if np.ptp(column) < COLLINEAR]
    if constant:
        raise DataError(f"constant predictor(s): {listing(constant)}. Leave them out by {option('only')}.")
    standardized = (x - x.mean(axis=0)) / x.std(axis=0)
    for k in range(1, count + 1):
        sizes = np.linalg.svd(standardized[:, :k], compute_uv=False)
        if sizes[-1] < COLLINEAR * sizes[0]:
            advice = "Leave one out."
            if all(set(np.unique(column)) <= {column.min(), column.max()} for column in x.T):
                advice = "A full set of dummies: pass the category itself, or leave one out."
            raise DataError(f"predictor {names[k - 1]!r} is determined by {listing(names[: k - 1])}. {advice}")

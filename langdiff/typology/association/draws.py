"""Correlations with estimated difficulties, whose errors are propagated by joint draws."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from scipy import stats

from langdiff.base.cells import exact_numbers
from langdiff.base.result import Result, rounded
from langdiff.base.signature import full_signature, name_of_seed, short_hash
from langdiff.base.types import Floats, check_resamples, generator
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.tables.effect_sources import HasEffects, HasPosterior, effects_by_source, posterior_draws
from langdiff.tables.effects import Effects
from langdiff.tables.rule import draw_interval
from langdiff.typology.association.correlation import MIN_LANGUAGES, NAN, RELATED, SYMBOL, fisher_interval, is_constant
from langdiff.typology.association.related import related_slope, slope_weights
from langdiff.typology.association.relatives import Relatives, Tree, find_relatives, has_places
from langdiff.typology.association.sample import PredictorTable, check_names, gather, hash_sample, names_once

CORRELATIONS = ("pearson", "spearman")
TESTS = (*CORRELATIONS, *RELATED)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PropagatedCorrelations(Result):
    """Correlations with the errors of difficulties in their intervals.

    Attributes
    ----------
    estimates : DataFrame
        One row per predictor and test: ``predictor``, ``test``, ``n``, ``statistic``; ``estimate``, at the point
        estimates of difficulty; ``sampling_low`` and ``sampling_high``, the 95 % interval that takes the difficulties
        for exact (other languages might have been chosen); ``measurement_low`` and ``measurement_high``, the central
        95 % over draws (these languages, measured again); ``low`` and ``high``, the interval that allows for both
        sources of error; ``reliability``, the share of the variance of the estimates that is not error;
        ``disattenuated``, the estimate over the root of that (Spearman 1904), of Pearson's r only; ``phylo_share`` and
        ``area_share``, of regressions only, the shares of the variance without errors that follow tree and distance;
        and ``reason``, where there is no estimate or languages are left out.
    n_draws : int
        Number of draws of all difficulties.
    signature : str
        Settings, to be quoted with the figures.
    """

    estimates: pd.DataFrame
    n_draws: int
    signature: str

    printing: ClassVar = {"index": False}

    def _table(self) -> pd.DataFrame:
        """Return the estimates without empty columns; `correlate` gives the p-values of the point estimates."""
        table = self.estimates
        blank = [name for name in ("phylo_share", "area_share") if table[name].isna().all()]
        table = table.drop(columns=[*blank, *([] if table["reason"].str.len().any() else ["reason"])])
        return rounded(table, self.digits)

    def __repr__(self) -> str:
        """Return a one-line description with the numbers of correlations and draws, and the lowest reliability."""
        known = self.estimates["reliability"].dropna()
        worst = f", reliability of difficulties at least {known.min():.4f}" if len(known) else ""
        return f"PropagatedCorrelations: {len(self.estimates)} estimates over {self.n_draws:,} draws{worst}"


def propagate_errors(
    source: Any,
    predictors: PredictorTable,
    *,
    edition_info: pd.DataFrame | None = None,
    tests: str | Iterable[str] | None = None,
    only: str | Iterable[str] = (),
    tree: Tree | None = None,
    coordinates: pd.DataFrame | None = None,
    n_draws: int = 4000,
    seed: int | np.random.Generator = 0,
) -> PropagatedCorrelations:
    r"""Propagate the errors of estimated difficulties to correlations.

    Every draw k is a set of all difficulties and gives a correlation :math:`r_k`; its spread is the error of
    measurement. The error of sampling n languages is added in Fisher's variable
    :math:`f_k = \operatorname{artanh} r_k`,

    .. math:: z_k = \operatorname{artanh} r + (f_k - \bar f) + e_k, \quad e_k \sim \mathcal N(0, s^2),

    centred at the estimate, since draws around noisy estimates contain the noise twice, so that their own
    correlations are nearer 0; s as in `langdiff.typology.association.correlation`.

    Slopes of regressions along the tree or over distance need no such device. Their residuals contain the errors
    already; what draws add is how the errors of languages are correlated and how much of the variance they are. The
    covariance S of the draws becomes a part of the model,

    .. math:: y = X\beta + u_P + u_A + e + s, \quad \operatorname{cov}(s) = S,

    and the interval is by Student's t as in `langdiff.correlate`.

    Parameters
    ----------
    source : DifficultyFit, Effects, InferenceData or DataFrame
        Source of the draws: a fit or effects, whose joint distribution is sampled; a posterior of `langdiff.sample`;
        or a frame of draws × editions, in nats, such as a bootstrap gives; or one with columns ``difficulty`` and
        ``std_error``, whose errors are taken to be independent. The posterior must have flat priors: under
        others, draws are less noisy than is assumed here.
    predictors : Predictors, DataFrame or Series
        Predictors, one row per edition or per language; see `langdiff.correlate`. Only numeric ones are used.
    edition_info : DataFrame, optional
        One row per edition, with a column ``language``; see `langdiff.correlate`.
    tests : str or iterable of str, optional
        Estimates to compute: the correlations ``"pearson"`` and ``"spearman"``, and the slopes ``"phylo"``,
        ``"area"`` and ``"phylo+area"``. By default both correlations, and with a `tree` also ``"phylo+area"``, or
        ``"phylo"`` where there are no coordinates.
    only : str or iterable of str, optional
        Predictors to use; by default all that are numeric.
    tree : Glottolog, LanguageTree, str or Path, optional
        Family tree; see `langdiff.correlate`.
    coordinates : DataFrame, optional
        Places of languages; see `langdiff.correlate`.
    n_draws : int
        Number of draws from the covariance of a fit; of the draws of a posterior at most this number is used,
        evenly spaced.
    seed : int or numpy.random.Generator
        Seed of the draws from a covariance and of e.

    Returns
    -------
    PropagatedCorrelations
        Estimates with three kinds of 95 % intervals, one row per predictor and test.

    Raises
    ------
    ConfigError
        If a test or predictor is unknown, `n_draws` is below 100, a tree or coordinates are needed and were not
        given, or they were given and no test uses them.
    DataError
        If the draws are fewer than 100 or not all finite, or for the reasons given at `langdiff.correlate`.

    Examples
    --------
    >>> import langdiff as ld
    >>> surprisals = ld.simulate(300, 8, seed=1).surprisals
    >>> types = pd.Series(np.arange(8.0) ** 2, index=surprisals.editions, name="word_types")
    >>> propagate_errors(ld.fit(surprisals), types, seed=1)
    PropagatedCorrelations: 2 estimates over 4,000 draws, reliability of difficulties at least 0.9...
    """
    related = "phylo+area" if has_places(tree, coordinates, edition_info) else "phylo"
    usual = CORRELATIONS if tree is None else (*CORRELATIONS, related)
    tests = list(usual if tests is None else names_once(tests))
    unknown = [test for test in tests if test not in TESTS]
    if unknown or not tests:
        raise ConfigError(f"{option('tests', tests)}: must be among {listing(TESTS)}.")
    rng = generator(seed)
    named = name_of_seed(seed, rng)
    point, drawn = _draws(source, n_draws, rng)
    sample = gather(point, predictors, edition_info=edition_info, corpus="", averaging="difficulty", unit="language")
    language = _language_of(point.index, predictors, edition_info)
    by_language = drawn.T.groupby(language).mean().reindex(sample.difficulty.index).to_numpy().T  # (K, n)
    names = [name for name in check_names(sample, names_once(only)) if is_numeric_dtype(sample.predictors[name])]
    if not names:
        raise ConfigError("there are no numeric predictors; errors are propagated to correlations with numbers only.")
    d = sample.difficulty.iloc[:, 0].to_numpy(dtype=float)
    relatives = find_relatives(sample.difficulty.index, tests, tree, coordinates, edition_info)
    rows = [
        {"predictor": name, "test": test}
        | _one(sample.predictors[name].to_numpy(dtype=float), d, by_language, test, relatives, rng)
        for name in names
        for test in tests
    ]
    return PropagatedCorrelations(
        estimates=pd.DataFrame(rows),
        n_draws=len(drawn),
        signature=full_signature(
            {
                "tests": ",".join(tests),
                "draws": len(drawn),
                "seed": named,
                "relatives": relatives.hash(),
                "data": f"#{short_hash(hash_sample(sample, names), by_language)}",
            }
        ),
    )


def _language_of(editions: pd.Index, predictors: PredictorTable, info: pd.DataFrame | None) -> pd.Series:
    if info is None and not isinstance(predictors, pd.Series):
        table = predictors if isinstance(predictors, pd.DataFrame) else predictors.to_frame()
        info = table if "language" in table else None
    return pd.Series(editions, index=editions) if info is None else info.loc[editions, "language"]


def _one(
    x: Floats, d: Floats, drawn: Floats, test: str, relatives: Relatives, rng: np.random.Generator
) -> dict[str, object]:
    """Return one estimate for one predictor from all draws, shape (K, n)."""
    have = ~np.isnan(x)
    left_out = relatives.left_out(test, have)
    have &= relatives.known(test)
    x, d, drawn = x[have], d[have], drawn[:, have]
    n = len(x)
    row: dict[str, object] = {"n": n, "statistic": SYMBOL.get(test, "nats per SD")}
    reason = ""
    if n < MIN_LANGUAGES:
        reason = f"{n} languages with a value; at least {MIN_LANGUAGES} are needed"
    elif is_constant(x):
        reason = f"the predictor is constant: {x[0]:g}"
    elif is_constant(d):
        reason = "all difficulties are equal"
    if reason:
        return row | dict.fromkeys(FIGURES, NAN) | {"reason": reason}
    error = float((drawn - drawn.mean(axis=1, keepdims=True)).var(axis=0, ddof=1).sum()) / (n - 1)
    reliability = max(1 - error / float(d.var(ddof=1)), 0.0)
    if test in RELATED:
        slope, reason = _slope(x, d, drawn, relatives.take(test, have))
        reason = "; ".join(filter(None, [reason, left_out]))
        return row | dict.fromkeys(FIGURES, NAN) | slope | {"reliability": reliability, "reason": reason}
    if test == "spearman":
        x, d_used, drawn_used = stats.rankdata(x), stats.rankdata(d), stats.rankdata(drawn, axis=1)
    else:
        d_used, drawn_used = d, drawn
    estimate, *each = _correlations(x, np.vstack([d_used, drawn_used]))
    spread = np.array(each)
    deviations = np.arctanh(np.clip(spread, -CLOSE, CLOSE))
    factor = 1 + estimate**2 / 2 if test == "spearman" else 1.0
    center = np.arctanh(np.clip(estimate, -CLOSE, CLOSE))
    both = center + deviations - deviations.mean() + rng.normal(0, np.sqrt(factor / (n - 3)), len(spread))
    corrected = float(np.clip(estimate / np.sqrt(reliability), -1, 1)) if reliability > 0 and test == "pearson" else NAN
    bounds = [*fisher_interval(float(estimate), n, test), *draw_interval(spread)]
    figures = [float(estimate), *bounds, *np.tanh(draw_interval(both)), reliability, corrected]
    shares = dict.fromkeys(("phylo_share", "area_share"), NAN)
    return row | dict(zip(FIGURES, map(float, figures), strict=False)) | shares | {"reason": ""}


def _slope(
    x: Floats, d: Floats, drawn: Floats, matrices: tuple[Floats | None, Floats | None]
) -> tuple[dict[str, float], str]:
    """Regress difficulty on one predictor, with the draws' covariance added to that of relatives and neighbours."""
    known = np.cov(drawn - drawn.mean(axis=1, keepdims=True), rowvar=False)
    exact, _ = related_slope(x, d, *matrices)
    both, fit = related_slope(x, d, *matrices, known=known)
    if fit is None:
        return {}, both.reason
    measured = draw_interval(drawn @ slope_weights(x, fit, known / float(d.var(ddof=1))))
    figures = {
        "estimate": both.estimate,
        "sampling_low": exact.low,
        "sampling_high": exact.high,
        "measurement_low": float(measured[0]),
        "measurement_high": float(measured[1]),
        "low": both.low,
        "high": both.high,
        "phylo_share": fit.share("phylo"),
        "area_share": fit.share("area"),
    }
    return figures, both.reason


FIGURES = (
    "estimate",
    "sampling_low",
    "sampling_high",
    "measurement_low",
    "measurement_high",
    "low",
    "high",
    "reliability",
    "disattenuated",
    "phylo_share",
    "area_share",
)
CLOSE = 1 - 1e-9  # to 1 as Fisher's variable can take


def _correlations(x: Floats, rows: Floats) -> Floats:
    """Return Pearson's r of x, shape (n,), with every row; 0 for a row that does not vary."""
    x = x - x.mean()
    rows = rows - rows.mean(axis=1, keepdims=True)
    norms = np.sqrt((x @ x) * (rows * rows).sum(axis=1))
    r: Floats = np.divide(rows @ x, norms, out=np.zeros(len(rows)), where=norms > 0)
    return r


def _draws(source: Any, n_draws: int, rng: np.random.Generator) -> tuple[pd.Series, pd.DataFrame]:
    """Return point estimates by edition, and draws × editions."""
    check_resamples("n_draws", n_draws)
    if isinstance(source, pd.DataFrame) and {"difficulty", "std_error"} <= set(source):
        point, errors = (exact_numbers(source[name]).astype(float) for name in ("difficulty", "std_error"))
        drawn = pd.DataFrame(rng.normal(point, errors, (n_draws, len(point))), columns=point.index)
        return point.rename("unknown"), drawn
    if isinstance(source, pd.DataFrame):
        drawn = source.astype(float)
    elif isinstance(source, Effects | HasEffects):
        ((name, effects),) = effects_by_source(source)
        return effects.estimate.rename(name), effects.draws(n_draws, seed=rng)
    elif isinstance(source, HasPosterior):
        drawn = posterior_draws(source)
    else:
        raise ConfigError(
            "draws come from a fit or effects with a covariance, a posterior with difficulties, or a DataFrame; "
            f"got {source!r}."
        )
    bad = drawn.columns[~np.isfinite(drawn.to_numpy()).all(axis=0)]
    if len(bad) or len(drawn) < 100:
        what = f"draws of {listing(bad)} are not finite" if len(bad) else f"{len(drawn)} draws; at least 100 are needed"
        raise DataError(f"{what}.")
    every = -(-len(drawn) // n_draws)
    return drawn.mean().rename("unknown"), drawn.iloc[::every]

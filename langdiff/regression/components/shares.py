"""Components and shares of difficulties with intervals over languages and corpora, and how well texts agree."""

from collections.abc import Sequence
from itertools import combinations
from typing import Literal

import numpy as np
import pandas as pd
from scipy.special import expit, logit, ndtr
from scipy.stats import spearmanr

from langdiff.base.types import Booleans, Floats
from langdiff.errors import ConfigError, DataError, listing, option, warn
from langdiff.regression.components.nested import ROUGHLY, Nested, Restricted
from langdiff.regression.components.share_tables import CORPUS, EDITION, LANGUAGE, REST, Observed, terms_of
from langdiff.tables.rule import range_quantile, t_interval

CLIPPED = 0.001  # share, and one less a share, of whose logit the jackknife is taken
LEVEL = 0.95
FEWEST_CORRELATED = 5
FEWEST_CORPORA = 4  # that can stand for others
PERFECT = 1 - 1e-9  # correlation of which arctanh is finite
Corpora = Literal["fixed", "random"]


def shares_of(components: Floats) -> Floats:
    """Return components over their sum, (…, K), negative ones counted as 0."""
    positive = np.maximum(components, 0)
    found: Floats = positive / np.maximum(positive.sum(axis=-1, keepdims=True), np.finfo(float).tiny)
    return found


def logits(values: Floats) -> Floats:
    """Return logits of shares, none beyond the clip."""
    found: Floats = logit(np.clip(values, CLIPPED, 1 - CLIPPED))
    return found


def jackknife(values: Floats, without: Floats) -> tuple[Floats, Floats]:
    """Return the mean of the pseudo-values of leaving out one unit at a time, and its standard error.

    Shapes: values (K,), without (L, K) → (K,), (K,).
    """
    count = len(without)
    pseudo = count * values - (count - 1) * without
    return pseudo.mean(axis=0), pseudo.std(axis=0, ddof=1) / np.sqrt(count)


def table_of_shares(found: Observed, *, nested: bool, corpora: Corpora = "fixed") -> pd.DataFrame:
    """Return components and shares with intervals, one row per component."""
    if corpora not in ("fixed", "random"):
        raise ConfigError(f"{option('corpora')} is fixed or random, not {corpora!r}.")
    n_corpora = found.facets[CORPUS].nunique()
    if corpora == "random" and n_corpora < FEWEST_CORPORA:
        raise ConfigError(
            f"{option('corpora')}: {n_corpora} corpora do not tell how corpora vary; at least {FEWEST_CORPORA} do."
        )
    terms = terms_of(found.facets, nested=nested)
    blocks, names = found.blocks(terms)
    model = Nested(blocks, len(found.tables))
    whole = _settled(model)
    variances, everything = whole.variances[0], np.ones((1, len(names)), dtype=bool)
    without = _without_corpora(found, terms, names) if n_corpora > 2 else None
    frame = pd.DataFrame(
        {"variance": variances, "unconstrained": whole.unconstrained[0]}, index=pd.Index(names, name="component")
    )
    beside = None if corpora == "fixed" else without
    frame[["share", "low", "high"]] = _intervals(model, whole, everything, beside).reshape(len(names), 3)
    if without is not None:
        frame["corpus_low"], frame["corpus_high"] = without.min(axis=0), without.max(axis=0)
    families = [found.families.get(name) for name in found.languages]
    if None not in families and len(set(families)) > 1:
        kept = np.array([[own != family for own in families] for family in dict.fromkeys(families)])
        if kept.sum(axis=1).min() >= FEWEST_CORRELATED:  # else too few languages are outside the largest family
            without = shares_of(model.fit(kept, variances, ROUGHLY).variances)
            frame["family_low"], frame["family_high"] = without.min(axis=0), without.max(axis=0)
    return frame


def shares_by_corpus(found: Observed, *, nested: bool) -> pd.DataFrame:
    """Return components of which each corpus has its own, and their shares of the variance in that corpus."""
    blocks, names = found.blocks(terms_of(found.facets, nested=nested), CORPUS)
    model = Nested(blocks, len(found.tables))
    whole = _settled(model)
    corpora = list(dict.fromkeys(found.facets[CORPUS]))
    of = {corpus: np.array([name.partition("@")[2] in ("", corpus) for name in names]) for corpus in corpora}
    rows = _intervals(model, whole, np.array(list(of.values())))
    parts = []
    for (corpus, inside), own in zip(of.items(), rows, strict=True):
        part = pd.DataFrame(own[inside], columns=["share", "low", "high"])
        part.insert(0, "variance", whole.variances[0][inside])
        part.insert(0, "component", [name.partition("@")[0] for name, here in zip(names, inside, strict=True) if here])
        part.insert(0, CORPUS, corpus)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def _settled(model: Nested) -> Restricted:
    whole = model.fit()
    if whole.moved[0] > ROUGHLY:
        warn(f"the variance components still move by {whole.moved[0]:.1g} of their sum: take them as rough.")
    return whole


def _intervals(model: Nested, whole: Restricted, sets: Booleans, without: Floats | None = None) -> Floats:
    """Return shares of the components in their sum over each set, and both ends of their intervals.

    Shapes: sets (S, K) → (S, K, 3); without (C, K), shares without each corpus, if intervals are about other corpora.
    """
    variances, count = whole.variances[0], model.count
    each = model.without_each(variances)
    covariance = 2 * np.linalg.pinv(whole.information[0], hermitian=True)
    found = np.empty((*sets.shape, 3))
    for place, inside in enumerate(sets):
        share = shares_of(variances * inside)
        middle, error = jackknife(logits(share), logits(shares_of(each * inside)))
        freedom = count - 1.0
        if without is not None:
            error = np.hypot(error, jackknife(logits(share), logits(without))[1])
            freedom = min(freedom, len(without) - 1.0)
        low, high = (expit(end) for end in t_interval(middle, error, freedom, level=LEVEL))
        total = max(float(variances[inside].sum()), np.finfo(float).tiny)
        slopes = (np.diag(inside) - share[:, None] * inside) / total
        by_slopes = np.sqrt(np.maximum(np.einsum("ki,ij,kj->k", slopes, covariance, slopes), 0))
        ends = t_interval(share, by_slopes, freedom, level=LEVEL)
        wider = ends[1] - ends[0] > high - low
        low, high = np.where(wider, ends, (low, high))
        # Shares below the clip are not told apart: an interval that reaches it begins at 0. Pseudo-values may leave out
        # a share close to it, so that every interval is made to hold its estimate.
        low = np.maximum(np.minimum(np.where(low <= CLIPPED, 0.0, low), share), 0.0)
        found[place] = np.stack([share, low, np.minimum(np.maximum(high, share), 1.0)], axis=1)
    return found


def _without_corpora(found: Observed, terms: dict[str, tuple[str, ...]], names: Sequence[str]) -> Floats:
    """Return the shares without each corpus, (C, K); a component that is gone, since it is another's, has 0."""
    rows = []
    for corpus in dict.fromkeys(found.facets[CORPUS]):
        some = found.take((found.rows[CORPUS] != corpus).to_numpy())
        blocks, own = some.blocks(terms)
        share = shares_of(Nested(blocks, len(some.tables)).fit().variances[0])
        rows.append(pd.Series(share, own).reindex(list(names), fill_value=0.0).to_numpy())
    return np.array(rows)


def told_apart(n_languages: int, n_corpora: int, ratio: float) -> float:
    r"""Return the share of pairs of languages that are expected to be told apart, all held at once.

    .. math:: 2\Phi\left(-q / \sqrt{2 (1 + \sigma^2_{language} / v)}\right)

    with q the studentised range of (L, (L − 1)(C − 1)) at .95 and `ratio` the variance of the language's own over that
    of its mean over the corpora, v.
    """
    q = range_quantile(n_languages, (n_languages - 1) * (n_corpora - 1), LEVEL)
    return float(2 * ndtr(-q / np.sqrt(2 * (1 + ratio))))


def correlations(found: Observed) -> pd.DataFrame:
    """Return correlations of difficulties between corpora, at the same facets otherwise."""
    means, facets = found.means(), found.facets
    wide = means.difficulties()
    others = [str(name) for name in facets if name != CORPUS]
    corpora = facets[CORPUS].to_dict()
    known = facets[others].astype(object).where(facets[others].notna(), "")
    alike = dict(zip(facets.index, known.itertuples(index=False, name=None), strict=True))
    rows = []
    for one, other in combinations(corpora, 2):
        if alike[one] != alike[other] or corpora[one] == corpora[other]:
            continue
        both = wide[[one, other]].dropna()
        if len(both) >= FEWEST_CORRELATED:
            told = {"one": corpora[one], "other": corpora[other], **dict(zip(others, alike[one], strict=True))}
            errors = [_mean_error(means, str(table), list(both.index)) for table in (one, other)]
            rows.append(told | _correlated(both.to_numpy().T, errors))
    return pd.DataFrame(rows)


def _mean_error(means: Observed, table: str, languages: list[str]) -> float:
    """Return the mean variance that test intents give to languages of a table."""
    if table not in means.sums:
        return 0.0
    return float(np.square(means.sums[table][languages].to_numpy()).sum(axis=0).mean())


def _correlated(values: Floats, errors: list[float]) -> dict[str, float]:
    x, y = values
    places = np.arange(len(x))
    r = float(np.corrcoef(x, y)[0, 1])
    each = np.array([np.corrcoef(x[places != k], y[places != k])[0, 1] for k in places])
    middle, error = jackknife(_arctanh(np.array([r])), _arctanh(each)[:, None])
    low, high = (float(np.tanh(end[0])) for end in t_interval(middle, error, len(x) - 1, level=LEVEL))
    kept = [1 - error / v.var(ddof=1) for v, error in zip(values, errors, strict=True)]
    reliability = float(np.prod(np.clip(kept, 0, None)))
    return {
        "n": len(x),
        "pearson": r,
        "low": low,
        "high": high,
        "spearman": float(spearmanr(x, y).statistic),
        "disattenuated": r / float(np.sqrt(reliability)) if reliability > 0 else float("nan"),
    }


def _arctanh(r: Floats) -> Floats:
    found: Floats = np.arctanh(np.clip(r, -PERFECT, PERFECT))
    return found


def agreements(found: Observed, facet: str) -> pd.DataFrame:
    r"""Return how well one text of each level of a facet agrees with one of another, errors out.

    .. math:: 2 S_{gh} / (S_{gg} + S_{hh})

    S the covariance of the difficulties of languages, :math:`S_{gg}` with the variance of editions. On the diagonal two
    editions of one language; NaN where fewer than five languages have several.
    """
    if facet not in found.facets:
        raise ConfigError(f"no facet {facet!r}; there are {listing(found.facets)}.")
    levels = [level for level in dict.fromkeys(found.facets[facet]) if pd.notna(level)]
    parts = {level: _of_level(found, facet, level) for level in levels}
    table = pd.DataFrame(np.nan, index=pd.Index(levels, name=facet), columns=pd.Index(levels, name=facet))
    for level, (own, between, within) in parts.items():
        table.loc[level, level] = between / (between + within) if np.isfinite(within) and len(own) else np.nan
    for one, other in combinations(levels, 2):
        both = pd.concat([parts[one][0], parts[other][0]], axis=1).dropna()
        if len(both) >= FEWEST_CORRELATED:
            shared = float(np.cov(both.to_numpy().T)[0, 1])
            total = sum(parts[level][1] + np.nan_to_num(parts[level][2]) for level in (one, other))
            table.loc[one, other] = table.loc[other, one] = 2 * shared / total if total > 0 else np.nan
    return table


def _of_level(found: Observed, facet: str, level: str) -> tuple["pd.Series[float]", float, float]:
    """Return difficulties of languages at one level, and the variances between and within languages."""
    tables = found.facets.index[found.facets[facet] == level]
    some = found.take(found.rows["table"].isin(tables).to_numpy())
    effects = some.rows.assign(y=some.rows["y"] - some.rows.groupby("table")["y"].transform("mean"))
    of_editions = effects.groupby([LANGUAGE, CORPUS, EDITION], sort=False)["y"].mean()
    own = of_editions.groupby(level=LANGUAGE, sort=False).mean()
    terms = {LANGUAGE: (), EDITION: (CORPUS, EDITION), REST: ("table", EDITION)}
    blocks, names = some.blocks(terms)
    if names == [LANGUAGE] or some.several() < FEWEST_CORRELATED:
        mean_error = np.mean([block.errors.mean() for block in blocks])
        return own.rename(level), max(float(own.var(ddof=1) - mean_error), 0.0), float("nan")
    variances = dict(zip(names, Nested(blocks, len(some.tables)).fit().variances[0], strict=True))
    return own.rename(level), float(variances[LANGUAGE]), float(variances[EDITION])


def check_enough(found: Observed, fewest: int) -> None:
    """Raise DataError if there are too few languages, or too few in several corpora where there are several."""
    counts = found.rows.groupby(LANGUAGE, sort=False)[CORPUS].nunique()
    least = min(2, found.facets[CORPUS].nunique())
    alone = int((counts < least).sum())
    if len(counts) < fewest or len(counts) - alone < FEWEST_CORRELATED:
        of_these = f", {len(counts) - alone} of them in two corpora" if least > 1 else ""
        raise DataError(
            f"only {len(counts)} language(s){of_these}: {listing(counts.index)}; at least {fewest} are needed, and "
            f"{FEWEST_CORRELATED} in two corpora where there are several."
        )
    if alone:
        found.notes.append(f"{alone} language(s) are in one corpus only, and used")


def stays(found: Observed) -> Booleans:
    """Return which languages all corpora have."""
    counts = found.rows.groupby(LANGUAGE, sort=False)[CORPUS].nunique().loc[found.languages]
    whole: Booleans = (counts == found.facets[CORPUS].nunique()).to_numpy()
    return whole

r"""Languages and cells that a system serves worse than their predictors suggest.

Levels of system k in language j are

.. math:: d_{jk} = a_k + x_{jk}^\top \beta + s_j + r_{jk} + e_{jk}, \quad
          V = \Sigma + \tau_s^2 Z Z^\top + \tau_r^2 I

with the sampling covariance Σ of levels, known from the fit, a deviation s of each language and a deviation r of each
cell, whose variances are found by restricted maximum likelihood (Patterson and Thompson 1971). With
:math:`\Omega = V^{-1} - V^{-1} X (X^\top V^{-1} X)^{-1} X^\top V^{-1}`, the shift of some cells z beyond the prediction
from all others is :math:`z^\top \Omega d / z^\top \Omega z`, and its studentized form
:math:`z^\top \Omega d / \sqrt{z^\top \Omega z}` (Cook and Weisberg 1982, *Residuals and Influence in Regression*,
section 2.2): a residual whose own cell has no part in what is expected of it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import Bounds, minimize

from langdiff.base.grids import frame_text
from langdiff.base.result import Result, rounded
from langdiff.base.types import Booleans, Floats, check_share
from langdiff.errors import ConfigError, DataError, listing, warn
from langdiff.regression.design import columns_of_formula
from langdiff.regression.formulas import columns_named
from langdiff.tables.column_levels import MOST_COLUMNS
from langdiff.tables.crossing import LEVELS
from langdiff.tables.rule import t_interval, t_p
from langdiff.tables.two_way import TwoWay

LANGUAGES_PER_PREDICTOR = 10
ALL = "all"  # in place of a system, where a language is meant
CELL, LANGUAGE = "cell", "language"  # flags
START = 0.3  # share of what predictors do not explain, at which the search for variances begins
SAID = 10  # names in a line
LEAST = 1e-3  # of the sampling variance, below which that of cells does not go: errors of few clusters are singular

Predictors = pd.DataFrame | Sequence[pd.DataFrame]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Underserved(Result):
    """Languages and cells with more difficulty than their predictors suggest.

    Attributes
    ----------
    frame : DataFrame
        Indexed by ``language`` and ``system``, ``"all"`` for a language as a whole; the largest excess first.
        ``observed`` and ``expected``, the level and its prediction from all other cells, relative to the average of all
        levels; ``excess``, their difference, with ``std_error``, ``low`` and ``high`` (95 %, one by one), and in
        percent for nats; one-sided ``p``; ``q`` (Benjamini and Hochberg 1995), in cells and in languages each; and
        ``flag``: ``"cell"``, ``"language"`` or empty.
    terms : DataFrame
        Coefficients of the predictors: ``estimate``, ``std_error``, ``low``, ``high`` and ``p``.
    tau_language, tau_cell : float
        Standard deviations of what predictors do not explain: of languages, and of cells beyond them.
    q : float
        Rate of false discoveries of the flags.
    formula : str
        The formula.
    unit : str
        Unit of the levels.
    title, signature : str
        Name of the source, and all that the numbers depend on.
    """

    frame: pd.DataFrame
    terms: pd.DataFrame
    tau_language: float
    tau_cell: float
    q: float
    formula: str
    unit: str
    title: str
    signature: str

    @property
    def flagged(self) -> pd.DataFrame:
        """Rows with a flag."""
        return self.frame[self.frame["flag"] != ""]

    def _lines(self) -> Iterator[str]:
        yield repr(self)
        yield (
            f"not explained: tau {self.tau_language:.4f} of languages, {self.tau_cell:.4f} of cells within them "
            f"({self.unit})"
        )

    def _table(self) -> pd.DataFrame:
        return rounded(self.flagged if len(self.flagged) else self.frame.head(SAID), self.digits)

    def _notes(self) -> Iterator[str]:
        if not len(self.flagged):
            yield f"Nothing is flagged; the {SAID} largest are shown."
        yield f"Predictors:\n{frame_text(self.terms.round(self.digits))}"

    def __repr__(self) -> str:
        """Return how many cells and languages are flagged, in one line."""
        count = self.frame["flag"].value_counts()
        return (
            f"Underserved{f' by {self.title}' if self.title else ''}: {count.get(CELL, 0)} cells and "
            f"{count.get(LANGUAGE, 0)} languages above {self.formula} (q = {self.q:g})"
        )


def find_underserved(two_way: TwoWay, predictors: Predictors, formula: str, *, q: float = 0.05) -> Underserved:
    """Find languages and cells that are served worse than predictors suggest; see `langdiff.TwoWay.underserved`."""
    check_share("q", q)
    _check(two_way)
    info = _info_of(two_way, predictors, formula)
    known = info.notna().all(axis=1).to_numpy()
    if not known.all():
        lacking = two_way.columns.index[~known]
        warn(f"{len(lacking)} column(s) without a value of {listing(info.columns)} are left out: {listing(lacking)}.")
    columns = two_way.columns[known]
    terms = columns_of_formula(formula, info[known], "column")
    languages = columns["language"].nunique()
    if languages < LANGUAGES_PER_PREDICTOR * terms.shape[1]:
        raise DataError(
            f"{languages} languages are too few for {terms.shape[1]} predictor(s): what is expected of a language "
            f"would rest on itself. At least {LANGUAGES_PER_PREDICTOR} languages a predictor are needed."
        )
    levels = two_way.levels.to_numpy(dtype=float)[known]
    covariance = two_way.cells.covariance.to_numpy()[np.ix_(known, known)]
    model = _Mixed(levels - levels.mean(), covariance, columns, terms.to_numpy())
    frame = _frame(model, columns, levels - levels.mean(), two_way.scale.unit == "nats", q)
    return Underserved(
        frame=frame,
        terms=model.coefficients(terms.columns),
        tau_language=float(np.sqrt(model.variances[0])),
        tau_cell=float(np.sqrt(model.variances[1])),
        q=float(q),
        formula=formula,
        unit=two_way.scale.unit,
        title=two_way.title,
        signature="|".join(filter(None, [two_way.signature, f"underserved:{formula}", f"q:{q:g}"])),
    )


def _check(two_way: TwoWay) -> None:
    if two_way.additive or two_way.bounds is not None:
        raise DataError("some columns are at chance, so that their levels are bounds: nothing is expected of them.")
    if not two_way.cells.known:
        raise DataError("the fit behind the levels did not converge.")
    if len(two_way.levels) > MOST_COLUMNS:
        raise DataError(
            f"{len(two_way.levels):,} columns are too many (most {MOST_COLUMNS:,}), since the model inverts their "
            "covariance: choose languages or systems."
        )


def _info_of(two_way: TwoWay, predictors: Predictors, formula: str) -> pd.DataFrame:
    """Return the predictors that a formula names, one row per column of the table."""
    frames = [predictors] if isinstance(predictors, pd.DataFrame) else list(predictors)
    columns, found = two_way.columns, pd.DataFrame(index=two_way.columns.index)
    for frame in frames:
        if not isinstance(frame, pd.DataFrame):
            raise ConfigError(f"predictors are frames indexed by language or column, not {type(frame).__name__}.")
        if frame.index.has_duplicates:
            raise DataError(
                f"predictors have several rows for {listing(frame.index[frame.index.duplicated()].unique())}."
            )
        keys: pd.Index
        if isinstance(frame.index, pd.MultiIndex):
            keys = pd.MultiIndex.from_frame(columns[list(LEVELS)])
        elif frame.index.isin(columns.index).any():
            keys = columns.index
        else:
            keys = pd.Index(columns["language"])
        if not keys.isin(frame.index).any():
            raise DataError(
                f"predictors are indexed by {listing(frame.index, 3)}; give rows for languages ({listing(keys, 3)}), "
                f"or for columns ({listing(columns.index, 3)})."
            )
        rows = frame.reindex(keys).set_axis(columns.index, axis=0)
        found = found.drop(columns=rows.columns, errors="ignore").join(rows)
    if "token_premium" in formula and "token_premium" not in found:
        raise ConfigError(
            "there is no column 'token_premium': add measure_parity(stack).estimates[['token_premium']], of the stack "
            "with its units, to the predictors, as a second frame."
        )
    return found[columns_named(formula, found.columns)]


class _Mixed:
    """The model fitted: variances, and Ω d with Ω."""

    def __init__(self, d: Floats, sampling: Floats, columns: pd.DataFrame, terms: Floats) -> None:
        language, system = (pd.factorize(columns[level])[0] for level in LEVELS)
        self.members: Booleans = language[:, None] == np.arange(language.max() + 1)
        systems = (system[:, None] == np.arange(system.max() + 1)).astype(float)
        self.x = np.column_stack([systems, terms])
        self.n_terms = terms.shape[1]
        # errors of levels have none in some direction near the constant, which systems take out: any weight will do
        self._d, self._sampling = d, sampling + np.trace(sampling) / len(d)
        self._least = LEAST * float(np.trace(sampling)) / len(d)
        self._alike = (language[:, None] == language).astype(float)
        unit = max(float(np.var(d - self.x @ np.linalg.lstsq(self.x, d, rcond=None)[0])), np.finfo(float).tiny)
        found: Any = minimize(self._loss, np.full(2, START), (unit,), "L-BFGS-B", jac=True, bounds=Bounds(0, np.inf))
        self.variances = found.x * unit
        _, self.omega, self._bread, self._weight = self._parts(self.variances)
        self.residual = self.omega @ d

    def _parts(self, variances: Floats) -> tuple[float, Floats, Floats, Floats]:
        """Return ln |V| + ln |XᵀV⁻¹X|, Ω, (XᵀV⁻¹X)⁻¹ and V⁻¹."""
        total = self._sampling + variances[0] * self._alike
        total[np.diag_indices(len(total))] += max(variances[1], self._least)
        factor = cho_factor(total, lower=True)
        weight = cho_solve(factor, np.eye(len(total)))
        half = weight @ self.x
        information = self.x.T @ half
        bread = np.linalg.inv(information)
        size = 2 * float(np.log(np.diag(factor[0])).sum()) + float(np.linalg.slogdet(information)[1])
        return size, weight - half @ bread @ half.T, bread, weight

    def _loss(self, shares: Floats, unit: float) -> tuple[float, Floats]:
        """Return minus twice the restricted log-likelihood and its gradient, for variances in shares of a unit."""
        size, omega, *_ = self._parts(shares * unit)
        left = omega @ self._d
        by_language = self.members.T @ left
        gradient = np.array(
            [
                np.einsum("ij,ij->", omega, self._alike) - by_language @ by_language,
                np.trace(omega) - left @ left,
            ]
        )
        return size + float(self._d @ left), gradient * unit

    def coefficients(self, names: pd.Index) -> pd.DataFrame:
        """Return the coefficients of the predictors with intervals of Student's t over languages."""
        estimate = (self._bread @ self.x.T @ self._weight @ self._d)[-self.n_terms :]
        error = np.sqrt(np.diag(self._bread))[-self.n_terms :]
        freedom = max(self.members.shape[1] - self.n_terms - 1, 1)
        low, high = t_interval(estimate, error, freedom)
        columns = {"estimate": estimate, "std_error": error, "low": low, "high": high}
        p = t_p(estimate, error, freedom)
        return pd.DataFrame(columns | {"p": p}, index=pd.Index(names, name="term"))

    def shifts(self, members: Floats | None) -> tuple[Floats, Floats]:
        """Return the shifts of sets of cells beyond what all others predict, and their standard errors."""
        if members is None:
            own, left = np.diag(self.omega), self.residual
        else:
            own, left = np.einsum("pl,pq,ql->l", members, self.omega, members, optimize=True), members.T @ self.residual
        return left / own, 1 / np.sqrt(own)


def _frame(model: _Mixed, columns: pd.DataFrame, observed: Floats, percent: bool, q: float) -> pd.DataFrame:
    """Return the rows of cells and those of languages."""
    from scipy.stats import false_discovery_control

    members = model.members.astype(float)
    languages = list(pd.unique(columns["language"]))
    n_systems = columns["system"].nunique()
    parts = []
    for kind, (excess, error), values, freedom in (
        (CELL, model.shifts(None), observed, len(observed) - model.x.shape[1] - 1),
        (
            LANGUAGE,
            model.shifts(members),
            members.T @ observed / members.sum(axis=0),
            len(languages) - model.n_terms - 2,
        ),
    ):
        if kind == CELL and n_systems == 1:
            continue  # a cell is then its language
        low, high = t_interval(excess, error, freedom)
        table = {
            "observed": values,
            "expected": values - excess,
            "excess": excess,
            "std_error": error,
            "low": low,
            "high": high,
        }
        if percent:
            table |= {"percent": 100 * np.expm1(excess)}
            table |= {f"percent_{end}": 100 * np.expm1(table[end]) for end in ("low", "high")}
        p = t_p(excess, error, freedom, above=True)
        rates = false_discovery_control(p)
        frame = pd.DataFrame(table | {"p": p, "q": rates, "flag": np.where(rates <= q, kind, "")})
        names = [(name, ALL) for name in languages] if kind == LANGUAGE else columns[list(LEVELS)].to_numpy().tolist()
        parts.append(frame.set_axis(pd.MultiIndex.from_tuples(map(tuple, names), names=list(LEVELS))))
    return pd.concat(parts).sort_values("excess", ascending=False, kind="stable")

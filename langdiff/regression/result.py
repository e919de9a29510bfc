"""The outcome of a difficulty regression."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.stats import norm, rankdata

from langdiff._io import write_text
from langdiff.errors import DataError, listing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMAT = "langdiff.DifficultyFit"
FORMAT_VERSION = 1
NINETY_FIVE = float(norm.ppf(0.975))


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class DifficultyFit:
    r"""Difficulties by edition, normalised so that their factors average 1.

    Attributes
    ----------
    model : str
        ``"1"`` or ``"2"``, the models of Mielke et al. (2019, section 3).
    method : str
        ``"exact"`` (linear least squares) or ``"lbfgs"``.
    lm : str
        The language model whose surprisals were fitted.
    difficulty : Series, shape (J,)
        δ, nats, indexed by edition: :math:`\delta_j = d_j - \ln\frac1J\sum_k e^{d_k}`. Its exponential
        is the edition's factor: bits spent, over those of an edition of average difficulty.
    covariance : DataFrame, shape (J, J)
        Joint sampling covariance of `difficulty`; singular, since the factors have a fixed sum. From
        the observed information with the intent sizes eliminated, times N / (N − I − J + 1) to make
        up for the residual variation that fitting one size an intent uses up. NaN only if not `converged`.
    intent_size : Series, shape (I,)
        n, in bits that an edition of average difficulty (factor 1) spends: their median in model 1; in
        model 2 the mean bits are n·exp(σ²/2).
    dispersion : float
        κ = exp(σ²) − 1: the squared coefficient of variation of the bits (model 1) or of those of one
        unit of an intent (model 2). Unbiased σ² in model 1; maximum likelihood in model 2, where it is
        too small by about (N − I − J + 1) / N.
    log_likelihood, log_likelihood_bits : float
        Maximised log-likelihood of the log surprisals z = ln y (as Mielke et al. 2019, Figure 6, show
        it) and of the surprisals y in bits, which is lower by Σz; of the intents with two cells or more.
    converged : bool
        Whether `grad_norm` met the tolerance, and the covariance exists.
    n_iterations, n_evaluations : int
        Work of the optimiser; 0 if there was none.
    grad_norm : float
        Largest component of the gradient of the log-likelihood, in variables scaled to unit curvature.
    message : str
        The optimiser's own words.
    cells, single_cell_intents : int
        Observed cells, N; intents with only one, which say nothing of difficulties and are only given
        the size that their cell asks for.
    signature : str
        What the numbers depend on, to be quoted with them.

    Examples
    --------
    >>> import langdiff as ld
    >>> truth, surprisals = ld.simulate(500, 4, seed=1)
    >>> fit = ld.fit(surprisals)
    >>> fit
    DifficultyFit: model 2, 500 intents × 4 editions, sigma ..., converged
    >>> bool((fit.difficulty - truth.difficulty).abs().max() < 4 * fit.std_error.max())
    True
    """

    model: str
    method: str
    lm: str
    difficulty: pd.Series
    covariance: pd.DataFrame
    intent_size: pd.Series
    dispersion: float
    log_likelihood: float
    log_likelihood_bits: float
    converged: bool
    n_iterations: int
    n_evaluations: int
    grad_norm: float
    message: str
    cells: int
    single_cell_intents: int
    signature: str

    @property
    def std_error(self) -> pd.Series:
        """Standard errors of `difficulty`, nats."""
        variances = np.diag(self.covariance.to_numpy())
        return pd.Series(np.sqrt(variances), index=self.difficulty.index, name="std_error")

    @property
    def sigma(self) -> float:
        """σ, nats: √ln(1 + κ)."""
        return float(np.sqrt(np.log1p(self.dispersion)))

    def to_frame(self) -> pd.DataFrame:
        """Return one row an edition, hardest first.

        Returns
        -------
        DataFrame
            Indexed by edition: ``difficulty``, ``std_error``, ``low`` and ``high`` (95 % interval), all
            in nats; ``factor`` = exp(difficulty); ``percent`` = 100·(factor − 1); ``rank``, 1 the hardest.
        """
        difficulty, half = self.difficulty, NINETY_FIVE * self.std_error
        frame = pd.DataFrame(
            {
                "difficulty": difficulty,
                "std_error": self.std_error,
                "low": difficulty - half,
                "high": difficulty + half,
                "factor": np.exp(difficulty),
                "percent": 100 * np.expm1(difficulty),
                "rank": rankdata(-difficulty, method="min").astype(int),
            }
        )
        return frame.rename_axis("edition").sort_values("difficulty", ascending=False, kind="stable")

    def summary(self) -> str:
        """Format the table, with what is needed to trust it."""
        state = "converged" if self.converged else f"NOT CONVERGED ({self.message})"
        single = f" ({self.single_cell_intents:,} with one cell)" if self.single_cell_intents else ""
        lines = [
            f"Model {self.model} ({self.method}), {state}: {self.n_iterations} iterations, "
            f"gradient {self.grad_norm:.1e}",
            f"{self.cells:,} cells, {len(self.intent_size):,} intents{single} × {len(self.difficulty):,} editions",
            f"sigma {self.sigma:.4f}, dispersion {self.dispersion:.4f}, "
            f"log-likelihood {self.log_likelihood:,.2f} of log bits, {self.log_likelihood_bits:,.2f} of bits",
            "",
            self.to_frame().round(4).to_string(),
            "",
            f"[{self.signature}]",
        ]
        return "\n".join(lines)

    def plot(self, ax: "Axes | None" = None, **style: Any) -> "Axes":
        """Draw a forest plot; see `langdiff.plots.plot_difficulties`."""
        from langdiff.plots.difficulty import plot_difficulties  # Matplotlib only when asked for

        return plot_difficulties(self, ax, **style)

    def to_json(self) -> str:
        """Write everything as JSON; numbers keep all digits, NaN becomes null."""
        document: dict[str, Any] = {"format": FORMAT, "format_version": FORMAT_VERSION}
        for name in (field.name for field in fields(self)):
            value = getattr(self, name)
            match value:
                case pd.Series():
                    document[name] = {"names": _names(value.index), "values": _nulls(value.to_numpy())}
                case pd.DataFrame():
                    document[name] = [_nulls(row) for row in value.to_numpy()]
                case float():
                    document[name] = value if np.isfinite(value) else None
                case _:
                    document[name] = value
        return json.dumps(document, ensure_ascii=False, allow_nan=False)

    def save(self, path: str | Path) -> None:
        """Write everything as JSON (`to_json`), atomically.

        Raises
        ------
        DataError
            If a name of an edition or intent is neither text nor a whole number.
        OutputError
            If the file cannot be written.
        """
        write_text(Path(path), self.to_json() + "\n")

    @classmethod
    def load(cls, path: str | Path) -> "DifficultyFit":
        """Read what `save` wrote.

        Raises
        ------
        DataError
            If the file cannot be read or holds something else.
        """
        path = Path(path)
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise DataError(f"{path}: cannot be read: {error.strerror or error}.") from error
        except ValueError as error:  # broken JSON or UTF-8
            raise DataError(f"{path}: not a saved fit, or damaged: {error}.") from error
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise DataError(f"{path}: not a saved fit; expected JSON with format {FORMAT!r}.")
        if document.get("format_version") != FORMAT_VERSION:
            raise DataError(
                f"{path}: format version {document.get('format_version')!r}; this langdiff reads "
                f"{FORMAT_VERSION}. Fit again, or use the version that wrote it."
            )
        try:
            return cls(**_restore(document))
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"{path}: damaged: {type(error).__name__}: {error}.") from error

    def __repr__(self) -> str:
        """Say what was fitted and whether it can be trusted."""
        state = "converged" if self.converged else "NOT CONVERGED"
        return (
            f"DifficultyFit: model {self.model}, {len(self.intent_size):,} intents × "
            f"{len(self.difficulty):,} editions, sigma {self.sigma:.4g}, {state}"
        )

    def _repr_html_(self) -> str:
        return f"<p>{self!r}</p>{self.to_frame().to_html(escape=True)}"


_TYPES: Mapping[str, type] = {
    "model": str,
    "method": str,
    "lm": str,
    "converged": bool,
    "n_iterations": int,
    "n_evaluations": int,
    "message": str,
    "cells": int,
    "single_cell_intents": int,
    "signature": str,
}


def _names(index: pd.Index) -> list[Any]:
    names: list[Any] = index.tolist()
    bad = [name for name in names if not isinstance(name, str | int) or isinstance(name, bool)]
    if bad:
        raise DataError(
            f"{len(bad)} name(s) of intents or editions are neither text nor whole numbers: {listing(bad)}. "
            "Rename them before saving."
        )
    return names


def _nulls(values: Any) -> list[float | None]:
    return [value if np.isfinite(value) else None for value in values.tolist()]


def _restore(document: dict[str, Any]) -> dict[str, Any]:
    """Turn the JSON document into the arguments of `DifficultyFit`."""

    def series(name: str, axis: str) -> pd.Series:
        stored = document[name]
        index = pd.Index(stored["names"], name=axis)
        return pd.Series(stored["values"], index=index, dtype=float, name=name)

    difficulty = series("difficulty", "edition")
    covariance = np.array(document["covariance"], dtype=float)
    restored: dict[str, Any] = {
        "difficulty": difficulty,
        "intent_size": series("intent_size", "intent"),
        "covariance": pd.DataFrame(covariance, index=difficulty.index, columns=difficulty.index),
    }
    for name in ("dispersion", "log_likelihood", "log_likelihood_bits", "grad_norm"):
        restored[name] = float("nan") if document[name] is None else float(document[name])
    for name, kind in _TYPES.items():
        if type(document[name]) is not kind:
            raise TypeError(f"{name} is {document[name]!r}, not of type {kind.__name__}")
        restored[name] = document[name]
    return restored

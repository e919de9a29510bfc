"""Surprisals drawn from the models, with the truth to compare a fit with."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import logsumexp

from langdiff.errors import ConfigError
from langdiff.surprisals import Surprisals

Floats = npt.NDArray[np.float64]
Numbers = Sequence[float] | Floats | pd.Series

USUAL_SIGMA = {"1": 0.2, "2": 1.3}  # of a sentence, and of one unit of it: alike at 100 units
USUAL_SPREAD = 0.07  # of difficulties: between those of the two language models over 106 Bibles (section 5)
USUAL_LOG_SIZE = (5.0, 0.5)  # mean and standard deviation: verses of about 150 bits


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SimulatedTruth:
    """The parameters that surprisals were drawn with.

    Attributes
    ----------
    model : str
        ``"1"`` or ``"2"``.
    difficulty : Series, shape (J,)
        δ, nats; the factors exp(δ) average 1.
    intent_size : Series, shape (I,)
        n, bits; see `DifficultyFit`.
    sigma : float
        σ, nats.
    """

    model: str
    difficulty: pd.Series
    intent_size: pd.Series
    sigma: float

    def __repr__(self) -> str:
        """Say what was simulated."""
        return (
            f"SimulatedTruth: model {self.model}, {len(self.intent_size):,} intents × "
            f"{len(self.difficulty):,} editions, sigma {self.sigma:.4g}"
        )


def simulate(
    intents: int,
    editions: int,
    *,
    model: Literal["1", "2"] = "2",
    sigma: float | None = None,
    difficulties: Numbers | None = None,
    intent_sizes: Numbers | None = None,
    missing: float = 0.0,
    seed: int | np.random.Generator,
) -> tuple[SimulatedTruth, Surprisals]:
    r"""Draw surprisals from model 1 or 2 of Mielke et al. (2019, section 3).

    .. math:: \ln y_{ij} \sim \mathcal{N}\bigl(\ln n_i + \delta_j + \tfrac12(\sigma^2 - \sigma_i^2),\;
              \sigma_i^2\bigr)

    with :math:`\sigma_i^2 = \sigma^2` in model 1 and :math:`\ln(1 + (e^{\sigma^2} - 1)/n_i)` in model 2.

    Parameters
    ----------
    intents, editions : int
        I and J.
    model : {"1", "2"}
        Which.
    sigma : float, optional
        σ, nats; by default 0.2 in model 1 and 1.3, of each unit, in model 2.
    difficulties : sequence of float, shape (J,), optional
        Nats; a constant is added so that their factors average 1. By default normal with standard
        deviation 0.07.
    intent_sizes : sequence of float, shape (I,), optional
        n, bits, positive; by default log-normal around 150.
    missing : float
        Chance of each cell to be missing, completely at random, from 0 up to but not including 1. An
        intent or edition that would lose all its cells keeps one of them.
    seed : int or numpy.random.Generator
        Source of all randomness.

    Returns
    -------
    SimulatedTruth, Surprisals
        Intents are named ``"1"``, ``"2"``, …, editions ``"e1"``, ``"e2"``, ….

    Raises
    ------
    ConfigError
        If an argument is out of range or of the wrong length.

    Examples
    --------
    >>> truth, surprisals = simulate(3, 2, difficulties=[0.0, 0.1], seed=7)
    >>> surprisals
    Surprisals by simulated: 3 intents × 2 editions, 0 of 6 cells missing
    >>> truth.difficulty.round(4).to_dict()
    {'e1': -0.0512, 'e2': 0.0488}
    """
    if intents < 1 or editions < 1:
        raise ConfigError(f"intents and editions must be at least 1, got {intents} and {editions}.")
    if model not in USUAL_SIGMA:
        raise ConfigError(f"unknown model {model!r}; use '1' or '2'.")
    if not 0 <= missing < 1:
        raise ConfigError(f"missing is a share from 0 up to but not including 1, got {missing!r}.")
    sigma = USUAL_SIGMA[model] if sigma is None else float(sigma)
    if not 0 < sigma < np.inf:
        raise ConfigError(f"sigma must be positive, got {sigma!r}.")
    rng = np.random.default_rng(seed)
    d = (
        rng.normal(0, USUAL_SPREAD, editions)
        if difficulties is None
        else _numbers("difficulties", difficulties, editions)
    )
    d = d - (logsumexp(d) - np.log(editions))
    sizes = (
        rng.lognormal(*USUAL_LOG_SIZE, intents)
        if intent_sizes is None
        else _numbers("intent_sizes", intent_sizes, intents)
    )
    if not (sizes > 0).all():
        raise ConfigError(f"intent_sizes must be positive; the smallest is {sizes.min():g}.")
    variance = np.full(intents, sigma**2) if model == "1" else np.log1p(np.expm1(sigma**2) / sizes)
    mean = (np.log(sizes) + 0.5 * (sigma**2 - variance))[:, None] + d
    bits = np.exp(mean + np.sqrt(variance)[:, None] * rng.standard_normal((intents, editions)))
    if missing:
        bits[_missing(intents, editions, missing, rng)] = np.nan
    rows = pd.Index([str(i) for i in range(1, intents + 1)], name="intent")
    columns = pd.Index([f"e{j}" for j in range(1, editions + 1)], name="edition")
    truth = SimulatedTruth(
        model=model,
        difficulty=pd.Series(d, index=columns, name="difficulty"),
        intent_size=pd.Series(sizes, index=rows, name="intent_size"),
        sigma=sigma,
    )
    return truth, Surprisals(bits=pd.DataFrame(bits, index=rows, columns=columns), lm="simulated")


def _numbers(what: str, values: Numbers, length: int) -> Floats:
    numbers = np.asarray(values, dtype=float)
    if numbers.shape != (length,):
        raise ConfigError(f"{what}: {length} numbers are needed, got shape {numbers.shape}.")
    if not np.isfinite(numbers).all():
        raise ConfigError(f"{what} must be finite.")
    return numbers


def _missing(intents: int, editions: int, share: float, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    gone = rng.random((intents, editions)) < share
    rows = np.flatnonzero(gone.all(axis=1))
    gone[rows, rng.integers(editions, size=len(rows))] = False
    columns = np.flatnonzero(gone.all(axis=0))
    gone[rng.integers(intents, size=len(columns)), columns] = False
    return gone

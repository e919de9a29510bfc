"""Simulated tables of surprisals with known parameters and missing cells.

The three mechanisms are those of appendix A of Mielke et al. (2019), after Rubin (1976), "Inference and Missing Data".
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit, logsumexp, ndtri
from scipy.stats import rankdata

from langdiff.base.io import write_text
from langdiff.base.types import Booleans, Floats, check_choice, generator
from langdiff.errors import ConfigError
from langdiff.regression.variants import Model, find_variant
from langdiff.regression.variants.variant import Variant
from langdiff.tables.surprisals import Surprisals

Mechanism = Literal["MCAR", "MAR", "MNAR"]

SLOPE = 2.0  # log odds of going missing, for one standard deviation more of what it depends on
Numbers = Sequence[float] | Floats | pd.Series
USUAL_SPREAD = 0.07  # of difficulties: between those of the two language models over 106 Bibles (section 4.4)
USUAL_LOG_SIZE = (5.0, 0.5)  # mean and standard deviation: verses of about 150 bits


def draw_missing(z: Floats, residual: Floats, share: float, mechanism: Mechanism, rng: np.random.Generator) -> Booleans:
    r"""Draw the missing cells of a table.

    Under MCAR every cell of every edition may. Under the others the first edition stays complete, as that
    which the others were translated from, and a cell of another goes with chance

    .. math:: P = \operatorname{logit}^{-1}(a + 2 x)

    where x, the normal score of a rank within the edition, is that of ``z[i, 0]`` (MAR: long or difficult
    originals are skipped) or of ``residual[i, j]`` (MNAR: translations that came out difficult for what
    they say are lost), and a makes the average chance the one asked for.

    Shapes: z (I, J); residual (I, J).

    Examples
    --------
    >>> z = np.arange(2000.0).reshape(1000, 2)  # larger intents below
    >>> gone = draw_missing(z, z, 0.5, "MAR", np.random.default_rng(0))[:, 1]
    >>> int(gone[:500].sum()), int(gone[500:].sum())
    (110, 382)
    """
    if mechanism == "MCAR":
        chance = np.full(z.shape, share)
    else:
        ranked = np.broadcast_to(z[:, :1], z.shape) if mechanism == "MAR" else residual
        chance = _chance(ranked, share)
        chance[:, 0] = 0.0
    return _spare_one(rng.random(z.shape) < chance, rng)


def _chance(ranked: Floats, share: float) -> Floats:
    """Return chances that rise with the rank within the column and average `share`."""
    rows = len(ranked)
    score = ndtri((rankdata(ranked, axis=0) - 0.5) / rows)
    ordinary = ndtri((np.arange(rows) + 0.5) / rows)  # the scores of any column without ties
    if share == 0:
        return np.zeros_like(score)
    low, high = np.log(share) - np.log1p(-share) + SLOPE * ordinary[-1] * np.array([-1.0, 1.0])
    level = brentq(lambda a: float(expit(a + SLOPE * ordinary).mean()) - share, low - 1, high + 1)
    return expit(level + SLOPE * score)


def _spare_one(gone: Booleans, rng: np.random.Generator) -> Booleans:
    """Restore one random cell of every row and column that would lose all."""
    intents, editions = gone.shape
    rows = np.flatnonzero(gone.all(axis=1))
    gone[rows, rng.integers(editions, size=len(rows))] = False
    columns = np.flatnonzero(gone.all(axis=0))
    gone[rng.integers(intents, size=len(columns)), columns] = False
    return gone


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Simulation:
    """Surprisals that were drawn from a model, with the parameters that they were drawn with.

    Attributes
    ----------
    surprisals : Surprisals, shape (I, J)
        The surprisals drawn; intents are named ``"1"``, ``"2"``, …, editions ``"e1"``, ``"e2"``, ….
    model : str
        ``"1"``, ``"2"``, ``"2L"``, ``"2C"`` or ``"3"``.
    difficulty : Series, shape (J,)
        δ, nats; the factors exp(δ) average 1.
    intent_size : Series, shape (I,)
        Intent sizes n, bits; see `DifficultyFit`.
    sigma : float
        σ, nats.
    laplace_scale : float or None
        b of model 3, nats; None in the others.
    """

    surprisals: Surprisals
    model: str
    difficulty: pd.Series
    intent_size: pd.Series
    sigma: float
    laplace_scale: float | None = None

    def save(self, path: str | Path) -> None:
        """Write the parameters as JSON, atomically; `Surprisals.save` writes the surprisals.

        Parameters
        ----------
        path : str or Path
            The file to write.

        Raises
        ------
        OutputError
            If the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     simulate(5, 2, seed=1).save(f"{folder}/truth.json")
        ...     sorted(json.loads(Path(folder, "truth.json").read_text()))
        ['difficulty', 'intent_size', 'laplace_scale', 'model', 'sigma']
        """
        document = {
            "model": self.model,
            "sigma": self.sigma,
            "laplace_scale": self.laplace_scale,
            "difficulty": self.difficulty.to_dict(),
            "intent_size": self.intent_size.to_dict(),
        }
        write_text(Path(path), json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n")

    def __repr__(self) -> str:
        """Return a one-line description with the model and the numbers of intents and editions."""
        return (
            f"Simulation: model {self.model}, {len(self.intent_size):,} intents × "
            f"{len(self.difficulty):,} editions, sigma {self.sigma:.4g}"
        )


def simulate(
    n_intents: int,
    n_editions: int,
    *,
    model: Model | Variant = "2",
    sigma: float | None = None,
    difficulties: Numbers | None = None,
    intent_sizes: Numbers | None = None,
    missing: float = 0.0,
    mechanism: Mechanism = "MCAR",
    seed: int | np.random.Generator = 0,
) -> Simulation:
    r"""Draw surprisals from a model of Mielke et al. (2019, section 3).

    .. math:: \ln y_{ij} = \ln n_i + \delta_j + \epsilon_{ij}, \quad
              \operatorname{E} \epsilon_{ij} = \tfrac12(\sigma^2 - \sigma_i^2), \quad
              \operatorname{var} \epsilon_{ij} = \sigma_i^2

    with :math:`\sigma_i^2 = \sigma^2` in model 1 and :math:`\ln(1 + (e^{\sigma^2} - 1)/n_i)` in the others.
    ε is normal in models 1 and 2 and Laplace in 2L. In 2C it is Cauchy with that mean as its location and
    :math:`\sigma_i` as its scale. In model 3 a blunder :math:`\nu_{ij} \sim` Laplace(0, b) is added, and
    the variance of the normal ε is that of an intent of size :math:`n_i e^{\nu_{ij}}`.

    Parameters
    ----------
    n_intents : int
        Number of intents, I.
    n_editions : int
        Number of editions, J.
    model : {"1", "2", "2L", "2C"} or Variant
        Regression model to draw from; see `langdiff.fit`.
    sigma : float, optional
        Dispersion σ, nats; by default 0.2 in model 1 and 1.3 (of each unit of an intent) in the others.
    difficulties : sequence of float, shape (J,), optional
        Difficulties in nats; a constant is added so that their factors average 1. By default normal with standard
        deviation 0.07.
    intent_sizes : sequence of float, shape (I,), optional
        Intent sizes n, bits, positive; by default log-normal with median 148.
    missing : float
        Average chance of a cell to be missing, from 0 up to but not including 1: of all cells under
        MCAR, else of those of all editions but the first, which stays complete. An intent or edition that
        would lose all its cells keeps one of them.
    mechanism : {"MCAR", "MAR", "MNAR"}
        Mechanism by which cells go missing (appendix A). Their chance depends on nothing; on the surprisal
        of the intent in the first edition, which is observed; or on how far the missing cell itself would
        have been above what its intent and edition predict. See the notes for what each does to a fit.
    seed : int or numpy.random.Generator
        Seed of everything that is drawn.

    Returns
    -------
    Simulation
        The surprisals, as its attribute `surprisals`, and the parameters that they were drawn with.

    Raises
    ------
    ConfigError
        If an argument is out of range or of the wrong length.

    Notes
    -----
    Odds of going missing are multiplied by e² for each standard deviation of what they depend on. MNAR
    makes all editions but the first look easier, since their hard cells are gone. MAR leaves the
    differences among these editions alone, yet makes the first look a little easier against them:
    intents with a chance peak there lose their other cells, and an intent with one cell tells nothing of
    difficulties. (Likelihood ignores MAR only where intent sizes are drawn from a distribution; here each is a
    free parameter.)

    Examples
    --------
    >>> simulated = simulate(3, 2, difficulties=[0.0, 0.1], seed=7)
    >>> simulated.surprisals
    Surprisals by simulated: 3 intents × 2 editions, 0 of 6 cells missing
    >>> simulated.difficulty.round(4).to_dict()
    {'e1': -0.0512, 'e2': 0.0488}
    """
    variant = find_variant(model)
    _check(n_intents, n_editions, missing, mechanism)
    sigma = variant.usual_sigma if sigma is None else float(sigma)
    if not 0 < sigma < np.inf:
        raise ConfigError(f"sigma must be positive, got {sigma!r}.")
    rng = generator(seed)
    d = (
        rng.normal(0, USUAL_SPREAD, n_editions)
        if difficulties is None
        else _numbers("difficulties", difficulties, n_editions)
    )
    d = d - (logsumexp(d) - np.log(n_editions))
    sizes = (
        rng.lognormal(*USUAL_LOG_SIZE, n_intents)
        if intent_sizes is None
        else _numbers("intent_sizes", intent_sizes, n_intents)
    )
    if not (sizes > 0).all():
        raise ConfigError(f"intent_sizes must be positive; the smallest is {sizes.min():g}.")
    noise = variant.noise(rng, sigma, np.log(sizes), n_editions)
    location = np.log(sizes)[:, None] + d
    z = location + noise
    bits = _bits(z)
    if not _are_numbers(bits):
        raise ConfigError(_too_far(_are_numbers(_bits(location)), sigma, variant))
    if missing:
        bits[draw_missing(z, noise, missing, mechanism, rng)] = np.nan
    rows = pd.Index([str(i) for i in range(1, n_intents + 1)], name="intent")
    columns = pd.Index([f"e{j}" for j in range(1, n_editions + 1)], name="edition")
    return Simulation(
        surprisals=Surprisals(bits=pd.DataFrame(bits, index=rows, columns=columns), lm="simulated"),
        model=variant.name,
        difficulty=pd.Series(d, index=columns, name="difficulty"),
        intent_size=pd.Series(sizes, index=rows, name="intent_size"),
        sigma=sigma,
        laplace_scale=variant.laplace_scale,
    )


def _check(n_intents: int, n_editions: int, missing: float, mechanism: str) -> None:
    for what, count in (("n_intents", n_intents), ("n_editions", n_editions)):
        if not isinstance(count, int | np.integer) or count < 1:
            raise ConfigError(f"{what} must be a whole number, at least 1, got {count!r}.")
    check_choice("mechanism", mechanism, get_args(Mechanism))
    if not 0 <= missing < 1:
        raise ConfigError(f"missing is a share from 0 up to but not including 1, got {missing!r}.")


def _bits(z: Floats) -> Floats:
    with np.errstate(over="ignore", under="ignore"):
        bits: Floats = np.exp(z)
    return bits


def _are_numbers(bits: Floats) -> bool:
    return bool((np.isfinite(bits) & (bits > 0)).all())


def _too_far(without_noise: bool, sigma: float, variant: Variant) -> str:
    """Describe which argument gives surprisals too large for floats."""
    if not without_noise:
        what = "difficulties and intent_sizes so far apart give"
    elif variant.laplace_scale is None:
        what = f"sigma {sigma:g} gives"
    else:
        what = f"sigma {sigma:g} with {variant} gives"
    return f"{what} surprisals beyond what a number can hold. Give smaller ones."


def _numbers(what: str, values: Numbers, length: int) -> Floats:
    numbers = np.asarray(values, dtype=float)
    if numbers.shape != (length,):
        raise ConfigError(f"{what}: {length} numbers are needed, got shape {numbers.shape}.")
    if not np.isfinite(numbers).all():
        raise ConfigError(f"{what} must be finite.")
    return numbers

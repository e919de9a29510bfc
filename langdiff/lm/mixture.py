"""Mixtures of language models: weighted means of their probabilities, symbol by symbol, with weights learned on dev."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

import numpy as np
import pandas as pd

from langdiff.base.io import as_path
from langdiff.base.types import TOLERANCE_OF_SYMBOLS, Floats
from langdiff.errors import CheckpointError, ConfigError, DataError
from langdiff.lm.checkpoint import Checkpoint, read_checkpoint, read_model, write_checkpoint
from langdiff.lm.language_model import Model
from langdiff.lm.scoring import Scoring, as_scoring
from langdiff.lm.texts import check_texts, surprisal_table
from langdiff.lm.units.alphabet import Alphabet
from langdiff.lm.units.characters import Units

KIND = "mixture"
_STEPS = 1000


class Mixable(Model, Protocol):
    """Interface of a language model with known symbols."""

    @property
    def alphabet(self) -> Alphabet:
        """Alphabet; other characters are replaced before scoring."""

    @property
    def units(self) -> Units:
        """Units that are predicted."""

    @property
    def predicts(self) -> tuple[str, bytes | None]:
        """Kind of unit, and its segmentation."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Mixture:
    r"""Linear interpolation of language models that predict the same symbols.

    .. math:: p(u_t \mid u_{<t}) = \sum_m w_m\, p_m(u_t \mid u_{<t}), \quad \sum_m w_m = 1

    Attributes
    ----------
    models : tuple of LanguageModel or KneserNeyModel, length M
        What is mixed; all have the same alphabet and units.
    weights : ndarray of float64, shape (M,)
        One weight per model.
    dev_bits_per_character : float
        All bits of the dev part, the end symbols' included, over the characters without them.
    name : str, optional
        The edition.

    References
    ----------
    Jelinek & Mercer (1980), Interpolated estimation of Markov source parameters from sparse data.
    """

    models: tuple[Mixable, ...]
    weights: Floats
    dev_bits_per_character: float
    name: str | None = None

    @property
    def alphabet(self) -> Alphabet:
        """Alphabet; other characters are replaced before scoring."""
        return self.models[0].alphabet

    @property
    def units(self) -> Units:
        """Units that are predicted."""
        return self.models[0].units

    @property
    def cautions(self) -> tuple[str, ...]:
        """Cautions for readers of the surprisals."""
        return tuple(dict.fromkeys(caution for model in self.models for caution in model.cautions))

    def surprisal(self, texts: Sequence[str] | pd.Series, *, scoring: Scoring | str | None = None) -> pd.DataFrame:
        """Score texts independently; see `LanguageModel.surprisal`."""
        scoring = as_scoring(scoring)
        for model in self.models:
            scoring.check(model.recipe)
        if scoring.carried:
            raise ConfigError("a mixture scores every text on its own; leave 'carried' out.")
        series = check_texts(texts, "texts")
        mixed = self.symbol_bits(series)
        bits, eos_bits = np.array([each.sum() for each in mixed]), np.array([each[-1] for each in mixed])
        return surprisal_table(series, self.alphabet, scoring, bits, eos_bits, [len(each) - 1 for each in mixed])

    def symbol_bits(self, texts: Sequence[str] | pd.Series, *, boundaries: bool = False) -> list[Floats]:
        """Return the bits of each unit of texts, the end symbol last; replaced characters cost nothing.

        With `boundaries`, a second row has the bits of the event that a word ends there. Shapes: each (T,) or (2, T).
        """
        by_model = [model.symbol_bits(texts, boundaries=boundaries) for model in self.models]
        return [_mix(np.array(bits), self.weights) for bits in zip(*by_model, strict=True)]

    def save(self, directory: str | Path) -> None:
        """Write ``model.json``, the weights, and each model in a folder of its own."""
        directory = Path(directory)
        for number, model in enumerate(self.models):
            model.save(directory / str(number))
        settings = {
            "kind": KIND,
            "name": self.name,
            "models": [model.recipe.kind for model in self.models],
            "dev_bits_per_character": self.dev_bits_per_character,
        }
        write_checkpoint(directory, Checkpoint(settings=settings, weights={"weights": self.weights}, subwords=None))

    def __repr__(self) -> str:
        """Return a one-line description with the dev bits."""
        of = "" if self.name is None else f" of {self.name}"
        parts = " + ".join(
            f"{weight:.3f} {model.recipe.name}" for weight, model in zip(self.weights, self.models, strict=True)
        )
        return f"Mixture {parts}{of}: {self.dev_bits_per_character:.3f} bits per character on dev"


def fit_mixture(models: Sequence[Mixable], dev: Sequence[str] | pd.Series, *, name: str | None = None) -> Mixture:
    """Estimate the weights of a mixture of language models by expectation maximization.

    The likelihood is concave in the weights, so that there is one maximum; EM begins at equal weights.

    Parameters
    ----------
    models : sequence of LanguageModel or KneserNeyModel
        At least two, of one edition, that predict the same symbols: characters over the same alphabet, say.
    dev : sequence or Series of str
        Texts that no model has learned from.
    name : str, optional
        Name of the edition, for messages and the saved model.

    Returns
    -------
    Mixture
        The mixture, ready to score texts, with `langdiff.surprisals_of`, too.

    Raises
    ------
    ConfigError
        If there are fewer than two models, one is neither a network nor an n-gram model, or they predict different
        symbols.
    DataError
        If there is no text, or a text is missing, empty or not a string.

    Examples
    --------
    >>> from langdiff.lm import train_kneser_ney
    >>> texts = ["the cat sat on the mat", "the dog lay on the log"] * 40
    >>> models = [train_kneser_ney(texts, texts[:9], recipe=f"kneser-ney-{order}") for order in (2, 5)]
    >>> mixture = fit_mixture(models, ["the cat lay on the mat", "a mad hog"])
    >>> mixture.weights.round(2).tolist(), bool(mixture.surprisal(["the dog"])["bits"][0] < 30)
    ([0.08, 0.92], True)
    """
    if len(models) < 2:
        raise ConfigError(f"a mixture needs at least two models, got {len(models)}.")
    for model in models:
        if not hasattr(model, "predicts"):
            raise ConfigError(f"a {type(model).__name__} cannot be mixed; give language models and n-gram models.")
        _check_symbols(models[0], model)
    series = check_texts(dev, "dev part")
    if series.empty:
        raise DataError("dev part: no text. The weights are learned from it.")
    bits = np.array([np.concatenate(model.symbol_bits(series)) for model in models])  # (M, N)
    weights = _learn_weights(bits)
    per_character = float(_mix(bits, weights).sum() / series.str.len().sum())
    return Mixture(models=tuple(models), weights=weights, dev_bits_per_character=per_character, name=name)


def _check_symbols(first: Mixable, model: Mixable) -> None:
    """Check that models predict the same string, unit by unit."""
    names = f"{first.recipe.name} and {model.recipe.name}"
    if model.alphabet != first.alphabet:
        raise ConfigError(
            f"{names} have different alphabets, of {len(first.alphabet.characters):,} and "
            f"{len(model.alphabet.characters):,} characters: train them on the same text, with the same min_count."
        )
    if model.predicts != first.predicts:
        kinds = f"{first.predicts[0]} and {model.predicts[0]}"
        raise ConfigError(
            f"{names} predict different units ({kinds}, or subwords of different texts); mix models of the same units."
        )


def _learn_weights(bits: Floats) -> Floats:
    """Return the weights that maximize the probability of N symbols, (M,), from their bits under each model, (M, N)."""
    weights = np.full(len(bits), 1 / len(bits))
    relative = np.exp2(bits.min(axis=0) - bits)
    before = np.inf
    for _ in range(_STEPS):
        joint = weights[:, None] * relative
        total = joint.sum(axis=0)
        now = float((bits.min(axis=0) - np.log2(total)).mean())
        if before - now < TOLERANCE_OF_SYMBOLS:
            break
        before = now
        weights = (joint / total).mean(axis=1)
    return weights


def _mix(bits: Floats, weights: Floats) -> Floats:
    """Return the bits of events under the mixture, (...), from those under each model, (M, ...)."""
    least = bits.min(axis=0)
    relative = np.tensordot(weights, np.exp2(least - bits), axes=1)
    mixed: Floats = least - np.log2(np.minimum(relative, 1))  # rounded weights may sum to more
    return mixed


def read_mixture(directory: str | Path, *, device: str = "auto") -> Mixture:
    """Read a mixture written by `Mixture.save`; networks compute on the device."""
    directory = as_path(directory)
    checkpoint = read_checkpoint(directory)
    try:
        models = tuple(
            cast(Mixable, read_model(directory / str(number), device=device))
            for number in range(len(checkpoint.settings["models"]))
        )
        return Mixture(
            models=models,
            weights=checkpoint.weights["weights"],
            dev_bits_per_character=checkpoint.settings["dev_bits_per_character"],
            name=checkpoint.settings["name"],
        )
    except (KeyError, TypeError) as error:
        raise CheckpointError(f"{directory}: damaged: {type(error).__name__}: {error}") from error

"""Recipes: everything that decides how a language model is built and trained, in one table."""

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from langdiff.errors import ConfigError, listing
from langdiff.lm.alphabet import MIN_COUNT, MIN_COUNT_BY_LANGUAGE


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a language model is built and trained; change one with `dataclasses.replace`.

    Attributes
    ----------
    name : str
        Names the language model in tables and folders.
    units : {"char", "bpe"}
        Predict characters or subwords.
    embedding_size, hidden_size, layers : int
        Sizes of the network; see `langdiff.lm.AWDLSTM`. The last layer is as wide as the embedding,
        so that one layer has no use for `hidden_size`.
    dropout_embedding, dropout_input, dropout_hidden, dropout_output, weight_drop : float
        Probabilities in [0, 1).
    activation_penalty, change_penalty : float
        Strengths of activation (AR) and temporal activation regularisation (TAR).
    learning_rate, weight_decay, gradient_clip : float
        Of AdamW; the learning rate rises over the first `warm_up` of the steps, then falls to zero
        along a cosine. Gradients are clipped to the norm `gradient_clip`.
    warm_up : float
        Fraction of training, in [0, 1).
    batch_units : int
        Units predicted in one training batch, padding included.
    epochs, patience : int
        Training ends after `epochs` passes, or `patience` passes without better dev bits.
    min_count : int, optional
        Occurrences in training that a character needs; by default 25, or 2 where a language writes
        thousands of different ones (``cmn``, ``lzh``, ``jpn``).
    bpe_ratio : float
        Merges per distinct word, for subwords.

    Raises
    ------
    ConfigError
        If a value is out of range.
    """

    name: str
    units: Literal["char", "bpe"]
    embedding_size: int
    hidden_size: int
    layers: int
    dropout_embedding: float = 0.0
    dropout_input: float = 0.0
    dropout_hidden: float = 0.0
    dropout_output: float = 0.0
    weight_drop: float = 0.0
    activation_penalty: float = 0.0
    change_penalty: float = 0.0
    learning_rate: float
    weight_decay: float = 0.01
    gradient_clip: float = 1.0
    warm_up: float = 0.03
    batch_units: int
    epochs: int
    patience: int = 3
    min_count: int | None = None
    bpe_ratio: float = 0.4

    def __post_init__(self) -> None:
        """Check the ranges."""
        if self.units not in ("char", "bpe"):
            raise ConfigError(f"recipe {self.name!r}: units must be 'char' or 'bpe', got {self.units!r}.")
        at_least_one = ("embedding_size", "hidden_size", "layers", "batch_units", "epochs", "patience")
        wrong = [key for key in at_least_one if getattr(self, key) < 1]
        wrong += [key for key in ("learning_rate", "gradient_clip") if not getattr(self, key) > 0]
        not_negative = ("activation_penalty", "change_penalty", "weight_decay", "bpe_ratio")
        wrong += [key for key in not_negative if not getattr(self, key) >= 0]
        fractions = [key for key in self.__dataclass_fields__ if key.startswith("dropout_")]
        wrong += [key for key in (*fractions, "weight_drop", "warm_up") if not 0 <= getattr(self, key) < 1]
        if self.min_count is not None and self.min_count < 1:
            wrong.append("min_count")
        if wrong:
            values = ", ".join(f"{key} = {getattr(self, key)!r}" for key in wrong)
            raise ConfigError(f"recipe {self.name!r}: out of range: {values}.")

    def minimum_count(self, language: str | None) -> int:
        """Return the occurrences that a character needs in a language (ISO 639-3)."""
        if self.min_count is not None:
            return self.min_count
        return MIN_COUNT_BY_LANGUAGE.get(language or "", MIN_COUNT)


RECIPES = {
    recipe.name: recipe
    for recipe in (
        # minutes on one core for a New Testament; one wide layer learns faster than two narrow ones
        Recipe(
            name="char-small",
            units="char",
            embedding_size=256,
            hidden_size=256,
            layers=1,
            learning_rate=4e-3,
            batch_units=1024,
            epochs=6,
        ),
        Recipe(
            name="bpe-small",
            units="bpe",
            embedding_size=256,
            hidden_size=256,
            layers=1,
            dropout_input=0.2,
            dropout_output=0.3,
            learning_rate=3e-3,
            batch_units=512,
            epochs=6,
        ),
        # seconds on one core for a few thousand short sentences: to try things out, not to measure
        Recipe(
            name="char-tiny",
            units="char",
            embedding_size=96,
            hidden_size=96,
            layers=1,
            learning_rate=1e-2,
            batch_units=512,
            epochs=8,
            min_count=5,
        ),
        Recipe(
            name="bpe-tiny",
            units="bpe",
            embedding_size=96,
            hidden_size=96,
            layers=1,
            learning_rate=1e-2,
            batch_units=256,
            epochs=8,
            min_count=5,
        ),
    )
}


def find_recipe(recipe: str | Recipe) -> Recipe:
    """Return a recipe by name, or the recipe given.

    Raises
    ------
    ConfigError
        If no recipe has the name; the message suggests one that is spelt like it.
    """
    if isinstance(recipe, Recipe):
        return recipe
    if recipe not in RECIPES:
        close = get_close_matches(str(recipe), RECIPES, n=1)
        hint = f"Did you mean {close[0]!r}?" if close else f"Known: {listing(RECIPES, most=20)}."
        raise ConfigError(f"unknown language model {recipe!r}. {hint}")
    return RECIPES[recipe]

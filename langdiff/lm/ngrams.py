"""How an n-gram model is built, and which recipe the name of a language model stands for."""

import re
from dataclasses import dataclass
from typing import ClassVar

from langdiff.errors import ConfigError
from langdiff.lm.alphabet import MIN_COUNT, MIN_COUNT_BY_LANGUAGE
from langdiff.lm.presets import STRICT, Recipe, find_recipe

ORDER = 6
HIGHEST_ORDER = 20  # longer histories than any text has use for

_NAME = re.compile(rf"kneser-ney-([1-9][0-9]{{0,3}})({STRICT})?")


@dataclass(frozen=True, kw_only=True)
class KneserNeyRecipe:
    """How a Kneser-Ney model over characters is built; see `langdiff.lm.KneserNey`.

    Attributes
    ----------
    name : str
        Names the language model in tables and folders.
    order : int
        n of the n-grams, from 1 to 20: the history is n - 1 characters.
    min_count : int, optional
        Occurrences in training that a character needs; by default those of `Recipe`, so that the
        same string is predicted.
    price_replaced : bool
        Add the bits that tell which characters were replaced, as for `Recipe`.

    Raises
    ------
    ConfigError
        If a value is out of range.
    """

    epochs: ClassVar[int] = 1  # grams are counted in one pass

    name: str = f"kneser-ney-{ORDER}"
    order: int = ORDER
    min_count: int | None = None
    price_replaced: bool = False

    def __post_init__(self) -> None:
        """Check the ranges."""
        if not 1 <= self.order <= HIGHEST_ORDER:
            raise ConfigError(f"recipe {self.name!r}: the order must be from 1 to {HIGHEST_ORDER}, got {self.order}.")
        if self.min_count is not None and self.min_count < 1:
            raise ConfigError(f"recipe {self.name!r}: out of range: min_count = {self.min_count}.")

    def minimum_count(self, language: str | None) -> int:
        """Return the occurrences that a character needs in a language (ISO 639-3)."""
        if self.min_count is not None:
            return self.min_count
        return MIN_COUNT_BY_LANGUAGE.get(language or "", MIN_COUNT)


AnyRecipe = Recipe | KneserNeyRecipe


def find_lm(lm: str | AnyRecipe) -> AnyRecipe:
    """Return the recipe of a language model by name, or the recipe given.

    Parameters
    ----------
    lm : str, Recipe or KneserNeyRecipe
        A name is one of `langdiff.lm.RECIPES`, or ``"kneser-ney-N"`` for n-grams of order N; with
        ``-strict`` at its end, the same recipe with `price_replaced`.

    Raises
    ------
    ConfigError
        If no recipe has the name; the message suggests one that is spelt like it.

    Examples
    --------
    >>> find_lm("kneser-ney-4")
    KneserNeyRecipe(name='kneser-ney-4', order=4, min_count=None, price_replaced=False)
    >>> find_lm("char-small").units
    'char'
    """
    if isinstance(lm, KneserNeyRecipe):
        return lm
    if isinstance(lm, str) and lm.startswith("kneser"):
        match = _NAME.fullmatch(lm)
        if match is None:
            raise ConfigError(
                f"unknown language model {lm!r}. Write 'kneser-ney-{ORDER}' for n-grams of order {ORDER}."
            )
        return KneserNeyRecipe(name=lm, order=int(match[1]), price_replaced=match[2] is not None)
    return find_recipe(lm)

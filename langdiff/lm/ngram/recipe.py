"""How an n-gram model is built, and which recipe the name of a language model stands for."""

import re
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from langdiff.errors import ConfigError
from langdiff.lm.recipes import Recipe, find_recipe, refuse_scoring
from langdiff.lm.scoring import Scoring, as_scoring, split_name

ORDER = 6
HIGHEST_ORDER = 20  # longer histories than any text has use for

_NAME = re.compile(r"kneser-ney-([1-9][0-9]{0,3})")


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

    Raises
    ------
    ConfigError
        If a value is out of range.
    """

    epochs: ClassVar[int] = 1  # grams are counted in one pass
    context: ClassVar[str] = "intent"  # every intent from the same start

    name: str = f"kneser-ney-{ORDER}"
    order: int = ORDER
    min_count: int | None = None

    def __post_init__(self) -> None:
        """Check the ranges."""
        if not 1 <= self.order <= HIGHEST_ORDER:
            raise ConfigError(f"recipe {self.name!r}: the order must be from 1 to {HIGHEST_ORDER}, got {self.order}.")
        if self.min_count is not None and self.min_count < 1:
            raise ConfigError(f"recipe {self.name!r}: out of range: min_count = {self.min_count}.")


AnyRecipe = Recipe | KneserNeyRecipe


def find_lm(lm: str | AnyRecipe) -> AnyRecipe:
    """Return the recipe of a language model by name, or the recipe given.

    Parameters
    ----------
    lm : str, Recipe or KneserNeyRecipe
        A name is one of `langdiff.lm.RECIPES`, or ``"kneser-ney-N"`` for n-grams of order N.

    Raises
    ------
    ConfigError
        If no recipe has the name; the message suggests one that is spelt like it.

    Examples
    --------
    >>> find_lm("kneser-ney-4")
    KneserNeyRecipe(name='kneser-ney-4', order=4, min_count=None)
    >>> find_lm("char-small").units
    'char'
    """
    if isinstance(lm, KneserNeyRecipe):
        return lm
    if isinstance(lm, str) and lm.startswith("kneser"):
        refuse_scoring(lm)
        match = _NAME.fullmatch(lm)
        if match is None:
            raise ConfigError(
                f"unknown language model {lm!r}. Write 'kneser-ney-{ORDER}' for n-grams of order {ORDER}."
            )
        return KneserNeyRecipe(name=lm, order=int(match[1]))
    return find_recipe(lm)


class ScoredLM(NamedTuple):
    """A recipe, and how the models that it trains score texts."""

    recipe: AnyRecipe
    scoring: Scoring

    @property
    def name(self) -> str:
        """What tables call it: the recipe's name, and what the scoring adds where it is not the default."""
        return self.recipe.name + self.scoring.ending


def find_scored_lm(lm: str | AnyRecipe, scoring: Scoring | str | None = None) -> ScoredLM:
    """Return the recipe and the way of scoring that name a language model in tables.

    Parameters
    ----------
    lm : str, Recipe or KneserNeyRecipe
        Name or recipe, as for `find_lm`; a name may end in ``-unpriced`` or ``-carried``,
        or both, which say how it scores.
    scoring : Scoring or str, optional
        How it scores, instead of such an ending; by default replaced characters are priced, and no state is
        carried.

    Raises
    ------
    ConfigError
        If the name is unknown, says how to score while `scoring` is given too, or the model cannot be scored so.

    Examples
    --------
    >>> found = find_scored_lm("char-small-unpriced")
    >>> found.recipe.name, found.scoring.name, found.name
    ('char-small', 'unpriced', 'char-small-unpriced')
    """
    named = None
    if isinstance(lm, str):
        given = lm
        lm, named = split_name(lm)
        if named is not None and scoring is not None:
            raise ConfigError(
                f"{given!r} says how to score, and so does scoring: leave out one of them, for instance by "
                f"writing {lm!r}."
            )
    found = ScoredLM(find_lm(lm), as_scoring(scoring) if named is None else named)
    found.scoring.check(found.recipe)
    return found

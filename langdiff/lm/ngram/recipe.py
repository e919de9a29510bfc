"""Recipe of n-gram models of characters."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pandas as pd

from langdiff.errors import ConfigError
from langdiff.lm.language_model import LanguageModelRecipe, TrainingPlan
from langdiff.lm.ngram.kneser_ney import ORDER

if TYPE_CHECKING:
    from langdiff.lm.ngram.model import KneserNeyModel

HIGHEST_ORDER = 20  # longer histories than any text has use for

_NAME = re.compile(r"kneser-ney-([1-9][0-9]{0,3})")


@dataclass(frozen=True, kw_only=True)
class KneserNeyRecipe(LanguageModelRecipe):
    """Settings of a Kneser-Ney model over characters; see `langdiff.lm.KneserNey`.

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

    kind: ClassVar[str] = "kneser-ney"
    stochastic: ClassVar[bool] = False
    is_baseline: ClassVar[bool] = True

    name: str = f"kneser-ney-{ORDER}"
    order: int = ORDER

    def __post_init__(self) -> None:
        """Check the ranges."""
        if not 1 <= self.order <= HIGHEST_ORDER:
            raise ConfigError(f"recipe {self.name!r}: the order must be from 1 to {HIGHEST_ORDER}, got {self.order}.")
        if self.min_count is not None and self.min_count < 1:
            raise ConfigError(f"recipe {self.name!r}: out of range: min_count = {self.min_count}.")

    @classmethod
    def named(cls, name: str) -> "KneserNeyRecipe | None":
        """Return the recipe of ``"kneser-ney-N"``; None for other names.

        Parameters
        ----------
        name : str
            Name of a language model, without a way of scoring.
        """
        if not name.startswith("kneser"):
            return None
        match = _NAME.fullmatch(name)
        if match is None:
            raise ConfigError(
                f"unknown language model {name!r}. Write 'kneser-ney-{ORDER}' for n-grams of order {ORDER}."
            )
        return cls(name=name, order=int(match[1]))

    def fit(self, train: pd.Series, dev: pd.Series, plan: TrainingPlan) -> "KneserNeyModel":  # noqa: D102
        from langdiff.lm.ngram.model import fit_kneser_ney  # which needs this class

        return fit_kneser_ney(self, train, dev, plan)

    def read(self, directory: Path, *, device: str) -> "KneserNeyModel":  # noqa: ARG002, D102
        from langdiff.lm.ngram.model import read_counts

        return read_counts(self, directory)

    def precision(self, device: str) -> str:  # noqa: ARG002, D102
        return "float32"  # what the keys of caches have always said, although bits are in double precision

"""Kneser-Ney n-grams of characters as the language model of an edition: recipe and trained model."""

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import ClassVar, cast

import numpy as np
import pandas as pd

from langdiff.base.io import write_text
from langdiff.base.types import Floats
from langdiff.errors import CheckpointError, ConfigError, EditionWarning, LangdiffError, LangdiffWarning, warn
from langdiff.lm.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from langdiff.lm.language_model import LanguageModelRecipe, TrainingPlan, find_lm
from langdiff.lm.ngram.kneser_ney import ORDER, Grams, KneserNey
from langdiff.lm.scoring import Scoring, as_scoring
from langdiff.lm.texts import check_texts, naming, prepare_texts, surprisal_table
from langdiff.lm.units.alphabet import Alphabet
from langdiff.lm.units.characters import CharacterUnits

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

        return fit_kneser_ney(self, train, dev, plan)

    def read(self, directory: Path, *, device: str) -> "KneserNeyModel":  # noqa: ARG002, D102

        return read_counts(self, directory)

    def precision(self, device: str) -> str:  # noqa: ARG002, D102
        return "float32"  # what the keys of caches have always said, although bits are in double precision


KIND = "kneser-ney"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class KneserNeyModel:
    r"""Character n-gram model of one edition, the baseline of neural language models.

    It predicts the strings that the LSTMs predict, rare characters replaced by one symbol, and its
    surprisal is theirs: :math:`-\log_2 p(\text{text}, \text{end})`, every text from the same start.

    Attributes
    ----------
    recipe : KneserNeyRecipe
        How it was built.
    alphabet : Alphabet
        Other characters are replaced before scoring.
    ngrams : KneserNey
        The counts; its last symbol is the end symbol.
    dev_bits_per_character : float
        All bits of the dev part, the end symbols' included, over the characters without them.
    name : str, optional
        The edition.
    out_of_alphabet : mapping from str to float
        Fraction of characters replaced in the ``train`` and the ``dev`` part.
    cautions : tuple of str
        What a reader of its surprisals should know.
    """

    recipe: "KneserNeyRecipe"
    alphabet: Alphabet
    ngrams: KneserNey
    dev_bits_per_character: float
    name: str | None = None
    out_of_alphabet: Mapping[str, float] = field(default_factory=dict)
    cautions: tuple[str, ...] = ()

    def surprisal(self, texts: Sequence[str] | pd.Series, *, scoring: Scoring | str | None = None) -> pd.DataFrame:
        """Score texts independently."""
        scoring = as_scoring(scoring)
        scoring.check(self.recipe)
        series = check_texts(texts, "texts")
        units = self.units
        encoded = [units.encode(self.alphabet.apply(text)) for text in series]
        return surprisal_table(series, self.alphabet, scoring, *self.ngrams.score(encoded), list(map(len, encoded)))

    def symbol_bits(self, texts: Sequence[str] | pd.Series, *, boundaries: bool = False) -> list[Floats]:
        """Return the bits of each character of texts, the end symbol last; replaced ones cost nothing."""
        units = self.units
        encoded = [units.encode(self.alphabet.apply(text)) for text in check_texts(texts, "texts")]
        bits = self.ngrams.score_symbols(encoded)
        if not boundaries:
            return bits
        others = self.ngrams.score_symbols(encoded, np.append(units.after_space, units.size))
        return [np.stack(rows) for rows in zip(bits, others, strict=True)]

    @property
    def units(self) -> CharacterUnits:
        """Characters that are predicted."""
        return CharacterUnits(self.alphabet)

    @property
    def predicts(self) -> tuple[str, bytes | None]:
        """Kind of unit, as in `langdiff.lm.LanguageModel`."""
        return "char", None

    def save(self, directory: str | Path) -> None:
        """Write ``model.json`` and the counts (safetensors), replacing an earlier model."""
        settings = {
            "kind": KIND,
            "name": self.name,
            "recipe": asdict(self.recipe),
            "alphabet": asdict(self.alphabet),
            "dev_bits_per_character": self.dev_bits_per_character,
            "out_of_alphabet": dict(self.out_of_alphabet),
            "cautions": self.cautions,
        }
        counts = {
            f"{what}.{k}": array
            for k, grams in enumerate(self.ngrams.grams, start=1)
            for what, array in grams._asdict().items()
        }
        write_checkpoint(Path(directory), Checkpoint(settings=settings, weights=counts, subwords=None))

    def __repr__(self) -> str:
        """Return a one-line description with the dev bits."""
        of = "" if self.name is None else f" of {self.name}"
        grams = sum(len(grams.keys) for grams in self.ngrams.grams)
        return (
            f"KneserNeyModel {self.recipe.name}{of}: {grams:,} grams, "
            f"{self.dev_bits_per_character:.3f} bits per character on dev"
        )


def train_kneser_ney(
    train: Sequence[str] | pd.Series,
    dev: Sequence[str] | pd.Series,
    *,
    recipe: "str | KneserNeyRecipe" = "kneser-ney-6",
    name: str | None = None,
) -> KneserNeyModel:
    """Count the n-grams of a training text.

    Parameters
    ----------
    train, dev : sequence or Series of str
        Texts to learn from, and texts to report the quality on, in Unicode normal form C; each is
        one intent. Nothing is chosen by `dev`.
    recipe : str or KneserNeyRecipe
        ``"kneser-ney-N"`` for n-grams of order N, or a recipe of one's own.
    name : str, optional
        Name of the edition, for messages and the saved model.

    Returns
    -------
    KneserNeyModel
        The model, ready to score texts.

    Raises
    ------
    DataError
        If there is no text, too few characters are frequent enough, or an intent is missing or empty.
    ConfigError
        If the recipe is unknown or none of an n-gram model.

    Warns
    -----
    LangdiffWarning
        If more than 0.1 % of the characters are outside the alphabet.

    Examples
    --------
    >>> texts = ["the cat sat on the mat", "the dog lay on the log"] * 200
    >>> model = train_kneser_ney(texts, texts[:9])
    >>> bits = model.surprisal(["the cat sat on the log", "goat tent heel the no"]).bits
    >>> bool(3 * bits[0] < bits[1])
    True
    """
    found = find_lm(recipe)
    if found.kind != KIND:
        raise ConfigError(f"{found.name!r} is not an n-gram model; train it with langdiff.train_language_model.")
    with naming(name):
        model = fit_kneser_ney(cast("KneserNeyRecipe", found), train, dev, TrainingPlan(seed=0, name=name))
    for caution in model.cautions:
        warn(LangdiffWarning(caution) if name is None else EditionWarning((name, caution)))
    return model


def fit_kneser_ney(
    recipe: "KneserNeyRecipe",
    train: Sequence[str] | pd.Series,
    dev: Sequence[str] | pd.Series,
    plan: TrainingPlan,
) -> KneserNeyModel:
    """Train as `train_kneser_ney` does, without its warnings; the log has one line of dev bits and seconds."""
    start = time.perf_counter()
    texts = prepare_texts(train, dev, min_count=recipe.min_count)
    units = CharacterUnits(texts.alphabet)
    learned, judged = ([units.encode(text) for text in part] for part in (texts.train, texts.dev))
    ngrams = KneserNey.fit(learned, units.size + 1, order=recipe.order)
    bits, _ = ngrams.score(judged)
    model = KneserNeyModel(
        recipe=recipe,
        alphabet=texts.alphabet,
        ngrams=ngrams,
        dev_bits_per_character=float(bits.sum() / sum(map(len, texts.dev))),
        name=plan.name,
        out_of_alphabet=texts.out_of_alphabet,
        cautions=() if texts.caution is None else (texts.caution,),
    )
    if plan.log_path is not None:
        seconds = time.perf_counter() - start
        entry = {"epoch": 1, "dev_bits_per_character": model.dev_bits_per_character, "seconds": seconds}
        write_text(plan.log_path, json.dumps(entry) + "\n")
    return model


def read_counts(recipe: "KneserNeyRecipe", directory: Path) -> KneserNeyModel:
    """Read the counts of a recipe's model."""
    checkpoint = read_checkpoint(directory)
    settings, counts = checkpoint.settings, checkpoint.weights
    try:
        alphabet = Alphabet(**settings["alphabet"])
        grams = tuple(Grams(counts[f"keys.{k}"], counts[f"counts.{k}"]) for k in range(1, recipe.order + 1))
        return KneserNeyModel(
            recipe=recipe,
            alphabet=alphabet,
            ngrams=KneserNey(CharacterUnits(alphabet).size + 1, grams),
            dev_bits_per_character=settings["dev_bits_per_character"],
            name=settings["name"],
            out_of_alphabet=settings["out_of_alphabet"],
            cautions=tuple(settings["cautions"]),
        )
    except (LangdiffError, KeyError, TypeError) as error:
        raise CheckpointError(
            f"{directory}: damaged, or no Kneser-Ney model of this version: {type(error).__name__}: {error}"
        ) from error

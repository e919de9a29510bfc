"""Interface of every kind of language model: recipes that train, and trained models.

A kind is a subclass of `LanguageModelRecipe` in a file of its own. Jobs, caches, provenance, experiment files and
commands ask the recipe and the model, never which kind they are of.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

import pandas as pd

from langdiff.base.plugins import plugins
from langdiff.base.public import MISTAKES, edit_distance
from langdiff.base.types import Floats
from langdiff.errors import ConfigError, listing
from langdiff.lm.scoring import Scoring, as_scoring, refuse_scoring, split_name

KINDS: tuple[str, ...] = ("langdiff.lm.lstm.presets", "langdiff.lm.ngram.recipe", "langdiff.lm.automatic")
"""Modules of the kinds of this package, in the order in which they are asked for a name."""


@dataclass(frozen=True, kw_only=True)
class Epoch:
    """One pass over the training text.

    Attributes
    ----------
    epoch : int
        From 1.
    train_bits_per_unit : float
        Mean over the epoch, dropout on.
    dev_bits_per_character : float
        All bits, the end symbols' included, over the characters without them.
    characters_per_second : float
        While training.
    seconds : float
        Training and scoring of the dev part.
    """

    epoch: int
    train_bits_per_unit: float
    dev_bits_per_character: float
    characters_per_second: float
    seconds: float


def describe(epoch: Epoch | None) -> str:
    """Return the progress of training in a few words, for a progress bar."""
    if epoch is None:
        return "epoch 1 begun"
    return (
        f"epoch {epoch.epoch}, dev {epoch.dev_bits_per_character:.3f} bits/char, "
        f"{epoch.characters_per_second:,.0f} char/s"
    )


class Cost(NamedTuple):
    """Cost of a training: seconds a character of what comes before the first epoch and of an epoch; bytes."""

    before: float
    epoch: float
    memory: float


Report = Callable[[float, Epoch | None], None]
"""Takes the epochs done, with a fraction, and the last that is finished."""


def report_nothing(_epochs: float, _last: Epoch | None) -> None:
    """Ignore a report of progress."""


@dataclass(frozen=True, kw_only=True)
class TrainingPlan:
    """Arguments of training other than the recipe and the texts.

    Attributes
    ----------
    seed : int
        Seed of all that training draws at random.
    name : str, optional
        Name of the edition.
    device : str
        Name of the device; see `langdiff.lm.device.find_device`.
    log_path : Path, optional
        File of JSON lines, one per epoch.
    directory : Path, optional
        Folder of the model, where training may keep states from which it continues after an interruption.
    report : callable
        Called with the epochs done, before every step and after every epoch.
    """

    seed: int
    name: str | None = None
    device: str = "auto"
    log_path: Path | None = None
    directory: Path | None = None
    report: Report = field(default_factory=lambda: report_nothing)


class Model(Protocol):
    """A trained language model of one edition."""

    @property
    def recipe(self) -> "LanguageModelRecipe":
        """Recipe that the model was trained by."""

    @property
    def cautions(self) -> tuple[str, ...]:
        """Cautions for readers of the surprisals."""

    def surprisal(self, texts: Sequence[str] | pd.Series, *, scoring: Scoring | str | None = None) -> pd.DataFrame:
        """Score texts.

        Parameters
        ----------
        texts : sequence or Series of str
            Texts without final line break; brought to Unicode normal form C if all training texts were in it.
        scoring : Scoring or str, optional
            Whether replaced characters are priced and the state is carried; by default they are priced, and
            each text is scored on its own.

        Returns
        -------
        DataFrame, one row per text, index of `texts`
            ``bits``, all surprisal; ``eos_bits``, the share of the end symbol; ``characters``, ``bytes`` (UTF-8, of
            the text given) and ``units``, the end symbol not counted; ``replaced``, the characters that are outside
            the alphabet. `langdiff.lm.texts.surprisal_table` makes it.
        """

    def symbol_bits(self, texts: Sequence[str] | pd.Series, *, boundaries: bool = False) -> list[Floats]:
        """Return the bits of each unit of texts, the end symbol last; replaced characters cost nothing.

        Parameters
        ----------
        texts : sequence or Series of str
            Texts as for `surprisal`.
        boundaries : bool
            Whether to return, in a second row, the bits of the event that a unit that begins with a space, or the
            end, stands there.

        Returns
        -------
        list of ndarray of float64, shape (T,) or (2, T)
            One array per text; T is one more than the text has units.
        """

    def save(self, directory: str | Path) -> None:
        """Write ``model.json`` with the ``kind`` and the ``recipe``, and the other files of the model.

        Parameters
        ----------
        directory : str or Path
            Folder to write into, made if missing; a model that is there is replaced.
        """


@dataclass(frozen=True, kw_only=True)
class LanguageModelRecipe(ABC):
    """Training settings of one kind of language model, whose fields are hashed into keys and signatures.

    A subclass is a kind of language model. It is a frozen dataclass whose fields JSON can hold, and can be given
    wherever a name of a language model can be.

    Attributes
    ----------
    name : str
        Names the language model in tables and folders.
    min_count : int, optional
        Occurrences in training that a character needs; see `langdiff.lm.units.alphabet.Alphabet.from_texts`.
    kind : str
        Names the kind in ``model.json``; by default the name of the class.
    stochastic : bool
        Whether training draws random numbers, so that it needs a seed.
    uses_device : bool
        Whether training and scoring compute on the device that is asked for, instead of the CPU.
    is_baseline : bool
        Whether the kind is itself a baseline; see `langdiff.lm.measure_baselines`.
    training_format : int
        Number that is raised when the same training gives other bits; it stands in the key of a model in place of the
        versions of libraries.
    """

    kind: ClassVar[str]
    stochastic: ClassVar[bool] = True
    uses_device: ClassVar[bool] = False
    is_baseline: ClassVar[bool] = False
    training_format: ClassVar[int] = 1

    name: str
    min_count: int | None = None

    def __init_subclass__(cls, **settings: Any) -> None:
        """Register the kind, so that its saved models and its names are found."""
        super().__init_subclass__(**settings)
        if "kind" not in vars(cls):
            cls.kind = cls.__name__
        _CLASSES[cls.kind] = cls

    @classmethod
    def names(cls) -> Iterable[str]:
        """Return names to suggest for an unknown one."""
        return ()

    @classmethod
    def named(cls, name: str) -> "LanguageModelRecipe | None":  # noqa: ARG003 a kind may have no names
        """Return the recipe of a name; None if the name is of another kind.

        Parameters
        ----------
        name : str
            Name of a language model, without a way of scoring.

        Raises
        ------
        ConfigError
            If the name is of this kind, but of no recipe.
        """
        return None

    @property
    def effort(self) -> float:
        """Relative cost of a training, to compare recipes by; 0 where it is negligible."""
        return 0.0

    @abstractmethod
    def fit(self, train: pd.Series, dev: pd.Series, plan: TrainingPlan) -> Model:
        """Train a model; the caller saves it.

        Parameters
        ----------
        train, dev : Series of str
            Texts to learn from, and texts to choose the best state by.
        plan : TrainingPlan
            Seed and device, and the files in which training keeps its log and its states.
        """

    @abstractmethod
    def read(self, directory: Path, *, device: str) -> Model:
        """Read a model that was trained by this recipe.

        Parameters
        ----------
        directory : Path
            Folder that the model was saved in.
        device : str
            Device to compute on, as for `langdiff.read`.

        Raises
        ------
        CheckpointError
            If files are missing or damaged.
        """

    def precision(self, device: str) -> str:  # noqa: ARG002 for kinds that have more than one
        """Return the precision of training, which is part of the keys of caches.

        Parameters
        ----------
        device : str
            Kind of device, ``"cpu"`` or ``"cuda"``.
        """
        return "float64"

    def libraries(self) -> tuple[str, ...]:
        """Return packages that train the model; its jobs record their versions."""
        return ()

    def cost(self, texts: pd.Series) -> "Cost":  # noqa: ARG002 for kinds that take seconds
        """Return what training costs on this machine's processor, tried for a second where `effort` is not 0.

        Parameters
        ----------
        texts : Series of str
            Part to learn from, one row per text.
        """
        return Cost(0.0, 0.0, 0.0)

    @property
    def max_epochs(self) -> int:
        """Largest number of passes over the training text, for progress bars."""
        return 1

    @property
    def carries_state(self) -> bool:
        """Whether a state can be carried from intent to intent; see `langdiff.lm.Scoring`."""
        return False


_CLASSES: dict[str, type[LanguageModelRecipe]] = {}


def known_kinds() -> list[type[LanguageModelRecipe]]:
    """Return all kinds, those of this package first."""
    for module in KINDS:
        import_module(module)
    own = (kind for kind, each in _CLASSES.items() if each.__module__.startswith("langdiff."))
    plugins("models", tuple(own))  # which enter themselves
    packages = [module.rpartition(".")[0] for module in KINDS]

    def place(kind: type[LanguageModelRecipe]) -> int:
        package = kind.__module__.rpartition(".")[0]
        return [*packages, package].index(package)

    return sorted(_CLASSES.values(), key=place)


def find_lm(lm: str | LanguageModelRecipe) -> LanguageModelRecipe:
    """Return the recipe of a language model by name, or the recipe given.

    Examples
    --------
    >>> find_lm("kneser-ney-4")
    KneserNeyRecipe(name='kneser-ney-4', min_count=None, order=4)
    >>> find_lm("char-small").units
    'char'
    """
    match lm:
        case LanguageModelRecipe():
            return lm
        case str():
            refuse_scoring(lm)
        case _:
            raise ConfigError(f"name a recipe, or give a Recipe of a network; {lm!r} is neither.")
    kinds = known_kinds()
    for kind in kinds:
        if (found := kind.named(lm)) is not None:
            return found
    known = [name for kind in kinds for name in kind.names()]
    recipes = {name: found for kind in kinds for name in kind.names() if (found := kind.named(name))}
    meant = _meant(lm, recipes | {f"{name}-unpriced": found for name, found in recipes.items()})
    hint = f"Did you mean {meant!r}?" if meant else f"Known: {listing(known, most=20)}."
    raise ConfigError(f"unknown language model {lm!r}. {hint}")


_DEARER = 10  # times the cheapest of the names that may be meant: not suggested


def _meant(lm: str, recipes: Mapping[str, LanguageModelRecipe]) -> str | None:
    """Return the recipe whose name is most like a wrong one; none that costs much more than another such."""
    if f"{lm}-residual" in recipes:  # the units alone
        return f"{lm}-residual"
    close = [name for name in recipes if edit_distance(lm, name) <= MISTAKES]
    close = close or get_close_matches(lm, recipes, n=3) or [name for name in recipes if name.startswith(lm)]
    close.sort(key=lambda name: edit_distance(lm, name))
    most = _DEARER * min((recipes[name].effort for name in close), default=0.0)
    return next((name for name in close if recipes[name].effort <= most), None)


class ScoredLM(NamedTuple):
    """Recipe with the scoring of its trained models."""

    recipe: LanguageModelRecipe
    scoring: Scoring

    @property
    def name(self) -> str:
        """Name in tables: the recipe's name, and the scoring where it is not the default."""
        return self.recipe.name + self.scoring.ending


def find_scored_lm(lm: str | LanguageModelRecipe, scoring: Scoring | str | None = None) -> ScoredLM:
    """Return the recipe and the scoring that a language model's name in tables denotes.

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
                f"{given!r} and scoring both say how to score: leave out one of them, for instance by writing {lm!r}."
            )
    found = ScoredLM(find_lm(lm), as_scoring(scoring) if named is None else named)
    found.scoring.check(found.recipe)
    return found


def recipe_of(model: object) -> LanguageModelRecipe | None:
    """Return the recipe of a model's training; None for external models."""
    match getattr(model, "recipe", None):
        case LanguageModelRecipe() as recipe:
            return recipe
        case _:
            return None

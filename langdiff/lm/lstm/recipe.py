"""Settings of the architecture and training of a network."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import pandas as pd

from langdiff.errors import ConfigError
from langdiff.lm.language_model import Cost, LanguageModelRecipe, TrainingPlan
from langdiff.lm.scoring import split_name

if TYPE_CHECKING:
    from langdiff.lm.lstm.model import LanguageModel

_CHOICES = {
    "units": ("char", "bpe", "bytes", "graphemes"),
    "architecture": ("lstm", "transformer"),
    "bpe_backend": ("sentencepiece", "subword-nmt"),
    "optimizer": ("adamw", "adam", "sgd"),
    "schedule": ("cosine", "steps"),
    "context": ("intent", "stream"),
    "half": (None, "bfloat16", "float16"),
}


@dataclass(frozen=True, kw_only=True)
class Recipe(LanguageModelRecipe):
    """Settings of the architecture and training of a language model; change one with `dataclasses.replace`.

    How a trained model scores texts is not a part of it: see `langdiff.lm.Scoring`.

    Attributes
    ----------
    name : str
        Names the language model in tables and folders; must not end in ``-unpriced`` or ``-carried``, which
        name ways of scoring.
    units : {"char", "bpe", "bytes", "graphemes"}
        Predict characters (code points), subwords, bytes of UTF-8, or grapheme clusters (a letter with
        its marks) of which rare ones are spelt. All price the same string.
    architecture : {"lstm", "transformer"}
        Kind of network: `langdiff.lm.lstm.network.AWDLSTM` or `langdiff.lm.lstm.network.Transformer`.
    embedding_size, hidden_size, layers : int
        Sizes of the network. The last layer of an LSTM is as wide as the embedding, so that one layer has no use for
        `hidden_size`; in a Transformer these are the GELU units of each block.
    heads : int, optional
        Attention heads of a Transformer; `embedding_size` must be a multiple of twice their number.
    dropout_embedding, dropout_input, dropout_hidden, dropout_output, weight_drop : float
        Probabilities in [0, 1).
    activation_penalty, change_penalty : float
        Strengths of activation (AR) and temporal activation regularization (TAR).
    optimizer : {"adamw", "adam", "sgd"}
        Adam with decoupled weight decay, Adam, or gradient descent without momentum (the last two
        with weight decay as part of the gradient).
    learning_rate, weight_decay, gradient_clip : float
        Settings of the optimizer. Gradients are clipped to the norm `gradient_clip`.
    non_monotone : int, optional
        With ``"sgd"``: average the weights (NT-ASGD) from the moment that the dev bits are worse
        than the best of all epochs but the last `non_monotone`. No average by default.
    schedule : {"cosine", "steps"}
        After the warm-up, the learning rate falls to zero along a cosine, or to a tenth after each
        of the `decay_epochs`.
    warm_up : float
        Fraction of training, in [0, 1), in which the learning rate rises linearly.
    decay_epochs : tuple of int
        For ``"steps"``.
    context : {"intent", "stream"}
        In training, start every intent from the zero state, or carry the state through the text in
        its order. The dev part, by which training stops, is scored intent by intent under either.
    batch_units : int
        Units predicted in one training batch, padding included.
    bptt : int, optional
        For ``"stream"``: units through which gradients usually flow; there are
        `batch_units` / `bptt` streams side by side.
    half : {"bfloat16", "float16"}, optional
        Half precision to train in: bfloat16 where the device computes in it, which are CUDA and processors with AVX-512
        BF16 or AMX, or, on CUDA alone, float16 with a scaled loss. Otherwise CUDA trains in TF32, and CPUs in single
        precision. Scoring is always in single precision.
    epochs, patience : int
        Training ends after `epochs` passes, or `patience` passes without better dev bits.
    min_count : int, optional
        Occurrences in training that a character needs, else it is replaced. By default the largest count up
        to 25 at which at least 99.9 % of the characters of the training text are kept
        (`langdiff.lm.Alphabet.from_texts`).
    ngram_orders : tuple of int
        Orders of the n-gram distributions, rising, that the network corrects; see `langdiff.lm.lstm.features`. None
        by default.
    bpe_ratio : float
        Merges per distinct word, for subwords.
    bpe_backend : {"sentencepiece", "subword-nmt"}
        What learns and applies the merges; the second is the paper's, an extra.

    Raises
    ------
    ConfigError
        If a value is unknown, out of range or without use beside another.
    """

    kind: ClassVar[str] = "network"
    uses_device: ClassVar[bool] = True

    units: Literal["char", "bpe", "bytes", "graphemes"]
    architecture: Literal["lstm", "transformer"] = "lstm"
    embedding_size: int
    hidden_size: int
    layers: int
    heads: int | None = None
    dropout_embedding: float = 0.0
    dropout_input: float = 0.0
    dropout_hidden: float = 0.0
    dropout_output: float = 0.0
    weight_drop: float = 0.0
    activation_penalty: float = 0.0
    change_penalty: float = 0.0
    optimizer: Literal["adamw", "adam", "sgd"] = "adamw"
    learning_rate: float
    weight_decay: float = 0.01
    gradient_clip: float = 1.0
    non_monotone: int | None = None
    schedule: Literal["cosine", "steps"] = "cosine"
    warm_up: float = 0.03
    decay_epochs: tuple[int, ...] = ()
    context: Literal["intent", "stream"] = "intent"
    batch_units: int
    bptt: int | None = None
    half: Literal["bfloat16", "float16"] | None = None
    epochs: int
    patience: int = 3
    ngram_orders: tuple[int, ...] = ()
    bpe_ratio: float = 0.4
    bpe_backend: Literal["sentencepiece", "subword-nmt"] = "sentencepiece"

    def __post_init__(self) -> None:
        """Check the ranges, and that the settings are compatible."""
        object.__setattr__(self, "decay_epochs", tuple(self.decay_epochs))  # JSON knows lists only
        object.__setattr__(self, "ngram_orders", tuple(self.ngram_orders))
        for key, values in _CHOICES.items():
            if getattr(self, key) not in values:
                raise ConfigError(
                    f"recipe {self.name!r}: {key} must be {' or '.join(map(repr, values))}, got {getattr(self, key)!r}."
                )
        self._check_ranges()
        if split_name(self.name)[1] is not None:
            raise ConfigError(f"recipe {self.name!r}: its name ends as a way of scoring does; choose another name.")
        if self.bpe_backend != "sentencepiece" and self.units != "bpe":
            raise ConfigError(f"recipe {self.name!r}: bpe_backend is for units 'bpe', not {self.units!r}.")
        if (self.context == "stream") != (self.bptt is not None):
            raise ConfigError(f"recipe {self.name!r}: bptt must be given for context 'stream', and for no other.")
        if self.bptt is not None and self.batch_units % self.bptt:
            raise ConfigError(
                f"recipe {self.name!r}: batch_units must be a multiple of bptt, got {self.batch_units} and {self.bptt}."
            )
        if self.decay_epochs and self.schedule != "steps":
            raise ConfigError(f"recipe {self.name!r}: decay_epochs are for schedule 'steps', not {self.schedule!r}.")
        if self.ngram_orders and self.context == "stream":
            raise ConfigError(f"recipe {self.name!r}: ngram_orders are for context 'intent'.")
        if self.non_monotone is not None and self.optimizer != "sgd":
            raise ConfigError(f"recipe {self.name!r}: non_monotone is for optimizer 'sgd', not {self.optimizer!r}.")
        self._check_architecture()

    @property
    def effort(self) -> float:
        """Relative cost of a training: epochs times weights, roughly."""
        return float(self.max_epochs * self.layers * self.hidden_size**2)

    @classmethod
    def names(cls) -> Iterable[str]:
        """Return the names of `langdiff.lm.RECIPES`."""
        return RECIPES

    @classmethod
    def named(cls, name: str) -> "Recipe | None":
        """Return one of `langdiff.lm.RECIPES`; None for another name.

        Parameters
        ----------
        name : str
            Name of a language model, without a way of scoring.
        """
        return RECIPES.get(name)

    def fit(self, train: pd.Series, dev: pd.Series, plan: TrainingPlan) -> "LanguageModel":  # noqa: D102
        from langdiff.lm.lstm.training import fit_language_model  # torch only when something is trained

        return fit_language_model(self, train, dev, plan)

    def read(self, directory: Path, *, device: str) -> "LanguageModel":  # noqa: D102
        from langdiff.lm.lstm.model import read_network

        return read_network(self, directory, device)

    def cost(self, texts: pd.Series) -> Cost:  # noqa: D102
        from langdiff.lm.lstm.training import calibrate

        return calibrate(self, texts)

    def precision(self, device: str) -> str:  # noqa: D102
        from langdiff.lm.lstm.gradients import training_precision

        return training_precision(self, device)

    def libraries(self) -> tuple[str, ...]:
        """Return the libraries that compute, and the one that segments the text if it is optional."""
        libraries = {"graphemes": "regex", "subword-nmt": "subword-nmt"}
        optional = (libraries[kind] for kind in (self.units, self.bpe_backend) if kind in libraries)
        return ("sentencepiece", "torch", *optional)

    @property
    def max_epochs(self) -> int:
        """The recipe's `epochs`."""
        return self.epochs

    @property
    def carries_state(self) -> bool:
        """Whether the network was trained on a stream."""
        return self.context == "stream"

    def _check_architecture(self) -> None:
        """Check that a setting belongs to the architecture."""
        if (self.architecture == "transformer") != (self.heads is not None):
            raise ConfigError(f"recipe {self.name!r}: heads must be given for a Transformer, and for no other network.")
        if self.heads is None:
            return
        if self.embedding_size % (2 * self.heads):
            raise ConfigError(
                f"recipe {self.name!r}: embedding_size must be a multiple of twice the heads, got "
                f"{self.embedding_size} and {self.heads}."
            )
        if self.weight_drop or self.context == "stream":
            raise ConfigError(
                f"recipe {self.name!r}: weight_drop and context 'stream' are for LSTMs; a Transformer has no state."
            )

    def _check_ranges(self) -> None:
        at_least_one = ("embedding_size", "hidden_size", "layers", "batch_units", "epochs", "patience")
        wrong = [key for key in at_least_one if not _is_count(getattr(self, key))]
        wrong += [key for key in ("learning_rate", "gradient_clip") if not getattr(self, key) > 0]
        not_negative = ("activation_penalty", "change_penalty", "weight_decay", "bpe_ratio")
        wrong += [key for key in not_negative if not getattr(self, key) >= 0]
        fractions = [key for key in self.__dataclass_fields__ if key.startswith("dropout_")]
        wrong += [key for key in (*fractions, "weight_drop", "warm_up") if not 0 <= getattr(self, key) < 1]
        optional = ("min_count", "bptt", "non_monotone", "heads")
        wrong += [key for key in optional if getattr(self, key) is not None and not _is_count(getattr(self, key))]
        wrong += ["decay_epochs"] if min(self.decay_epochs, default=1) < 1 else []
        wrong += ["ngram_orders"] if list(self.ngram_orders) != sorted({max(1, k) for k in self.ngram_orders}) else []
        if wrong:
            values = ", ".join(f"{key} = {getattr(self, key)!r}" for key in wrong)
            raise ConfigError(f"recipe {self.name!r}: out of range, or no whole number: {values}.")


def _is_count(value: object) -> bool:
    return isinstance(value, int) and value >= 1


RECIPES: dict[str, Recipe] = {}
"""Recipes by name; `langdiff.lm.lstm.presets` fills it."""

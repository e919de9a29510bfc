"""Trained network with its units, which scores texts and is saved and read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch

from langdiff.base.types import Floats
from langdiff.errors import CheckpointError, LangdiffError
from langdiff.lm.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from langdiff.lm.device import find_device, one_thread
from langdiff.lm.language_model import Epoch
from langdiff.lm.lstm.features import NgramFeatures, ResidualLSTM, ResidualTransformer, in_parts
from langdiff.lm.lstm.network import AWDLSTM, Network, Transformer
from langdiff.lm.lstm.scoring import score, score_in_order, score_symbols
from langdiff.lm.ngram.kneser_ney import Ngrams
from langdiff.lm.scoring import Scoring, as_scoring
from langdiff.lm.texts import check_texts, surprisal_table
from langdiff.lm.units.alphabet import Alphabet
from langdiff.lm.units.bpe import BPEUnits, SubwordNMTUnits, caution_about_merges, caution_about_words
from langdiff.lm.units.characters import ByteUnits, CharacterUnits, GraphemeUnits, Ids, Units

if TYPE_CHECKING:
    from langdiff.lm.lstm.recipe import Recipe

KIND = "network"
_OF_NETWORK = (
    "embedding_size",
    "hidden_size",
    "layers",
    "dropout_embedding",
    "dropout_input",
    "dropout_hidden",
    "dropout_output",
)

_SUBWORDS: dict[str, type[BPEUnits] | type[SubwordNMTUnits]] = {
    "sentencepiece": BPEUnits,
    "subword-nmt": SubwordNMTUnits,
}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class LanguageModel:
    r"""An open-vocabulary language model of one edition.

    The surprisal of a text is :math:`-\log_2 p(\text{text}, \text{end})`. Every text starts from the
    zero state, so that it depends on no other, unless the state is carried from text to text (`Scoring`).
    Under subwords and graphemes it is that of the canonical segmentation, an upper bound on the
    surprisal of the string.

    Attributes
    ----------
    recipe : Recipe
        How it was built and trained.
    alphabet : Alphabet
        Other characters are replaced before scoring.
    units : Units
        What is predicted.
    network : Network
        In evaluation mode; its last symbol is the end symbol.
    history : tuple of Epoch
        The passes of training; `network` is that of the best on the dev part.
    seed : int
        Seed of training.
    name : str, optional
        The edition.
    out_of_alphabet : mapping from str to float
        Fraction of characters replaced in the ``train`` and the ``dev`` part.
    cautions : tuple of str
        What a reader of its surprisals should know.
    ngrams : Ngrams or None
        The n-grams that a residual network corrects.
    """

    recipe: "Recipe"
    alphabet: Alphabet
    units: Units
    network: Network
    history: tuple[Epoch, ...]
    seed: int
    name: str | None = None
    out_of_alphabet: Mapping[str, float] = field(default_factory=dict)
    cautions: tuple[str, ...] = ()
    ngrams: "Ngrams | None" = None

    def surprisal(self, texts: Sequence[str] | pd.Series, *, scoring: Scoring | str | None = None) -> pd.DataFrame:
        """Score texts, in single precision (sums in double).

        Parameters
        ----------
        texts : sequence or Series of str
            Without final line break; brought to Unicode normal form C if all training texts were in it.
        scoring : Scoring or str, optional
            Whether replaced characters are priced and the state is carried; by default they are priced, and
            each text is scored on its own.

        Returns
        -------
        DataFrame, one row per text, index of `texts`
            ``bits``, all surprisal; ``eos_bits``, the share of the end symbol; ``characters``, ``bytes``
            (UTF-8, of the text given) and ``units``, the end symbol not counted; ``replaced``, the characters
            that are outside the alphabet.

        Raises
        ------
        DataError
            If a text is missing, empty or not a string.
        ConfigError
            If the state cannot be carried.
        """
        scoring = as_scoring(scoring)
        scoring.check(self.recipe)
        series = check_texts(texts, "texts")
        encoded = [self.units.encode(self.alphabet.apply(text)) for text in series]
        self.network.eval()
        with one_thread():
            if scoring.carried:
                bits, eos_bits = score_in_order(self.network, encoded)
            else:
                found = [score(self.network, own, features=features) for own, features in self._with_features(encoded)]
                bits, eos_bits = np.concatenate(found, axis=1)
        return surprisal_table(series, self.alphabet, scoring, bits, eos_bits, [len(ids) for ids in encoded])

    def symbol_bits(self, texts: Sequence[str] | pd.Series, *, boundaries: bool = False) -> list[Floats]:
        """Return the bits of each unit of texts, the end symbol last; replaced characters cost nothing.

        Parameters
        ----------
        texts : sequence or Series of str
            As for `surprisal`.
        boundaries : bool
            Return in a second row the bits of the event that a unit that begins with a space, or the end, stands there.

        Returns
        -------
        list of ndarray of float64, shape (T,) or (2, T)
            One array per text; T is one more than the text has units.

        Raises
        ------
        DataError
            If a text is missing, empty or not a string.
        """
        encoded = [self.units.encode(self.alphabet.apply(text)) for text in check_texts(texts, "texts")]
        others = np.append(self.units.after_space, self.units.size) if boundaries else None
        self.network.eval()
        with one_thread():
            parts = self._with_features(encoded)
            return [
                bits
                for own, features in parts
                for bits in score_symbols(self.network, own, features=features, others=others)
            ]

    def _with_features(self, encoded: Sequence[Ids]) -> Iterator[tuple[Sequence[Ids], NgramFeatures | None]]:
        """Yield the intents part by part, as few as features of n-grams are held of at once."""
        if self.ngrams is None:
            yield encoded, None
        else:
            yield from in_parts(self.ngrams.levels, encoded, self.units.size + 1, self.recipe.ngram_orders)

    @property
    def predicts(self) -> tuple[str, bytes | None]:
        """Kind of unit and its segmentation; models that differ in these predict different symbols."""
        return self.recipe.units, self.units.model

    @property
    def dev_bits_per_character(self) -> float:
        """Lowest dev bits per character in the history."""
        return min(epoch.dev_bits_per_character for epoch in self.history)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per epoch of training."""
        return pd.DataFrame([asdict(epoch) for epoch in self.history]).set_index("epoch")

    def save(self, directory: str | Path) -> None:
        """Write ``model.json``, the weights (safetensors) and, for subwords and graphemes, their segmentation.

        A checkpoint that is there is replaced; at no moment is there none, or half a one.

        Raises
        ------
        OutputError
            If the files cannot be written.
        """
        write_checkpoint(Path(directory), self.checkpoint(self.network.state_dict()))

    def checkpoint(self, weights: Mapping[str, torch.Tensor]) -> Checkpoint:
        """Return the parts that are saved of a model with these weights, the parameters of its network by name."""
        return Checkpoint(
            settings={
                "name": self.name,
                "seed": self.seed,
                "recipe": asdict(self.recipe),
                "alphabet": asdict(self.alphabet),
                "out_of_alphabet": dict(self.out_of_alphabet),
                "cautions": self.cautions,
                "history": [asdict(epoch) for epoch in self.history],
            },
            weights={name: value.detach().cpu().numpy() for name, value in weights.items()}
            | ({} if self.ngrams is None else self.ngrams.arrays()),
            subwords=self.units.model,
        )

    def __repr__(self) -> str:
        """Return a one-line description with the dev bits."""
        of = "" if self.name is None else f" of {self.name}"
        return (
            f"LanguageModel {self.recipe.name}{of}: {self.units.size:,} units, "
            f"{self.dev_bits_per_character:.3f} bits per character on dev after {len(self.history)} epochs"
        )


def read_network(recipe: "Recipe", directory: Path, device: str) -> LanguageModel:
    """Read the network built by a recipe."""
    where = find_device(device)
    checkpoint = read_checkpoint(directory)
    settings = checkpoint.settings
    try:
        alphabet = Alphabet(**settings["alphabet"])
        units = load_units(recipe, alphabet, checkpoint.subwords)
        network = build_network(recipe, units.size + 1)
        weights = dict(checkpoint.weights)
        ngrams = Ngrams.take(weights, units.size + 1, recipe.ngram_orders[-1]) if recipe.ngram_orders else None
        network.load_state_dict({name: torch.tensor(value) for name, value in weights.items()})
        return LanguageModel(
            recipe=recipe,
            alphabet=alphabet,
            units=units,
            network=network.to(where).eval(),
            history=tuple(Epoch(**epoch) for epoch in settings["history"]),
            name=settings["name"],
            seed=settings["seed"],
            out_of_alphabet=settings["out_of_alphabet"],
            cautions=tuple(settings["cautions"]),
            ngrams=ngrams,
        )
    except (LangdiffError, KeyError, TypeError, RuntimeError) as error:
        raise CheckpointError(
            f"{directory}: damaged, or saved by an incompatible version: {type(error).__name__}: {error}"
        ) from error


def build_network(recipe: "Recipe", symbols: int, generator: torch.Generator | None = None) -> Network:
    """Return the untrained network of a recipe, on the CPU, for symbols of which the last is the end symbol."""
    settings: dict[str, Any] = {name: getattr(recipe, name) for name in _OF_NETWORK} | {"generator": generator}
    if recipe.ngram_orders:
        settings["orders"] = recipe.ngram_orders
    if recipe.heads is not None:
        transformer = ResidualTransformer if recipe.ngram_orders else Transformer
        return transformer(symbols, heads=recipe.heads, **settings)
    lstm = ResidualLSTM if recipe.ngram_orders else AWDLSTM
    return lstm(symbols, weight_drop=recipe.weight_drop, **settings)


def learn_units(texts: Sequence[str], alphabet: Alphabet, recipe: "Recipe") -> tuple[Units, list[str | None]]:
    """Return the units of a recipe, and cautions about them.

    Parameters
    ----------
    texts : sequence of str
        The training part, over the alphabet.
    alphabet : Alphabet
        Alphabet of the training part: a grapheme cluster needs as many occurrences as a character.
    """
    match recipe.units:
        case "char":
            return CharacterUnits(alphabet), []
        case "bytes":
            return ByteUnits(alphabet), []
        case "graphemes":
            return GraphemeUnits.train(texts, alphabet, min_count=alphabet.min_count or 1), []
        case "bpe":
            subwords = _SUBWORDS[recipe.bpe_backend].train(texts, alphabet, ratio=recipe.bpe_ratio)
            merges = caution_about_merges(texts, subwords.merges, recipe.bpe_ratio)
            return subwords, [caution_about_words(texts), merges]


def load_units(recipe: "Recipe", alphabet: Alphabet, model: bytes | None) -> Units:
    """Restore units from their `model`.

    Raises
    ------
    CheckpointError
        If it is missing, damaged or of another alphabet.
    """
    if recipe.units == "char":
        return CharacterUnits(alphabet)
    if recipe.units == "bytes":
        return ByteUnits(alphabet)
    if model is None:
        raise CheckpointError("the model of its units is missing")
    if recipe.units == "graphemes":
        return GraphemeUnits.from_model(alphabet, model)
    return _SUBWORDS[recipe.bpe_backend](alphabet, model)

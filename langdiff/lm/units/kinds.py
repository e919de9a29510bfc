"""Which units a recipe asks for: learned from a training text, or made again from a checkpoint."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from langdiff.errors import CheckpointError
from langdiff.lm.units.alphabet import Alphabet
from langdiff.lm.units.bpe import BPEUnits, caution_about_merges, caution_about_words
from langdiff.lm.units.bytes import ByteUnits
from langdiff.lm.units.characters import CharacterUnits, Units
from langdiff.lm.units.graphemes import GraphemeUnits
from langdiff.lm.units.subword_nmt import SubwordNMTUnits

if TYPE_CHECKING:
    from langdiff.lm.lstm.recipe import Recipe

_SUBWORDS: dict[str, type[BPEUnits] | type[SubwordNMTUnits]] = {
    "sentencepiece": BPEUnits,
    "subword-nmt": SubwordNMTUnits,
}


def learn_units(texts: Sequence[str], alphabet: Alphabet, recipe: "Recipe") -> tuple[Units, list[str | None]]:
    """Return the units of a recipe, and what a reader should be told about them.

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
    """Make units again from what their `model` was.

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

"""Scoring options of a trained language model, on which training does not depend."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from langdiff.errors import ConfigError

if TYPE_CHECKING:
    from langdiff.lm.language_model import LanguageModelRecipe

_ENDINGS = {"-unpriced": {"price_replaced": False}, "-carried": {"carried": True}}
_WORDS = {"priced": {"price_replaced": True}} | {ending[1:]: option for ending, option in _ENDINGS.items()}


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """Scoring options; one trained model may be scored in several ways.

    Training knows nothing of these options: the dev part, by which it stops, is always scored intent by
    intent and without a price for replaced characters.

    Attributes
    ----------
    price_replaced : bool
        Add, to the surprisal of a text, the bits that tell each replaced character from all others of its
        script (`langdiff.lm.Alphabet.replaced_bits`). Without them it is free which rare character stood
        there, and a script of thousands of characters looks easy.
    carried : bool
        Carry the state from each intent to the next, in their order. For models that were trained so
        (``context="stream"``). The bits of an intent then depend on the intents before it, and scoring is
        many times slower.

    Examples
    --------
    >>> Scoring(price_replaced=False).name
    'unpriced'
    >>> Scoring.named("priced, carried")
    Scoring(price_replaced=True, carried=True)
    """

    price_replaced: bool = True
    carried: bool = False

    @classmethod
    def named(cls, name: str) -> "Scoring":
        """Return the options of a name: ``"priced"``, ``"unpriced"`` or ``"carried"``, or two with a comma.

        Parameters
        ----------
        name : str
            One or two of these words, with a comma between two.

        Returns
        -------
        Scoring
            The options that the words stand for.

        Raises
        ------
        ConfigError
            If a word is unknown, or two contradict each other.
        """
        options: dict[str, bool] = {}
        for word in (part.strip() for part in name.split(",")):
            option = _WORDS.get(word, {})
            if not option or option.keys() & options.keys():
                raise ConfigError(
                    f"unknown way of scoring {name!r}: write 'priced' or 'unpriced', and for models trained on a "
                    "stream 'carried', with a comma between two."
                )
            options |= option
        return cls(**options)

    @property
    def name(self) -> str:
        """The options in words: ``"priced"``, ``"unpriced"``, ``"priced, carried"`` or ``"unpriced, carried"``."""
        return ("priced" if self.price_replaced else "unpriced") + (", carried" if self.carried else "")

    @property
    def ending(self) -> str:
        """Ending of a language model's name for options other than the default: ``"-unpriced"``, …."""
        return ("" if self.price_replaced else "-unpriced") + ("-carried" if self.carried else "")

    def check(self, recipe: "LanguageModelRecipe") -> None:
        """Check that a model supports the options.

        Parameters
        ----------
        recipe : LanguageModelRecipe
            Recipe that the model was trained by.

        Raises
        ------
        ConfigError
            If the state is to be carried in a model that was not trained on a stream.
        """
        if self.carried and not recipe.carries_state:
            raise ConfigError(
                f"carried scoring is for models trained with context 'stream'; {recipe.name!r} starts every intent "
                "anew. Leave 'carried' out, or choose another recipe, such as 'char-ptb'."
            )


PRICED = Scoring()


def as_scoring(scoring: Scoring | str | None) -> Scoring:
    """Return options from a name (`Scoring.named`), the options given, or the default for None."""
    if isinstance(scoring, str):
        return Scoring.named(scoring)
    return PRICED if scoring is None else scoring


def split_name(lm: str) -> tuple[str, Scoring | None]:
    """Return the name of the recipe and the scoring in a language model's name; None without a scoring.

    Examples
    --------
    >>> split_name("char-ptb-unpriced-carried")
    ('char-ptb', Scoring(price_replaced=False, carried=True))
    >>> split_name("char-ptb")
    ('char-ptb', None)
    """
    options: dict[str, bool] = {}
    while found := [
        ending for ending in _ENDINGS if lm.endswith(ending) and not _ENDINGS[ending].keys() & options.keys()
    ]:
        options |= _ENDINGS[found[0]]
        lm = lm.removesuffix(found[0])
    return lm, Scoring(**options) if options else None


def refuse_scoring(recipe: str) -> None:
    """Check that the name of a recipe does not end like a scoring."""
    base, scoring = split_name(recipe)
    if scoring is not None:
        raise ConfigError(
            f"{recipe!r} names a recipe and a way of scoring, but training depends on the recipe alone: train "
            f"{base!r}, and score with surprisal(texts, scoring={scoring.name!r})."
        )

"""Scoring options of a trained language model, on which training does not depend."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from langdiff.errors import ConfigError

if TYPE_CHECKING:
    from langdiff.lm.language_model import LanguageModelRecipe

_ENDINGS = {
    "-unpriced": {"price_replaced": False},
    "-scripts": {"price_scripts": True},
    "-carried": {"carried": True},
}
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
    price_scripts : bool
        Add the bits that tell the script of a replaced character, too (`langdiff.lm.Alphabet.price`). With them the
        probabilities of all texts, whatever their characters, sum to 1 at most.
    carried : bool
        Carry the state from each intent to the next, in their order. For models that were trained so
        (``context="stream"``). The bits of an intent then depend on the intents before it, and scoring is
        many times slower.

    Raises
    ------
    ConfigError
        If the script of replaced characters is to be priced, but not which they are.

    Examples
    --------
    >>> Scoring(price_replaced=False).name
    'unpriced'
    >>> Scoring.named("priced, carried")
    Scoring(price_replaced=True, price_scripts=False, carried=True)
    """

    price_replaced: bool = True
    price_scripts: bool = False
    carried: bool = False

    def __post_init__(self) -> None:
        """Check that scripts are priced with characters."""
        if self.price_scripts and not self.price_replaced:
            raise ConfigError("scripts are priced together with characters: leave out 'unpriced' or 'scripts'.")

    @classmethod
    def named(cls, name: str) -> "Scoring":
        """Return the options of a name: ``"priced"``, ``"unpriced"``, ``"scripts"``, ``"carried"``, or several.

        Parameters
        ----------
        name : str
            Words, with a comma between two.

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
                    f"unknown way of scoring {name!r}: write 'priced' or 'unpriced', 'scripts' to price the scripts of "
                    "replaced characters, and for models trained on a stream 'carried', with a comma between two."
                )
            options |= option
        return cls(**options)

    @property
    def name(self) -> str:
        """The options in words, such as ``"priced"``, ``"priced, scripts"`` or ``"unpriced, carried"``."""
        words = {"scripts": self.price_scripts, "carried": self.carried}
        return ", ".join(["priced" if self.price_replaced else "unpriced", *(word for word, on in words.items() if on)])

    @property
    def ending(self) -> str:
        """Ending of a language model's name for options other than the default: ``"-unpriced"``, …."""
        return "".join(f"-{word}" for word in self.name.split(", ") if word != "priced")

    @property
    def key(self) -> dict[str, bool]:
        """The options for keys of caches."""
        return asdict(self)

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
    ('char-ptb', Scoring(price_replaced=False, price_scripts=False, carried=True))
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

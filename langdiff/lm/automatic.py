"""``lm="auto"``: a recipe chosen by the amount of training text and the size of its alphabet."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import NamedTuple, NoReturn

import pandas as pd

from langdiff.errors import ConfigError
from langdiff.lm.language_model import Cost, LanguageModelRecipe, Model, ScoredLM, TrainingPlan, find_lm
from langdiff.tables.multitext import Folds, Multitext, Parts

AUTO = "auto"
WORTH_TRYING = 5e10  # characters times effort: less takes half a minute
OF_JUDGING = 3.0  # characters that are judged while one is learnt

logger = logging.getLogger(__name__)


class Step(NamedTuple):
    """Recipe for training texts of up to a number of characters, with the reason."""

    characters: float
    recipe: str
    why: str


LADDER = (
    Step(0.5e6, "char-residual", "the fewest bits of short texts"),
    Step(2.5e6, "char-residual", "the fewest bits of a New Testament"),
    Step(5e6, "char-residual-quick", "a whole Bible in a fraction of the time that char-residual takes"),
    Step(10e6, "char-residual-quick", "the n-grams of such a text still fit into a few GiB of memory"),
    Step(100e6, "char-once", "the n-grams of such a text would take too much memory, several epochs too much time"),
    Step(inf, "char-once", "one epoch; no recipe was measured on more than some million characters"),
)
"""Steps by the size of the training part; the first that is large enough is taken."""
SYMBOLS = 3_000  # that a softmax must tell apart for a character to take twice the time


@dataclass(frozen=True, kw_only=True)
class Automatic(LanguageModelRecipe):
    """Stand-in for the recipe that is chosen when the training texts are known."""

    name: str = AUTO

    @classmethod
    def names(cls) -> Iterable[str]:
        """Return ``"auto"``."""
        return (AUTO,)

    @classmethod
    def named(cls, name: str) -> "Automatic | None":
        """Return the stand-in for ``"auto"``; None for another name."""
        return cls() if name == AUTO else None

    def fit(self, train: pd.Series, dev: pd.Series, plan: TrainingPlan) -> Model:  # noqa: D102
        return chosen_for(size_of(train)).fit(train, dev, plan)

    def read(self, directory: Path, *, device: str) -> NoReturn:  # noqa: ARG002, D102
        raise ConfigError(f"{directory}: models have the name of the recipe that {AUTO!r} chose; give that name.")


class Size(NamedTuple):
    """Characters of a training text, and how many of them are different."""

    characters: int
    symbols: int

    @property
    def cost(self) -> float:
        """Characters of a small alphabet that take as much time."""
        return self.characters * (1 + self.symbols / SYMBOLS) if self.symbols > SYMBOLS else self.characters


def size_of(texts: Iterable[str]) -> Size:
    """Return the size of a training text."""
    characters, different = 0, set[str]()
    for text in texts:
        characters += len(text)
        different.update(text)
    return Size(characters, len(different))


def chosen_for(size: Size) -> LanguageModelRecipe:
    """Return the recipe for a training text of some size, and log the choice with its reason.

    Examples
    --------
    >>> [chosen_for(Size(n, 60)).name for n in (700_000, 4_000_000, 80_000_000)]
    ['char-residual', 'char-residual-quick', 'char-once']
    >>> chosen_for(Size(700_000, 20_000)).name
    'char-residual-quick'
    """
    step = next(step for step in LADDER if size.cost <= step.characters)
    large = f"; {size.symbols} different ones make it as slow as {size.cost:.0f}" if size.cost > size.characters else ""
    logger.info(
        "%s: %s, for %d characters of training text%s (%s)", AUTO, step.recipe, size.characters, large, step.why
    )
    return find_lm(step.recipe)


def tell_cost(recipe: LanguageModelRecipe, train: Multitext, dev: Multitext, workers: int) -> None:
    """Log what training on some editions will cost on this machine's processor, and cheaper recipes if it is hours.

    The largest edition is tried, for a second; nothing is where half a minute will do.
    """
    sizes = {edition: size_of(train.text(edition).dropna()).characters for edition in train.editions}
    total = sum(sizes.values())
    if not total or total * recipe.effort < WORTH_TRYING:
        return
    largest = max(sizes, key=lambda edition: sizes[edition])
    texts = train.text(largest).dropna()
    judged = size_of(dev.text(largest).dropna()).characters / sizes[largest] / OF_JUDGING

    def tried(recipe: LanguageModelRecipe) -> tuple[float, Cost]:
        cost = recipe.cost(texts)
        each = cost.before + recipe.max_epochs * cost.epoch * (1 + judged)
        return each * max(total / workers, sizes[largest]) / 3600, cost

    hours, cost = tried(recipe)
    if not cost.epoch:  # of a kind that tells none
        return
    kind, _, _ = recipe.name.partition("-")
    rungs = dict.fromkeys(step.recipe.replace("char", kind) for step in LADDER) if hours > 1 else ()
    cheaper = [found for name in rungs if name in recipe.names() and (found := find_lm(name)).effort < recipe.effort]
    rest = "".join(f"; {each.name}: {_time(tried(each)[0])}" for each in cheaper[:2])
    amount = f"{len(sizes)} edition(s), {total} characters to learn from, up to {recipe.max_epochs} epoch(s)"
    speed = f"{workers} core(s) ({1 / cost.epoch:.0f} characters a second); {cost.memory / 2**30:.1f} GiB a worker"
    logger.info("%s: %s for %s, on %s%s", recipe.name, _time(hours), amount, speed, rest)


def _time(hours: float) -> str:
    """Return a time in a few words."""
    if hours < 1:
        return f"about {max(1, round(60 * hours))} min"
    return f"about {hours:.1f} hours" if hours < 48 else f"about {hours / 24:.0f} days"


def settle(named: ScoredLM, parts: Parts | Folds) -> ScoredLM:
    """Return the recipe with, in place of ``"auto"``, the one for these texts: the same for all editions.

    The edition whose training part takes most time decides, so that the recipe fits all; of folds, in the first.
    """
    if not isinstance(named.recipe, Automatic):
        return named
    train = (parts.parts[0] if isinstance(parts, Folds) else parts).train
    sizes = [size_of(train.text(edition).dropna()) for edition in train.editions]
    return named._replace(recipe=chosen_for(max(sizes, key=lambda size: size.cost, default=Size(0, 0))))

"""How fast to learn, and when to begin averaging: functions of the epochs done and the dev bits."""

from collections.abc import Sequence
from math import cos, pi
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langdiff.lm.lstm.recipe import Recipe


DECAY = 0.1  # factor of the learning rate after each of the recipe's decay epochs


def learning_rate(recipe: "Recipe", epochs: float) -> float:
    """Return the learning rate when some epochs (with a fraction) are done.

    It rises linearly over the warm-up. Then it falls to zero along a cosine, or is constant but
    for a division by ten after each of the recipe's `decay_epochs`.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from langdiff.lm import RECIPES
    >>> recipe = replace(RECIPES["char-tiny"], learning_rate=0.01, warm_up=0.2, epochs=10)
    >>> [round(learning_rate(recipe, epochs), 6) for epochs in (1, 2, 6, 10)]
    [0.005, 0.01, 0.005, 0.0]
    >>> [round(learning_rate(RECIPES["char-ptb"], epochs), 6) for epochs in (0, 299.9, 300, 499)]
    [0.002, 0.002, 0.0002, 2e-05]
    """
    done = epochs / recipe.epochs
    if done < recipe.warm_up:
        return recipe.learning_rate * done / recipe.warm_up
    if recipe.schedule == "steps":
        return recipe.learning_rate * DECAY ** sum(epoch <= epochs for epoch in recipe.decay_epochs)
    return recipe.learning_rate * 0.5 * (1 + cos(pi * (done - recipe.warm_up) / (1 - recipe.warm_up)))


def stopped_improving(dev_bits: Sequence[float], interval: int) -> bool:
    """Say whether the last epoch is worse than the best of all before it but the last `interval`.

    The non-monotonic trigger of NT-ASGD (Merity, Keskar & Socher 2018, algorithm 1).

    Parameters
    ----------
    dev_bits : sequence of float
        Dev bits of every epoch so far, the last one included.
    interval : int
        Epochs in which dev bits may go up and down without consequence.

    Examples
    --------
    >>> stopped_improving([3.0, 2.0, 2.2, 2.1], interval=1)
    True
    >>> stopped_improving([3.0, 2.0, 2.2, 2.1], interval=2)
    False
    """
    *earlier, last = dev_bits
    return len(earlier) > interval and last > min(earlier[: len(earlier) - interval])

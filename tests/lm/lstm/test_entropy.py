"""On sources whose entropy is known, a trained model needs that many bits: not many more, never fewer."""

from dataclasses import replace

import numpy as np
import pytest

from langdiff.lm import RECIPES, train_language_model

LETTERS = "abcd"
STOP = 0.05  # probability that a text ends after a letter
WITHIN = 0.02  # of the true bits
STANDARD_ERRORS = 3.5  # a model that is right is this far below once in four thousand runs

IID = np.tile([0.5, 0.25, 0.15, 0.1], (4, 1))
MARKOV = np.array([[0.7, 0.1, 0.1, 0.1], [0.05, 0.05, 0.85, 0.05], [0.25, 0.25, 0.25, 0.25], [0.9, 0.02, 0.04, 0.04]])


def draw(transitions, n, rng):
    """Draw texts of one letter or more; return them and the true bits of each, end included."""
    cumulative = transitions.cumsum(axis=1)
    texts, bits = [], []
    for _ in range(n):
        length = rng.geometric(STOP)
        text = [int(rng.integers(4))]
        for _ in range(length - 1):
            text.append(min(3, int(np.searchsorted(cumulative[text[-1]], rng.random()))))
        steps = transitions[text[:-1], text[1:]]
        nats = np.log(4) - np.log(steps).sum() - (length - 1) * np.log(1 - STOP) - np.log(STOP)
        texts.append("".join(LETTERS[i] for i in text))
        bits.append(nats / np.log(2))
    return texts, np.array(bits)


@pytest.mark.parametrize("source", [IID, MARKOV], ids=["iid", "markov"])
def test_bits_are_those_of_the_source(source):
    rng = np.random.default_rng(11)
    train, _ = draw(source, 3000, rng)
    dev, _ = draw(source, 300, rng)
    test, true = draw(source, 1500, rng)
    recipe = replace(RECIPES["char-tiny"], embedding_size=16, batch_units=1024, epochs=5, min_count=1)
    model = train_language_model(train, dev, recipe=recipe, progress=False, device="cpu", seed=0)
    excess = model.surprisal(test)["bits"].to_numpy() - true  # of the same texts: most of the chance cancels
    assert true.sum() / sum(len(text) + 1 for text in test) > 1  # bits a symbol: something to get wrong
    assert excess.sum() < WITHIN * true.sum()
    assert excess.mean() > -STANDARD_ERRORS * excess.std(ddof=1) / np.sqrt(len(test))


def test_the_bits_of_the_source_average_to_its_entropy():
    _, true = draw(IID, 4000, np.random.default_rng(3))
    letter = -(IID[0] * np.log2(IID[0])).sum()
    steps = 1 / STOP - 1  # after the first letter
    entropy = 2 + steps * (letter - np.log2(1 - STOP)) - np.log2(STOP)
    assert true.mean() == pytest.approx(entropy, abs=4 * true.std() / np.sqrt(len(true)))

from itertools import product

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from langdiff.errors import ConfigError, DataError
from langdiff.lm import RECIPES
from langdiff.lm.lstm.model import LanguageModel, build_network
from langdiff.lm.lstm.scoring import score
from langdiff.lm.marginal import marginal_surprisal
from langdiff.lm.units.alphabet import Alphabet
from langdiff.lm.units.bpe import BPEUnits
from tests.helpers import refused

from .conftest import verses

STANDARD_ERRORS = 5  # how far an estimate may lie from what it estimates
LONGEST = 5  # units: no segmentation of the strings below has more


@pytest.fixture(scope="module")
def tiny(tiny_bpe_recipe):
    """Give a model of few subwords that is not trained, so that no segmentation is much the likeliest."""
    texts = ["ab aab", "ab abb"] * 9
    units = BPEUnits.train(texts, Alphabet.from_texts(texts, min_count=1), ratio=1.0)
    assert units.merges == 3
    network = build_network(tiny_bpe_recipe, units.size + 1, torch.Generator().manual_seed(1)).eval()
    with torch.no_grad():
        for weights in network.parameters():
            weights.mul_(4.0)
    return LanguageModel(
        recipe=tiny_bpe_recipe, alphabet=units.alphabet, units=units, network=network, history=(), seed=0
    )


def exact(model, text):
    """Add the probabilities of all unit sequences, found by decoding each there is."""
    everything = (ids for n in range(1, LONGEST + 1) for ids in product(range(model.units.size), repeat=n))
    these = [np.array(ids) for ids in everything if model.units.decode(ids) == text]
    assert model.units.encode(text).tolist() in [ids.tolist() for ids in these]
    return -np.log2((2.0 ** -score(model.network, these)[0]).sum()), len(these)


@pytest.mark.parametrize("text", ["a", "ab", "abb", "a b", " ab", "b  "])
def test_the_estimate_against_all_segmentations(tiny, text):
    bits, segmentations = exact(tiny, text)
    assert segmentations > 1
    frame = marginal_surprisal(tiny, [text], samples=4000, seed=0)
    estimate, error = frame["bits"][0], frame["std_error"][0]
    assert 0 < error < 0.05
    assert abs(estimate - bits) < STANDARD_ERRORS * error
    assert frame["gap"][0] > 0.1  # else the estimate would not be tested
    assert_allclose(frame["canonical_bits"], tiny.surprisal([text])["bits"])
    assert_allclose(frame["bits"] + frame["gap"], frame["canonical_bits"])


@pytest.mark.slow
def test_the_probability_is_unbiased_and_the_bits_are_an_upper_bound_in_expectation(tiny):
    bits, _ = exact(tiny, "abb")
    estimates = marginal_surprisal(tiny, ["abb"] * 1000, samples=2, seed=0)["bits"].to_numpy()
    ratios = 2.0 ** (bits - estimates)
    error = ratios.std(ddof=1) / np.sqrt(len(ratios))
    assert error < 0.03
    assert abs(ratios.mean() - 1) < STANDARD_ERRORS * error
    assert estimates.mean() > bits


def test_the_price_of_replaced_characters_is_beside_the_segmentations(tiny):
    text = "ab жж"  # 18 bits say which characters these were
    priced, free = (
        marginal_surprisal(tiny, [text], samples=50, price_replaced=price, seed=0).iloc[0] for price in (True, False)
    )
    assert priced["gap"] == pytest.approx(free["gap"])
    assert priced["bits"] == pytest.approx(free["bits"] + tiny.alphabet.replaced_bits(text))


def test_never_more_than_canonical_and_reproducible(tiny_bpe_recipe):
    from langdiff.lm import train_language_model

    model = train_language_model(
        verses("eng", 200, 0), verses("eng", 40, 1), recipe=tiny_bpe_recipe, progress=False, seed=0
    )
    texts = [*verses("eng", 6, 7), "◊ é  x"]
    frame = marginal_surprisal(model, texts, samples=50, seed=3)
    assert (frame["gap"] >= 0).all()
    assert (frame["gap"] > 0).any()
    assert frame.equals(marginal_surprisal(model, texts, samples=50, seed=3))
    assert not frame.equals(marginal_surprisal(model, texts, samples=50, seed=4))


def test_bad_input(tiny, tiny_recipe):
    refused(ConfigError, "samples must be at least 2", marginal_surprisal, tiny, ["a"], samples=1, seed=0)
    refused(DataError, "intent 0 is empty", marginal_surprisal, tiny, [""], seed=0)
    assert marginal_surprisal(tiny, [], seed=0).empty
    of_characters = LanguageModel(
        recipe=RECIPES["char-tiny"], alphabet=tiny.alphabet, units=None, network=tiny.network, history=(), seed=0
    )
    refused(ConfigError, "char-tiny does not predict subwords", marginal_surprisal, of_characters, ["a"], seed=0)

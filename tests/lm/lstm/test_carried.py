from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from langdiff.errors import ConfigError
from langdiff.lm import RECIPES, Scoring, train_language_model
from langdiff.lm.language_model import find_scored_lm
from langdiff.lm.lstm import scoring as scoring_module
from langdiff.lm.lstm.network import AWDLSTM
from langdiff.lm.lstm.scoring import score, score_in_order

SINGLE_PRECISION = 1e-3  # bits per intent: what rounding in float32 may move
REMEMBERS = 0.85  # of the bits without memory, at most, where the next text is certain; .71 were seen
V = 6


def network():
    """Make a network whose predictions depend strongly on what was before."""
    net = AWDLSTM(V, embedding_size=6, hidden_size=9, layers=2, generator=torch.Generator().manual_seed(5))
    with torch.no_grad():
        for weights in net.parameters():
            weights.mul_(8)
    return net.eval()


def one_after_another(net, intents):
    """Walk through all intents in double precision, a symbol at a time, never forgetting."""
    cells = []
    for lstm in net.lstms:
        cell = torch.nn.LSTMCell(lstm.input.shape[1], lstm.size).double()
        weights = {"weight_ih": lstm.input, "weight_hh": lstm.recurrent}
        weights |= {"bias_ih": lstm.input_bias, "bias_hh": lstm.recurrent_bias}
        cell.load_state_dict({name: value.detach().double() for name, value in weights.items()})
        cells.append(cell)
    embedding, bias = net.embedding.detach().double(), net.decoder_bias.detach().double()
    memory = [None] * len(cells)
    before, found = V - 1, []
    for ids in intents:
        bits = []
        for symbol in (*ids, V - 1):
            x = embedding[before][None]
            for k, cell in enumerate(cells):
                memory[k] = cell(x, memory[k])
                x = memory[k][0]
            bits.append(-float(torch.log_softmax(x @ embedding.T + bias, dim=1)[0, symbol]) / np.log(2))
            before = symbol
        found.append((sum(bits), bits[-1]))
    return np.array(found)


@settings(max_examples=25)
@given(
    intents=st.lists(st.lists(st.integers(0, V - 2), max_size=30), min_size=1, max_size=8),
    at_once=st.sampled_from([1, 7, 4096]),
)
@torch.no_grad()
def test_bits_against_a_walk_in_double_precision(intents, at_once):
    net = network()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scoring_module, "STRETCH", at_once)
        bits, eos_bits = score_in_order(net, [np.array(ids, dtype=np.int64) for ids in intents])
    expected = one_after_another(net, intents)
    assert_allclose(bits, expected[:, 0], atol=SINGLE_PRECISION)
    assert_allclose(eos_bits, expected[:, 1], atol=SINGLE_PRECISION)


def test_the_first_intent_is_as_alone_and_the_others_are_not():
    net = network()
    intents = [np.arange(20) % 5, np.arange(20) % 5, np.arange(9) % 2]
    alone, carried = score(net, intents)[0], score_in_order(net, intents)[0]
    assert carried[0] == pytest.approx(alone[0], abs=SINGLE_PRECISION)
    assert (np.abs(carried - alone)[1:] > 10 * SINGLE_PRECISION).all()
    assert score_in_order(net, [])[0].shape == (0,)


COUNTS = [f"{a} {b}" for a in ("one", "two", "three") for b in ("cats", "dogs")]


def test_a_model_that_remembers_knows_what_follows(tmp_path):
    recipe = replace(
        RECIPES["char-tiny"],
        name="stream",
        context="stream",
        bptt=60,
        batch_units=240,
        embedding_size=48,
        epochs=8,
        min_count=1,
        patience=8,
    )
    texts = COUNTS * 70  # always in the same order
    model = train_language_model(texts, COUNTS * 2, recipe=recipe, progress=False, directory=tmp_path, seed=0)
    carried = model.surprisal(COUNTS * 2, scoring="carried")
    alone = model.surprisal(COUNTS * 2)
    assert carried["bits"].iloc[1:].sum() < REMEMBERS * alone["bits"].iloc[1:].sum()
    dev = alone["bits"].sum() / alone["characters"].sum()
    assert model.dev_bits_per_character == pytest.approx(dev, rel=1e-5)  # what training stops by is never carried


def test_only_models_trained_on_a_stream_can_be_scored_on_one(tiny_recipe):
    for name in ("char-small-carried", "kneser-ney-6-carried"):
        with pytest.raises(ConfigError, match="carried scoring is for models trained with context 'stream'"):
            find_scored_lm(name)
    assert find_scored_lm("char-ptb-carried") == (RECIPES["char-ptb"], Scoring(carried=True))
    model = train_language_model(COUNTS * 70, COUNTS, recipe=tiny_recipe, progress=False, seed=0)
    with pytest.raises(ConfigError, match="'test-char' starts every intent anew"):
        model.surprisal(COUNTS, scoring="carried")

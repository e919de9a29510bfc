"""What only a CUDA device can show."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import langdiff as ld
from langdiff.lm import RECIPES, train_language_model
from langdiff.lm.lstm.batches import pad
from langdiff.lm.lstm.gradients import accumulate_gradients
from langdiff.lm.lstm.network import AWDLSTM

IN_SINGLE_PRECISION = 1e-3  # bits per intent, promised for any device; TF32 would miss it

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")]


def test_training_in_bfloat16_is_close_to_single_precision():
    texts = ["the cat sat on the mat", "the dog lay on the log", "a cat and a dog sat"] * 60
    short = replace(RECIPES["char-fast"], epochs=4, embedding_size=128, batch_units=512)
    dev_bits = [
        train_language_model(
            texts,
            texts[:9],
            recipe=replace(short, half="bfloat16" if bf16 else None),
            device="cuda",
            progress=False,
            seed=0,
        ).dev_bits_per_character
        for bf16 in (True, False)
    ]
    assert dev_bits[0] != dev_bits[1]  # it was another arithmetic
    assert abs(dev_bits[0] - dev_bits[1]) < 0.1 * dev_bits[1]


def test_cpu_and_cuda_give_the_same_bits(tmp_path):
    texts = ["the cat sat on the mat", "the dog lay on the log", "a cat and a dog sat"] * 60
    model = train_language_model(texts, texts[:9], recipe="char-tiny", device="cuda", progress=False, seed=0)
    model.save(tmp_path)
    on_cpu = ld.read(tmp_path, device="cpu").surprisal(texts[:9]).bits
    assert (model.surprisal(texts[:9]).bits - on_cpu).abs().max() < IN_SINGLE_PRECISION


@pytest.mark.filterwarnings("ignore:Synchronization debug mode is a prototype feature")
def test_a_step_of_training_waits_for_nothing():
    """Neither for the copy of its batch nor for its loss: the next step is queued while the GPU computes."""
    cuda, rng = torch.device("cuda"), np.random.default_rng(0)
    recipe = RECIPES["char-tiny"]
    network = AWDLSTM(20, embedding_size=32, hidden_size=48, layers=2, weight_drop=0.1).to(cuda).train()
    generator = torch.Generator(cuda).manual_seed(0)
    intents = [rng.integers(0, 19, n) for n in (7, 12, 30)]
    try:
        for mode in ("default", "error"):  # the first step sets the libraries up
            torch.cuda.set_sync_debug_mode(mode)
            network.zero_grad()
            accumulate_gradients(network, pad(intents, 19, cuda), recipe, generator)
    finally:
        torch.cuda.set_sync_debug_mode("default")

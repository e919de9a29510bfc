"""What only a CUDA device can show."""

from dataclasses import replace

import pytest
import torch

from langdiff.lm import RECIPES, load_language_model, train_language_model

IN_SINGLE_PRECISION = 1e-3  # bits an intent, promised for any device; TF32 would miss it

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
]


def test_training_in_bfloat16_is_close_to_single_precision():
    texts = ["the cat sat on the mat", "the dog lay on the log", "a cat and a dog sat"] * 60
    short = replace(RECIPES["char-fast"], epochs=4, embedding_size=128, batch_units=512)
    dev_bits = [
        train_language_model(
            texts, texts[:9], recipe=replace(short, bf16=bf16), device="cuda", progress=False
        ).dev_bits_per_character
        for bf16 in (True, False)
    ]
    assert dev_bits[0] != dev_bits[1]  # it was another arithmetic
    assert abs(dev_bits[0] - dev_bits[1]) < 0.1 * dev_bits[1]


def test_cpu_and_cuda_give_the_same_bits(tmp_path):
    texts = ["the cat sat on the mat", "the dog lay on the log", "a cat and a dog sat"] * 60
    model = train_language_model(texts, texts[:9], recipe="char-tiny", device="cuda", progress=False)
    model.save(tmp_path)
    on_cpu = load_language_model(tmp_path, device="cpu").surprisal(texts[:9]).bits
    assert (model.surprisal(texts[:9]).bits - on_cpu).abs().max() < IN_SINGLE_PRECISION

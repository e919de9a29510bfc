"""In which precision gradients are computed, and what happens if memory runs out."""

import logging
import os
import platform
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from langdiff.errors import ConfigError
from langdiff.lm import RECIPES, train_language_model
from langdiff.lm.lstm.batches import Batch, pad
from langdiff.lm.lstm.gradients import accumulate_gradients, has_bf16
from langdiff.lm.lstm.network import AWDLSTM
from langdiff.lm.lstm.scoring import MemoryLimit
from tests.helpers import refused

ROUNDING = 1e-12  # double precision: the same sums in another order
DROPOUT = {"dropout_embedding": 0.1, "dropout_input": 0.1, "dropout_output": 0.1, "weight_drop": 0.3}
PENALIZED = replace(RECIPES["char-tiny"], activation_penalty=2.0, change_penalty=1.0)

TEXTS = ["the cat sat on the mat", "the dog lay on the log", "a cat and a dog sat"] * 60
TRAIN = """
from tests.lm.lstm.test_gradients import dev_bits, has_bf16
print(has_bf16("cpu"), *(dev_bits(bf16) for bf16 in (True, False)))
"""


def dev_bits(bf16):
    recipe = replace(
        RECIPES["char-tiny"], half="bfloat16" if bf16 else None, epochs=1, embedding_size=64, batch_units=512
    )
    return train_language_model(
        TEXTS, TEXTS[:9], recipe=recipe, device="cpu", progress=False, seed=0
    ).dev_bits_per_character


def test_a_recipe_trains_in_bfloat16_where_the_processor_computes_in_it():
    assert (dev_bits(True) != dev_bits(False)) == has_bf16("cpu")


@pytest.mark.parametrize(
    "limit", ["AVX2", pytest.param("AVX512_CORE", marks=pytest.mark.slow)]
)  # a step in bfloat16 raises, and is emulated
def test_a_limit_of_the_instructions_is_respected(limit):
    done = subprocess.run(
        [sys.executable, "-c", TRAIN],
        env=os.environ | {"ONEDNN_MAX_CPU_ISA": limit},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    tried, *bits = done.stdout.split()
    assert (bits[0] != bits[1]) == (tried == "True")
    if platform.machine().lower() in ("x86_64", "amd64"):  # other processors do not know these limits
        assert tried == "False"


def make_problem(lengths=(7, 12, 30, 1, 9), state=False):
    network = AWDLSTM(
        20, embedding_size=6, hidden_size=10, layers=2, **DROPOUT, generator=torch.Generator().manual_seed(1)
    )
    network = network.double().train()
    rng = np.random.default_rng(0)
    batch = pad([rng.integers(0, 19, n) for n in lengths], 19, torch.device("cpu"))
    at = torch.Generator().manual_seed(2)
    draws = [[torch.randn(1, len(lengths), size, generator=at).double() for _ in "hc"] for size in (10, 6)]
    return network, batch, PENALIZED, [tuple(each) for each in draws] if state else None


def limit_memory(monkeypatch, most_units):
    """Let what needs more units at once run out of memory."""
    forward = AWDLSTM.forward

    def limited(self, inputs, *args, **options):
        if inputs.numel() > most_units:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.\nMore about it")
        return forward(self, inputs, *args, **options)

    monkeypatch.setattr(AWDLSTM, "forward", limited)


@pytest.mark.parametrize("lengths", [(7, 12, 30, 1, 9), (11, 11, 11), (0, 0, 0, 0)])
@pytest.mark.parametrize("state", [False, True])
def test_if_memory_runs_out_the_batch_goes_in_pieces(monkeypatch, caplog, lengths, state):
    results = []
    limit = MemoryLimit()
    for most_units in (10**9, 2 * (max(lengths) + 1)):  # two intents at once
        limit_memory(monkeypatch, most_units)
        network, batch, recipe, begin = make_problem(lengths, state)
        generator = torch.Generator().manual_seed(3)
        with caplog.at_level(logging.WARNING, logger="langdiff.lm"):
            loss = accumulate_gradients(network, batch, recipe, generator, begin, limit=limit)
        results.append([loss.nats, *sum(loss.state, ()), *(weights.grad for weights in network.parameters())])
    for whole, pieces in zip(*results, strict=True):
        torch.testing.assert_close(pieces, whole, rtol=ROUNDING, atol=ROUNDING)
    lines = [record.getMessage() for record in caplog.records]
    assert lines[-1] == (
        "out of memory (CUDA out of memory. Tried to allocate 2.00 GiB.): "
        f"going on with at most {limit.units} units at once"
    )
    caplog.clear()
    accumulate_gradients(*make_problem(lengths)[:3], torch.Generator().manual_seed(3), limit=limit)
    assert not caplog.records  # nothing is tried in vain again


@pytest.mark.parametrize("most_units", [10**9, 155])
@pytest.mark.parametrize("state", [False, True])
def test_intents_without_symbols_change_neither_bits_nor_gradients(monkeypatch, most_units, state):
    """A GPU gets a multiple of 8 of them, with the dropout of as many as there are; also where memory runs out."""
    limit_memory(monkeypatch, most_units)
    results = []
    for padding in (0, 3):
        network, batch, recipe, begin = make_problem(state=state)
        inputs, targets = (F.pad(each, (0, padding), value=19) for each in batch[:2])
        batch = Batch(inputs, targets, F.pad(batch.lengths, (0, padding)), None, padding=padding)
        batch = batch._replace(rows=batch.real.flatten().nonzero()[:, 0])
        begin = begin and [tuple(F.pad(each, (0, 0, 0, padding)) for each in layer) for layer in begin]
        loss = accumulate_gradients(network, batch, recipe, torch.Generator().manual_seed(3), begin)
        results.append([loss.nats, *(x[:, :5] for layer in loss.state for x in layer)])
        results[-1] += [weights.grad for weights in network.parameters()]
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=ROUNDING, atol=ROUNDING)


def test_float16_is_for_gpus():
    recipe = replace(RECIPES["char-tiny"], half="float16")
    refused(
        ConfigError,
        "char-tiny.*float16 is for CUDA",
        train_language_model,
        TEXTS,
        TEXTS[:9],
        recipe=recipe,
        device="cpu",
    )


def test_memory_that_does_not_suffice_for_one_intent_is_an_error(monkeypatch):
    limit_memory(monkeypatch, 10)
    with pytest.raises(torch.OutOfMemoryError):
        accumulate_gradients(*make_problem()[:3], torch.Generator().manual_seed(3))

"""In which precision gradients are computed."""

import os
import platform
import subprocess
import sys
from dataclasses import replace

import pytest

from langdiff.lm import RECIPES, train_language_model
from langdiff.lm._gradients import _has_bf16

TEXTS = ["the cat sat on the mat", "the dog lay on the log", "a cat and a dog sat"] * 60
TRAIN = """
from tests.lm.test_gradients import dev_bits, _has_bf16
print(_has_bf16("cpu"), *(dev_bits(bf16) for bf16 in (True, False)))
"""


def dev_bits(bf16):
    recipe = replace(RECIPES["char-tiny"], bf16=bf16, epochs=1, embedding_size=64, batch_units=512)
    return train_language_model(TEXTS, TEXTS[:9], recipe=recipe, device="cpu", progress=False).dev_bits_per_character


def test_a_recipe_trains_in_bfloat16_where_the_processor_computes_in_it():
    assert (dev_bits(True) != dev_bits(False)) == _has_bf16("cpu")


@pytest.mark.parametrize("limit", ["AVX2", "AVX512_CORE"])  # a step in bfloat16 raises, and is emulated
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

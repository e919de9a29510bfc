"""Training and scoring on a pretend GPU: the bits of the CPU, and no step that a GPU would have to wait in."""

import json
import os
import shutil
import subprocess
import sys

import pytest
import torch

from benchmarks.gpu_steps import persists
from langdiff.lm import RECIPES
from tests.lm.pretend_gpu.device import compile_guard

ROUNDING = 1e-4  # bits per text: sums in another order, nothing more
HALF = 0.3  # bits per text of about forty, after steps whose products have factors of 8 bits
# bfloat16, and a stream with penalties and averaged weights; n-grams and attention are slow tests
QUICK = ("bpe-small", "bpe-awd")
EVERY = (*RECIPES, "char-residual, transformer", "bpe-awd, float16")

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux" or shutil.which("g++") is None, reason="needs g++ on Linux"),
    pytest.mark.skipif(torch.version.cuda is not None, reason="PyTorch with CUDA: a device beside a real one"),
]


@pytest.fixture(scope="module")
def guard(tmp_path_factory):
    return compile_guard(tmp_path_factory.mktemp("pretend_gpu"))


def measure(guard, names):
    """Return what was found of recipes by a process that has the pretend device."""
    command = [sys.executable, "-m", "tests.lm.pretend_gpu.runs", *names]
    environment = os.environ | {"LD_PRELOAD": str(guard), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {found.pop("recipe"): found for found in map(json.loads, done.stdout.splitlines())}


def check(name, found):
    assert "error" not in found, f"{name}: {found['error']}"
    assert found["on device"], name
    assert (found["waits"], found["copies"]) == ({}, {}), name
    # bfloat16 leaves few products in single precision
    assert set(found["products in training"]) <= {"tf32"}, name
    assert found["products in training"] or found["half"], name
    assert found["products in scoring"] == ["ieee"], name
    same = ("bits", "refused", "read", "on CPU", "symbols", "halved", "mixture", "carried")
    assert {key: found[key] for key in same if found.get(key, 0) > ROUNDING} == {}, name
    assert found["resumed"] == 0, name
    assert found["steps"] >= 4, name
    if found["half"]:
        assert ROUNDING / 10 < found["bits in half precision"] < HALF, name  # 1e-6 and below in single precision


def test_recipes_have_the_bits_of_the_cpu_and_wait_for_nothing(guard):
    found = measure(guard, QUICK)
    # the counts can fail: waits and copies of one operation of each kind
    assert found.pop("none") == {
        "a number": [1, 0],
        "a condition": [1, 0],
        "an array": [1, 0],
        "an indicator": [1, 0],
        "an assignment by an indicator": [1, 0],
        "places": [1, 0],
        "a copy": [0, 1],
        "a copy that waits": [0, 1],
        "two devices": "two devices",
        "two devices in a layer": "two devices",
        "none": [0, 0],
        "an asynchronous copy": [0, 0],
    }
    assert sorted(found) == sorted(QUICK)
    for name, each in found.items():
        check(name, each)
        assert ("carried" in each) == (name == "bpe-awd")


@pytest.mark.parametrize(
    ("dtype", "intents", "n_in", "n_out", "expected"),
    [
        ("float16", 64, 256, 1024, True),
        ("bfloat16", 64, 256, 1024, False),
        ("float16", 60, 256, 1024, False),
        ("float16", 136, 256, 1024, False),
        ("float16", 64, 200, 1024, False),
        ("float16", 64, 256, 1000, False),
        ("float16", 64, 256, 1152, False),
    ],
)
def test_the_persistent_kernel_follows_from_precision_and_sizes(dtype, intents, n_in, n_out, expected):
    assert persists(dtype, intents, n_in, n_out) == expected


@pytest.mark.slow
def test_all_recipes(guard):
    found = measure(guard, [name for name in EVERY if name not in QUICK])
    assert sorted({*found, *QUICK} - {"none"}) == sorted(EVERY)
    for name, each in found.items():
        if name != "none":
            check(name, each)

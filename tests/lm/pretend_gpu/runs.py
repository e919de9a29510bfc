"""Small versions of the recipes on the CPU and on a pretend GPU: bits, and the synchronizations and copies of a step.

    LD_PRELOAD=GUARD python -m tests.lm.pretend_gpu.runs [RECIPE ...]

prints one line of JSON per recipe; GUARD is the library that `device.compile_guard` has made, which has to be there
before PyTorch looks for devices.
"""

import json
import sys
import tempfile
import traceback
import warnings
from contextlib import suppress
from dataclasses import replace
from unittest import mock

import numpy as np
import torch

import langdiff as ld
from langdiff.errors import LangdiffWarning
from langdiff.lm import RECIPES, Scoring, fit_mixture, train_kneser_ney, train_language_model
from langdiff.lm.lstm import gradients, training
from langdiff.lm.lstm.loop import EpochLoop
from langdiff.lm.lstm.network import AWDLSTM
from langdiff.lm.lstm.recipe import Recipe
from tests.lm.conftest import verses
from tests.lm.pretend_gpu.device import OnDevice, Pretend

TRAIN, DEV, TEST = (verses("eng", n, seed) for seed, n in enumerate((60, 12, 9)))
GPU = "cuda"


class InterruptedTrainingError(Exception):
    """What ends a training between two epochs."""


def small(recipe: Recipe, **settings) -> Recipe:
    """Return a recipe of two or a few epochs, narrow, with its kinds of layers, dropout, optimizer and precision."""
    few = 5 if recipe.non_monotone else 2  # so many that the weights are averaged
    narrow = {"embedding_size": 16, "hidden_size": 24, "epochs": few, "decay_epochs": (), "min_count": None}
    narrow |= {"batch_units": 16 * 40, "bptt": 40} if recipe.bptt else {"batch_units": 600}
    if recipe.non_monotone:
        narrow["non_monotone"] = 1
    return replace(recipe, **narrow | settings)


BLOCKS = replace(RECIPES["char-residual"], name="char-residual, transformer", architecture="transformer", heads=2)
FLOAT16 = replace(RECIPES["bpe-awd"], name="bpe-awd, float16", half="float16")
ALL = [*RECIPES.values(), BLOCKS, FLOAT16]


class _Steps:
    """What happened on the device in steps of training, without what ends an epoch."""

    def __init__(self, pretend):
        self.pretend, self.steps = pretend, 0
        self.total = [type(count)() for count in pretend.counts()]

    def __enter__(self):
        steps, improve = EpochLoop._steps, EpochLoop._improve

        def begun(loop):
            self._before = self.pretend.counts()
            yield from steps(loop)

        def improved(loop):
            improve(loop)
            self.steps += 1
            after = self.pretend.counts()
            for total, now, before in zip(self.total, after, self._before, strict=True):
                total.update(now - before)
            self._before = after

        self._patch = mock.patch.multiple(EpochLoop, _steps=begun, _improve=improved)
        self._patch.__enter__()
        return self

    def __exit__(self, *error):
        self._patch.__exit__(*error)

    def per_step(self):
        """Return kernels, and the lines of synchronizations and copies with their numbers."""
        operators, waits, copies, products = self.total
        lines = [{f"{event.line} {event.kind}": n / self.steps for event, n in x.items()} for x in (waits, copies)]
        counts = {"operators": sum(operators.values()) / self.steps, "waits": lines[0], "copies": lines[1]}
        return counts | {"products in training": sorted(products)}


def train(recipe, device, **options):
    return train_language_model(TRAIN, DEV, recipe=recipe, seed=1, device=device, progress=False, **options)


def bits(model, scoring=None):
    return model.surprisal(TEST, scoring=scoring)["bits"].to_numpy()


def farthest(found, expected):
    return float(np.abs(np.asarray(found) - np.asarray(expected)).max())


def compare(pretend, recipe):
    """Train a recipe on both devices, and in every way on the pretend one; return differences and counts."""
    single = replace(recipe, half=None)
    expected_model = train(single, "cpu")
    expected = bits(expected_model)
    steps = _Steps(pretend)
    with pretend, tempfile.TemporaryDirectory() as folder:
        with steps:
            model = train(recipe, GPU, directory=folder)
        found = {"recipe": recipe.name, "half": recipe.half, "steps": steps.steps, **steps.per_step()}
        found["on device"] = all(isinstance(weights, OnDevice) for weights in model.network.parameters())
        before = pretend.counts()
        own = bits(model)
        found["scoring waits"] = sum((pretend.waits - before[1]).values())
        found["products in scoring"] = sorted(pretend.products - before[3])
        found["bits in half precision" if recipe.half else "bits"] = farthest(own, expected)
        in_single = train(single, GPU) if recipe.half else model
        if recipe.half:
            found["bits"] = farthest(bits(in_single), expected)
            anyway = own if recipe.half == "float16" else expected
            found["refused"] = farthest(bits(refused(pretend, recipe)), anyway)
        found["read"] = farthest(bits(ld.read(folder, device=GPU)), own)
        found["on CPU"] = farthest(bits(ld.read(folder, device="cpu")), own)
        symbols = model.symbol_bits(TEST)
        found["symbols"] = farthest([each.sum() for each in symbols], own)
        found["resumed"] = farthest(bits(resumed(recipe)), own)
        found["halved"] = farthest(bits(halved(pretend, single)), expected)
        found["mixture"] = farthest(*mixed(single, expected_model, in_single))
        if recipe.context == "stream":
            carried = [bits(each, Scoring(carried=True)) for each in (expected_model, in_single)]
            found["carried"] = farthest(*carried)
    return found


def traps(pretend):
    """Return what is counted of one operation of each kind that a GPU waits for, and of some for which it does not."""
    with pretend:
        x = torch.ones(3).pin_memory().to(GPU, non_blocking=True)
        layer = AWDLSTM(3, embedding_size=2, hidden_size=2, layers=1)
        tried = {
            "a number": lambda: float(x.sum()),
            "a condition": lambda: bool((x > 0).any()),
            "an array": lambda: x.cpu(),
            "an indicator": lambda: x[x > 0],
            "an assignment by an indicator": lambda: x.__setitem__(x > 0, 1.0),
            "places": lambda: x.nonzero(),
            "a copy": lambda: torch.ones(3).to(GPU),
            "a copy that waits": lambda: torch.ones(3).pin_memory().to(GPU),
            "two devices": lambda: x + torch.ones(3),
            "two devices in a layer": lambda: layer(torch.zeros(2, 2, dtype=torch.int64).to(GPU)),
            "none": lambda: (x * 2.0 + torch.ones(())).sum(),
            "an asynchronous copy": lambda: torch.ones(3).pin_memory().to(GPU, non_blocking=True),
        }
        found = {}
        for name, try_it in tried.items():
            before = pretend.counts()
            try:
                try_it()
            except RuntimeError as error:
                found[name] = "two devices" if "two devices" in str(error) else str(error)
            else:
                waits, copies = (now - then for now, then in zip(pretend.counts()[1:3], before[1:3], strict=True))
                found[name] = [sum(waits.values()), sum(copies.values())]
    return found


def refused(pretend, recipe):
    """Return a model trained on a device that does not compute in bfloat16."""
    pretend.refuses_bf16 = True
    gradients.has_bf16.cache_clear()
    try:
        return train(recipe, GPU)
    finally:
        pretend.refuses_bf16 = False
        gradients.has_bf16.cache_clear()


def resumed(recipe):
    """Return a model whose training was interrupted after its first epoch."""
    run, done = EpochLoop.run_epoch, []

    def counted(loop):
        if len(done) == 1:
            done.append(None)
            raise InterruptedTrainingError
        done.append(len(loop.history))
        return run(loop)

    every_epoch, counting = (
        mock.patch.object(training, "SECONDS", 0.0),
        mock.patch.object(EpochLoop, "run_epoch", counted),
    )
    with tempfile.TemporaryDirectory() as folder, every_epoch, counting:
        with suppress(InterruptedTrainingError):
            train(recipe, GPU, directory=folder)
        model = train(recipe, GPU, directory=folder)
    assert done[:3] == [0, None, 1], "training did not go on where it was interrupted"
    return model


def halved(pretend, recipe):
    """Return a model whose batches do not fit the memory of the device."""
    limits = []
    once = gradients.accumulate_gradients

    def watched(*args, limit, **options):
        limits.append(limit)
        return once(*args, limit=limit, **options)

    pretend.memory_units = 250
    try:
        with mock.patch("langdiff.lm.lstm.loop.accumulate_gradients", watched):
            model = train(recipe, GPU)
    finally:
        pretend.memory_units = None
    assert limits[-1].units is not None, "the memory was not too small"
    return model


def mixed(recipe, on_cpu, on_gpu):
    """Return bits of mixtures with n-grams, of a network on the CPU and of one on the device."""
    others = [train_kneser_ney(TRAIN, DEV, recipe="kneser-ney-1")] if recipe.units == "char" else []
    if others and others[0].alphabet != on_cpu.alphabet:
        others = []
    return [bits(fit_mixture([model, *(others or [model])], DEV)) for model in (on_cpu, on_gpu)]


def main(*names):
    warnings.simplefilter("ignore", LangdiffWarning)
    pretend = Pretend()
    sys.stdout.write(json.dumps({"recipe": "none", **traps(pretend)}) + "\n")
    for recipe in ALL:
        if not names or recipe.name in names:
            try:
                found = compare(pretend, small(recipe))
            except Exception as error:  # one recipe must not hide the others
                found = {"recipe": recipe.name, "error": "".join(traceback.format_exception(error)[-6:])}
            sys.stdout.write(json.dumps(found) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Training that is killed goes on from its last finished epoch, to the last bit."""

import itertools
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from pandas.testing import assert_frame_equal

import langdiff as ld
from langdiff.base.io import LOCK
from langdiff.lm import RECIPES, compute_surprisals, train_language_model
from langdiff.lm.checkpoint import remove_states
from langdiff.lm.jobs import job
from langdiff.lm.lstm import loop, training
from langdiff.lm.lstm.resume import StateFolder, TrainingState, training_key
from tests.lm.conftest import make_parts, read_job_states, verses

KILLS = 20  # and more
STARTED = 150  # seconds until Python and torch have started and trained a little, on a machine with much else to do


@pytest.fixture(autouse=True)
def _states_after_every_epoch(monkeypatch):
    monkeypatch.setattr(training, "SECONDS", 0.0)


class Killed(BaseException):
    """Stands for a signal: nothing may catch it, nothing may be tidied up for it."""


@pytest.fixture(scope="module")
def recipes(tiny_recipe):
    """Recipes whose states differ: AdamW by intents, Adam by streams, NT-ASGD that has begun to average."""
    base = replace(tiny_recipe, epochs=24, patience=24)
    stream = replace(base, context="stream", bptt=20, batch_units=200, schedule="steps", decay_epochs=(3, 18))
    return {
        "adamw": base,
        "bpe": replace(base, units="bpe"),
        "adam": replace(stream, optimizer="adam"),
        "nt-asgd": replace(stream, optimizer="sgd", learning_rate=8.0, gradient_clip=0.5, non_monotone=1),
        "by heart": replace(base, learning_rate=0.05, hidden_size=64, embedding_size=48),
    }


def train(recipe, **options):
    dev = [" ".join(reversed(text.split())) for text in verses("eng", 20, 1)] + verses("eng", 10, 1)
    return train_language_model(verses("eng", 100, 0), dev, recipe=recipe, progress=False, seed=3, **options)


def weights_of(model):
    return torch.cat([p.flatten() for p in model.network.parameters()])


def progress_of(model):
    return [(epoch.epoch, epoch.train_bits_per_unit, epoch.dev_bits_per_character) for epoch in model.history]


class Reaper:
    """Kills after a random number of chances: before and after each step, and each file that is renamed or removed."""

    def __init__(self, monkeypatch, most, seed=0):
        self.rng = np.random.default_rng(seed)
        self.most = most
        self.kills = 0
        self.left = int(self.rng.integers(1, most))
        for where, name in ((loop, "accumulate_gradients"), (Path, "replace"), (Path, "unlink")):
            self.watch(monkeypatch, where, name)

    def watch(self, monkeypatch, where, name):
        function = getattr(where, name)

        def watched(*args, **options):
            if isinstance(args[0], Path) and args[0].name == LOCK:  # the system releases locks of killed processes
                return function(*args, **options)
            self.chance()
            result = function(*args, **options)
            self.chance()
            return result

        monkeypatch.setattr(where, name, watched)

    def chance(self):
        self.left -= 1
        if self.left == 0:
            self.kills += 1
            self.left = int(self.rng.integers(1, self.most))
            raise Killed

    def call(self, function, folder):
        """Call until it is not killed; return what it returns, and the epochs that were kept when it was killed."""
        kept = []
        while True:
            try:
                return function(), kept
            except Killed:
                kept.append(max((path.name for path in folder.rglob("training-*")), default="training-000000")[9:15])


def same_surprisals(a, b):
    for field in ("bits", "eos_bits", "characters"):
        assert_frame_equal(getattr(a, field), getattr(b, field), check_exact=True)


@pytest.mark.parametrize(
    "name", ["adamw", *(pytest.param(name, marks=pytest.mark.slow) for name in ("bpe", "adam", "nt-asgd", "by heart"))]
)
def test_killed_again_and_again_the_model_is_the_same_to_the_last_bit(recipes, name, tmp_path, monkeypatch):
    recipe = recipes[name]
    expected = train(recipe)
    reaper = Reaper(monkeypatch, most=55 if recipe.context == "intent" else 90)
    log = tmp_path / "log.jsonl"
    model, kept = reaper.call(lambda: train(recipe, directory=tmp_path, log_path=log), tmp_path)
    assert reaper.kills >= KILLS
    assert len(set(kept)) > recipe.epochs / 3  # killed early and late
    assert torch.equal(weights_of(model), weights_of(expected))
    assert progress_of(model) == progress_of(expected)
    loaded = ld.read(tmp_path)
    assert torch.equal(weights_of(loaded), weights_of(expected))
    assert loaded.history == model.history
    assert len(log.read_text().splitlines()) == recipe.epochs
    assert not list(tmp_path.glob("training-*"))
    bits = [epoch.dev_bits_per_character for epoch in model.history]
    if name == "nt-asgd":  # it was averaging during half of the kills
        switch = next(i for i in range(2, len(bits)) if bits[i] > min(bits[: i - 1]))
        assert switch < recipe.epochs / 2
    if name == "by heart":  # the best weights were on disk only, during most of the kills
        assert int(np.argmin(bits)) < recipe.epochs / 2


def test_killed_again_and_again_the_surprisals_are_the_same_to_the_last_bit(recipes, tmp_path, monkeypatch):
    parts = make_parts()
    options = {"lm": replace(recipes["adamw"], epochs=14), "progress": False, "seed": 0}
    expected = compute_surprisals(parts, **options)
    reaper = Reaper(monkeypatch, most=110, seed=1)
    surprisals, kept = reaper.call(lambda: compute_surprisals(parts, cache=tmp_path, **options), tmp_path)
    assert reaper.kills >= KILLS
    assert len(set(kept)) > 5
    same_surprisals(surprisals, expected)
    assert set(read_job_states(tmp_path)["state"]) == {"done"}
    assert not [*tmp_path.rglob("training-*"), *tmp_path.rglob("*.part")]


def test_no_epoch_is_trained_twice(recipes, tmp_path, monkeypatch):
    run_epoch, trained = loop.EpochLoop.run_epoch, []

    def counted(self):
        if len(trained) in (2, 5) and trained[-1] != "killed":
            trained.append("killed")
            raise Killed
        epoch = run_epoch(self)
        trained.append(epoch.epoch)
        return epoch

    monkeypatch.setattr(loop.EpochLoop, "run_epoch", counted)
    recipe = replace(recipes["adamw"], epochs=8)
    for _ in range(2):
        with pytest.raises(Killed):
            train(recipe, directory=tmp_path)
    assert len(train(recipe, directory=tmp_path).history) == 8
    assert trained == [1, 2, "killed", 3, 4, "killed", 5, 6, 7, 8]


def test_a_job_goes_on_where_it_stopped(recipes, tmp_path, monkeypatch):
    run_epoch, write_result, trained = loop.EpochLoop.run_epoch, job.write_table, []

    def killed_once(*args):
        monkeypatch.setattr(job, "write_table", write_result)
        raise Killed

    def counted(self):
        epoch = run_epoch(self)
        trained.append(epoch.epoch)
        if len(trained) == 3:
            raise Killed  # before the third is kept
        return epoch

    monkeypatch.setattr(loop.EpochLoop, "run_epoch", counted)
    monkeypatch.setattr(job, "write_table", killed_once)
    options = {"lm": replace(recipes["adamw"], epochs=5), "cache": tmp_path, "progress": False, "seed": 0}
    for _ in range(2):
        with pytest.raises(Killed):
            compute_surprisals(make_parts(languages=["eng"]), **options)
    compute_surprisals(make_parts(languages=["eng"]), **options)
    assert trained == [1, 2, 3, 3, 4, 5]


def interrupt_after(epochs, monkeypatch, recipe, directory, **options):
    """Train until some epochs are finished and kept."""
    write = StateFolder.write

    def written(self, state):
        write(self, state)
        if state.epoch == epochs:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(StateFolder, "write", written)
        with pytest.raises(Killed):
            train(recipe, directory=directory, **options)


def test_states_are_written_once_a_minute_and_at_the_end_by_a_thread(recipes, tmp_path, monkeypatch):
    clock, written, write = itertools.count(0, 25), [], StateFolder.write

    def watched(folder, state):
        assert threading.current_thread() is not threading.main_thread()
        write(folder, state)
        written.append((state.epoch, ld.read(tmp_path).dev_bits_per_character))

    monkeypatch.setattr(StateFolder, "write", watched)
    monkeypatch.setattr(training, "SECONDS", 60.0)
    monkeypatch.setattr(training.time, "monotonic", lambda: next(clock))  # seconds of an epoch
    model = train(replace(recipes["adamw"], epochs=8), directory=tmp_path)
    bits = [epoch.dev_bits_per_character for epoch in model.history]
    assert written == [(epoch, min(bits[:epoch])) for epoch in (3, 6, 8)]


def truncated(blob):
    return blob[: len(blob) // 2]


def flipped(blob):
    middle = len(blob) // 2
    return blob[:middle] + bytes([blob[middle] ^ 1]) + blob[middle + 1 :]


@pytest.mark.parametrize("damage", [truncated, flipped, lambda blob: b"", lambda blob: b"\xff" * 20])
@pytest.mark.parametrize("how_many", [1, 2])
def test_a_damaged_state_is_passed_over(recipes, tmp_path, monkeypatch, caplog, damage, how_many):
    recipe = replace(recipes["adamw"], epochs=4)
    interrupt_after(3, monkeypatch, recipe, tmp_path)
    states = sorted(tmp_path.glob("training-*"))
    assert [path.name[:15] for path in states] == ["training-000002", "training-000003"]
    for path in states[-how_many:]:
        path.write_bytes(damage(path.read_bytes()))
    with caplog.at_level(logging.INFO, logger="langdiff.lm"):
        model = train(recipe, directory=tmp_path, name="eng")
    assert f"{states[-1]}: not a whole training state (damaged or truncated" in caplog.text
    if how_many == 1:
        assert "eng: going on after epoch 2" in caplog.text
    else:
        assert "no training state is whole; training from the beginning" in caplog.text
    assert torch.equal(weights_of(model), weights_of(train(recipe)))
    assert not list(tmp_path.glob("training-*"))


@pytest.mark.parametrize("change", ["recipe", "text", "seed"])
def test_a_state_of_another_training_is_not_gone_on_from(recipes, tmp_path, monkeypatch, caplog, change):
    recipe = replace(recipes["adamw"], epochs=3)
    options = {"recipe": recipe, "seed": 3, "progress": False}
    texts = verses("eng", 100, 0)
    if change == "recipe":
        options["recipe"] = replace(recipe, learning_rate=5e-3)
    elif change == "text":
        texts = [*texts[1:], texts[0]]
    else:
        options["seed"] = 4
    dev = verses("eng", 20, 1)
    interrupt_after(2, monkeypatch, recipe, tmp_path)
    with caplog.at_level(logging.INFO, logger="langdiff.lm"):
        model = train_language_model(texts, dev, directory=tmp_path, **options)
    assert "of other texts, or another recipe, seed, device or format; training anew" in caplog.text
    assert torch.equal(weights_of(model), weights_of(train_language_model(texts, dev, **options)))


def test_a_finished_training_begins_anew(recipes, tmp_path):
    recipe = replace(recipes["adamw"], epochs=2)
    first, second = (train(recipe, directory=tmp_path) for _ in range(2))
    assert first.history != second.history  # it took another time
    assert progress_of(first) == progress_of(second)


def test_the_log_has_every_epoch_once(recipes, tmp_path, monkeypatch):
    recipe, log = replace(recipes["adamw"], epochs=4), tmp_path / "log.jsonl"
    interrupt_after(2, monkeypatch, recipe, tmp_path, log_path=log)
    log.write_text(log.read_text() + '{"epoch": 3, "train_bi')  # what a kill can leave
    model = train(recipe, directory=tmp_path, log_path=log)
    assert [json.loads(line)["epoch"] for line in log.read_text().splitlines()] == [1, 2, 3, 4]
    assert [json.loads(line)["seconds"] for line in log.read_text().splitlines()] == [e.seconds for e in model.history]


def test_only_the_states_of_training_are_removed(tmp_path):
    for name in ("training-notes.txt", "model.json", "weights-0123.safetensors"):
        (tmp_path / name).write_text("mine")
    folder = StateFolder(tmp_path, "key")
    for epoch in (1, 2, 3):
        folder.write(TrainingState(epoch=epoch, settings={"a": [epoch, 2**100]}, tensors={"w": torch.ones(epoch)}))
    assert len(list(tmp_path.glob("training-*.safetensors"))) == 2
    state = StateFolder(tmp_path, "key").read()
    assert (state.epoch, state.settings, state.tensors["w"].tolist()) == (3, {"a": [3, 2**100]}, [1, 1, 1])
    remove_states(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "model.json", "training-notes.txt", "weights-0123.safetensors",
    ]  # fmt: skip


def test_units_and_their_borders_are_in_the_key(tiny_recipe):
    def key(train):
        arrays = [np.array(ids) for ids in train]
        return training_key(tiny_recipe, seed=0, device=torch.device("cpu"), train=arrays, dev=arrays[:1])

    texts = ([[1, 2], [3]], [[1], [2, 3]], [[1, 2], [4]], [[1, 2], [3], [3]])
    assert len({key(train) for train in texts}) == len(texts)


RECIPE = replace(RECIPES["char-tiny"], epochs=80, patience=80, hidden_size=24, embedding_size=16)
SCRIPT = """
import sys
sys.path.insert(0, {folder!r})
import conftest
import langdiff as ld
from langdiff.lm import Recipe
from langdiff.lm.lstm import training

training.SECONDS = 0.0
parts, recipe = conftest.make_parts(), Recipe(**{recipe!r})
ld.compute_surprisals(parts, lm=recipe, seed=0, cache="cache", progress=False).save("killed.csv")
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
@pytest.mark.timeout(4 * STARTED)  # three times Python and torch start
def test_killed_by_the_system_the_surprisals_are_the_same_to_the_last_bit(tmp_path):
    script, cache = tmp_path / "script.py", tmp_path / "cache"
    script.write_text(SCRIPT.format(folder=str(Path(__file__).parents[1]), recipe=asdict(RECIPE)))

    @contextmanager
    def start():
        options = {"cwd": tmp_path, "env": os.environ | {"OMP_NUM_THREADS": "1"}}
        process = subprocess.Popen([sys.executable, script], **options)
        try:
            yield process
        finally:  # a failure below must not wait until it has trained
            process.kill()
            process.wait()

    for edition, wait in (("eng", 0.13), ("ell", 0.07)):
        with start() as process:
            deadline = time.monotonic() + STARTED
            while len(list(cache.glob(f"{edition}/*/*/model/training-*.safetensors"))) < 2:
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.01)
            time.sleep(wait)
            process.send_signal(signal.SIGKILL)
    assert read_job_states(cache).set_index("edition")["state"].to_dict() == {"eng": "done", "ell": "unfinished"}
    with start() as process:
        assert process.wait(STARTED) == 0
    compute_surprisals(make_parts(), lm=RECIPE, progress=False, seed=0).save(tmp_path / "whole.csv")
    assert (tmp_path / "killed.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()

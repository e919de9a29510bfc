"""Editions trained as one program get the surprisals that they get alone."""

import gc
import inspect
import subprocess
import sys
import weakref
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from pandas.testing import assert_frame_equal

from langdiff.errors import ConfigError, OutputError, TrainingError
from langdiff.lm import RECIPES, compute_surprisals
from langdiff.lm.grouped import gradients
from langdiff.lm.grouped.gradients import GroupedGradients
from langdiff.lm.grouped.lstm import run_layer
from langdiff.lm.grouped.training import choose, run_epochs
from langdiff.lm.lstm import loop
from langdiff.lm.lstm.batches import pad
from langdiff.lm.lstm.gradients import accumulate_gradients
from langdiff.lm.lstm.loop import Demand, EncodedPart, EpochLoop, Randomness
from langdiff.lm.lstm.model import Epoch
from langdiff.lm.lstm.network import AWDLSTM
from langdiff.lm.lstm.scoring import score
from tests.lm.conftest import make_parts

ROUNDING = 1e-12  # double precision: the same sums in another order
A_FEW_EPOCHS = 1e-9  # bits per intent, in double precision
PROMISED = 1e-3  # bits per intent, in single precision
KILLS = 10  # and more

SIZES = {"embedding_size": 6, "hidden_size": 10, "layers": 2}
DROPOUT = {
    "dropout_embedding": 0.1,
    "dropout_input": 0.1,
    "dropout_hidden": 0.2,
    "dropout_output": 0.1,
    "weight_drop": 0.3,
}
PENALTIES = {"activation_penalty": 2.0, "change_penalty": 1.0}
INTENT = replace(RECIPES["char-tiny"], name="intent", **SIZES, **DROPOUT, epochs=3, batch_units=128, min_count=2)
STREAM = replace(INTENT, name="stream", context="stream", bptt=12, batch_units=48, schedule="steps", decay_epochs=(2,))
NT_ASGD = replace(STREAM, optimizer="sgd", learning_rate=5.0, gradient_clip=0.5, non_monotone=1, epochs=5, **PENALTIES)
WHOLE = replace(INTENT, batch_units=512)  # for whole runs: fewer steps
VOCABULARIES = (9, 23, 5, 12)


def make_network(symbols, generator=None):
    return AWDLSTM(symbols, **SIZES, **DROPOUT, generator=generator or torch.Generator().manual_seed(symbols)).double()


def draw(symbols, n, longest, seed=0):
    rng = np.random.default_rng([symbols, seed])
    return [rng.integers(0, symbols - 1, rng.integers(1, longest)) for _ in range(n)]


def make_trainer(symbols, recipe):
    randomness = Randomness.from_seed(1, torch.device("cpu"))
    parts = [draw(symbols, n, 25, seed) for n, seed in ((20 + 2 * symbols, 1), (8, 2))]
    train, dev = (EncodedPart(part, sum(map(len, part))) for part in parts)
    return EpochLoop(
        network=make_network(symbols, randomness.initial),
        recipe=recipe,
        train=train,
        dev=dev,
        randomness=randomness,
        report=lambda epochs, last: None,
    )


def make_trainers(recipe):
    return [make_trainer(symbols, recipe) for symbols in VOCABULARIES]


def make_demands(recipe, states=False):
    """Batches of different lengths and widths; a stream's are of one length."""
    demands = []
    for symbols, longest, width in zip(VOCABULARIES, (30, 9, 40, 2), (7, 20, 3, 1), strict=True):
        network = make_network(symbols).train()
        intents = draw(symbols, width, longest)
        state = None
        if states:
            intents = [np.arange(longest) % (symbols - 1)] * width
            layers = [lstm.size for lstm in network._layers()]
            at = torch.Generator().manual_seed(5)
            state = [tuple(torch.randn(1, width, h, generator=at).double() for _ in "hc") for h in layers]
        batch = pad(intents, symbols - 1, torch.device("cpu"))
        demands.append(Demand(network, batch, recipe, torch.Generator().manual_seed(3), state, 0.0))
    return demands


def assert_same_gradients(recipe, states, size, engine=None):
    alone, together = make_demands(recipe, states), make_demands(recipe, states)
    engine = engine or GroupedGradients([demand.network for demand in together], recipe, size)
    for demand, loss in zip(together, engine.accumulate(together), strict=True):
        one = next(other for other in alone if len(other.network.embedding) == len(demand.network.embedding))
        expected = accumulate_gradients(*one[:-1])
        assert float(loss.nats) == pytest.approx(float(expected.nats), rel=ROUNDING)
        for (name, mine), theirs in zip(demand.network.named_parameters(), one.network.parameters(), strict=True):
            assert_allclose(mine.grad, theirs.grad, rtol=ROUNDING, atol=ROUNDING, err_msg=name)
        if states:
            for mine, theirs in zip(loss.state, expected.state, strict=True):
                for got, want in zip(mine, theirs, strict=True):
                    assert_allclose(got, want, rtol=ROUNDING, atol=ROUNDING)
        assert torch.equal(demand.generator.get_state(), one.generator.get_state())
    return engine


@pytest.mark.parametrize("recipe", [INTENT, replace(INTENT, **PENALTIES), replace(INTENT, weight_drop=0.0)])
@pytest.mark.parametrize("states", [False, True])
def test_gradients_are_those_of_each_network_alone(recipe, states):
    assert_same_gradients(recipe, states, size=len(VOCABULARIES))


def dev_bits(trainer):
    with trainer.scored_weights():
        return score(trainer.network.eval(), trainer.dev.intents)[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("recipe", "size"),
    [(INTENT, 3), *(pytest.param(*case, marks=pytest.mark.slow) for case in ((INTENT, 1), (STREAM, 2), (NT_ASGD, 4)))],
)
def test_epochs_are_those_of_each_network_alone(recipe, size):
    alone, together = make_trainers(recipe), make_trainers(recipe)
    engine = GroupedGradients([trainer.network for trainer in together], recipe, size)
    for _ in range(recipe.epochs):
        expected = [trainer.run_epoch() for trainer in alone]
        for mine, theirs in zip(run_epochs(together, engine), expected, strict=True):
            assert mine.train_bits_per_unit == pytest.approx(theirs.train_bits_per_unit, rel=A_FEW_EPOCHS)
        for mine, theirs in zip(together, alone, strict=True):
            assert_allclose(dev_bits(mine), dev_bits(theirs), atol=A_FEW_EPOCHS)
    if recipe is NT_ASGD:
        assert any(trainer._average is not None for trainer in together)  # averaging was tested


def test_a_neighbour_that_explodes_is_an_error_of_its_own():
    alone, together = make_trainers(INTENT), make_trainers(INTENT)
    with torch.no_grad():
        together[1].network.embedding.fill_(float("nan"))
    outcomes = run_epochs(together, GroupedGradients([trainer.network for trainer in together], INTENT, 3))
    assert isinstance(outcomes[1], TrainingError)
    assert "not a number any more in epoch 1" in str(outcomes[1])
    for number in (0, 2, 3):
        alone[number].run_epoch()
        assert_allclose(dev_bits(together[number]), dev_bits(alone[number]), atol=A_FEW_EPOCHS)


def test_an_edition_that_cannot_be_scored_is_an_error_of_its_own(monkeypatch):
    score = loop.score

    def scored(network, *args, **options):
        if len(network.embedding) == VOCABULARIES[1]:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return score(network, *args, **options)

    monkeypatch.setattr(loop, "score", scored)
    trainers = make_trainers(INTENT)
    outcomes = run_epochs(trainers, GroupedGradients([trainer.network for trainer in trainers], INTENT, 3))
    assert [type(outcome) for outcome in outcomes] == [Epoch, TrainingError, Epoch, Epoch]
    assert "OutOfMemoryError: CUDA out of memory." in str(outcomes[1])


def test_masks_of_weights_are_kept_once_for_all_shapes():
    demands = make_demands(INTENT)
    engine = GroupedGradients([demand.network for demand in demands], INTENT, 2)
    for together in (demands[:2], demands[2:], demands[:1]):
        engine.accumulate(together)
    assert len(engine._buffers) == 3
    masks = {batch.recurrent_masks[0].untyped_storage().data_ptr() for batch in engine._buffers.values()}
    assert len(masks) == 1


def test_what_a_group_used_is_freed_without_waiting_for_the_garbage_collector():
    demands = make_demands(INTENT)
    engine = GroupedGradients([demand.network for demand in demands], INTENT, 4)
    engine.accumulate(demands)
    gone = weakref.ref(engine)
    gc.disable()
    try:
        del engine
        assert gone() is None
    finally:
        gc.enable()


@given(
    lengths=st.lists(st.tuples(st.integers(1, 40), st.integers(0, 9)), min_size=1, max_size=12), most=st.integers(1, 5)
)
def test_who_takes_a_step(lengths, most):
    waiting = {
        number: SimpleNamespace(batch=SimpleNamespace(inputs=range(steps)), done=done / 10)
        for number, (steps, done) in enumerate(lengths)
    }
    chosen = choose(waiting, most)
    assert len(set(chosen)) == len(chosen) == min(most, len(waiting))
    assert waiting[chosen[0]].done == min(demand.done for demand in waiting.values())  # nobody waits for ever
    unlike = {n: abs(len(demand.batch.inputs) - len(waiting[chosen[0]].batch.inputs)) for n, demand in waiting.items()}
    left = set(waiting) - set(chosen)
    assert all(unlike[mine] <= unlike[other] for mine in chosen for other in left)


def compute(recipe, parts=None, **options):
    parts = parts or make_parts(("eng", "ell", "cmn"))
    return compute_surprisals(parts, lm=recipe, progress=False, **({"seed": 0} | options))


def test_if_memory_runs_out_the_error_says_so(monkeypatch):
    def too_large(*_, **__):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    monkeypatch.setattr(gradients, "compute_gradients", too_large)
    with pytest.raises(TrainingError, match=r"OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."):
        compute(INTENT, group=2)


def assert_close(a, b):
    for field in ("bits", "eos_bits", "characters"):
        assert_frame_equal(getattr(a, field), getattr(b, field), check_exact=False, rtol=0, atol=PROMISED)


@pytest.mark.parametrize("units", ["char", "bpe"])
def test_surprisals_are_those_of_editions_alone(units):
    recipe = replace(WHOLE, units=units)
    parts = make_parts(("eng", "ell", "cmn"), missing=[("ell", "test3")])
    assert_close(compute(recipe, parts, group=2), compute(recipe, parts))


@pytest.mark.slow
def test_neighbours_that_stop_early_change_nothing():
    recipe = replace(INTENT, epochs=12, patience=1, learning_rate=0.08)
    alone, together = make_trainers(recipe), make_trainers(recipe)
    for trainer in alone:
        while not trainer.finished:
            trainer.run_epoch()
    while going := [trainer for trainer in together if not trainer.finished]:
        run_epochs(going, GroupedGradients([trainer.network for trainer in going], recipe, 3))
    assert len({len(trainer.history) for trainer in alone}) > 1  # they did not end together
    for mine, theirs in zip(together, alone, strict=True):
        assert len(mine.history) == len(theirs.history)
        assert_allclose(dev_bits(mine), dev_bits(theirs), atol=A_FEW_EPOCHS)


@pytest.mark.slow
def test_a_cache_knows_in_which_group_an_edition_was_trained(tmp_path):
    together = compute(WHOLE, group=3, cache=tmp_path)
    log = tmp_path / "eng" / "intent" / "log.jsonl"
    assert len(log.read_text().splitlines()) == WHOLE.epochs
    stamp = log.stat().st_mtime_ns
    assert_frame_equal(compute(WHOLE, group=3, cache=tmp_path).bits, together.bits, check_exact=True)
    assert log.stat().st_mtime_ns == stamp
    alone = compute(WHOLE)
    assert_frame_equal(compute(WHOLE, cache=tmp_path).bits, alone.bits, check_exact=True)
    assert not alone.bits.equals(together.bits)  # which is why the cache must know


@pytest.mark.slow
def test_an_edition_that_fails_does_not_stop_the_others(tmp_path, monkeypatch):
    steps, failing = EpochLoop.epoch_by_demands, []

    def epoch_by_demands(self):
        if len(self.network.embedding) == max(failing, default=0) and len(self.history) == 1:
            raise TrainingError("the loss is not a number any more in epoch 2.")
        failing.append(len(self.network.embedding))
        return (yield from steps(self))

    expected = compute(WHOLE)
    monkeypatch.setattr(EpochLoop, "epoch_by_demands", epoch_by_demands)
    with pytest.raises(TrainingError, match=r"^edition '...': the loss is not a number any more in epoch 2"):
        compute(WHOLE, group=3, cache=tmp_path)
    monkeypatch.setattr(EpochLoop, "epoch_by_demands", steps)
    assert len(list(tmp_path.glob("*/*/surprisals.parquet"))) == 2
    assert_close(compute(WHOLE, group=3, cache=tmp_path), expected)


@pytest.mark.slow
def test_a_folder_in_use_keeps_out_its_edition_only(tmp_path):
    folder = tmp_path / "ell" / WHOLE.name
    folder.mkdir(parents=True)
    with FileLock(folder / ".lock"), pytest.raises(OutputError, match=r"^edition 'ell': .*another process is training"):
        compute(WHOLE, group=3, cache=tmp_path)
    done = {path.parts[-3] for path in tmp_path.glob("*/*/surprisals.parquet")}
    assert done == {"eng", "cmn"}
    compute(WHOLE, group=3, cache=tmp_path)  # nothing of ours is locked any more


class Killed(BaseException):
    """Stands for a signal."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "recipe",
    [
        replace(WHOLE, epochs=6, patience=2, learning_rate=0.08),
        pytest.param(replace(NT_ASGD, bptt=40, batch_units=320, epochs=6), marks=pytest.mark.slow),
    ],
)
def test_killed_again_and_again_the_surprisals_are_the_same_but_for_rounding(recipe, tmp_path, monkeypatch):
    expected = compute(recipe, group=2)
    rng = np.random.default_rng(0)
    left, kills = [int(rng.integers(1, 60))], [0]

    def watch(where, name):
        function = getattr(where, name)

        def watched(*args, **options):
            left[0] -= 1
            if left[0] == 0:
                left[0] = int(rng.integers(1, 60))
                kills[0] += 1
                raise Killed
            return function(*args, **options)

        monkeypatch.setattr(where, name, watched)

    for where, name in ((GroupedGradients, "accumulate"), (Path, "replace"), (Path, "unlink")):
        watch(where, name)
    surprisals = None
    while surprisals is None:
        try:
            surprisals = compute(recipe, group=2, cache=tmp_path)
        except Killed:
            continue
    assert kills[0] >= KILLS
    assert_close(surprisals, expected)
    assert not [*tmp_path.rglob("training-*"), *tmp_path.rglob("*.part")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"group": 0}, "group must be at least 1"),
        ({"group": 2, "workers": 2}, "leave workers and executor out"),
        ({"group": 2, "lm": "kneser-ney-3"}, "not an LSTM"),
    ],
)
def test_groups_that_cannot_be(options, message):
    with pytest.raises(ConfigError, match=message):
        compute_surprisals(make_parts(), progress=False, seed=0, **options)


def test_nothing_is_grouped_unless_asked_for():
    """Nor is anything of it imported, so that the folder can be deleted."""
    code = "import sys, langdiff.lm.compute; print([name for name in sys.modules if '.grouped' in name])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert inspect.signature(compute_surprisals).parameters["group"].default == 1


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # of torch's compiler about itself
def test_fused_kernels_compute_the_same():
    at = torch.Generator().manual_seed(0)
    shapes = [(2, 7, 3, 5), (2, 16, 5), (2, 16, 4), (2, 16)]
    given_ = [torch.randn(shape, generator=at, dtype=torch.float64) for shape in shapes]
    state = tuple(torch.randn(2, 3, 4, generator=at, dtype=torch.float64) for _ in "hc")
    results = []
    for fused in (False, True):
        leaves = [x.clone().requires_grad_() for x in given_]
        output, cells = run_layer(*leaves, state, fused=fused)
        results.append((output, cells, *torch.autograd.grad(output.square().sum(), leaves)))
    for one, other in zip(*results, strict=True):
        assert_allclose(one.detach(), other.detach(), rtol=ROUNDING, atol=ROUNDING)

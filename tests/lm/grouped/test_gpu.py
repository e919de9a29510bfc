"""What only a CUDA device can show of networks trained as one program."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from langdiff.lm import RECIPES, compute_surprisals
from langdiff.lm.grouped.gradients import GroupedGradients
from langdiff.lm.lstm.batches import pad
from langdiff.lm.lstm.gradients import accumulate_gradients
from langdiff.lm.lstm.loop import Demand
from langdiff.lm.lstm.network import AWDLSTM
from tests.lm.conftest import make_parts

IN_SINGLE_PRECISION = 1e-3  # bits per intent, promised for any device; TF32 would miss it

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
]


def test_grouped_surprisals_are_those_of_editions_alone():
    parts = make_parts(("eng", "ell", "cmn"))
    recipe = replace(RECIPES["char-tiny"], weight_drop=0.1, epochs=2, min_count=2)
    options = {"lm": recipe, "device": "cuda", "progress": False}
    alone = compute_surprisals(parts, **options)
    together = compute_surprisals(parts, group=3, **options)
    assert (alone.bits - together.bits).abs().max(axis=None) < IN_SINGLE_PRECISION


@pytest.mark.parametrize("fused", [False, True])
def test_gradients_of_a_captured_graph(fused):
    """The first run of a shape is as it is, the second is captured, the third a replay; on data of its own each."""
    recipe = replace(RECIPES["char-tiny"], activation_penalty=2.0, change_penalty=1.0)
    sizes = {"embedding_size": 32, "hidden_size": 48, "layers": 2, "dropout_output": 0.2, "weight_drop": 0.3}
    cuda, rng = torch.device("cuda"), np.random.default_rng(0)
    networks = [AWDLSTM(v, **sizes, generator=torch.Generator().manual_seed(v)).to(cuda).train() for v in (20, 33)]
    for step in range(8):
        if step % 4 == 0:  # the second time, graphs and memory of the first are gone
            engine = GroupedGradients(networks, recipe, 2)
            if fused and not engine._fused:
                pytest.skip("no Triton")
            engine._fused = fused
        demands = []
        for network in networks:
            batch = pad([rng.integers(0, 19, n) for n in (7, 12, 30)], len(network.embedding) - 1, cuda)
            demands.append(Demand(network, batch, recipe, torch.Generator(cuda).manual_seed(step), None, 0.0))
            network.zero_grad()
        losses = engine.accumulate(demands)
        for demand, loss in zip(demands, losses, strict=True):
            mine = [parameter.grad.clone() for parameter in demand.network.parameters()]
            demand.network.zero_grad()
            again = torch.Generator(cuda).manual_seed(step)
            expected = accumulate_gradients(demand.network, demand.batch, recipe, again)
            assert float(loss.nats) == pytest.approx(float(expected.nats), rel=1e-5)
            for got, parameter in zip(mine, demand.network.parameters(), strict=True):
                torch.testing.assert_close(got, parameter.grad, rtol=1e-3, atol=1e-6)
        assert all((program._graph is not None) == (step % 4 > 0) for program in engine._programs.values())

"""The benchmark for GPUs, on the CPU: that it runs, and that its rivals compute the same function."""

import json
import os
import sys

import pytest
import torch
from numpy.testing import assert_allclose

from benchmarks import gpu
from langdiff.lm.lstm.gradients import has_bf16

ROUNDING = 1e-12


@pytest.mark.slow
def test_everything_is_measured_or_says_why_not(tmp_path, monkeypatch, capsys):
    setting = gpu.Setting(torch.device("cpu"), True, 0.0, 0.0)
    measured = dict(gpu.measurements(setting))
    chosen = ["agreement", "grouped L", "one by one L", "scoring L", "grouped char-fast", "cuDNN L bf16"]

    def full(_setting):
        raise torch.OutOfMemoryError("CUDA out of memory.")

    rows = [(what, measured[what]) for what in chosen] + [("too much", lambda: full(setting))]
    monkeypatch.setattr(gpu, "measurements", lambda _: rows)
    for name in ("table.md", "table.json"):
        monkeypatch.setattr(sys, "argv", ["gpu.py", "--device", "cpu", "--tiny", "--out", str(tmp_path / name)])
        gpu.main()
    record = json.loads((tmp_path / "table.json").read_text())
    assert len(record["rows"]) == len(rows)
    *computed, in_bf16, failed = record["rows"]
    assert all(row["rate"] > 0 for row in computed[1:])
    if has_bf16("cpu"):
        assert in_bf16["rate"] > 0
    else:
        assert in_bf16["note"] == "left out: this device does not compute in bfloat16"
    assert {row["precision"] for row in computed} <= {"fp32", "bf16" if has_bf16("cpu") else "fp32"}
    assert computed[0]["note"].endswith("bits per intent apart")
    assert "of them new while time was taken" in computed[4]["note"]  # what was captured meanwhile costs time
    assert failed["note"] == "failed: OutOfMemoryError: CUDA out of memory."
    lines = (tmp_path / "table.md").read_text()
    assert lines.count("\n| ") == len(rows) + 1
    assert "h of training (wanted: 8)" in lines
    assert "too much" in capsys.readouterr().out


def test_no_measurement_begins_after_the_time(tmp_path, monkeypatch):
    monkeypatch.setattr(
        sys, "argv", ["gpu.py", "--device", "cpu", "--tiny", "--minutes", "0", "--out", str(tmp_path / "t.json")]
    )
    gpu.main()
    rows = json.loads((tmp_path / "t.json").read_text())["rows"]
    assert {row["note"] for row in rows} == {"left out: no time"}


def test_networks_trained_by_length_are_warmed_up_for_longer(monkeypatch):
    spans = {}

    def timed(setting, step, *, warm, begun):
        begun()
        spans[len(spans)] = warm
        return 1.0

    monkeypatch.setattr(gpu, "timed", timed)
    setting = gpu.Setting(torch.device("cpu"), True, 2.0, 0.0)
    for size in ("L", "char-fast"):
        gpu.grouped(setting, setting.recipe(size), 2)
    assert spans == {0: 2.0, 1: 2.0 * gpu.BY_LENGTH}


def test_the_extrapolation_is_of_measured_rates():
    rate = 106 * 2.4e6 * 500 / 3600  # the paper's job in an hour
    rows = [gpu.Row("grouped, K = 8", "L", "bf16", rate), gpu.Row("one by one", "L", "bf16", rate / 5)]
    assert "the best grouped is 5.0 times the best without grouping" in gpu.summary(rows)[0]
    assert "500 epochs: 1.00 h" in gpu.summary(rows)[1]
    lines = gpu.summary([*rows, gpu.Row("processes, N = 8, MPS", "L", "bf16", 2 * rate)])
    assert "the best of several processes is 10.0 times one by one" in lines[0]
    assert "the best grouped is 0.5 times the best without grouping" in lines[1]
    assert "500 epochs: 0.50 h" in lines[2]


@pytest.mark.slow
def test_several_processes_train_side_by_side(tmp_path, monkeypatch):
    monkeypatch.setattr(gpu, "EPOCHS", 3)
    monkeypatch.setenv(gpu.MPS_PIPE, str(tmp_path))
    setting = gpu.Setting(torch.device("cpu"), True, 0.0, 0.0)
    row = gpu.processes(setting, setting.recipe("S"), 2)
    assert row.what == "processes, N = 2"
    assert row.rate > 0
    assert os.environ[gpu.MPS_PIPE] == str(tmp_path)
    row = gpu.processes(setting, setting.recipe("S"), 2, mps=True)
    assert (row.rate, row.note) == (None, "left out: NVIDIA's Multi-Process Service does not run here")


@pytest.mark.parametrize("size", gpu.SIZES)
def test_a_size_is_named_by_what_the_network_has(size):
    setting = gpu.Setting(torch.device("cpu"), False, 0.0, 0.0)
    network = gpu.make_network(setting.recipe(size))
    real = [network.embedding.shape[1], *(lstm.size for lstm in network._layers())]
    assert gpu.widths(gpu.SIZES[size]) == "-".join(map(str, real))
    # no size is named that the network does not have
    assert set(gpu.SIZES[size][:2]) <= set(real)


def test_a_widened_network_is_the_same_function_and_stays_so():
    sizes = {"embedding_size": 5, "hidden_size": 7, "layers": 3}
    network = gpu.AWDLSTM(9, **sizes, generator=torch.Generator().manual_seed(0)).double()
    wide = gpu.widened(network, 8, 12).double()
    symbols = torch.randint(9, (11, 4), generator=torch.Generator().manual_seed(1))
    for _ in range(3):
        losses = []
        for each in (network, wide):
            optimizer = torch.optim.Adam(each.parameters(), lr=0.01)
            logits = each.logits(each(symbols[:-1]).output)
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), symbols[1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        assert losses[0] == pytest.approx(losses[1], rel=ROUNDING)
    assert_allclose(wide.embedding[:, 5:].detach(), 0)
    assert_allclose(wide._layers()[0].recurrent.detach()[7:12], 0)

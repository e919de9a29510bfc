"""Which GPU each worker process sees."""

import multiprocessing
import os
import signal
from types import SimpleNamespace

import pytest
import torch

from langdiff.errors import ConfigError
from langdiff.lm.jobs.workers import _gpus_in_turn, _start_worker, processes

VISIBLE = "CUDA_VISIBLE_DEVICES"


@pytest.fixture
def two_gpus(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setenv(VISIBLE, "3,5")  # as Slurm sets it


def test_workers_get_the_gpus_in_turn(two_gpus, monkeypatch):
    assert _gpus_in_turn("cuda", 5) == ["3", "5", "3", "5", "3"]
    assert _gpus_in_turn("auto", 1) == ["3"]
    assert _gpus_in_turn("cuda:1", 2) == _gpus_in_turn("cpu", 2) == [None, None]
    monkeypatch.delenv(VISIBLE)
    assert _gpus_in_turn("cuda", 3) == ["0", "1", "0"]


@pytest.mark.parametrize(("gpu", "seen"), [("5", "5"), (None, "3,5")])
def test_a_worker_sees_its_gpu_alone(two_gpus, monkeypatch, gpu, seen):
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(torch, "set_num_threads", lambda _: None)
    _start_worker(SimpleNamespace(get=lambda: gpu))
    assert os.environ[VISIBLE] == seen


@pytest.mark.slow
def test_processes_see_what_they_were_given(two_gpus):
    with processes(2, "cuda") as pool:  # of which one task starts one
        assert pool.submit(os.getenv, VISIBLE).result() == "3"
    with processes(1, "cpu") as pool:
        assert pool.submit(os.getenv, VISIBLE).result() == "3,5"


def test_without_shared_memory_the_remedy_is_named(monkeypatch):
    def refused(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(multiprocessing.get_context("spawn").__class__, "SimpleQueue", refused)
    with pytest.raises(ConfigError, match=r"workers=2: .*/dev/shm .*Permission denied.*workers=1"), processes(2):
        pass

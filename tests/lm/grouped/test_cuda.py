"""When graphs are captured and whose memory they use: on a stand-in for `torch.cuda`, so that no GPU is needed."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest
import torch

from langdiff.lm.grouped import cuda as grouped_cuda
from langdiff.lm.grouped.cuda import Captured
from langdiff.lm.grouped.program import GroupLoss

CUDA = torch.device("cuda:0")


class Cuda:
    """Counts the graphs of each pool of memory, and refuses a pool that has lost its last, as torch does."""

    OutOfMemoryError = torch.OutOfMemoryError

    def __init__(self):
        self.users = {}
        self.capturing = None
        self.waits = []
        cuda = self

        class Stream:
            def wait_stream(self, other):
                cuda.waits.append((self, other))

        class CUDAGraph:
            own = None

            def pool(self):
                return self.own

            def replay(self):
                cuda.users[self.own] > 0 or pytest.fail("its memory is gone")
                self.steps()

            def __del__(self):
                if self.own is not None:
                    cuda.users[self.own] -= 1

        self.CUDAGraph = CUDAGraph
        self.default = Stream()
        self.Stream = lambda device: Stream()

    def graph_pool_handle(self):
        return object()

    def current_stream(self, device):
        return self.default

    @contextmanager
    def stream(self, stream):
        yield

    @contextmanager
    def graph(self, graph, pool=None, stream=None):
        pool = pool or object()
        if self.users.get(pool) == 0:
            raise RuntimeError("it->second->use_count > 0 INTERNAL ASSERT FAILED")
        self.capturing = graph
        try:
            yield
        finally:
            self.capturing = None
        self.users[pool] = self.users.get(pool, 0) + 1
        graph.own = pool


@pytest.fixture
def cuda(monkeypatch):
    cuda = Cuda()
    monkeypatch.setattr(grouped_cuda, "torch", SimpleNamespace(cuda=cuda, device=torch.device))
    grouped_cuda._stream.cache_clear()
    yield cuda
    grouped_cuda._stream.cache_clear()


@pytest.fixture
def run(cuda):
    """A computation that counts how often it was done, and how often its steps were only captured."""

    def run():
        def steps():
            run.done += 1

        if cuda.capturing:
            cuda.capturing.steps = steps
            run.captured += 1
        else:
            steps()
        return GroupLoss(torch.zeros(1), [])

    run.done = run.captured = 0
    return run


def test_the_second_call_captures_and_every_call_computes(cuda, run):
    program = Captured(run, CUDA, [])
    for calls in range(1, 5):
        program()
        assert (run.done, run.captured) == (calls, min(calls - 1, 1))


def test_graphs_share_memory_while_one_of_them_lives(cuda, run):
    siblings = []
    programs = [Captured(run, CUDA, siblings) for _ in range(3)]
    for _ in range(2):
        for program in programs:
            program()
    assert list(cuda.users.values()) == [3]


def test_after_a_group_is_gone_the_next_has_graphs_too(cuda, run, caplog):
    for _ in range(3):
        siblings = []
        program = Captured(run, CUDA, siblings)
        for _ in range(3):
            program()
        del program, siblings
    assert run.captured == 3
    assert list(cuda.users.values()) == [0, 0, 0]
    assert not caplog.records


def test_if_memory_runs_out_the_caller_still_waits_for_what_is_running(cuda):
    def run():
        raise torch.OutOfMemoryError("CUDA out of memory.")

    with pytest.raises(torch.OutOfMemoryError):
        Captured(run, CUDA, [])()
    assert cuda.waits[-1] == (cuda.default, grouped_cuda._stream(CUDA))

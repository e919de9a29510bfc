"""Jobs on a real Dask scheduler with worker processes, which are killed, cut off and refused."""

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import langdiff as ld
from langdiff.lm import compute_surprisals
from langdiff.lm.jobs.dask_client import dask_executor
from langdiff.lm.jobs.folder import TRAINED
from langdiff.lm.jobs.logs import LOG
from tests.lm.conftest import verses

pytest.importorskip("distributed")

EDITIONS = [f"ed{number:02}" for number in range(20)]


def make_parts(editions, train=100):
    n = train + 35
    frame = pd.DataFrame({edition: verses("eng", n, seed) for seed, edition in enumerate(editions)})
    frame.iloc[n - 5, 0] = None  # a missing test cell
    multitext = ld.read_frame(frame.set_axis([f"verse {row}" for row in range(n)]))
    ends = (("train", 0, train), ("dev", train, train + 20), ("test", train + 20, n))
    return ld.Parts(**{name: multitext.sel(intents=multitext.intents[a:b]) for name, a, b in ends})


@pytest.fixture(scope="module")
def executor():
    with dask_executor("local", device="cpu", workers=2) as executor:
        yield executor


def compute(parts, lm, **options):
    return compute_surprisals(parts, lm=lm, seed=1, device="cpu", progress=False, max_replaced=1.0, **options)


def assert_same(a, b):
    for field in ("bits", "eos_bits", "characters", "bytes", "replaced"):
        assert_frame_equal(getattr(a, field), getattr(b, field), check_exact=True)
    assert a.signature == b.signature
    assert a.provenance == b.provenance


def kill_in_the_middle(client, cache, killed):
    """Wait for a job with two finished epochs, kill its worker, and note the first line of its log.

    An epoch is logged before its state is kept: only that of the first is there for certain.
    """
    pids = client.run(os.getpid)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not killed:
        for worker, keys in client.processing().items():
            for _, edition, _ in (key for key in keys if len(key) == 3):
                for log in cache.glob(f"{edition}/*/{LOG}"):
                    if log.read_bytes().count(b"\n") > 1 and not log.with_name(TRAINED).exists():
                        os.kill(pids[worker], signal.SIGKILL)
                        killed[log] = log.read_bytes().splitlines()[0]
                        return
        time.sleep(0.02)


def test_a_killed_worker_changes_no_bit(executor, tiny_recipe, tmp_path):
    parts, recipe = make_parts(EDITIONS, train=60), replace(tiny_recipe, epochs=4, layers=1)
    killed = {}
    killer = threading.Thread(target=kill_in_the_middle, args=(executor._client, tmp_path, killed))
    killer.start()
    on_cluster = compute(parts, recipe, executor=executor, cache=tmp_path)
    killer.join()
    ((log, first),) = killed.items()
    assert log.read_bytes().splitlines()[0] == first  # with its seconds: the epoch was not trained again
    assert log.read_bytes().count(b"\n") == 4
    assert_same(on_cluster, compute(parts, recipe))

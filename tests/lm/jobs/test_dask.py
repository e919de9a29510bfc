"""Jobs on a real Dask scheduler with worker processes, which are killed, cut off and refused."""

import logging
import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import dask
import distributed
import pandas as pd
import pytest
import torch
from pandas.testing import assert_frame_equal

import langdiff as ld
from langdiff.base.io import locked
from langdiff.base.progress import progress_bar
from langdiff.errors import ConfigError, DataError, MissingExtraError, OutputError, TrainingError
from langdiff.lm import KneserNeyRecipe, compute_surprisals
from langdiff.lm.compute import _of_edition
from langdiff.lm.jobs import dask_jobs
from langdiff.lm.jobs.dask_jobs import Patience, is_dask, parcel_of, run_on_dask
from langdiff.lm.jobs.folder import LOG, TRAINED, job_folder, model_folder
from langdiff.lm.jobs.job import Job, job_key, read_texts, run_job
from langdiff.lm.jobs.workers import MEMORY_PER_WORKER, Failures, dask_executor, local_workers
from langdiff.lm.lstm import training
from langdiff.lm.scoring import PRICED
from langdiff.tables.text_sources import InMemoryText
from tests.helpers import refused
from tests.lm.conftest import verses

QUICK = Patience(lost=1, busy=20, first=0.05, longest=0.2)

EDITIONS = [f"ed{number:02}" for number in range(20)]


def make_job(parts, edition):
    recipe = KneserNeyRecipe(name="kneser-ney-2", order=2)
    settings = {"max_replaced": 1.0, "device": "cpu", "seed": 3, "folder": None}
    parts = _of_edition(parts, edition)
    return Job(edition=edition, parts=parts, recipe=recipe, scoring=PRICED, **settings)


def make_parts(editions, train=100):
    n = train + 35
    frame = pd.DataFrame({edition: verses("eng", n, seed) for seed, edition in enumerate(editions)})
    frame.iloc[n - 5, 0] = None  # a missing test cell
    multitext = ld.read_frame(frame.set_axis([f"verse {row}" for row in range(n)]))
    ends = (("train", 0, train), ("dev", train, train + 20), ("test", train + 20, n))
    return ld.Parts(**{name: multitext.sel(intents=multitext.intents[a:b]) for name, a, b in ends})


def model_of(job):
    return model_folder(job.folder, job_key(job, read_texts(job)))


@pytest.fixture(scope="module")
def executor():
    with dask_executor("local", device="cpu", workers=2) as executor:
        yield executor


def compute(parts, lm, **options):
    return compute_surprisals(parts, lm=lm, seed=1, device="cpu", progress=False, max_replaced=1.0, **options)


def assert_same(a, b):
    for field in ("bits", "eos_bits", "characters", "bytes", "replaced"):
        assert_frame_equal(getattr(a, field), getattr(b, field), check_exact=True)
    assert a.provenance == b.provenance


def kill_in_the_middle(client, cache, killed):
    """Wait for a job with three finished epochs, kill its worker, and note the first line of its log.

    An epoch is logged before the state of the one before is kept: only that of the first is there for certain.
    """
    pids = client.run(os.getpid)
    deadline = time.monotonic() + 600  # on a machine that has other work
    while time.monotonic() < deadline and not killed:
        for worker, keys in client.processing().items():
            for _, edition, _ in (key for key in keys if len(key) == 3):
                for log in cache.glob(f"{edition}/*/*/{LOG}"):
                    if log.read_bytes().count(b"\n") > 2 and not log.with_name(TRAINED).exists():
                        os.kill(pids[worker], signal.SIGKILL)
                        killed[log] = log.read_bytes().splitlines()[0]
                        return
        time.sleep(0.02)


def test_a_killed_worker_changes_no_bit(executor, tiny_recipe, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(executor._client.cluster.scheduler, "allowed_failures", 0)  # or Dask itself tries four times
    parts, recipe = make_parts(EDITIONS[:8], train=60), replace(tiny_recipe, epochs=6, layers=1)
    executor._client.run(setattr, training, "SECONDS", 0.0)
    killed = {}
    killer = threading.Thread(target=kill_in_the_middle, args=(executor._client, tmp_path, killed))
    killer.start()
    on_cluster = compute(parts, recipe, executor=executor, cache=tmp_path)
    killer.join()
    ((log, first),) = killed.items()
    assert log.read_bytes().splitlines()[0] == first  # with its seconds: the epoch was not trained again
    assert log.read_bytes().count(b"\n") == 6
    assert f"edition '{log.parts[-4]}': 1 Dask worker(s) died" in caplog.text
    assert "Trying again in 1 s (1 of 3)" in caplog.text
    assert_same(on_cluster, compute(parts, recipe))


def run(executor, jobs, *, work=run_job, patience=QUICK, failures=None):
    with progress_bar(progress=False) as bar:
        return run_on_dask(
            executor,
            jobs,
            failures or Failures(len(jobs), at_once=True),
            bar,
            bar.add_task("", note=""),
            work=work,
            patience=patience,
        )


def make_jobs(editions, cache):
    parts = make_parts(editions)
    return [replace(make_job(parts, e), folder=cache and job_folder(cache, e, "kneser-ney-2")) for e in editions]


def assert_same_results(results, jobs):
    assert list(results) == [job.edition for job in jobs]
    for job in jobs:
        expected = run_job(replace(job, folder=None)).surprisals
        found = results[job.edition].surprisals[list(expected)]  # tables that were kept have another order of columns
        assert_frame_equal(found, expected, check_exact=True)


def die(job):
    if job.edition == "deadly":
        os.kill(os.getpid(), signal.SIGKILL)
    return run_job(job)


@pytest.mark.slow
def test_a_job_that_kills_its_workers_is_given_up(executor, tmp_path, monkeypatch):
    monkeypatch.setattr(executor._client.cluster.scheduler, "allowed_failures", 0)
    jobs = make_jobs(["deadly"], tmp_path)  # alone: Dask blames all jobs of a worker that dies
    failures = Failures(len(jobs), at_once=False)
    assert run(executor, jobs, work=die, patience=replace(QUICK, lost=0), failures=failures) == {}
    refused(TrainingError, r"edition 'deadly': 1 Dask worker.* died .* memory runs out", failures.raise_any)


def test_nothing_stays_on_the_cluster(executor, tmp_path):
    jobs = make_jobs(EDITIONS[:3], tmp_path)
    assert_same_results(run(executor, jobs), jobs)
    scheduler, deadline = executor._client.cluster.scheduler, time.monotonic() + 10
    while scheduler.tasks and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not scheduler.tasks
    assert not list(tmp_path.glob(".seen*"))


def test_errors_come_home_and_siblings_are_finished(executor, tmp_path):
    parts = make_parts(EDITIONS[:3])
    empty = {"ed01": InMemoryText(parts.train.text("ed01").str[:0])}
    parts = replace(parts, train=replace(parts.train, sources={**parts.train.sources, **empty}))
    with pytest.raises(DataError, match=r"^edition 'ed01': training part: intent 'verse 0' is empty"):
        compute(parts, "kneser-ney-2", executor=executor, cache=tmp_path)
    assert sorted(path.parts[-4] for path in tmp_path.glob(f"*/*/*/{TRAINED}")) == ["ed00", "ed02"]


@contextmanager
def in_this_process(**options):
    """Start scheduler and one worker in threads: quick, for what needs no process of its own."""
    options = {"n_workers": 1, "threads_per_worker": 1} | options
    with (
        distributed.LocalCluster(processes=False, dashboard_address="127.0.0.1:0", **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client.get_executor()


def slow(job):
    time.sleep(0.5)
    return run_job(job)


def test_a_lost_connection_is_made_again(tmp_path, caplog):
    caplog.set_level(logging.INFO, logger="langdiff.lm.jobs.dask_jobs")
    jobs = make_jobs(EDITIONS[:3], tmp_path)
    with in_this_process() as executor:
        client = executor._client

        def cut():
            while not list(tmp_path.glob(f"*/*/*/{TRAINED}")):
                time.sleep(0.02)
            client.loop.add_callback(client.scheduler_comm.comm.abort)

        knife = threading.Thread(target=cut)
        knife.start()
        results = run(executor, jobs, work=slow, patience=replace(QUICK, lost=3))
        knife.join()
    assert_same_results(results, jobs)
    assert "The connection to the Dask scheduler was lost" in caplog.text
    assert "(1 of 3)" in caplog.text


def test_a_lost_scheduler_ends_the_run(tmp_path):
    jobs = make_jobs(EDITIONS[:2], tmp_path)
    cluster = distributed.LocalCluster(n_workers=0, processes=False, dashboard_address="127.0.0.1:0", protocol="tcp")
    with cluster, distributed.Client(cluster.scheduler_address, timeout="1s") as client:
        closer = threading.Timer(0.5, cluster.close)
        closer.start()
        with pytest.raises(TrainingError, match=r"connection to the Dask scheduler was lost with 2 edition"):
            run(client.get_executor(), jobs)
        closer.join()


def test_a_folder_that_another_process_owns_is_waited_for(tmp_path):
    jobs = make_jobs(EDITIONS[:2], tmp_path)
    with in_this_process() as executor:
        with (
            locked(model_of(jobs[0]), "training here."),
            pytest.raises(OutputError, match="another process is training"),
        ):
            run(executor, jobs, patience=replace(QUICK, busy=1))
        owned, released = threading.Event(), threading.Event()

        def own():
            with locked(model_of(jobs[0]), "training here."):
                owned.set()
                time.sleep(1)
                released.set()

        owner = threading.Thread(target=own)
        owner.start()
        owned.wait()
        results = run(executor, jobs)
        assert released.is_set()
        owner.join()
    assert_same_results(results, jobs)


@pytest.mark.parametrize("options", [{"threads_per_worker": 2}, {"memory_limit": 0}])
def test_workers_whose_results_would_differ_are_refused(tmp_path, options, monkeypatch):
    jobs = make_jobs(EDITIONS[:2], tmp_path)
    with in_this_process(**options) as executor:
        if "memory_limit" in options:
            call = dask_jobs.Call(work=run_job, version="0.0", probe=None)
            with pytest.raises(ConfigError, match=r"has langdiff \S+, but jobs come from 0.0"):
                executor._client.submit(dask_jobs.check_worker, call).result()
            monkeypatch.setattr(dask_jobs, "write_text", lambda *_: None)
        match = "has 2 threads" if "threads_per_worker" in options else f"does not see the cache {tmp_path}"
        refused(ConfigError, match, run, executor, jobs)


def test_where_workers_declare_gpus_each_job_asks_for_one(tmp_path):
    jobs = [replace(job, device="auto") for job in make_jobs(EDITIONS[:2], tmp_path)]
    with in_this_process(resources={"GPU": 1}) as executor:
        client = executor._client
        assert dask_jobs._resources(client, jobs) == {"resources": {"GPU": 1}}
        assert dask_jobs._resources(client, make_jobs(EDITIONS[:2], None)) == {}  # they are for the CPU
        assert_same_results(run(executor, jobs), jobs)
        needs_two = client.get_executor(resources={"GPU": 2})  # what users ask for comes first, and nobody has it

        def wait():
            refused(TrainingError, "was lost", run, needs_two, jobs[:1])

        waiting = threading.Thread(target=wait)
        waiting.start()
        waiting.join(1)
        assert waiting.is_alive()
        client.close()
        waiting.join()


def test_an_executor_of_another_kind():
    with ThreadPoolExecutor(1) as pool:
        assert not is_dask(pool)


def test_number_of_local_workers(monkeypatch):
    monkeypatch.setattr("dask.system.CPU_COUNT", 16)
    monkeypatch.setattr("distributed.system.MEMORY_LIMIT", 4 * MEMORY_PER_WORKER)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    found = local_workers("auto")
    assert [worker["memory_limit"] for worker in found] == [MEMORY_PER_WORKER] * 4
    assert {worker["nthreads"] for worker in found} == {1}
    assert len(local_workers("cpu", 7)) == 7
    monkeypatch.setattr("distributed.system.MEMORY_LIMIT", MEMORY_PER_WORKER // 2)
    assert len(local_workers("cpu")) == 1


def test_local_workers_share_the_gpus_out(monkeypatch):
    monkeypatch.setattr("distributed.system.MEMORY_LIMIT", 100 * MEMORY_PER_WORKER)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)

    def devices(*options):
        return [worker["env"].get("CUDA_VISIBLE_DEVICES") for worker in local_workers(*options)]

    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert devices("auto") == ["0", "1"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,5")  # as Slurm sets it
    assert devices("cuda") == ["3", "5"]
    assert devices("cuda", 4) == ["3", "5", "3", "5"]
    assert devices("cpu", 1) == [None]


def test_no_scheduler_at_the_address():
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        pytest.raises(ConfigError, match=r"no Dask scheduler at 'tcp://127.0.0.1:9'"),
        dask_executor("tcp://127.0.0.1:9"),
    ):
        pass


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"langdiff\[cluster\]"), dask_executor("local"):
        pass


def test_a_job_of_a_bible_is_sent_in_few_bytes(tmp_path):
    n = 31_000
    for edition in ("eng", "deu"):
        (tmp_path / f"{edition}.txt").write_text("\n".join(["a dog"] * n), encoding="utf-8")
    multitext = ld.read_multitext(tmp_path, format="moses")
    ends = (("train", 0, 29_000), ("dev", 29_000, 30_000), ("test", 30_000, n))
    parts = ld.Parts(**{name: multitext.sel(intents=multitext.intents[a:b]) for name, a, b in ends})
    assert len(parcel_of(make_job(parts, "eng"), dask_jobs.Call(work=run_job, version="0", probe=None))) < 40_000

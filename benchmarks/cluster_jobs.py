"""What a job on a Dask cluster costs beside its training: time, memory of scheduler and client, bytes sent.

    python benchmarks/cluster_jobs.py [--jobs 1000] [--intents 31000] [--workers 2] [--work nothing]

Scheduler, workers and client are processes of this machine, and jobs go the way of `compute_surprisals`. With
``--work nothing`` a worker only unpacks a job and checks the cache; with ``--work bookkeeping`` it locks the folder of
the job, reads its texts, writes key, log, model and surprisals, and the model is a table of single characters. Serial
times are those of the same jobs without Dask.
"""

import argparse
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import distributed
import numpy as np
import pandas as pd
import psutil

from langdiff.base.progress import progress_bar
from langdiff.errors import LangdiffWarning
from langdiff.lm.compute import _of_edition
from langdiff.lm.jobs.dask_jobs import Call, parcel_of, run_on_dask
from langdiff.lm.jobs.folder import job_folder
from langdiff.lm.jobs.job import Job, JobResult, run_job
from langdiff.lm.jobs.workers import Failures
from langdiff.lm.ngram.recipe import KneserNeyRecipe
from langdiff.lm.scoring import PRICED
from langdiff.tables.multitext import Multitext, Parts

LM = KneserNeyRecipe(name="kneser-ney-1", order=1)
MIB = 2**20


@dataclass(frozen=True)
class SameFile:
    """The texts of every edition: lines of one file, as if read from the edition's own."""

    path: Path

    def read(self):
        """Return the texts."""
        lines = self.path.read_text(encoding="utf-8").splitlines()
        return pd.Series(lines, index=[f"{row:08}" for row in range(len(lines))], dtype=object)


def make_parts(folder, n_jobs, n_intents):
    """Return the parts of a multitext with as many editions as jobs, whose text is one file of few words."""
    path = folder / "text.txt"
    rng = np.random.default_rng(0)
    words = np.array(["a", "dog", "cat", "ran", "sat", "far"])
    path.write_text("\n".join(" ".join(row) for row in words[rng.integers(6, size=(n_intents, 3))]), encoding="utf-8")
    editions = [f"edition-{number:05}" for number in range(n_jobs)]
    intents = pd.Index([f"{row:08}" for row in range(n_intents)])
    multitext = Multitext(
        presence=pd.DataFrame(np.ones((n_intents, n_jobs), dtype=bool), index=intents, columns=editions),
        edition_info=pd.DataFrame({"language": "eng"}, index=editions),
        intent_info=pd.DataFrame({"book": "GEN", "chapter": "1"}, index=intents),
        sources=dict.fromkeys(editions, SameFile(path)),
    )
    cuts = [0, n_intents * 8 // 10, n_intents * 9 // 10, n_intents]
    names = ("train", "dev", "test")
    return Parts(
        **{name: multitext.sel(intents=intents[a:b]) for name, a, b in zip(names, cuts[:-1], cuts[1:], strict=True)}
    )


def nothing(job):
    """Give surprisals of the right shape."""
    present = job.parts.test.presence[job.edition]
    names = ("bits", "eos_bits", "characters", "bytes", "units", "replaced")
    table = pd.DataFrame(dict.fromkeys(names, 1.0), index=job.parts.test.intents[present.to_numpy()])
    return JobResult(surprisals=table, part="test", scoring=job.scoring, of_model=())


def jobs_of(parts, cache, n=None):
    return [
        Job(
            edition=edition,
            parts=_of_edition(parts, edition),
            recipe=LM,
            scoring=PRICED,
            max_replaced=1.0,
            device="cpu",
            seed=0,
            folder=job_folder(cache, edition, LM.name),
        )
        for edition in parts.train.editions[:n]
    ]


@contextmanager
def cluster(folder, workers):
    """Start scheduler and workers, each a process; give a client and the process of the scheduler."""
    paths = [str(Path(__file__).parent), *sys.path]  # the scheduler, too, needs the classes of jobs
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(paths)}
    file = folder / "scheduler.json"
    with_file = ["--scheduler-file", str(file), "--no-dashboard", "--host", "127.0.0.1"]
    commands = [["scheduler", "--port", "0"], *([["worker", "--nthreads", "1", "--no-nanny"]] * workers)]
    with (folder / "dask.log").open("w") as log, ExitStack() as stack:
        processes = []
        for name, *options in commands:
            command = [sys.executable, "-m", f"distributed.cli.dask_{name}", *options, *with_file]
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=folder)
            stack.callback(process.wait)
            stack.callback(process.terminate)
            processes.append(process)
        while not file.is_file():
            time.sleep(0.1)
        client = stack.enter_context(distributed.Client(scheduler_file=str(file)))
        client.wait_for_workers(workers)
        client.run(warm_up)
        yield client, psutil.Process(processes[0].pid)


def warm_up():
    """Import what jobs need, so that it is not taken for their time."""
    import langdiff.lm.jobs.dask_jobs  # noqa: F401


def cpu(process):
    return sum(process.cpu_times()[:2])


def sample(process, peaks, stop):
    """Note the largest memory of a process, MiB."""
    while not stop.wait(0.2):
        peaks.append(process.memory_info().rss / MIB)


def measure(client, scheduler, parts, cache, work):
    """Run all jobs; return what they took."""
    own = psutil.Process()
    processes = {"client": own, "scheduler": scheduler}
    peaks = {name: [process.memory_info().rss / MIB] for name, process in processes.items()}
    stop = threading.Event()
    for name, process in processes.items():
        threading.Thread(target=sample, args=(process, peaks[name], stop), daemon=True).start()
    before = {name: cpu(process) for name, process in processes.items()}
    sent, start = psutil.net_io_counters().bytes_sent, time.perf_counter()
    jobs = jobs_of(parts, cache)
    with progress_bar() as bar:
        task = bar.add_task("jobs", total=len(jobs), note="")
        failures = Failures(len(jobs), at_once=True)
        results = run_on_dask(client.get_executor(), jobs, failures, bar, task, work=work)
    seconds = time.perf_counter() - start
    stop.set()
    assert len(results) == len(jobs)
    n = len(jobs)
    print(f"{n:,} jobs, {work.__name__}: {seconds:.0f} s, {1000 * seconds / n:.1f} ms per job")
    for name, process in processes.items():
        spent = 1000 * (cpu(process) - before[name]) / n
        before_and_peak = f"memory {peaks[name][0]:.0f} MiB before, {max(peaks[name]):.0f} at most"
        print(f"  {name}: {spent:.1f} ms of CPU per job; {before_and_peak}")
    sent = (psutil.net_io_counters().bytes_sent - sent) / n
    print(f"  sent by all processes of the machine: {sent / 1000:.1f} kB per job")


def report_sizes(parts, cache):
    (job,) = jobs_of(parts, cache, 1)
    parcel = len(parcel_of(job, Call(work=nothing, version="", probe=None)))
    whole, result = (len(pickle.dumps(each)) for each in (job, nothing(job)))
    print(f"pickled: job {whole / 1000:.1f} kB, as sent {parcel / 1000:.1f} kB, result {result / 1000:.1f} kB")


def report_serial(parts, cache, n):
    for job in jobs_of(parts, cache, n):
        if job.edition == parts.train.editions[1]:  # the first imports
            start = time.process_time()
        run_job(job)
    print(f"without Dask: {1000 * (time.process_time() - start) / (n - 1):.1f} ms of CPU per job")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--intents", type=int, default=31_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--work", choices=["nothing", "bookkeeping"], default="nothing")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)
        folder = Path(name)
        parts = make_parts(folder, options.jobs, options.intents)
        report_sizes(parts, folder)
        if options.work == "bookkeeping":
            report_serial(parts, folder / "serial", min(options.jobs, 50))
        with cluster(folder, options.workers) as (client, scheduler):
            work = run_job if options.work == "bookkeeping" else nothing
            measure(client, scheduler, parts, folder / "cache", work)


if __name__ == "__main__":
    import cluster_jobs  # workers import what jobs consist of from this module, not from __main__

    cluster_jobs.main()

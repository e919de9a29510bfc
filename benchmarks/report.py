"""Report of a run of 100 editions: processor time to draw and write it, and size."""

import tempfile
import time
from pathlib import Path

import pandas as pd

import langdiff as ld
from langdiff.run import Experiment
from langdiff.run.report import write_pages
from langdiff.run.result import RunResult

EDITIONS, INTENTS = 100, 2000
LMS = ("kneser-ney-6", "kneser-ney-3")


def simulated_run(directory: Path) -> RunResult:
    """Return a run of two language models whose surprisals are drawn from model 2."""
    tables = {}
    for seed, lm in enumerate(LMS):
        drawn = ld.simulate(INTENTS, EDITIONS, seed=seed).surprisals
        tables[lm] = ld.Surprisals(bits=drawn.bits, characters=(drawn.bits / 2).round(), lm=lm)
    fits = {lm: ld.fit(table, errors="information") for lm, table in tables.items()}
    editions = pd.Index(tables[LMS[0]].editions, name="edition")
    info = {"language": [f"l{k}" for k in range(EDITIONS)], "intents": INTENTS, "words": 9999, "characters": 99999}
    settings = {"name": "simulated", "corpus": {"format": "synthetic"}, "lm": {"models": list(LMS), "baselines": False}}
    manifest = {
        **{
            "failed": {},
            "skipped": [],
            "selection": None,
            "corpus_intents": INTENTS,
            "date": "2026-01-01",
            "python": "",
        },
        **{"parts": {"train": 1, "dev": 1, "test": INTENTS}, "seconds": {}, "versions": {}, "git": None},
        "machine": {"system": "", "cores": 2, "gpu": None},
    }
    return RunResult(
        directory=directory,
        experiment=Experiment.model_validate(settings),
        editions=pd.DataFrame(info, index=editions),
        surprisals=tables,
        fits=fits,
        truth=None,
        manifest=manifest,
    )


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        run = simulated_run(Path(folder))
        seconds = []
        for _ in range(2):  # the first imports Matplotlib
            start = time.process_time()
            names = write_pages(run, Path(folder))
            seconds.append(time.process_time() - start)
        size = run.report.stat().st_size
        print(
            f"{EDITIONS} editions x {len(LMS)} language models, {len(names) - 1} figures: "
            f"{size / 1e6:.1f} MB, {seconds[0]:.1f} s of processor time ({seconds[1]:.1f} s again)"
        )


if __name__ == "__main__":
    main()

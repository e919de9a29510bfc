"""Runs go on without what failed, and tell the truth about what there is."""

import errno
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.base import io
from langdiff.base.checksums import CHECKSUMS
from langdiff.errors import DataError, LangdiffWarning, OutputError
from langdiff.lm.jobs import folder, job
from langdiff.lm.jobs import record as record_of_jobs
from langdiff.lm.jobs.folder import LOG
from langdiff.lm.ngram import recipe
from langdiff.run import Experiment, read_run, report, run_experiment, verify_run
from langdiff.run.directory import read_run_log
from langdiff.run.upkeep import clean_run, read_status
from tests.helpers import refused

SETTINGS = {
    "name": "small",
    "corpus": {"format": "synthetic", "n_intents": 120, "n_languages": 3},
    "lm": {"models": ["kneser-ney-2", "kneser-ney-3"], "max_replaced": 1.0},
}
DRAW = report.draw_all
pytestmark = pytest.mark.filterwarnings("ignore:edition .* too rare in training")  # the corpora are tiny


def run(directory, **changes):
    return run_experiment(Experiment.model_validate(SETTINGS | changes), directory, progress=False)


@pytest.fixture(autouse=True, scope="module")
def undrawn():
    """Draw no figures, which take most of the time of such small runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("langdiff.run.report.draw_all", lambda _, compared: [])
        yield


@pytest.fixture(scope="module")
def finished(tmp_path_factory, undrawn):
    """A finished run; copied before it is changed."""
    directory = tmp_path_factory.mktemp("runs") / "finished"
    run(directory)
    return directory


@pytest.fixture
def copy(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "copy")


@pytest.fixture
def files(tmp_path):
    """Settings of a run on files, and their folder."""
    folder = tmp_path / "corpus"
    ld.write_multitext(ld.synthesize(120, 4, seed=2).multitext, folder)
    return folder, {"corpus": {"format": "pbc", "path": str(folder)}}


def results(directory):
    found = (path for pattern in ("surprisals/*", "fits/*", "tables/*") for path in directory.glob(pattern))
    return {path.relative_to(directory): path.read_bytes() for path in found}


def records(directory):
    return {path: path.stat().st_mtime_ns for path in directory.glob(f"jobs/*/*/*/{CHECKSUMS}")}


# failures


def fail_for(monkeypatch, editions, lms=("kneser-ney-2", "kneser-ney-3")):
    fit = recipe.fit_kneser_ney

    def failing(recipe, train, dev, plan):
        if plan.name in editions and recipe.name in lms:
            raise DataError("no model can learn this")
        return fit(recipe, train, dev, plan)

    monkeypatch.setattr(recipe, "fit_kneser_ney", failing)


def test_a_run_goes_on_without_an_edition_and_says_so(finished, tmp_path, monkeypatch):
    whole = read_run(finished)
    gone, *others = whole.fits["kneser-ney-2"].difficulty.index
    with monkeypatch.context() as patch:
        patch.setattr("langdiff.run.report.draw_all", DRAW)  # figures of models with different editions
        fail_for(patch, [gone], ["kneser-ney-3"])
        found = run(tmp_path / "run")
    assert found.failed.to_dict("records") == [
        {"lm": "kneser-ney-3", "edition": gone, "error": f"edition {gone!r}: no model can learn this"}
    ]
    pd.testing.assert_series_equal(found.fits["kneser-ney-2"].difficulty, whole.fits["kneser-ney-2"].difficulty)
    assert sorted(found.fits["kneser-ney-3"].difficulty.index) == sorted(others)
    assert np.exp(found.fits["kneser-ney-3"].difficulty).mean() == pytest.approx(1)
    expected = ld.fit(ld.Surprisals(bits=whole.surprisals["kneser-ney-3"].bits[others]), model="2").difficulty
    pd.testing.assert_series_equal(
        found.fits["kneser-ney-3"].difficulty[others], expected[others], check_index_type=False
    )
    page = found.report.read_text(encoding="utf-8")
    assert "What failed" in page
    assert "no model can learn this" in page
    assert "What failed" not in whole.report.read_text(encoding="utf-8")
    pd.testing.assert_frame_equal(read_run(tmp_path / "run").failed, found.failed)
    assert len(found.to_frame()) == 5
    states = read_status(tmp_path / "run")
    assert states.loc[states["state"] == "failed", ["edition", "lm"]].to_numpy().tolist() == [[gone, "kneser-ney-3"]]
    assert not verify_run(tmp_path / "run")["state"].isin(["damaged", "missing", "unrecorded"]).any()
    again = run(tmp_path / "run")  # nothing fails any more
    assert again.failed.empty
    assert results(tmp_path / "run") == results(finished)


def test_two_editions_are_needed(tmp_path, monkeypatch):
    editions = ld.synthesize(120, 3, seed=0).multitext.editions
    fail_for(monkeypatch, list(editions[:2]), ["kneser-ney-3"])
    refused(DataError, r"2 of 3 editions failed \(.*\), 1 are finished and kept\. The first error: ", run, tmp_path)
    assert len(records(tmp_path)) == 4
    log = read_run_log(tmp_path)
    assert log[-1]["state"] == "failed"
    failed = [(entry["lm"], entry["edition"]) for entry in log if entry["event"] == "failure"]
    assert failed == [("kneser-ney-3", edition) for edition in editions[:2]]
    status = read_status(tmp_path).set_index(["lm", "edition"])["state"]
    assert set(status["kneser-ney-3"][list(editions[:2])]) == {"failed"}
    assert set(status["kneser-ney-2"]) == {"done"}


def test_the_command_exits_with_1_and_prints_what_there_is(langdiff, files, tmp_path):
    path = sorted(files[0].glob("*.txt"))[0]
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(re.sub(r"\t.*", "\tжж", line) for line in lines), encoding="utf-8")  # an alphabet of one
    edition = path.stem
    (tmp_path / "x.toml").write_text(
        'name = "x"\n[corpus]\nformat = "pbc"\npath = "corpus"\n[lm]\nmodels = ["kneser-ney-2"]\nmax_replaced = 1.0\n'
    )
    done = langdiff("run", tmp_path / "x.toml", "--out", tmp_path / "run", "--json")
    assert done.code == 1, done.err
    assert len(json.loads(done.out)) == 3
    assert f"langdiff: kneser-ney-2: edition {edition!r}: " in done.err
    assert langdiff("report", tmp_path / "run").code == 0


# damage


@pytest.mark.parametrize("name", ["fits/kneser-ney-2.json", "surprisals/kneser-ney-3.csv", "manifest.json"])
def test_one_flipped_bit_in_a_result_is_named_and_made_again(finished, copy, name):
    path = copy / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    refused(DataError, rf"{path.name}: damaged: .*`langdiff run` with the same experiment", read_run, copy)
    run(copy)
    assert results(copy) == results(finished)
    read_run(copy)


def test_verify_names_damaged_missing_and_unrecorded_files(langdiff, copy):
    assert langdiff("verify", copy).code == 0
    jobs = sorted(copy.glob("jobs/*/*/*"))
    (jobs[0] / "log.jsonl").write_text("{}\n")
    (jobs[1] / "surprisals.parquet").unlink()
    (jobs[2] / CHECKSUMS).unlink()
    (copy / "tables" / "mine.csv").write_text("a,b\n")
    (copy / "report.html").write_text("<html/>")
    done = langdiff("verify", copy, "--json")
    assert done.code == 1
    rows = [row for row in json.loads(done.out) if row["link"] == "file" and row["state"] != "whole"]
    found = {Path(row["file"]).relative_to(copy).as_posix(): row["state"] for row in rows}
    place = [path.relative_to(copy).as_posix() for path in jobs]
    assert found == {
        f"{place[0]}/log.jsonl": "damaged",
        f"{place[1]}/surprisals.parquet": "missing",
        f"{place[2]}/{CHECKSUMS}": "missing",
        "tables/mine.csv": "unrecorded",
        "report.html": "damaged",
    }
    assert "first link that is not proven: file of" in langdiff("verify", copy).err
    (copy / "tables" / "mine.csv").unlink()
    with pytest.warns(LangdiffWarning, match="again"):
        run(copy)
    assert set(verify_run(copy)["state"]) == {"whole"}


def test_a_damaged_job_is_told_in_the_log_and_done_again(finished, copy):
    path = next(copy.glob("jobs/*/kneser-ney-2/*/surprisals.parquet"))
    content = bytearray(path.read_bytes())
    content[100] ^= 8
    path.write_bytes(content)
    with pytest.warns(LangdiffWarning, match=r"surprisals\.parquet: damaged"):
        run(copy)
    assert results(copy) == results(finished)
    assert any("surprisals.parquet: damaged" in entry.get("message", "") for entry in read_run_log(copy))


# what changes


def test_a_changed_file_redoes_its_edition_alone(files, tmp_path):
    folder, corpus = files
    run(tmp_path / "run", **corpus)
    before = records(tmp_path / "run")
    path = sorted(folder.glob("*.txt"))[0]
    path.write_text(path.read_text(encoding="utf-8").replace("a", "o"), encoding="utf-8")
    run(tmp_path / "run", **corpus)
    after = records(tmp_path / "run")
    assert before.items() <= after.items()
    assert {record.parents[2].name for record in after.keys() - before.keys()} == {path.stem}


def test_another_version_trains_nothing_and_another_seed_beside(copy, monkeypatch):
    before = records(copy)
    monkeypatch.setattr(record_of_jobs, "__version__", "999")
    run(copy)
    assert records(copy) == before
    monkeypatch.setattr(recipe.KneserNeyRecipe, "training_format", 999)
    run(copy)
    after = records(copy)
    assert before.items() <= after.items()
    assert len(after) == 2 * len(before)


def test_a_clock_that_goes_backwards_changes_nothing(finished, tmp_path, monkeypatch):
    now = [time.time()]

    def backwards():
        now[0] -= 3600
        return now[0]

    monkeypatch.setattr(time, "time", backwards)
    run(tmp_path / "run")
    first = time.time()
    for path in (tmp_path / "run").glob("jobs/**/*"):
        os.utime(path, (first, first))  # older than the run
    run(tmp_path / "run")
    assert results(tmp_path / "run") == results(finished)


# disk and processes


def full_after(monkeypatch, module, writes):
    """Let a disk be full after some files."""
    left, atomic_path = [writes], io.atomic_path

    def filling(path):
        left[0] -= 1
        if left[0] < 0:
            raise OutputError(f"{path}: cannot be written: {os.strerror(errno.ENOSPC)}.")
        return atomic_path(path)

    monkeypatch.setattr(module, "atomic_path", filling)


def test_a_full_disk_is_told_with_what_is_finished(finished, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        full_after(patch, folder, 4)  # tables of three editions, and one more
        with pytest.raises(OutputError, match=r"No space left.* 1 of 3 editions are finished and kept \('[a-z-]+'\);"):
            run(tmp_path / "run")
    assert len(records(tmp_path / "run")) == 4
    run(tmp_path / "run")
    assert results(tmp_path / "run") == results(finished)


def test_a_disk_that_is_full_after_training(tmp_path, monkeypatch):
    def full(*_):
        raise OutputError("no space.")

    monkeypatch.setattr("langdiff.run.report.write_text", full)
    refused(OutputError, r"no space\. All language models are finished and kept", run, tmp_path / "run")
    assert len(records(tmp_path / "run")) == 6


CHILD = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from langdiff.errors import LangdiffError
from langdiff.lm.ngram import recipe
from langdiff.run import Experiment, run_experiment
if sys.argv[2] == "nobody":  # after all imports: nobody may not be allowed to read the files of Python
    os.setgid(65534), os.setuid(65534)
settings = {settings!r}
try:
    run_experiment(Experiment.model_validate(settings), Path(sys.argv[1]), progress=False)
except LangdiffError as error:
    sys.exit(str(error))
"""


def child(directory, user, root):
    command = [sys.executable, "-c", CHILD.format(settings=SETTINGS), str(directory), user, str(root)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ | {"HOME": "/nonexistent"})


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become another user")
def test_a_folder_that_may_not_be_written(finished, tmp_path, root):
    directory = Path("/tmp") / f"langdiff-{os.getpid()}-read-only"
    shutil.copytree(finished, directory)
    try:
        for path in (directory, *directory.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        before = results(directory)
        process = child(directory, "nobody", root)
        error = process.communicate(timeout=300)[1]
        assert process.returncode == 1
        assert "cannot be written: Permission denied" in error
        assert results(directory) == before
    finally:
        shutil.rmtree(directory)


@pytest.mark.slow
def test_two_processes_on_one_directory(finished, tmp_path, root):
    both = [child(tmp_path / "run", "same", root) for _ in range(2)]
    errors = [process.communicate(timeout=600)[1] for process in both]
    codes = [process.returncode for process in both]
    assert 0 in codes, errors
    for code, error in zip(codes, errors, strict=True):
        assert code == 0 or "another process is using this run directory" in error
    assert results(tmp_path / "run") == results(finished)


# status and clean


def test_status_while_the_run_is_going(tmp_path, monkeypatch):
    seen = []
    train = job._train_and_score

    def watched(task, *arguments):
        if task.recipe.name == "kneser-ney-3" and len(seen) < 2:
            seen.append(read_status(tmp_path).set_index(["lm", "edition"])["state"].unstack(0))
        return train(task, *arguments)

    monkeypatch.setattr(job, "_train_and_score", watched)
    run(tmp_path)
    first, second = seen
    assert (first["kneser-ney-2"] == "done").all()
    assert sorted(first["kneser-ney-3"]) == ["training", "waiting", "waiting"]
    assert sorted(second["kneser-ney-3"]) == ["done", "training", "waiting"]


def interrupted_after_two_epochs(tmp_path, monkeypatch, models):
    experiment = Experiment.model_validate(SETTINGS | {"lm": {"models": models, "max_replaced": 1.0}})
    monkeypatch.setattr("langdiff.run.directory.shutil.rmtree", lambda *_, **__: None)  # as a kill leaves it
    from langdiff.lm.lstm import loop, training

    run_epoch = loop.EpochLoop.run_epoch

    def killed(loop):
        if len(loop.history) == 2:
            raise KeyboardInterrupt
        return run_epoch(loop)

    monkeypatch.setattr(training, "SECONDS", 0.0)
    monkeypatch.setattr(loop.EpochLoop, "run_epoch", killed)
    with pytest.raises(KeyboardInterrupt):
        run_experiment(experiment, tmp_path, progress=False)


def test_status_of_an_interrupted_run(langdiff, tmp_path, monkeypatch):
    interrupted_after_two_epochs(tmp_path, monkeypatch, ["char-tiny"])
    table = json.loads(langdiff("status", tmp_path, "--json").out)
    assert sorted(row["state"] for row in table) == ["interrupted", "waiting", "waiting"]
    begun = next(row for row in table if row["state"] == "interrupted")
    assert (begun["epoch"], begun["epochs"]) == (2, 8)
    assert begun["seconds_left"] == pytest.approx(3 * begun["seconds"])
    assert begun["bits_per_character"] > 0
    assert "interrupted" in langdiff("status", tmp_path).out
    assert "not a run directory" in langdiff("status", tmp_path / "jobs").err


def test_the_time_left_is_that_of_all_jobs(langdiff, tmp_path, monkeypatch):
    interrupted_after_two_epochs(tmp_path, monkeypatch, ["char-tiny", "kneser-ney-2"])
    log = next(tmp_path.glob(f"jobs/*/char-tiny/*/{LOG}"))
    epochs = [json.loads(line) | {"seconds": 600} for line in log.read_text().splitlines()]
    log.write_text("".join(json.dumps(epoch) + "\n" for epoch in epochs))
    table = read_status(tmp_path).set_index(["lm", "state"])["seconds_left"]
    assert table["char-tiny", "interrupted"] == 6 * 600  # eight epochs at most
    assert table["char-tiny", "waiting"].tolist() == [8 * 600] * 2
    assert table["kneser-ney-2"].isna().all()
    assert "for one worker: char-tiny, 220 minutes; kneser-ney-2, not known yet" in langdiff("status", tmp_path).err
    (tmp_path / ".new" / "tables" / "editions.csv").unlink()  # as long as the corpus is being read
    found = read_status(tmp_path).set_index("lm")
    assert found["state"].to_dict() == {"char-tiny": "interrupted", "kneser-ney-2": "waiting"}
    assert found["seconds_left"].isna().all()
    assert "char-tiny, not known yet" in langdiff("status", tmp_path).err


def test_clean_removes_what_no_experiment_needs(langdiff, finished, copy):
    run(copy, lm={"models": ["kneser-ney-2"], "max_replaced": 1.0})
    job_folder = next(copy.glob("jobs/*/kneser-ney-2/*"))
    (job_folder / "model" / "training-000001-0123.safetensors").write_text("of a finished training")
    (copy / "tables" / ".editions.csv.0123.part").write_text("half")
    (copy / ".new").mkdir()
    (copy / ".new" / "report.html").write_text("of an interrupted run")
    dry = langdiff("clean", copy, "--dry-run", "--json")
    paths = [row["path"] for row in json.loads(dry.out)]
    assert len([path for path in paths if path.split("/")[-2] == "kneser-ney-3"]) == 3
    assert len(paths) == 6
    assert all((copy / path).exists() for path in paths)
    assert "removed: 6 files or folders" in langdiff("clean", copy).out
    assert not any((copy / path).exists() for path in paths)
    assert "nothing to remove" in langdiff("clean", copy).out
    assert len(records(copy)) == 3
    before = records(copy)
    run(copy, lm={"models": ["kneser-ney-2"], "max_replaced": 1.0})
    assert records(copy) == before  # nothing had to be done again


def test_clean_keeps_away_from_a_run_that_is_going(langdiff, copy):
    with io.locked(copy, "at work."):
        done = langdiff("clean", copy)
    assert done.code == 1
    assert "another process is using this run directory" in done.err


def test_the_log_of_a_run(copy):
    entries = read_run_log(copy)
    assert [entries[0]["event"], entries[-1]["event"], entries[-1]["state"]] == ["begin", "end", "finished"]
    begun = [entry["stage"] for entry in entries if entry["event"] == "stage begins"]
    assert begun == ["corpus", "selection", "kneser-ney-2", "kneser-ney-3", "regression", "report"]
    with (copy / "run.jsonl").open("a") as stream:
        stream.write('{"event": "cut by a ki')
    run(copy)
    assert len([entry for entry in read_run_log(copy) if entry["event"] == "begin"]) == 2


def test_a_log_that_cannot_be_written_does_not_end_a_run(tmp_path):
    (tmp_path / "run" / "run.jsonl").mkdir(parents=True)
    assert run(tmp_path / "run").report.is_file()


def test_versions_of_all_dependencies_are_in_the_manifest(finished):
    versions = read_run(finished).manifest["versions"]
    assert {"langdiff", "torch", "numpy", "scipy", "pandas", "statsmodels", "pyarrow", "highspy"} <= versions.keys()
    assert not {"pytest", "mkdocs", "ruff"} & versions.keys()


def test_models_of_an_interrupted_change_are_kept(finished, copy, monkeypatch):
    more = SETTINGS["lm"] | {"models": ["kneser-ney-2", "kneser-ney-4"]}
    monkeypatch.setattr("langdiff.run.runner.fit", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run(copy, lm=more)
    monkeypatch.undo()
    status = read_status(copy)
    assert set(status["lm"]) == {"kneser-ney-2", "kneser-ney-4"}
    assert set(status["state"]) == {"done"}
    for _ in range(2):
        clean_run(copy)
    assert len(list(copy.glob("jobs/*/kneser-ney-4/*/checksums.json"))) == 3
    assert read_run(copy).manifest == read_run(finished).manifest  # the results are those of the first


def test_results_of_models_taken_out_of_an_experiment_go(copy):
    run(copy, lm=SETTINGS["lm"] | {"models": ["kneser-ney-2"]})
    assert not list(copy.glob("surprisals/kneser-ney-3*"))
    assert not list(copy.glob("fits/kneser-ney-3*"))
    assert set(verify_run(copy)["state"]) == {"whole"}


def test_editions_named_by_numbers(tmp_path):
    for name in ("001", "002", "003"):
        (tmp_path / f"{name}.txt").write_text("".join(f"{k} is line {k * k} of {name}\n" for k in range(120)))
    corpus = {"format": "moses", "path": str(tmp_path)}
    run(tmp_path / "run", corpus=corpus)
    again = read_run(tmp_path / "run")
    assert again.editions.index.tolist() == ["001", "002", "003"]
    assert set(again.to_frame()["edition"]) == {"001", "002", "003"}

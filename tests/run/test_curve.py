"""Experiments that measure difficulties at several sizes."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from langdiff.run import Experiment, read_run, run_experiment, verify_run
from langdiff.run.upkeep import clean_run, read_status

SETTINGS = {
    "name": "curve",
    "corpus": {"format": "synthetic", "n_intents": 120, "n_languages": 3},
    "lm": {"models": ["kneser-ney-2"], "max_replaced": 1.0, "baselines": False},
}


CURVE = {"train_sizes": [20, 40, 80], "lm": "kneser-ney-2"}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    experiment = Experiment.model_validate(SETTINGS | {"curve": CURVE})
    return run_experiment(experiment, tmp_path_factory.mktemp("runs") / "run", progress=False)


def test_a_run_has_its_curve_in_files_and_report(run):
    assert run.curve.sizes == [20, 40, 80]
    again = read_run(run.directory)
    np.testing.assert_array_equal(again.curve.log_bits, run.curve.log_bits)
    np.testing.assert_allclose(
        run.curve.difficulty[80], run.fits["kneser-ney-2"].difficulty
    )  # all of the training part
    assert "Does it hold with more data?" in run.report.read_text(encoding="utf-8")
    assert {path.stem for path in (run.directory / "figures").glob("curve*")} == {
        *("curve", "curve-ranks", "curve-correlations")
    }


def test_language_models_of_sizes_are_known_on_disk(run, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(run.directory, copy)
    assert len(clean_run(copy)) == 0
    gone = next((copy / "curve-jobs" / "size-40").iterdir())
    shutil.rmtree(gone)
    found = verify_run(copy)
    assert found.loc[found["state"] == "missing", "file"].tolist() == [
        f"curve-jobs/size-40/{gone.name}/kneser-ney-2/checksums.json"
    ]
    status = read_status(copy)
    waiting = status[status["state"] == "waiting"]
    assert len(status) == 3 + 3 * 3
    assert waiting[["edition", "size", "seed"]].to_numpy().tolist() == [[gone.name, 40, 0]]
    assert waiting["seconds_left"].notna().all()  # from the others of that size


def test_language_models_of_other_sizes_are_removed(run, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(run.directory, copy)
    fewer = Experiment.model_validate(SETTINGS | {"curve": CURVE | {"train_sizes": [20, 80]}})
    (copy / "experiment.json").write_text(fewer.model_dump_json())
    assert sorted({Path(path).parts[1] for path in clean_run(copy)["path"]}) == ["size-40"]
    assert sorted(path.name for path in (copy / "curve-jobs").iterdir()) == ["size-20", "size-80"]


def test_a_curve_of_folds_measures_every_intent(tmp_path):
    curve = {"train_sizes": [20, 40], "lm": "kneser-ney-2"}
    experiment = Experiment.model_validate(SETTINGS | {"curve": curve, "split": {"folds": 3}})
    run = run_experiment(experiment, tmp_path / "run", progress=False)
    assert run.curve.n_intents == 120
    assert {path.name for path in (tmp_path / "run/curve-jobs/size-40").iterdir()} == {"fold-1", "fold-2", "fold-3"}
    assert len(clean_run(tmp_path / "run")) == 0
    status = read_status(tmp_path / "run")
    assert (status["state"] == "done").all()
    of_sizes = status.dropna(subset=["size"])
    assert of_sizes.groupby("size")["fold"].value_counts().eq(3).all()
    assert len(of_sizes) == 3 * 2 * 3


def test_a_curve_goes_with_its_section(run, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(run.directory, copy)
    without = run_experiment(Experiment.model_validate(SETTINGS), copy, progress=False)
    assert without.curve is None
    assert read_run(copy).curve is None
    assert "Does it hold with more data?" not in without.report.read_text(encoding="utf-8")
    assert len(clean_run(copy)) == 9
    assert not (copy / "curve-jobs").exists()
    assert (copy / "jobs").exists()
    assert (verify_run(copy)["state"] == "whole").all()

"""Experiments whose texts are divided into folds, or by documents."""

import shutil

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.run import Experiment, read_run, run_experiment, verify_run
from langdiff.run.upkeep import clean_run, read_status

FOLDED = {
    "name": "folded",
    "corpus": {"format": "synthetic", "n_intents": 200, "n_languages": 3},
    "split": {"folds": 4},
    "lm": {"models": ["kneser-ney-2"], "max_replaced": 1.0},
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "folded"
    return run_experiment(Experiment.model_validate(FOLDED), folder, progress=False)


def test_all_intents_are_measured_and_the_folds_compared(run):
    table = run.surprisals["kneser-ney-2"]
    assert len(table.intents) == 200
    assert sorted(table.intent_info["fold"].unique()) == ["1", "2", "3", "4"]
    assert run.manifest["parts"] == {"train": 135, "dev": 15, "test": 200, "folds": 4}
    folds = pd.read_csv(run.directory / "tables" / "folds.csv", index_col="edition")
    expected = ld.regression.compare_folds(table, seed=0)
    np.testing.assert_allclose(folds["fold_sd"], expected.to_frame()["fold_sd"])
    assert folds["p_value_of_all"].iloc[0] == expected.p_value
    assert "200 to measure on, in 4 folds" in " ".join(run.report.read_text(encoding="utf-8").split())
    again = read_run(run.directory)
    assert again.surprisals["kneser-ney-2"].bits.equals(table.bits)
    pd.testing.assert_frame_equal(again.folds, run.folds)
    assert "Do the models of the folds agree?" in run.report.read_text(encoding="utf-8")


def test_what_is_left_on_disk_is_known_fold_by_fold(run, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(run.directory, copy)
    status = read_status(copy)
    assert status["fold"].tolist() == [1, 2, 3, 4] * 3
    assert (status["state"] == "done").all()
    assert len(clean_run(copy)) == 0
    gone = next((copy / "jobs" / "fold-3").glob("*/kneser-ney-2/*"))
    shutil.rmtree(gone)
    found = verify_run(copy)
    assert found.loc[found["state"] == "missing", "file"].str.contains(f"fold-3/{gone.parents[1].name}").any()
    assert read_status(copy)["state"].value_counts().to_dict() == {"done": 11, "waiting": 1}
    run_experiment(Experiment.model_validate(FOLDED), copy, progress=False)
    assert (verify_run(copy)["state"] == "whole").all()


def test_models_of_folds_go_when_the_experiment_has_none_any_more(run, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(run.directory, copy)
    single = Experiment.model_validate(FOLDED | {"split": {}})
    assert len(run_experiment(single, copy, progress=False).surprisals["kneser-ney-2"].intents) < 200
    assert not (copy / "tables" / "folds.csv").exists()
    removed = clean_run(copy)["path"].tolist()
    assert len(removed) == 12
    assert all("fold-" in path for path in removed)
    assert (verify_run(copy)["state"] == "whole").all()


@pytest.mark.filterwarnings("ignore:in single folds")  # eight chapters in each
def test_books_stay_whole_in_an_experiment(tmp_path):
    verses = [f"{book}{chapter:03}{verse:03}" for book in range(40, 52) for chapter in (1, 2) for verse in range(1, 8)]
    rng = np.random.default_rng(0)
    texts = {e: [" ".join(rng.choice(list(f"ab{e}"), 9)) for _ in verses] for e in ("eng", "deu")}
    ld.write_multitext(ld.read_frame(pd.DataFrame(texts, index=verses)), tmp_path / "texts")
    settings = FOLDED | {"corpus": {"format": "pbc", "path": str(tmp_path / "texts")}, "split": {"groups": "book"}}
    run = run_experiment(Experiment.model_validate(settings), tmp_path / "run", progress=False)
    assert run.manifest["parts"] == {"train": 112, "dev": 28, "test": 28}
    assert run.surprisals["kneser-ney-2"].intent_info["book"].nunique() == 2
    settings["split"] = {"groups": "chapter", "folds": 3}
    settings["fit"] = {"clusters": "fold"}
    with pytest.warns(UserWarning, match="standard errors from 3 clusters by fold"):
        folded = run_experiment(Experiment.model_validate(settings), tmp_path / "run", progress=False)
    assert len(folded.surprisals["kneser-ney-2"].intents) == len(verses)
    settings["split"] = {"groups": "speaker"}
    with pytest.raises(ConfigError, match=r"^groups = \"speaker\" in \[split\]: no such column about intents\. There"):
        run_experiment(Experiment.model_validate(settings), tmp_path / "other", progress=False)
    settings["split"], settings["fit"] = {"groups": "chapter"}, {"clusters": "speaker"}
    with pytest.raises(ConfigError, match=r"^clusters = \"speaker\" in \[fit\]: no such .*'book', 'chapter'; name"):
        run_experiment(Experiment.model_validate(settings), tmp_path / "other", progress=False)
    settings["split"] = {"groups": "book", "folds": 13}
    with pytest.raises(DataError, match=r"12 group\(s\) \(book\)"):
        run_experiment(Experiment.model_validate(settings), tmp_path / "other", progress=False)

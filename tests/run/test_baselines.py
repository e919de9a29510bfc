"""The baselines of a run: what is measured, kept, shown and warned about."""

import pandas as pd
import pytest

import langdiff as ld
from langdiff.errors import DataError, LangdiffWarning
from langdiff.run import Experiment, read_run, run_experiment, verify_run
from langdiff.run.directory import KEPT_BASELINES
from langdiff.run.sections import baselines
from tests.cli.conftest import langdiff as langdiff

CORPUS = {"format": "synthetic", "n_intents": 200, "n_languages": 2}
MODELS = ["char-tiny", "char-tiny-unpriced", "kneser-ney-3"]


def experiment(**lm):
    return Experiment.model_validate({"name": "small", "corpus": CORPUS, "lm": {"models": MODELS, **lm}})


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    with pytest.warns(LangdiffWarning, match="char-tiny: 2 of 2"):
        return run_experiment(experiment(), tmp_path_factory.mktemp("runs") / "small", progress=False)


def test_they_are_those_of_the_parts_that_the_models_had(run):
    made = ld.synthesize(CORPUS["n_intents"], CORPUS["n_languages"], seed=0)
    pd.testing.assert_frame_equal(run.baselines, ld.lm.measure_baselines(ld.split(made.multitext), progress=False))
    pd.testing.assert_frame_equal(read_run(run.directory).baselines, run.baselines)


def test_networks_are_set_beside_them_but_neither_ngrams_nor_what_is_not_priced(run):
    with pytest.warns(LangdiffWarning, match="Train longer"):
        table = run.against_baselines()
    assert set(table["lm"]) == {"char-tiny"}
    row = table.set_index("edition").loc[run.baselines.index[0]]
    assert row["baseline_bits"] == run.baselines.iloc[0].min()
    assert row["percent"] == pytest.approx(100 * (1 - row["bits_per_character"] / row["baseline_bits"]))
    page = run.report.read_text()
    assert "Have the models learned enough?" in page
    assert f"{row['percent']:+.1f}" in page


@pytest.mark.slow
def test_a_second_run_measures_them_only_where_texts_have_changed(run, monkeypatch):
    measured = []

    def watched(parts, **options):
        measured.extend(parts.test.editions)
        return ld.lm.measure_baselines(parts, **options)

    monkeypatch.setattr(baselines, "measure_baselines", watched)
    with pytest.warns(LangdiffWarning):
        again = run_experiment(experiment(), run.directory, progress=False)
    assert not measured
    pd.testing.assert_frame_equal(again.baselines, run.baselines)
    path = run.directory / KEPT_BASELINES
    path.write_text(path.read_text().replace('"lzma": ', '"lzma": 1'))  # of which the seal knows nothing
    with pytest.warns(LangdiffWarning):
        again = run_experiment(experiment(), run.directory, progress=False)
    assert measured == list(run.baselines.index)
    pd.testing.assert_frame_equal(again.baselines, run.baselines)


def test_an_interrupted_run_keeps_those_that_were_measured(tmp_path, monkeypatch):
    measured = []

    def stopped(parts, **options):
        measured.extend(parts.test.editions)
        if len(measured) == 2:
            raise KeyboardInterrupt
        return ld.lm.measure_baselines(parts, **options)

    monkeypatch.setattr(baselines, "measure_baselines", stopped)
    with pytest.raises(KeyboardInterrupt):
        run_experiment(experiment(models=["kneser-ney-3"], baselines=True), tmp_path / "run", progress=False)
    first, second = measured
    run_experiment(experiment(models=["kneser-ney-3"], baselines=True), tmp_path / "run", progress=False)
    assert measured == [first, second, second]
    assert set(verify_run(tmp_path / "run")["state"]) == {"whole"}


def test_a_run_may_do_without(tmp_path):
    found = run_experiment(experiment(models=["kneser-ney-3"], baselines=False), tmp_path / "run", progress=False)
    assert found.baselines is None
    assert read_run(tmp_path / "run").baselines is None
    assert "baselines = false" in found.report.read_text()
    with pytest.raises(DataError, match="baselines = true"):
        found.against_baselines()


@pytest.mark.parametrize("models", [["kneser-ney-3"], ["kneser-ney-3", "char-tiny-unpriced"]])
def test_where_no_model_is_compared_with_them_they_are_not_measured(tmp_path, monkeypatch, models):
    def unasked(*_, **__):
        raise AssertionError("nobody asked for baselines")

    monkeypatch.setattr(baselines, "measure_baselines", unasked)
    found = run_experiment(experiment(models=models), tmp_path / "run", progress=False)
    assert found.baselines is None
    assert "baselines" not in found.manifest["seconds"]
    assert "no model here is a network that pays for replaced characters" in found.report.read_text()


def test_of_folds_they_are_those_of_all_tests_together(tmp_path):
    settings = {"name": "folds", "corpus": CORPUS, "split": {"folds": 2}, "lm": {"models": ["kneser-ney-6"]}}
    settings["lm"] |= {"max_replaced": 1, "baselines": True}
    found = run_experiment(Experiment.model_validate(settings), tmp_path / "run", progress=False)
    rates = found.surprisals["kneser-ney-6"].bits_per_character()["bits_per_character"]
    pd.testing.assert_series_equal(found.baselines["kneser-ney-6"], rates, check_names=False, rtol=1e-9)

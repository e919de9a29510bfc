"""The sections of an experiment beyond the regression, in one small run of n-grams."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.errors import ConvergenceWarning, DataError, LangdiffWarning, OutputError
from langdiff.run import Experiment, analysis, read_run, run_experiment
from langdiff.run.report import render_report
from langdiff.run.sections.predictors import PredictorSettings
from langdiff.run.settings import SECTIONS as KINDS
from langdiff.run.settings import Basis
from langdiff.run.upkeep import verify_run
from tests.typology.predictors.test_wals import TABLES

SECTIONS = {
    "compare": {"models": ["1", "2"], "n_folds": 2},
    "goodness": {"models": ["1", "2"], "n_subsets": 2, "n": ["map", "posterior"]},
    "translationese": {"min_native": 5},
    "predictors": {"compressor": "zlib"},
    "correlate": {"only": ["word_types", "characters"], "tests": ["pearson", "permutation"], "n_resamples": 99},
    "parity": {"reference": "eng"},
}


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    """An experiment on files whose intents were first said in one language or the other."""
    folder = tmp_path_factory.mktemp("corpus")
    made = ld.synthesize(150, 4, seed=4).multitext
    names = dict(zip(made.editions, ["deu", "eng", "fra", "ell"], strict=True))
    texts = pd.DataFrame({names[edition]: made.text(edition).to_numpy() for edition in made.editions})
    ld.write_multitext(ld.read_frame(texts), folder / "texts", format="moses")
    (folder / "origins.csv").write_text(
        "intent,original_language\n" + "".join(f"{k},{'deu' if k % 3 else 'eng'}\n" for k in range(1, 151))
    )
    return {
        "name": "sections",
        "corpus": {"format": "moses", "path": str(folder / "texts")},
        "lm": {"models": ["kneser-ney-2"], "max_replaced": 1.0, "baselines": False},
        "fit": {"errors": "information"},
        **SECTIONS,
        "translationese": SECTIONS["translationese"] | {"origins": str(folder / "origins.csv")},
    }


@pytest.fixture(scope="module")
def run(settings, tmp_path_factory):
    return run_experiment(Experiment.model_validate(settings), tmp_path_factory.mktemp("runs") / "x", progress=False)


def test_sections_find_what_the_functions_find(run, settings):
    assert list(run.analyses) == ["alignment", *SECTIONS]
    assert run.manifest["not_done"] == {}
    (fit,), (table,) = run.fits.values(), run.surprisals.values()
    compared = run.analyses["compare"].table.set_index("model")
    assert compared.loc["2", "log_likelihood"] == pytest.approx(fit.log_likelihood)
    assert (compared["held_out_difference"] <= 0).all()
    expected = ld.goodness(table, ["1", "2"], n_subsets=2, n=["map", "posterior"], seed=0).to_frame()
    goodness = run.analyses["goodness"]
    pd.testing.assert_frame_equal(goodness.table.drop(columns="lm"), expected, check_dtype=False)
    assert [figure.name for figure in goodness.figures] == [
        f"goodness-kneser-ney-2-{n}-difficulty-dispersion" for n in ("map", "posterior")
    ]
    native = run.analyses["translationese"].table.set_index("edition")
    origins = ld.experiments.read_origins(settings["translationese"]["origins"])
    expected = ld.translationese(table, origins, min_native=5, errors="information", seed=0).to_frame()
    assert native["difference"].to_dict() == pytest.approx(expected["difference"].to_dict())
    correlated = run.analyses["correlate"].table
    x = run.analyses["predictors"].table.set_index("edition")["characters"]
    r = np.corrcoef(x, fit.difficulty[x.index])[0, 1]
    tests = correlated.set_index(["predictor", "test"])
    assert tests.loc[("characters", "pearson"), "estimate"] == pytest.approx(r)
    known = tests.dropna(subset="p")
    assert len(known) == 2
    assert (known["p_adjusted"] >= known["p"]).all()


@pytest.mark.parametrize(("models", "restricted"), [(["2", "2C"], True), (["1", "2"], False)])
def test_models_are_compared_by_one_kind_of_likelihood(settings, tmp_path, models, restricted):
    """By the restricted one, which [fit] asks for, if all have it; never by both."""
    kept = {key: settings[key] for key in ("name", "corpus")}
    both = settings["lm"] | {"models": ["kneser-ney-2", "kneser-ney-3"]}
    again = kept | {"lm": both, "fit": {"restricted": True}, "compare": {"models": models}}
    found = run_experiment(Experiment.model_validate(again), tmp_path / "x", progress=False)
    compared = found.analyses["compare"]
    rows = compared.table.set_index(["lm", "model"])
    assert set(rows["restricted"]) == {restricted}
    for lm, table in found.surprisals.items():
        expected = ld.fit(table, model="2", restricted=restricted)
        assert rows.loc[(lm, "2"), "log_likelihood"] == pytest.approx(expected.log_likelihood)
    assert any("unrestricted likelihood, unlike in [fit]" in note for note in compared.notes) is not restricted
    totals = {lm: table.bits.to_numpy().sum() for lm, table in found.surprisals.items()}
    words = ", ".join(f"{lm} {total:,.0f}" for lm, total in totals.items())
    assert compared.notes[-1].endswith(f"that all have: {words}.")
    page = found.report.read_text(encoding="utf-8")
    assert all(f"<h3>{lm}</h3>" in page for lm in totals)  # a table of each


def test_texts_are_counted_without_the_marks_of_the_tokenizer(run, settings):
    texts = ld.read_multitext(settings["corpus"]["path"], format="moses")
    parity = ld.measure_parity(texts, reference="eng").estimates
    found = run.analyses["parity"].table.set_index("edition")
    for measure in ("byte_premium", "character_premium", "bytes_per_character"):
        assert found[measure].to_dict() == parity[measure].to_dict()
    assert found["byte_premium"]["eng"] == 1
    predictors = ld.predictors(ld.split(texts).train, compressor="zlib").to_frame()
    measured = run.analyses["predictors"].table.set_index("edition")
    pd.testing.assert_frame_equal(measured, predictors, check_dtype=False, check_index_type=False)


def test_sections_are_read_back_and_in_the_report(run):
    again = read_run(run.directory)
    page = run.report.read_text(encoding="utf-8")
    for name, found in run.analyses.items():
        pd.testing.assert_frame_equal(again.analyses[name].table, found.table)
        assert again.analyses[name].figures == found.figures
        assert f'<section id="{name}">' in page
        assert f'href="#{name}"' in page
        assert (run.directory / "tables" / f"{name}.csv").is_file()
        assert str(found.table.columns[-1]).replace("_", " ") in found.summary().replace("_", " ")
    hostile = replace(run.analyses["predictors"], notes=("<script>alert(1)</script>",))
    text = render_report(replace(run, analyses={"predictors": hostile}), [])
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text


def test_only_what_changed_is_done_again(run, settings, monkeypatch):
    before = {name: (run.directory / "analyses" / f"{name}.json").read_bytes() for name in SECTIONS}
    done = []
    for name in SECTIONS:

        def noted(*given, name=name, make=KINDS[name].make):
            done.append(name)
            return make(*given)

        monkeypatch.setattr(KINDS[name], "make", noted)
    stamp = run.report.stat().st_mtime_ns
    run_experiment(Experiment.model_validate(settings), run.directory, progress=False)
    assert done == []
    assert run.report.stat().st_mtime_ns == stamp  # nothing to do: nothing is written
    changed = settings | {"correlate": settings["correlate"] | {"alpha": 0.1}}
    run_experiment(Experiment.model_validate(changed), run.directory, progress=False)
    assert done == ["correlate"]
    (run.directory / "jobs" / "analyses" / "parity.json").write_text("{}")  # damaged: done again
    again = run_experiment(Experiment.model_validate(settings), run.directory, progress=False)
    assert done == ["correlate", "correlate", "parity"]
    after = {name: (run.directory / "analyses" / f"{name}.json").read_bytes() for name in SECTIONS}
    assert after == before
    assert run.report.stat().st_mtime_ns > stamp
    monkeypatch.undo()
    assert set(verify_run(again.directory)["state"]) == {"whole"}


def test_a_section_that_cannot_be_done_is_named(settings, tmp_path):
    wrong = {key: value for key, value in settings.items() if key not in SECTIONS} | {"correlate": {"only": ["words"]}}
    run = run_experiment(Experiment.model_validate(wrong), tmp_path / "run", progress=False)
    assert run.analyses["correlate"].table.empty
    assert "could not be done: unknown predictor" in run.manifest["not_done"]["correlate"]
    assert "could not be done: unknown predictor" in run.report.read_text(encoding="utf-8")
    assert json.loads((run.directory / "manifest.json").read_text())["not_done"].keys() == {"correlate"}


def test_a_full_disk_is_not_a_fault_of_a_section(tmp_path, monkeypatch):
    def full(*_):
        raise OutputError("No space left on device.")

    monkeypatch.setattr(analysis, "write_analysis", full)
    found = analysis.Analysis(name="compare", table=pd.DataFrame())
    with pytest.raises(OutputError, match="No space left"):
        analysis.kept_or_made("compare", list, lambda: found, tmp_path, tmp_path / "new")


def test_a_warning_of_a_section_is_there_once_whatever_its_figures(tmp_path):
    def make():
        warnings.warn("model 2: 3 chains differ", ConvergenceWarning, stacklevel=1)
        for text in ("20 intents are few", "30 intents are few", "lm: 3 chains"):
            warnings.warn(text, LangdiffWarning, stacklevel=1)
        return analysis.Analysis(name="parity", table=pd.DataFrame({"a": [1.0]}), notes=("lm: 3 chains differ",))

    with pytest.warns(LangdiffWarning) as caught:
        made = analysis.kept_or_made("parity", list, make, tmp_path, tmp_path / "new")
    told = ["model 2: 3 chains differ", "20 intents are few", "lm: 3 chains"]
    assert [str(warning.message) for warning in caught] == told
    assert {warning.filename for warning in caught} == {__file__}
    # a verdict that a note has is not told again; what a note has by chance is
    assert made.notes == ("lm: 3 chains differ", "Warning: 20 intents are few", "Warning: lm: 3 chains")


def test_parity_takes_folds_as_clusters_and_models_without_the_reference(tmp_path):
    settings = {
        "name": "folds",
        "corpus": {"format": "synthetic", "n_intents": 90, "n_languages": 3},
        "split": {"folds": 2},
        "lm": {"models": ["kneser-ney-2"], "max_replaced": 1.0, "baselines": False},
        "fit": {"clusters": "fold"},
        "parity": {"reference": "free-order"},
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # two clusters are few
        run = run_experiment(Experiment.model_validate(settings), tmp_path / "run", progress=False)
    assert run.manifest["not_done"] == {}
    (table,) = run.surprisals.values()
    texts = ld.synthesize(90, 3, seed=0).multitext
    without = table.sel(editions=[name for name in table.editions if name != "free-order"])
    basis = Basis(
        experiment=run.experiment.model_copy(update={"fit": run.experiment.fit.model_copy(update={"clusters": None})}),
        multitext=texts,
        parts=None,
        directory=run.directory,
        surprisals={"whole": table, "without": without},
        fits={},
        progress=False,
    )
    found = basis.experiment.parity.make(basis)
    premiums = found.table.pivot(index="edition", columns="lm", values="byte_premium")
    assert premiums["whole"].to_dict() == premiums["without"].to_dict()
    has = found.table.groupby("lm")["information_parity"].count()
    assert has.to_dict() == {"whole": 3, "without": 0}
    assert any("without: free-order could not be scored" in note for note in found.notes)


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"parity": {"reference": "nld"}}, r"reference = 'nld' in \[parity\] is not a selected edition"),
        ({"predictors": {"wals": "/nowhere"}}, r"/nowhere: no such file or directory \(wals in \[predictors\]\)"),
        ({"translationese": {}}, "needs the original language of each intent"),
    ],
)
def test_what_is_missing_is_refused_before_training(settings, tmp_path, section, message):
    plain = {key: value for key, value in settings.items() if key not in SECTIONS}
    with pytest.raises(DataError, match=message):
        run_experiment(Experiment.model_validate(plain | section), tmp_path / "run", progress=False)
    assert not (tmp_path / "run" / "jobs").exists()


def test_wals_looks_codes_up_under_others(run, tmp_path):
    for name, text in TABLES.items():
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    wals = {"wals": str(tmp_path), "features": ["81A"], "same_as": {"fra": "fin"}}  # French in the place of Finnish
    experiment = run.experiment.model_copy(update={"predictors": PredictorSettings.model_validate(wals)})
    basis = Basis(
        experiment=experiment,
        multitext=ld.read_frame(pd.DataFrame({"spa": ["un perro"], "fra": ["un chien"]}, index=["1"])),
        parts=None,
        directory=run.directory,
        surprisals={},
        fits={},
        progress=False,
    )
    found = experiment.predictors.make(basis).table.set_index("edition")
    assert found["81A"].dropna().to_dict() == {"fra": "SVO"}


def test_posterior(run, monkeypatch):
    arviz = pytest.importorskip("arviz")
    editions = list(run.editions.index)
    draws = np.random.default_rng(0).normal(0, 0.01, (4, 200, len(editions)))
    asked = {}

    def sample(table, **settings):
        asked.update(settings)
        data = {"difficulty": draws, "dispersion": np.exp(draws[..., 0])}
        found = arviz.from_dict(data, coords={"edition": editions}, dims={"difficulty": ["edition"]})
        found["posterior"].attrs["signature"] = "drawn"
        found.add_groups(sample_stats={"diverging": np.zeros((4, 200), dtype=bool)})
        return found

    monkeypatch.setattr(ld, "sample", sample, raising=False)
    basis = Basis(
        experiment=Experiment.model_validate(run.experiment.model_dump() | {"sample": {"chains": 4}}),
        multitext=ld.read_frame(pd.DataFrame({name: ["a"] for name in editions})),
        parts=None,
        directory=run.directory,
        surprisals=run.surprisals,
        fits=run.fits,
        progress=False,
    )
    found = basis.experiment.sample.make(basis)
    assert asked["sampler"].chains == 4
    assert asked["seed"] == 0
    means = dict(zip(editions, draws.mean((0, 1)), strict=True))
    assert found.table.set_index("edition")["difficulty"].to_dict() == pytest.approx(means)
    estimates = run.fits["kneser-ney-2"].difficulty
    assert found.table.set_index("edition")["estimate"].to_dict() == pytest.approx(estimates.to_dict())
    assert "[drawn]" in found.notes[0]

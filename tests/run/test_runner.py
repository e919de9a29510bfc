import json
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.errors import ConfigError, ConvergenceWarning, DataError, EditionWarning, LangdiffError
from langdiff.lm.texts import note_preparation
from langdiff.regression import Blunders
from langdiff.run import Experiment, language_models, read_run, run_experiment, runner
from langdiff.run.html import html_table
from langdiff.run.report import render_report, write_report
from langdiff.run.runner import run_shard
from tests.helpers import refused

SMALL = {
    "name": "a <small> run",
    "corpus": {"format": "synthetic", "n_intents": 240, "n_languages": 3},
    "lm": {"models": ["char-tiny", "bpe-tiny"]},
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return run_experiment(Experiment.model_validate(SMALL), tmp_path_factory.mktemp("runs") / "small")


def test_run_directory_is_complete(run):
    found = {str(p.relative_to(run.directory)) for p in run.directory.rglob("*") if "jobs" not in p.parts}
    assert {
        *("experiment.json", "manifest.json", "report.html", "surprisals/char-tiny.csv", "fits/bpe-tiny.json"),
        *("tables/editions.csv", "tables/difficulties.csv", "tables/truth.csv", "figures/truth.svg"),
        *("figures/char-tiny-against-bpe-tiny.svg", "figures/learning-curves-bpe-tiny.svg"),
    } <= found
    assert not [name for name in found if name.endswith(".part")]


def test_run_is_read_back_as_it_was(run):
    again = read_run(run.directory)
    pd.testing.assert_frame_equal(again.to_frame(), run.to_frame(), check_names=False, check_dtype=False)
    page = run.report.read_bytes()
    assert write_report(again).read_bytes() == page  # the report depends on the directory alone


def seconds_of_training(run):
    return {lm: run.manifest["seconds"][lm] for lm in run.fits}


def contents(directory):
    """Return what a run found; beside it lie a lock, its log, and what an interrupted run was for."""
    files = (path for path in directory.rglob("*") if path.is_file() and path.name not in (".lock", "run.jsonl"))
    return {path: path.read_bytes() for path in files if ".new" not in path.relative_to(directory).parts}


def test_second_run_shows_the_seconds_of_the_training_not_of_reading_what_is_kept_of_it(run):
    logged = dict.fromkeys(run.fits, 0.0)
    for log in run.directory.glob("jobs/*/*/*/log.jsonl"):
        logged[log.parents[1].name] += sum(json.loads(line)["seconds"] for line in log.read_text().splitlines())
    assert seconds_of_training(run) == {lm: round(seconds, 2) for lm, seconds in logged.items()}
    again = run_experiment(run.experiment, run.directory)
    assert seconds_of_training(again) == seconds_of_training(run) == seconds_of_training(read_run(run.directory))
    for lm, seconds in seconds_of_training(run).items():
        assert f"{lm} {seconds}" in run.report.read_text(encoding="utf-8")


@pytest.mark.parametrize("stop", ["compute_where_possible", "fit", "write_pages", "write_json"])
def test_a_repeated_run_that_is_stopped_leaves_what_the_first_one_found(run, monkeypatch, stop):
    before = contents(run.directory)

    def stopped(*arguments, **_):
        if stop != "write_json" or arguments[0].name == "manifest.json":
            raise KeyboardInterrupt

    monkeypatch.setattr(language_models if stop == "compute_where_possible" else runner, stop, stopped)
    other = run.experiment.model_copy(update={"name": "another"})
    with pytest.raises(KeyboardInterrupt):
        run_experiment(other, run.directory)
    assert contents(run.directory) == before
    assert read_run(run.directory).experiment == run.experiment


def test_second_run_trains_nothing(run):
    logs = {log: log.stat().st_mtime_ns for log in run.directory.glob("jobs/**/log.jsonl")}
    assert len(logs) == 6
    again = run_experiment(run.experiment, run.directory)
    assert {log: log.stat().st_mtime_ns for log in run.directory.glob("jobs/**/log.jsonl")} == logs
    pd.testing.assert_frame_equal(again.to_frame(), run.to_frame())


def test_report_is_self_contained_and_escaped(run):
    page = run.report.read_text(encoding="utf-8")
    assert "a &lt;small&gt; run" in page
    assert "<small>" not in page
    assert not re.findall(r"(?:src|href)=[\"'](?!data:|#)", page)
    for edition in run.editions.index:
        assert edition in page
    assert page.startswith("<!DOCTYPE html>")
    before, training = page.split("How did the language models learn?")
    assert before.count('<svg role="img"') == 1 + 2 + 2 + 2  # forest, ranks, agreement, residuals
    assert training.count('<svg role="img"') == 2  # learning curves


def test_errors_that_a_fit_does_not_know_are_left_out_of_the_report(run):
    lm, table = next(iter(run.surprisals.items()))
    with pytest.warns(ConvergenceWarning):
        fit = ld.fit(table, model=Blunders(scale=5.0))
    assert fit.std_error.isna().all()
    page = render_report(replace(run, fits=run.fits | {lm: fit}), [])
    assert "± nan" not in page
    for percent in fit.to_frame()["percent"]:
        assert f">{percent:+.1f}</td>".replace("-", "−") in page


def test_a_single_family_is_no_group_of_the_report(run):
    assert {"Synthetic"} == {family for fit in run.fits.values() for family in fit.edition_info["family"]}
    assert "Means of groups" not in render_report(run, [])
    names = list(run.editions.index)
    info = pd.DataFrame({"family": ["Uralic", *["Romance"] * (len(names) - 1)]}, index=names)
    two = {lm: replace(fit, edition_info=info) for lm, fit in run.fits.items()}
    assert "Means of groups" in render_report(replace(run, fits=two), [])


def test_one_model_that_scores_in_two_ways_is_trained_once_and_the_report_tells_what_was_replaced(tmp_path):
    made = ld.synthesize(240, 3, seed=2).multitext
    edition = made.editions[0]
    rare = made.sel(editions=[edition]).map_text(lambda text: f"{text} {chr(0x4E00 + len(text))}").sources
    ld.write_multitext(replace(made, sources=made.sources | rare), tmp_path / "corpus")
    settings = {
        "name": "x",
        "corpus": {"format": "pbc", "path": str(tmp_path / "corpus")},
        "lm": {"models": ["kneser-ney-2", "kneser-ney-2-unpriced"], "max_replaced": 0.2},
        "fit": {"clusters": "none"},
    }
    with pytest.warns(EditionWarning, match="many characters are too rare") as caught:
        found = run_experiment(Experiment.model_validate(settings), tmp_path / "run")
    assert [each.message.lms for each in caught] == [("kneser-ney-2",), ("kneser-ney-2-unpriced",)]
    assert "Which of them it was is free" in str(caught[1].message)
    assert list(found.fits) == list(found.surprisals) == ["kneser-ney-2", "kneser-ney-2-unpriced"]
    assert len(list(tmp_path.glob("run/jobs/*/*/*/key.json"))) == 3
    assert list(read_run(tmp_path / "run").fits) == list(found.fits)
    rates = found.surprisals["kneser-ney-2"].bits_per_character()["replaced_percent"]
    assert rates.idxmax() == edition
    assert rates.max() > 0.1
    page = found.report.read_text(encoding="utf-8")
    assert "kneser-ney-2: replaced, %" in page
    assert f"kneser-ney-2: characters replaced as too rare: at most {rates.max():.2f} % ({edition})" in page


def test_table_cells_are_escaped():
    html = html_table(pd.DataFrame({"<b>": ["<script>", "&"], "x": [1.5, np.nan]}))
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "&lt;b&gt;" in html
    assert "–" in html


def test_a_run_of_another_format_is_refused(tmp_path):
    (tmp_path / "manifest.json").write_text('{"format_version": 0}')
    refused(DataError, r"manifest\.json: format version 0; this langdiff reads 1\. Repeat the run", read_run, tmp_path)
    (tmp_path / "manifest.json").write_text("[]")
    refused(DataError, r"manifest\.json: damaged: ", read_run, tmp_path)


def test_unfinished_run_is_refused(tmp_path):
    (tmp_path / "experiment.json").write_text("{}")
    refused(DataError, "not a finished run", read_run, tmp_path)


def test_experiment_on_files(tmp_path):
    made = ld.synthesize(240, 3, seed=2)
    ld.write_multitext(made.multitext, tmp_path / "corpus")
    first, last = made.multitext.intents[0], made.multitext.intents[179]
    (tmp_path / "x.toml").write_text(
        f'name = "files"\n[corpus]\nformat = "pbc"\npath = "corpus"\nfirst_intent = "{first}"\n'
        f'last_intent = "{last}"\n[selection]\nmin_intents = 100\n[lm]\nmodels = ["char-tiny"]\n[fit]\nmodel = "1"\n'
    )
    run = run_experiment(tmp_path / "x.toml", tmp_path / "run")
    assert run.manifest["parts"] == {"train": 120, "dev": 30, "test": 30}
    assert len(run.manifest["data"]) == 3
    assert run.truth is None
    assert "selection" in run.report.read_text(encoding="utf-8").lower()
    chapter = read_run(run.directory).surprisals["char-tiny"].intent_info["chapter"]
    assert chapter.to_dict() == {verse: verse[:5] for verse in chapter.index}
    assert chapter.nunique() == 6  # of the seven that Genesis 1:1 to 7:20 are of


@pytest.mark.parametrize("unwritable", ["/proc/nowhere", "file/run"])
def test_unwritable_directory(tmp_path, unwritable):
    (tmp_path / "file").touch()
    refused(LangdiffError, "cannot be written", run_experiment, Experiment.model_validate(SMALL), tmp_path / unwritable)


@pytest.mark.slow
def test_interrupted_run_leaves_no_half_written_file_and_goes_on(tmp_path):
    (tmp_path / "x.toml").write_text(
        'name = "x"\n[corpus]\nformat = "synthetic"\nn_intents = 600\nn_languages = 3\n[lm]\nmodels = ["char-tiny"]\n'
    )
    command = [sys.executable, "-m", "langdiff", "run", str(tmp_path / "x.toml"), "--out", str(tmp_path / "run")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    jobs = tmp_path / "run" / "jobs"
    until = time.monotonic() + 120
    while not list(jobs.glob("**/log.jsonl")):  # wait until training has begun
        assert time.monotonic() < until
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert err.strip().splitlines()[-1].startswith("langdiff: interrupted.")
    assert "Traceback" not in err
    assert not list((tmp_path / "run").rglob("*.part"))
    assert not (tmp_path / "run" / "report.html").exists()
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    assert (tmp_path / "run" / "report.html").exists()


def test_one_edition_is_refused_before_anything_is_trained(tmp_path):
    ld.write_multitext(ld.synthesize(240, 2, seed=2).multitext.sel(editions=["free-order"]), tmp_path / "corpus")
    (tmp_path / "x.toml").write_text('name = "x"\n[corpus]\nformat = "pbc"\npath = "corpus"\n')
    refused(DataError, "only one edition, 'free-order'", run_experiment, tmp_path / "x.toml", tmp_path / "run")
    assert not (tmp_path / "run" / "jobs").exists()


def test_a_column_of_clusters_that_is_not_there_is_refused_before_anything_is_trained(tmp_path):
    settings = Experiment.model_validate(SMALL | {"fit": {"clusters": "document"}})
    with pytest.raises(ConfigError, match=r'clusters = "document" in .fit.: .* There are .bits., .events., .book'):
        run_experiment(settings, tmp_path / "run")
    assert not list((tmp_path / "run").rglob("*.safetensors"))


@pytest.mark.slow
def test_another_experiment_in_the_same_directory_leaves_nothing_of_the_first(tmp_path):
    directory = tmp_path / "run"
    first = run_experiment(Experiment.model_validate(SMALL | {"lm": {"models": ["char-tiny"]}}), directory)
    assert first.truth is not None
    ld.write_multitext(ld.synthesize(240, 2, seed=2).multitext, tmp_path / "corpus")
    corpus = {"format": "pbc", "path": str(tmp_path / "corpus"), "tokenization": "as-is"}
    second = Experiment.model_validate(SMALL | {"corpus": corpus, "lm": {"models": ["char-tiny"]}})
    with pytest.MonkeyPatch.context() as patch:  # interrupted after the corpus
        patch.setattr(
            "langdiff.run.language_models.compute_where_possible",
            lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt),
        )
        with pytest.raises(KeyboardInterrupt):
            run_experiment(second, directory)
    assert read_run(directory).experiment == first.experiment
    assert (directory / "report.html").exists()
    run_experiment(second, directory)
    again = read_run(directory)
    assert again.truth is None
    assert len(again.editions) == 2
    assert not (directory / "figures" / "truth.svg").exists()


def test_text_prepared_otherwise_needs_another_directory(tmp_path):
    ld.write_multitext(ld.synthesize(240, 2, seed=2).multitext, tmp_path / "corpus")
    note_preparation(tmp_path / "run" / "jobs", "as-is")
    (tmp_path / "run" / "experiment.json").touch()
    corpus = {"format": "pbc", "path": str(tmp_path / "corpus")}
    with pytest.raises(ConfigError, match=r"tokenization was 'as-is', not 'reversible'\. Use another folder"):
        run_experiment(Experiment.model_validate(SMALL | {"corpus": corpus}), tmp_path / "run")


def test_what_is_skipped_is_in_the_manifest_and_in_the_report(tmp_path):
    ld.write_multitext(ld.synthesize(240, 2, seed=2).multitext, tmp_path / "corpus", format="pbc")
    for name, text in {"xyz-whole.txt": "no verse <b>\n", "free-order.txt": None}.items():
        file = tmp_path / "corpus" / name
        file.write_text(text or file.read_text(encoding="utf-8") + "broken\n", encoding="utf-8")
    corpus = {"format": "pbc", "path": str(tmp_path / "corpus"), "tokenization": "as-is"}
    settings = SMALL | {"corpus": corpus, "lm": {"models": ["kneser-ney-2"], "max_replaced": 1.0}}
    with pytest.raises(DataError, match=r"^3 faults in 2 file"):
        run_experiment(Experiment.model_validate(settings), tmp_path / "refused")
    settings["corpus"] = corpus | {"on_error": "skip"}
    with pytest.warns(ld.errors.LangdiffWarning, match=r"3 fault\(s\) in 2 file"):
        run_experiment(Experiment.model_validate(settings), tmp_path / "run")
    again = read_run(tmp_path / "run")
    assert again.skipped["edition"].tolist() == ["free-order", "xyz-whole", "xyz-whole"]
    assert again.skipped["line"].fillna(0).tolist() == [243, 1, 0]  # below two lines of header
    report = again.report.read_text(encoding="utf-8")
    assert again.left_out[["edition", "level"]].to_numpy().tolist() == [["xyz-whole", "file"], ["free-order", "text"]]
    assert "What was left out" in report
    lead = report[report.index('<p class="lead">') :]
    assert "left out, repaired or doubted: xyz-whole (file); free-order (1 text)" in lead[: lead.index("</p>")]
    assert "expected BBCCCVVV&lt;TAB&gt;text" in report


def test_shares_of_a_run_are_the_run(tmp_path):
    settings = {"name": "n", "corpus": SMALL["corpus"], "lm": {"models": ["kneser-ney-2"]}}
    experiment = Experiment.model_validate(settings)
    shares = [run_shard(experiment, tmp_path / "shared", f"{k}/4", progress=False) for k in (2, 4, 1, 3)]
    assert sorted(name for share in shares for name in share) == ["agglutinating-sov", "free-order", "isolating-svo"]
    assert [len(share) for share in shares] == [1, 0, 1, 1]
    jobs = {
        path: path.stat().st_mtime_ns for path in (tmp_path / "shared").glob("jobs/*/*/*/*") if path.name != "key.json"
    }
    shared = run_experiment(experiment, tmp_path / "shared", progress=False)
    assert {path: path.stat().st_mtime_ns for path in jobs} == jobs  # nothing was trained or scored again
    alone = run_experiment(experiment, tmp_path / "alone", progress=False)
    pd.testing.assert_frame_equal(shared.surprisals["kneser-ney-2"].bits, alone.surprisals["kneser-ney-2"].bits)
    refused(ConfigError, "give k/N", run_shard, experiment, tmp_path, "3/2")

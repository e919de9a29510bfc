import json

import pytest

import langdiff as ld
from langdiff.errors import CheckpointError, ConfigError
from langdiff.run import Experiment, read_experiment, read_run, run_experiment, runner
from langdiff.run.upkeep import clean_run, read_status, verify_run

HEAD = 'name = "x"\n'
SYNTHETIC = HEAD + 'corpus = {format = "synthetic", n_intents = 60, n_languages = 3}\n[lm]\nhf = "tiny-gpt"\n'
FILES = HEAD + 'corpus = {format = "moses", path = "texts"}\n[lm]\nhf = "tiny-gpt"\n'


def _read(tmp_path, text):
    path = tmp_path / "x.toml"
    path.write_text(text, encoding="utf-8")
    return read_experiment(path)


def test_the_folder_is_beside_the_experiment_file_and_texts_stay_as_they_are(tmp_path):
    found = _read(tmp_path, FILES)
    assert found.lm.hf == str(tmp_path / "tiny-gpt")
    assert found.lm.names == ["tiny-gpt"]
    assert found.corpus.tokenization == "as-is"
    assert Experiment.model_validate_json(found.model_dump_json()) == found
    assert _read(tmp_path, FILES.replace("[lm]\n", "").replace("hf = ", "#")).corpus.tokenization == "reversible"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SYNTHETIC + 'models = ["char-small"]', "the model of hf is not trained: leave models out, or hf"),
        (SYNTHETIC + 'workers = 2\nbaselines = true\nscoring = "carried"', "leave scoring, workers, baselines out"),
        (SYNTHETIC + "max_replaced = 1.0", "leave max_replaced out"),
        (SYNTHETIC + "[split]\nfolds = 3", r"scores all intents: leave \[split\] out"),
        (SYNTHETIC + "[curve]\ntrain_sizes = [10, 20]", r"leave \[curve\] out, or hf"),
        (FILES.replace('"texts"', '"texts", tokenization = "reversible"'), "leave tokenization out"),
        (SYNTHETIC.replace("tiny-gpt", "$NO_SUCH_FOLDER"), "environment variable NO_SUCH_FOLDER"),
        (SYNTHETIC.replace("tiny-gpt", "/"), "hf is the folder of a language model"),
        (SYNTHETIC.replace('hf = "tiny-gpt"', "models = []"), "models is empty"),
    ],
)
def test_keys_of_training_are_refused(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message):
        _read(tmp_path, text)


def test_a_missing_folder_is_told_before_the_corpus_is_read(tmp_path, monkeypatch):
    pytest.importorskip("transformers", reason="needs the extra hf")
    monkeypatch.setattr(runner, "synthesize", None)
    with pytest.raises(CheckpointError, match=r"tiny-gpt: no such folder"):
        run_experiment(_read(tmp_path, SYNTHETIC), tmp_path / "run", progress=False)


def test_a_run_scores_every_intent_with_the_model_and_names_it(tmp_path, monkeypatch):
    from tests.lm.external.tiny_gpt import make_gpt, make_tokenizer

    tokenizer = make_tokenizer()
    make_gpt(tokenizer).save_pretrained(tmp_path / "tiny-gpt")
    tokenizer.save_pretrained(tmp_path / "tiny-gpt")
    experiment = _read(tmp_path, SYNTHETIC + 'device = "cpu"')
    run = run_experiment(experiment, tmp_path / "run", progress=False)
    texts = ld.synthesize(n_intents=60, n_languages=3, seed=0).multitext
    model = ld.HuggingFaceLM(tmp_path / "tiny-gpt", device="cpu")
    expected = ld.surprisals_of(model, texts, lm="tiny-gpt", progress=False)
    assert run.surprisals["tiny-gpt"].bits.equals(expected.bits)
    assert run.manifest["parts"] == {"train": 0, "dev": 0, "test": 60}
    page = run.report.read_text()
    assert model.identity in page
    assert str(tmp_path / "tiny-gpt") in page
    assert "to learn from" not in page
    assert read_run(run.directory).surprisals["tiny-gpt"].bits.equals(expected.bits)
    assert (verify_run(run.directory)["state"] == "whole").all()
    assert clean_run(run.directory).empty
    assert read_status(run.directory).empty
    assert json.loads((run.directory / "experiment.json").read_text())["lm"]["models"] == []

    monkeypatch.setattr(ld.HuggingFaceLM, "surprisal", None)  # all is kept
    again = run_experiment(experiment, tmp_path / "run", progress=False)
    assert again.surprisals["tiny-gpt"].bits.equals(expected.bits)

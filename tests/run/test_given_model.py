import json

import pytest
import torch

import langdiff as ld
from langdiff.errors import CheckpointError, ConfigError
from langdiff.run import Experiment, read_run, run_experiment, runner
from langdiff.run.experiment_file import read_experiment
from langdiff.run.upkeep import clean_run, read_status, verify_run
from tests.helpers import refused

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
    refused(ConfigError, message, _read, tmp_path, text)


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


def test_several_models_are_compared_over_languages(tmp_path):
    from tests.lm.external.tiny_gpt import make_gpt, make_tokenizer

    pytest.importorskip("transformers", reason="needs the extra hf")
    tokenizer = make_tokenizer()
    for name, factor in (("one", 1.0), ("other", 1.5)):
        model = make_gpt(tokenizer)
        with torch.no_grad():
            model.transformer.wte.weight *= factor
        model.save_pretrained(tmp_path / name)
        tokenizer.save_pretrained(tmp_path / name)
    text = SYNTHETIC.replace('hf = "tiny-gpt"', 'hf = ["one", "other"]') + 'device = "cpu"'
    experiment = _read(tmp_path, text)
    assert experiment.lm.names == ["one", "other"]
    run = run_experiment(experiment, tmp_path / "run", progress=False)
    two_way = ld.fit(dict(run.surprisals)).two_way
    table = run.analyses["systems"].table
    systems = table[table["of"] == "systems"].set_index("name")
    board = two_way.leaderboard()
    assert systems["percent"].to_numpy() == pytest.approx(board["percent"].to_numpy())
    assert systems["ranks"].tolist() == board["ranks"].tolist()
    assert (table["of"] == "languages").sum() == 3
    page = run.report.read_text()
    assert "Are the language models equally good, and in all languages?" in page
    assert "Independent units:" in page
    single = _read(tmp_path, SYNTHETIC.replace("tiny-gpt", "one"))
    assert "systems" not in single.sections()
    with pytest.raises(ConfigError, match=r"\[systems\] compares language models: name two or more"):
        _read(tmp_path, SYNTHETIC.replace("tiny-gpt", "one") + "[systems]\n")
    refused(ConfigError, "a language model is named twice", _read, tmp_path, text.replace('"other"', '"elsewhere/one"'))
    with pytest.raises(CheckpointError, match="none: no such folder"):
        run_experiment(_read(tmp_path, text.replace('"other"', '"none"')), tmp_path / "new", progress=False)

"""A recipe chosen by the amount of training text: one for all editions, under its own name everywhere."""

import logging
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.errors import ConfigError
from langdiff.lm import RECIPES, automatic, score_multitext, train_language_model
from langdiff.lm.automatic import LADDER, Size, Step, chosen_for, tell_cost
from langdiff.lm.language_model import Cost, LanguageModelRecipe
from langdiff.lm.lstm import training
from langdiff.lm.lstm.recipe import Recipe
from langdiff.lm.lstm.training import MEMORY
from langdiff.run import Experiment, read_run, run_experiment


@pytest.fixture
def parts():
    return ld.split(ld.synthesize(200, 3, seed=1).multitext)


@pytest.fixture
def steps(monkeypatch, parts):
    """A ladder whose first step is large enough for all editions but the longest."""
    sizes = sorted(sum(map(len, parts.train.text(edition))) for edition in parts.train.editions)
    found = (Step(sizes[-2], "kneser-ney-2", "short"), Step(sizes[-1], "kneser-ney-3", "long"))
    monkeypatch.setattr(automatic, "LADDER", found)
    return found


def test_steps_rise_and_name_recipes():
    assert [step.characters for step in LADDER] == sorted({step.characters for step in LADDER})
    assert {step.recipe for step in LADDER} <= RECIPES.keys()
    assert chosen_for(Size(500_000, 60)).name == LADDER[0].recipe
    assert chosen_for(Size(10**12, 60)).name == LADDER[-1].recipe
    assert chosen_for(Size(2_500_000, 60)).name != chosen_for(Size(2_500_001, 60)).name


def test_a_large_alphabet_counts_as_more_text(caplog):
    with caplog.at_level(logging.INFO):
        assert chosen_for(Size(1_500_000, 5_000)).name == chosen_for(Size(4_000_000, 60)).name == "char-residual-quick"
    assert "for 1500000 characters of training text; 5000 different ones make it as slow as 4000000 (" in caplog.text


def test_the_longest_edition_decides_for_all(steps, parts, tmp_path, caplog):
    with caplog.at_level(logging.INFO):
        table = ld.compute_surprisals(parts, lm="auto", cache=tmp_path, max_replaced=1, progress=False)
    by_name = ld.compute_surprisals(parts, lm="kneser-ney-3", max_replaced=1, progress=False)
    assert table.lm == "kneser-ney-3"
    assert table.provenance == by_name.provenance
    assert table.bits.equals(by_name.bits)
    assert f"auto: kneser-ney-3, for {int(steps[1].characters)} characters of training text (long)" in caplog.messages
    assert {path.name for path in tmp_path.glob("*/*") if path.is_dir()} == {"kneser-ney-3"}
    with pytest.raises(ConfigError, match="the recipe that 'auto' chose"):
        score_multitext(parts.test, tmp_path, lm="auto", progress=False)


@pytest.mark.usefixtures("steps")
def test_scoring_in_the_name_and_folds(parts):
    table = ld.compute_surprisals(parts, lm="auto-unpriced", max_replaced=1, progress=False)
    assert table.lm == "kneser-ney-3-unpriced"
    folds = ld.split_into_folds(parts.train, 3)
    assert ld.compute_surprisals(folds, lm="auto", max_replaced=1, progress=False).lm.startswith("kneser-ney-")


def test_single_texts(monkeypatch):
    monkeypatch.setattr(automatic, "LADDER", (Step(1e5, "char-tiny", "short"),))
    texts = ["the cat sat on the mat", "the dog lay on the log"] * 40
    model = train_language_model(texts, texts[:9], recipe="auto", seed=0, progress=False)
    assert model.recipe.name == "char-tiny"


@pytest.mark.usefixtures("steps")
def test_curves_have_one_recipe_for_all_sizes(parts):
    curve = ld.difficulty_curve(parts, train_sizes=[20, 60, 100], lm="auto", max_replaced=1)
    assert curve.lm == "kneser-ney-3"  # that of the whole training part


def test_experiments_have_the_chosen_name(monkeypatch, tmp_path):
    monkeypatch.setattr(automatic, "LADDER", (Step(1e9, "kneser-ney-2", "any"),))
    settings = {
        "name": "small",
        "corpus": {"format": "synthetic", "n_intents": 60, "n_languages": 2},
        "lm": {"models": ["auto", "kneser-ney-2", "auto-unpriced"], "max_replaced": 1.0},
    }
    experiment = Experiment.model_validate(settings)
    run = run_experiment(experiment, tmp_path, progress=False)
    assert list(run.surprisals) == ["kneser-ney-2", "kneser-ney-2-unpriced"]
    assert read_run(tmp_path).experiment.lm.models == list(run.surprisals)
    again = run_experiment(experiment, tmp_path, progress=False)
    assert again.manifest == run.manifest  # finished: nothing is made anew
    with pytest.raises(ValueError, match="name a recipe"):
        Experiment.model_validate(settings | {"curve": {"train_sizes": [10, 20, 30], "lm": "auto"}})


def test_what_training_costs_is_told_with_a_cheaper_recipe(parts, monkeypatch, caplog):
    """Of a millisecond a character and epoch."""
    monkeypatch.setattr(Recipe, "cost", lambda *_: Cost(0.001, 0.001, 2**30))
    recipe, quick = replace(RECIPES["char-residual"], epochs=900), RECIPES["char-residual-quick"]
    sizes = [parts.train.text(edition).str.len().sum() for edition in parts.train.editions]
    with caplog.at_level(logging.INFO):
        tell_cost(quick, parts.train, parts.dev, workers=2)
        assert not caplog.messages  # of so little text
        monkeypatch.setattr(automatic, "WORTH_TRYING", 0)
        tell_cost(recipe, parts.train, parts.dev, workers=2)
        tell_cost(quick, parts.train, parts.dev, workers=100)
        monkeypatch.setattr(Recipe, "cost", LanguageModelRecipe.cost)  # of kinds with an effort and no cost
        tell_cost(recipe, parts.train, parts.dev, workers=2)
    told, short = caplog.messages
    judged = parts.dev.text(parts.train.editions[np.argmax(sizes)]).str.len().sum() / max(sizes)
    hours = (0.001 + 900 * 0.001 * (1 + judged / 3)) * max(sum(sizes) / 2, max(sizes)) / 3600
    assert told.startswith(f"char-residual: about {hours:.1f} hours for 3 edition(s), {sum(sizes)} characters")
    assert "on 2 core(s) (1000 characters a second); 1.0 GiB a worker; char-residual: about 1 min" in told
    assert told.endswith("; char-residual-quick: about 1 min")
    assert short.startswith("char-residual-quick: about 1 min")
    assert "char-once" not in short


@pytest.mark.parametrize("name", ["char-tiny", "bpe-tiny", "bpe-residual-quick", "char-transformer", "char-ptb"])
def test_every_kind_of_network_can_be_tried(name, monkeypatch):
    monkeypatch.setattr(training, "TRIED", 1e5)
    texts = pd.Series(["the cat sat on the mat", "the dog lay on the log", "a cat and a dog sat"] * 300)
    narrow = {"embedding_size": 16, "hidden_size": 16, "min_count": 1}
    recipe, tried, loop = replace(RECIPES[name], **narrow), [], training.EpochLoop
    monkeypatch.setattr(training, "EpochLoop", lambda **of: tried.append(of["train"]) or loop(**of))
    for each in (texts, pd.Series([texts.str.cat(sep=" ")])):  # one long text is tried in part, too
        cost = recipe.cost(each)
        assert 0 < cost.before < cost.epoch * 1000
        assert MEMORY < cost.memory < 2 * MEMORY
    most = max(recipe.batch_units, 1e5 * recipe.epochs / recipe.effort)
    assert max(len(ids) for ids in tried[-1].intents) <= most

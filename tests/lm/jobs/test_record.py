"""What is recorded of surprisals: all that training depends on, wherever and however often it was done."""

from dataclasses import replace

import pytest
import torch

import langdiff as ld
from langdiff.lm import RECIPES, KneserNeyRecipe, compute_surprisals, score_multitext
from langdiff.lm.jobs import job as job_module
from langdiff.lm.jobs.record import describe_compute, recipe_name
from langdiff.lm.lstm import gradients
from langdiff.lm.lstm.resume import training_key
from langdiff.lm.scoring import Scoring
from tests.lm.conftest import make_parts


def compute(parts, recipe, **options):
    return compute_surprisals(parts, lm=recipe, progress=False, **({"seed": 0} | options)).provenance


def test_it_says_what_was_done(parts, tiny_recipe):
    record = compute(parts, tiny_recipe, seed=3, device="cpu")
    assert record.recipe == recipe_name(tiny_recipe)
    assert record.recipe.startswith("test-char#")
    assert (record.scoring, record.seed, record.preparation) == ("priced", 3, "as-is")
    assert record.split == "train:100,dev:20,test:15"
    assert record.compute == "cpu,float32"
    assert f"torch:{torch.__version__}" in record.versions
    assert f"langdiff:{ld.__version__}" in record.versions


def test_fits_of_two_trainings_of_one_name_are_told_apart(parts, tiny_recipe):
    tables = [
        compute_surprisals(parts, lm=recipe, seed=seed, progress=False)
        for recipe, seed in ((tiny_recipe, 0), (replace(tiny_recipe, epochs=1), 7))
    ]
    one, other = (ld.fit(table, model="1").signature for table in tables)
    assert "|lm-seed:0|" in one
    assert "|lm-seed:7|" in other
    assert tables[0].provenance.recipe != tables[1].provenance.recipe
    assert tables[0].provenance.texts == tables[1].provenance.texts


@pytest.mark.slow
def test_it_is_the_same_for_any_number_of_workers_and_repetitions(parts, tiny_recipe, tmp_path):
    first = compute(parts, tiny_recipe, cache=tmp_path / "a")
    assert compute(parts, tiny_recipe, cache=tmp_path / "a") == first  # read from the cache
    assert compute(parts, tiny_recipe) == first
    assert compute(parts, tiny_recipe, workers=2) == first
    assert compute(parts, tiny_recipe, cache=tmp_path / "b") == first  # trained again, each alone


def backwards(text):
    return text[::-1]


@pytest.mark.parametrize("part", ["train", "dev", "test"])
def test_any_other_text_has_another_hash(parts, part):
    recipe = KneserNeyRecipe(order=2, min_count=2)
    one = getattr(parts, part)
    changed = replace(parts, **{part: one.map_text(backwards)})
    before, after = compute(parts, recipe), compute(changed, recipe)
    assert before.texts != after.texts
    assert (before.preparation, after.preparation) == ("as-is", f"as-is+{__name__}.backwards")


def test_ngrams_have_no_seed(parts):
    record = compute(parts, KneserNeyRecipe(order=2, min_count=2), seed=3)
    assert (record.seed, record.scoring, record.compute) == (None, "priced", "cpu")
    assert record.recipe.startswith("kneser-ney-6#")
    assert record.recipe != compute(parts, KneserNeyRecipe(order=3, min_count=2)).recipe


def test_models_of_a_cache_take_it_along(parts, tiny_recipe, tmp_path):
    trained = compute(parts, tiny_recipe, seed=3, cache=tmp_path)
    scored = score_multitext(parts.test, tmp_path, lm=tiny_recipe, progress=False).provenance
    assert scored == replace(trained, texts=scored.texts, split="scored:15")
    other = score_multitext(parts.dev, tmp_path, lm=tiny_recipe, progress=False).provenance
    assert len({trained.texts, scored.texts, other.texts}) == 3


def test_models_given_one_by_one(model, parts):
    multitext = parts.test.sel(editions=["eng"])
    record = ld.surprisals_of(model, multitext, lm="mine").provenance
    assert record.recipe == recipe_name(model.recipe, "mine")
    assert (record.seed, record.scoring, record.split) == (model.seed, "priced", "scored:15")
    assert record.compute is None


class PerCharacter:
    def surprisal(self, texts):
        return [2.0 * len(text) for text in texts]


def test_of_a_model_of_ones_own_only_the_text_is_known(parts):
    record = ld.surprisals_of(PerCharacter(), parts.test.map_text(ld.tokenize)).provenance
    assert record.recipe == "PerCharacter"
    assert (record.seed, record.scoring, record.compute) == (None, None, None)
    assert record.preparation == "reversible"
    assert record.texts != ld.surprisals_of(PerCharacter(), parts.dev).provenance.texts


def test_the_hash_of_a_recipe_is_that_of_training_alone():
    small = RECIPES["char-small"]
    changed = {
        recipe_name(replace(small, name="x", **change))
        for change in (
            {},
            {"epochs": 3},
            {"learning_rate": 1e-3},
            {"half": "bfloat16"},
            {"min_count": 7},
            {"patience": 1},
        )
    }
    assert len(changed) == 6


@pytest.mark.parametrize("native", [True, False])
def test_the_precision_of_training_is_in_the_key(tiny_recipe, monkeypatch, native):
    monkeypatch.setattr(gradients, "has_bf16", lambda _: native)
    parts = make_parts(languages=["eng"])
    mixed = replace(tiny_recipe, half="bfloat16")
    job = job_module.Job(
        edition="eng",
        parts=parts,
        recipe=mixed,
        scoring=Scoring(),
        max_replaced=0.05,
        device="cpu",
        seed=0,
        folder=None,
    )
    expected = "bfloat16" if native else "float32"
    assert job_module.job_key(job, job_module.read_texts(job))["precision"] == expected
    plain = replace(job, recipe=tiny_recipe)
    assert job_module.job_key(plain, job_module.read_texts(plain))["precision"] == "float32"
    assert describe_compute(mixed, "cpu") == f"cpu,{expected}"


def test_a_cache_of_another_precision_is_trained_anew(tiny_recipe, monkeypatch, tmp_path):
    if not gradients.has_bf16("cpu"):
        pytest.skip("this processor does not compute in bfloat16; the test of the key beside it needs no training")
    parts, mixed = make_parts(languages=["eng"]), replace(tiny_recipe, half="bfloat16", epochs=1)
    found = []
    for native in (False, True):
        monkeypatch.setattr(gradients, "has_bf16", lambda _, has=native: has)
        found.append(compute_surprisals(parts, lm=mixed, cache=tmp_path, progress=False, seed=0))
    assert [table.provenance.compute for table in found] == ["cpu,float32", "cpu,bfloat16"]
    assert not found[0].bits.equals(found[1].bits)


def test_a_training_does_not_go_on_in_another_precision(tiny_recipe, monkeypatch):
    mixed, keys = replace(tiny_recipe, half="bfloat16"), set()
    for native in (False, True):
        monkeypatch.setattr(gradients, "has_bf16", lambda _, has=native: has)
        keys.add(training_key(mixed, seed=0, device=torch.device("cpu"), train=[], dev=[]))
    assert len(keys) == 2

"""All of the text, scored by models of other folds."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import langdiff as ld
from langdiff.errors import DataError, LangdiffWarning, TrainingError
from langdiff.lm import Compute, read_training_logs
from langdiff.lm.compute import compute_where_possible
from langdiff.lm.lstm import training
from langdiff.tables.text_sources import InMemoryText
from tests.lm.conftest import verses

FIELDS = ("bits", "eos_bits", "characters", "bytes", "replaced")
N = 150


@pytest.fixture
def multitext():
    texts = pd.DataFrame(
        {edition: verses(edition, N, 3) for edition in ("eng", "ell")}, index=[f"v{i}" for i in range(N)]
    )
    texts.loc["v20", "ell"] = None
    return ld.read_frame(texts, intent_info=pd.DataFrame({"document": np.arange(N) // 10}, index=texts.index))


def folded(multitext, **options):
    return ld.split_into_folds(multitext, 3, groups="document", incomplete="test", **options)


def compute(parts, **options):
    return ld.compute_surprisals(parts, progress=False, **({"lm": "kneser-ney-3", "max_replaced": 1.0} | options))


def test_every_intent_has_the_bits_of_the_model_of_its_fold(multitext):
    folds = folded(multitext)
    table = compute(folds)
    assert list(table.intents) == list(multitext.intents)
    assert int(table.bits.isna().sum().sum()) == 1
    for number, parts in enumerate(folds.parts, 1):
        alone = compute(parts)
        mine = table.intent_info.index[table.intent_info["fold"] == str(number)]
        assert list(mine) == list(parts.test.intents)
        for field in FIELDS:
            assert_frame_equal(getattr(table, field).loc[mine], getattr(alone, field), check_exact=True)
    assert table.intent_info["document"].tolist() == multitext.intent_info["document"].tolist()
    assert table.provenance.split == "folds:3,by:document,measured:150"
    assert table.provenance.seed is None
    assert ld.fit(table, model="1", clusters="document").cells == 2 * N - 1


def test_what_a_model_is_measured_on_does_not_change_it(multitext):
    """The text of a document reaches its own fold as what is scored, and the other two as what is learned."""
    changed = multitext.sources["eng"].read().copy()
    changed["v0"] = "far far far home home home"
    sources = {**multitext.sources, "eng": InMemoryText(changed)}
    one, other = compute(folded(multitext)), compute(folded(replace(multitext, sources=sources)))
    fold = one.intent_info["fold"]
    same = (one.bits["eng"] == other.bits["eng"]).drop("v0")
    assert same[fold.drop("v0") == fold["v0"]].all()
    assert not same[fold.drop("v0") != fold["v0"]].any()


def test_networks_of_folds_have_seeds_of_their_own_and_are_kept(multitext, tiny_recipe, tmp_path, monkeypatch):
    settings = {"lm": tiny_recipe, "seed": 5}
    table = compute(folded(multitext), cache=tmp_path, **settings)
    logs = read_training_logs(tmp_path)
    assert logs.groupby("edition")["seed"].nunique().tolist() == [3, 3]
    assert table.provenance.seed == 5
    assert {path.name for path in tmp_path.iterdir()} == {"fold-1", "fold-2", "fold-3"}

    def refuse(*_):
        raise TrainingError("trained again")

    monkeypatch.setattr(training, "fit_language_model", refuse)
    again = compute(folded(multitext), cache=tmp_path, **settings)
    for field in FIELDS:
        assert_frame_equal(getattr(again, field), getattr(table, field), check_exact=True)
    with pytest.raises(TrainingError, match="trained again"):
        compute(folded(multitext), cache=tmp_path, lm=tiny_recipe, seed=6)


@pytest.mark.slow
def test_workers_give_the_same_bits(multitext):
    folds = folded(multitext)
    assert_frame_equal(compute(folds, workers=2).bits, compute(folds).bits, check_exact=True)


def test_an_error_names_the_fold_and_an_edition_that_fails_in_one_is_in_none(multitext, tmp_path):
    texts = multitext.to_frame()
    texts.loc["v0", "ell"] = "".join(map(chr, range(0x4E00, 0x4E64)))  # measured in fold 1
    texts["cmn"] = verses("cmn", N, 4)
    strange = folded(ld.read_frame(texts, intent_info=multitext.intent_info))
    with pytest.raises(DataError, match=r"^fold 1 of 3: 1 of 3 edition\(s\) have more than 1.00% .* replaced.*: ell 6"):
        compute(strange, max_replaced=0.01)
    table, failed = compute_where_possible(
        strange, lm="kneser-ney-3", max_replaced=0.01, compute=Compute(cache=tmp_path, progress=False), seed=0, least=2
    )
    assert list(table.editions) == ["eng", "cmn"]
    assert len(table.intents) == N
    assert list(failed) == ["ell"]
    assert failed["ell"].startswith("fold 1: edition 'ell'")
    assert not (tmp_path / "fold-2" / "ell").exists()


def test_what_all_folds_warn_of_is_said_once(multitext):
    texts = multitext.to_frame()
    texts["eng"] = [f"{text} {chr(0x4E00 + i)}" for i, text in enumerate(texts["eng"])]
    rare = ld.read_frame(texts, intent_info=multitext.intent_info)
    with pytest.warns(LangdiffWarning) as caught:
        compute(folded(rare))
    assert [str(w.message).split(":")[0] for w in caught] == ["edition 'eng'"] * 2  # of training and of scoring

"""The bits that the package ships: what they hold, what they say, and that they can be made again."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import langdiff as ld
from langdiff.datasets import ntrex10, testaments, three_corpora
from langdiff.errors import ConfigError

FOLDER = Path(ld.__file__).parent / "datasets"


def test_files_stay_small():
    assert sum(path.stat().st_size for path in FOLDER.glob("measurements*")) < 1_000_000


@pytest.mark.parametrize("lm", ["char-residual-quick", "bpe-residual-quick", "kneser-ney-6"])
def test_testaments_are_complete_and_of_usual_size(lm):
    table = testaments(lm)
    assert table.bits.shape[1] == 20
    assert table.bits.notna().all(axis=None)
    assert set(table.intent_info) == {"book", "chapter"}
    rate = table.bits.sum() / (table.characters.sum() + len(table.bits))
    assert rate.between(1.0, 3.2).all()


def test_difficulties_of_testaments():
    fit = ld.fit(testaments())
    assert fit.difficulty.idxmin() == "heb-modern"
    assert fit.difficulty.drop(["heb-modern", "arb-svdplain"]).abs().max() < 0.12
    assert fit.lm == "char-residual-quick"
    assert "26 clusters by book" in fit.summary()  # found from the intents


def test_an_unknown_language_model_is_named():
    with pytest.raises(ConfigError, match="'char-huge'; there are those of 'kneser-ney-6', 'char-residual-quick'"):
        testaments("char-huge")


def test_three_corpora_say_what_they_are_of():
    made = three_corpora()
    assert len(made) == 24
    assert made.facets.nunique().to_dict() == {"corpus": 3, "lm": 4, "size": 2}
    assert made.languages["glottocode"].value_counts().eq(3).all()
    assert made.editions.notna().all(axis=None)
    for table in made.values():
        bits = table.bits.sum() if isinstance(table, ld.Surprisals) else table
        assert np.isfinite(bits).all()
    with pytest.raises(KeyError, match="'nt/lzma/325'; there are 'nt/kneser-ney-6/325'"):
        made["nt/lzma/325"]


def test_shares_are_those_of_the_specified_study():
    # of 26 languages, where passages out of step had not been left out: .487 .406 .076 .018
    made = three_corpora()
    assert made.languages["glottocode"].nunique() == 27
    kept = made.languages.index[made.languages["glottocode"] != "tosk1239"]

    def without_albanian(table):
        if isinstance(table, ld.Surprisals):
            return table.sel(editions=table.bits.columns.intersection(kept))
        return table[table.index.intersection(kept)]

    facets = made.facets[made.facets["lm"].isin(["kneser-ney-6", "ppmd"])]
    tables = {name: without_albanian(made[name]) for name in facets.index}
    frame = ld.difficulty_shares(tables, languages=made.languages, facets=facets, clusters=None).frame
    shares = frame["share"][["language", "language:corpus", "language:lm", "language:size"]]
    assert shares.to_numpy() == pytest.approx([0.487, 0.406, 0.076, 0.018], abs=0.02)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::langdiff.errors.LangdiffWarning")  # rare characters
def test_an_edition_is_measured_again(real_data, root, monkeypatch):
    monkeypatch.setenv("LANGDIFF_DATA", str(real_data))
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    spec = importlib.util.spec_from_file_location("made_datasets", root / "benchmarks" / "datasets.py")
    made = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "made_datasets", made)
    spec.loader.exec_module(made)
    table = made.testaments(made.in_step())
    kept = testaments("kneser-ney-6")
    assert list(table.bits.columns) == list(kept.bits.columns)
    assert np.abs(table.bits["eng-kjv"].to_numpy() - kept.bits["eng-kjv"].to_numpy()).max() <= 0.0051
    shift = ld.fit(table, clusters=None).difficulty - ld.fit(kept, clusters=None).difficulty
    assert shift.abs().max() < 1e-5


def test_ntrex10_are_the_same_sentences_and_those_of_the_study():
    short, long = ntrex10()
    assert (short.characters == long.characters).all(axis=None)
    assert short.intent_info["document"].nunique() == 82
    study = three_corpora()["ntrex/kneser-ney-6/1300"].bits
    assert np.array_equal(long.bits["hun"], study["ntrex:hun"])
    assert ld.fit(long, formula="family").difficulty.groupby(long.edition_info["family"]).std().max() < 1e-9

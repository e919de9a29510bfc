import json

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.corpora import write_multitext


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus") / "texts"
    write_multitext(ld.synthesize(n_intents=200, n_languages=3, seed=0).multitext, folder)
    return folder


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    bits, rng = ld.simulate(120, 10, seed=1).surprisals.bits, np.random.default_rng(0)
    for name in ("one", "other"):
        noise = rng.normal(0, 0.05, bits.shape)
        ld.Surprisals(bits=bits * np.exp(noise), lm=name).save(folder / f"{name}.csv")
    return folder


@pytest.mark.slow
def test_curve_writes_tables_and_pictures(langdiff, corpus, tmp_path):
    arguments = ["curve", corpus, "--train-sizes", "30,60,120", "--lm", "kneser-ney-3", "--out", tmp_path]
    done = langdiff(*arguments, "--json").good
    printed = pd.DataFrame(json.loads(done.out))
    assert printed["size"].tolist() == [size for size in (30, 60, 120) for _ in range(3)]
    curve = ld.read(tmp_path / "curve.json")
    np.testing.assert_allclose(printed["difficulty"], curve.to_frame()["difficulty"])
    tables = {"curve.csv", "correlations.csv", "changes.csv", "curve.svg", "ranks.svg", "correlations.svg"}
    written = {path.name for path in tmp_path.iterdir() if path.is_file()}
    assert written == {"curve.json", *tables, *(f"{name}.json" for name in tables)}  # each with its provenance
    people = langdiff(*arguments)
    assert people.out.startswith("DifficultyCurve of kneser-ney-3: 3 editions × 3 sizes (30 to 120)")
    assert "extrapolation" in people.out or "No floors:" in people.out


def test_curve_of_folds_measures_every_intent(langdiff, corpus, tmp_path):
    sizes = ["--train-sizes", "30,60", "--lm", "kneser-ney-2", "--folds", "3"]
    assert langdiff("curve", corpus, *sizes, "--out", tmp_path, "--json").code == 0
    assert ld.read(tmp_path / "curve.json").n_intents == 200


def test_reliability_of_one_table_and_of_two(langdiff, tables):
    done = langdiff("reliability", tables / "one.csv", "--target", 0.9).good
    assert "Reliability 0.9 takes " in done.out
    both = langdiff("reliability", tables / "one.csv", tables / "other.csv", "--json")
    assert {row["component"] for row in json.loads(both.out)} >= {"edition", "edition:intent", "residual"}

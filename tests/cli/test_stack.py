"""`langdiff fit` of the tables of several language models."""

import pandas as pd
import pytest

import langdiff as ld


@pytest.fixture
def two(tmp_path):
    for seed, name in enumerate(["llama", "gpt2"]):
        ld.simulate(60, 3, seed=seed).surprisals.save(tmp_path / f"{name}.csv")
    return tmp_path / "llama.csv", tmp_path / "gpt2.csv"


def test_several_tables_are_fitted_together(langdiff, two, tmp_path):
    done = langdiff("fit", *two, "--out", tmp_path / "both.json")
    assert done.code == 0
    fit = ld.fit({path.stem: ld.read_surprisals(path) for path in two})
    saved = ld.read(tmp_path / "both.json")
    pd.testing.assert_series_equal(saved.difficulty, fit.difficulty)
    assert "Languages, the best served first" in done.out
    assert f"[{fit.signature}]" in done.out


def test_files_of_one_name_are_named_by_their_folders(langdiff, two, tmp_path):
    paths = []
    for name, path in zip("ab", two, strict=True):
        (tmp_path / name).mkdir()
        paths.append(path.rename(tmp_path / name / "bits.csv"))
    done = langdiff("fit", *paths)
    assert done.code == 0
    assert "lm:a+b" in done.out
    again = langdiff("fit", paths[0], paths[0])
    assert again.code != 0
    assert "some are given twice: 'a'" in again.err

"""`langdiff correlate` and `reproduce`."""

import json
import re
from collections import Counter

import pandas as pd
import pytest

import langdiff as ld
from langdiff.datasets import mielke2019


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    figures = mielke2019()
    figures.difficulties("bibles").to_csv(folder / "difficulties.csv")
    order = figures.bibles["language"].map(figures.wals_features()["81A"])
    figures.predictors("bibles").assign(**{"81A": order}).to_csv(folder / "predictors.tsv", sep="\t")
    figures.edition_info("bibles").to_csv(folder / "editions.csv")
    return folder


def test_reproduce_shows_disagreement_and_succeeds(langdiff, tmp_path):
    done = langdiff("reproduce").good
    assert "two digits look swapped" in " ".join(done.out.split()).replace("│ ", "")
    assert "62 of 68 claims agree" in done.err
    machine = langdiff("reproduce", "--json", "--out", tmp_path / "paper", "--format", "png")
    assert "7 figures and tables" in machine.err
    assert (tmp_path / "paper" / "figure4.png").read_bytes().startswith(b"\x89PNG")
    rows = pd.DataFrame(json.loads(machine.out))
    assert rows["agreement"].value_counts().to_dict()["yes"] == 62


def test_correlate_gives_what_the_library_gives(langdiff, tables, tmp_path):
    done = langdiff(
        *[
            "correlate",
            tables / "difficulties.csv",
            tables / "predictors.tsv",
            "--edition-info",
            tables / "editions.csv",
        ],
        *["-t", "pearson", "-t", "mood", "--corpus", "bibles", "--plot", tmp_path / "out.svg", "--json"],
    ).good
    printed = pd.DataFrame(json.loads(done.out))
    figures = mielke2019()
    order = figures.bibles["language"].map(figures.wals_features()["81A"])
    expected = ld.correlate(
        figures.difficulties("bibles"),
        figures.predictors("bibles").assign(**{"81A": order}),
        edition_info=figures.edition_info("bibles"),
        corpus="bibles",
        tests=["pearson", "mood"],
    ).to_frame()
    assert len(printed) == 14
    floats = expected.select_dtypes("number").columns
    printed[floats] = printed[floats].astype(float)  # null where a test has no such figure
    pd.testing.assert_frame_equal(printed, expected, check_dtype=False, rtol=1e-9)
    assert (tmp_path / "out.svg").read_text().startswith("<?xml")


def test_a_saved_fit_is_read(langdiff, tmp_path):
    surprisals = ld.simulate(100, 6, seed=0).surprisals
    ld.fit(surprisals).save(tmp_path / "fit.json")
    pd.DataFrame({"edition": surprisals.editions, "x": range(6), "code": [1, 2] * 3}).to_csv(
        tmp_path / "x.csv", index=False
    )
    done = langdiff("correlate", tmp_path / "fit.json", tmp_path / "x.csv", "--categorical", "code")
    assert done.code == 0, done.err
    assert done.out.startswith("3 tests with a p")


def test_a_tree_makes_the_test_along_it(langdiff, tables, tmp_path):
    figures = mielke2019()
    languages = sorted(set(figures.edition_info("bibles")["language"]))
    tree = tmp_path / "tree.nwk"
    tree.write_text(f"(({','.join(languages[::2])}),({','.join(languages[1::2])}));")
    say = ("correlate", tables / "difficulties.csv", tables / "predictors.tsv", "-p", "word_types", "--tree", tree)
    say = (*say, "--edition-info", tables / "editions.csv")
    rows = pd.DataFrame(json.loads(langdiff(*say, "--json").out)).set_index(["language_model", "test"])
    assert [test for lm, test in rows.index if lm == "bpe"] == ["pearson", "spearman", "phylo"]
    alone = pd.DataFrame(json.loads(langdiff(*say, "-t", "phylo", "--json").out)).set_index(["language_model", "test"])
    pd.testing.assert_series_equal(rows.loc[alone.index, "p"], alone["p"], rtol=1e-12)
    assert "[tests:pearson,spearman,phylo,mood|" in langdiff(*say).out


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["1", "two", "3", "4", "5"], "line 3: 'two' is not a number, and column 'x' has 4. Write a number (12345.6),"),
        (["1", "2", "2,5", "4", "5"], "line 4: '2,5' is not a number, .*: --categorical x."),
    ],
)
def test_a_word_among_numbers_does_not_make_them_categories(langdiff, tmp_path, cells, message):
    names = list("abcde")
    pd.DataFrame({"edition": names, "lm": [0.1, -0.1, 0.0, 0.3, 0.2]}).to_csv(tmp_path / "d.csv", index=False)
    pd.DataFrame({"edition": names, "x": cells, "y": range(5)}).to_csv(tmp_path / "x.csv", index=False)
    done = langdiff("correlate", tmp_path / "d.csv", tmp_path / "x.csv")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert re.search(message.replace("(12345.6)", r"\(12345.6\)"), done.err)
    told = langdiff("correlate", tmp_path / "d.csv", tmp_path / "x.csv", "--categorical", "x", "-p", "x", "--json")
    assert [row["test"] for row in json.loads(told.out)] == ["mood"]


def test_min_nan_chinese_is_a_language(langdiff, tmp_path):
    codes = ["nan", "deu", "eng", "fra", "yue"]
    pd.DataFrame({"edition": [f"{c}-1" for c in codes], "lm": [0.1, -0.1, 0.0, 0.3, 0.2]}).to_csv(
        tmp_path / "d.csv", index=False
    )
    pd.DataFrame({"language": codes, "x": ["3.0", "nan", "2.5", "1.0", "4.0"]}).to_csv(tmp_path / "x.csv", index=False)
    pd.DataFrame({"edition": [f"{c}-1" for c in codes], "language": codes}).to_csv(tmp_path / "e.csv", index=False)
    done = langdiff("correlate", tmp_path / "d.csv", tmp_path / "x.csv", "--edition-info", tmp_path / "e.csv", "--json")
    assert done.code == 0, done.err
    assert {(row["n"], row["missing"]) for row in json.loads(done.out)} == {(4, 1)}


def test_one_paper(langdiff):
    one = langdiff("reproduce", "--paper", "xmi2020", "--json").good
    rows = json.loads(one.out)
    assert {row["agreement"] for row in rows} == {"yes"}


@pytest.mark.slow  # fits all that Mielke et al. (2019) fitted
def test_all_papers(langdiff):
    every = json.loads(langdiff("reproduce", "--paper", "all", "--json").out)
    assert Counter(row["paper"] for row in every) == {
        "mielke2019": 76,
        "belebele2024": 13,
        "byte_premium2024": 7,
        "xmi2020": 5,
        "tokenization_lengths2023": 4,
        "goldfish2024": 3,
    }

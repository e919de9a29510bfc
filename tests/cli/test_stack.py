"""`langdiff fit` of the tables of several language models."""

import json

import pandas as pd
import pytest

import langdiff as ld
from langdiff.tables.stack import unstack


@pytest.fixture
def two(tmp_path):
    for seed, name in enumerate(["llama", "gpt2"]):
        ld.simulate(60, 3, seed=seed).surprisals.save(tmp_path / f"{name}.csv")
    return tmp_path / "llama.csv", tmp_path / "gpt2.csv"


def test_several_tables_are_fitted_together(langdiff, two, tmp_path):
    done = langdiff("fit", *two, "--out", tmp_path / "both.json").good
    fit = ld.fit({path.stem: ld.read_surprisals(path) for path in two})
    saved = ld.read(tmp_path / "both.json")
    pd.testing.assert_series_equal(saved.difficulty, fit.difficulty)
    assert "Difficulty of languages" in done.out
    assert f"[{fit.signature}]" in done.out.replace("\n", "")


def test_files_of_one_name_are_named_by_their_folders(langdiff, two, tmp_path):
    paths = []
    for name, path in zip("ab", two, strict=True):
        (tmp_path / name).mkdir()
        paths.append(path.rename(tmp_path / name / "bits.csv"))
    done = langdiff("fit", *paths).good
    assert "lm:a+b" in done.out
    again = langdiff("fit", paths[0], paths[0])
    assert again.code != 0
    assert "some are given twice: 'a'" in again.err


def test_a_long_table_of_several_models_gives_a_column_for_each(langdiff, two, tmp_path):
    """The numbers, those of paired differences too, are those of the tables apart, whatever the column is called."""
    both = [pd.read_csv(path).assign(model=path.stem).drop(columns="lm") for path in two]
    pd.concat(both).to_csv(tmp_path / "long.csv", index=False)
    made = langdiff("table", tmp_path / "long.csv", "--lm-column", "model", "--clusters", "none", "--json")
    apart = langdiff("table", *two, "--clusters", "none", "--paired", "--json")
    assert made.code == apart.code == 0, made.err + apart.err
    found, expected = (
        pd.DataFrame(json.loads(done.out)).set_index(["column", "row", "statistic"])["value"] for done in (made, apart)
    )
    assert set(found.index.get_level_values("column")) == {"llama", "gpt2", "llama − gpt2"}
    pd.testing.assert_series_equal(found, expected, rtol=1e-6)


FAMILIES = "edition,family\ne1,Uralic\ne2,Turkic\ne3,Uralic\nother,Germanic\n"


def test_families_come_from_a_table_of_the_editions(langdiff, two, tmp_path):
    (tmp_path / "editions.csv").write_text(FAMILIES)
    done = langdiff("table", *two, "--by", "family", "--edition-info", tmp_path / "editions.csv").good
    assert [name for name in ("Uralic", "Turkic", "Germanic") if name in done.out] == ["Uralic", "Turkic"]
    read = ld.read_surprisals(two[0], edition_info=tmp_path / "editions.csv")
    assert read.edition_info["family"].to_dict() == {"e1": "Uralic", "e2": "Turkic", "e3": "Uralic"}
    stacked = ld.stack({"a": read, "b": ld.read_surprisals(two[1])})
    assert unstack(stacked)["a"].edition_info["family"].to_dict() == read.edition_info["family"].to_dict()
    (tmp_path / "editions.csv").write_text("edition,family\ne1,Uralic\n")
    refused = langdiff("fit", two[0], "--formula", "family", "--edition-info", tmp_path / "editions.csv")
    assert (refused.code, "2 edition(s) are not in --edition-info: 'e2', 'e3'." in refused.err) == (1, True)


def test_shares_of_two_corpora_with_columns_of_their_own(langdiff, tmp_path):
    table = ld.simulate(120, 9, seed=2).surprisals
    parts = {"first": table.sel(intents=table.intents[:60]), "second": table.sel(intents=table.intents[60:])}
    for name, part in parts.items():
        long = part.to_frame().rename(columns={"bits": "score", "edition": "lang"}).assign(lm="one")
        long.to_csv(tmp_path / f"{name}.csv", index=False)
    (tmp_path / "editions.csv").write_text("edition,language\n" + "".join(f"e{k},l{k}\n" for k in range(1, 10)))
    files = [tmp_path / f"{name}.csv" for name in parts]
    named = ["--edition-column", "lang", "--bits-column", "score", "--intent-column", "intent"]
    refused = langdiff("shares", *files, *named)
    assert (refused.code, "give --edition-info: the language of each edition" in refused.err) == (1, True)
    done = langdiff("shares", *files, *named, "--edition-info", tmp_path / "editions.csv", "--json").good
    languages = {f"e{k}": f"l{k}" for k in range(1, 10)}
    expected = ld.difficulty_shares(parts, languages=languages).to_frame()
    assert [row["share"] for row in json.loads(done.out)] == pytest.approx(expected["share"].tolist(), abs=1e-6)

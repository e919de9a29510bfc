import json

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.experiments import translationese_by_model
from langdiff.lm import Compute


@pytest.fixture
def tables(tmp_path):
    """Files of surprisals and of original languages, and what is in them."""
    surprisals = ld.simulate(300, 3, seed=4).surprisals
    origin = pd.Series(["e1", "e2", "und", "xxx"] * 75, index=surprisals.intents, name="original_language")
    surprisals.save(tmp_path / "surprisals.csv")
    origin.to_csv(tmp_path / "origins.csv")
    return tmp_path / "surprisals.csv", tmp_path / "origins.csv", surprisals, origin


def test_prints_what_the_api_finds(langdiff, tables, tmp_path):
    table, origins, surprisals, origin = tables
    done = langdiff("translationese", table, origins, "--min-native", 50, "--json", "--plot", tmp_path / "native.svg")
    assert (done.code, done.err) == (0, "")
    expected = ld.translationese(surprisals, origin, min_native=50).to_frame()
    printed = pd.DataFrame(json.loads(done.out)).set_index("edition")
    pd.testing.assert_frame_equal(printed, expected, rtol=1e-6)
    assert (tmp_path / "native.svg").read_text().startswith("<?xml")


@pytest.mark.filterwarnings("ignore:1 edition.s. with native intents are left whole")
def test_speaks_to_people_of_the_language_they_name(langdiff, tables):
    table, origins, surprisals, origin = tables
    done = langdiff("translationese", table, origins, "--language", "e2", "--model", "2L", "--restricted").good
    expected = ld.translationese(surprisals, origin, languages=["e2"], model="2L", restricted=True)
    assert done.out == expected.summary() + "\n"
    assert "75 intents of unknown origin" in done.out
    assert "Left whole, which biases the differences (native intents): 'e1' (75)" in done.out


def test_origins_come_with_surprisals_that_know_them(langdiff, tables, tmp_path):
    table, origins, surprisals, origin = tables
    surprisals.with_intent_info(origin.to_frame()).save(tmp_path / "with-origins.csv")
    done = langdiff("translationese", tmp_path / "with-origins.csv", "--min-native", 50)
    assert (done.code, done.out) == (0, langdiff("translationese", table, origins, "--min-native", 50).out)
    done = langdiff("translationese", table, "--min-native", 50)
    assert (done.code, done.out) == (1, "")
    assert "does not say the original language of its intents" in done.err


def test_from_files_of_wmt_to_the_difference(langdiff, tmp_path):
    rng = np.random.default_rng(3)
    for name, kind, language in (("1", "src", "en"), ("2", "ref", "de"), ("3", "ref", "cs")):
        documents = "".join(
            f'<doc sysid="ref" docid="{origin}{d}" genre="news" origlang="{origin}">\n'
            + "".join(
                f'<seg id="{k}">{" ".join(["ab&", "cd"][i] for i in rng.integers(2, size=6))}</seg>\n' for k in range(7)
            )
            + "</doc>\n"
            for d in range(20)
            for origin in ("en", "de", "cz")
        )
        target = "" if kind == "src" else f' trglang="{language}"'
        text = f'<{kind}set setid="test" srclang="any"{target}>\n{documents}</{kind}set>\n'
        (tmp_path / f"{name}-{kind}.{language}.sgm").write_text(text)
    files = sorted(tmp_path.glob("*.sgm"))
    assert langdiff("train", *files, "--lm", "kneser-ney-3", "--out", tmp_path / "models").code == 0
    table = tmp_path / "models" / "surprisals-kneser-ney-3.csv"
    done = langdiff("translationese", table, "--min-native", 15, "--json").good
    rows = pd.DataFrame(json.loads(done.out)).set_index("edition")
    known = ld.read_multitext(files).intent_info["original_language"][ld.read_surprisals(table).intents]
    assert rows["native"].to_dict() == known.value_counts().to_dict()
    assert (rows["native"] + rows["translated"] == 70).all()  # a sixth of 420 segments


@pytest.fixture
def corpus(tmp_path):
    """Four hundred lines in three languages, in documents of ten, whose first language takes turns."""
    rng = np.random.default_rng(1)
    lines = [" ".join(rng.choice(["ab", "cd", "ef"], 6)) for _ in range(400)]
    document = [f"d{i // 10}" for i in range(400)]
    info = pd.DataFrame({"document": document, "original_language": np.repeat(["deu", "eng", "fra", "und"] * 10, 10)})
    info.index = [str(i + 1) for i in range(400)]
    texts = pd.DataFrame({e: [f"{line} {e}" for line in lines] for e in ("deu", "eng", "fra")}, index=info.index)
    ld.write_multitext(ld.read_frame(texts), tmp_path / "lines", format="moses")
    info[["document"]].to_csv(tmp_path / "lines" / "documents.tsv", sep="\t", index=False)
    lines = tmp_path / "lines" / "original_language.txt"
    lines.write_text("".join(f"{code}\n" for code in info["original_language"]))
    return tmp_path / "lines", info


@pytest.mark.filterwarnings("ignore:noise differs between editions")
def test_balanced_training_of_a_corpus(langdiff, corpus, tmp_path):
    folder, _ = corpus
    settings = ["-l", "deu", "--lm", "kneser-ney-2", "--budget-words", "500", "--seed", "4", "--folds", "3"]
    command = ["translationese", folder, "--balanced", "--format", "moses", *settings, "--groups", "document"]
    done = langdiff(*command, "--out", tmp_path / "models", "--json").good
    multitext = ld.read_multitext(folder, format="moses").map_text(ld.tokenize)
    expected = ld.run_balanced(
        multitext,
        ["deu"],
        lm="kneser-ney-2",
        budget_words=500,
        seed=4,
        folds=3,
        groups="document",
        compute=Compute(progress=False),
    )
    printed = pd.DataFrame(json.loads(done.out)).set_index("edition")
    pd.testing.assert_frame_equal(printed, expected.to_frame(), rtol=1e-6, check_names=False)
    sample = expected.results["deu"].cells.loc["deu"]
    assert (
        sample["native"] + sample["translated"]
        == expected.words.loc["deu", ["native_intents", "translated_intents"]].sum()
    )
    assert {path.name for path in (tmp_path / "models" / "balanced-deu").iterdir()} == {"fold-1", "fold-2", "fold-3"}


def test_several_models_beside_each_other(langdiff, tables, tmp_path):
    _, origins, surprisals, origin = tables
    paths = []
    for lm, factor in (("one", 1.0), ("two", 0.5)):
        table = ld.Surprisals(bits=surprisals.bits * factor, characters=surprisals.bits.round() + 1, lm=lm)
        paths.append(tmp_path / f"{lm}.parquet")
        table.save(paths[-1])
    done = langdiff("translationese", paths[0], origins, "--beside", paths[1], "--min-native", 1)
    expected = translationese_by_model([ld.read_surprisals(path) for path in paths], origin, min_native=1)
    assert done.out == expected.summary() + "\n"
    printed = langdiff("translationese", paths[0], origins, "--beside", paths[1], "--min-native", 1, "--json").out
    assert [row["lm"] for row in json.loads(printed)] == ["length"] * 2 + ["one"] * 2 + ["two"] * 2

import json

import pandas as pd
import pytest

import langdiff as ld
from langdiff.corpora import write_multitext
from langdiff.corpora.download import SOURCES


@pytest.fixture
def corpus(tmp_path):
    texts = {"eng-a": ["a dog", "a cat"], "deu-b": ["ein Hund", None]}
    write_multitext(ld.read_frame(pd.DataFrame(texts, index=["01001001", "01001002"])), tmp_path / "texts")
    return tmp_path / "texts"


def test_list_names_terms_and_ways(langdiff):
    done = langdiff("corpora", "fetch", "--json").good
    rows = {row["name"]: row for row in json.loads(done.out)}
    assert set(rows) == set(SOURCES)
    assert rows["flores-200"]["get it"] == "langdiff corpora fetch flores-200"
    assert rows["pbc"]["get it"].startswith("ask its authors")
    assert "CC BY-SA 4.0" in langdiff("corpora", "fetch").out


def test_fetch_prints_terms_then_the_folder(langdiff, tmp_path, monkeypatch):
    asked = {}

    def pretend(name, directory, sha256):
        asked.update(name=name, directory=directory, sha256=sha256)
        return directory / name

    monkeypatch.setattr("langdiff.corpora.fetch", pretend)  # no network in tests; the download has its own
    done = langdiff("corpora", "fetch", "flores-200", "--out", tmp_path)
    assert (done.code, done.out) == (0, f"{tmp_path / 'flores-200'}\n")
    assert done.err.index("Licence: CC BY-SA 4.0") < done.err.index("--format moses")
    assert asked == {"name": "flores-200", "directory": tmp_path, "sha256": None}


def test_fetch_says_where_to_get_what_it_cannot(langdiff, tmp_path):
    done = langdiff("corpora", "fetch", "openmt", "--out", tmp_path)
    assert (done.code, done.out) == (1, "")
    assert "no download" in done.err
    assert "catalog.ldc.upenn.edu" in done.err
    assert langdiff("corpora", "fetch", "flores").code == 1


def test_describe(langdiff, corpus):
    told = json.loads(langdiff("corpora", "describe", corpus, "--json").out)
    counts = {row["what"]: row["count"] for row in told["counts"]}
    assert (counts["editions"], counts["intents"], counts["words"], counts["characters"]) == (2, 2, 6, 18)
    rows = json.loads(langdiff("corpora", "describe", corpus, "--json").out)["editions"]
    assert {row["edition"]: row["words"] for row in rows} == {"eng-a": 4, "deu-b": 2}
    assert "2 intents × 2 editions" in langdiff("corpora", "describe", corpus).out


@pytest.mark.parametrize("what", ["presence", "sizes", "languages", "intents"])
def test_plots(langdiff, corpus, tmp_path, what):
    done = langdiff("plot", what, corpus, "--out", tmp_path / "picture.svg")
    assert (done.code, done.out) == (0, ""), done.err
    assert (tmp_path / "picture.svg").read_text().startswith("<?xml")


def test_plot_of_native_share_needs_origins(langdiff, corpus, tmp_path):
    done = langdiff("plot", "native", corpus, "--out", tmp_path / "picture.png")
    assert done.code == 1
    assert "no column 'original_language'" in done.err
    table = tmp_path / "origins.csv"
    table.write_text("intent,original_language\n01001001,deu\n01001002,eng\n")
    done = langdiff("plot", "native", corpus, "--origins", table, "--out", tmp_path / "picture.png").good
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


@pytest.fixture
def out_of_step(tmp_path):
    """Return a folder of four editions, one of which is a line ahead from line 61 to line 120."""
    texts = ld.synthesize(200, 4, seed=3).multitext.to_frame()
    texts.iloc[60:120, 1] = texts.iloc[61:121, 1].to_numpy()
    write_multitext(ld.read_frame(texts), tmp_path / "texts", format="moses")
    return tmp_path / "texts", texts.columns[1]


def test_check_of_alignment(langdiff, out_of_step, tmp_path):
    folder, edition = out_of_step
    done = langdiff("corpora", "check", folder, "--format", "moses", "--plot", tmp_path / "fit.svg")
    assert (done.code, (tmp_path / "fit.svg").is_file()) == (0, True), done.err
    assert f"1 has passages that do not fit ({edition} 1)" in done.out
    assert "of the others" in done.out
    found = json.loads(langdiff("corpora", "check", folder, "--format", "moses", "--json", "--strict").out)
    assert [(row["edition"], row["kind"], row["offset"]) for row in found["passages"]] == [(edition, "shifted", 1)]
    assert langdiff("corpora", "check", folder, "--format", "moses", "--strict").code == 1


@pytest.mark.parametrize(
    ("how", "told", "complete"), [("warn", True, 200), ("leave-out", True, 199), ("off", False, 200)]
)
def test_select_tells_of_texts_out_of_step(langdiff, out_of_step, how, told, complete):
    folder, edition = out_of_step
    done = langdiff("select", folder, "--format", "moses", "--n-editions", 4, "--alignment", how, "--json").good
    assert (f"do not fit ({edition} 1)" in done.err) is told
    assert f"{complete} intents" in done.err if how != "leave-out" else "200 intents × 4" not in done.err

import io
import json

import pandas as pd
import pytest

import langdiff as ld
from langdiff.corpora import write_multitext

TEXTS = {
    "eng-a": ["The dog sees a cat.", "The cat, a dog."],
    "deu-a": ["Der Hund sieht die Katze.", "Die Katze und ein Hund."],
    "fra-a": ["Le chien voit le chat.", None],
}


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "texts"
    write_multitext(ld.read_frame(pd.DataFrame(TEXTS, index=["40001001", "40001002"])), folder)
    return folder


def table(out):
    return pd.read_csv(io.StringIO(out), sep="\t", index_col="edition")


def test_prints_a_table_of_shared_intents_for_a_pipe_and_remarks_on_stderr(langdiff, corpus):
    done = langdiff("predictors", corpus).good
    assert table(done.out)["characters"].to_dict() == {"deu-a": 25, "eng-a": 19, "fra-a": 22}
    assert "\t19\t" in done.out  # whole numbers are printed as such
    assert "shared by all: 1 intents" in done.err
    assert "Predictors: 3 editions" in done.err
    two = langdiff("predictors", corpus, "-e", "deu-a", "-e", "eng-a", "--as-is", "--entropy", "miller-madow", "--json")
    rows = {row["edition"]: row for row in json.loads(two.out)}
    assert rows["eng-a"]["word_tokens"] == 9
    assert rows["eng-a"]["language"] == "eng"


@pytest.mark.filterwarnings("always::langdiff.errors.LangdiffWarning")
def test_all_intents_are_counted_if_asked_for(langdiff, corpus):
    done = langdiff("predictors", corpus, "--all-intents", "--compressor", "zlib")
    assert "warning: 1 of 3 editions lack some of the 2 intents" in done.err
    assert table(done.out).loc["eng-a", "characters"] == 34


def test_sources_by_folder(langdiff, corpus, tmp_path):
    for name, file, text in [
        ("lexicons", "eng", "go\tgoes\tV;PRS\ngo\twent\tV;PST\n"),
        ("treebanks", "deu.conllu", "1\ta\ta\tDET\t_\t_\t2\tdet\t_\t_\n2\tb\tb\tNOUN\t_\t_\t0\troot\t_\t_\n\n"),
    ]:
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_text(text)
    done = langdiff("predictors", corpus, "--lexicons", tmp_path / "lexicons", "--treebanks", tmp_path / "treebanks")
    assert done.code == 0, done.err
    assert table(done.out)["mcc"].dropna().to_dict() == {"eng-a": 2}
    assert table(done.out)["dependency_length"].dropna().to_dict() == {"deu-a": 1}
    assert "mcc missing in 2 (no lexicon): 'deu-a', 'fra-a'" in done.err


@pytest.mark.real_data
def test_wals_of_real_bibles(langdiff, real_data):
    kept = ["-e", "glv-manxpart", "-e", "slv-stritar1882", "-e", "eng-kjv"]
    done = langdiff("predictors", real_data / "bible", *kept, "--wals", real_data / "wals", "--compressor", "zlib")
    assert done.code == 0, done.err
    assert table(done.out)["26A"].to_dict()["eng-kjv"] == "Strongly suffixing"
    unknown = langdiff("predictors", real_data / "bible", *kept, "--wals", real_data / "wals", "--feature", "26B")
    assert unknown.code == 1
    assert "no feature '26B'. The most similar: 26A" in unknown.err


@pytest.fixture
def wals(tmp_path):
    tables = {
        "languages": "ID,Name,ISO639P3code,Glottocode,Family\nger,German,deu,stan1295,\neng,English,eng,stan1293,\n",
        "parameters": "ID,Name\n81A,Order\n",
        "codes": "ID,Parameter_ID,Name,Number\n81A-1,81A,SOV,1\n81A-2,81A,SVO,2\n",
        "values": "Language_ID,Parameter_ID,Code_ID\nger,81A,81A-1\neng,81A,81A-2\n",
    }
    (folder := tmp_path / "wals").mkdir()
    for name, text in tables.items():
        (folder / f"{name}.csv").write_text(text)
    return folder


def test_codes_of_a_table_or_a_fit_are_looked_up_without_a_corpus(langdiff, wals, tmp_path):
    (tmp_path / "d.csv").write_text("language,difficulty\nde,0.1\nEnglish,-0.1\nDeutsch,0.2\n")
    out, names = tmp_path / "p.tsv", tmp_path / "x.txt"
    files = ["--out", out, "--unmatched", names]
    done = langdiff("predictors", "--codes", tmp_path / "d.csv", "--wals", wals, "--feature", "81A", *files)
    assert (done.code, done.out) == (0, ""), done.err
    assert "Not matched, 1 of 3 names: Deutsch: German (deu)?" in done.err
    assert names.read_text() == "Deutsch\n"
    found = pd.read_csv(out, sep="\t", index_col="edition")
    assert found["iso639_3"].fillna("").to_dict() == {"de": "deu", "English": "eng", "Deutsch": ""}
    assert found["81A"].fillna("").to_dict() == {"de": "SOV", "English": "SVO", "Deutsch": ""}
    bits = ld.simulate(30, 3, seed=1).surprisals.bits.set_axis(["deu", "eng", "x"], axis=1)
    ld.fit(bits).save(tmp_path / "f.json")
    done = langdiff("predictors", "--codes", tmp_path / "f.json", "--wals", wals, "--feature", "81A")
    assert table(done.out)["81A"].dropna().to_dict() == {"deu": "SOV", "eng": "SVO"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["d.csv"], "d.csv: this is a table of numbers: pass it as --codes."),
        ([], "nothing to describe: give a CORPUS, or a table of languages with --codes"),
        (["--codes", "d.csv"], "there is nothing to look names up in: give --wals, --glottolog or both."),
        (["d.csv", "--codes", "d.csv"], "CORPUS is of no use with --codes"),
        (["--codes", "d.csv", "--all-intents"], "--all-intents is of no use with --codes"),
        (["d.csv", "--unmatched", "x.txt"], "--unmatched is for --codes: give that, too"),
        (["--codes", "d.csv", "--out", "x.cvs"], "x.cvs: unknown kind of table '.cvs'"),
    ],
)
def test_texts_and_codes_are_kept_apart(langdiff, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text("language,difficulty\ndeu,0.1\neng,-0.1\n")
    done = langdiff("predictors", *arguments)
    assert (done.code in (1, 2), done.out) == (True, "")
    assert message in done.said

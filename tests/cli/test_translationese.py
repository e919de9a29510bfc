import json

import numpy as np
import pandas as pd
import pytest

import langdiff as ld


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


def test_speaks_to_people_of_the_language_they_name(langdiff, tables):
    table, origins, surprisals, origin = tables
    done = langdiff("translationese", table, origins, "--language", "e2", "--model", "2L", "--restricted")
    assert done.code == 0
    expected = ld.translationese(surprisals, origin, languages=["e2"], model="2L", restricted=True)
    assert done.out == expected.summary() + "\n"
    assert "75 intents of unknown origin" in done.out
    assert "e1 " not in done.out


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ([], "no edition has 500 native intents"),
        (["--language", "deu"], "unknown language(s): 'deu'"),
        (["--min-native", 50, "--plot", "native.doc"], "unknown kind of picture '.doc'"),
    ],
)
def test_what_cannot_be_done_is_one_line(langdiff, tables, settings, message):
    done = langdiff("translationese", *tables[:2], *settings)
    assert (done.code, done.out) == (1, "")
    assert message in done.err
    assert done.err.count("\n") == 1


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
    done = langdiff("translationese", table, "--min-native", 15, "--json")
    assert done.code == 0
    rows = pd.DataFrame(json.loads(done.out)).set_index("edition")
    known = ld.read_multitext(files).intent_info["original_language"][ld.read_surprisals(table).intents]
    assert rows["native"].to_dict() == known.value_counts().to_dict()
    assert (rows["native"] + rows["translated"] == 70).all()  # a sixth of 420 segments

import json

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

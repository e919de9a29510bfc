"""Editions divided by original language: every cell goes to one part, and what cannot be compared is refused."""

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.experiments import read_origins, split_by_origin, split_by_source
from tests.helpers import refused

LANGUAGES = ["deu", "eng", "fra", "ita"]


def table(origins, languages=LANGUAGES, missing=0.0, seed=0):
    """Surprisals and the original languages of their intents, with a characters table beside."""
    drawn = ld.simulate(len(origins), len(languages), missing=missing, seed=seed).surprisals
    bits = drawn.bits.set_axis(languages, axis=1)
    surprisals = ld.Surprisals(bits=bits, characters=bits * 2, lm="mine")
    return surprisals, pd.Series(origins, index=bits.index)


def test_every_cell_goes_to_exactly_one_part():
    rng = np.random.default_rng(1)
    surprisals, origin = table(rng.choice([*LANGUAGES, "nld"], 200), missing=0.2)
    divided = split_by_origin(surprisals, origin, languages=["fra", "deu"])
    assert list(divided.editions) == ["deu:native", "deu:translated", "eng", "fra:native", "fra:translated", "ita"]
    for edition in ("deu", "fra"):
        native, translated = (divided.bits[f"{edition}:{part}"] for part in ("native", "translated"))
        assert not (native.notna() & translated.notna()).any()
        assert native.fillna(translated).equals(surprisals.bits[edition])
        assert (origin[native.notna()] == edition).all()
        assert (origin[translated.notna()] != edition).all()
    assert divided.bits["ita"].equals(surprisals.bits["ita"])
    pd.testing.assert_frame_equal(divided.characters, 2 * divided.bits, check_names=False)
    assert divided.lm == "mine"


def test_by_default_languages_with_enough_native_intents_are_divided():
    surprisals, origin = table(["deu"] * 30 + ["eng"] * 29 + ["ita"] * 31 + ["nld"] * 50)
    divided = split_by_origin(surprisals, origin, min_native=30)
    assert [e for e in divided.editions if e.endswith(":native")] == ["deu:native", "ita:native"]
    surprisals.bits.loc[origin == "deu", "deu"] = np.nan  # what counts are cells
    divided = split_by_origin(surprisals, origin, min_native=30)
    assert [e for e in divided.editions if e.endswith(":native")] == ["ita:native"]


@pytest.mark.parametrize("unknown", ["und", "", None, np.nan])
def test_intents_of_unknown_origin_are_in_no_part(unknown):
    surprisals, origin = table(["deu"] * 20 + ["eng"] * 20 + ["fra"] * 20)
    origin.iloc[[0, 25]] = unknown
    divided = split_by_origin(surprisals, origin, languages=["deu"])
    parts = divided.bits[["deu:native", "deu:translated"]]
    assert parts.isna().all(axis=1).sum() == 2
    assert divided.bits["eng"].notna().all()
    everything = split_by_origin(surprisals, origin, languages=LANGUAGES[:3])
    assert len(everything.intents) == 60  # "ita" has them
    bare = split_by_origin(surprisals.sel(editions=LANGUAGES[:3]), origin, languages=LANGUAGES[:3])
    assert len(bare.intents) == 58
    assert len(bare.characters) == 58


def test_editions_are_matched_with_languages():
    names = ["deu-luther", "deu-elberfelder", "en", "Vulgate"]
    surprisals, origin = table(["deu"] * 10 + ["en"] * 10 + ["lat"] * 10, languages=names)
    divided = split_by_origin(surprisals, origin, min_native=5, edition_info={"Vulgate": "lat"})
    assert [e for e in divided.editions if e.endswith(":native")] == [f"{name}:native" for name in names]
    assert divided.bits["Vulgate:native"].notna().sum() == 10


def test_two_languages_alone_cannot_be_compared():
    surprisals, origin = table(["deu"] * 20 + ["eng"] * 20, languages=["deu", "eng"])
    with pytest.raises(DataError, match=r"2 groups that share no intent.*third language"):
        split_by_origin(surprisals, origin, min_native=1)
    split_by_origin(surprisals, origin, languages=["deu"])  # through the whole "eng"
    origin.iloc[0] = "fra"
    split_by_origin(surprisals, origin, min_native=1)  # through a translation into both


def test_by_source_there_is_one_part_a_source():
    surprisals, origin = table(["eng"] * 30 + ["deu"] * 10 + ["fra"] * 20 + ["und"] * 5)
    divided = split_by_source(surprisals, origin, languages=["deu"])
    parts = ["deu:from-deu", "deu:from-eng", "deu:from-fra"]
    assert list(divided.editions) == [*parts, "eng", "fra", "ita"]
    assert divided.bits[parts].notna().sum().tolist() == [10, 30, 20]
    with pytest.raises(DataError, match=r"3 groups that share no intent.*Leave an edition whole"):
        split_by_source(surprisals, origin, languages=LANGUAGES)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"languages": ["xxx"]}, r"1 unknown language\(s\): 'xxx'. Editions are in 'deu', 'eng', 'fra', 'ita'"),
        ({"languages": []}, "0 unknown"),
        ({"languages": "ita"}, r"1 edition\(s\) without native intents: 'ita'"),
        ({"origins": ["deu"] * 40, "languages": ["deu"]}, r"1 edition\(s\) without translated intents: 'deu'"),
        ({"min_native": 21}, "no edition has 21 native intents and translated ones; native are: deu 20, eng 20"),
        ({"origins": ["de", "en"] * 20}, "no edition has native intents. Editions are in 'deu'.*give edition_info"),
        ({"origins": [None] * 40}, "The original language of none of 40 intents is known"),
        ({"edition_info": {"x": "deu"}}, r"edition_info: 1 unknown edition\(s\): 'x'"),
    ],
)
def test_what_cannot_be_divided_is_refused(change, message):
    surprisals, origin = table(change.pop("origins", ["deu"] * 20 + ["eng"] * 20))
    refused(DataError, message, split_by_origin, surprisals, origin, **change)


def test_gaps_and_doubles_of_the_table_of_origins_are_refused():
    surprisals, origin = table(["deu"] * 20 + ["eng"] * 20)
    with pytest.raises(DataError, match=r"2 of 40 intents have no original language: '1', '2'. Names there look like"):
        split_by_origin(surprisals, origin.iloc[2:], languages=["deu"])
    with pytest.raises(DataError, match=r"1 intent\(s\) with several original languages: '1'"):
        split_by_origin(surprisals, pd.concat([origin, origin.iloc[:1]]), languages=["deu"])
    refused(ConfigError, "min_native must be at least 1, got 0", split_by_origin, surprisals, origin, min_native=0)


def test_origins_are_read_by_the_first_column(tmp_path):
    (tmp_path / "o.tsv").write_text("sent_id\tdomain\toriginal_language\nn1\tnews\ten\n007\tnews\tund\n")
    assert read_origins(tmp_path / "o.tsv").to_dict() == {"n1": "en", "007": "und"}
    (tmp_path / "o.csv").write_text("intent,original_language\n1,nan\n")
    assert read_origins(tmp_path / "o.csv").to_dict() == {"1": "nan"}  # Min Nan
    (tmp_path / "bad.csv").write_text("original_language,intent\nen,1\n")
    with pytest.raises(DataError, match=r"bad\.csv, line 1: no column 'original_language' after the first"):
        read_origins(tmp_path / "bad.csv")

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection

import langdiff as ld
from langdiff import predictors
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from langdiff.typology import read_wals
from langdiff.typology.predictors.external import morphological_counting_complexity
from langdiff.typology.predictors.table import (
    compressed_bits,
    count_words,
    entropy_rate,
    type_token_ratio,
    unigram_entropy,
)
from tests.helpers import refused

TEXTS = {
    "eng-a": ["The dog sees a cat.", "The cat, a dog."],
    "eng-b": ["A dog sees the cats.", "Cats and dogs."],
    "deu-a": ["Der Hund sieht die Katze.", "Die Katze und ein Hund."],
    "cmn-a": ["狗看见了那只黑色的猫。", "那只猫还有一只狗在外面。"],
}
CONLLU = """# sent_id = 1
1\tThe\tthe\tDET\t_\t_\t2\tdet\t_\t_
2\tdog\tdog\tNOUN\t_\t_\t3\tnsubj\t_\t_
3\tsees\tsee\tVERB\t_\t_\t0\troot\t_\t_
4\tthe\tthe\tDET\t_\t_\t5\tdet\t_\t_
5\tcat\tcat\tNOUN\t_\t_\t3\tobj\t_\t_

# sent_id = 2
1\tdog\tdog\tNOUN\t_\t_\t2\tcompound\t_\t_
2\tthe\tthe\tDET\t_\t_\t0\troot\t_\t_

"""
LEXICON = "go\tgoes\tV;PRS\ngo\twent\tV;PST\nsheep\tsheep\tN;SG\nsheep\tsheep\tN;PL\n"
WALS = {
    "languages": "ID,Name,ISO639P3code,Family,ISO_codes\nger,German,deu,IE,deu\nbav,Bairisch,deu,IE,deu\n"
    "eng,English,eng,IE,eng\nmnd,Mandarin,cmn,ST,cmn\n",
    "parameters": "ID,Name\n26A,Prefixing vs. Suffixing\n81A,Order\n",
    "codes": "ID,Parameter_ID,Name,Number\n26A-1,26A,Little,1\n26A-2,26A,Suffixing,2\n"
    "81A-2,81A,SVO,2\n81A-7,81A,None,7\n",
    "values": "ID,Language_ID,Parameter_ID,Value,Code_ID\n1,eng,26A,2,26A-2\n2,mnd,26A,1,26A-1\n3,ger,26A,2,26A-2\n"
    "4,eng,81A,2,81A-2\n5,ger,81A,7,81A-7\n6,bav,81A,2,81A-2\n",
}


@pytest.fixture
def multitext():
    return ld.read_frame(pd.DataFrame(TEXTS, index=["i1", "i2"]))


@pytest.fixture
def spaced(multitext):
    return multitext.sel(editions=["eng-a", "eng-b", "deu-a"])


@pytest.fixture
def wals(tmp_path):
    folder = tmp_path / "wals"
    folder.mkdir()
    for name, text in WALS.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    return folder


def folder_of(path, files):
    path.mkdir()
    for name, text in files.items():
        (path / name).write_text(text, encoding="utf-8")
    return path


def test_texts_give_the_values_of_the_pure_functions(spaced):
    frame = predictors(spaced, entropy="chao-shen", compressor="zlib").to_frame()
    for edition, texts in TEXTS.items():
        if edition == "cmn-a":
            continue
        counts, row = count_words(texts), frame.loc[edition]
        bits, characters = compressed_bits(texts, "zlib"), len("".join(texts))
        expected = [characters, counts.total(), len(counts), type_token_ratio(counts)]
        words = " ".join(map(ld.tokenize, texts)).split()
        expected += [unigram_entropy(counts, "chao-shen"), entropy_rate(words), bits / characters, bits / 2]
        assert row.drop("language").tolist() == expected
    assert frame["language"].tolist() == ["eng", "eng", "deu"]
    assert frame["characters"]["eng-a"] == 34


def test_tokenized_texts_are_taken_as_they_are(spaced):
    assert predictors(spaced).values["word_types"]["eng-a"] == 7  # The dog sees a cat ↹. ↹,
    assert predictors(spaced, tokenized=True).values["word_types"]["eng-a"] == 7  # The dog sees a cat. cat, dog.
    assert predictors(spaced, tokenized=True).values["word_tokens"]["eng-a"] == 9
    assert predictors(spaced).values["word_tokens"]["eng-a"] == 12


def test_lzma_and_plug_in_are_the_defaults(spaced):
    row, texts = predictors(spaced).values.loc["deu-a"], TEXTS["deu-a"]
    assert (
        row["compression_bits_per_intent"] == compressed_bits(texts, "lzma") / 2 != compressed_bits(texts, "zlib") / 2
    )
    assert row["unigram_entropy"] == unigram_entropy(count_words(texts), "plug-in")


def test_words_without_spaces_are_missing_with_a_reason(multitext):
    with pytest.warns(LangdiffWarning, match=r"1 edition\(s\) do not separate words by spaces: 'cmn-a'"):
        result = predictors(multitext)
    row = result.values.loc["cmn-a"]
    assert row[["word_tokens", "word_types", "type_token_ratio", "unigram_entropy", "entropy_rate"]].isna().all()
    assert row["characters"] == len("".join(TEXTS["cmn-a"]))
    assert result.missing["reason"].unique().tolist() == ["no spaces between words"]


def test_every_source_at_once_and_a_reason_for_every_nan(multitext, wals, tmp_path):
    treebanks = folder_of(tmp_path / "treebanks", {"en_x.conllu": CONLLU})
    lexicons = folder_of(tmp_path / "lexicons", {"eng": LEXICON})
    with pytest.warns(LangdiffWarning) as warned:
        result = predictors(multitext, treebanks=treebanks, lexicons=lexicons, wals=wals, lang2vec="syntax_wals:S_SVO")
    assert "81A: WALS has varieties of 1 language(s)" in str(warned[0].message)
    assert warned[0].filename == __file__
    gaps = result.values.isna().stack()
    assert set(gaps[gaps].index) == set(result.missing.set_index(["edition", "predictor"]).index)
    frame = result.to_frame()
    assert frame["mcc"].tolist()[:2] == [4, 4]
    # DET heads: NOUN, NOUN and root; dog: VERB, DET. The distances are 1, 1, 1, 2 and 1
    assert frame["dependency_length"].dropna().tolist() == [6 / 5, 6 / 5]
    assert frame["26A"].tolist() == ["Suffixing", "Suffixing", "Suffixing", "Little"]
    assert frame["81A"].tolist()[:3] == ["SVO", "SVO", "None"]
    assert list(frame["81A"].cat.categories) == ["SVO", "None"]
    assert frame["syntax_wals:S_SVO"].tolist() == [1, 1, 1, 1]
    reason = result.missing.set_index(["edition", "predictor"])["reason"]
    assert reason["cmn-a", "81A"] == "no value in WALS"
    assert reason["deu-a", "mcc"] == "no lexicon"
    assert reason["deu-a", "hpe_mean"] == "no treebank"
    assert result.info.loc["26A", "kind"] == "categorical"
    assert result.info.loc["mcc", ["editions", "distinct"]].tolist() == [2, 1]


def test_merged_cells_and_frames_of_lexicons(spaced):
    frame = pd.DataFrame([line.split("\t") for line in LEXICON.split("\n")[:-1]], columns=["lemma", "form", "features"])
    result = predictors(spaced, lexicons={"eng": frame}, syncretism="merge")
    expected = morphological_counting_complexity(frame, syncretism="merge")
    assert expected == 3
    assert result.values["mcc"].dropna().tolist() == [expected, expected]


def test_treebank_of_an_edition_goes_before_that_of_its_language(spaced, tmp_path):
    short, long = tmp_path / "s.conllu", tmp_path / "l.conllu"
    long.write_text(CONLLU)
    short.write_text(CONLLU.split("\n\n")[1] + "\n\n")
    lengths = predictors(spaced, treebanks={"eng": long, "eng-b": short}).values["dependency_length"]
    assert lengths[["eng-a", "eng-b"]].tolist() == [6 / 5, 1]


def test_a_mapping_must_name_what_is_there(spaced, tmp_path):
    with pytest.raises(ConfigError, match=r"treebanks: 1 of 1 names .*: 'en'. Its languages: 'deu', 'eng'"):
        predictors(spaced, treebanks={"en": tmp_path})
    refused(DataError, "nothing here", predictors, spaced, lexicons={"eng": tmp_path / "nothing here"})


def test_languages_unknown_to_wals(spaced, wals):
    renamed = ld.read_frame(pd.DataFrame({"eng": ["a b"], "zul": ["c d"], "Klingon": ["e f"]}))
    with pytest.warns(LangdiffWarning, match=r"1 edition\(s\) have no ISO 639-3 code: 'Klingon'.*edition_info"):
        result = predictors(renamed, wals=wals, features="26A")
    assert result.missing["reason"].tolist() == ["language not in WALS", "no ISO 639-3 code"]
    assert "Little" not in result.summary()
    with pytest.raises(DataError, match="no edition has an ISO 639-3 code, such as 'Klingon'"):
        predictors(renamed.sel(editions=["Klingon"]), wals=wals)
    refused(ConfigError, "no feature '26B'", predictors, spaced, wals=read_wals(wals), features=["26A", "26B"])


def test_missing_intents_are_warned_of_and_empty_editions_have_a_reason():
    frame = pd.DataFrame({"eng": ["a b", "c"], "deu": ["a", None], "fra": [None, None]}, index=["i1", "i2"])
    multitext = ld.read_frame(frame)
    with pytest.warns(LangdiffWarning, match=r"2 of 3 editions lack some of the 2 intents, most of all 'fra'.*keep"):
        result = predictors(multitext)
    assert set(result.missing["reason"]) == {"no text"}
    assert result.values.loc["fra"].isna().all()


def test_constant_predictors_are_named(spaced, wals):
    result = predictors(spaced, wals=wals, features="26A")
    assert result.info.loc["26A", "distinct"] == 1
    assert "The same everywhere, so of no use as predictors: '26A'" in result.summary()
    assert repr(result) == "Predictors: 3 editions (2 languages) × 9 predictors, 0 of 27 values missing"


def test_plot_draws_the_values_in_their_order(multitext, wals):
    with pytest.warns(LangdiffWarning):
        result = predictors(multitext, wals=wals, features=["26A"])
    ax = result.plot("word_types", by="26A")
    points = np.concatenate([dots.get_offsets() for dots in ax.collections if isinstance(dots, PathCollection)])
    expected = result.values["word_types"].dropna().sort_values()
    assert points[np.argsort(points[:, 1]), 0].tolist() == expected.tolist()
    assert [label.get_text() for label in ax.get_yticklabels()] == list(expected.index)
    assert ax.get_xlabel() == "word types; 1 without a value"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["Suffixing"]
    assert result.plot("characters", ax) is ax
    refused(ConfigError, "'26A' is not a numeric predictor of this table; there are 'characters'", result.plot, "26A")
    with pytest.raises(ConfigError, match="'word_types' is not a categorical predictor of this table; there are '26A'"):
        result.plot("word_types", by="word_types")


@pytest.mark.real_data
def test_real_new_testaments_have_more_words_the_more_they_inflect(real_data):
    editions = ["vie-cadman", "eng-kjv", "deu-luther1912", "rus-synodal", "fin-pr1938", "zul-zulunt"]
    bibles = ld.read_multitext(real_data / "bible", editions=editions, progress=False)
    mark = bibles.sel(intents=[verse for verse in bibles.intents if verse.startswith("41")]).dropna()
    assert len(mark) > 500
    types = predictors(mark, compressor="zlib").values["word_types"]
    assert types.sort_values().index.tolist() == editions

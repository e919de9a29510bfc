"""The catalogue: what it holds, refuses and reads only when asked."""

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from langdiff.errors import DataError
from langdiff.tables.multitext import Multitext, Parts, multitext_from_sources, texts_by_part
from langdiff.tables.text_sources import InMemoryText
from tests.helpers import refused

TEXTS = {
    "eng": {"1": "a dog", "2": "two cats", "4": "fish"},
    "deu": {"1": "ein Hund", "2": "zwei Katzen", "3": "<Maus>"},
    "fra": {"2": "deux chats", "1": "un chien"},  # in another order
}


class CountingText:
    """A source that counts how often it is read."""

    def __init__(self, texts):
        self.texts, self.reads = texts, 0

    def read(self):
        self.reads += 1
        return pd.Series(self.texts, dtype=object)


@pytest.fixture
def sources():
    return {edition: CountingText(texts) for edition, texts in TEXTS.items()}


@pytest.fixture
def multitext(sources):
    return multitext_from_sources(
        sources,
        TEXTS,
        intents=["1", "2", "3", "4"],
        edition_info=pd.DataFrame(
            {"language": ["deu", "eng", "fra"], "family": ["Germanic", "Germanic", "<Romance>"]},
            index=["deu", "eng", "fra"],
        ),
        intent_info=pd.DataFrame({"book": list("WXYZ")}, index=["4", "3", "2", "1"]),
    )


def test_catalogue(multitext):
    assert multitext.presence.to_dict("list") == {
        "eng": [True, True, False, True],
        "deu": [True, True, True, False],
        "fra": [True, True, False, False],
    }
    assert multitext.edition_info["family"].to_dict() == {"eng": "Germanic", "deu": "Germanic", "fra": "<Romance>"}
    assert multitext.intent_info["book"].tolist() == ["Z", "Y", "X", "W"]
    assert len(multitext) == 4
    assert repr(multitext) == "Multitext: 4 intents × 3 editions (3 languages), 4 of 12 cells missing"


def test_text_is_in_the_order_of_the_multitext(multitext):
    text = multitext.text("fra")
    assert list(text.items()) == [("1", "un chien"), ("2", "deux chats")]
    assert (text.name, text.index.name) == ("fra", "intent")


def test_nothing_is_read_until_asked_for(multitext, sources):
    chosen = multitext.sel(intents=["2", "1"], editions=["fra", "eng"]).dropna().map_text(str.upper)
    repr(chosen), chosen._repr_html_(), len(chosen)
    assert [source.reads for source in sources.values()] == [0, 0, 0]
    assert chosen.text("fra").tolist() == ["DEUX CHATS", "UN CHIEN"]
    assert [source.reads for source in sources.values()] == [0, 0, 1]


def test_sel_keeps_the_order_asked_for(multitext):
    chosen = multitext.sel(intents=iter(["4", "1"]), editions=["fra", "eng"])
    assert list(chosen.intents) == ["4", "1"]
    assert list(chosen.editions) == list(chosen.edition_info.index) == ["fra", "eng"]
    assert list(chosen.intent_info["book"]) == ["W", "Z"]
    assert set(chosen.sources) == {"fra", "eng"}
    assert chosen.text("eng").to_dict() == {"4": "fish", "1": "a dog"}
    assert list(multitext.sel(intents=[]).intents) == []


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ({"editions": ["eng", "ita", "xxx"]}, r"2 unknown edition\(s\): 'ita', 'xxx'. Known: 'eng', 'deu', 'fra'"),
        ({"intents": ["9"]}, r"1 unknown intent\(s\): '9'"),
        ({"intents": [1]}, r"1 unknown intent\(s\): 1"),  # ids are strings here
        ({"editions": ["eng", "eng"]}, r"1 edition\(s\) asked for twice: 'eng'"),
        ({"intents": ["1", "2", "1"]}, r"1 intent\(s\) asked for twice: '1'"),
    ],
)
def test_sel_refuses(multitext, what, message):
    refused(DataError, message, multitext.sel, **what)


def of_intents(*intents):
    texts = {"deu": dict.fromkeys(intents, "a")}
    info = pd.DataFrame({"language": ["deu"]}, index=["deu"])
    return multitext_from_sources({"deu": CountingText(texts["deu"])}, texts, intents=intents, edition_info=info)


@pytest.mark.parametrize(
    ("first", "last", "kept"),
    [(None, None, ["9", "10", "11"]), ("10", None, ["10", "11"]), (None, "9", ["9"]), ("9", "10", ["9", "10"])],
)
def test_between_goes_by_place_not_by_letters(first, last, kept):
    assert list(of_intents("9", "10", "11").between(first, last).intents) == kept


def test_ends_need_not_be_there_where_names_are_sorted():
    bible = of_intents("01001001", "40001002", "66022020")
    assert list(bible.between("40001001", "66022021").intents) == ["40001002", "66022020"]
    assert list(bible.between("40001002", "40001002").intents) == ["40001002"]
    with pytest.raises(DataError, match=r"no intent from '41001001' to '42001001'; they go from '01001001' to '66"):
        bible.between("41001001", "42001001")
    refused(DataError, "no intent from '66022020' to '01001001'", bible.between, "66022020", "01001001")
    refused(DataError, "'4000100' is not an intent", bible.between, "4000100")
    with pytest.raises(DataError, match=r"'12' is not an intent. There are '9', '10', '11'"):
        of_intents("9", "10", "11").between(last="12")


def test_dropna_keeps_what_all_have(multitext):
    assert list(multitext.dropna().intents) == ["1", "2"]
    assert list(multitext.sel(editions=["eng"]).dropna().intents) == ["1", "2", "4"]
    assert multitext.dropna().presence.to_numpy().all()


@given(st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=8))
def test_dropna_is_what_rows_of_true_say(rows):
    texts = {e: {str(i): "x" for i, row in enumerate(rows) if row[j]} for j, e in enumerate("abc")}
    sources = {edition: InMemoryText(pd.Series(cells, dtype=object)) for edition, cells in texts.items()}
    info = pd.DataFrame({"language": list("abc")}, index=list("abc"))
    multitext = multitext_from_sources(sources, texts, intents=map(str, range(len(rows))), edition_info=info)
    assert list(multitext.dropna().intents) == [str(i) for i, row in enumerate(rows) if all(row)]
    assert multitext.presence.to_numpy().tolist() == rows
    assert multitext.to_frame().notna().to_numpy().tolist() == rows


def test_to_frame(multitext):
    frame = multitext.to_frame()
    assert list(frame.columns) == ["eng", "deu", "fra"]
    assert frame.loc["3", "deu"] == "<Maus>"
    assert frame.notna().to_numpy().tolist() == multitext.presence.to_numpy().tolist()


def test_sizes(multitext):
    sizes = multitext.edition_sizes()
    assert sizes.loc["eng", ["intents", "words", "characters"]].tolist() == [3, 5, 5 + 8 + 4]
    assert multitext.describe().to_dict() == {
        "editions": 3, "languages": 3, "families": 2, "intents": 4,
        "cells": 8, "words": 5 + 5 + 4, "characters": 17 + 25 + 18, "left_out": 0,
    }  # fmt: skip
    without = multitext.map_text(str)
    object.__setattr__(without, "edition_info", multitext.edition_info.drop(columns="family"))
    assert without.describe()["families"] == 0


def test_html_is_escaped(multitext):
    html = multitext._repr_html_()
    assert "&lt;Romance&gt;" in html
    assert "<Romance>" not in html


def test_immutable(multitext):
    with pytest.raises(FrozenInstanceError):
        multitext.presence = None
    chosen = multitext.sel(editions=["eng"])
    chosen.presence.iloc[:] = False
    assert multitext.presence["eng"].sum() == 3


def test_memory_source_is_not_changed_through_its_text():
    source = InMemoryText(pd.Series({"1": "a"}, dtype=object))
    info = pd.DataFrame({"language": ["eng"]}, index=["eng"])
    multitext = multitext_from_sources({"eng": source}, {"eng": ["1"]}, intents=["1"], edition_info=info)
    text = multitext.text("eng")
    text["1"] = "b"
    assert multitext.text("eng")["1"] == "a"


def test_pickles(multitext):
    again = pickle.loads(pickle.dumps(multitext.map_text(str.upper)))
    assert_frame_equal(again.presence, multitext.presence)
    assert again.text("eng")["1"] == "A DOG"


def test_source_that_has_changed(multitext, sources):
    del sources["eng"].texts["4"]
    try:
        refused(DataError, r"edition 'eng': 1 intents catalogued before .* the first '4'", multitext.text, "eng")
    finally:
        sources["eng"].texts["4"] = "fish"


def tables(intents=("1", "2"), editions=("a", "b")):
    return {
        "presence": pd.DataFrame(np.ones((len(intents), len(editions)), bool), index=intents, columns=editions),
        "edition_info": pd.DataFrame({"language": "und"}, index=list(editions)),
        "intent_info": pd.DataFrame(index=list(intents)),
        "sources": dict.fromkeys(editions, InMemoryText(pd.Series(dict.fromkeys(intents, "x"), dtype=object))),
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (tables(intents=("1", "1")), r"1 intent\(s\) named twice: '1'"),
        (tables(editions=("a", "a")), r"1 edition\(s\) named twice: 'a'"),
        ({"edition_info": tables(editions=("b", "a"))["edition_info"]}, "edition_info must have one row per edition"),
        ({"intent_info": tables(intents=("1",))["intent_info"]}, "intent_info must have one row per intent"),
        ({"edition_info": pd.DataFrame(index=["a", "b"])}, "edition_info needs a column 'language'"),
        ({"sources": {"a": None}}, r"no text source for 1 edition\(s\): 'b'"),
    ],
)
def test_tables_that_do_not_fit(change, message):
    assert len(Multitext(**tables())) == 2
    refused(DataError, message, Multitext, **{**tables(), **change})


def test_only_wanted_texts_pass_through_functions_and_a_source_is_read_once_for_all_parts(multitext, sources):
    seen = []

    def shout(text):
        seen.append(text)
        return text.upper()

    shouted = multitext.sel(editions=["eng"]).dropna().map_text(shout)
    assert shouted.sel(intents=["4", "2"]).text("eng").to_dict() == {"4": "FISH", "2": "TWO CATS"}
    assert sorted(seen) == ["fish", "two cats"]
    seen.clear()
    train, dev, test = (shouted.sel(intents=[name]) for name in ("4", "1", "2"))
    found = texts_by_part(Parts(train=train, dev=dev, test=test), "eng")
    assert {part: list(texts) for part, texts in found.items()} == {
        "train": ["FISH"],
        "dev": ["A DOG"],
        "test": ["TWO CATS"],
    }
    assert (sorted(seen), sources["eng"].reads) == (["a dog", "fish", "two cats"], 2)
    assert all(found[part].equals(each.text("eng")) for part, each in (("train", train), ("dev", dev), ("test", test)))
    silent = multitext.sel(intents=["2"], editions=["eng"])  # of another source
    assert list(texts_by_part(Parts(train=train, dev=dev, test=silent), "eng")["test"]) == ["two cats"]

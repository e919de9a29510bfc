"""Multitexts from frames."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal, assert_series_equal

from langdiff.corpora import read_frame
from langdiff.errors import DataError
from tests.helpers import is_meant

WIDE = pd.DataFrame({"eng": ["a dog", None, " "], "deu-x": ["ein Hund", "eine Katze", np.nan]}, index=[7, 3, 5])
LONG = pd.DataFrame(
    [(7, "eng", "a dog"), (7, "deu-x", "ein Hund"), (3, "deu-x", "eine Katze"), (3, "eng", None), (5, "eng", "")],
    columns=["intent", "edition", "text"],
)


@pytest.mark.parametrize("frame", [WIDE, LONG], ids=["wide", "long"])
def test_wide_and_long_say_the_same(frame):
    multitext = read_frame(frame)
    assert list(multitext.intents) == ["7", "3", "5"]
    assert list(multitext.editions) == ["eng", "deu-x"]
    assert multitext.presence.to_numpy().tolist() == [[True, True], [False, True], [False, False]]
    assert multitext.text("deu-x").to_dict() == {"7": "ein Hund", "3": "eine Katze"}
    assert multitext.edition_info["language"].tolist() == ["eng", "deu"]


def test_the_frame_may_change_afterwards():
    frame = WIDE.copy()
    multitext = read_frame(frame)
    frame.loc[7, "eng"] = "a wolf"
    assert multitext.text("eng")["7"] == "a dog"


def test_what_is_known_is_taken_over_in_order():
    info = pd.DataFrame({"language": [None, "gsw", "fra"], "family": list("ABC")}, index=["eng", "deu-x", "fra"])
    about = pd.DataFrame({"book": ["X", "Y", "Z"]}, index=[3, 5, 7])
    multitext = read_frame(WIDE, edition_info=info, intent_info=about)
    assert multitext.edition_info.to_dict("list") == {"language": ["eng", "gsw"], "family": ["A", "B"]}
    assert multitext.intent_info["book"].to_dict() == {"7": "Z", "3": "X", "5": "Y"}
    assert "language" in info  # the caller's frame is left alone
    assert info["language"].isna().sum() == 1


def long_frame(*rows):
    return pd.DataFrame(rows, columns=["intent", "edition", "text"], dtype=object)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (long_frame(("1", "a", "x"), ("1", "a", "y")), r"intent '1', edition 'a': a text given twice"),
        (long_frame(("1", "a", "x"), (1, "a", "y")), "given twice"),  # '1' and 1 are one name
        (long_frame(("1", "a", 3.5)), r"intent '1', edition 'a': a cell without text; give str or None: 3.5"),
        (long_frame(("1", "a", ["x"])), r"without text"),
        (long_frame(("1", "a", "x\ud800")), r"'a': a text with half a character \(a lone surrogate\)"),
        (long_frame(("\ud800", "a", "x")), r"a text whose intent is not a name, '\\ud800': 'x'"),
        (long_frame(("1", ["a", "b"], 3.5)), r"a text whose edition is not a name, \['a', 'b'\]: 3.5"),
        (long_frame((None, "a", "x")), r"line 1: a text without intent: 'x'"),
        (long_frame(("1", np.nan, "x")), r"line 1: a text without edition"),
        (long_frame(), "the frame is empty"),
        (
            pd.DataFrame([["1", "a", "x", "1"]], columns=["intent", "edition", "text", "intent"]),
            "several columns 'intent'; keep one",
        ),
        (pd.DataFrame(), "the frame is empty"),
        (pd.DataFrame({"intent": ["1"], "text": ["x"]}), r"column\(s\) 'intent', 'text' but not 'edition'"),
        (pd.DataFrame([["x", "y"]], index=["1"], columns=["a", "a"]), "given twice"),
        (pd.DataFrame({("a", "b"): ["x"]}), "several levels"),
        ([["x", "y"]], "long or one column per edition, not list"),
    ],
)
def test_bad_frames(frame, message):
    with pytest.raises(DataError, match=message):
        read_frame(frame)


def test_tables_that_do_not_know_all():
    with pytest.raises(DataError, match=r"edition_info has no row for 1 of 2: 'deu-x'"):
        read_frame(WIDE, edition_info=pd.DataFrame(index=["eng"]))
    with pytest.raises(DataError, match=r"intent_info has several rows for '3'"):
        read_frame(WIDE, intent_info=pd.DataFrame(index=[3, 3, 7, 5]))


DRAWN = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf"], exclude_characters="\ufffd"), max_size=3)
CELLS = st.tuples(st.sampled_from("12345"), st.sampled_from(["aaa", "bbb", "ccc"]))


@given(st.dictionaries(CELLS, st.none() | DRAWN.filter(is_meant), min_size=1))
def test_what_goes_in_comes_out(cells):
    multitext = read_frame(long_frame(*((*cell, text) for cell, text in cells.items())))
    out = multitext.to_frame().stack().dropna()
    expected = {cell: text for cell, text in cells.items() if text is not None and text.strip()}
    assert out.to_dict() == expected
    assert_frame_equal(read_frame(multitext.to_frame()).presence, multitext.presence)
    assert_series_equal(multitext.to_frame().notna().sum(), multitext.presence.sum(), check_names=False)

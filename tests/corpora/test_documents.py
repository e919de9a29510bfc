"""The table of documents beside line-aligned text."""

import bz2

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from langdiff.corpora import read_frame, read_multitext, write_multitext
from langdiff.corpora.formats.moses import documents_tsv, read_documents
from langdiff.errors import DataError
from tests.helpers import refused


def folder_with(tmp_path, table, name="documents.tsv"):
    for edition in ("eng", "deu"):
        (tmp_path / f"{edition}.txt").write_text("a\nb\nc\n", encoding="utf-8")
    content = table.encode()
    (tmp_path / name).write_bytes(bz2.compress(content) if name.endswith(".bz2") else content)
    return tmp_path


@pytest.mark.parametrize("name", ["documents.tsv", "documents.tsv.bz2", "segments.tsv"])
def test_documents_are_those_of_the_lines(tmp_path, name):
    folder = folder_with(tmp_path, "document\tdomain\nx.1\tnews\n\tnews\nx.2\twiki\n", name)
    multitext = read_multitext(folder, format="moses")
    assert list(multitext.editions) == ["deu", "eng"]
    assert list(multitext.intent_info) == ["document"]  # other columns are not taken over
    assert multitext.intent_info["document"].fillna("none").to_dict() == {"1": "x.1", "2": "none", "3": "x.2"}


def test_chapters_and_speakers_that_are_counted_anew_get_names_of_their_own(tmp_path):
    lines = ["chapter\tsession\tspeaker", "1\ta\t1", "1\ta\t2", "1\tb\t1"]
    info = read_multitext(folder_with(tmp_path, "\n".join(lines)), format="moses").intent_info
    assert info["document"].tolist() == ["a.1", "a.1", "b.1"]
    assert info["turn"].tolist() == ["a.1.1", "a.1.2", "b.1.1"]
    assert list(info) == ["session", "document", "turn"]


def test_a_document_that_is_given_is_kept(tmp_path):
    table = "session\tchapter\tdocument\na\ta1\tx\na\ta2\tx\nb\tb1\ty\n"
    info = read_multitext(folder_with(tmp_path, table), format="moses").intent_info
    assert info[["document", "chapter"]].to_numpy().tolist() == [["x", "a1"], ["x", "a2"], ["y", "b1"]]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("document\nx\ny\n", r"documents.tsv has 2 lines after the first for 3 intents"),
        ("document\tbook\nx\tX\ny\nz\tZ\n", r"documents.tsv, line 3: 1 cells, but line 1 names 2 columns"),
        ("domain\nx\ny\nz\n", r"documents.tsv: none of the columns 'session', 'document', .* which has 'domain'"),
    ],
)
def test_tables_that_do_not_fit(tmp_path, table, message):
    refused(DataError, message, read_multitext, folder_with(tmp_path, table), format="moses")


names = st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\t\n\r\0"), min_size=1, max_size=4)


@pytest.mark.slow
@given(documents=st.lists(names, min_size=3, max_size=3), speakers=st.none() | st.lists(names, min_size=3, max_size=3))
def test_what_is_written_comes_back(documents, speakers, tmp_path_factory):
    folder = tmp_path_factory.mktemp("round")
    columns = {"document": documents} | ({} if speakers is None else {"speaker": speakers})
    info = pd.DataFrame(columns, index=["1", "2", "3"], dtype=object)
    texts = pd.DataFrame({"eng": ["a", "b", "c"]}, index=info.index)
    write_multitext(read_frame(texts, intent_info=info), folder, format="moses")
    again = read_multitext(folder, format="moses").intent_info
    assert_frame_equal(again.fillna("?"), info.fillna("?"), check_index_type=False, check_names=False)
    assert again.isna().to_numpy().tolist() == info.isna().to_numpy().tolist()


def test_a_name_with_a_tab_cannot_be_written():
    info = pd.DataFrame({"document": ["x", "y\tz"]}, index=["1", "2"])
    refused(DataError, r"intent_info: 'y\\tz' of intent '2' holds a tab", documents_tsv, info)


def test_without_a_table_there_is_no_column():
    assert read_documents(None, ["1", "2"]).shape == (2, 0)
    assert documents_tsv(pd.DataFrame({"domain": ["news"]}, index=["1"])) == {}
    assert documents_tsv(pd.DataFrame({"book": [np.nan, "GEN"]}, index=["1", "2"])) == {
        "documents.tsv": "book\n\nGEN\n"
    }

"""Line-aligned text, read and written."""

import gzip
import unicodedata
from functools import partial

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from langdiff.corpora import read_frame, read_multitext, write_multitext
from langdiff.errors import DataError
from tests.helpers import is_meant, refused

read = partial(read_multitext, format="moses")
write = partial(write_multitext, format="moses")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "deu.txt").write_text("ein Hund\n\neine e\u0301\r\n", encoding="utf-8")
    (tmp_path / "eng_Latn.txt.gz").write_bytes(gzip.compress(b"a dog\na cat\n \n"))
    (tmp_path / "original_language.txt").write_text("deu\n\nund\n")
    (tmp_path / "README.md").write_text("not a text")
    return tmp_path


def test_lines_are_intents(folder):
    multitext = read_multitext(folder, format="moses")
    assert multitext.to_frame().fillna("-").to_dict("list") == {
        "deu": ["ein Hund", "-", "eine \N{LATIN SMALL LETTER E WITH ACUTE}"],
        "eng_Latn": ["a dog", "a cat", "-"],
    }
    assert list(multitext.intents) == ["1", "2", "3"]
    assert multitext.intent_info["original_language"].tolist() == ["deu", "", "und"]
    assert multitext.edition_info["language"].tolist() == ["deu", "eng"]
    assert read(folder, nfc=False).text("deu")["3"] == "eine e\u0301"


def written_beside(folder, name):
    (folder / name).write_text("x\n")
    return folder / name


def test_names_of_other_kinds(tmp_path):
    for name in ("fra_Latn.dev", "zul_Latn.dev", "Europarl.de-en.de", "Europarl.de-en.en"):
        (tmp_path / name).write_text("x\n")
    assert list(read(f"{tmp_path}/*.dev").editions) == ["fra_Latn", "zul_Latn"]
    assert list(read(f"{tmp_path}/Europarl*").editions) == ["de", "en"]
    with pytest.raises(DataError, match=r"two files are edition 'fra_Latn': .*give the files by edition"):
        read([tmp_path / "fra_Latn.dev", written_beside(tmp_path, "fra_Latn.devtest")])
    opus = {code: tmp_path / f"Europarl.de-en.{code[:2]}" for code in ("eng", "deu") if code == "eng"}
    named = read({"deu": tmp_path / "Europarl.de-en.de", **opus})
    assert named.edition_info["language"].to_dict() == {"deu": "deu", "eng": "eng"}


def test_line_aligned_text_is_never_guessed(folder):
    refused(DataError, r"deu.txt: the file begins as in none of .*pass format='moses'", read_multitext, folder)


def test_files_of_different_lengths(folder):
    (folder / "fra.txt").write_text("un\ndeux\n")
    refused(DataError, r"fra.txt: has 2 lines, .*deu.txt has 3: line k of every file", read, folder)
    (folder / "fra.txt").write_text("\n\n\n")
    refused(DataError, r"fra.txt: holds no text", read, folder)


def test_files_beside_the_texts(folder, tmp_path):
    (folder / "original_language.txt").write_text("deu\n")
    refused(DataError, r"original_language.txt has 1 lines for 3 intents", read, folder)
    (tmp_path / "other").write_text("x\ny\nz\n")
    codes = read(folder / "deu.txt", original_language=tmp_path / "other").intent_info["original_language"]
    assert codes.tolist() == ["x", "y", "z"]
    (folder / "original_language.txt").unlink()
    assert "original_language" not in read(folder).intent_info
    (folder / "intents.txt").write_text("a\nb\na\n")
    refused(DataError, r"intents.txt, lines 1 and 3: intent 'a' is there twice", read, folder)
    (folder / "intents.txt").write_text("a\n")
    refused(DataError, r"intents.txt has 1 lines, .*deu.txt has 3", read, folder)
    refused(DataError, r"there is no edition, only .*intents.txt", read, folder / "intents.txt")


# --- writing

stretches = st.sampled_from(
    [
        "\u05d1\u05e8\u05d0",
        "\u202eabc\u202c",
        "\u0915\u094d\u0937\u093f",
        "\U00010428",
        "\u2028\x0b\x85\t",
        "\ufeff",
        "# ",
    ]
)
texts = st.lists(st.text(st.characters(codec="utf-8")) | stretches, max_size=3).map(
    lambda parts: unicodedata.normalize("NFC", "".join(parts))
)
writable = texts.filter(lambda t: t.strip() and is_meant(t) and not {*"\n\r\0"} & {*t} and t[0] != "\ufeff")
ids = st.text(st.characters(codec="utf-8", exclude_characters="\n\r\0\ufeff"), min_size=1, max_size=5)


@st.composite
def multitexts(draw):
    intents = draw(
        st.lists(ids, min_size=1, max_size=5, unique=True)
        | st.integers(1, 5).map(lambda n: [str(k + 1) for k in range(n)])
    )
    columns = {}
    for edition in draw(
        st.lists(st.sampled_from(["deu-a", "eng", "\u05e2\u05d1\u05e8\u05d9\u05ea"]), min_size=1, unique=True)
    ):
        cells = draw(st.lists(st.none() | writable, min_size=len(intents), max_size=len(intents)))
        cells[0] = draw(writable) if not any(cells) else cells[0]
        columns[edition] = cells
    codes = draw(st.none() | st.lists(st.sampled_from(["deu", "und"]), min_size=len(intents), max_size=len(intents)))
    info = None if codes is None else pd.DataFrame({"original_language": codes}, index=intents)
    return read_frame(pd.DataFrame(columns, index=intents, dtype=object), intent_info=info)


@given(multitext=multitexts())
def test_what_is_written_comes_back(multitext, tmp_path_factory):
    folder = tmp_path_factory.mktemp("round")
    write_multitext(multitext, folder, format="moses")
    again = read_multitext(folder, format="moses", editions=multitext.editions)
    assert again.to_frame().equals(multitext.to_frame())
    assert_frame_equal(again.intent_info, multitext.intent_info, check_index_type=False, check_dtype=False)
    assert again.edition_info["language"].equals(multitext.edition_info["language"])


def frame_of(*cells):
    return read_frame(pd.DataFrame({"deu": cells}, index=[str(k + 1) for k in range(len(cells))], dtype=object))


def test_what_is_no_bible_is_written_as_lines_unless_asked_otherwise(tmp_path):
    write_multitext(frame_of("eins", "zwei"), tmp_path / "lines")
    assert (tmp_path / "lines" / "deu.txt").read_text() == "eins\nzwei\n"
    write_multitext(read_frame(pd.DataFrame({"deu": ["eins"]}, index=["01001001"])), tmp_path / "bible")
    assert (tmp_path / "bible" / "deu.txt").read_text().endswith("01001001\teins\n")
    refused(DataError, "are not verse ids", write_multitext, frame_of("eins"), tmp_path / "x", format="pbc")


@pytest.mark.parametrize(
    ("multitext", "message"),
    [
        (frame_of("a", "b\nc"), r"edition 'deu', intent '2': the format cannot hold this text: '\\n' at position 1"),
        (frame_of(None), r"edition 'deu' has no text at all"),
        (read_frame(pd.DataFrame({"intents": ["a"]}, index=["1"])), "has the name of another file of this format"),
        (read_frame(pd.DataFrame({"deu": ["a"]}, index=["x\ny"])), r"an intent, 'x\\ny', holds '\\n'"),
        (read_frame(pd.DataFrame({"a/b": ["a"]}, index=["1"])), "cannot be names of files"),
    ],
)
def test_what_the_format_cannot_hold(tmp_path, multitext, message):
    refused(DataError, message, write, multitext, tmp_path)
    assert list(tmp_path.iterdir()) == []


# --- real data


@pytest.mark.real_data
def test_real_europarl(real_data, tmp_path):
    europarl = read_multitext(real_data / "europarl", format="moses")
    assert list(europarl.editions) == ["en", "fr"]
    assert len(europarl) == 5151
    counts = europarl.intent_info["original_language"].value_counts()
    assert counts[["und", "de", "fr", "en"]].tolist() == [1117, 809, 642, 603]  # its README
    write_multitext(europarl, tmp_path, format="moses")
    again = read_multitext(tmp_path, format="moses")
    assert again.to_frame().equals(europarl.to_frame())
    assert again.intent_info.equals(europarl.intent_info)
    assert europarl.intent_info[["session", "document", "turn"]].nunique().tolist() == [3, 20, 449]
    assert europarl.intent_info.loc["1"].tolist() == ["ep-00-01-17", "ep-00-01-17.1", "ep-00-01-17.1.1", "und"]


@pytest.mark.real_data
def test_real_ntrex(real_data, tmp_path):
    editions = ["heb", "snd-Arab", "spa_ref2", "tha", "zho-TW"]
    news = read_multitext(real_data / "ntrex", format="moses", editions=editions)
    assert news.presence.shape == (1997, 5)
    assert news.edition_info["language"].tolist() == ["heb", "snd", "spa", "tha", "zho"]
    characters = {"heb": 200296, "snd-Arab": 220327, "spa_ref2": 286997, "tha": 237468, "zho-TW": 91478}  # its README
    as_is = read_multitext(real_data / "ntrex", format="moses", editions=editions, nfc=False)
    assert as_is.edition_sizes()["characters"].to_dict() == characters
    write_multitext(news, tmp_path, format="moses")
    again = read_multitext(tmp_path, format="moses", editions=editions)
    assert again.to_frame().equals(news.to_frame())
    assert news.intent_info["document"].nunique() == 123  # its README
    assert again.intent_info.equals(news.intent_info)


def test_files_whose_names_end_in_a_language(tmp_path):
    """As NTREX is published: 129 files such as newstest2019-ref.afr.txt, and two of Spanish."""
    for name in ("ref.afr", "ref.eng-GB", "ref.spa", "ref-2.spa"):
        (tmp_path / f"newstest2019-{name}.txt").write_text(f"{name}\nx\n")
    (tmp_path / "DOCUMENT_IDS.tsv").write_text("bbc.1\nbbc.2\n")
    multitext = read_multitext(tmp_path, format="moses")
    assert multitext.edition_info["language"].to_dict() == {"afr": "afr", "eng-GB": "eng", "spa": "spa", "spa-2": "spa"}
    assert multitext.text("spa-2")["1"] == "ref-2.spa"
    assert multitext.intent_info["document"].tolist() == ["bbc.1", "bbc.2"]

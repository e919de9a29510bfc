"""Files of the Parallel Bible Corpus, read and written."""

import gzip
import unicodedata
from functools import partial

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from langdiff.corpora import read_frame, read_multitext, write_multitext
from langdiff.errors import ConfigError, DataError, LangdiffWarning, OutputError
from tests.helpers import is_meant, refused

read = partial(read_multitext, format="pbc")
write = partial(write_multitext, format="pbc")

ENGLISH = """\
# language_name:        English
# closest ISO 639-3:    eng
# year_short:           1999
# title:                A title: with a colon
# year_long:            Not available
# copyright_short:      Not available
01001001\tfirst

01001003\t third # not a comment\twith a tab
#01001004\tcommented out
40001001\t\N{LATIN SMALL LETTER E}\N{COMBINING ACUTE ACCENT}
# title: too late
# ISO 15924: Latn
67001000\tapocryphal title
"""
GERMAN = "01001001\terstens\n01001002\tBLANK\n01001003\t\n40001001\t  \n40001002\n19119176\tletztens\r\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "eng-x-bible-new-v1.txt").write_text(ENGLISH, encoding="utf-8")
    (tmp_path / "deu-alt.txt.gz").write_bytes(gzip.compress(GERMAN.encode()))
    return tmp_path


def one_file(tmp_path, content, name="eng-a.txt"):
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


# --- reading


def test_catalogue(folder):
    bibles = read(folder)
    assert list(bibles.editions) == ["deu-alt", "eng-x-bible-new-v1"]
    books = {
        "01001001": "GEN", "01001002": "GEN", "01001003": "GEN", "19119176": "PSA",
        "40001001": "MAT", "40001002": "MAT", "67001000": "TOB",
    }  # fmt: skip
    assert bibles.intent_info["book"].to_dict() == books
    assert bibles.intent_info["chapter"].to_dict() == {verse: verse[:5] for verse in books}
    chapters = bibles.intent_info.groupby("chapter")["book"].nunique()
    assert chapters.to_dict() == {"01001": 1, "19119": 1, "40001": 1, "67001": 1}  # chapter 1 of three books
    assert list(bibles.presence["deu-alt"]) == [True, False, False, True, False, False, False]
    assert list(bibles.presence["eng-x-bible-new-v1"]) == [True, False, True, False, True, False, True]


def test_texts(folder):
    bibles = read(folder)
    assert bibles.text("deu-alt").to_dict() == {"01001001": "erstens", "19119176": "letztens"}
    assert bibles.text("eng-x-bible-new-v1").to_dict() == {
        "01001001": "first",
        "01001003": " third # not a comment\twith a tab",
        "40001001": "\N{LATIN SMALL LETTER E WITH ACUTE}",
        "67001000": "apocryphal title",
    }


def test_normalization_is_an_option_and_recorded(folder):
    composed, as_is = read(folder), read(folder, nfc=False)
    assert len(composed.text("eng-x-bible-new-v1")["40001001"]) == 1
    assert len(as_is.text("eng-x-bible-new-v1")["40001001"]) == 2
    assert set(composed.edition_info["normalization"]) == {"NFC"}
    assert set(as_is.edition_info["normalization"]) == {"as is"}


def test_what_header_and_name_say(folder):
    info = read(folder).edition_info
    assert info.loc["eng-x-bible-new-v1", ["language", "language_name", "year", "title"]].tolist() == [
        "eng", "English", "1999", "A title: with a colon",
    ]  # fmt: skip
    assert info.loc["deu-alt", "language"] == "deu"
    assert pd.isna(info.loc["deu-alt", "title"])
    assert "licence" not in info  # "Not available" says nothing
    assert "script" not in info  # said below the first verse
    assert info.loc["deu-alt", "path"] == str(folder / "deu-alt.txt.gz")


def test_byte_order_mark_and_windows_line_ends(tmp_path):
    file = one_file(tmp_path, b"\xef\xbb\xbf# title: T\r\n01001001\tx\r\n\r\n")
    bibles = read(file)
    assert bibles.edition_info["title"].tolist() == ["T"]
    assert bibles.text("eng-a").to_dict() == {"01001001": "x"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("01001001\ta\n01001002\tb\n01001001\tc\n", r"eng-a.txt, line 3: verse 01001001 is there twice, first in"),
        ("01001001\ta\n01001001\n", r"line 2: verse 01001001 is there twice, first in line 1"),
        ("# x\n1001001\ta\n", r"eng-a.txt, line 2: expected BBCCCVVV<TAB>text, .* got '1001001'"),
        ("01001001 no tab but a long line\n", r"line 1: expected .* got '01001001 no tab but …'"),
        ("010010011\ta\n", "line 1: expected"),
        ("\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\ta\n", "line 1: expected"),  # digits, but not ASCII
        ("00001001\ta\n", r"line 1: verse id 00001001 is of book 00; books begin with 01"),
        ("01000001\ta\n", r"line 1: GEN has 50 chapters, here 0"),
        ("01152001\ta\n", r"line 1: GEN has 50 chapters, here 152"),
        ("01001177\ta\n", r"line 1: GEN 1 has at most 31 verses in any versification, here 177"),
        ("", r"eng-a.txt: holds no verse"),
        (b"01001001\ta\n01001002\t\xe9\n", r"eng-a.txt, line 2: not UTF-8 in byte 10"),
        (b"01001001\ta\0b\n", r"line 1: a NUL byte"),
    ],
)
def test_bad_files_are_refused_where_they_are_bad(tmp_path, content, message):
    refused(DataError, message, read, one_file(tmp_path, content))


def test_lines_that_end_as_on_old_macintoshes_are_not_one_verse(tmp_path):
    with pytest.raises(DataError, match=r"eng-a.txt, line 1: lines end in \\r alone"):
        read(one_file(tmp_path, b"01001001\tIn\r01001002\tAnd\r"))
    with pytest.warns(LangdiffWarning, match="carriage return"):
        repaired = read(one_file(tmp_path, b"01001001\tIn\r\n01001002\tA\rb\r\n"))
    assert repaired.text("eng-a").tolist() == ["In", "A b"]


def test_bad_utf8_can_be_replaced(tmp_path):
    file = one_file(tmp_path, b"01001001\tcaf\xe9\n")
    assert read(file, decode_errors="replace", trust=["lost"]).text("eng-a")["01001001"] == "caf\ufffd"
    refused(ConfigError, "errors must be 'strict' or 'replace', got 'ignore'", read, file, decode_errors="ignore")


# --- metadata


def test_metadata_beside_the_files(folder):
    (folder / "metadata.csv").write_text(
        "file,iso639_3,language,family,year\n"
        'eng-x-bible-new-v1.txt,enm,"English, Middle",Indo-European,\n'
        "other.txt,nan,Min Nan,Sino-Tibetan,1900\n"
        "deu-alt.txt.gz,nan,,NA,0042\n"
    )
    info = read(folder).edition_info
    assert list(info.index) == ["eng-x-bible-new-v1", "deu-alt"]  # as the table orders them
    assert list(info["language"]) == ["enm", "nan"]  # the code of Min Nan, and no missing value
    assert list(info["language_name"].iloc[:1]) == ["English, Middle"]
    assert info.loc["deu-alt", "family"] == "NA"
    assert info.loc["deu-alt", "year"] == "0042"
    assert info.loc["eng-x-bible-new-v1", "year"] == "1999"  # empty in the table, known to the header
    assert read(folder, editions=["deu-alt"]).edition_info.shape[0] == 1


def test_metadata_by_edition_in_a_file_of_any_name(folder, tmp_path):
    table = tmp_path / "about.csv"
    table.write_text("\ufeffedition,language,family\ndeu-alt,gsw,Germanic\n", encoding="utf-8")
    info = read(folder, edition_info=table).edition_info
    assert list(info["language"]) == ["gsw", "eng"]
    assert info["family"].dropna().to_dict() == {"deu-alt": "Germanic"}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("name,family\na,b\n", r"about.csv: needs a column 'file' or 'edition', has 'name', 'family'"),
        ("file,family\ndeu-neu.txt,b\n", r"no row is about any of the 2 editions read"),
        ("file,family\ndeu-alt.txt.gz,b\nx,y\ndeu-alt.txt.gz,b\n", r"lines 2 and 4: 'deu-alt.txt.gz' is there twice"),
        ("file,family\ndeu-alt.txt.gz,b,c\n", r"line 2: 3 cells, but line 1 names 2 columns"),
        ("edition,iso639_3,language,language_name\na,b,c,d\n", r"as 'language' or 'language_name', not both"),
        ("file,file\na,b\n", r"line 1: two columns have the same name"),
        ('file,family\n"a,b\n', r"about.csv: cannot be read as a table"),
        ("", r"about.csv: cannot be read as a table: its first line is empty"),
    ],
)
def test_bad_metadata(folder, tmp_path, table, message):
    (tmp_path / "about.csv").write_text(table)
    refused(DataError, message, read, folder, edition_info=tmp_path / "about.csv")


def test_each_folder_has_its_own_metadata(tmp_path):
    for language, family in (("eng", "Germanic"), ("fra", "Romance")):
        (tmp_path / language).mkdir()
        one_file(tmp_path / language, "01001001\ta\n", f"{language}-a.txt")
        (tmp_path / language / "metadata.csv").write_text(f"edition,family\neng-a,{family}\nfra-a,{family}\n")
    info = read(f"{tmp_path}/*/*.txt").edition_info
    assert info["family"].to_dict() == {"eng-a": "Germanic", "fra-a": "Romance"}


# --- writing


def frame_of(texts):
    return pd.DataFrame(texts, index=["01001001", "01001002", "66022021"], dtype=object)


def test_files_written(tmp_path):
    bibles = read_frame(
        frame_of({"deu-a": ["eins", None, "drei"]}),
        edition_info=pd.DataFrame({"title": ["A\nB"], "year": [1912], "path": ["gone"]}, index=["deu-a"]),
    )
    written = write(bibles, tmp_path / "new" / "folder")
    assert [file.name for file in written] == ["deu-a.txt", "metadata.csv"]
    assert written[0].read_text(encoding="utf-8") == (
        "# closest ISO 639-3:    deu\n# year_short:           1912\n# title:                A B\n"
        "01001001\teins\n01001002\t\n66022021\tdrei\n"
    )
    assert written[1].read_bytes().decode() == 'file,iso639_3,title,year\r\ndeu-a.txt,deu,"A\nB",1912\r\n'


verse_ids = st.one_of(
    st.builds("19{:03d}{:03d}".format, st.integers(1, 150), st.integers(0, 5)),
    st.builds(
        "40{:03d}{:03d}".format, st.integers(1, 28), st.integers(0, 19)
    ),  # chapter 3 has 17 verses, chapter 28 20
    st.builds("{:02d}{:03d}{:03d}".format, st.integers(87, 99), st.integers(0, 999), st.integers(0, 999)),
)
stretches = st.sampled_from(
    [
        "\u05d1\u05e8\u05d0",  # Hebrew
        "\u0641\u064a \u0627\u0644",  # Arabic
        "\u202eabc\u202c",  # marks of direction
        "\u0915\u094d\u0937\u093f",  # combining
        "\U00010428\U0001f600",  # astral
        "\u2028\x0b\x85",  # separators of lines elsewhere
        "\ufeff",
        "# ",
    ]
)
texts = st.lists(st.text(st.characters(codec="utf-8")) | stretches, max_size=3).map(
    lambda parts: unicodedata.normalize("NFC", "".join(parts))
)
writable = texts.filter(lambda t: t.strip() not in ("", "BLANK") and is_meant(t) and not set("\t\n\r\0") & set(t))
names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20).filter(
    lambda name: (
        name.isprintable()
        and not set("/\\") & set(name)
        and name[0] != "."
        and name not in ("intent", "edition", "text")
    )
)


@st.composite
def multitexts(draw):
    intents = draw(st.lists(verse_ids, min_size=1, max_size=6, unique=True).map(sorted))
    editions = draw(st.lists(names, min_size=1, max_size=3, unique_by=lambda name: unicodedata.normalize("NFC", name)))
    columns = {}
    for edition in editions:
        cells = draw(st.lists(st.none() | writable, min_size=len(intents), max_size=len(intents)))
        cells[0] = draw(writable) if not any(cells) else cells[0]
        columns[edition] = cells
    info = st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=9)
    table = pd.DataFrame({name: [draw(info) for _ in editions] for name in ("title", "origin")}, index=editions)
    frame = pd.DataFrame(columns, index=intents, dtype=object)
    return read_frame(frame, edition_info=table)


@pytest.mark.slow
@given(multitext=multitexts())
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_what_is_written_comes_back(multitext, tmp_path_factory):
    folder = tmp_path_factory.mktemp("round")
    write_multitext(multitext, folder)
    again = read_multitext(folder)
    assert_frame_equal(again.presence, multitext.presence, check_index_type=False, check_column_type=False)
    for edition in multitext.editions:
        assert again.text(edition).to_dict() == multitext.text(edition).to_dict()
    for column in multitext.edition_info:
        before, after = multitext.edition_info[column], again.edition_info.get(column)
        known = before.dropna()
        assert known.empty or after.dropna().to_dict() == known.to_dict()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tb", r"edition 'deu-a', intent '01001002': the format cannot hold this text: '\\t' at position 1"),
        ("a\nb", r"'\\n' at position 1"),
        ("ab\r", r"'\\r' at position 2"),
        ("\0", r"'\\x00' at position 0"),
        (" BLANK", "would be read as missing"),
    ],
)
def test_texts_the_format_cannot_hold(tmp_path, text, message):
    bibles = read_frame(frame_of({"aaa": ["x", "y", "z"], "deu-a": ["one", text, "three"]}), trust=["invisible"])
    refused(DataError, message, write, bibles, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []  # neither edition, nor anything temporary


def test_intents_that_are_no_verses(tmp_path):
    bibles = read_frame(pd.DataFrame({"deu": ["a", "b"]}, index=["01001001", "s1"]))
    with pytest.raises(DataError, match=r"1 of 2 intents are not verse ids BBCCCVVV.*.s1.\. Pass format='moses'"):
        write(bibles, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["a/b", "..", ".a", "a\\b", ""])
def test_editions_that_are_no_file_names(tmp_path, name):
    bibles = read_frame(frame_of({name: ["a", "b", "c"]}))
    refused(DataError, "cannot be names of files", write, bibles, tmp_path / "out")


def test_edition_without_text_and_reserved_column(tmp_path):
    bibles = read_frame(frame_of({"deu": ["a", "b", "c"], "eng": [None, " ", ""]}))
    refused(DataError, "edition 'eng' has no text at all", write, bibles, tmp_path)
    info = pd.DataFrame({"file": ["x"]}, index=["deu"])
    with pytest.raises(DataError, match=r"column\(s\) 'file', reserved in metadata.csv"):
        write(read_frame(frame_of({"deu": list("abc")}), edition_info=info), tmp_path)


@pytest.mark.parametrize("value", ["\0", "\udc00"])
def test_metadata_the_format_cannot_hold(tmp_path, value):
    info = pd.DataFrame({"title": ["A", f"B{value}"]}, index=["deu", "eng"], dtype=object)
    bibles = read_frame(frame_of({"deu": list("abc"), "eng": list("abc")}), edition_info=info)
    refused(DataError, r"edition_info: a value holds '.*' \(line 3 of metadata.csv\)", write, bibles, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_other_editions_in_the_folder_are_not_mixed_in(tmp_path):
    bibles = read_frame(frame_of({"deu": ["a", "b", "c"]}))
    write(bibles, tmp_path)
    write(bibles, tmp_path)  # the same files again: replaced
    with pytest.raises(OutputError, match=r"holds 1 other file.*'deu.txt'. Choose an empty directory"):
        write(read_frame(frame_of({"eng": ["a", "b", "c"]})), tmp_path)


# --- real data


@pytest.mark.real_data
def test_real_bibles(real_data, tmp_path):
    editions = ["heb-modern", "hye-armenianpart", "cop-copticnt"]
    bibles = read_multitext(real_data / "bible", editions=editions)
    counts = pd.read_csv(real_data / "bible" / "metadata.csv").set_index("file")["verses"]
    for edition in editions:
        assert bibles.presence[edition].sum() == counts[f"{edition}.txt.gz"]
    write_multitext(bibles, tmp_path)
    assert read_multitext(tmp_path, editions=editions).to_frame().equals(bibles.to_frame())

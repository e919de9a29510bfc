"""What is left out as faulty is named with its reason: in Python; other tests see to commands and reports."""

import codecs
import gzip
import logging
import subprocess

import pytest

import langdiff as ld
from langdiff.corpora import read_multitext
from langdiff.errors import Fault, FaultsError, LangdiffWarning
from tests.corpora.twelve_files import FAULTY, LANGUAGES, N_LINES, twelve_files
from tests.helpers import refused


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "corpus").mkdir()
    return twelve_files(tmp_path / "corpus")


def read(folder, **options):
    return read_multitext(folder, format="moses", **options)


def test_the_error_has_whole_files_first_and_one_line_each(corpus):
    with pytest.raises(FaultsError) as caught:
        read(corpus)
    head, *lines = str(caught.value).split("\n")
    assert head == "1,004 faults in 4 file(s):"  # 1,000 lines of fra, then the file
    assert [line.strip().split(":")[0].split(",")[0] for line in lines] == [
        f"{corpus}/{name}.txt" for name in ("fra", "swe", "nld", "ita")
    ]
    assert "more than 1,000 faults, the first in line 1: not UTF-8 in byte 2 (0xe4)" in lines[0]
    assert "UTF-16, as its byte order mark says" in lines[1]
    assert "has 1,099 lines" in lines[2]
    assert "ita.txt, line 7: a NUL byte" in lines[3]


def test_what_is_left_out_is_named_in_python(corpus):
    with pytest.warns(LangdiffWarning) as caught:
        multitext = read(corpus, on_error="skip")
    assert str(caught[0].message).endswith("\n  Left out: fra, swe, nld (files); ita (1 text)")
    assert set(multitext.editions) == set(LANGUAGES) - FAULTY
    left_out = multitext.left_out
    assert list(left_out) == ["edition", "level", "what", "why"]
    assert list(zip(left_out["edition"], left_out["level"], strict=True)) == [
        ("fra", "file"), ("swe", "file"), ("nld", "file"), ("ita", "text"),
    ]  # fmt: skip
    assert left_out["what"].tolist() == [*(f"{corpus}/{name}.txt" for name in ("fra", "swe", "nld")), "1 text (7)"]
    assert left_out["why"].tolist()[3].startswith("line 7: a NUL byte")
    assert multitext.describe()["left_out"] == 4
    assert multitext.sel(editions=["dan", "deu"]).left_out.equals(left_out)
    assert "Left out, repaired or doubted: fra, swe, nld (files); ita (1 text)" in multitext._repr_html_()
    selection = ld.select(multitext, min_intents=N_LINES)
    not_selected = "Not selected: 1 edition, 1 of them for fewer than 1,100 intents: ita (1,099 intents)"
    named = f"{not_selected}\nLeft out, repaired or doubted: fra, swe, nld (files); ita (1 text)\n"
    assert named in selection.headline()
    assert named in selection.summary()


def test_of_two_texts_the_reason_has_the_number(tmp_path):
    (tmp_path / "deu.txt").write_bytes(b"eins\nzw\xe9i\ndr\xe9i\nvier\n")
    (tmp_path / "eng.txt").write_text("one\ntwo\nthree\nfour\n")
    with pytest.warns(LangdiffWarning, match=r"Left out: deu \(2 texts\)\Z"):
        row = read(tmp_path, on_error="skip").left_out.iloc[0]
    assert row["what"] == "2 texts (2, 3)"
    assert row["why"].startswith("2 faults, the first in line 2: not UTF-8")


@pytest.mark.parametrize(("n_files", "more"), [(30, None), (31, "and 1 more file: "), (42, "and 12 more files: ")])
def test_at_most_thirty_files_are_listed(n_files, more):
    faults = [Fault(f"{k}.txt", line, "a NUL byte.", edition=str(k)) for k in range(n_files) for line in (1, 2)]
    _, *lines = str(FaultsError(faults)).split("\n")
    assert len(lines) == min(n_files, 31)
    assert lines[29].strip() == "29.txt: 2 faults, the first in line 1: a NUL byte."
    if more:
        assert lines[30].strip() == f"{more}the attribute faults has all"


# texts of ours, in encodings that charset-normalizer finds
ENCODINGS = {
    "koi8-r": ("Президент заявил, что выборы прошли успешно и без нарушений.", "koi8_r"),
    "cp1251": ("Президент заявил, что выборы прошли успешно и без нарушений.", "cp1251"),
    "gb18030": ("总统宣布选举已经成功举行,没有任何违规行为。", "gb18030"),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_guesses_are_shown_with_the_text_and_never_applied(tmp_path, encoding):
    text, name = ENCODINGS[encoding]
    (tmp_path / "rus.txt").write_bytes(f"{text}\n".encode(encoding) * 5)
    with pytest.raises(FaultsError) as caught:
        read(tmp_path)
    first = caught.value.faults[0].fault
    assert f"as {name}: '{text[:10]}" in first
    assert "As Windows-1252: '" in first
    assert f"If one is right: iconv -f WINDOWS-1252 -t UTF-8 {tmp_path}/rus.txt" in first
    assert "(decode_errors='replace' reads it with U+FFFD in such places)." in first
    assert all("As Windows" not in fault.fault for fault in caught.value.faults[1:])  # once per file
    assert "\ufffd" in read(tmp_path, decode_errors="replace", trust=["lost"]).text("rus")["1"]


def test_one_bad_line_among_lines_of_utf8_is_not_said_to_be_of_another_encoding(tmp_path):
    (tmp_path / "fra.txt").write_bytes(b"d\xe9j\xe0\n" + "déjà vu\n".encode())
    refused(FaultsError, r"\(0xe9\)\. Other lines are UTF-8: correct this one", read, tmp_path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32", "utf-32-be"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_byte_order_mark_is_certain(tmp_path, encoding, packed):
    mark = {"utf-16-be": codecs.BOM_UTF16_BE, "utf-32-be": codecs.BOM_UTF32_BE}.get(encoding, b"")
    content = mark + "Łódź\n".encode(encoding)
    file = tmp_path / ("pol.txt.gz" if packed else "pol.txt")
    file.write_bytes(gzip.compress(content) if packed else content)
    name = encoding[:6].upper()
    with pytest.raises(FaultsError) as caught:
        read(tmp_path)
    command = f"gzip -dc {file} | iconv -f {name} -t UTF-8" if packed else f"iconv -f {name} -t UTF-8 {file}"
    told = f"{file}: {name}, as its byte order mark says, not UTF-8. Convert the file: {command}."
    assert str(caught.value) == told
    converted = subprocess.run(command, shell=True, capture_output=True, check=True).stdout  # what is advised works
    assert converted.decode() == "Łódź\n"


def lines_of(tmp_path, **files):
    for name, text in files.items():
        (tmp_path / f"{name}.txt").write_bytes(text.encode() if isinstance(text, str) else text)
    return tmp_path


def test_empty_lines_at_the_end_are_a_note(tmp_path, caplog):
    lines_of(tmp_path, dan="a\nb\nc\n", deu="a\nb\nc\n\n", eng="a\n\nc\n\n \n", fra="a\nb\n\n")
    with caplog.at_level(logging.WARNING):
        multitext = read(tmp_path)
    assert len(multitext) == 3
    assert multitext.text("eng").to_dict() == {"1": "a", "3": "c"}
    assert multitext.text("deu").to_dict() == {"1": "a", "2": "b", "3": "c"}
    assert [record.getMessage() for record in caplog.records] == [
        "empty lines after the last segment, 3, are not counted in 'deu.txt', 'eng.txt'"
    ]
    assert multitext.left_out.empty


@pytest.mark.parametrize(
    ("files", "n_lines"),
    [
        ({"deu": "a\nb\n\n", "eng": "a\nb\n"}, 2),
        ({"deu": "a\nb\n", "eng": "a\nb\n\n"}, 2),
        ({"deu": "a\nb\n\n", "eng": "a\nb\n\n", "fra": "a\nb\n"}, 2),
        ({"deu": "a\nb\n\n", "eng": "a\n\n\n"}, 3),  # all have it: a segment that nobody has
        ({"deu": "a\nb\n\n", "eng": "a\nb\nc\n"}, 3),  # the last segment of deu is missing
    ],
)
def test_the_usual_number_of_lines(tmp_path, files, n_lines):
    assert len(read(lines_of(tmp_path, **files))) == n_lines


@pytest.mark.parametrize(
    "text", ["\na\nb\nc\n", "a\n\nb\nc\n", "a\nb\nc\nd\n", "a\nb\n", "a\nb\nc\n\0\n", b"a\nb\nc\n\xff\n"]
)
def test_other_lines_more_or_less_stay_faults(tmp_path, text):
    good = dict.fromkeys(("dan", "deu", "eng"), "a\nb\nc\n")
    refused(FaultsError, r"fra\.txt: has \d lines, .*dan\.txt has 3", read, lines_of(tmp_path, **good, fra=text))


def test_tables_beside_texts_are_not_said_to_be_unread(tmp_path, caplog):
    lines_of(tmp_path, deu="a\nb\n")
    for name in ("documents.tsv.gz", "segments.tsv.gz", "sizes.csv.xz"):
        (tmp_path / name).write_bytes(gzip.compress(b"document\nx\ny\n"))
    (tmp_path / "fra.text").write_text("a\nb\n")
    with caplog.at_level(logging.WARNING):
        multitext = read(tmp_path)
    assert multitext.intent_info["document"].tolist() == ["x", "y"]
    assert [record.getMessage().rpartition(": ")[2] for record in caplog.records] == ["'fra.text'"]

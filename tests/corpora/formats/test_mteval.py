"""Reference translations in NIST's XML."""

import pickle
from functools import partial

import pytest

from langdiff.corpora import read_multitext
from langdiff.corpora.formats.mteval import MtevalText
from langdiff.errors import DataError

read = partial(read_multitext, format="mteval")


def refset(refid, *documents, language="eng"):
    """Return a refset of documents, each a name and its segments (number, text)."""
    body = "".join(
        f'<doc docid="{name}" genre="nw">\n<hl>\n'
        + "\n".join(f'<seg id="{number}"> {text} </seg>' for number, text in segments)
        + "\n</hl>\n</doc>\n"
        for name, segments in documents
    )
    return f'<refset setid="s" srclang="ara" trglang="{language}" refid="{refid}">\n{body}</refset>\n'


def mteval(*refsets):
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE mteval SYSTEM "ftp://nowhere/mteval-xml-v1.7.dtd">\n'
    source = '<srcset setid="s" srclang="ara"><doc docid="A"><seg id="1">\u0645\u0637\u0631</seg></doc></srcset>\n'
    return f"{head}<mteval>\n{source}{''.join(refsets)}</mteval>\n"


ONE = [("A", [(1, "Rain"), (2, "in\n Spain")]), ("B", [(1, "Sun")])]
TWO = [("A", [(1, "It rains"), (2, "")]), ("B", [(1, "Sunshine")])]


def write(folder, content, name="ref.xml"):
    (folder / name).write_text(content, encoding="utf-8")
    return folder / name


def test_every_refset_is_an_edition(tmp_path):
    multitext = read_multitext(write(tmp_path, mteval(refset("r1", *ONE), refset("r2", *TWO))))
    assert multitext.to_frame().fillna("-").to_dict() == {
        "r1": {"A/1": "Rain", "A/2": "in Spain", "B/1": "Sun"},
        "r2": {"A/1": "It rains", "A/2": "-", "B/1": "Sunshine"},
    }
    assert multitext.intent_info["document"].tolist() == ["A", "A", "B"]
    assert set(multitext.intent_info["original_language"]) == {"ara"}
    assert multitext.edition_info["language"].tolist() == ["eng", "eng"]
    assert read(tmp_path, editions="r2").text("r2")["A/1"] == "It rains"


def test_refsets_of_several_files(tmp_path):
    write(tmp_path, mteval(refset("r1", *ONE)), "a.xml")
    write(tmp_path, mteval(refset("r2", *TWO)), "b.xml")
    assert list(read(tmp_path).editions) == ["r1", "r2"]
    write(tmp_path, mteval(refset("r2", *TWO)), "c.xml")
    with pytest.raises(DataError, match=r"b.xml, line 5 and .*c.xml, line 5: refset 'r2' is there twice"):
        read(tmp_path)


def test_what_is_known_of_a_file_is_known_of_all_its_refsets(tmp_path):
    write(tmp_path, mteval(refset("r1", *ONE, language="en"), refset("r2", *TWO, language="English")))
    (tmp_path / "metadata.csv").write_text("file,licence\nref.xml,LDC\n")
    info = read(tmp_path).edition_info
    assert info["licence"].tolist() == ["LDC", "LDC"]
    assert info["language"].fillna("").tolist() == ["eng", ""]
    assert info["language_name"].fillna("").tolist() == ["", "English"]


def test_a_no_break_space_alone_is_no_text(tmp_path):
    multitext = read(write(tmp_path, mteval(refset("r1", ("A", [(1, "\N{NO-BREAK SPACE}"), (2, "a")])))))
    assert multitext.text("r1").to_dict() == {"A/2": "a"}


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ([("A", [(1, "x"), (3, "y")]), ("B", [(1, "z")])], r"'r1' and 'r2' .*line 9: 'A/2' and .*line 23: 'A/3'"),
        ([("A", [(1, "x"), (2, "y")])], r"line 15: 'B/1' and .*line 19: nothing more \(of 3 and 2\)"),
        ([*ONE, ("C", [(1, "z")])], r"line 5: nothing more and .*line 34: 'C/1'"),
        ([ONE[1], ONE[0]], r"line 8: 'A/1' and .*: 'B/1'"),
    ],
)
def test_refsets_that_differ_are_refused_at_the_first_difference(tmp_path, other, message):
    with pytest.raises(DataError, match=message):
        read(write(tmp_path, mteval(refset("r1", *ONE), refset("r2", *other))))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (mteval(), r"ref.xml: holds no <refset>"),
        (mteval(refset("", *ONE)), r"ref.xml, line 5: a <refset> without refid"),
        (mteval(refset("r", ("", [(1, "a")]))), r"line 6: a <doc> without docid"),
        (mteval(refset("r", ("A", [("", "a")]))), r"line 8: a <seg> without id"),
        (mteval(refset("r", ("A", [(1, "a"), (1, "b")]))), r"line 8 and .*line 9: segment 'A/1' is there twice"),
        (mteval(refset("r", *ONE), refset("r", *ONE)), r"line 5 and .*: refset 'r' is there twice"),
        ('<mteval><refset refid="r"><seg id="1"/></refset></mteval>', r"line 1: a <seg> outside of <doc>"),
        ('<mteval><refset refid="r"><refset refid="s"/></refset></mteval>', r"line 1: a refset in the one of"),
        ("<mteval><refset refid=r></refset></mteval>", r"line 1: not well-formed XML in column 23"),  # SGML
    ],
)
def test_bad_files_are_refused_where_they_are_bad(tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        read(write(tmp_path, content))


def test_sources_go_to_worker_processes(tmp_path):
    source = MtevalText(tmp_path / "a.xml", "r1")
    assert pickle.loads(pickle.dumps(source)) == source

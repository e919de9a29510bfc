"""Test sets of machine translation: NIST's references, WMT's SGML and XML."""

import re
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langdiff.corpora import native_share, read_multitext
from langdiff.corpora.faults import Faults
from langdiff.corpora.formats.mteval_documents import read_documents
from langdiff.errors import DataError, LangdiffWarning
from tests.helpers import refused

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
    refused(DataError, r"c.xml, line 5: refset 'r2' is there twice, first in .*b.xml, line 5", read, tmp_path)


def test_what_is_known_of_a_file_is_known_of_all_its_refsets(tmp_path):
    write(tmp_path, mteval(refset("ahb", *ONE, language="English"), refset("ahc", *TWO, language="Elvish")))
    (tmp_path / "metadata.csv").write_text("file,licence\nref.xml,LDC\n")
    info = read(tmp_path).edition_info
    assert info["licence"].tolist() == ["LDC", "LDC"]
    assert info["language"].fillna("").tolist() == ["eng", ""]
    assert info["language_name"].fillna("").tolist() == ["", "Elvish"]


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
    refused(DataError, message, read, write(tmp_path, mteval(refset("r1", *ONE), refset("r2", *other))))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<mteval></mteval>", r"ref.xml: holds no <srcset>, <refset> or <dataset>"),
        ("<mteval><refset refid=r></refset></mteval>", r"ref.xml': no document of a source or a reference"),
        (mteval(refset("", *ONE)), r"ref.xml, line 5: a <refset> has no refid"),
        (mteval(refset("r", ("", [(1, "a")]))), r"line 6: a <doc> without docid"),
        (mteval(refset("r", ("A", [("", "a")]))), r"line 8: a <seg> without id"),
        (mteval(refset("r", ("A", [(1, "a"), (1, "b")]))), r"line 9: segment 'A/1' is there twice, first in line 8"),
        (mteval(refset("r", *ONE), refset("r", *ONE)), r"line \d+: refset 'r' is there twice, first in line 5"),
        ('<mteval><refset refid="r"><seg id="1"/></refset></mteval>', r"line 1: a <seg> outside of <doc>"),
        ('<refset refid="r">\n<refset refid="s"/></refset>', r"line 2: a refset in the refset of line 1"),
        ('\n<refset refid="r"><doc docid="d"><seg id="1">a</seg></doc>', r"line 2: ends within the <refset> of line 2"),
        ('<refset><doc docid="d"><seg id="1">a</seg></doc></refset>', r"line 1: the language of this text is given"),
        ('<!DOCTYPE mteval [<!ENTITY a "b">]><mteval/>', r"line 1: declares entities"),
    ],
)
def test_bad_files_are_refused_where_they_are_bad(tmp_path, content, message):
    refused(DataError, message, read, write(tmp_path, content))


def test_all_faults_are_reported_and_what_is_faulty_can_be_skipped(tmp_path):
    documents = [("A", [(1, "a"), (1, "b"), ("", "c"), (2, "d")]), ("", [(1, "e")]), ("B", [(1, "f")])]
    write(tmp_path, mteval(refset("r", *documents)))
    write(tmp_path, mteval(refset("q", *ONE))[:-40], "cut.xml")
    refused(DataError, "4 faults in 2 file", read, tmp_path)
    with pytest.warns(LangdiffWarning, match="4 fault"):
        multitext = read(tmp_path, on_error="skip")
    assert multitext.text("r").to_dict() == {"A/2": "d", "B/1": "f"}
    assert list(multitext.editions) == ["r"]
    assert multitext.skipped["line"].tolist() == [15, 9, 10, 14]


def test_bytes_that_are_not_text(tmp_path):
    (tmp_path / "a.en.sgm").write_bytes(SOURCE.encode().replace(b"Rain", b"R\xe4in"))
    refused(DataError, r"a.en.sgm, line 5: not UTF-8", read, tmp_path)
    with pytest.warns(LangdiffWarning, match="1 fault"):
        multitext = read(tmp_path, on_error="skip")
    assert multitext.text("eng").to_dict() == {"d/2": "1 < 2 & 3 > 2", "d/3": "AT&T"}
    assert multitext.skipped["intent"].tolist() == ["d/1"]


# --- WMT: SGML that is not XML, sources and references in files of their own, several pairs and years

SOURCE = """<srcset setid="test1" srclang="any">
<DOC docid=d genre="news" origlang="cz">
<hl>

<seg id="1"> Rain </seg>
</h1>
<p>
<seg id=2>1 < 2 &amp; 3 &gt; 2
<seg id=3>AT&T</SEG>
</DOC>
</srcset>
"""


def wmt(kind, name, document="d", language="any", origin="en", **segments):
    """Return a set with one document in WMT's SGML."""
    target = "" if kind == "src" else f' trglang="{language}"'
    body = "".join(f'<seg id="{segment[1:]}">{text}</seg>\n' for segment, text in segments.items())
    return (
        f'<{kind}set setid="{name}" srclang="any"{target}>\n<doc sysid="ref" docid="{document}" genre="news" '
        f'origlang="{origin}">\n<p>\n{body}</p>\n</doc>\n</{kind}set>\n'
    )


def test_sgml_that_is_not_xml(tmp_path):
    multitext = read_multitext(write(tmp_path, SOURCE, "test-src.en.sgm"))
    assert multitext.text("eng").to_dict() == {"d/1": "Rain", "d/2": "1 < 2 & 3 > 2", "d/3": "AT&T"}
    assert multitext.edition_info["language"].tolist() == ["eng"]
    assert set(multitext.intent_info["original_language"]) == {"ces"}
    assert set(multitext.intent_info["document"]) == {"d"}


def test_sources_and_references_of_pairs_make_editions_of_languages(tmp_path):
    write(tmp_path, wmt("src", "t", _1="Rain", _2="Sun"), "t-ende-src.en.sgm")
    write(tmp_path, wmt("ref", "t", language="de", _1="Regen", _2="Sonne"), "t-ende-ref.de.sgm")
    write(tmp_path, wmt("src", "t", _1=" Rain", _2="Sun"), "t-encs-src.en.sgm")
    write(tmp_path, wmt("ref", "t", language="cz", _1="prší"), "t-encs-ref.cs.sgm")
    write(tmp_path, wmt("tst", "t", language="cz", _1="machine"), "t-encs-tst.cs.sgm")
    multitext = read_multitext(tmp_path)
    assert multitext.to_frame().fillna("-").to_dict() == {
        "ces": {"d/1": "prší", "d/2": "-"},
        "eng": {"d/1": "Rain", "d/2": "Sun"},
        "deu": {"d/1": "Regen", "d/2": "Sonne"},
    }
    assert read(tmp_path, editions=["ces"]).intents.tolist() == ["d/1"]


def test_sets_are_not_mixed_up(tmp_path):
    write(tmp_path, wmt("src", "t1", _1="Rain"), "1-src.en.sgm")
    write(tmp_path, wmt("ref", "t2", language="de", origin="de", _1="Sonne"), "2-ref.de.sgm")
    multitext = read(tmp_path)
    assert multitext.to_frame().fillna("-").to_dict() == {
        "eng": {"t1/d/1": "Rain", "t2/d/1": "-"},
        "deu": {"t1/d/1": "-", "t2/d/1": "Sonne"},
    }
    assert multitext.intent_info["document"].tolist() == ["t1/d", "t2/d"]
    assert multitext.intent_info["original_language"].tolist() == ["eng", "deu"]


def test_documents_of_one_name_first_written_in_two_languages_stay_apart(tmp_path):
    write(tmp_path, wmt("src", "t", origin="ru", _1="да"), "1-src.ru.sgm")
    write(tmp_path, wmt("src", "t", origin="uk", _1="так"), "2-src.uk.sgm")
    multitext = read(tmp_path)
    assert multitext.to_frame().fillna("-").to_dict("index") == {
        "d/1": {"rus": "да", "ukr": "-"},
        "d#2/1": {"rus": "-", "ukr": "так"},
    }
    assert multitext.intent_info["document"].tolist() == ["d", "d#2"]
    assert multitext.intent_info["original_language"].tolist() == ["rus", "ukr"]


def test_documents_of_one_name_and_different_text_stay_apart_and_corrections_are_named(tmp_path):
    write(tmp_path, wmt("src", "t", _1="a", _2="b", _3="c"), "1-src.en.sgm")
    write(tmp_path, wmt("src", "t", _1="x", _2="y", _3="c"), "2-src.en.sgm")
    assert read(tmp_path).text("eng").index.tolist() == ["d/1", "d/2", "d/3", "d#2/1", "d#2/2", "d#2/3"]
    write(tmp_path, wmt("src", "t", _1="a", _2="b!", _3="c"), "2-src.en.sgm")
    with pytest.warns(LangdiffWarning, match=r"1 segments have two texts .* 'd/2' \(.*1-src.en.sgm, line 5"):
        multitext = read(tmp_path)
    assert multitext.text("eng").tolist() == ["a", "b", "c"]


def test_sources_count_more_than_references(tmp_path):
    write(tmp_path, wmt("ref", "t", language="en", _1="reference", _2="b", _3="c"), "1-ref.en.sgm")
    write(tmp_path, wmt("src", "t", _1="source", _2="b", _3="c"), "2-src.en.sgm")
    with pytest.warns(LangdiffWarning, match="1 segments have two texts"):
        assert read(tmp_path).text("eng").tolist() == ["source", "b", "c"]


def test_references_by_sysid_are_editions(tmp_path):
    one = wmt("ref", "t", language="en", origin="ar", _1="Rain").replace('sysid="ref"', 'sysid="ahb"')
    two = one.replace("ahb", "aha").replace("Rain", "It rains")
    write(tmp_path, one + two, "ref.sgm")
    assert read(tmp_path).to_frame().to_dict("index") == {"d/1": {"eng-ahb": "Rain", "eng": "It rains"}}


DATASET = """<?xml version='1.0' encoding='utf-8'?>
<dataset id="wmt">
<collection id="general">
<doc origlang="en" id="d" domain="news">
<src lang="en"><p><seg id="1" type="title">Rain &amp; sun</seg></p><p><seg id="2">a</seg></p></src>
<ref lang="de" translator="B"><p><seg id="1">Regen</seg></p></ref>
<ref lang="de" translator="A"><p><seg id="1">Es regnet</seg></p><p><seg id="2"/></p></ref>
<supplemental type="x"><p><seg id="1">no</seg></p></supplemental>
<hyp lang="de" system="z"><p><seg id="1">machine</seg></p></hyp>
</doc>
<doc origlang="de" id="e"><src lang="de"><p><seg id="1">Schnee</seg></p></src>
<ref lang="en" translator="B"><p><seg id="1">Snow</seg></p></ref></doc>
</collection>
</dataset>
"""


def test_xml_of_wmt(tmp_path):
    multitext = read_multitext(write(tmp_path, DATASET, "wmt.en-de.xml"))
    assert multitext.to_frame().fillna("-").to_dict() == {
        "eng": {"d/1": "Rain & sun", "d/2": "a", "e/1": "Snow"},
        "deu-B": {"d/1": "Regen", "d/2": "-", "e/1": "-"},
        "deu": {"d/1": "Es regnet", "d/2": "-", "e/1": "Schnee"},
    }
    assert multitext.edition_info["language"].to_dict() == {"eng": "eng", "deu-B": "deu", "deu": "deu"}
    assert multitext.intent_info["original_language"].tolist() == ["eng", "eng", "deu"]
    assert native_share(multitext)["native"].to_dict() == {"eng": 2, "deu-B": 0, "deu": 1}


def test_sources_of_a_set_with_named_references_are_not_read(tmp_path):
    write(tmp_path, mteval(refset("r1", *ONE)))
    write(tmp_path, wmt("src", "other", _1="Rain"), "other-src.en.sgm")
    assert list(read(tmp_path).editions) == ["eng", "r1"]


# --- an independent count: whatever the reader makes of a file, regular expressions find as many segments


@given(
    st.lists(
        st.tuples(st.sampled_from(["d", "e"]), st.text("ab<>&;é \n'\"", max_size=12), st.booleans()),
        min_size=1,
        max_size=8,
    )
)
def test_every_segment_is_found_and_its_text_comes_back(segments):
    body = "".join(
        f"<doc docid={name}{k} origlang=en>\n<p>\n<seg id={k}>{text}{'</seg>' if closed else ''}\n</p>\n</doc>\n"
        for k, (name, text, closed) in enumerate(segments)
    )
    with TemporaryDirectory() as folder:
        file = write(Path(folder), f'<refset setid="s" trglang="en">\n{body}</refset>\n', "x.sgm")
        faults = Faults()
        documents = read_documents(file, faults)
    assert not faults
    found = [text for document in documents for text, _ in document.segments.values()]
    assert found == [" ".join(re.split("[ \n]+", text)).strip(" ") for _, text, _ in segments]

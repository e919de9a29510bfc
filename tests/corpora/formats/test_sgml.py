"""SGML: what is markup, what is text, and what is refused."""

import html
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langdiff.corpora.faults import Events, Faults
from langdiff.corpora.formats.mteval_documents import read_sgml, unescape
from langdiff.errors import DataError


class Recorder(Events):
    """Keeps what it is told, pieces of text joined."""

    def __init__(self, file):
        super().__init__(file, Faults())
        self.seen = []

    def begin(self, tag, attributes):
        self.seen.append((tag, attributes))

    def finish(self, tag):
        self.seen.append(f"/{tag}")

    def data(self, text):
        if self.seen and isinstance(self.seen[-1], list):
            self.seen[-1][0] += text
        else:
            self.seen.append([text])


def events_of(folder, content):
    (folder / "a.sgm").write_text(content, encoding="utf-8")
    recorder = Recorder(folder / "a.sgm")
    read_sgml(recorder.file, recorder, ("doc", "seg", "p"))
    return [piece[0].strip() if isinstance(piece, list) else piece for piece in recorder.seen if piece != ["\n"]]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("<DOC id=1 Name='a b' x=\"c>d\">t</Doc >", [("doc", {"id": "1", "name": "a b", "x": "c>d"}), "t", "/doc"]),
        ("<doc\n id = a/b\n\tid=c\n>t", [("doc", {"id": "a/b"}), "t"]),
        ("<seg id=l'été>l'un</seg>", [("seg", {"id": "l'été"}), "l'un", "/seg"]),
        ('<seg id="1"/><p/>', [("seg", {"id": "1"}), "/seg", ("p", {}), "/p"]),
        ("<p<seg id=1>t", [("p", {}), ("seg", {"id": "1"}), "t"]),
        ("<seg id=>t</p></p>", [("seg", {}), "t", "/p", "/p"]),
        ('<seg id="&lt;&amp;">t', [("seg", {"id": "<&"}), "t"]),
        ("1 <2 <b>3</b> a<segment> <sega <unk> x>y <", ["1 <2 <b>3</b> a<segment> <sega <unk> x>y <"]),
        ("a<!-- <seg id=1>\n &amp; -->b", ["a b".replace(" ", "")]),
        ("<?xml version='1.0'?>\n<!DOCTYPE doc SYSTEM 'x.dtd'>t <! <!1 <?", ["t <! <!1 <?"]),
        ("<![CDATA[<seg> &amp; ]]>&amp;", ["<seg> &amp; &"]),
    ],
)
def test_markup_and_text(tmp_path, content, expected):
    assert events_of(tmp_path, content) == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\n<!-- b\n", r"a.sgm, line 2: ends within the <!-- of line 2. It may have been cut off"),
        ("a\n<seg id=1\n", r"line 2: ends within the <seg id=1"),
        ("<![CDATA[ b\n\n", r"line 2: ends within the <!\[CDATA\[ of line 1"),
        ("<!DOCTYPE a [\n<!ENTITY b 'c'>]>", r"line 1: declares entities or elements of its own"),
        ("a <!ENTITY % b SYSTEM 'file:///etc/passwd'>", r"line 1: declares entities or elements of its own"),
        (f"<seg id={'x' * 20_000}>", r"line 1: a tag of more than 10,000 characters: .* id=xxx"),
        ("<seg\n" + f"{99 * 'x'}\n" * 400, r"line 101: a tag of more than 10,000 characters"),
    ],
)
def test_what_is_refused(tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        events_of(tmp_path, content)


def test_entities_are_those_of_html_with_their_semicolon():
    text = (
        "&lt;&gt;&amp;&quot;&apos;&#228;&#xE4;&auml;&nbsp;|&lt &para AT&T; &notit; &b; &#55296;&#1234567890; &amp;lt;"
    )
    assert unescape(text) == "<>&\"'äää\xa0|&lt &para AT&T; &notit; &b; \ufffd&#1234567890; &lt;"


@given(st.text("ab&;#lt123<>\"'é\u05d0", max_size=40))
def test_what_is_escaped_comes_back(text):
    assert unescape(html.escape(text)) == text


@pytest.mark.slow
def test_a_long_comment_is_not_held_in_memory(tmp_path):
    size = (tmp_path / "a.sgm").write_text("<!--" + "no text, said again and again\n" * 600_000 + "-->t")
    recorder = Recorder(tmp_path / "a.sgm")
    tracemalloc.start()
    read_sgml(recorder.file, recorder, ("seg",))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert recorder.seen == [["t\n"]]
    assert peak < 12 << 20 < size  # lines of one block, however many blocks there are

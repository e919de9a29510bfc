r"""Every marker of USFM 3.1: whether what it marks is text of the verse it stands in."""

import re

import pytest

from langdiff.corpora.faults import Damage, Faults
from langdiff.corpora.formats.bible import Verses
from langdiff.corpora.formats.usfm import UsfmBook
from langdiff.errors import DataError
from tests.helpers import refused

# The marker sheet of USFM 3.1 (usfm3_1.sty and usfm.ext of usfm-bible/tcdocs), typed from it and divided by style.
# Paragraphs with verse text; those that hold none; character styles; notes; parts of notes; milestones.
TEXT_PARAGRAPHS = """
    p m po pr cls pmo pm pmc pmr pi pi1 pi2 pi3 pc mi mi1 mi2 mi3 mi4 nb q q1 q2 q3 q4 qc qr qm qm1 qm2 qm3 b lh li li1
    li2 li3 li4 lf lim lim1 lim2 lim3 lim4 ph ph1 ph2 ph3 phi tr tr1 tr2 ps psi pb p1 p2
"""
OTHER_PARAGRAPHS = """
    usfm ide h h1 h2 h3 toc1 toc2 toc3 toca1 toca2 toca3 rem sts restore imt imt1 imt2 imt3 imt4 imte imte1 imte2 is is1
    is2 iot io io1 io2 io3 io4 ip ipc im ipi imi ili ili1 ili2 ilit ipq imq ipr ib iq iq1 iq2 iq3 iex ie cp cl cd qa qd
    mt mt1 mt2 mt3 mt4 mte mte1 mte2 ms mse ms1 ms2 ms2e ms3 ms3e mr s s1 s1e s2 s2e s3 s3e s4 s4e sr r sp d sd sd1 sd2
    sd3 sd4 lit pub toc pref intro conc glo idx maps cov spine pubinfo
"""
STYLES = """
    ior iqt qs qac litl lik liv liv1 liv2 liv3 liv4 liv5 qt nd tl dc bk sig pn png addpn wj k sls ord add no it bd bdit
    em sc sup jmp rb ref ta w wh wg wa wl wr ndx xt
"""
CELLS = [f"{cell}{column}" for cell in ("th", "thr", "thc", "tc", "tcr", "tcc") for column in (*range(1, 13), "1-2")]
NOTES = "f fe ef efe x ex fig va vp ca cat rq fm efm pl pro"
IN_NOTES = "fr ft fk fq fqa fl fw fp fs fv fdc xo xop xta xk xq xot xnt xdc xtSee xtSeeAlso"
MILESTONES = """
    ts ts-s ts-e t-s t-e qt-s qt-e qt1-s qt1-e qt2-s qt2-e qt3-s qt3-e qt4-s qt4-e qt5-s qt5-e wj-s wj-e vid k-s k-e
"""
NOT_IN_GRAMMAR = "b pb mi1 mi2 mi3 mi4 lh lf phi tr1 tr2 ps psi p1 p2"  # empty, or usfm-grammar does not know them


def text_of(body):
    faults = Faults()
    verses = Verses("missing", faults)
    content = f"\\id GEN\n\\c 1\n\\p\n\\v 1 {body}\n\\v 2 end\n"
    UsfmBook("a.usfm", content, verses, Damage("a.usfm", faults)).read()
    faults.check()
    found = {one.verse: one.text for one in verses.items()}
    assert found["01001002"] == "end"
    return found["01001001"]


@pytest.mark.parametrize("marker", TEXT_PARAGRAPHS.split())
def test_paragraphs_of_text_go_on_with_the_verse(marker):
    assert text_of(f"one\n\\{marker} two") == "one two"


@pytest.mark.parametrize("marker", OTHER_PARAGRAPHS.split())
def test_other_paragraphs_hide_until_the_next_of_text(marker):
    assert text_of(f"one\n\\{marker} hidden\n\\p two") == "one two"


@pytest.mark.parametrize("marker", CELLS)
def test_cells_of_tables_are_text(marker):
    assert text_of(f"one\n\\tr \\{marker} two") == "one two"


@pytest.mark.parametrize("marker", STYLES.split())
@pytest.mark.parametrize("attributes", ["", "|default", '|a="b" x-c="d"'])
def test_styled_text_is_text_and_attributes_are_not(marker, attributes):
    assert text_of(f"o\\{marker} n{attributes}\\{marker}*e, \\{marker} two{attributes}\\{marker}*.") == "one, two."
    assert text_of(f"\\add o\\+{marker} n{attributes}\\+{marker}*e\\add*") == "one"


@pytest.mark.parametrize("marker", NOTES.split())
def test_notes_hide_what_they_hold(marker):
    assert text_of(f"one\\{marker} + hidden \\ft and \\+nd more\\+nd*|a\\{marker}* two") == "one two"
    refused(DataError, re.escape(f"line 4: \\{marker} has no end \\{marker}*"), text_of, f"one\\{marker} hidden")


@pytest.mark.parametrize("marker", IN_NOTES.split())
def test_parts_of_notes_are_hidden_with_the_note_and_refused_outside(marker):
    assert text_of(f"one\\f + \\{marker} hidden\\{marker}* too\\f* two") == "one two"
    refused(DataError, re.escape(f"line 4: \\{marker} belongs into a note"), text_of, f"one \\{marker} hidden")


@pytest.mark.parametrize("marker", MILESTONES.split())
@pytest.mark.parametrize("attributes", ["", '|sid="ts_1"', ' | who="P"'])
def test_milestones_hide_nothing(marker, attributes):
    assert text_of(f"o\\{marker}{attributes}\\*ne two") == "one two"


def test_milestones_without_their_end_are_passed_over_with_their_attributes():
    assert text_of('one \\k-s | x-tw="rc://a/b"\n\\w two\\w*\\k-e\\*.') == "one two."


@pytest.mark.parametrize(("begin", "end"), [("esb", "esbe"), ("erq", "erqe")])
def test_sidebars_hide_their_paragraphs(begin, end):
    assert text_of(f"one\n\\{begin} \\cat a\\cat*\n\\s1 hidden\n\\p hidden\n\\{end}\n\\p two") == "one two"
    refused(DataError, rf"line 5: \\{begin} has no end \\{end}", text_of, f"one\n\\{begin}\n\\p hidden")


def test_references_in_text_headings_and_notes():
    body = (
        "one \\ref Gen 2:1|GEN 2:1\\ref*\n\\r (\\ref John 1:1-5|JHN 1:1-5\\ref*; \\ref Heb. 11|HEB 11:1\\ref*)\n"
        "\\q1 two\\f + \\ft See \\ref 3:1|GEN 3:1\\ref*.\\f*"
    )
    assert text_of(body) == "one Gen 2:1 two"


# --- another reading of the same: usfm-grammar, whose grammar calls each marker what it is


@pytest.mark.parametrize("marker", sorted({*TEXT_PARAGRAPHS.split()} - {*NOT_IN_GRAMMAR.split()}))
def test_a_grammar_puts_the_text_into_the_same_paragraphs(marker):
    usfm_grammar = pytest.importorskip("usfm_grammar", reason="usfm-grammar is not installed")
    body = f"one\n\\{marker} two" if not marker.startswith("tr") else f"one\n\\{marker} \\tc1 two"
    parser = usfm_grammar.USFMParser(f"\\id GEN\n\\c 1\n\\p\n\\v 1 {body}\n\\p\n\\v 2 end\n")
    assert not parser.errors
    verse = [row for row in parser.to_list()[1:] if row[1:3] == ["1", "1"]]
    assert " ".join(row[3] for row in verse).split() == ["one", "two"] == text_of(body).split()

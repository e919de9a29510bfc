"""Feed readers of texts, logs and parallelisms with damaged files: ``python benchmarks/fuzz_readers.py [READER ...]``.

Every input is a small valid file after a few random edits, drawn from the reader's name, the seed and
the input's number alone, so that ``--start K`` goes on where a run stopped and ``--start K --count 1``
repeats one input. Every input is parsed; every 32nd goes through `read_multitext`, and its texts are
read (of parallelisms every one is read as a user reads it, and every 32nd also written and read again).
An input of ``frame`` is a table of JSON values, of which a frame for `read_frame` is made.
What is raised must be an error of the package; anything else is printed and kept, and makes the
exit code 1.
"""

import argparse
import bz2
import gzip
import io
import json
import lzma
import resource
import signal
import sys
import tarfile
import tempfile
import time
import warnings
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from langdiff.corpora import read_frame, read_multitext
from langdiff.corpora.faults import Faults
from langdiff.corpora.formats.beblia import BebliaEvents
from langdiff.corpora.formats.ces import CesEvents
from langdiff.corpora.formats.costep import read_day
from langdiff.corpora.formats.ebible import EbibleText
from langdiff.corpora.formats.moses import MosesText
from langdiff.corpora.formats.mteval_documents import read_documents
from langdiff.corpora.formats.osis import OsisEvents
from langdiff.corpora.formats.pbc import PbcText
from langdiff.corpora.formats.table import TableText
from langdiff.corpora.formats.tmx import TmxText
from langdiff.corpora.formats.usfm import UsfmText
from langdiff.corpora.formats.usfx import UsfxEvents
from langdiff.corpora.formats.usj import UsjText
from langdiff.corpora.formats.usx import UsxText
from langdiff.corpora.formats.verse_xml import VerseXmlText
from langdiff.corpora.formats.zefania import ZefaniaEvents
from langdiff.errors import ConfigError, LangdiffError, LangdiffWarning
from langdiff.parallelism import read_parallelisms, write_parallelisms
from langdiff.parallelism.files import ParallelismFormat
from langdiff.tables.logs.reading import read_logs
from langdiff.tables.multitext import Multitext

HANG = 20  # seconds, a thousand times what an input takes
MEMORY = 8 << 30  # bytes of address space, most of which libraries reserve


@dataclass(frozen=True)
class Case:
    """Valid files of a format, and what is worth inserting into them; `format` is the reader's, if not `name`."""

    name: str
    seeds: tuple[str | bytes | Path, ...]
    words: tuple[str, ...]
    beside: tuple[tuple[str, str], ...] = ()
    ending: str = ".txt"
    format: str = ""


def _arrow(kind: str, rows: list[dict[str, object]]) -> bytes:
    """Return a small file in Parquet, or one of Arrow or a stream."""
    table, stream = pa.Table.from_pylist(rows), io.BytesIO()
    if kind == "parquet":
        parquet.write_table(table, stream, write_page_checksum=True)
    else:
        with (pa.ipc.new_file if kind == "file" else pa.ipc.new_stream)(stream, table.schema) as writer:
            writer.write_table(table)
    return stream.getvalue()


_XML = (
    '<!DOCTYPE a [<!ENTITY b "c">]>', '<!DOCTYPE a SYSTEM "file:///etc/passwd">', "&b;", "&#0;", "&#x10FFFF;", "&amp;",
    "]]>", "<![CDATA[<", "<!--", "<?x?>", "</", "/>", '="', "\ufffe", 'encoding="utf-16"', "<a>" * 300, " xmlns='x'",
)  # fmt: skip
CASES = {
    case.name: case
    for case in (
        Case(
            "pbc",
            ("# language_name: German\n# year_short: 1912\n01001001\tAm Anfang\n01001002\t\n66022021\tAmen \u05d0\n",),
            ("\t", "01001001", "99151176", "00", "BLANK", "# title: x", "\n#", "\u0661"),
        ),
        Case(
            "ebible",
            ("Am Anfang\n\nzwei und drei\n<range>\nAmen\n",),
            ("<range>", "\n", "<range>\n<range>", "GEN 1:1"),
            (("vref.txt", "GEN 1:1\nGEN 1:2\nEXO 1:1\nEXO 1:2\nENO 1:1\n"),),
        ),
        Case(
            "usfm",
            (
                "\\id PSA Psalms\n\\h Psalms\n\\c 1\n\\s1 Head\n\\q1\n\\v 1 Blessed\\f + \\fr 1:1 \\ft note\\f* is "
                '\\w the|strong="H1"\\w*\n\\q2 man\n\\v 2-3 two \\add and\\add* three\n\\c 2\n\\p\n'
                "\\v 1a x\n\\v 1b y\n",
                '\\id TIT\n\\c 1\n\\p\n\\zaln-s |x="y"\\*\\v 1 a \\+nd b\\+nd* \\ts\\*\n'
                "\\esb \\p side\n\\esbe\n\\v 2 c~d//e\n",
            ),
            (
                "\\", "\\*", "\\v 1", "\\v 1-999999999", "\\v 176", "\\c 151", "\\c", "\\id FRT", "\\id", "\\f", "\\f*",
                "\\x - ", "\\zq", "\\zq*", "\\w a|b", "|", "\\+", "\\esb", "\\esbe", "\\p", "-", "\u200f-",
                "\\periph x", "\\qt-s |", "\\unknown", "\\ref a|GEN 1:1\\ref*", "\\ref", "\\erq", "\\erqe", "\\s1e",
                "\\efe", "\\efe*", "\\efm",
            ),
            ending=".usfm",
        ),
        Case(
            "usx",
            (
                '<usx version="3.0"><book code="PSA" style="id">x</book><chapter number="1" style="c"/><para '
                'style="q1"><verse number="1" style="v" sid="PSA 1:1"/>Blest<note style="f">n</note> is <char '
                'style="w" strong="H1">the</char> man<verse eid="PSA 1:1"/></para><para style="d"><verse number="2-3" '
                'style="v"/>two<optbreak/><ms style="ts"/></para><table><row style="tr"><cell style="tc1"><verse '
                'number="4a"/>x</cell></row></table></usx>',
            ),
            (
                '<verse eid="PSA 1:1"/>', '<verse number="999"/>', '<verse number="1"/>', '<para style="s">', "</para>",
                '<char style="zq">', "<sidebar>", "</sidebar>", '<unmatched marker="f*"/>', '<book code="ENO"/>',
                "<foo>",
                '<chapter number="0"/>', '<chapter eid="x"/>', '<periph id="x">', 'style="unknown"',
            ),
            ending=".usx",
        ),
        Case(
            "usj",
            (
                '{"type": "USJ", "version": "3.1", "content": [{"type": "book", "marker": "id", "code": "PSA"}, '
                '{"type": "chapter", "marker": "c", "number": "1"}, {"type": "para", "marker": "q1", "content": '
                '[{"type": "verse", "marker": "v", "number": "1"}, "Blessed", {"type": "note", "marker": "f", '
                '"content": ["n"]}, {"type": "char", "marker": "w", "content": [" the"]},\n{"type": "verse", "marker": '
                '"v", "number": "2-3"}, "two\\u00e9"]}]}',
            ),
            (
                "{", "}", "[", "]", ",", '"', "null", "1e999", "NaN", '"\\ud800"', '"\\u0000"', "[" * 400,
                '{"type": "para"}',
                '"type": "USJ", ', '{"type": "verse", "number": "1"}', '"content": {}', '"marker": "zz"', '"number": 7',
            ),
            ending=".json",
        ),
        Case(
            "usfx",
            (
                '<usfx><languageCode>eng</languageCode><book id="PSA"><h>x</h><c id="1"/><p sfm="s">Head</p><q '
                'level="1"><v id="1"/>Blessed<f caller="+">n</f> is <w s="H1">the</w> man<ve/></q><p><v id="2-3"/>two '
                "<nd>x</nd><ve/></p></book></usfx>",
            ),
            ('<v id="1"/>', "<ve/>", '<c id="0"/>', '<book id="ENO">', "</book>", '<p sfm="d">', "<x>", "<foo/>"),
            ending=".xml",
        ),
        Case(
            "zefania",
            (
                '<XMLBIBLE biblename="x"><INFORMATION><title>T</title><language>GER</language></INFORMATION><BIBLEBOOK '
                'bnumber="19" bname="Psalm"><CHAPTER cnumber="1"><VERS vnumber="1">Blessed <NOTE>n</NOTE><STYLE>is'
                '</STYLE><BR art="x-nl"/> man</VERS><VERS vnumber="2"/></CHAPTER></BIBLEBOOK></XMLBIBLE>',
            ),
            (
                '<VERS vnumber="1">', "</VERS>", '<CHAPTER cnumber="999">', "</CHAPTER>", 'bnumber="67"', "<DIV>",
                '<BIBLEBOOK bnumber="x">', "<foo>", 'vnumber=""', '"1-99999"', "<language>XYZ</language>",
            ),
            ending=".xml",
        ),
        Case(
            "beblia",
            (
                '<bible translation="T" status="S"><testament name="Old"><book number="19"><chapter number="1"><verse '
                'number="1">Blessed</verse><verse number="2"></verse></chapter></book></testament></bible>',
            ),
            ('<verse number="1">', "</verse>", '<chapter number="9">', '<book number="99">', "<foo/>", 'number="1-3"'),
            ending=".xml",
        ),
        Case(
            "tmx",
            (
                '<tmx version="1.4"><header srclang="en"/><body><tu tuid="a"><tuv xml:lang="en"><seg>a <bpt>x</bpt>'
                '<hi>dog</hi><ph>y<sub>z</sub></ph></seg></tuv><tuv xml:lang="de"><seg>ein Hund</seg></tuv></tu>'
                '<tu><tuv lang="en"><seg>b</seg></tuv></tu></body></tmx>',
            ),
            (
                "<tu>", "</tu>", '<tuv xml:lang="en">', "</tuv>", "<seg>", "</seg>", 'tuid="a"', "<sub>", "</sub>",
                '<!DOCTYPE tmx SYSTEM "tmx14.dtd">', "\ufeff",
            ),
            ending=".tmx",
        ),
        Case(
            "jsonl",
            (
                '{"id": "s1", "lang": "deu", "text": "ein Hund", "document": "a"}\n{"id": "s1", "lang": "eng", '
                '"text": "a dog", "document": "a"}\n{"id": 2, "lang": "deu", "text": null}\n',
                '{"translation": {"de": "x", "en": "y"}}\n{"translation": {"de": "z"}}\n',
                '{"sentence_deu_Latn": "x", "sentence_eng_Latn": "y", "id": 1}\n',
                '{"text": "x"}\n{"text": "\\u00e9"}\n',
            ),
            (
                "{", "}", "[", '"', "null", "NaN", "1e400", "-0", "true", '"\\ud800"', '"\\u0000"', "[" * 400, "\n{}\n",
                '{"id": 1, "id": 2}', '"text": 7', '"lang": "deu"', '"id": "s1"', "9" * 5000, "\ufeff",
            ),
            ending=".jsonl",
        ),
        Case(
            "parquet",
            tuple(
                _arrow(kind, rows)
                for kind in ("parquet", "file", "stream")
                for rows in (
                    [{"id": 1, "lang": "deu", "text": "ein Hund"}, {"id": 1, "lang": "eng", "text": "a dog"}],
                    [{"translation": {"de": "x", "en": "y"}}, {"translation": {"de": "z", "en": None}}],
                )
            ),
            ("PAR1", "ARROW1", "text", "lang", "id", "\0", "\0\0\0\0", "\x7f", "translation"),
            ending=".parquet",
        ),
        Case(
            "osis",
            (
                '<osis xmlns="x"><osisText osisIDWork="W" xml:lang="deu"><header><work osisWork="W"><title>T</title>'
                '</work></header><div type="book" osisID="Gen"><chapter osisID="Gen.1"><verse osisID="Gen.1.1">Am '
                '<note>n</note><w>Anfang</w></verse><verse sID="a" osisID="Gen.1.2 Gen.1.3"/>x<q marker="«"/>y'
                '<verse eID="a"/></chapter></div></osisText></osis>',
            ),
            ('<verse osisID="Gen.1.1"/>', '<verse eID="a"/>', '<verse sID="b"/>', "!a", "Gen.999.9", "Foo", "</note>"),
            ending=".xml",
        ),
        Case(
            "ces",
            (
                '<cesDoc version="4"><cesHeader><langUsage><language iso639="deu">German</language></langUsage>'
                '</cesHeader><text><body><div><seg id="b.GEN.1.1" type="verse">\n Am Anfang\n</seg>'
                '<seg id="b.MAR.1.2" type="verse">x</seg></div></body></text></cesDoc>',
            ),
            ('<seg type="verse">', "b.ENO.1.1", "b.GEN.999.1", 'type="verse"', "<note>", "</seg>"),
            ending=".xml",
        ),
        Case(
            "moses",
            ("ein Hund\n\nein \u05d0\u0301\U00010428\n",),
            ("\n", "\r", "\u2028", "\0", " \n"),
            (("original_language.txt", "deu\nund\neng\n"), ("eng.txt", "a dog\na cat\nan x\n")),
        ),
        Case(
            "table",
            (
                'id,deu,eng\ns1,"Der ""alte"" Hund, er bellt.",The dog barks.\ns2,Die Katze schläft.,\n',
                "\ufeffid;deu;eng\r\ns1;Der Hund;The dog\r\n;;\r\n",
            ),
            (",", ";", '"', '""', '"\n', "\r", "\n,,\n", "\0", "s1,", "3.5", "deu"),
            ending=".csv",
        ),
        Case(
            "mteval",
            (
                '<mteval><refset refid="a" trglang="eng"><doc docid="d"><hl><seg id="1">Rain</seg></hl><p><seg id="2">x'
                '</seg></p></doc></refset><refset refid="b" trglang="eng"><doc docid="d"><hl><seg id="1">It rains</seg>'
                '</hl><p><seg id="2"/></p></doc></refset></mteval>',
            ),
            ("<refset>", '<refset refid="a">', '<seg id="1">', '<doc docid="d">', "</doc>", "</seg>", "<SEG>"),
            ending=".xml",
        ),
        Case(
            "sgml",
            (
                '<srcset setid="s" srclang="any">\n<DOC docid=d origlang=cz>\n<hl>\n<seg id=1> Rain & sun </seg>'
                '\n</h1>\n<p>\n<seg id=2>1 < 2 &amp; 3<seg id=3>x</SEG>\n</DOC>\n</srcset>\n<refset setid="s" '
                'trglang="de">\n'
                "<doc docid='d' sysid=ref>\n<seg id=1>It\nrains</seg>\n</doc>\n</refset>\n",
            ),
            (
                "<srcset", "</refset>", "<tstset>", "<seg id=1", '<doc docid="', "<DOC", "</p", "<!-- ", "-->",
                "<![CDATA[", "]]>", '<!DOCTYPE a [<!ENTITY b "c">]>', "&", "&#0;", "&#55555;", "&bogus;", "'", '"',
                'origlang="de"', "<seg" * 300, "<p>" * 300, 'setid="t"', "trglang=zz",
            ),
            ending=".en.sgm",
            format="mteval",
        ),
        Case(
            "wmt",
            (
                '<?xml version="1.0"?><dataset id="s"><collection id="general"><doc id="d" origlang="en">'
                '<src lang="en"><p><seg id="1">Rain</seg><seg id="2">a</seg></p></src>\n'
                '<ref lang="de" translator="A"><p><seg id="1">Regen</seg></p></ref>'
                '<ref lang="de" translator="B"><seg id="1">x</seg></ref>'
                '<hyp lang="de" system="z"><seg id="1">y</seg></hyp></doc></collection></dataset>',
            ),
            (
                '<dataset id="t">', "</dataset>", '<doc id="d" origlang="de">', "<src>", '<ref lang="de">', "</ref>",
                "<hyp>", '<seg id="1">', "</seg>", 'translator="A"', 'lang="xx"', "<refset", "<srcset>", "<collection>",
            ),
            ending=".xml",
            format="mteval",
        ),
        Case(
            "costep",
            (
                '<session date="2000-01-17"><chapter id="1"><turn id="1"><speaker president="no" language="de" '
                'name="X"><text language="de"><p type="speech">Am <ellipsis/>Anfang</p></text><text language="en">'
                '<p type="speech"><quote start="«" end="»">In</quote></p></text></speaker></turn></chapter></session>',
            ),
            ('<p type="speech">', "<p>", "<turn>", "</turn>", 'language="en"', '<text language="fr">', 'empty="yes"'),
            ending=".xml",
        ),
        Case(
            "frame",
            (
                "intent\tedition\ttext\n1\tdeu-a\tein Hund\n1\teng\ta dog\n2\tdeu-a\tnull\n2\teng\t\u05d0\u0301\n",
                "\tdeu-a\teng\tfra\n1\tein Hund\ta dog\tNaN\n2\teine Katze\t \tun chat\n3\tx\ty\tz\n",
            ),
            (
                "\t", "null", "NaN", "\tNaN\t", "1", "1.0", "-0.5", "true", "[]", '{"a": [1]}', '""', "Infinity",
                "intent", "edition", "text", "language", '"\\ud800"', '"\\u0000"', "\n1\teng\tx",
            ),
        ),
        Case(
            "parallelism-brat",
            (
                "T1\tParallelArm 6 14\the came,\nT2\tParallelArm 15 23\tshe saw.\nR1\tParallel Arg1:T1 Arg2:T2\t\n"
                "T3\tChiasmA 30 40;41 46\tto eat and drink\nT4\tChiasmB 47 54\tto rest\nR2\tChiasm Arg1:T3 Arg2:T4\n"
                "#1\tAnnotatorNotes T3\tx\n",
            ),
            ("T1", "T9", "R1", "\t", ";", "Arg1:T3", "ParallelArm", "Branch", "Finished 0 6", "999999", "-1", "#"),
            (("deu-a.txt", "<1 1>\nhe came, she saw.\n<1 2>\nto eat and\ndrink\tto rest\n"),),
            ending=".ann",
        ),
        Case(
            "parallelism-text-of-brat",
            ("<1 1>\nhe came, she saw.\n<1 2>\nto eat and\ndrink\tto rest \u597d\u0301.\n",),
            ("<1 2>", "<Paragraph 3>\n", ">>> ", ",", "\r", "\u0130", "\u2028", "\u597d"),
            (
                (
                    "deu-a.ann",
                    "T1\tParallelArm 6 14\nT2\tBranch 15 23\nR1\tParallelism Arg1:T1 Arg2:T2\n",
                ),
            ),
        ),
        Case(
            "parallelism-text",
            (
                '<sermon id="1"><section id="1">Ibi <parallelism id="1" part="1">uidit <parallelism id="2" part="1">et'
                '</parallelism> <parallelism id="2" part="2">non</parallelism></parallelism>, <parallelism id="1" '
                'part="2">audiuit;</parallelism>.</section><section id="2"> Amen &amp; etc.</section></sermon>',
            ),
            (
                '<parallelism id="1" part="1">', '<parallelism id="3" part="1">x</parallelism>', "</parallelism>",
                '<section id="3">', "</section>", "<word/>", 'part="2"', ", .",
            ),
            ending=".xml",
        ),
        Case(
            "parallelism-words",
            (
                '<sermon id="1" stratum_count="2"><section id="1"><word id="1" cont="ibi" parallelism_id_1="1" '
                'branch_id_1="1"/><word cont="et" parallelism_id_1="1" branch_id_1="1" parallelism_id_2="2" '
                'branch_id_2="1"/><word cont="non" parallelism_id_1="1" branch_id_1="1" parallelism_id_2="2" '
                'branch_id_2="2"/><word cont="."/><word cont="x" parallelism_id_1="1" branch_id_1="2"/></section>'
                "</sermon>",
                '<doc><para id="0"><sent id="0" cont="ab"><word id="0" parallelism_id_1="0" branch_id_1="1">a</word>'
                '<word id="1">\u597d</word></sent></para><para id="1"><sent><word id="0" parallelism_id_1="0" '
                'branch_id_1="2">b<arg/></word></sent></para></doc>',
            ),
            (
                '<word cont="a"/>', "<word>", ' branch_id_1="1"', ' parallelism_id_3="1"', 'stratum_count="1"', '"-1"',
                '"99999999999"', "</section>", '<section id="1">', 'cont=""', 'cont=" "', "<parallelism>",
            ),
            ending=".xml",
        ),
        Case(
            "parallelism-table",
            (
                "token\tp1\tb1\tp2\tb2\nhe\t1\t1\t-1\t-1\ncame\t1\t1\t2\t1\n,\t-1\t-1\t-1\t-1\nsaw\t1\t2\t-1\t-1\n"
                "!\t-1\t-1\t2\t2\n",
            ),
            ("\t", "-1", "\t-1\t-1", "\n\n", "99999999999", "\r\n", "\u0661"),
            ending=".tsv",
        ),
        Case(
            "logs",
            tuple(sorted(Path(__file__).parents[1].glob("tests/data/logs/made_up/*"))),
            (
                "{", "}", "[", "]", ",", '"', ":", "null", "NaN", "1e999", "-Infinity", "true", '"\\ud800"', "[" * 400,
                '"acc":', '"acc":2,', '"id":7,', '"doc_id":0,', "-9999", "-1e-400", "\n{}\n", "\n[]\n", '"x":' * 9,
            ),
        ),
    )
}  # fmt: skip
_PACKED: tuple[tuple[str, Callable[[bytes], bytes]], ...] = (
    (".gz", lambda raw: gzip.compress(raw, 1)), (".bz2", lambda raw: bz2.compress(raw, 1)),
    (".xz", lambda raw: lzma.compress(raw, preset=0)),
)  # fmt: skip


def checked(read: Callable[[Faults], object]) -> object:
    """Read, and raise an error if there are faults."""
    faults = Faults()
    result = read(faults)
    faults.check()
    return result


PARSERS: dict[str, Callable[[Path], object]] = {
    "pbc": lambda file: PbcText(file).read(),
    "ebible": lambda file: EbibleText(file, file.parent / "vref.txt").read(),
    "usfm": lambda file: UsfmText(file, (file,)).read(),
    "usx": lambda file: UsxText(file, (file,)).read(),
    "usj": lambda file: UsjText(file, (file,)).read(),
    "usfx": lambda file: VerseXmlText(file, UsfxEvents).read(),
    "zefania": lambda file: VerseXmlText(file, ZefaniaEvents).read(),
    "beblia": lambda file: VerseXmlText(file, BebliaEvents).read(),
    "tmx": lambda file: TmxText((file,), "en").read(),
    "jsonl": lambda file: read_multitext({"deu-a": file}, format="jsonl", progress=False),
    "parquet": lambda file: read_multitext(file, format="parquet", progress=False),
    "osis": lambda file: VerseXmlText(file, OsisEvents).read(),
    "ces": lambda file: VerseXmlText(file, CesEvents).read(),
    "moses": lambda file: MosesText(file).read(),
    "table": lambda file: TableText(file, "deu").read(),
    "mteval": lambda file: checked(lambda faults: read_documents(file, faults)),
    "costep": lambda file: checked(lambda faults: read_day(file, errors="strict", faults=faults)),
    "frame": lambda file: read_frame(frame_of(file)),
}
PARALLELISM = "parallelism"  # begins the names of the cases whose reader is `read_parallelisms`
OPERATIONS = ("flip", "delete", "double", "insert", "word", "cut", "swap", "bytes")


def frame_of(file: Path) -> pd.DataFrame:
    """Return the frame of a table: the first row names its columns, and of a wide frame the first column its rows."""

    def cell(text: str) -> object:
        try:
            return json.loads(text)
        except ValueError:
            return text

    head, *lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
    columns = [
        column if isinstance(column, str | int | float | None) else head for column in map(cell, head.split("\t"))
    ]
    rows = [(list(map(cell, line.split("\t"))) + [None] * len(columns))[: len(columns)] for line in lines if line]
    frame = pd.DataFrame(rows, columns=pd.Index(columns, dtype=object), dtype=object)
    if columns[0]:
        return frame
    names = pd.Index([str(name) for name in frame.iloc[:, 0]], dtype=object)  # which may have half a character
    return frame.set_axis(names).iloc[:, 1:]


def zipped(files: dict[str, bytes]) -> bytes:
    """Return a zip archive."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, raw in files.items():
            archive.writestr(name, raw)
    return stream.getvalue()


def tarred(files: dict[str, bytes]) -> bytes:
    """Return a tar archive."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, raw in files.items():
            about = tarfile.TarInfo(name)
            about.size = len(raw)
            archive.addfile(about, io.BytesIO(raw))
    return stream.getvalue()


def edit(raw: bytes, operation: str, where: float, size: int, word: str) -> bytes:
    """Return the bytes after one edit at a place (0 the beginning, 1 the end)."""
    a = int(where * len(raw))
    b = min(len(raw), a + size)
    match operation:
        case "flip":
            return raw[:a] + bytes([raw[a] ^ (1 << size % 8)]) + raw[a + 1 :] if a < len(raw) else raw
        case "delete":
            return raw[:a] + raw[b:]
        case "double":
            return raw[:b] + raw[a:b] + raw[b:]
        case "cut":
            return raw[:a]
        case "swap":  # the line here and the next
            lines = raw.split(b"\n")
            k = min(int(where * len(lines)), max(0, len(lines) - 2))
            return b"\n".join(lines[:k] + lines[k + 1 : k + 2] + lines[k : k + 1] + lines[k + 2 :])
        case "bytes":
            return raw[:a] + bytes((7 * size + 31 * k) % 256 for k in range(size % 9)) + raw[a:]
        case _:
            return raw[:a] + word.encode() + raw[a:]


def bytes_of(seed: str | bytes | Path) -> bytes:
    """Return the bytes of a valid file."""
    return seed.read_bytes() if isinstance(seed, Path) else seed.encode() if isinstance(seed, str) else seed


def words_of(case: Case) -> tuple[str, ...]:
    """Return what is worth inserting."""
    return (
        *case.words,
        *(_XML if bytes_of(case.seeds[0])[:1] == b"<" else ()),
        "\ud7ff\U0010ffff",
        "\u202e",
        "\n",
        " ",
        "9" * 30,
    )


def draw(case: Case, seed: int, number: int) -> tuple[str, bytes]:
    """Return the name and the bytes of an input."""
    rng = np.random.default_rng([zlib.crc32(case.name.encode()), seed, number])
    valid = case.seeds[rng.integers(len(case.seeds))]
    raw = bytes_of(valid)
    words = words_of(case)
    for _ in range(rng.geometric(0.5)):
        operation = OPERATIONS[rng.integers(len(OPERATIONS))]
        raw = edit(raw, operation, rng.random(), int(rng.integers(1, 40)), words[rng.integers(len(words))])
    name = valid.name if isinstance(valid, Path) else f"deu-a{case.ending}"
    if rng.random() < 0.1:  # compressed, and every other time damaged after that
        inside = {name: raw}
        archives = {".zip": zipped(inside), ".tar": tarred(inside), ".tgz": gzip.compress(tarred(inside), 1)}
        packed = {name + ending: pack(raw) for ending, pack in _PACKED}
        packed |= {f"deu-a{ending}": content for ending, content in archives.items()}
        name = sorted(packed)[rng.integers(len(packed))]
        raw = packed[name]
        if rng.random() < 0.5:
            raw = edit(raw, OPERATIONS[rng.integers(len(OPERATIONS))], rng.random(), int(rng.integers(1, 9)), "x")
    return name, raw


def prepare(case: Case, folder: Path) -> None:
    """Write the files that belong beside an input."""
    for name, text in case.beside:
        (folder / name).write_text(text, encoding="utf-8")


def attempt(case: Case, name: str, raw: bytes, folder: Path, *, whole: bool) -> bool:
    """Read an input; return whether it was accepted. Errors that are not the package's go through."""
    file = folder / name
    file.write_bytes(raw)
    try:
        if case.name.startswith(PARALLELISM):
            attempt_parallelisms(file, whole=whole)
            return True
        if case.name == "logs":
            attempt_log(file)
            return True
        if whole or name.endswith((".zip", ".tar", ".tgz")):
            if case.name == "frame":
                return attempt_whole(partial(read_frame, frame_of(file)))
            paths = [file, *folder.glob("eng*")]
            return attempt_whole(partial(read_multitext, paths, format=case.format or case.name, progress=False))
        PARSERS[case.format or case.name](file)
    except LangdiffError:
        return False
    finally:
        file.unlink()
    return True


def attempt_whole(read: Callable[..., Multitext]) -> bool:
    """Read a corpus and all texts in both ways, which must agree; return whether it is without fault."""
    found = {}
    for on_error in ("raise", "skip"):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LangdiffWarning)
                found[on_error] = read(on_error=on_error)
            for edition in found[on_error].editions:
                texts = found[on_error].text(edition)
                assert len(texts) == found[on_error].presence[edition].sum()
                assert all(isinstance(text, str) and text.strip() for text in texts)
        except LangdiffError:
            found.pop(on_error, None)
    if "raise" in found:
        assert found["skip"].skipped.empty
        assert found["skip"].presence.equals(found["raise"].presence)
    elif "skip" in found:
        assert len(found["skip"].skipped)
    return "raise" in found


def attempt_log(file: Path) -> None:
    """Read a log, and make of it whatever it can be made."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)
        try:
            logs = read_logs(file, start="drop")
        except ConfigError:  # asks for the unit
            logs = read_logs(file, start="drop", unit="nats")
    for make in (logs.surprisals, logs.outcomes, logs.tokens):
        with suppress(LangdiffError), warnings.catch_warnings():
            warnings.simplefilter("ignore", LangdiffWarning)
            make()


def attempt_parallelisms(file: Path, *, whole: bool) -> None:
    """Read a file, and write and read it again in every format that can hold it, which must give the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)
        documents = read_parallelisms(file)
    formats: tuple[ParallelismFormat, ...] = get_args(ParallelismFormat) if whole else ()
    for format in formats:
        with tempfile.TemporaryDirectory() as temporary:
            try:
                paths = write_parallelisms(documents, temporary, format=format)
            except LangdiffError:
                continue
            again = read_parallelisms(paths[-1], format=format)
        for name, document in documents.items():
            lowered = format in ("brat", "text-xml")  # running text is read in lower case
            assert again[name].tokens == (tuple(map(str.lower, document.tokens)) if lowered else document.tokens)
            assert [one.branches for one in again[name].parallelisms] == [one.branches for one in document.parallelisms]


def campaign(case: Case, seed: int, start: int, count: int, keep: Path) -> int:
    """Try inputs one after another; return how many failed."""
    accepted = failed = 0
    slowest, begin = 0.0, time.perf_counter()
    with tempfile.TemporaryDirectory() as temporary:
        prepare(case, Path(temporary))
        for number in range(start, start + count):
            name, raw = draw(case, seed, number)
            before = time.perf_counter()
            signal.alarm(HANG)
            try:
                accepted += attempt(case, name, raw, Path(temporary), whole=number % 32 == 0)
            except Exception as error:
                failed += 1
                (keep / f"{case.name}-{seed}-{number}-{name}").write_bytes(raw)
                print(f"{case.name} --seed {seed} --start {number}: {type(error).__name__}: {error}", flush=True)
            finally:
                signal.alarm(0)
            slowest = max(slowest, time.perf_counter() - before)
            if (done := number + 1 - start) % 10_000 == 0 or done == count:
                seconds, peak = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
                print(
                    f"{case.name:<8} {done:>9,} inputs, {accepted:,} accepted, {failed} failed, "
                    f"slowest {slowest:.3f} s, all {seconds:.0f} s, peak {peak} MiB",
                    flush=True,
                )
    return failed


def main() -> None:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("readers", nargs="*", default=list(CASES), metavar="READER")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()))
    options = parser.parse_args()

    def hang(*_: object) -> None:
        raise TimeoutError(f"no answer after {HANG} s")

    signal.signal(signal.SIGALRM, hang)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    failed = sum(
        campaign(CASES[name], options.seed, options.start, options.count, options.keep) for name in options.readers
    )
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()

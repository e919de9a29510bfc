"""Defects of real files: all of them in one error, or all of them skipped and listed."""

import gzip
import os
import pickle
import re

import pandas as pd
import pytest

from langdiff.corpora import read_frame, read_multitext
from langdiff.corpora.faults import MAX_FAULTS
from langdiff.corpora.formats.pbc import PbcText
from langdiff.corpora.tokenizer import prepare_text
from langdiff.errors import ConfigError, DataError, FaultsError, LangdiffWarning
from langdiff.selection import split
from tests.helpers import refused

GOOD = "01001001\tone\n01001002\ttwo\n01001003\tthree\n01001004\tfour\n"
PBC = {
    "deu-good.txt": GOOD,
    "eng-lines.txt": b"# title: t\n01001001\tone\n1001002\ttwo\n01051001\tx\n01001003\tthr\xe9e\n\n01001004\tf\0ur\n",
    "fra-twice.txt": "01001001\tun\n01001002\tdeux\n01001001\tune\n01001001\tun\n01001003\ttrois\n",
    "ita-cut.txt.gz": gzip.compress(GOOD.encode() * 50)[:40],
    "nld-empty.txt": "# title: only a header\n01001001\t\n",
    "por-mac.txt": "01001001\tum\r01001002\tdois\r",
    "spa-utf16.txt": ("\ufeff" + GOOD).encode("utf-16-le"),
}


def verse(ref, text):
    return f'<seg id="b.{ref}" type="verse">{text}</seg>\n'


def bible(*verses):
    return f"<cesDoc><text><body>\n{''.join(verses)}</body></text></cesDoc>"


CES = {
    "deu-good.xml": bible(*(verse(f"GEN.1.{k}", f"v{k}") for k in range(1, 5))),
    "eng-ids.xml": bible(
        verse("GEN.1.1", "one"), verse("GEN.51.1", "x"), verse("XYZ.1.1", "x"),
        '<seg id="GEN.1.2" type="verse">x</seg>\n', '<seg type="verse">x</seg>\n', verse("GEN.1.3", "three"),
    ),
    "fra-twice.xml": bible(verse("GEN.1.1", "un"), verse("GEN.1.2", "deux"), verse("GEN.1.1", "une")),
    "ita-bytes.xml": bible(
        verse("GEN.1.1", "uno"), verse("GEN.1.2", "du\udce9"), "<note>\udce9</note>\n", verse("GEN.1.3", "tr\0e"),
    ).encode("utf-8", "surrogateescape"),
    "nld-cut.xml": bible(verse("GEN.1.1", "een"))[:60],
    "por-entity.xml": bible(verse("GEN.1.1", "um &eacute;")),
    "spa-nested.xml": bible('<seg id="b.GEN.1.1" type="verse">a' + verse("GEN.1.2", "b") + "</seg>"),
}  # fmt: skip
EBIBLE = {
    "vref.txt": "GEN 1:1\nGEN 1:2\nGEN 1:3\nGEN 1:4\n",
    "deu-good.txt": "eins\nzwei\n<range>\nvier\n",
    "eng-bytes.txt": b"one\ntw\xe9\nthree\nf\0ur\n",
    "fra-short.txt": "un\ndeux\n",
    "ita-long.txt": "uno\ndue\ntre\nquattro\ncinque\n",
    "nld-empty.txt": "\n\n\n\n",
    "por-cut.txt.gz": gzip.compress(b"um\n")[:-9],
}
MOSES = {
    "deu-good.txt": "eins\nzwei\ndrei\n",
    "eng-bytes.txt": b"one\ntw\xe9\nt\0ree\n",
    "fra-short.txt": "un\ndeux\n",
    "ita-long.txt": "uno\ndue\ntre\nquattro\n",
    "nld-empty.txt": "\n\n\n",
    "por-cut.txt.gz": gzip.compress(b"um\n")[:-9],
    "spa-good.txt": "uno\n\ntres\n",
}
TABLE = {
    "texts.csv": b"id,deu-good,eng,notes\n1,eins,one,1\n,x,y,2\n2,zwei,,\n3,drei,three,\n3,dry,,\n4,vier,fo\0ur,\n"
    b"5,f\xfcnf,five,\n6,sechs\n7,sieben,seven,,,\n\xe9,acht,eight,\n"
}


def turn(number, *texts):
    return f'<turn id="{number}"><speaker language="de" name="A">\n{"".join(texts)}</speaker></turn>\n'


def said(language, *paragraphs):
    attribute = f' language="{language}"' if language else ""
    return f"<text{attribute}>" + "".join(f'<p type="speech">{p}</p>\n' for p in paragraphs) + "</text>\n"


def day(date, *turns):
    return f'<session date="{date}"><chapter id="1">\n{"".join(turns)}</chapter></session>'


COSTEP = {
    "2000-01-01.xml": day(
        "2000-01-01",
        turn(1, said("de", "a", "b"), said("en", "A", "B")),
        turn(2, said("de", "c"), said("", "C"), said("en", "C")),
        turn(3, said("de", "d"), said("en", "D"), said("en", "D")),
        turn(4, said("de", "e", "f\udcf6"), said("en", "E", "F")),
        turn(5, said("de", "g"), said("en", "G")),
        turn(5, said("de", "h"), said("en", "H")),
        said("de", "nobody's"),
    ).encode("utf-8", "surrogateescape"),
    "2000-01-02.xml": day("2000-01-02", turn(1, said("de", "i")))[:90],
    "2000-01-03.xml": "<debate/>",
    "2000-01-04.xml": day("2000-01-01", turn(1, said("de", "copy"))),
    "2000-01-05.xml": day("2000-01-05", turn(1, said("de", "j"), said("en", "J"))),
}  # fmt: skip
# format: (files, faults as (edition, file, line, intent), texts of editions that remain)
CASES = {
    "pbc": (
        PBC,
        [
            ("eng-lines", "eng-lines.txt", 3, "1001002"), ("eng-lines", "eng-lines.txt", 5, "01001003"),
            ("eng-lines", "eng-lines.txt", 7, "01001004"), ("eng-lines", "eng-lines.txt", 4, "01051001"),
            ("fra-twice", "fra-twice.txt", 3, "01001001"), ("fra-twice", "fra-twice.txt", 4, "01001001"),
            ("ita-cut", "ita-cut.txt.gz", None, None), ("nld-empty", "nld-empty.txt", None, None),
            ("por-mac", "por-mac.txt", 1, None),
            ("spa-utf16", "spa-utf16.txt", None, None),
        ],
        {
            "deu-good": {"01001001": "one", "01001002": "two", "01001003": "three", "01001004": "four"},
            "eng-lines": {"01001001": "one"},
            "fra-twice": {"01001002": "deux", "01001003": "trois"},
        },
    ),
    "ces": (
        CES,
        [
            ("eng-ids", "eng-ids.xml", 4, "b.XYZ.1.1"), ("eng-ids", "eng-ids.xml", 5, "GEN.1.2"),
            ("eng-ids", "eng-ids.xml", 6, None), ("eng-ids", "eng-ids.xml", 3, "01051001"),
            ("fra-twice", "fra-twice.xml", 4, "01001001"),
            ("ita-bytes", "ita-bytes.xml", 3, "01001002"), ("ita-bytes", "ita-bytes.xml", 5, "01001003"),
            ("nld-cut", "nld-cut.xml", 2, None), ("por-entity", "por-entity.xml", 2, None),
            ("spa-nested", "spa-nested.xml", 2, "01001001"), ("spa-nested", "spa-nested.xml", 2, "01001002"),
            ("spa-nested", "spa-nested.xml", None, None),
        ],
        {
            "deu-good": {f"0100100{k}": f"v{k}" for k in range(1, 5)},
            "eng-ids": {"01001001": "one", "01001003": "three"},
            "fra-twice": {"01001002": "deux"},
            "ita-bytes": {"01001001": "uno"},
        },
    ),
    "ebible": (
        EBIBLE,
        [
            ("eng-bytes", "eng-bytes.txt", 2, "01001002"), ("eng-bytes", "eng-bytes.txt", 4, "01001004"),
            ("fra-short", "fra-short.txt", None, None), ("ita-long", "ita-long.txt", None, None),
            ("nld-empty", "nld-empty.txt", None, None), ("por-cut", "por-cut.txt.gz", None, None),
        ],
        {
            "deu-good": {"01001001": "eins", "01001004": "vier"},
            "eng-bytes": {"01001001": "one", "01001003": "three"},
        },
    ),
    "moses": (
        MOSES,
        [
            ("eng-bytes", "eng-bytes.txt", 2, "2"), ("eng-bytes", "eng-bytes.txt", 3, "3"),
            ("por-cut", "por-cut.txt.gz", None, None), ("fra-short", "fra-short.txt", None, None),
            ("ita-long", "ita-long.txt", None, None), ("nld-empty", "nld-empty.txt", None, None),
        ],
        {"deu-good": {"1": "eins", "2": "zwei", "3": "drei"}, "eng-bytes": {"1": "one"},
         "spa-good": {"1": "uno", "3": "tres"}},
    ),
    "table": (
        TABLE,
        [
            (None, "texts.csv", 9, None), (None, "texts.csv", 10, None), (None, "texts.csv", 3, None),
            (None, "texts.csv", 6, "3"), (None, "texts.csv", 11, None), ("eng", "texts.csv", 7, "4"),
            ("deu-good", "texts.csv", 8, "5"), ("notes", "texts.csv", 1, None),
        ],
        {"deu-good": {"1": "eins", "2": "zwei", "4": "vier"}, "eng": {"1": "one", "5": "five"}},
    ),
    "costep": (
        COSTEP,
        [
            (None, "2000-01-01.xml", 13, "2000-01-01.1.2"), (None, "2000-01-01.xml", 23, "2000-01-01.1.3"),
            (None, "2000-01-01.xml", 28, "2000-01-01.1.4.2"), (None, "2000-01-01.xml", 46, None),
            (None, "2000-01-01.xml", 40, "2000-01-01.1.5"), (None, "2000-01-02.xml", 3, None),
            (None, "2000-01-03.xml", 1, None), (None, "2000-01-04.xml", 2, "2000-01-01.1.1"),
        ],
        {
            "de": {"2000-01-01.1.2.1": "c", "2000-01-01.1.3.1": "d", "2000-01-01.1.4.1": "e", "2000-01-05.1.1.1": "j"},
            "en": {"2000-01-01.1.2.1": "C", "2000-01-01.1.4.1": "E", "2000-01-01.1.4.2": "F",
                   "2000-01-05.1.1.1": "J"},
        },
    ),
}  # fmt: skip


@pytest.fixture(params=CASES)
def case(request, tmp_path):
    files, faults, texts = CASES[request.param]
    for name, content in files.items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return request.param, tmp_path, faults, texts


def rows_of(table):
    names = [re.split(r"[/\\]", file)[-1] for file in table["file"]]
    columns = [[None if pd.isna(cell) else cell for cell in table[name]] for name in ("edition", "line", "intent")]
    return list(zip(columns[0], names, columns[1], columns[2], strict=True))


def test_skipped_and_listed(case):
    format, folder, faults, texts = case
    with pytest.warns(LangdiffWarning, match=rf"{len(faults)} fault\(s\) in \d+ file\(s\): what is faulty is left out"):
        multitext = read_multitext(folder, format=format, on_error="skip")
    assert rows_of(multitext.skipped) == faults
    assert multitext.skipped["fault"].str.endswith(".").all()
    assert list(multitext.editions) == list(texts)
    for edition, expected in texts.items():
        assert multitext.text(edition).to_dict() == expected  # read again, lazily
        source = pickle.loads(pickle.dumps(multitext.sources[edition]))
        assert set(expected) <= set(source.read().index)
    assert multitext.presence.to_numpy().sum() == sum(map(len, texts.values()))
    assert f"; {len(faults)} fault(s) skipped" in repr(multitext)


def test_refused_with_all_faults(case):
    format, folder, faults, _ = case
    with pytest.raises(FaultsError, match=rf"^{len(faults)} faults in \d+ file\(s\):\n") as caught:
        read_multitext(folder, format=format)
    own = [
        (fault.edition, re.split(r"[/\\]", fault.file)[-1], fault.line, fault.intent) for fault in caught.value.faults
    ]
    assert own == faults
    assert str(caught.value).count("\n") <= 11
    assert pickle.loads(pickle.dumps(caught.value)).faults == caught.value.faults


def test_a_frame():
    frame = pd.DataFrame(
        [
            ("1", "a", "x"), ("1", "b", "y"), ("2", "a", "x2"), ("2", "a", "x3"), ("2", "b", 3.5),
            (None, "a", "z"), ("3", float("nan"), "z"), ("3", "b", ["z"]), ("3", "a", None),
        ],
        columns=["intent", "edition", "text"],
    )  # fmt: skip
    with pytest.warns(LangdiffWarning, match=r"6 fault\(s\) in 1 file\(s\)[^\n]*\n  the frame, line 3: intent '2'"):
        multitext = read_frame(frame, on_error="skip")
    assert rows_of(multitext.skipped) == [
        ("a", "the frame", 3, "2"), ("a", "the frame", 4, "2"), ("b", "the frame", 5, "2"),
        ("a", "the frame", 6, None), (None, "the frame", 7, "3"), ("b", "the frame", 8, "3"),
    ]  # fmt: skip
    assert multitext.text("a").to_dict() == {"1": "x"}
    assert multitext.text("b").to_dict() == {"1": "y"}
    assert list(multitext.intents) == ["1", "2", "3"]
    with pytest.raises(FaultsError, match=r"^6 faults in 1 file") as caught:
        read_frame(frame)
    assert len(caught.value.faults) == 6


def test_the_list_goes_with_the_multitext(tmp_path):
    for name in ("deu-a", "eng-b"):
        lines = "".join(f"19119{verse:03}\ttext {verse}\n" for verse in range(1, 61))
        (tmp_path / f"{name}.txt").write_text(lines + "x\n")
    with pytest.warns(LangdiffWarning, match="2 fault"):
        multitext = read_multitext(tmp_path, on_error="skip")
    smaller = prepare_text(multitext.dropna().sel(editions=["deu-a"]), "reversible").between("19119002").map_text(str)
    assert smaller.skipped.equals(multitext.skipped)
    assert len(multitext.skipped) == 2
    assert all(len(part.skipped) == 2 for part in (split(multitext).train, split(multitext).test))


def test_when_nothing_is_left_skipping_is_refused(tmp_path):
    (tmp_path / "deu-a.txt").write_text("01001001\ta\n01001001\tb\n")
    (tmp_path / "eng-b.txt").write_text("01001001\t\n")
    refused(FaultsError, r"^3 faults in 2 file\(s\)", read_multitext, tmp_path, format="pbc", on_error="skip")


def test_a_file_with_more_than_a_thousand_faults_is_left_out(tmp_path):
    (tmp_path / "deu-a.txt").write_text(GOOD)
    (tmp_path / "eng-b.txt").write_text(GOOD + "x\n" * (MAX_FAULTS + 1))
    (tmp_path / "fra-c.txt").write_text(GOOD + "x\n" * MAX_FAULTS)
    with pytest.warns(LangdiffWarning, match=f"{2 * MAX_FAULTS + 1:,} fault"):
        multitext = read_multitext(tmp_path, on_error="skip")
    assert list(multitext.editions) == ["deu-a", "fra-c"]
    assert "more than 1,000 faults" in multitext.skipped.loc[MAX_FAULTS, "fault"]


def test_files_that_change_are_noticed(tmp_path):
    file = tmp_path / "deu-a.txt"
    file.write_text(GOOD)
    multitext = read_multitext(file, format="pbc", on_error="skip")
    file.write_text(GOOD + "01001001\tagain\n")
    refused(DataError, "1 intents catalogued before are gone, the first '01001001'", multitext.text, "deu-a")
    refused(FaultsError, "line 5: verse 01001001 is there twice", PbcText(file).read)


def test_unknown_treatment(tmp_path):
    with pytest.raises(ConfigError, match="on_error must be 'raise' or 'skip', got 'ignore'"):
        read_multitext(tmp_path, format="pbc", on_error="ignore")
    refused(ConfigError, "on_error must be", read_frame, pd.DataFrame({"a": ["x"]}), on_error="ignore")


@pytest.mark.parametrize("format", ["auto", "pbc", "moses", "ces"])
def test_a_pipe_is_refused_at_once(tmp_path, format):
    os.mkfifo(tmp_path / "deu-a.xml")
    with pytest.raises(DataError, match=r"deu-a.xml: cannot be read: it is a pipe"):
        read_multitext(tmp_path / "deu-a.xml", format=format)


def test_the_list_of_verses_is_reported_once_and_not_skipped(tmp_path):
    (tmp_path / "vref.txt").write_text("GEN 1:1\nGEN 1:2\nGEN 1:1\nGEN 1.4\nGEN 1:2000\n")
    for name in ("deu-a", "eng-b"):
        (tmp_path / f"{name}.txt").write_text("a\nb\nc\nd\ne\n")
    for on_error in ("raise", "skip"):
        with pytest.raises(FaultsError, match=r"^3 faults in 1 file\(s\):\n.*vref.txt, line 3: ") as caught:
            read_multitext(tmp_path, format="ebible", on_error=on_error)
        assert [fault.line for fault in caught.value.faults] == [3, 4, 5]

"""Control characters: refused in names by every reader, escaped where printed, dropped from pictures and pages."""

import io
import json
import re
import sys
import unicodedata
from dataclasses import replace
from xml.etree.ElementTree import fromstring

import matplotlib.pyplot as plt
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import langdiff as ld
from langdiff.base.cells import CONTROLS, drop_controls, escape_controls
from langdiff.base.checksums import seal
from langdiff.cli.output import EscapedStream, save_picture
from langdiff.errors import DataError
from langdiff.run.analysis import draw
from langdiff.run.report import write_parity_report
from tests.helpers import refused

NAMES = [
    "\x1b[31mx",
    "bell\x07",
    "right\u202eleft",
    "c1\x9b31m",
    "line\u2028",
    "tag\U000e0041",
    "half\udc80",
    "\ufeffmark",
]


def told(name, what):
    """Return the pattern of the message for a name."""
    found = next(c for c in name if CONTROLS.match(c))
    return rf"{what} name '{re.escape(escape_controls(name, ''))}' has control characters \(U\+{ord(found):04X}\)"


def test_they_are_those_of_unicode():
    """Of the version that this Python knows: what it has not heard of is "not assigned"."""
    for code in range(sys.maxunicode + 1):
        category = unicodedata.category(chr(code))
        expected = category in ("Cc", "Cf", "Cs", "Zl", "Zp") and chr(code) not in "\u200c\u200d"
        assert bool(CONTROLS.match(chr(code))) == expected or category == "Cn", hex(code)


def test_joiners_are_letters_of_names():
    for name in ("می\u200cخواهم", "क्\u200dष"):
        assert ld.Surprisals(bits=pd.DataFrame({name: [1.0], "b": [2.0]})).editions[0] == name


@pytest.mark.parametrize("name", [name for name in NAMES if "\udc80" not in name])  # of which pandas makes no names
def test_tables_refuse_them_in_names(name):
    one = pd.DataFrame({"a": [1.0, 2.0], name: [2.0, 3.0]})
    refused(DataError, told(name, "edition") + "; rename the file or give a mapping", ld.Surprisals, bits=one)
    long = {"intent": [1, 1], "edition": ["a", name], "bits": [1.0, 2.0]}
    refused(DataError, told(name, "edition"), ld.Surprisals.from_long, long)
    with pytest.raises(DataError, match=told(name, "column")):
        ld.Surprisals.from_long({**long, "edition": ["a", "b"], f"intent_{name}": ["x", "x"]})
    refused(DataError, told(name, "edition"), ld.read_frame, pd.DataFrame({"a": ["x"], name: ["y"]}))
    info = pd.DataFrame({"language": ["eng", name]}, index=["a", "b"])
    with pytest.raises(DataError, match=told(name, "language")):
        ld.read_frame(pd.DataFrame({"a": ["x"], "b": ["y"]}), edition_info=info)
    with pytest.raises(DataError, match=told(name, "column")):
        ld.read_frame(pd.DataFrame({"a": ["x"], "b": ["y"]}), edition_info=info.rename(columns={"language": name}))
    refused(DataError, told(name, "system"), ld.Outcomes, successes=pd.DataFrame({"a": [1, 0], name: [0, 1]}))
    items = pd.DataFrame({name: ["x", "y"]}, index=[0, 1])
    with pytest.raises(DataError, match=told(name, "column")):
        ld.Outcomes(successes=pd.DataFrame({"a": [1, 0], "b": [0, 1]}), items=items)
    with pytest.raises(DataError, match=told(name, "group")):
        ld.fit(ld.simulate(20, 4, seed=0).surprisals, groups={"e1": "x", "e2": "x", "e3": name, "e4": name})


@pytest.mark.parametrize("name", [name for name in NAMES if "\udc80" not in name and "\u2028" not in name])
def test_files_refuse_them(name, tmp_path):
    (tmp_path / f"{name}.txt").write_text("a b\nc d\n", encoding="utf-8")
    (tmp_path / "eng.txt").write_text("a b\nc d\n", encoding="utf-8")
    refused(DataError, told(name, "edition"), ld.read_multitext, tmp_path, format="moses")
    for ending, separator in ((".csv", ","), (".tsv", "\t")):
        path = tmp_path / f"s{ending}"
        path.write_text(
            separator.join(["intent", "a", f"x{name}"]) + "\n" + separator.join("123") + "\n", encoding="utf-8"
        )
        refused(DataError, told(f"x{name}", "column"), ld.read_surprisals, path)
    parquet.write_table(pa.table({"intent": ["1"], "a": [1.0], name: [2.0]}), tmp_path / "s.parquet")
    refused(DataError, told(name, "column"), ld.read_surprisals, tmp_path / "s.parquet")


def test_names_of_files_that_are_not_utf_8(tmp_path):
    try:
        (tmp_path / "a\udc80.txt").write_text("a b\nc d\n")
    except (OSError, UnicodeError):
        pytest.skip("this file system has no such names")
    (tmp_path / "eng.txt").write_text("a b\nc d\n")
    refused(DataError, told("a\udc80", "edition"), ld.read_multitext, tmp_path, format="moses")


def test_saved_fits_refuse_them(tmp_path):
    fits = {
        "fit.json": (ld.fit(ld.simulate(30, 3, seed=0).surprisals), ld.read, "e2", "edition"),
        "outcomes.json": (
            ld.fit_outcomes(ld.simulate_outcomes(60, 3, seed=0).outcomes),
            ld.read,
            "s2",
            "row or column",
        ),
    }
    for file, (fit, read, name, what) in fits.items():
        path = tmp_path / file
        fit.save(path)
        document = json.loads(path.read_text().replace(f'"{name}"', '"\\u001b[31m"'))
        document.pop("sha256")
        path.write_text(json.dumps(seal(document)))
        refused(DataError, rf"{file}: {what} name '\\x1b\[31m' has control characters", read, path)


@given(st.text())
def test_escaped_text_has_none_and_is_the_same_json(text):
    shown = escape_controls(text)
    assert not CONTROLS.search(shown.replace("\n", "").replace("\t", ""))
    assert CONTROLS.search(text) or shown == text
    as_json = json.dumps([text], ensure_ascii=False, indent=1)
    assert json.loads(escape_controls(as_json)) == [text]
    assert not CONTROLS.search(drop_controls(text).replace("\n", "").replace("\t", ""))


def test_what_is_printed_is_escaped():
    stream = io.StringIO()
    escaped = EscapedStream(stream)
    print("a title \x1b]0;owned\x07 \u202e\tof\ndata", file=escaped)
    assert stream.getvalue() == "a title \\x1b]0;owned\\x07 \\u202e\tof\ndata\n"
    assert escaped.rich_proxied_file is stream
    assert not escaped.isatty()


HOSTILE = "".join(NAMES[:6]) + "\x00\x08\x0b<&>\"'\x7f"


@pytest.mark.parametrize("where", ["title", "xlabel", "yticks", "legend", "text", "annotation", "xticks", "suptitle"])
def test_pictures_are_well_formed(where, tmp_path):
    """8 of 8, of the report and of the command."""

    def plot(ax):
        ax.plot([0, 1], label=HOSTILE if where == "legend" else "x")
        match where:
            case "title":
                ax.set_title(HOSTILE)
            case "xlabel":
                ax.set_xlabel(HOSTILE)
            case "yticks" | "xticks":
                getattr(ax, f"set_{where}")([0.5], [HOSTILE])
            case "legend":
                ax.legend()
            case "text":
                ax.text(0, 0, HOSTILE)
            case "annotation":
                ax.annotate(HOSTILE, (0, 0))
            case "suptitle":
                ax.figure.suptitle(HOSTILE)
        return ax

    pages = [draw("x", "caption", "ranks", plot).svg]
    save_picture(lambda: plot(plt.subplots()[1]), tmp_path / "x.svg")
    pages.append((tmp_path / "x.svg").read_bytes())
    for page in pages:
        texts = "".join(fromstring(page).itertext())
        assert "[31mx" in texts
        assert not CONTROLS.search(texts.replace("\n", ""))


def test_a_report_has_none(tmp_path):
    table = ld.simulate(40, 3, seed=0).surprisals
    parity = ld.measure_parity(table, reference="e1")
    path = write_parity_report(replace(parity, signature=HOSTILE), tmp_path / "p.html", fit=ld.fit(table))
    text = path.read_text(encoding="utf-8")
    assert not CONTROLS.search(text.replace("\n", "").replace("\t", ""))
    assert "[31mx" in text

"""Lines read as arrays, against a reading line by line."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langdiff.base import io
from langdiff.corpora.faults import Faults
from langdiff.corpora.formats.pbc import PbcText, scan_lines
from langdiff.tables.text_features import measure

SPACES = "".join(chr(code) for code in range(0x110000) if chr(code).isspace() and chr(code) != "\n")
IDS = st.one_of(
    st.sampled_from(["01001001", "01001002", "19119176", "99999000"]),
    st.sampled_from(["00001001", "1001001", "010010011", "0100100²", "٠1001001"]),
)
TEXTS = st.one_of(
    st.sampled_from(["", "BLANK", " BLANK ", "BLANKET", "BL", "\u2019quoted", "\u3042", "\x1c", "\u200b", "B"]),
    st.text(st.sampled_from(SPACES), max_size=3),
    st.text(st.characters(codec="utf-8", exclude_characters="\n\0\ufeff"), max_size=6),
)
LINES = st.one_of(
    st.builds("{}\t{}".format, IDS, TEXTS),
    IDS,
    st.sampled_from(["", " ", "# title: x", "#01001001\tx", "\t", "01001001 x", "0100100é\tx"]),
    TEXTS,
)


def line_by_line(lines):
    """Return the texts, those that are missing as None, and the lines that are faulty."""
    found, faulty = {}, []
    for number, line in enumerate(lines, 1):
        verse, _, text = line.partition("\t")
        if not re.fullmatch(r"[0-9]{8}", verse) or verse.startswith("00"):
            faulty += [number] if line.strip() and not line.startswith("#") else []
        elif verse in found:
            faulty.append(number)
            found[verse] = None
        else:
            found[verse] = None if text.strip() in ("", "BLANK") else text
    return found, sorted(faulty)


@settings(max_examples=100)
@given(
    st.lists(LINES, max_size=12), st.sampled_from([1, 7, 40, 1 << 20]), st.sampled_from(["\n", "\r\n"]), st.booleans()
)
def test_against_a_reading_line_by_line(tmp_path_factory, lines, size, end, at_the_end):
    lines = [line.replace("\r", "") for line in lines]
    file = tmp_path_factory.mktemp("pbc") / "deu-a.txt"
    content = end.join(lines) + end * at_the_end
    file.write_bytes(content.encode())
    expected, faulty = line_by_line(lines)
    faults = Faults("skip")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(io, "BLOCK", size)
        assert dict(PbcText(file).verses({}, faults)) == expected
        listed, present, _, measured = PbcText(file).numbers({}, Faults("skip"))
    assert sorted(fault.line for fault in faults.found) == faulty
    assert [f"{number:08d}" for number in listed] == list(expected)
    texts = [expected[verse] for verse in sorted(verse for verse, text in expected.items() if text is not None)]
    assert [f"{number:08d}" for number in present] == sorted(v for v, text in expected.items() if text is not None)
    np.testing.assert_array_equal(measured.hashes, measure(texts).hashes)
    np.testing.assert_array_equal(measured.lengths, measure(texts).lengths)


def test_every_white_space_is_missing():
    lines = [f"19119{number:03}\t{space}" for number, space in enumerate(SPACES, 1)]
    assert len(lines) > 20
    assert scan_lines("\n".join(lines).encode()).is_missing.all()
    assert not scan_lines("\n".join(f"{line}x" for line in lines).encode()).is_missing.any()

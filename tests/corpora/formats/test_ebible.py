"""The eBible corpus: lines named by vref.txt."""

import gzip
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langdiff.corpora import read_multitext
from langdiff.corpora.formats.ebible import EbibleText
from langdiff.errors import ConfigError, DataError
from tests.helpers import refused

read = partial(read_multitext, format="ebible")

VREF = "GEN 1:1\nGEN 1:2\nGEN 1:3\nPSA 3:0\nREV 22:21\nTOB 1:1\nENO 1:1\nDAG 1:1\n"
GERMAN = "eins\nzwei und drei\n<range>\n\nAmen \u05d0\nTobias\nHenoch\n\n"
ENGLISH = "one\n\n<range>\ntitle\nAmen\n\n\n\n"


@pytest.fixture
def corpus(tmp_path):
    for name, text in {"metadata/vref.txt": VREF, "corpus/deu-a.txt": GERMAN, "corpus/eng-b.txt": ENGLISH}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path / "corpus"


def test_texts_and_intents(corpus):
    multitext = read_multitext(corpus)
    assert multitext.text("deu-a").to_dict() == {"01001001": "eins", "66022021": "Amen \u05d0", "67001001": "Tobias"}
    assert multitext.text("eng-b").to_dict() == {"01001001": "one", "19003000": "title", "66022021": "Amen"}
    # every verse that any edition has, alone or in a range; none of the others in the list
    assert list(multitext.intents) == ["01001001", "01001002", "01001003", "19003000", "66022021", "67001001"]
    assert multitext.intent_info["book"].tolist() == ["GEN", "GEN", "GEN", "PSA", "REV", "TOB"]
    assert multitext.intent_info["chapter"].tolist() == [verse[:5] for verse in multitext.intents]
    assert multitext.edition_info["left_out"].fillna("-").tolist() == ["ENO", "-"]
    assert multitext.edition_info["language"].tolist() == ["deu", "eng"]


def test_ranges_merged(corpus):
    texts = read_multitext(corpus, ranges="merge").text("deu-a")
    assert texts["01001002"] == "zwei und drei"
    assert "01001003" not in texts
    refused(ConfigError, "ranges must be", read, corpus, ranges="keep")


def test_where_the_list_may_be(corpus, tmp_path):
    (corpus / "vref.txt").write_text(VREF)
    assert list(read(corpus).editions) == ["deu-a", "eng-b"]  # the list is not an edition
    assert len(read([corpus / "deu-a.txt"], vref=tmp_path / "metadata" / "vref.txt")) == 5
    (corpus / "vref.txt").unlink()
    (tmp_path / "metadata" / "vref.txt").unlink()
    refused(DataError, r"there is no vref.txt in the folder of the files", read, corpus)


@pytest.mark.parametrize(
    ("vref", "text", "message"),
    [
        ("GEN 1:1\n", "a\nb\n", r"vref.txt ends after line 1, .*a.txt does not"),
        ("GEN 1:1\nGEN 1:2\n", "a\n", r"a.txt ends after line 1, .*vref.txt does not"),
        ("GEN 1:1\nGEN 1.2\n", "a\nb\n", r"vref.txt, line 2: expected a verse as 'GEN 1:1', got 'GEN 1.2'"),
        ("XYZ 1:1\n", "a\n", r"vref.txt, line 1: expected a verse"),
        ("GEN 1:177\n", "a\n", r"a.txt, line 1: GEN 1 has at most 31 verses in any versification, here 177"),
        ("GEN 1:1\nGEN 1:1\n", "a\nb\n", r"vref.txt, line 2: GEN 1:1 is there twice, first in line 1"),
        ("GEN 1:1\nGEN 1:2\n", "\n<range>\n", r"a.txt: holds no verse"),
    ],
)
def test_files_that_do_not_fit(tmp_path, vref, text, message):
    (tmp_path / "vref.txt").write_text(vref)
    (tmp_path / "a.txt").write_text(text)
    refused(DataError, message, read, tmp_path)


def slow_reading(lines, ranges):
    """Return the texts by place: a range is a line of text and all lines <range> below it."""
    texts = {}
    for k, line in enumerate(lines):
        if line in ("", "<range>"):
            continue
        is_range = lines[k + 1 : k + 2] == ["<range>"]
        if not is_range or ranges == "merge":
            texts[k] = line
    return texts


@given(
    st.lists(st.sampled_from(["", "<range>", "a", "b c"]), min_size=1, max_size=9),
    st.sampled_from(["missing", "merge"]),
)
def test_ranges_against_a_plain_reading(tmp_path_factory, lines, ranges):
    folder = tmp_path_factory.mktemp("ebible")
    (folder / "vref.txt").write_text("".join(f"GEN 1:{k}\n" for k in range(len(lines))))
    (folder / "a.txt").write_text("".join(f"{line}\n" for line in lines))
    texts = EbibleText(folder / "a.txt", folder / "vref.txt", ranges).read()
    assert texts.to_dict() == {f"01001{k:03d}": text for k, text in slow_reading(lines, ranges).items()}


@pytest.mark.slow
@pytest.mark.real_data
def test_real_bibles_survive_the_format(real_data, tmp_path):
    bibles = read_multitext(real_data / "bible", editions=["heb-modern", "hye-armenianpart"])
    names = {v: f"{book} {int(v[2:5])}:{int(v[5:])}" for v, book in bibles.intent_info["book"].items()}
    (tmp_path / "vref.txt").write_text("".join(f"{name}\n" for name in names.values()))
    for edition in bibles.editions:
        lines = bibles.text(edition).reindex(bibles.intents, fill_value="")
        (tmp_path / f"{edition}.txt.gz").write_bytes(gzip.compress("".join(f"{t}\n" for t in lines).encode()))
    again = read_multitext(tmp_path)
    assert again.to_frame().equals(bibles.to_frame())
    assert again.edition_info["language"].tolist() == ["heb", "hye"]

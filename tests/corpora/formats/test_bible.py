"""What all formats of Bibles share: chapters and verses that exist, and how editions count them."""

import warnings

import numpy as np
import pandas as pd
import pytest

from langdiff.corpora import read_frame, read_multitext, write_multitext
from langdiff.corpora.formats.osis import _BOOK
from langdiff.corpora.versifications import NUMBERS, VERSIFICATIONS, tables
from langdiff.errors import FaultsError, LangdiffWarning

OSIS = {code: name for name, code in _BOOK.items()}
# a digit stands before the chapters of the numbered books; 1 Corinthians 11 to 16 exist
MISPLACED = {
    "ROM 1:1": "a", "ROM 12:1": "b", "1CO 11:1": "c", "1CO 16:20": "d", "1CO 115:58": "e", "2CO 210:1": "f",
    "3JN 31:15": "g",
}  # fmt: skip
IN_PLACE = {
    "45001001": "a", "45012001": "b", "46001001": "c", "46006020": "d", "46015058": "e", "47010001": "f",
    "64001015": "g",
}  # fmt: skip
BEYOND = {
    "ROM 11:36": "a", **{f"ROM 12:{verse}": f"b{verse}" for verse in range(19, 25)}, "EPH 3:21": "c", "EPH 3:22": "d",
    "JHN 9:1": "e", "JHN 9:91": "f", "1CO 1:1": "g", "1CO 21:1": "h", "1CO 21:2": "i",
}  # fmt: skip
KEPT = {"43009001": "e", "45011036": "a", "46001001": "g", "49003021": "c", "49003022": "d"}
FAULTS = {
    "43009091": "JHN 9 has at most 41 verses in any versification, here 91.",
    "45012022": "ROM 12 has verses to 24; no versification has more than 21: is this the text of another chapter?",
    "46021001": "1CO has 16 chapters, here 21.",
}


def parts(reference):
    book, numbers = reference.split()
    return book, *map(int, numbers.split(":"))


def pbc(folder, name, verses):
    lines = (f"{NUMBERS[b]:02}{c:03}{v:03}\t{text}\n" for (b, c, v), text in verses)
    (folder / f"{name}.txt").write_text("".join(lines))
    return folder / f"{name}.txt"


def ebible(folder, name, verses):
    (folder / "vref.txt").write_text("".join(f"{b} {c}:{v}\n" for (b, c, v), _ in verses))
    (folder / f"{name}.txt").write_text("".join(f"{text}\n" for _, text in verses))
    return folder


def ces(folder, name, verses):
    segments = "".join(f'<seg id="b.{b}.{c}.{v}" type="verse">{text}</seg>\n' for (b, c, v), text in verses)
    (folder / f"{name}.xml").write_text(f"<cesDoc><text><body>\n{segments}</body></text></cesDoc>")
    return folder / f"{name}.xml"


def osis(folder, name, verses):
    found = "".join(f'<verse osisID="{OSIS[b]}.{c}.{v}">{text}</verse>\n' for (b, c, v), text in verses)
    (folder / f"{name}.xml").write_text(f"<osis><osisText>\n{found}</osisText></osis>")
    return folder / f"{name}.xml"


def usfm(folder, name, verses):
    (folder / name).mkdir()
    for book in dict.fromkeys(b for (b, _, _), _ in verses):
        found = "".join(f"\\c {c}\n\\p\n\\v {v} {text}\n" for (b, c, v), text in verses if b == book)
        (folder / name / f"{book}.usfm").write_text(f"\\id {book}\n{found}")
    return {name: folder / name}  # a book alone would be an edition of its own


WRITERS = {"pbc": pbc, "ebible": ebible, "ces": ces, "osis": osis, "usfm": usfm}


def written(format, folder, texts, name="eng-a"):
    return WRITERS[format](folder, name, [(parts(reference), text) for reference, text in texts.items()])


@pytest.mark.parametrize("format", WRITERS)
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_the_number_of_a_book_before_its_chapters_is_taken_away(tmp_path, format, on_error):
    path = written(format, tmp_path, MISPLACED)
    says = r"^eng-a: the book's number stands before the chapter in 3 books \(1CO 11:1 is 1CO 1:1\); read without it\.$"
    with pytest.warns(LangdiffWarning, match=says) as caught:
        bible = read_multitext(path, format=format, on_error=on_error)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert bible.text("eng-a").to_dict() == IN_PLACE
    assert list(bible.intents) == list(IN_PLACE)
    assert not len(bible.skipped)


@pytest.mark.parametrize("format", WRITERS)
def test_first_corinthians_11_to_16_alone_is_left_as_it_is(tmp_path, format):
    texts = {f"1CO {chapter}:{verse}": f"{chapter} {verse}" for chapter in range(11, 17) for verse in (1, 13)}
    bible = read_multitext(written(format, tmp_path, texts), format=format)
    expected = {f"46{chapter:03}{verse:03}": f"{chapter} {verse}" for chapter in range(11, 17) for verse in (1, 13)}
    assert bible.text("eng-a").to_dict() == expected


@pytest.mark.parametrize("format", WRITERS)
def test_verses_and_chapters_that_do_not_exist(tmp_path, format):
    path = written(format, tmp_path, BEYOND)
    with pytest.raises(FaultsError) as caught:
        read_multitext(path, format=format)
    assert {fault.intent: fault.fault for fault in caught.value.faults} == FAULTS
    assert all(fault.edition == "eng-a" and fault.line for fault in caught.value.faults)
    with pytest.warns(LangdiffWarning, match=r"3 fault\(s\) in "):
        bible = read_multitext(path, format=format, on_error="skip")
    assert bible.text("eng-a").to_dict() == KEPT
    assert sorted(bible.intents) == sorted(KEPT)
    assert bible.edition_info.loc["eng-a", "extra_verses"] == 1


@pytest.mark.parametrize(
    ("chapter", "says"), [(0, "GEN has 50 chapters, here 0"), (152, "GEN has 50 chapters, here 152")]
)
@pytest.mark.parametrize("format", WRITERS)
def test_chapters_of_no_book(tmp_path, format, chapter, says):
    path = written(format, tmp_path, {"GEN 1:1": "a", f"GEN {chapter}:1": "b"})
    with pytest.raises(FaultsError, match=says):
        read_multitext(path, format=format)


def test_a_range_beyond_the_chapter_is_not_passed_over(tmp_path):
    (tmp_path / "eng-a.usfm").write_text("\\id ROM\n\\c 12\n\\p\n\\v 1 a\n\\v 20-99 b\n\\c 13\n\\p\n\\v 1 c\n")
    with pytest.raises(FaultsError, match=r"line 5: ROM 12 has verses to 99; no versification has more than 21"):
        read_multitext(tmp_path, format="usfm")


def test_lines_without_text_are_neither_faults_nor_intents(tmp_path):
    (tmp_path / "eng-a.txt").write_text("45012001\ta\n45012022\t\n45012023\t\n45012024\t\n45017001\tBLANK\n")
    bible = read_multitext(tmp_path)
    assert list(bible.intents) == ["45012001", "45012022", "45012023"]
    assert bible.edition_info.loc["eng-a", "extra_verses"] == 0


def test_a_corpus_of_days_is_not_taken_for_verses(tmp_path):
    days = pd.DataFrame({"eng": ["a", "b"]}, index=["20240131", "20240201"])
    write_multitext(read_frame(days), tmp_path)
    assert read_multitext(tmp_path, format="moses").text("eng").to_dict() == {"20240131": "a", "20240201": "b"}


# --- versification


def last_verses_of(name, folder, edition):
    """Write the last verse of every chapter of the Old Testament."""
    row = tables()[VERSIFICATIONS.index(name)]
    chapters = np.flatnonzero(row[:40_000] > 0)
    (folder / f"{edition}.txt").write_text("".join(f"{c:05}{row[c]:03}\tx\n" for c in chapters))


def test_versifications_that_differ_are_named_once(tmp_path):
    for edition, name in (("eng-a", "eng"), ("deu-b", "eng"), ("lat-c", "vul")):
        last_verses_of(name, tmp_path, edition)
    (tmp_path / "fra-nt.txt").write_text("40001001\tx\n")
    says = r"number chapters and verses in 2 ways.*\(eng: 'deu-b', 'eng-a'; vul: 'lat-c'\)"
    with pytest.warns(LangdiffWarning, match=says) as caught:
        bibles = read_multitext(tmp_path)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    found = bibles.edition_info["versification"]
    assert found.drop("fra-nt").to_dict() == {"eng-a": "eng", "deu-b": "eng", "lat-c": "vul"}
    assert pd.isna(found["fra-nt"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_multitext(tmp_path, editions=["eng-a", "deu-b", "fra-nt"])


def test_what_is_known_of_the_versification_counts_more(tmp_path):
    last_verses_of("eng", tmp_path, "eng-a")
    (tmp_path / "fra-nt.txt").write_text("40001001\tx\n")
    (tmp_path / "metadata.csv").write_text("file,versification\nfra-nt.txt,vul\n")
    found = read_multitext(tmp_path).edition_info["versification"]
    assert found.to_dict() == {"fra-nt": "vul", "eng-a": "eng"}


@pytest.mark.real_data
def test_real_bibles_have_no_verse_that_does_not_exist(real_data):
    bibles = read_multitext(real_data / "bible")
    info = bibles.edition_info
    assert len(info) == 74
    assert not info["extra_verses"].any()
    chapters = bibles.presence.groupby(bibles.intents.str[:5]).any().sum()
    whole = info["versification"][chapters > 1_100]  # of 1,189
    assert len(whole) == 42
    assert set(whole) == {"eng"}
    assert set(info["versification"].dropna()) == {"eng"}

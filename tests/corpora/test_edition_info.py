"""What callers say of editions: as a frame, or only the languages."""

import pandas as pd
import pytest

import langdiff as ld
from langdiff.corpora.edition_info import languages_of
from langdiff.errors import DataError
from tests.helpers import refused

EDITIONS = pd.Index(["Vulgate", "deu-luther"])


@pytest.fixture
def directory(tmp_path):
    for name in ("deu-luther", "Vulgate"):
        (tmp_path / f"{name}.txt").write_text("# title: from the header\n01001001\tx\n")
    (tmp_path / "metadata.csv").write_text("edition,family\nVulgate,from the file\n")
    return tmp_path


def test_a_frame_takes_the_place_of_a_file(directory):
    frame = pd.DataFrame(
        {"language": ["lat", "fra", None], "year": [405, 1900, 1912]}, index=["Vulgate", "absent", "deu-luther"]
    )
    bibles = ld.read_multitext(directory, edition_info=frame)
    assert list(bibles.editions) == ["Vulgate", "deu-luther"]  # as the frame orders them
    info = bibles.edition_info
    assert info["language"].tolist() == ["lat", "deu"]  # where the frame has none, the name gives it
    assert info["year"].tolist() == [405, 1912]
    assert info["title"].tolist() == ["from the header"] * 2
    assert "family" not in info  # of metadata.csv, which is not read
    assert "path" not in frame  # the caller's frame is as it was


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (["Vulgate", "Vulgate"], "edition_info has several rows for 'Vulgate'"),
        (["Septuagint", "x"], "edition_info: no row is about any of the 2 editions read, .* Its index must hold"),
    ],
)
def test_frames_that_do_not_fit(directory, index, message):
    refused(DataError, message, ld.read_multitext, directory, edition_info=pd.DataFrame({"year": [1, 2]}, index=index))


@pytest.mark.parametrize(
    "given",
    [
        {"Vulgate": "lat"},
        pd.Series({"Vulgate": "lat", "deu-luther": None}),
        pd.DataFrame({"language": ["lat", "fra"]}, index=["Vulgate", "absent"]),  # a frame may have more editions
    ],
)
def test_languages_of_some_editions(given):
    assert languages_of(given, EDITIONS) == {"Vulgate": "lat"}


def test_languages_that_do_not_fit():
    refused(DataError, r"edition_info: 1 unknown edition\(s\): 'absent'", languages_of, {"absent": "lat"}, EDITIONS)
    with pytest.raises(DataError, match="edition_info needs a column 'language', has 'year'"):
        languages_of(pd.DataFrame({"year": [1]}, index=["Vulgate"]), EDITIONS)
    assert languages_of(None, EDITIONS) == {}

"""Names of the folders of jobs: every file system accepts them and keeps them apart."""

import ntpath
from pathlib import PureWindowsPath
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langdiff.lm.jobs.folder import folder_name

DEVICES = ["con", "PRN", "aux", "Nul", "com1", "LPT9", "com¹", "conin$"]
FORBIDDEN = set('<>:"/\\|?*')
names = st.text(min_size=1) | st.builds(
    "{}{}".format, st.sampled_from(DEVICES), st.sampled_from(["", ".", " ", ".txt", " .txt", ".tar.gz"])
)


@given(names)
def test_the_name_is_told_from_the_folder(name):
    assert unquote(folder_name(name)) == name


@given(names, names)
def test_other_names_have_other_folders_where_case_does_not_count(one, other):
    assert (folder_name(one).casefold() == folder_name(other).casefold()) == (one == other)


@given(st.text(min_size=1))
def test_names_that_differ_in_case_have_other_folders(name):
    assert (folder_name(name).casefold() == folder_name(name.swapcase()).casefold()) == (name == name.swapcase())


@given(names)
def test_every_file_system_accepts_the_folder(name):
    folder = folder_name(name)
    assert folder.isascii()
    assert folder.isprintable()
    assert not FORBIDDEN & set(folder)
    assert folder[-1] not in ". "
    if hasattr(ntpath, "isreserved"):  # Python 3.13
        assert not ntpath.isreserved(folder)
    else:
        assert not PureWindowsPath(folder).is_reserved()


@pytest.mark.parametrize("name", ["eng", "deu-x-bible", "bpe-small-0.4", "char-small", "eng (kj, 2)"])
def test_usual_names_stay_as_they_are(name):
    assert folder_name(name) == name

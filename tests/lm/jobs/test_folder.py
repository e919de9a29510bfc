"""Names of the folders of jobs: every file system accepts them and keeps them apart."""

import json
import ntpath
from pathlib import PureWindowsPath
from types import SimpleNamespace
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langdiff.errors import DataError
from langdiff.lm import compute_surprisals, read_training_logs
from langdiff.lm.jobs.folder import LOG, folder_name, read_log
from langdiff.lm.jobs.workers import _look
from tests.lm.conftest import only

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


def test_one_row_an_epoch_of_every_model(parts, tiny_recipe, tmp_path):
    compute_surprisals(parts, lm=tiny_recipe, cache=tmp_path, progress=False, seed=0)
    compute_surprisals(parts, lm="kneser-ney-2", cache=tmp_path, progress=False)
    logs = read_training_logs(tmp_path)
    assert sorted(logs["edition"].unique()) == ["ell", "eng"]
    of_network = logs[logs["lm"] == tiny_recipe.name]
    assert of_network.groupby("edition")["epoch"].apply(list).tolist() == [[1, 2], [1, 2]]
    assert (of_network["characters_per_second"] > 0).all()
    assert logs.loc[logs["lm"] == "kneser-ney-2", "train_bits_per_unit"].isna().all()
    line = json.loads((only(tmp_path / "eng" / tiny_recipe.name) / LOG).read_text().splitlines()[0])
    first = of_network[(of_network["edition"] == "eng") & (of_network["epoch"] == 1)].iloc[0]
    assert first["dev_bits_per_character"] == line["dev_bits_per_character"]


def test_no_logs(tmp_path):
    assert read_training_logs(tmp_path / "nothing").empty


def test_a_line_that_was_cut_is_left_out(tmp_path):
    (tmp_path / LOG).write_text('{"epoch": 1}\n{"epo')
    assert read_log(tmp_path / LOG) == [{"epoch": 1}]


def test_a_damaged_line_is_named(tmp_path):
    (tmp_path / LOG).write_bytes(b'{"epoch": 1}\n\0\0\xff\n')
    with pytest.raises(DataError, match=r"log\.jsonl, line 2: damaged"):
        read_log(tmp_path / LOG)


def job(folder, edition, epochs, done, **entry):
    """Make a job of `epochs` epochs whose log says that `done` are over."""
    path = folder / edition / "0123456789ab"
    path.mkdir(parents=True)
    lines = [json.dumps({"epoch": k + 1, "seconds": 1.0, "dev_bits_per_character": 2.5} | entry) for k in range(done)]
    (path / LOG).write_text("".join(f"{line}\n" for line in lines))
    return SimpleNamespace(edition=edition, recipe=SimpleNamespace(max_epochs=epochs), folder=path.parent)


def test_progress_of_other_processes_is_read_from_their_logs(tmp_path):
    full = {"train_bits_per_unit": 3.0, "characters_per_second": 1234.0}
    jobs = [job(tmp_path, "eng", 4, 1, **full), job(tmp_path, "deu", 4, 2, **full), job(tmp_path, "ell", 4, 0)]
    done, note = _look(jobs, start=0)
    assert done == pytest.approx(0.75)
    assert note == "deu epoch 2, dev 2.500 bits/char, 1,234 char/s"

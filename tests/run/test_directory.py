import subprocess
import sys

import pytest

from langdiff.errors import OutputError
from langdiff.run.directory import own_directory


def test_second_process_is_kept_out(tmp_path):
    code = (
        "import sys; from pathlib import Path; from langdiff.run.directory import own_directory\n"
        "for line in sys.stdin:\n"
        "    try:\n"
        "        with own_directory(Path(sys.argv[1])): print('owned', flush=True)\n"
        "    except Exception as error: print(error, flush=True)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "run")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as second:

        def tried():
            second.stdin.write("try\n")
            second.stdin.flush()
            return second.stdout.readline()

        with own_directory(tmp_path / "run"):
            assert "another process is using this run directory" in tried()
        assert tried() == "owned\n"


def test_a_file_in_the_way(tmp_path):
    (tmp_path / "file").touch()
    with (
        pytest.raises(OutputError, match=r"file.*cannot be written: (Not a directory|File exists)"),
        own_directory(tmp_path / "file" / "run"),
    ):
        pass


def test_foreign_folder_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with (
        pytest.raises(OutputError, match=r"not empty, but without experiment\.json it is not a run directory"),
        own_directory(tmp_path),
    ):
        pass
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.tex"]

import os
import re
import signal
import subprocess
import sys
import warnings

import pytest
from typer.main import get_command

import langdiff as ld
from langdiff.cli import installed
from langdiff.cli.app import app


def test_errors_of_files_and_numbers_say_what_to_do(langdiff, tmp_path):
    (tmp_path / "latin.csv").write_bytes("intent,düs,eng\n1,2,3\n".encode("latin-1"))
    table = tmp_path / "s.csv"
    ld.simulate(60, 4, seed=1).surprisals.save(table)
    for arguments, told in (
        (["fit", tmp_path / "latin.csv"], "it is not UTF-8 (the byte 0xfc at 8). Save it as UTF-8"),
        (["fit", table, "--out", table / "x" / "fit.json"], f"({table} is a file, not a folder)."),
    ):
        done = langdiff(*arguments)
        assert done.code == 1
        assert told in done.err


@pytest.mark.filterwarnings("default::langdiff.errors.ConvergenceWarning")
def test_errors_and_warnings_of_commands_speak_of_options(langdiff, tmp_path):
    (tmp_path / "logs.csv").write_text("intent,a,b\n1,-5,-6\n2,-4,-7\n")
    done = langdiff("fit", tmp_path / "logs.csv")
    assert done.code == 1
    assert "pass --unit nats" in done.err
    ld.simulate(60, 4, seed=1).surprisals.save(tmp_path / "s.csv")
    done = langdiff("fit", tmp_path / "s.csv", "--max-iterations", "1").good
    assert "warning: model 2 did not converge in 1 iterations" in done.err
    assert "Raise --max-iterations (now 1)" in done.err
    done = langdiff("fit", tmp_path / "s.csv", "--n-resamples", "130", "--errors", "jackknife")
    assert "--n-resamples does not go with --errors jackknife" in done.err
    done = langdiff("fit", tmp_path / "s.csv", "--sizes", "free")
    assert "--sizes goes with --intents random: add it, or leave --sizes out." in done.err
    done = langdiff("fit", tmp_path / "s.csv", "--sizes", "free", "--intents", "fixed")
    assert "--sizes does not go with --intents fixed" in done.err
    done = langdiff("fit", tmp_path / "s.csv", "--intents", "random", "--size-formula", "book")
    assert "--size-formula needs a table with --intent-info" in done.err
    done = langdiff("fit", tmp_path / "s.csv", "--model", "3", "--laplace-scale", "-1")
    assert "--laplace-scale must be a positive number, got -1.0." in done.err
    done = langdiff("compare-models", tmp_path / "s.csv", "--n-folds", "2", "--model", "2", "--model", "2")
    assert "--model must be named once each, and at least one; twice: '2'." in done.err


@pytest.mark.parametrize("number", [499, 500])
def test_a_written_default_chooses_as_any_other_value(langdiff, tmp_path, number):
    ld.simulate(30, 3, seed=1).surprisals.save(tmp_path / "s.csv")
    done = langdiff("fit", tmp_path / "s.csv", "--n-resamples", str(number))
    assert f"errors:bootstrap-{number}" in done.out


def test_brackets_in_help_are_shown():
    """Rich takes what stands in brackets for markup if it begins with a small letter, and leaves it out."""

    def helps(command):
        yield command.help or ""
        yield from (parameter.help or "" for parameter in command.params if hasattr(parameter, "help"))
        for inner in getattr(command, "commands", {}).values():
            yield from helps(inner)

    texts = list(helps(get_command(app)))
    assert len(texts) > 100
    assert [text for text in texts if re.search(r"(?<!\\)\[[a-z]", text)] == []


@pytest.mark.parametrize("command", ["fit", "compare-models", "translationese"])
def test_clusters_that_no_table_has_are_told_without_python(langdiff, tmp_path, command):
    ld.simulate(60, 4, seed=1).surprisals.save(tmp_path / "s.csv")
    (tmp_path / "origins.csv").write_text(
        "intent,original_language\n" + "".join(f"{i},e{i % 2}\n" for i in range(1, 61))
    )
    second = ["--n-folds", "4"] if command == "compare-models" else []
    second = [tmp_path / "origins.csv", "--min-native", "1"] if command == "translationese" else second
    done = langdiff(command, tmp_path / "s.csv", *second, "--clusters", "nonsense")
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1)
    assert "--clusters nonsense: " in done.err
    assert "with_intent_info" not in done.err
    assert "Series" not in done.err
    assert "a table of intents that has it as --intent-info" in done.err


@pytest.mark.filterwarnings("default::langdiff.errors.LangdiffWarning")
def test_a_warning_is_printed_once_a_command(langdiff, monkeypatch):
    def warn():
        for text in ("the same", "the same", "another"):
            with warnings.catch_warnings():  # which makes Python forget what it has shown
                warnings.warn(text, ld.errors.LangdiffWarning, stacklevel=1)
        return []

    monkeypatch.setattr(installed, "_base", warn)
    done = langdiff("doctor")
    assert re.findall("warning: (.*)", done.err) == ["the same", "another"]
    assert langdiff("doctor").err == done.err


def test_a_reader_that_has_gone_causes_no_traceback(tmp_path):
    ld.simulate(20, 3, seed=1).surprisals.save(tmp_path / "s.csv")
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "langdiff", "fit", str(tmp_path / "s.csv")]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


def test_ctrl_c_while_the_command_is_imported_causes_no_traceback(tmp_path):
    (tmp_path / "typer.py").write_text(f"import os\nos.kill(os.getpid(), {int(signal.SIGINT)})\n")
    paths = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    command = [sys.executable, "-m", "langdiff", "--version"]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


@pytest.mark.parametrize(
    ("command", "name"), [(("train", "TABLE"), "bits.csv"), (("run", "x.toml"), "report.html"), (("demo",), "there")]
)
def test_a_folder_has_not_the_name_of_a_file(langdiff, tmp_path, command, name):
    (tmp_path / "TABLE").write_text("intent,eng,deu\n1,a,b\n")
    (tmp_path / "there").write_text("a file")
    words = [tmp_path / word if word == "TABLE" else word for word in command]
    done = langdiff(*words, "--out", tmp_path / name)
    assert done.code == 1
    assert f"{name}: a folder is written, and this is the name of a file. Give " in done.err
    assert not (tmp_path / "bits.csv").exists()

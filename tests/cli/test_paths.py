"""Options that name files to be read are checked before anything is read or trained."""

import inspect
import re
from pathlib import Path
from typing import get_args

import pytest
from typer.main import get_command

from langdiff.cli.app import app
from langdiff.cli.commands import Late
from langdiff.cli.options import existing, existing_after_name, existing_named, split_name
from langdiff.errors import DataError

WRITTEN = {"out", "plot", "report", "truth", "cache", "outcomes", "resume"}


def _parameters(command, name="langdiff"):
    """Yield command, parameter, types and the argument or option of Typer."""
    for inner in getattr(command, "commands", {}).values():
        yield from _parameters(inner, f"{name} {inner.name}")
    if isinstance(command, Late):
        for each in inspect.signature(command.function).parameters.values():
            kind, *more = get_args(each.annotation) or (None,)
            yield name, each.name, {kind, *get_args(kind)}, more


def test_every_path_that_is_read_is_checked_when_options_are():
    paths = {
        (command, name): more[0].callback
        for command, name, kinds, more in _parameters(get_command(app))
        if kinds & {Path, list[Path]} and name not in WRITTEN
    }
    assert len(paths) > 60
    assert [place for place, checked in paths.items() if checked is not existing] == []


def test_a_missing_file_is_told_before_another_is_read(langdiff, tmp_path):
    (tmp_path / "damaged.csv").write_text("neither a table,\nnor numbers\n")
    missing = tmp_path / "none.csv"
    for option in ("--edition-info", "--intent-info"):
        done = langdiff("fit", tmp_path / "damaged.csv", option, missing)
        assert (done.code, done.err) == (1, f"langdiff: {missing}: no such file or directory.\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["parity", "{damaged}", "--reference", "eng", "--tokenizer", "gpt2={missing}"],
        ["treebanks", "parse", "{damaged}", "--model", "eng={missing}", "--out", "parsed"],
        ["constructions", "evaluate", "{damaged}", "--parser", "mine={missing}"],
        ["constructions", "evaluate", "{damaged}", "--tokens", "mine={missing}"],
        ["discourse", "evaluate", "{damaged}", "mine={missing}"],
        ["discourse", "evaluate", "{damaged}", "{missing}"],
        ["parallelism", "score", "{damaged}", "{damaged}", "mine={missing}"],
        ["parallelism", "plot", "overlap", "mine={missing}", "--out", "overlap.svg"],
    ],
)
def test_so_is_a_missing_file_that_has_a_name(langdiff, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "damaged.txt").write_text("\0")
    done = langdiff(*(each.format(damaged="damaged.txt", missing="none.txt") for each in arguments))
    assert (done.code, done.out, done.err) == (1, "", "langdiff: none.txt: no such file or directory.\n")
    assert [path.name for path in tmp_path.iterdir()] == ["damaged.txt"]


def test_every_option_with_a_name_and_a_path_is_checked():
    named = {
        (command, name): more[0].callback
        for command, name, _, more in _parameters(get_command(app))
        if more and re.search(r"NAME=\]?(FILE|PATH|PREDICTION|DOCUMENTS)", more[0].metavar or "")
    }
    assert len(named) >= 8
    assert [place for place, checked in named.items() if checked is None] == []


def test_names_without_files_are_no_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert existing_after_name(["gpt2=tiktoken:gpt2", "gpt2", "gpt2="]) == ["gpt2=tiktoken:gpt2", "gpt2", "gpt2="]
    (tmp_path / "b=c").touch()
    assert existing_named(["a=b=c"]) == ["a=b=c"]
    assert existing_named(None) is None
    with pytest.raises(DataError, match=r"^b=c: read as the name 'b' and the path c, which .*: NAME=b=c\.$"):
        existing_named(["b=c"])
    with pytest.raises(DataError, match=r"^c: no such file"):
        existing_named(["x=c"])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("mine=out.conllu", ("mine", "out.conllu")),
        ("mine=runs/lr=0.1/a=b.conllu", ("mine", "runs/lr=0.1/a=b.conllu")),  # the name ends at the first
        ("out.conllu", ("", "out.conllu")),
        ("=out.conllu", ("", "=out.conllu")),
        ("mine=", ("mine", "")),
    ],
)
def test_the_name_ends_at_the_first_equals_sign(given, expected):
    assert split_name(given) == expected

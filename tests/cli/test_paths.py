"""Options that name files to be read are checked before anything is read or trained."""

import inspect
import re
from pathlib import Path
from typing import get_args

import fsspec
import pytest
from typer.main import get_command

from langdiff.base import addresses, remote
from langdiff.cli.app import app
from langdiff.cli.commands import Late
from langdiff.cli.options import existing, existing_after_name, existing_here, existing_named, split_name
from langdiff.errors import ConfigError, DataError
from tests.helpers import refused

WRITTEN = {"unmatched", "out", "plot", "report", "truth", "cache", "outcomes", "resume"}


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
    assert [place for place, checked in paths.items() if checked not in (existing, existing_here)] == []


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
        ["treebanks", "parse", "{damaged}", "--udpipe", "eng={missing}", "--out", "parsed"],
        ["constructions", "evaluate", "{damaged}", "--parser", "mine={missing}"],
        ["constructions", "evaluate", "{damaged}", "--tokens", "mine={missing}"],
        ["discourse", "evaluate", "{damaged}", "mine={missing}"],
        ["discourse", "evaluate", "{damaged}", "{missing}"],
        ["parallelism", "score", "{damaged}", "{damaged}", "mine={missing}"],
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
    assert existing_after_name(["gpt2=tiktoken:gpt2", "gpt2"]) == ["gpt2=tiktoken:gpt2", "gpt2"]
    refused(ConfigError, "no file is named; write NAME=FILE", existing_after_name, ["gpt2="])
    (tmp_path / "b=c").touch()
    assert existing_named(["a=b=c"]) == ["a=b=c"]
    assert existing_named(None) is None
    refused(DataError, r"^b=c: read as the name 'b' and the path c, which .*: NAME=b=c\.$", existing_named, ["b=c"])
    refused(DataError, r"^c: no such file", existing_named, ["x=c"])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("mine=out.conllu", ("mine", "out.conllu")),
        ("mine=runs/lr=0.1/a=b.conllu", ("mine", "runs/lr=0.1/a=b.conllu")),  # the name ends at the first
        ("out.conllu", ("", "out.conllu")),
        ("=out.conllu", ("", "=out.conllu")),
    ],
)
def test_the_name_ends_at_the_first_equals_sign(given, expected):
    assert split_name(given) == expected


def test_commands_read_addresses_but_not_runs_of_addresses(langdiff, tmp_path, monkeypatch):
    monkeypatch.setattr(remote, "user_cache_path", lambda *_, **__: tmp_path / "cache")
    monkeypatch.setattr(addresses, "PROTOCOLS", ("https", "memory"))
    store = fsspec.filesystem("memory")
    rows = "".join(f"{n},{10 + n % 7},{12 + n % 5}\n" for n in range(30))
    store.pipe({"/cli/deu-a.txt": b"01001001\teins\n", "/cli/s.csv": f"intent,eng,deu\n{rows}".encode()})
    try:
        assert "1 intents × 1 editions" in langdiff("corpora", "describe", "memory://cli/*.txt").out
        told = langdiff("fit", "memory://cli/s.csv")
        assert (told.code, "deu" in told.out) == (0, True), told.err
        (tmp_path / "e.toml").write_text('name = "e"\n[corpus]\nformat = "pbc"\npath = "memory://cli/*.txt"\n')
        refused = langdiff("run", tmp_path / "e.toml", "--out", tmp_path / "run")
        assert (refused.code, "--remote" in refused.err) == (1, True)
    finally:
        store.rm("/cli", recursive=True)
    refused = langdiff("report", "https://example.org/run")
    assert (refused.code, "must be a path of this machine" in refused.err) == (1, True)
    refused = langdiff("fit", "https://u:secret@example.org/s.csv")
    assert (refused.code, "secret" in refused.err, "password" in refused.err) == (1, False, True)

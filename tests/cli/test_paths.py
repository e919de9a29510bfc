"""Options that name files to be read are checked before anything is read or trained."""

import inspect
from pathlib import Path
from typing import get_args

from langdiff.cli.app import app
from langdiff.cli.paths import existing

WRITTEN = {"out", "plot", "report", "truth", "cache", "outcomes"}


def _parameters(group, name="langdiff"):
    """Yield command, parameter, types and the argument or option of Typer."""
    for command in group.registered_commands:
        for each in inspect.signature(command.callback).parameters.values():
            kind, *more = get_args(each.annotation) or (None,)
            yield f"{name} {command.name or command.callback.__name__}", each.name, {kind, *get_args(kind)}, more
    for inner in group.registered_groups:
        yield from _parameters(inner.typer_instance, f"{name} {inner.name or inner.typer_instance.info.name}")


def test_every_path_that_is_read_is_checked_when_options_are():
    paths = {
        (command, name): more[0].callback
        for command, name, kinds, more in _parameters(app)
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

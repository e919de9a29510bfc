"""Help fits 80 columns, with no word broken, and the list of commands fits a screen."""

import inspect
import re

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from langdiff.cli.app import app
from langdiff.cli.help import PANELS, PLUGINS, brief_of, panel_of
from tests.cli.test_help_table import commands

COMMANDS = dict(commands(get_command(app)))
BRIEF = 52  # characters of a command's line
SCREEN = 60  # lines


def helped(words):
    run = CliRunner().invoke(app, [*words.split()[1:], "--help"], env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"})
    assert run.exit_code == 0, run.output
    return run.stdout


def test_list_of_commands_fits_a_screen():
    lines = helped("langdiff").splitlines()
    assert len(lines) <= SCREEN
    assert [found[1] for line in lines if (found := re.match("── (.*?) ─+$", line))] == [
        panel for panel in PANELS if panel != PLUGINS
    ]


def test_every_command_stands_in_the_list_once():
    own = [command for words, command in COMMANDS.items() if words.count(" ") == 1 and not command.hidden]
    listed = [line.split()[0] for line in helped("langdiff").splitlines() if re.match(r"  [a-z]", line)]
    assert sorted(listed) == sorted(command.name for command in own)
    assert {panel_of(command) for command in own} == {*PANELS} - {PLUGINS}
    assert {command.name: brief_of(command) for command in own if len(brief_of(command)) > BRIEF} == {}


@pytest.mark.parametrize("words", COMMANDS)
def test_help_fits_80_columns_with_no_broken_word(words, monkeypatch):
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 80)
    shown = helped(words)
    assert [line for line in shown.splitlines() if len(line) > 80] == []
    there = set(re.sub("[│╭╮╰╯]", " ", shown).split())
    command = COMMANDS[words]
    for one in command.params:
        long = [name for name in (*one.opts, *one.secondary_opts) if name.startswith("--")]
        assert [name for name in long if not re.search(rf"(?<![\w-]){name}(?![\w-])", shown)] == []
        told = set((one.help or "").split()) if words != "langdiff" else set()
        assert told - there == set(), one.name
        if one.metavar and long:
            assert one.metavar.strip("[]<>") in shown, one.name
    if words != "langdiff":
        assert set(inspect.cleandoc(str(command.help)).replace("\b", "").split()) - there == set()

"""An option of one name has one type, one meaning and one help in all commands."""

import re
from collections import defaultdict

import pytest
from typer.main import get_command

from langdiff.cli.app import app
from langdiff.cli.commands import Late
from langdiff.cli.help import SHARED
from tests.cli.test_help_table import commands, type_of

ITS_OWN = {"--out": "what a command writes, a file by its ending or a folder of files, is its own"}


def kind_of(parameter):
    """Return the type of one value, whether it is given once or repeated; a choice is a text whose values are known."""
    told = type_of(parameter)
    return "str" if told.startswith("one of ") else told, tuple(parameter.secondary_opts)


def meaning_of(parameter):
    """Return the help without the choices that a command adds to it, and without the remark that it may be repeated."""
    text = (parameter.help or "").removesuffix(".").removesuffix(" (repeat for more)")
    return re.sub(r": [\w-]+(, [\w-]+)+(, or that of a plug-in)?$", "", text)


@pytest.fixture(scope="module")
def options():
    found = defaultdict(dict)
    for words, command in commands(get_command(app)):
        for one in command.params if isinstance(command, Late) else ():
            for name in one.opts:
                if name.startswith("--"):
                    found[name][words] = one
    return found


def differing(options, look):
    """Return the names whose options differ, with the commands by what they have."""
    found = {}
    for name, by_command in options.items():
        groups = defaultdict(list)
        for words, one in by_command.items():
            groups[look(one)].append(words)
        if len(groups) > 1:
            found[name] = dict(groups)
    return found


def test_an_option_has_one_type_in_all_commands(options):
    assert len(options) > 200
    assert differing(options, kind_of) == {}


def test_an_option_has_one_help_in_all_commands(options):
    assert sorted(differing(options, meaning_of)) == sorted(ITS_OWN)


def test_what_is_shared_is_said_in_one_place(options):
    """No command has words of its own for an option that several have, nor are there words for an option of one."""
    for name, text in SHARED.items():
        assert len(options[f"--{name}"]) > 1, name
        assert {meaning_of(one) for one in options[f"--{name}"].values()} == {text.removesuffix(".")}
    for words, command in commands(get_command(app)):
        if isinstance(command, Late):
            own = command.callback.command
            renamed = {key: own.renamed.get(key, key).split()[0].replace("_", "-") for key in own.help}
            told = {name: own.help[key] for key, name in renamed.items() if name in SHARED}  # choices may be added
            assert all(text.startswith(SHARED[name].removesuffix(".")) for name, text in told.items()), words


def test_the_comparison_sees_what_differs(options):
    """A path beside a text, another bound, and other words are each found."""
    first = {name: next(iter(found.values())) for name, found in options.items()}
    assert kind_of(first["--seed"]) == ("int min 0", ())
    assert kind_of(first["--intent-info"]) == ("path", ())
    assert kind_of(first["--table"]) == kind_of(first["--lm"]) == ("str", ())
    assert kind_of(first["--verify"]) == ("bool", ("--no-verify",))
    assert meaning_of(first["--table"]) == "Table to print"

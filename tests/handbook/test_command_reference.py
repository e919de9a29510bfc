"""The reference of commands is made of what `--help` says."""

import re
import sys

import pytest
from typer.main import get_command

from langdiff.cli.app import app
from tests.cli.test_help_table import commands as commands_of


@pytest.fixture(scope="module")
def made(root):
    sys.path.insert(0, str(root / "docs" / "extensions"))
    import commands

    yield commands.reference()
    sys.path.remove(str(root / "docs" / "extensions"))


def test_every_command_has_a_section(made):
    sections = re.findall(r"^### (.+)$", made, re.MULTILINE)
    every = [(typed.removeprefix("langdiff "), each) for typed, each in commands_of(get_command(app))]
    shown = {typed for typed, each in every if not hasattr(each, "commands") and not each.hidden}
    assert set(sections) == shown
    assert len(sections) == len(set(sections))
    assert {"fit", "table", "constructions study", "corpora check"} <= set(sections)


def test_options_and_examples_are_there(made):
    fit = made.split("### fit\n")[1].split("\n### ")[0]
    assert "<code>--clusters</code>" in fit
    assert "langdiff fit " in fit.split("```console\n")[1]


def test_what_help_says_is_text_on_the_page(made):
    assert re.findall(r"<(?!/?(?:details|summary|table|tr|td|code)>)[a-z]", made.replace("```", "")) == []


def test_the_page_has_a_place_for_it(root):
    import commands

    assert commands.MARK in (root / "docs" / commands.PAGE).read_text("utf-8")

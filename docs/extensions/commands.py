"""Writes the reference of commands into docs/command-line.md when the handbook is built, from what `--help` says."""

import html
from collections.abc import Iterator
from typing import Any

import click

PAGE = "command-line.md"
MARK = "<!-- commands -->"


def commands_of(group: Any, path: str) -> Iterator[tuple[str, click.Command]]:
    """Yield the commands of a group and of the groups in it with what is typed for each, in their order."""
    for name, command in group.commands.items():
        if not command.hidden:
            typed = f"{path} {name}"
            yield from commands_of(command, typed) if hasattr(command, "commands") else [(typed, command)]


def reference() -> str:
    """Return a section for each command: what it does, its examples and its options."""
    from typer.main import get_command

    from langdiff.cli.app import app

    return "\n".join(section(typed, command) for typed, command in commands_of(get_command(app), "langdiff"))


def section(typed: str, command: click.Command) -> str:
    """Return the section of one command; its options are folded."""
    text, _, examples = (command.help or "").partition("Example: ")
    calls = [line.strip() for line in examples.replace("Example: ", "").splitlines() if line.strip()]
    arguments = [name(one) for one in command.params if isinstance(one, click.Argument)]
    shown = [one for one in command.params if not getattr(one, "hidden", False) and "--help" not in one.opts]
    cells = [(html.escape(name(one)), html.escape(getattr(one, "help", None) or "")) for one in shown]
    rows = [f"<tr><td><code>{head}</code></td><td>{text}</td></tr>" for head, text in cells]
    block = "\n".join(calls) or " ".join([typed, *arguments])
    return (
        f"### {typed.removeprefix('langdiff ')}\n{text.strip()}\n\n```console\n{block}\n```\n\n"
        "<details><summary>Arguments and options</summary><table>" + "".join(rows) + "</table></details>\n"
    )


def name(parameter: Any) -> str:
    """Return how a parameter is written."""
    if isinstance(parameter, click.Argument):
        return parameter.human_readable_name.strip("{}[]").upper()
    return ", ".join([*parameter.opts, *parameter.secondary_opts])


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Put the sections in the place of the mark."""
    return markdown.replace(MARK, reference()) if page.file.src_uri == PAGE else markdown

"""How help is printed: under headings, in lines that fit the terminal, with no word broken."""

import textwrap
from collections.abc import Iterable
from typing import Any

import typer
from typer.core import TyperGroup

from langdiff.cli.output import line_width

PANELS = (  # headings of the list of commands, in this order
    "Start",
    "Text to bits",
    "Difficulties",
    "How sure, how much text",
    "Questions",
    "Other data",
    "Upkeep",
)
OPTIONS = ("Input", "Model", "Options", "Errors", "Output")  # headings of options that come in this order, then others
GLOBAL = {
    "-h, --help": "This list, or options of a command.",
    "--version": "The version.",
    "--debug": "Tracebacks and details.",
    "--install-completion, --show-completion": "Completion for the current shell.",
}
NAMES = 28  # columns for the name of an option; the text beside a longer name begins in the next line


def panel_of(command: Any) -> str:
    """Return the heading that a command is under; empty if there is none."""
    panel = command.rich_help_panel
    return str(getattr(panel, "value", panel) or "")


def brief_of(command: Any) -> str:
    """Return what a command does, in a line."""
    return " ".join(str(command.short_help or command.help).split("\n\n")[0].split())


def print_list(command: Any, path: str) -> None:
    """Print the help of the whole: one line per command, so that it fits a screen."""
    width = line_width()
    typer.echo(f"Usage: {path} [OPTIONS] COMMAND [ARGS]...")
    typer.echo(_filled(command.help or "", width))
    for names, told in GLOBAL.items():
        typer.echo(f"  {names:40} {told}")
    for panel in PANELS:
        _print_heading(panel, width)
        for each in command.commands.values():
            if panel_of(each) == panel and not each.hidden:
                typer.echo(f"  {typer.style(f'{each.name:15}', fg='cyan')} {brief_of(each)}")


def print_help(command: Any, context: Any) -> None:
    """Print the help of a command or of a group of commands."""
    width = line_width()
    typer.echo(_filled(f"Usage: {context.command_path} {' '.join(command.collect_usage_pieces(context))}", width, 4))
    for paragraph in (command.help or "").split("\n\n"):
        typer.echo("\n" + _filled(paragraph, width, 4 if paragraph.startswith("Example: ") else 0))
    panels: dict[str, list[tuple[str, str]]] = {}
    for one in command.get_params(context):
        record = one.get_help_record(context)
        if record is not None:
            heading = "Arguments" if one.param_type_name == "argument" else one.rich_help_panel or "Options"
            panels.setdefault(heading, []).append(record)
    if rows := [(each.name, brief_of(each)) for each in getattr(command, "commands", {}).values() if not each.hidden]:
        panels["Commands"] = rows
    order = ("Arguments", *OPTIONS, *panels)
    for heading in sorted(panels, key=order.index):
        typer.echo()
        _print_heading(heading, width)
        _print_rows(panels[heading], width)


def _print_heading(text: str, width: int) -> None:
    typer.secho(f"── {text} ".ljust(width, "─"), bold=True)


def _print_rows(rows: Iterable[tuple[str, str]], width: int) -> None:
    """Print names and descriptions in two columns."""
    for names, told in rows:
        named = " ".join(names.replace("\\[", "[").split())
        lines = _filled(told.replace("\\[", "["), width - NAMES).split("\n")
        if len(named) > NAMES - 3:
            typer.secho(f"  {named}", fg="cyan")
            named = ""
        typer.echo(typer.style(f"  {named}".ljust(NAMES), fg="cyan") + lines[0])
        for line in lines[1:]:
            typer.echo(" " * NAMES + line)


def _filled(text: str, width: int, indent: int = 0) -> str:
    """Return a text in lines of the width, none of whose words is broken."""
    return textwrap.fill(
        " ".join(text.split()),
        width,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


class Group(TyperGroup):
    """A group of commands that prints its help so."""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 as click calls it
        """Print the help."""
        print_help(self, ctx)

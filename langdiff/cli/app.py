"""The command: global options, errors in one line, exit codes 0 (done), 1 (failed), 2 (usage), 130 (Ctrl-C)."""

import functools
import logging
import os
import signal
import sys
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import langdiff
from langdiff.base.cells import escape_controls
from langdiff.base.plugins import plugins
from langdiff.base.public import nearest
from langdiff.base.saving import EndingError
from langdiff.base.types import naming_extra
from langdiff.cli.constructions import constructions
from langdiff.cli.corpora import app as texts
from langdiff.cli.corpora import corpora
from langdiff.cli.difficulties import app as difficulties
from langdiff.cli.help import PLUGINS, Group, print_list
from langdiff.cli.languages import app as languages
from langdiff.cli.outcomes import answers, logs, outcomes
from langdiff.cli.parallelism import parallelism
from langdiff.cli.runs import app as runs
from langdiff.cli.tables import app as tables
from langdiff.cli.training import app as training
from langdiff.cli.trees import discourse, treebanks
from langdiff.errors import LangdiffError

OTHERWISE = {  # what others call it, and the commands for it
    "anova": ("correlate",),
    "compare": ("compare-runs", "compare-models"),
    "contrast": ("table",),
    "emmeans": ("table",),
    "etable": ("table",),
    "families": ("table",),
    "perplexity": ("score",),
    "power": ("plan", "reliability"),
    "ppl": ("score",),
}


class _Commands(TyperGroup):
    """Turns errors that a user can act on into one line and exit code 1; other exceptions keep their traceback."""

    joined = False  # whether commands of plug-ins are among the commands

    def join_plugins(self) -> None:
        """Add the commands of plug-ins, once: looking for them takes time."""
        if not self.joined:
            self.joined = True
            for name, part in plugins("commands", tuple(self.commands)).items():
                command: Any = typer.main.get_command(part)
                command.name, command.rich_help_panel = name, PLUGINS
                self.commands[name] = command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in self.commands:
            self.join_plugins()
        if args[0] not in self.commands:
            known = [name for name, command in self.commands.items() if not command.hidden]
            see_also, near = OTHERWISE.get(args[0]), nearest(args[0], known)
            if found := see_also or ((near,) if near else ()):
                see = " or ".join(f"`langdiff {name}`" for name in found)
                ctx.fail(
                    f"No such command {args[0]!r}; " + (f"did you mean {see}?" if see_also is None else f"see {see}.")
                )
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 as click calls it
        """Print the list of commands."""
        self.join_plugins()
        print_list(self, ctx.command_path)

    def invoke(self, ctx: Any) -> Any:
        try:
            with naming_extra("this command"):
                return super().invoke(ctx)
        except LangdiffError as error:
            if ctx.obj:  # --debug
                raise
            typer.echo(escape_controls(f"langdiff: {error}"), err=True)
            if isinstance(error, EndingError):  # of an option, before any work
                raise typer.Exit(2) from None
        except KeyboardInterrupt:
            typer.echo(
                "langdiff: interrupted. Language models that were finished are kept; run the same command to go on.",
                err=True,
            )
            raise typer.Exit(128 + signal.SIGINT) from None
        except BrokenPipeError:  # the reader of our output, such as `head`, has gone
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123 so that closing it cannot fail again
        raise typer.Exit(1)


app = typer.Typer(
    cls=_Commands,
    name="langdiff",
    help="Measure how hard languages are for language models, from texts that say the same thing.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for part in (runs, texts, training, logs, difficulties, answers, tables, languages):
    app.add_typer(part)  # has no name: its commands are those of the whole
for group in (corpora, outcomes, treebanks, constructions, discourse, parallelism):
    app.add_typer(group, cls=Group, rich_help_panel=group.rich_help_panel)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"langdiff {langdiff.__version__}")
        raise typer.Exit


@app.callback()
def _globally(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks and details.")] = False,
    _: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    context.obj = debug
    logging.basicConfig(level=logging.DEBUG if debug else logging.WARNING, handlers=[_LogLines(debug)])
    logging.getLogger("langdiff.lm.automatic").setLevel(logging.INFO)  # which recipe --lm auto is, and why
    if not debug:
        show = functools.cache(_print_warning)  # each text once
        warnings.showwarning = lambda message, *_: show(str(message))


def _print_warning(message: str) -> None:
    from rich.console import Console

    Console(stderr=True).print(f"warning: {escape_controls(message)}", style="yellow", markup=False, soft_wrap=True)


class _Escaped(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return escape_controls(super().format(record))


class _LogLines(logging.Handler):
    """Shows log records on stderr by Rich, which is slow to import, when there is one."""

    def __init__(self, debug: bool) -> None:
        super().__init__()
        self._debug = debug

    @functools.cached_property
    def _handler(self) -> logging.Handler:
        from rich.console import Console
        from rich.logging import RichHandler

        handler = RichHandler(console=Console(stderr=True), show_path=self._debug)
        handler.setFormatter(_Escaped("%(message)s"))
        return handler

    def emit(self, record: logging.LogRecord) -> None:
        if hasattr(record, "section") and not self._debug:  # of a run, which tells it at its end
            return
        self._handler.emit(record)

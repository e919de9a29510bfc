"""How help is printed: under headings, in lines that fit the terminal, with no word broken."""

import textwrap
from collections.abc import Iterable
from typing import Any

import typer
from typer.core import TyperGroup

from langdiff.base.grids import line_width

PANELS = (  # headings of the list of commands, in this order
    "Start",
    "Text to bits",
    "Difficulties",
    "How sure, how much text",
    "Questions",
    "Other data",
    "Upkeep",
    PLUGINS := "Plug-ins",
)
OPTIONS = ("Input", "Model", "Options", "Errors", "Output")  # headings of options that come in this order, then others
GLOBAL = {
    "-h, --help": "This list, or options of a command.",
    "--version": "The version.",
    "--debug": "Tracebacks and details.",
    "--install-completion, --show-completion": "Completion for the current shell.",
}
SHARED = {  # what options of several commands are, by name; choices and "(repeat for more)" are added to that
    "binarization": "How trees are made binary.",
    "by": "Group results by this: a property of editions, an attribute of items, or a kind of row.",
    "chance": "Probability of a right guess: a number, an attribute of items, or none; auto: one over the choices.",
    "classes": "Classes of relations: rst-dt, gum, or a .csv or .tsv table of relation and class.",
    "clusters": "What shares errors, such as document; auto: found, where a command can; none: each by itself.",
    "contrast": "Contrast, such as 'deu - mean(fra, spa)'.",
    "corpus": "Name of the corpus.",
    "detached": "Segments that no relation joins to the tree: an error, dropped, or attached to a new root.",
    "device": "Device: auto, cpu or cuda.",
    "edition-info": "Properties of the editions (.csv, .tsv), such as family; of a corpus, one row per file.",
    "errors": "Source of standard errors.",
    "filter": "Filter of lm-evaluation-harness whose answers count.",
    "folds": "Number of folds: every intent is scored by models that are trained on the groups of the others.",
    "format": "Format of the files.",
    "formula": "Difficulties as sums of terms over properties, such as language + lm (Wilkinson's notation).",
    "icc": "Correlation of what is measured within one document.",
    "groups": "What intents that are not divided have in common: document, book, chapter or another column.",
    "intents": "Sizes of intents: a parameter each, or draws from a distribution.",
    "item": "Column, or key of documents in logs, that names the item.",
    "language": "Language, or the column or key that names it.",
    "level": "Probability of intervals, and of sets of ranks.",
    "lm": "Language model, such as char-residual or kneser-ney-6.",
    "method": "Algorithm that looks for the best solution.",
    "metric": "Metric of the scores, or the one that tells right from wrong.",
    "model": "Model of the difficulties.",
    "n-editions": "Number of editions.",
    "n-resamples": "Number of samples of the bootstrap, and of permutations where there are any.",
    "n-seeds": "Number of seeds, from each of which every language model is trained.",
    "on-error": "Faulty files, texts and documents: an error that lists all, or left out and listed.",
    "outcomes": "Table (.csv, .tsv, .parquet) to write: which items each system has, for models of outcomes.",
    "pairing": "Items of languages that do not go together: an error or a warning.",
    "pairs": "Compare all pairs.",
    "parser": "Output of a parser for the same text, such as CoNLL-U; its ending says the format.",
    "per-document": "Number of intents or items of a document.",
    "pilot": "What shows how much intents or items vary: a saved fit or replicates, a table, or logs of answers.",
    "plot": "Draw the result here (.svg, .png, .pdf).",
    "power": "Probability with which the interval of the difference is to exclude 0.",
    "progress": "Draw a progress bar on stderr.",
    "published": "Publication whose settings or scores are used, such as ASP.",
    "queries": "File of queries (.toml); by default for English.",
    "reference": "Edition of reference: its name, or where the command allows it, mean or the code of its language.",
    "restricted": "Maximize the restricted likelihood, which models 2, 2L and 2C have.",
    "seed": "Seed of everything that is random.",
    "shard": "Share k of N of the editions, the part of one machine.",
    "strict": "End with an error if anything is wrong, instead of a warning.",
    "system": "Column or key of the system, or its name.",
    "table": "Table to print.",
    "tokenize": "Split punctuation off reversibly, or take the text as it is.",
    "trust": "A kind of doubt not to raise, such as markup.",
    "unit": "Unit of logarithms in files that do not tell it, by default bits.",
    "workers": "Number of processes that train or compute side by side.",
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
        shown = [each for each in command.commands.values() if panel_of(each) == panel and not each.hidden]
        if shown:
            _print_heading(panel, width)
        for each in shown:
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
        print_rows(panels[heading], width)


def _print_heading(text: str, width: int) -> None:
    typer.secho(f"── {text} ".ljust(width, "─"), bold=True)


def print_rows(rows: Iterable[tuple[str, str]], width: int) -> None:
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

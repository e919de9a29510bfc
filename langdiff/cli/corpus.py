"""`langdiff select`, and the options that name a corpus."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from langdiff.base.types import AnyFormat, OnError, Ranges
from langdiff.cli.output import print_table, print_tables
from langdiff.cli.paths import existing

if TYPE_CHECKING:
    from langdiff.tables.multitext import Multitext


@dataclass(frozen=True)
class Corpus:
    """A corpus as a command's argument and options name it; `reads_corpus` adds these to a command."""

    corpus: Annotated[
        list[str],
        typer.Argument(
            help="Files, directories or patterns such as 'bible/*.txt.gz'.", metavar="CORPUS...", callback=existing
        ),
    ]
    format: Annotated[
        AnyFormat,
        typer.Option("--format", help="Format of the files; a table is a .csv or .tsv, a column per edition."),
    ] = "auto"
    edition_info: Annotated[
        Path | None, typer.Option("--edition-info", help="CSV file of editions, one row per file.", callback=existing)
    ] = None
    edition_column: Annotated[
        list[str] | None,
        typer.Option(
            "--edition-column", metavar="THEIRS=OURS", help="A column of that file and our name of it (repeat)."
        ),
    ] = None
    edition: Annotated[
        list[str] | None,
        typer.Option("--edition", "-e", help="Keep this edition (repeat for more); all by default."),
    ] = None
    on_error: Annotated[
        OnError,
        typer.Option("--on-error", help="Faulty verses and files: an error that lists all, or skipped and listed."),
    ] = "raise"
    decode_errors: Annotated[
        Literal["strict", "replace"],
        typer.Option("--decode-errors", help="Bytes that are not UTF-8: a fault, or U+FFFD in their place."),
    ] = "strict"
    ranges: Annotated[
        Ranges | None,
        typer.Option("--ranges", help="Verses translated together: missing, or merged into the first."),
    ] = None
    vref: Annotated[
        Path | None, typer.Option("--vref", help="List of verses of the eBible corpus.", callback=existing)
    ] = None
    original_language: Annotated[
        Path | None,
        typer.Option(
            "--original-language",
            help="For moses: file with the language each line was first said in.",
            callback=existing,
        ),
    ] = None

    def options(self) -> list[str]:
        """Return the names of the options that were given."""
        names = [each.name for each in fields(self)[1:] if getattr(self, each.name) not in (each.default, [])]
        return [f"--{name.replace('_', '-')}" for name in names]

    def open(self, *, nfc: bool = True) -> "Multitext":
        """Read the multitext, normalized to Unicode NFC or as it is."""
        from langdiff.corpora import read_multitext

        return read_multitext(
            self.corpus,
            format=self.format,
            edition_info=self.edition_info,
            edition_columns=_columns(self.edition_column or []),
            editions=self.edition,
            decode_errors=self.decode_errors,
            on_error=self.on_error,
            ranges=self.ranges,
            vref=self.vref,
            original_language=self.original_language,
            nfc=nfc,
        )


def _columns(options: list[str]) -> dict[str, str]:
    from langdiff.errors import ConfigError

    pairs = [option.rpartition("=") for option in options]  # their names of columns may have equals signs, ours none
    if bad := [option for option, (theirs, _, ours) in zip(options, pairs, strict=True) if not (theirs and ours)]:
        raise ConfigError(f"--edition-column {bad[0]}: write THEIRS=OURS, such as Filename=file.")
    for side in (0, 2):
        names = [pair[side] for pair in pairs]
        if twice := [option for option, name in zip(options, names, strict=True) if names.count(name) > 1]:
            raise ConfigError(f"--edition-column {twice[0]} and {twice[1]} name one column twice; give one of them.")
    return {theirs: ours for theirs, _, ours in pairs}


def reads_corpus(command: Callable[..., None]) -> Callable[..., None]:
    """Fill a command's parameter `corpus` from an argument and the options that every corpus has."""
    argument, *options = inspect.signature(Corpus).parameters.values()
    own = inspect.signature(command).parameters.values()
    parameters = [argument if one.name == "corpus" else one for one in own] + options

    @functools.wraps(command)
    def filled(**given: Any) -> None:
        corpus = Corpus(**{one.name: given.pop(one.name) for one in (argument, *options)})
        command(corpus=corpus, **given)

    filled.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what Typer reads
    filled.__annotations__ = {one.name: one.annotation for one in parameters}
    return filled


@reads_corpus
def select(
    corpus: Corpus,
    min_intents: Annotated[int, typer.Option(help="Keep at least this number of intents.", min=1)] = 1,
    objective: Annotated[
        Literal["cells", "languages"],
        typer.Option(help="Maximize editions × intents, or languages × intents."),
    ] = "cells",
    require: Annotated[
        list[str] | None, typer.Option(help="Edition or language that must be selected (repeat for more).")
    ] = None,
    n_editions: Annotated[int | None, typer.Option(help="Keep exactly this number of editions.")] = None,
    max_editions: Annotated[int | None, typer.Option(help="Keep at most this number of editions.")] = None,
    max_editions_per_language: Annotated[
        int | None, typer.Option(help="Keep at most this number of editions per language.")
    ] = None,
    method: Annotated[
        Literal["search", "direct"], typer.Option(help="Exact search, or one integer program (small corpora only).")
    ] = "search",
    solver: Annotated[str | None, typer.Option(help="Solver by PuLP's name, such as PULP_CBC_CMD; else HiGHS.")] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds, after which the best selection so far is taken, with its gap.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Directory for the selected texts, one file per edition.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Select the editions and intents of the largest complete multitext, with a proof that there is no larger one.

    Example: langdiff select 'bible/*.txt.gz' --edition-info bible/metadata.csv --min-intents 20000
    """
    from langdiff.corpora import write_multitext
    from langdiff.corpora.formats.bible import are_verse_ids
    from langdiff.selection import select as choose

    selection = choose(
        corpus.open(),
        min_intents=min_intents,
        objective=objective,
        require=require or (),
        n_editions=n_editions,
        max_editions=max_editions,
        max_editions_per_language=max_editions_per_language,
        method=method,
        solver=solver,
        time_limit=time_limit,
    )
    table = selection.to_frame().reset_index()
    if as_json:
        print_tables({"editions": table, "left_out": selection.multitext.left_out})
        typer.echo(selection.headline(), err=True)  # whether it is proven best
    else:
        print_table(table, selection.headline(), {})
    if out is not None:
        format: AnyFormat = "pbc" if are_verse_ids(selection.multitext.intents) else "moses"
        write_multitext(selection.multitext, out, format=format)
        typer.echo(f"Texts: {out}, to be read with --format {format}", err=True)

"""`langdiff select`, and the options that name a corpus."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from langdiff.cli.output import print_json, print_table

if TYPE_CHECKING:
    from langdiff.multitext import Multitext

Corpus = Annotated[
    list[str],
    typer.Argument(help="Files, folders or patterns such as 'bible/*.txt.gz'.", metavar="CORPUS..."),
]
FormatName = Literal["auto", "pbc", "ebible", "usfm", "osis", "ces", "moses", "costep", "mteval"]
Format = Annotated[FormatName, typer.Option("--format", help="Format of the files.")]
Metadata = Annotated[Path | None, typer.Option("--metadata", help="CSV with a row a file.")]
Editions = Annotated[
    list[str] | None,
    typer.Option("--edition", "-e", help="Keep this edition (repeat for more); all by default."),
]


def open_corpus(
    corpus: list[str], format: FormatName, metadata: Path | None, editions: list[str] | None
) -> "Multitext":
    """Read the multitext that a command's arguments name."""
    from langdiff.corpora import read_multitext

    return read_multitext(corpus, format=format, metadata=metadata, editions=editions)


def select(
    corpus: Corpus,
    min_intents: Annotated[int, typer.Option(help="Keep at least so many intents.", min=1)] = 1,
    objective: Annotated[
        Literal["cells", "languages"],
        typer.Option(help="Maximise editions × intents, or languages × intents."),
    ] = "cells",
    require: Annotated[
        list[str] | None, typer.Option(help="Edition or language that must be in (repeat for more).")
    ] = None,
    n_editions: Annotated[int | None, typer.Option(help="Keep exactly so many editions.")] = None,
    max_editions: Annotated[int | None, typer.Option(help="Keep at most so many editions.")] = None,
    max_editions_per_language: Annotated[int | None, typer.Option(help="… so many of one language.")] = None,
    method: Annotated[
        Literal["search", "direct"], typer.Option(help="Exact search, or one integer program (small corpora only).")
    ] = "search",
    solver: Annotated[str | None, typer.Option(help="Solver by PuLP's name, such as PULP_CBC_CMD; else HiGHS.")] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds; then the best so far, with its gap.")] = None,
    format: Format = "auto",
    metadata: Metadata = None,
    edition: Editions = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the selected texts here, one file an edition.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Choose the editions and intents of the largest complete multitext, provably.

    Example: langdiff select 'bible/*.txt.gz' --metadata bible/metadata.csv --min-intents 20000
    """
    from langdiff.corpora import write_multitext
    from langdiff.selection import select as choose

    selection = choose(
        open_corpus(corpus, format, metadata, edition),
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
        print_json(table)
    else:
        print_table(table, selection.headline(), {})
    if out is not None:
        write_multitext(selection.multitext, out)
        typer.echo(f"Texts: {out}", err=True)

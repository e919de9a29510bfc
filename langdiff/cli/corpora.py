"""`langdiff corpora`: list known corpora, download them, count what a corpus has and where it comes from."""

from pathlib import Path
from typing import Annotated

import typer

from langdiff.cli.corpus import Corpus, reads_corpus
from langdiff.cli.output import print_json, print_table, print_tables

corpora_app = typer.Typer(
    name="corpora", help="List known corpora, download them, count what a corpus has.", no_args_is_help=True
)
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


@corpora_app.command("list")
def list_corpora(as_json: Json = False) -> None:
    """List the corpora that are known, with their terms and how to get them.

    Example: langdiff corpora list
    """
    import pandas as pd

    from langdiff.corpora.download import SOURCES

    rows = [
        {
            "name": name,
            "corpus": source.title,
            "licence": source.licence,
            "get it": f"langdiff corpora fetch {name}" if source.url else source.how,
            "home": source.home,
        }
        for name, source in SOURCES.items()
    ]
    table = pd.DataFrame(rows)
    if as_json:
        print_json(table)
    else:
        print_table(table, f"{len(table)} corpora", {})


@corpora_app.command()
def fetch(
    name: Annotated[str, typer.Argument(help="A name that `langdiff corpora list` shows.", metavar="NAME")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Directory for corpora; by default in the user's cache.")
    ] = None,
) -> None:
    """Download a corpus, unpack it and print its directory; a download that was interrupted is resumed.

    Example: langdiff corpora fetch flores-200 --out corpora
    """
    from langdiff.corpora import fetch as download
    from langdiff.corpora.download import SOURCES

    source = SOURCES.get(name)
    if source is not None and source.url is not None:  # before the download starts
        typer.echo(f"{source.title}\nLicence: {source.licence}\nTerms in full: {source.home}", err=True)
    directory = download(name, directory=out)
    if source is not None:
        typer.echo(f"Next: {source.how}, with --format {source.format}", err=True)
    typer.echo(str(directory))


@corpora_app.command()
@reads_corpus
def describe(
    corpus: Corpus,
    by_edition: Annotated[bool, typer.Option("--by-edition", help="Count each edition separately.")] = False,
    as_json: Json = False,
) -> None:
    """Count editions, languages, intents, words and characters, which takes reading all texts.

    With --on-error skip, say what was left out and why; with --json, list every fault.

    Example: langdiff corpora describe 'bible/*.txt.gz' --by-edition
    """
    from langdiff.tables.text_sources import explain_left_out

    multitext = corpus.open()
    if by_edition:
        table = multitext.edition_sizes().reset_index()
    else:
        table = multitext.describe().rename_axis("what").reset_index()
    if as_json:
        name = "editions" if by_edition else "counts"
        print_tables({name: table, "left_out": multitext.left_out, "skipped": multitext.skipped})
    else:
        counts = ("intents", "cells", "words", "characters", "count")
        print_table(table, repr(multitext), {name: "{:,}" for name in counts if name in table})
        if len(multitext.left_out):
            typer.echo(explain_left_out(multitext.left_out))


@corpora_app.command()
@reads_corpus
def origins(
    corpus: Corpus,
    out: Annotated[Path, typer.Option("--out", "-o", help="Table to write (.csv, .tsv).")],
    as_json: Json = False,
) -> None:
    """Write the original language of every intent, for `langdiff translationese`; count what each edition has.

    Example: langdiff corpora origins wmt/*.sgm --out origins.csv
    """
    from langdiff.corpora import native_share
    from langdiff.corpora.origin import original_language_of
    from langdiff.experiments import write_origins

    multitext = corpus.open()
    write_origins(original_language_of(multitext), out)
    table = native_share(multitext).reset_index()
    if as_json:
        print_json(table)
    else:
        formats = {"intents": "{:,}", "native": "{:,}", "native_percent": "{:.1f}"}
        print_table(table, f"Original languages of {len(multitext):,} intents", formats)
    typer.echo(f"Origins: {out}", err=True)

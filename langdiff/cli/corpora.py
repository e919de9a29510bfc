"""Known corpora and their downloads; counts, selections and pictures of a corpus."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from langdiff.base.types import AnyFormat, WhenOutOfStep
from langdiff.cli.commands import LONG, OF_TABLES, READER, Call, Command, load
from langdiff.cli.options import Corpus, existing, new_folder
from langdiff.cli.output import Json, check_picture_name, echo, print_frame, print_tables, save_picture
from langdiff.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from langdiff.tables.multitext import Multitext

app = typer.Typer(rich_help_panel="Text to bits")


corpora = typer.Typer(
    name="corpora",
    help="List known corpora, download them, count what a corpus has.",
    no_args_is_help=True,
    rich_help_panel="Text to bits",
    short_help="List, download and check corpora.",
)


@Command(corpora, only={"name": ("out", "sha256"), "without name": ("as_json",)})
def fetch(
    name: Annotated[
        str | None, typer.Argument(help="Name of the corpus; without one, known corpora are listed.", metavar="NAME")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", callback=new_folder, help="Directory for corpora; by default in the user's cache."),
    ] = None,
    sha256: Annotated[str | None, typer.Option(help="Checksum of the archive, where its publisher gives none.")] = None,
    as_json: Json = False,
) -> None:
    """Download a corpus, unpack it and print its directory; without a name, list known corpora with their terms.

    A download that was interrupted is resumed.

    Example: langdiff corpora fetch

    Example: langdiff corpora fetch flores-200 --out corpora
    """
    from langdiff.corpora import fetch as download
    from langdiff.corpora.download import SOURCES

    if name is None:
        known = SOURCES.items()
        ways = [f"langdiff corpora fetch {name}" if source.url else source.how for name, source in known]
        rows = [(name, source.title, source.licence, source.home) for name, source in known]
        table = load("pandas.DataFrame")(rows, columns=["name", "corpus", "licence", "home"])
        table.insert(3, "get it", ways)
        print_frame(table, f"{len(table)} corpora", {}, as_json)
        return
    source = SOURCES.get(name)
    if source is not None and source.url is not None:  # before the download starts
        typer.echo(f"{source.title}\nLicence: {source.licence}\nTerms in full: {source.home}", err=True)
    directory = download(name, directory=out, sha256=sha256)
    if source is not None:
        typer.echo(f"Next: {source.how}, with --format {source.format}", err=True)
    typer.echo(str(directory))


@Command(corpora)
def describe(
    corpus: Corpus,
    as_json: Json = False,
) -> None:
    """Count editions, languages, intents, words and characters, which takes reading all texts.

    With --on-error skip, say what was left out and why; with --json, count each edition, too, and list every fault.

    Example: langdiff corpora describe 'bible/*.txt.gz'
    """
    from langdiff.tables.text_sources import explain_left_out

    multitext = corpus.open()
    table = multitext.describe().rename_axis("what").reset_index()
    if as_json:
        editions = multitext.edition_sizes().reset_index()
        faults = {"left_out": multitext.left_out, "skipped": multitext.skipped}
        print_tables({"counts": table, "editions": editions} | faults)
    else:
        print_frame(table, repr(multitext), {"count": "{:,}"})
        if len(multitext.left_out):
            typer.echo(explain_left_out(multitext.left_out))


@Command(
    corpora,
    "langdiff.corpora.check_alignment",
    name="check",
    reads={"multitext": Corpus},
    without=("alpha",),
)
def check(
    call: Call,
    strict: Annotated[bool, typer.Option("--strict")] = False,
    plot: Path | None = None,
    as_json: Json = False,
) -> None:
    """Find passages and texts that do not say what the other editions say there, from lengths and equal texts.

    Example: langdiff corpora check 'bible/*.txt.gz' --plot alignment.svg
    """
    check_picture_name(plot)
    found = call()
    if plot is not None:
        save_picture(found.plot, plot)
    if as_json:
        tables = {name: getattr(found, name) for name in ("passages", "repeats", "copies", "cells")}
        print_tables({"editions": found.editions.reset_index(), **tables})
    else:
        echo(found.summary())
    if strict and not found.is_clean:
        raise typer.Exit(1)


@Command(
    app,
    "langdiff.select",
    reads={"multitext": Corpus},
    kinds={"solver": str},
    brief="Select the largest complete multitext.",
)
def select(
    call: Call,
    alignment: Annotated[
        WhenOutOfStep,
        typer.Option(help="Texts out of step with other editions: tell of them, leave them out, or do not check."),
    ] = "warn",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", callback=new_folder, help="Directory for the selected texts, one file per edition."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Select the editions and intents of the largest complete multitext, with a proof that none is larger.

    Example: langdiff select 'bible/*.txt.gz' --edition-info bible/metadata.csv --min-intents 20000
    """
    from langdiff.corpora import write_multitext
    from langdiff.corpora.alignment.check import checked
    from langdiff.corpora.formats.bible import are_verse_ids

    multitext, found = checked(call.read("multitext"), alignment)
    if found is not None:
        more = " langdiff corpora check says where." if not found.is_clean else ""
        typer.echo(f"{found.headline()}{more}", err=True)
    selection = call(multitext=multitext)
    table = selection.to_frame().reset_index()
    if as_json:
        print_tables({"editions": table, "left_out": selection.multitext.left_out})
        typer.echo(selection.headline(), err=True)  # whether it is proven best
    else:
        print_frame(table, selection.headline(), {})
    if out is not None:
        format: AnyFormat = "pbc" if are_verse_ids(selection.multitext.intents) else "moses"
        write_multitext(selection.multitext, out, format=format)
        typer.echo(f"Texts: {out}, to be read with --format {format}", err=True)


@Command(
    app,
    READER,
    without=("path", "edition_info"),
    renamed=LONG,
    only={"what native": ("origins",), "what result": ("kind",), "what table": OF_TABLES},
    panel="Upkeep",
)
def plot(
    what: Annotated[
        Literal["presence", "sizes", "languages", "intents", "native", "table", "result"],
        typer.Argument(
            help="presence: which edition has which intent; sizes: words and characters per edition; "
            "languages: languages per intent; intents: intents per edition; "
            "native: intents first said in the language of the edition; "
            "table: the first intents of a table of surprisals, with the fitted model in its margins; "
            "result: a result that a command has written, such as fit.json."
        ),
    ],
    corpus: Corpus,
    out: Annotated[Path, typer.Option("--out", "-o", help="Picture (.png, .svg, .pdf).")],
    origins: Annotated[
        Path | None,
        typer.Option(
            help="For native: table (.csv, .tsv) with intents in its first column and a column original_language.",
            callback=existing,
        ),
    ] = None,
    kind: Annotated[Literal["forest", "ranks"] | None, typer.Option(help="Kind of picture of a result.")] = None,
    *,
    call: Call,
) -> None:
    """Draw a corpus, a table of surprisals, or a result.

    Example: langdiff plot presence 'bible/*.txt.gz' --out presence.png

    Example: langdiff plot table surprisals.csv --out table.svg

    Example: langdiff plot result fit.json --kind ranks --out ranks.svg
    """
    from langdiff.experiments import read_origins

    check_picture_name(out)
    if what == "table":
        save_picture(_table(corpus, call), out)
    elif what == "result":
        save_picture(_result(corpus, kind), out)
    else:
        original_language = None if origins is None else read_origins(origins)
        multitext = corpus.open()
        save_picture(lambda: _draw(what, multitext, original_language), out)
    typer.echo(f"Picture: {out}", err=True)


def _table(given: Corpus, call: Call) -> "Callable[[], Axes]":
    import langdiff as ld

    surprisals = ld.read_surprisals(_only_file(given, "table draws one table of surprisals"), **call.reading())
    fitted = ld.fit(surprisals)
    return lambda: load("langdiff.plots.plot_multitext")(surprisals, fit=fitted)


def _only_file(given: Corpus, what: str) -> str:
    if len(given.corpus) > 1:
        raise ConfigError(f"{what}, got {len(given.corpus)} files.")
    if options := given.options():
        raise ConfigError(f"{', '.join(options)}: for pictures of a corpus; a table or a result is drawn as it is.")
    return given.corpus[0]


def _result(given: Corpus, kind: str | None) -> "Callable[[], Axes]":
    import langdiff as ld

    found: Any = ld.read(_only_file(given, "result draws one result"))
    if kind is not None:
        function = {"forest": "plot_difficulties", "ranks": "plot_ranks"}[kind]
        return lambda: load(f"langdiff.plots.{function}")(found)
    if not hasattr(found, "plot"):
        raise ConfigError(f"{given.corpus[0]}: a {type(found).__name__} has no picture of its own; give --kind.")
    return lambda: found.plot()


def _draw(what: str, multitext: "Multitext", original_language: "pd.Series | None") -> Any:
    from langdiff.corpora.origin import native_share

    if what == "native":
        return load("langdiff.plots.plot_native_share")(native_share(multitext, original_language))
    functions = {"sizes": "corpus_sizes", "languages": "languages_per_intent", "intents": "intents_per_edition"}
    return load(f"langdiff.plots.plot_{functions.get(what, what)}")(multitext)

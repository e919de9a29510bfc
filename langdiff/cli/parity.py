"""`langdiff parity`: what the same content takes in every edition."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from langdiff.cli.clusters import Clusters
from langdiff.cli.corpus import Corpus, reads_corpus
from langdiff.cli.given import refuse_given
from langdiff.cli.models import Json
from langdiff.cli.output import TABLE, check_ending, check_picture_name, print_json, save_picture, write_frame
from langdiff.cli.paths import existing, existing_after_name, split_name
from langdiff.cli.units import Unit, Verify

if TYPE_CHECKING:
    from langdiff.parity.counting import TokenSource
    from langdiff.tables.multitext import Multitext
    from langdiff.tables.surprisals import Surprisals

TABLES = (".csv", ".tsv", ".parquet")


@reads_corpus
def parity(
    context: typer.Context,
    corpus: Corpus,
    reference: Annotated[str, typer.Option(help="Edition that the others are compared with.")],
    surprisals: Annotated[
        Path | None, typer.Option(help="Table of surprisals or log-probabilities beside the texts.", callback=existing)
    ] = None,
    unit: Unit = None,
    verify: Verify = True,
    tokenizer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FILE",
            callback=existing_after_name,
            help="Tokenizer: folder of Hugging Face, tokenizer.json, SentencePiece's .model, tiktoken:ENCODING, or a "
            "table of counts (repeat).",
        ),
    ] = None,
    clusters: Clusters = None,
    model: Annotated[Literal["1", "2"], typer.Option(help="Regression model of information parity.")] = "2",
    bootstrap: Annotated[int, typer.Option(help="Number of bootstrap samples for intervals.", min=0)] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.", min=0)] = 0,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the table here (.csv, .tsv).")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw a measure here (.svg, .png, .pdf).")] = None,
    measure: Annotated[str | None, typer.Option(help="Measure to draw, such as token_premium_NAME.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write a page with tables and pictures here (.html).")] = None,
    as_json: Json = False,
) -> None:
    """Compare bytes, characters, tokens and bits of the same content with those of one edition.

    CORPUS is texts, counted as they are, or one table of surprisals or log-probabilities (.csv, .tsv, .parquet). A
    table of texts is read with --format table.

    Example: langdiff parity flores200/ --reference eng_Latn --tokenizer gpt2=tokenizers/gpt2 --plot premiums.svg

    Example: langdiff parity scores.csv --unit nats --reference eng --report parity.html
    """
    import langdiff as ld
    from langdiff.errors import ConfigError

    if plot is not None:
        check_picture_name(plot)
    elif measure is not None:
        raise ConfigError("--measure names what is drawn: give --plot as well.")
    check_ending(out, TABLE, "table")
    check_ending(report, (".html",), "page")
    source, bits = _sources(corpus, surprisals, unit, verify=verify)
    if bits is None:
        reason = "is for bits, and CORPUS is texts: give --surprisals beside them, or leave it out."
        refuse_given(context, ["model", "unit"], reason)
    if not bootstrap:
        refuse_given(context, ["seed"], "is of the bootstrap, which --bootstrap 0 leaves out.")
    result = ld.measure_parity(
        source,
        reference=reference,
        surprisals=None if bits is source else bits,
        tokenizers=_tokenizers(tokenizer or []) or None,
        clusters=clusters,
        model=model,
        bootstrap=bootstrap,
        seed=seed,
    )
    table = result.to_frame().rename_axis("edition").reset_index()
    if out is not None:
        write_frame(table, out)
    if plot is not None:
        save_picture(lambda: result.plot(measure), plot)
    if report is not None:
        from langdiff.run.parity_report import write_parity_report

        write_parity_report(result, report, fit=result.fit)
        typer.echo(f"Report: {report}", err=True)
    if as_json:
        print_json(table)
    else:
        typer.echo(result.summary())


def _sources(
    corpus: Corpus, surprisals: Path | None, unit: Literal["bits", "nats", "log10"] | None, *, verify: bool
) -> "tuple[Multitext | Surprisals, Surprisals | None]":
    """Return what is compared, and the bits if there are some."""
    import langdiff as ld
    from langdiff.errors import ConfigError

    given = [Path(name) for name in corpus.corpus]
    if len(given) == 1 and given[0].suffix in TABLES and corpus.format != "table":
        if surprisals is not None:
            raise ConfigError(
                "two tables of surprisals: give texts as CORPUS (with --format table if they are a table), or leave "
                "--surprisals out."
            )
        if options := corpus.options():
            raise ConfigError(
                f"{', '.join(options)}: for texts, and {given[0]} is read as a table of surprisals. Leave it out, "
                "or for a table of texts give --format table."
            )
        table = ld.read_surprisals(given[0], unit=unit, verify=verify)
        return table, table
    bits = None if surprisals is None else ld.read_surprisals(surprisals, unit=unit, verify=verify)
    return corpus.open(nfc=False), bits


def _tokenizers(options: list[str]) -> "dict[str, TokenSource]":
    from langdiff.errors import ConfigError
    from langdiff.parity.tokenizers import read_tokenizer
    from langdiff.tables.long_tables import numbers_of, read_table_file

    found: dict[str, TokenSource] = {}
    for option in options:
        name, file = split_name(option)
        if not (name and file):
            raise ConfigError(f"--tokenizer {option}: write NAME=FILE, such as gpt2=tokenizers/gpt2.")
        if name in found:
            raise ConfigError(f"--tokenizer {option}: a second tokenizer named {name}; give each a name of its own.")
        path = Path(file)
        if path.suffix in TABLES:
            frame = read_table_file(path)
            frame = frame.set_index(frame.columns[0])
            found[name] = frame.apply(lambda column, path=path: numbers_of(column, path))
        else:
            found[name] = read_tokenizer(file)
    return found

"""`langdiff translationese`: native against translated texts."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from langdiff.cli.output import check_picture_name, print_json, save_picture


def translationese(
    surprisals: Annotated[
        Path,
        typer.Argument(help="Table (.csv, .tsv, .parquet): long, or intents × editions.", metavar="SURPRISALS"),
    ],
    origins: Annotated[
        Path | None,
        typer.Argument(
            help="Table (.csv, .tsv) with intents in its first column and a column original_language; not needed where "
            "the surprisals know it, as those of a corpus that says it.",
            metavar="[ORIGINS]",
        ),
    ] = None,
    language: Annotated[
        list[str] | None,
        typer.Option("--language", "-l", help="Divide editions of this language (repeat for more)."),
    ] = None,
    min_native: Annotated[
        int,
        typer.Option(help="Without --language: divide editions with at least this number of native intents.", min=1),
    ] = 500,
    model: Annotated[Literal["1", "2", "2L", "2C"], typer.Option(help="Regression model.")] = "2",
    restricted: Annotated[bool, typer.Option("--restricted", help="Maximize the restricted likelihood.")] = False,
    unit: Annotated[Literal["bits", "nats", "log10"], typer.Option(help="Unit of the table.")] = "bits",
    plot: Annotated[Path | None, typer.Option(help="Draw the differences here (.svg, .png, .pdf).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Estimate how much harder native texts are than translated ones, by edition.

    Example: langdiff translationese surprisals.csv origins.csv --min-native 500 --plot native.svg

    Example: langdiff train wmt/*.sgm --out models; langdiff translationese models/surprisals-char-small.csv
    """
    import langdiff as ld
    from langdiff.experiments import read_origins
    from langdiff.experiments import translationese as compare

    if plot is not None:
        check_picture_name(plot)
    result = compare(
        ld.read_surprisals(surprisals, unit=unit),
        None if origins is None else read_origins(origins),
        languages=language or None,
        min_native=min_native,
        model=model,
        restricted=restricted,
    )
    if plot is not None:
        save_picture(result.plot, plot)
    if as_json:
        print_json(result.to_frame().reset_index())
    else:
        typer.echo(result.summary())

"""`langdiff fit`: from bits to difficulties."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from langdiff._types import Model
from langdiff.cli.output import check_picture_name, print_json, save_picture

if TYPE_CHECKING:
    import pandas as pd


def fit(
    surprisals: Annotated[
        Path,
        typer.Argument(help="Table (.csv, .tsv, .parquet): long, or intents × editions.", metavar="SURPRISALS"),
    ],
    model: Annotated[Model, typer.Option(help="Regression model.")] = "2",
    restricted: Annotated[bool, typer.Option("--restricted", help="Maximize the restricted likelihood.")] = False,
    laplace_scale: Annotated[float | None, typer.Option(help="Scale b of model 3, nats.")] = None,
    editions: Annotated[
        Path | None, typer.Option(help="Table of editions (.csv, .tsv), with their names in the first column.")
    ] = None,
    groups: Annotated[
        str | None, typer.Option(help="Column of --editions: editions with the same value share a difficulty.")
    ] = None,
    bootstrap: Annotated[
        int, typer.Option(help="Number of bootstrap samples of intents for standard errors.", min=0)
    ] = 0,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.", min=0)] = 0,
    unit: Annotated[Literal["bits", "nats", "log10"], typer.Option(help="Unit of the table.")] = "bits",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Save the fit here (.json).")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the forest plot here (.svg, .png, .pdf).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Fit one difficulty per edition to a table of surprisals.

    Example: langdiff fit surprisals.csv --model 2L --plot difficulties.svg
    """
    import langdiff as ld
    from langdiff.errors import ConfigError

    if plot is not None:
        check_picture_name(plot)
    if editions is not None and groups is None:
        raise ConfigError("--editions is the table for --groups: name one of its columns, or leave it out.")
    result = ld.fit(
        ld.read_surprisals(surprisals, unit=unit),
        model=model,
        restricted=restricted,
        laplace_scale=laplace_scale,
        groups=groups,
        edition_info=None if editions is None else _read_editions(editions),
        bootstrap=bootstrap,
        seed=seed,
    )
    if out is not None:
        result.save(out)
    if plot is not None:
        save_picture(result.plot, plot)
    if as_json:
        print_json(result.to_frame().reset_index())
    else:
        typer.echo(result.summary())


def _read_editions(path: Path) -> "pd.DataFrame":
    import pandas as pd

    from langdiff._io import read_table

    header, rows = read_table(path, "\t" if path.suffix == ".tsv" else ",")
    frame = pd.DataFrame([row for _, row in rows], columns=header).replace("", None)
    return frame.set_index(header[0])

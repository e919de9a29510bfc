"""`langdiff fit`: from bits to difficulties."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from langdiff.cli.clusters import Clusters, IntentInfo, Strata
from langdiff.cli.output import FIT, check_ending, check_picture_name, print_json, save_picture, write_frame
from langdiff.cli.paths import existing
from langdiff.cli.units import Unit, Verify
from langdiff.regression.variants import Model, find_variant

if TYPE_CHECKING:
    import pandas as pd

Method = Literal["auto", "newton", "lbfgs"]
Kind = Literal["information", "sandwich", "bootstrap", "jackknife"]
Correction = Literal["CR0", "CR1", "CR2", "CR3"]


def fit(
    surprisals: Annotated[
        Path,
        typer.Argument(
            help="Table (.csv, .tsv, .parquet): long, or intents × editions.", metavar="SURPRISALS", callback=existing
        ),
    ],
    model: Annotated[Model, typer.Option(help="Regression model.")] = "2",
    method: Annotated[Method, typer.Option(help="Optimizer of models 1 and 2.")] = "auto",
    restricted: Annotated[bool, typer.Option("--restricted", help="Maximize the restricted likelihood.")] = False,
    laplace_scale: Annotated[float | None, typer.Option(help="Scale b of model 3, nats.")] = None,
    edition_info: Annotated[
        Path | None,
        typer.Option(help="Table of editions (.csv, .tsv), with their names in the first column.", callback=existing),
    ] = None,
    groups: Annotated[
        str | None, typer.Option(help="Column of --edition-info: editions with the same value share a difficulty.")
    ] = None,
    formula: Annotated[
        str | None, typer.Option(help="Difficulties as sums of terms over columns of --edition-info: language + lm.")
    ] = None,
    intents: Annotated[
        Literal["fixed", "random"], typer.Option(help="Sizes of intents: free, or drawn from a distribution.")
    ] = "fixed",
    sizes: Annotated[Literal["normal", "free"], typer.Option(help="Distribution of random sizes.")] = "normal",
    size_formula: Annotated[
        str | None, typer.Option(help="Mean of random sizes, over columns of --intent-info: book.")
    ] = None,
    dispersion: Annotated[
        str, typer.Option(help="'common', 'edition', or a column of --edition-info: who shares a dispersion.")
    ] = "common",
    errors: Annotated[
        Kind | None, typer.Option(help="Source of standard errors; otherwise the sandwich from 50 intents on.")
    ] = None,
    clusters: Clusters = None,
    strata: Strata = None,
    intent_info: IntentInfo = None,
    correction: Annotated[
        Correction | None, typer.Option(help="Small-sample correction of the sandwich [CR2].")
    ] = None,
    max_iterations: Annotated[int, typer.Option(help="Iterations after which the optimizer stops.", min=1)] = 1000,
    bootstrap: Annotated[int, typer.Option(help="Number of bootstrap samples for standard errors.", min=0)] = 0,
    seed: Annotated[int, typer.Option(help="Seed of bootstrap and jackknife.", min=0)] = 0,
    unit: Unit = None,
    verify: Verify = True,
    intent_column: Annotated[str | None, typer.Option(help="Column of the intents, in a long table.")] = None,
    edition_column: Annotated[str | None, typer.Option(help="Column of the editions.")] = None,
    bits_column: Annotated[str | None, typer.Option(help="Column of surprisals or log-probabilities.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Save the fit (.json), or its table (.csv, .tsv), here.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the forest plot here (.svg, .png, .pdf).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Fit one difficulty per edition to a table of surprisals.

    Example: langdiff fit surprisals.csv --clusters chapter --plot difficulties.svg

    Example: langdiff fit scores.csv --intent-column doc_id --edition-column lang --bits-column logprob --unit nats
    """
    import langdiff as ld
    from langdiff.errors import ConfigError

    check_ending(out, FIT)
    if plot is not None:
        check_picture_name(plot)
    if edition_info is not None and groups is None and formula is None and dispersion in ("common", "edition"):
        raise ConfigError(
            "--edition-info is the table for --groups, --formula and --dispersion: name one of its columns, or leave "
            "it out."
        )
    if intent_info is not None and clusters is None and strata is None and size_formula is None:
        raise ConfigError(
            "--intent-info is the table for --clusters, --strata and --size-formula: name one of its columns, or leave "
            "it out."
        )
    result = ld.fit(
        ld.read_surprisals(
            surprisals,
            unit=unit,
            verify=verify,
            intent=intent_column,
            edition=edition_column,
            bits=bits_column,
            intent_info=intent_info,
        ),
        model=find_variant(model, laplace_scale=laplace_scale),
        method=method,
        restricted=restricted,
        groups=groups,
        formula=formula,
        edition_info=None if edition_info is None else _read_editions(edition_info, numbers=formula is not None),
        intents=intents,
        sizes=sizes,
        size_formula=size_formula,
        dispersion=dispersion,
        errors=errors,
        clusters=clusters,
        strata=strata,
        correction=correction,
        max_iterations=max_iterations,
        bootstrap=bootstrap,
        seed=seed,
    )
    if out is not None and out.suffix == ".json":
        result.save(out)
    elif out is not None:
        write_frame(result.to_frame().reset_index(), out)
    if plot is not None:
        save_picture(result.plot, plot)
    if as_json:
        print_json(result.to_frame().reset_index())
    else:
        typer.echo(result.summary())


def _read_editions(path: Path, *, numbers: bool) -> "pd.DataFrame":
    """Return a table of editions; its columns of numbers are text unless a formula needs them."""
    import pandas as pd

    from langdiff.base.io import read_table
    from langdiff.base.numbers import exact_numbers

    header, rows = read_table(path, "\t" if path.suffix == ".tsv" else ",")
    frame = pd.DataFrame([row for _, row in rows], columns=header).replace("", None)
    frame = frame.set_index(header[0])
    if numbers:
        for column in frame:
            as_numbers = exact_numbers(frame[column])
            if as_numbers.notna().equals(frame[column].notna()):
                frame[column] = as_numbers
    return frame

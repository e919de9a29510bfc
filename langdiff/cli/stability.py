"""`langdiff stability` and `langdiff deletion`: what fewer intents and missing cells do to difficulties."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from langdiff.cli.checks import Json, Surprisals
from langdiff.cli.output import check_picture_name, print_json, save_picture
from langdiff.cli.units import Unit, Verify
from langdiff.regression.variants import PlainModel

RegressionModel = Annotated[PlainModel, typer.Option(help="Regression model.")]
Picture = Annotated[Path | None, typer.Option(help="Draw the result here (.svg, .png, .pdf).")]


def stability(
    surprisals: Surprisals,
    size: Annotated[
        list[int] | None,
        typer.Option(help="Number of intents (repeat for more); by default a 16th, 8th, quarter and half of them."),
    ] = None,
    repeats: Annotated[int, typer.Option(help="Number of random orders of the intents.", min=1)] = 20,
    model: RegressionModel = "2",
    seed: Annotated[int, typer.Option(help="Seed of the orders.", min=0)] = 0,
    unit: Unit = None,
    verify: Verify = True,
    plot: Picture = None,
    as_json: Json = False,
) -> None:
    """Fit difficulties to nested random subsets of the intents, to see how stable they are.

    Example: langdiff stability surprisals.csv --size 100 --size 400 --plot stability.svg
    """
    import langdiff as ld

    if plot is not None:
        check_picture_name(plot)
    table = ld.read_surprisals(surprisals, unit=unit, verify=verify)
    sizes = sorted(size) if size else None
    found = ld.experiments.intent_stability(table, sizes=sizes, n_repeats=repeats, model=model, seed=seed)
    if plot is not None:
        save_picture(found.plot, plot)
    if as_json:
        print_json(found.to_frame())
    else:
        typer.echo(found.summary())


def deletion(
    surprisals: Surprisals,
    rate: Annotated[
        list[float] | None, typer.Option(help="Share of cells to delete (repeat); .1, .3 and .5 by default.")
    ] = None,
    mechanism: Annotated[
        Literal["MCAR", "MAR", "MNAR", "all"], typer.Option(help="Mechanism by which cells are deleted.")
    ] = "all",
    repeats: Annotated[int, typer.Option(help="Number of deletions for each mechanism and rate.", min=1)] = 20,
    model: RegressionModel = "2",
    intents: Annotated[
        Literal["fixed", "random"], typer.Option(help="Sizes of intents: of their own, or with a distribution.")
    ] = "fixed",
    seed: Annotated[int, typer.Option(help="Seed of the deletions.", min=0)] = 0,
    unit: Unit = None,
    verify: Verify = True,
    plot: Picture = None,
    as_json: Json = False,
) -> None:
    """Delete cells of a complete table, and show how far difficulties move: by chance, by bits, by their own residuals.

    Example: langdiff deletion complete.csv --rate .2 --rate .5 --plot deletion.svg
    """
    import langdiff as ld

    if plot is not None:
        check_picture_name(plot)
    found = ld.experiments.deletion_bias(
        ld.read_surprisals(surprisals, unit=unit, verify=verify),
        rates=sorted(rate) if rate else (0.1, 0.3, 0.5),
        mechanisms=("MCAR", "MAR", "MNAR") if mechanism == "all" else mechanism,
        n_repeats=repeats,
        model=model,
        intents=intents,
        seed=seed,
    )
    if plot is not None:
        save_picture(found.plot, plot)
    if as_json:
        print_json(found.to_frame())
    else:
        typer.echo(found.summary())

"""`langdiff goodness`: how well the regression models explain intents held out of their fit."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from langdiff.cli.checks import Json, LaplaceScale, Models, Surprisals
from langdiff.cli.output import print_json, save_picture
from langdiff.cli.units import Unit, Verify
from langdiff.regression.variants import COMPARED, find_variants


def goodness(
    surprisals: Surprisals,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for results, goodness.csv and goodness.svg; goes on there.")
    ],
    model: Models = None,
    subsets: Annotated[int, typer.Option(help="Number of disjoint subsets of intents.", min=1)] = 5,
    held_out: Annotated[
        float, typer.Option(help="Share of the intents of a subset that are held out.", min=0.01, max=0.99)
    ] = 0.2,
    sizes: Annotated[
        Literal["map", "posterior", "both"],
        typer.Option(help="Sizes of held-out intents: most likely (map), or integrated out (posterior)."),
    ] = "map",
    fix: Annotated[
        Literal["difficulty+dispersion", "difficulty", "both"], typer.Option(help="What stays as fitted.")
    ] = "difficulty+dispersion",
    unrestricted: Annotated[
        bool, typer.Option("--unrestricted", help="Fit models 2, 2L and 2C by the full likelihood.")
    ] = False,
    laplace_scale: LaplaceScale = None,
    seed: Annotated[int, typer.Option(help="Seed of the subsets.", min=0)] = 0,
    unit: Unit = None,
    verify: Verify = True,
    as_json: Json = False,
) -> None:
    """Compare models by intents that were held out of their fit, over subsets of the data: Figure 6 of the paper.

    Every result is stored when it is there: after an interruption, the same command goes on.

    Example: langdiff goodness surprisals.csv --model 1 --model 2 --sizes both --fix both --out goodness
    """
    import langdiff as ld
    from langdiff.base.cells import guarded
    from langdiff.base.io import atomic_path

    models = find_variants(model or list(COMPARED), laplace_scale=laplace_scale)
    found = ld.goodness(
        ld.read_surprisals(surprisals, unit=unit, verify=verify),
        models,
        n_subsets=subsets,
        held_out=held_out,
        n=("map", "posterior") if sizes == "both" else sizes,
        fix=("difficulty+dispersion", "difficulty") if fix == "both" else fix,
        restricted=not unrestricted,
        cache=out,
        seed=seed,
    )
    with atomic_path(out / "goodness.csv") as temporary:
        guarded(found.results).to_csv(temporary, index=False)
    save_picture(found.plot, out / "goodness.svg")
    if as_json:
        print_json(found.to_frame())
    else:
        typer.echo(found.summary())

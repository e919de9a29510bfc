"""`langdiff compare` and `cross-validate`: which regression model fits, and which predicts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer

from langdiff._types import Model
from langdiff.cli.clusters import Clusters, IntentInfo
from langdiff.cli.output import print_json, print_table
from langdiff.cli.paths import existing
from langdiff.cli.units import Unit, Verify

if TYPE_CHECKING:
    import pandas as pd

USUAL: tuple[Model, ...] = ("1", "2", "2L")
SHOWN = {
    "cells": "{:,}",
    "log_likelihood": "{:,.1f}",
    "log_likelihood_bits": "{:,.1f}",
    "parameters": "{:,}",
    "sigma": "{:.4f}",
    "correlation": "{:.4f}",
    "largest_difference": "{:.4f}",
}


def _known(models: list[str] | None) -> list[str] | None:
    for name in models or ():
        if name not in get_args(Model):
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(map(repr, get_args(Model)))}.")
    return models


Surprisals = Annotated[
    Path,
    typer.Argument(
        help="Table (.csv, .tsv, .parquet): long, or intents × editions.", metavar="SURPRISALS", callback=existing
    ),
]
Models = Annotated[
    list[str] | None,  # Typer knows no list of Literals
    typer.Option(
        "--model",
        callback=_known,
        metavar="MODEL",
        help=f"Regression model, one of {', '.join(get_args(Model))} (repeat for more); by default {', '.join(USUAL)}.",
    ),
]
LaplaceScale = Annotated[float | None, typer.Option(help="Scale b of model 3, nats; needed if it is among them.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Write the table here (.csv, .tsv).")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def compare(
    surprisals: Surprisals,
    model: Models = None,
    restricted: Annotated[
        bool, typer.Option("--restricted", help="Maximize the restricted likelihood of models 2, 2L and 2C.")
    ] = False,
    laplace_scale: LaplaceScale = None,
    unit: Unit = None,
    verify: Verify = True,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Fit several models to a table of surprisals, and put the fits side by side.

    A higher likelihood does not prove a model better, since every intent has a size of its own;
    `langdiff cross-validate` is the fair comparison.

    Example: langdiff compare surprisals.csv --model 1 --model 2
    """
    import langdiff as ld
    from langdiff.regression.check.cross_validate import RESTRICTABLE

    models = _checked(model, out)
    table = ld.read_surprisals(surprisals, unit=unit, verify=verify)
    fits: dict[str, ld.DifficultyFit] = {
        name: ld.fit(
            table,
            model=name,
            restricted=restricted and name in RESTRICTABLE,
            laplace_scale=laplace_scale if name == "3" else None,
        )
        for name in models
    }
    frame = ld.compare(fits).drop(columns="model").rename_axis("model").reset_index()
    _write(frame, out)
    if as_json:
        print_json(frame)
        return
    title = f"Fits of {surprisals.name}; correlation and difference of difficulties are those with model {models[0]}"
    print_table(frame, title, SHOWN)
    for fit in fits.values():
        typer.echo(f"[{fit.signature}]")


def cross_validate(
    surprisals: Surprisals,
    model: Models = None,
    k: Annotated[int, typer.Option("--k", help="Number of folds.", min=2)] = 10,
    clusters: Clusters = None,
    intent_info: IntentInfo = None,
    unrestricted: Annotated[
        bool, typer.Option("--unrestricted", help="Fit models 2, 2L and 2C by the full likelihood.")
    ] = False,
    laplace_scale: LaplaceScale = None,
    seed: Annotated[int, typer.Option(help="Seed of the folds.", min=0)] = 0,
    unit: Unit = None,
    verify: Verify = True,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Compare models by how well they predict cells that were held out of their fit.

    With --clusters, all cells that a cluster has in an edition are held out together.

    Example: langdiff cross-validate surprisals.csv --model 1 --model 2 --k 10 --seed 1

    Example: langdiff cross-validate news.csv --clusters document --intent-info documents.csv
    """
    import langdiff as ld
    from langdiff.errors import ConfigError

    models = _checked(model, out)
    if intent_info is not None and clusters is None:
        raise ConfigError("--intent-info is the table for --clusters: name one of its columns, or leave it out.")
    found = ld.cross_validate(
        ld.read_surprisals(surprisals, unit=unit, verify=verify, intent_info=intent_info),
        models,
        k=k,
        restricted=not unrestricted,
        laplace_scale=laplace_scale,
        clusters=clusters,
        seed=seed,
    )
    frame = found.to_frame().reset_index()
    _write(frame, out)
    if as_json:
        print_json(frame)
    else:
        typer.echo(found.summary())


def _checked(models: list[str] | None, out: Path | None) -> list[Model]:
    """Return the models to fit; refuse, before anything is read, what could not be done at the end."""
    from langdiff.errors import ConfigError, listing

    chosen = cast(list[Model], list(models or USUAL))  # `_known` saw to it
    twice = [name for name in dict.fromkeys(chosen) if chosen.count(name) > 1]
    if twice:
        raise ConfigError(f"--model: {listing(twice)} named twice. Name each model once.")
    if out is not None and out.suffix not in (".csv", ".tsv"):
        raise ConfigError(f"{out}: unknown kind of table {out.suffix!r}; use .csv or .tsv.")
    return chosen


def _write(frame: "pd.DataFrame", out: Path | None) -> None:
    from langdiff._csv_cells import guarded
    from langdiff._io import atomic_path

    if out is not None:
        with atomic_path(out) as temporary:
            guarded(frame).to_csv(temporary, index=False, sep="\t" if out.suffix == ".tsv" else ",")

"""`langdiff compare` and `cross-validate`: which regression model fits, and which predicts."""

from pathlib import Path
from typing import Annotated, cast, get_args

import typer

from langdiff.cli.clusters import Clusters, IntentInfo
from langdiff.cli.output import TABLE, check_ending, print_json, print_table, write_frame
from langdiff.cli.paths import existing
from langdiff.cli.units import Unit, Verify
from langdiff.regression.variants import COMPARED, Model, find_variants, names_with

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
        help=f"Regression model, one of {', '.join(get_args(Model))} (repeat for more); "
        f"by default {', '.join(COMPARED)}.",
    ),
]
LaplaceScale = Annotated[float | None, typer.Option(help="Scale b of model 3, nats; needed if it is among them.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Write the table here (.csv, .tsv).")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def compare(
    surprisals: Surprisals,
    model: Models = None,
    restricted: Annotated[
        bool,
        typer.Option("--restricted", help="Maximize the restricted likelihood, which models 2, 2L and 2C have."),
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

    Restricted and unrestricted likelihoods do not compare: with --restricted the models are 2 and 2L by default.

    Example: langdiff compare surprisals.csv --model 1 --model 2
    """
    import langdiff as ld
    from langdiff.errors import ConfigError, listing

    models = find_variants(_checked(model, out), laplace_scale=laplace_scale)
    others = [variant.name for variant in models if not variant.restrictable]
    if restricted and model is None:
        models = tuple(variant for variant in models if variant.restrictable)
    elif restricted and others:
        raise ConfigError(
            f"--restricted: no restricted likelihood of model(s) {listing(others)}, and restricted and unrestricted "
            f"ones do not compare. Leave --restricted out, or name models of {names_with('restrictable')}."
        )
    table = ld.read_surprisals(surprisals, unit=unit, verify=verify)
    fits: dict[str, ld.DifficultyFit] = {
        variant.name: ld.fit(table, model=variant, restricted=restricted) for variant in models
    }
    frame = ld.compare(fits).drop(columns="model").rename_axis("model").reset_index()
    if out is not None:
        write_frame(frame, out)
    if as_json:
        print_json(frame)
        return
    title = (
        f"Fits of {surprisals.name}; correlation and difference of difficulties are those with model {models[0].name}"
    )
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

    models = find_variants(_checked(model, out), laplace_scale=laplace_scale)
    if intent_info is not None and clusters is None:
        raise ConfigError("--intent-info is the table for --clusters: name one of its columns, or leave it out.")
    found = ld.cross_validate(
        ld.read_surprisals(surprisals, unit=unit, verify=verify, intent_info=intent_info),
        models,
        n_folds=k,
        restricted=not unrestricted,
        clusters=clusters,
        seed=seed,
    )
    frame = found.to_frame().reset_index()
    if out is not None:
        write_frame(frame, out)
    if as_json:
        print_json(frame)
    else:
        typer.echo(found.summary())


def _checked(models: list[str] | None, out: Path | None) -> list[Model]:
    """Return the models to fit; refuse, before anything is read, what could not be done at the end."""
    from langdiff.errors import ConfigError, listing

    chosen = cast(list[Model], list(models or COMPARED))  # `_known` saw to it
    twice = [name for name in dict.fromkeys(chosen) if chosen.count(name) > 1]
    if twice:
        raise ConfigError(f"--model: {listing(twice)} named twice. Name each model once.")
    check_ending(out, TABLE, "table")
    return chosen

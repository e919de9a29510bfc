"""From bits to difficulties: fits, comparisons of models, what fewer or missing data do, samples of the posterior."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from langdiff.base.grids import Shown
from langdiff.base.saving import EndingError
from langdiff.cli.commands import LONG, READER, Call, Command, load, show
from langdiff.cli.options import is_given, new_folder, read_attributes, refuse_given
from langdiff.cli.output import (
    TABLE,
    Json,
    Out,
    Output,
    check_ending,
    echo,
    print_frame,
    print_json,
    save_picture,
    write_frame,
)
from langdiff.errors import ConfigError, listing
from langdiff.regression.variants import Model

app = typer.Typer(rich_help_panel="Difficulties")
SURPRISALS = {"surprisals": READER}
MODEL = {"model": "langdiff.regression.variants.find_variant"}
SCALE = {"laplace_scale": "Scale b of model 3, nats."}
MODELS = {"models": "langdiff.regression.variants.find_variants"}
COMPARED = {
    "cells": "{:,}",
    "log_likelihood": "{:,.1f}",
    "log_likelihood_bits": "{:,.1f}",
    "parameters": "{:,}",
    "sigma": "{:.4f}",
    "correlation": "{:.4f}",
    "largest_difference": "{:.4f}",
}
USUAL_TARGET = 0.95
COLUMNS = ("clusters", "strata", "size_formula")  # that a table of intents may have


@Command(
    app,
    "langdiff.fit",
    reads={
        **SURPRISALS,
        **MODEL,
        # columns of numbers are text unless a formula needs them
        "edition_info": lambda path, call: read_attributes(path, numbers=call.given["formula"] is not None),
    },
    kinds={"surprisals": list[Path], "model": str},
    help={"model": f"Model of the difficulties: {', '.join(get_args(Model))}, or that of a plug-in."},
    renamed={**LONG, "surprisals": "surprisals", "intents.formula": "size_formula", "groups": "edition-groups"},
    needs={"edition_info": ("groups", "formula", "dispersion", "by"), "intent_info": COLUMNS},
    only={"without as_json": ("by", "contrast", "details")},
    brief="Estimate how difficult each edition is.",
)
def fit(
    context: typer.Context,
    call: Call,
    output: Output,
    by: str | None = None,
    contrast: list[str] | None = None,
    details: Annotated[
        bool, typer.Option("--details", help="Print iterations, likelihood and the audit, too.")
    ] = False,
) -> None:
    """Estimate how difficult each edition is, and print the table of difficulties with its sentences.

    Several files are tables of several language models, which are stacked; langdiff table A.csv B.csv fits each.

    Example: langdiff fit surprisals.csv --clusters chapter --plot difficulties.svg

    Example: langdiff fit llama.csv gpt2.csv --out both.json

    Example: langdiff fit scores.csv --intent-column doc_id --edition-column lang --bits-column logprob --unit nats
    """
    import langdiff as ld
    from langdiff.base.result import Printed

    output.check(call.offers)
    table = call.read("surprisals")
    if isinstance(table, dict) or table.columns is not None:
        refuse_given(context, ["by", "contrast"], "is for one language model: leave it out, or use langdiff table.")
    found = call(surprisals=table)
    shown = found.tables()
    first = None if found.columns is not None else ld.table(found, by=by, contrasts=contrast or None)
    lines = found._lines() if first is None else first._lines()
    if first is not None:
        shown = [*first.tables(), *(one for one in shown if one.name in ("terms", "details"))]
    if not details:
        audit = () if found.audit is None else (found.audit.words,)
        shown = [one if one.name != "details" else Shown(notes=audit) for one in shown]
    compared = None if first is None or not contrast else first.contrasts
    output.show(found, shown=Printed(of=found, lines=tuple(lines), shown=tuple(shown), contrasts=compared))


@Command(
    app,
    "langdiff.cross_validate",
    name="compare-models",
    reads={**SURPRISALS, **MODELS},
    help=SCALE,
    renamed=LONG,
    needs={"intent_info": COLUMNS},
    only={"n_folds": ("clusters", "seed", "intent_info")},
    without=("n_folds", "restricted", "progress", "edition_info"),
    brief="Compare models by their fits, or held-out cells.",
)
def compare_models(
    context: typer.Context,
    call: Call,
    restricted: Annotated[bool | None, typer.Option("--restricted/--no-restricted")] = None,
    n_folds: Annotated[
        int | None, typer.Option(min=2, help="Cross-validate: score models by cells held out in so many folds.")
    ] = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Fit several models to a table of surprisals, and put the fits side by side; or cross-validate them.

    A higher likelihood does not prove a model better, since every intent has a size of its own; --n-folds is the fair
    comparison, in which all cells that a cluster has in an edition are held out together.

    Fits are restricted with --restricted, and their models are then 2 and 2L by default; cross-validation restricts
    those that can be unless told otherwise.

    Example: langdiff compare-models surprisals.csv --model 1 --model 2

    Example: langdiff compare-models news.csv --n-folds 10 --clusters document --intent-info documents.csv
    """
    import langdiff as ld
    from langdiff.regression.variants import names_with

    check_ending(out, TABLE, "table")
    if n_folds is not None:
        how = {} if restricted is None else {"restricted": restricted}
        Output(out=out, as_json=as_json).show(call(n_folds=n_folds, **how))
        return
    named = call.given["models"]
    if twice := [name for name in dict.fromkeys(named) if named.count(name) > 1]:
        raise ConfigError(f"--model: {listing(twice)} named twice. Name each model once.")
    models = call.read("models")
    others = [variant.name for variant in models if not variant.restrictable]
    if restricted and not is_given(context, "models"):
        models = [variant for variant in models if variant.restrictable]
    elif restricted and others:
        raise ConfigError(
            f"--restricted: no restricted likelihood of model(s) {listing(others)}. Leave --restricted out, or name "
            f"models of {names_with('restrictable')}."
        )
    table = call.read("surprisals")
    fits = {
        variant.name: ld.fit(table, model=variant, restricted=bool(restricted), clusters=None, dispersion="common")
        for variant in models
    }
    frame = ld.compare(fits).drop(columns="model").rename_axis("model").reset_index()
    if out is not None:
        write_frame(frame, out)
    name = call.given["surprisals"].name
    title = f"Fits of {name}; correlation and difference of difficulties are those with model {models[0].name}"
    print_frame(frame, title, COMPARED, as_json)
    for fit in () if as_json else fits.values():
        echo(f"[{fit.signature}]")


@Command(
    app,
    "langdiff.goodness",
    reads={**SURPRISALS, **MODELS},
    help=SCALE,
    renamed={**LONG, "n": "held-out-sizes"},
    without=("cache", "held_out", "edition_info"),
    brief="Compare models by held-out intents, over subsets.",
)
def goodness(
    call: Call,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", callback=new_folder, help="Folder for results, goodness.csv and goodness.svg; goes on there."
        ),
    ],
    as_json: Json = False,
) -> None:
    """Compare models by intents that were held out of their fit, over subsets of the data: Figure 6 of the paper.

    Every result is stored when it is there: after an interruption, the same command goes on.

    Example: langdiff goodness surprisals.csv --model 1 --model 2 --held-out-sizes posterior --out goodness
    """
    found = call(cache=out)
    write_frame(found.results, out / "goodness.csv")
    save_picture(found.plot, out / "goodness.svg")
    Output(as_json=as_json).show(found)


def _by_model(call: Call, name: str) -> dict[str, Any]:
    """Read tables by the names of their files; one of several language models, by their names."""
    from langdiff.tables.stack import unstack

    read = call.read(name)
    tables = read if isinstance(read, dict) else {call.given[name][0].stem: read}
    found: dict[str, Any] = {}
    for stem, table in tables.items():
        found |= {stem: table} if table.columns is None else unstack(table)
    return found


@Command(
    app,
    "langdiff.generalizability",
    name="reliability",
    reads=SURPRISALS,
    kinds={"surprisals": list[Path]},
    renamed={**LONG, "surprisals": "surprisals"},
    without=("facets", "edition_info"),
    panel="How sure, how much text",
    brief="Estimate variances, and how many intents it takes.",
)
def reliability(
    call: Call,
    output: Output,
    target: Annotated[
        float, typer.Option(help="Reliability G that the number of intents is asked for.")
    ] = USUAL_TARGET,
) -> None:
    """Estimate how much ln bits vary by edition, intent and language model, and how many intents are needed.

    Example: langdiff reliability models/surprisals-char-residual.csv --target 0.95
    """
    found = call(surprisals=_by_model(call, "surprisals"))
    output.show(found)
    if output.as_json or target != USUAL_TARGET:  # which the summary tells
        typer.echo(f"Reliability {target:g} takes {found.intents_for(target)!r}.", err=output.as_json)


@dataclass(frozen=True)
class Percent:
    """Difference that a plan is made for."""

    percent: Annotated[float, typer.Argument(help="Difference of the bits to be found, in percent.")]

    def open(self) -> float:
        """Return the difference."""
        return self.percent


Command(
    app,
    "langdiff.plan",
    reads={"percent": Percent, "pilot": lambda path, _: load("langdiff.read")(path)},
    only={
        "pilot": ("clusters",),
        "seed_sd or pilot": ("n_seeds", "n_editions"),
    },
    without=("all_pairs",),
    examples=(
        "langdiff plan 5 --noise 0.17 --per-document 8 --icc 0.1",
        "langdiff plan 2 --pilot models/surprisals-char-residual.csv --plot power.svg",
    ),
    panel="How sure, how much text",
    brief="Compute the number of intents a finding takes.",
)(show)


Draws = Annotated[Path | None, typer.Option("--out", "-o", help="Save all draws here (.nc, NetCDF).")]


@Command(app, "langdiff.sample", reads={**SURPRISALS, **MODEL}, renamed=LONG, without=("priors", "edition_info"))
def sample(call: Call, out: Draws = None, as_json: Json = False) -> None:
    """Draw from the posterior of difficulties with Stan.

    Example: langdiff sample surprisals.csv --out posterior.nc
    """
    show_draws(call, out, as_json, dict.fromkeys(("difficulty", "low", "high"), "{:+.4f}") | {"percent": "{:+.1f}"})


def show_draws(call: Call, out: Path | None, as_json: bool, formats: dict[str, str]) -> None:
    """Sample, save the draws if asked to, and print the diagnostics of the chains and the table of the posterior."""
    from langdiff.base.io import atomic_path
    from langdiff.regression.stan.draws import diagnose, posterior_table

    if out is not None and out.suffix != ".nc":
        raise EndingError(f"{out}: draws are saved as NetCDF; use a name that ends in .nc.")
    idata = call()
    if out is not None:
        with atomic_path(out) as temporary:
            idata.to_netcdf(str(temporary))
    table = posterior_table(idata).reset_index()
    if as_json:
        print_json(table)
        return
    formats = (
        {"sd": "{:.4f}", "r_hat": "{:.3f}"} | dict.fromkeys(("ess_bulk", "ess_tail", "ess_sd"), "{:,.0f}") | formats
    )
    facts = idata["posterior"].attrs
    lines = [diagnose(idata).summary(), *([facts["independence"]] if "independence" in facts else [])]
    print_frame(table, "\n".join([*lines, f"[{facts['signature']}]"]), formats)


@Command(app, panel="Upkeep", brief="Download and build CmdStan.")
def install_stan(
    version: Annotated[str | None, typer.Option(help="Release, such as 2.35.0; by default the latest.")] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", callback=new_folder, help="Folder for CmdStan; by default CmdStanPy's own."),
    ] = None,
) -> None:
    """Download and build CmdStan, the faster of the two engines of `langdiff sample`.

    Example: langdiff install-stan
    """
    from langdiff.regression.stan.engines import install_cmdstan

    typer.echo(str(install_cmdstan(version=version, folder=out)))

"""From bits to difficulties: fits, comparisons of models, what fewer or missing data do, samples of the posterior."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from langdiff.base.grids import frame_text
from langdiff.base.saving import EndingError
from langdiff.cli.commands import LONG, READER, Call, Command, show
from langdiff.cli.options import is_given, new_folder, read_attributes, refuse_given
from langdiff.cli.output import (
    TABLE,
    Json,
    Out,
    Output,
    check_ending,
    echo,
    flat,
    print_frame,
    print_json,
    save_picture,
    write_frame,
)
from langdiff.errors import ConfigError, listing

if TYPE_CHECKING:
    import pandas as pd

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


def _editions(path: Path, call: Call) -> "pd.DataFrame":
    """Read a table of editions; its columns of numbers are text unless a formula needs them."""
    return read_attributes(path, numbers=call.given["formula"] is not None)


@Command(
    app,
    "langdiff.fit",
    reads={**SURPRISALS, **MODEL, "edition_info": _editions},
    kinds={"surprisals": list[Path]},
    renamed={**LONG, "surprisals": "surprisals", "intents.formula": "size_formula", "groups": "edition-groups"},
    needs={"edition_info": ("groups", "formula", "dispersion", "by"), "intent_info": COLUMNS},
    brief="Estimate how difficult each edition is.",
)
def fit(
    call: Call,
    output: Output,
    by: Annotated[str | None, typer.Option()] = None,
    contrast: Annotated[list[str] | None, typer.Option()] = None,
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

    output.check(call.offers)
    found = call()
    output.write(found)
    if output.as_json:
        print_json(flat(found.to_frame()))
        return
    if details or found.columns is not None:
        echo(found.summary())
    if found.columns is None:
        typer.echo(("\n" if details else "") + ld.table(found, by=by, contrasts=contrast or None).text())
        if found.audit is not None and not details:
            echo("\n" + found.audit.words)
        if found.terms is not None and not details:
            typer.echo("\n" + frame_text(found.terms.round(found.digits)))


Command(
    app,
    "langdiff.cross_validate",
    reads={**SURPRISALS, **MODELS},
    help=SCALE,
    renamed=LONG,
    needs={"intent_info": COLUMNS},
    also="With --clusters, all cells that a cluster has in an edition are held out together.",
    examples=(
        "langdiff cross-validate surprisals.csv --model 1 --model 2 --n-folds 10 --seed 1",
        "langdiff cross-validate news.csv --clusters document --intent-info documents.csv",
    ),
    brief="Score models by the cells that they predict.",
)(show)
Command(
    app,
    "langdiff.regression.compare_folds",
    reads=SURPRISALS,
    renamed={**LONG, "folds": "fold-column"},
    settings={"langdiff.fit": ("model", "restricted")},
    examples=("langdiff compare-folds models/surprisals-char-residual.csv --clusters document",),
    panel="How sure, how much text",
    brief="Compare the difficulties in each fold of a table.",
)(show)


@Command(
    app,
    "langdiff.short_form",
    reads={**SURPRISALS, "judge": READER},
    renamed={**LONG, "n_items": "n_items -k"},
    panel="How sure, how much text",
    brief="Choose a few intents that stand for all.",
)
def short_form(call: Call, output: Output) -> None:
    """Choose a few intents that stand for all, on half of the editions, and judge them on the others.

    Example: langdiff short-form models/surprisals-char-residual.csv --n-items 50 --out short.csv
    """
    output.check(call.offers)
    form = call()
    output.show(form)
    if output.as_json:
        echo(form.summary(), err=True)


@Command(
    app,
    "langdiff.experiments.intent_stability",
    reads=SURPRISALS,
    renamed={**LONG, "n_intents": "n-intents"},
    panel="How sure, how much text",
    brief="Fit difficulties to random subsets of the intents.",
)
def stability(call: Call, output: Output) -> None:
    """Fit difficulties to nested random subsets of the intents, to see how stable they are.

    Example: langdiff stability surprisals.csv --n-intents 100 --n-intents 400 --plot stability.svg
    """
    output.check(call.offers)
    output.show(call(n_intents=sorted(call.given["n_intents"] or ()) or None))


@Command(
    app,
    "langdiff.experiments.deletion_bias",
    reads=SURPRISALS,
    renamed=LONG,
    without=("truth",),
    panel="How sure, how much text",
    brief="Show how far deleted cells move difficulties.",
)
def deletion(call: Call, output: Output) -> None:
    """Delete cells of a complete table, and show how far difficulties move: by chance, by bits, by their own residuals.

    Example: langdiff deletion complete.csv --rate .2 --rate .5 --plot deletion.svg
    """
    output.check(call.offers)
    output.show(call(rates=sorted(call.given["rates"])))


@Command(
    app,
    "langdiff.cross_validate",
    name="compare-models",
    reads={**SURPRISALS, **MODELS},
    help=SCALE,
    renamed=LONG,
    without=("n_folds", "restricted", "clusters", "seed", "progress"),
    brief="Put fits of several models to a table side by side.",
)
def compare_models(
    context: typer.Context,
    call: Call,
    restricted: Annotated[bool, typer.Option("--restricted/--no-restricted")] = False,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Fit several models to a table of surprisals, and put the fits side by side.

    A higher likelihood does not prove a model better, since every intent has a size of its own;
    `langdiff cross-validate` is the fair comparison.

    With --restricted, dispersions are those of the restricted likelihood, and the models are 2 and 2L by default.

    Example: langdiff compare-models surprisals.csv --model 1 --model 2
    """
    import langdiff as ld
    from langdiff.regression.variants import names_with

    check_ending(out, TABLE, "table")
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
        variant.name: ld.fit(table, model=variant, restricted=restricted, clusters=None, dispersion="common")
        for variant in models
    }
    frame = ld.compare(fits).drop(columns="model").rename_axis("model").reset_index()
    if out is not None:
        write_frame(frame, out)
    if as_json:
        print_json(frame)
        return
    name = call.given["surprisals"].name
    print_frame(
        frame,
        f"Fits of {name}; correlation and difference of difficulties are those with model {models[0].name}",
        COMPARED,
    )
    for fit in fits.values():
        echo(f"[{fit.signature}]")


@Command(
    app,
    "langdiff.goodness",
    reads={**SURPRISALS, **MODELS},
    help=SCALE,
    renamed={**LONG, "n": "held-out-sizes"},
    without=("cache",),
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


@Command(
    app,
    "langdiff.simulate",
    reads=MODEL,
    without=("difficulties", "intent_sizes"),
    panel="Text to bits",
    brief="Draw surprisals whose true difficulties are known.",
)
def simulate(
    context: typer.Context,
    call: Call,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Write the surprisals to this table (.csv, .tsv, .parquet).")
    ],
    truth: Annotated[Path | None, typer.Option(help="Write the true parameters here (.json).")] = None,
) -> None:
    """Draw surprisals whose true difficulties are known, and print these.

    Example: langdiff simulate --n-intents 500 --n-editions 8 --missing 0.2 --out drawn.csv --truth truth.json
    """
    from langdiff.tables.long_tables import table_kind

    if not call.given["missing"]:
        refuse_given(
            context, ["mechanism"], "is what makes cells missing: give their share, --missing, or leave it out."
        )
    table_kind(out)  # an error before any work is done
    check_ending(truth, (".json",))
    known = call()
    known.surprisals.save(out)
    if truth is not None:
        known.save(truth)
    frame = known.difficulty.rename_axis("edition").reset_index()
    print_frame(frame, repr(known.surprisals), {"difficulty": "{:+.4f}"})


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
    without=("facets",),
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


def _pilot(path: Path, call: Call) -> Any:  # noqa: ARG001 as all readers
    """Read a fit, replicates or a table of surprisals."""
    import langdiff as ld

    return ld.read(path)


Command(
    app,
    "langdiff.plan",
    reads={"percent": Percent, "pilot": _pilot},
    help={"pilot": "Saved fit or replicates (.json), or table of surprisals, that shows how much intents vary."},
    examples=(
        "langdiff plan 5 --noise 0.17 --per-document 8 --icc 0.1",
        "langdiff plan 2 --pilot models/surprisals-char-residual.csv --plot power.svg",
    ),
    panel="How sure, how much text",
    brief="Compute the number of intents a finding takes.",
)(show)


@Command(
    app,
    "langdiff.flag_outliers",
    reads={"surprisals_by_lm": READER},
    kinds={"surprisals_by_lm": list[Path]},
    renamed={**LONG, "surprisals_by_lm": "surprisals", "q": "q -q"},
    panel="How sure, how much text",
    brief="Name translations of too many or too few bits.",
)
def flag_outliers(call: Call, out: Out = None, as_json: Json = False) -> None:
    """Name the translations that, by two or more language models, need more or fewer bits than they should.

    The tables have the same cells, with 10 editions and 20 intents or more.

    Example: langdiff flag-outliers models/surprisals-char-residual.csv models/surprisals-kneser-ney-6.csv -o cells.csv
    """
    check_ending(out, TABLE, "table")
    found = call(surprisals_by_lm=_by_model(call, "surprisals_by_lm"))
    if out is not None:
        write_frame(found, out)
    flagged = found[found["flagged"]]
    if as_json:
        print_json(flagged)
    else:
        typer.echo(frame_text(found.head(max(len(flagged), 10)).round(4), index=False))
    rate = call.given["q"]
    typer.echo(f"{len(flagged):,} of {len(found):,} cells are flagged at a false discovery rate of {rate:g}.", err=True)


Draws = Annotated[Path | None, typer.Option("--out", "-o", help="Save all draws here (.nc, NetCDF).")]


@Command(app, "langdiff.sample", reads={**SURPRISALS, **MODEL}, renamed=LONG, without=("priors",))
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
    cores: Annotated[int, typer.Option(help="Number of processes to build with.")] = 2,
) -> None:
    """Download and build CmdStan, the faster of the two engines of `langdiff sample`.

    Example: langdiff install-stan
    """
    from langdiff.regression.stan.engines import install_cmdstan

    typer.echo(str(install_cmdstan(version=version, folder=out, cores=cores)))

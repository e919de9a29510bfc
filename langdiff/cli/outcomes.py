"""`langdiff outcomes`: tables of right and wrong, checked, fitted, and predicted."""

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from langdiff.cli.given import refuse_given
from langdiff.cli.output import (
    FIT,
    check_ending,
    check_picture_name,
    print_json,
    print_table,
    save_picture,
    write_frame,
)
from langdiff.cli.paths import existing
from langdiff.regression.outcomes import OutcomeModel, SampledModel

if TYPE_CHECKING:
    import pandas as pd

    from langdiff.tables.outcomes import Outcomes

outcomes_app = typer.Typer(
    name="outcomes",
    help="Abilities of systems and difficulties of items, from successes out of trials.",
    no_args_is_help=True,
)

Table = Annotated[
    list[Path],
    typer.Argument(help="Table (.csv, .tsv, .parquet), or logs of an evaluation.", metavar="TABLE…", callback=existing),
]
Format = Annotated[
    Literal["long", "wide", "lm-eval", "inspect"],
    typer.Option("--format", help="long: item, system, successes, trials; wide: one column per system; or logs."),
]
Metric = Annotated[str | None, typer.Option(help="Metric (lm-eval) or scorer (Inspect) that tells right from wrong.")]
Filter = Annotated[str | None, typer.Option("--filter", help="Filter of lm-eval whose answers are counted.")]
Repeats = Annotated[
    Literal["error", "sum"], typer.Option(help="Several outcomes of a system on an item: an error, or trials.")
]
Items = Annotated[
    Path | None,
    typer.Option("--items", help="Attributes of items (.csv, .tsv), items in the first column.", callback=existing),
]
By = Annotated[str | None, typer.Option(help="Attribute of items whose values have difficulties.")]
Formula = Annotated[str | None, typer.Option(help="Terms over attributes of items: construction + length.")]
Interaction = Annotated[
    str | None, typer.Option(help="Attribute in whose groups each system has a level: the profile.")
]
Clusters = Annotated[str | None, typer.Option(help="Attribute that dependent items share: document.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def _read(
    table: list[Path], layout: Any, metric: str | None, filter_name: str | None, repeats: Any, items: Path | None
) -> "Outcomes":
    import langdiff as ld

    outcomes = ld.read_outcomes(table, format=layout, metric=metric, filter=filter_name, repeats=repeats)
    return outcomes if items is None else outcomes.with_items(_attributes(items))


def _attributes(path: Path) -> "pd.DataFrame":
    """Return a table of attributes by its first column; columns of numbers become such."""
    import pandas as pd

    from langdiff.base.io import read_table
    from langdiff.base.numbers import exact_numbers

    header, rows = read_table(path, "\t" if path.suffix == ".tsv" else ",")
    frame = pd.DataFrame([row for _, row in rows], columns=header, dtype=object).replace("", None)
    frame = frame.set_index(header[0])
    for name in frame:
        numbers = exact_numbers(frame[name])
        if numbers.notna().equals(frame[name].notna()) and numbers.nunique() == frame[name].nunique():
            frame[name] = numbers
    return frame


@outcomes_app.command()
def check(
    table: Table,
    layout: Format = "long",
    metric: Metric = None,
    filter_name: Filter = None,
    repeats: Repeats = "error",
    items: Items = None,
    by: By = None,
    formula: Formula = None,
    interaction: Interaction = None,
    clusters: Clusters = None,
    as_json: Json = False,
) -> None:
    """Say what a table holds, and whether marginal and conditional estimates are finite; exit code 1 if neither is.

    Example: langdiff outcomes check samples/ --format lm-eval --metric acc
    """
    from langdiff.errors import DataError
    from langdiff.regression.outcomes.design import check_outcomes, clusters_of, design_items, rows_of
    from langdiff.regression.outcomes.likelihoods import Structure

    outcomes = _read(table, layout, metric, filter_name, repeats, items)
    design = design_items(outcomes.items, by, formula, interaction)
    clusters_of(outcomes.items, clusters)  # its errors
    rows = rows_of(outcomes, design)
    found: dict[str, str] = {}
    for name, structure in {"marginal": Structure(), "conditional": Structure(levels="conditional")}.items():
        with warnings.catch_warnings(record=True) as cautions:
            warnings.simplefilter("always")
            try:
                check_outcomes(outcomes, design, rows, structure, allow_unlinked=False)
                found[name] = "; ".join(["can be fitted", *(str(caution.message) for caution in cautions)])
            except DataError as error:
                found[name] = f"CANNOT be fitted: {error}"
    totals = outcomes.totals().reset_index()
    if as_json:
        document = {"outcomes": repr(outcomes), "systems": totals.to_dict(orient="records"), "models": found}
        typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        print_table(totals, repr(outcomes), {"rate": "{:.3f}", "items": "{:,}", "trials": "{:,}", "successes": "{:,}"})
        for name, words in found.items():
            typer.echo(f"{name} models: {words}")
    if all(words.startswith("CANNOT") for words in found.values()):
        raise typer.Exit(1)


@outcomes_app.command()
def fit(
    context: typer.Context,
    table: Table,
    layout: Format = "long",
    metric: Metric = None,
    filter_name: Filter = None,
    repeats: Repeats = "error",
    items: Items = None,
    systems: Annotated[
        Path | None,
        typer.Option(help="Attributes of systems (.csv, .tsv), systems in the first column.", callback=existing),
    ] = None,
    model: Annotated[
        Literal["auto", OutcomeModel],
        typer.Option(help="Model; auto: beta-binomial if a cell has several trials, otherwise rasch."),
    ] = "auto",
    by: By = None,
    formula: Formula = None,
    interaction: Interaction = None,
    clusters: Clusters = None,
    errors: Annotated[
        Literal["auto", "information", "sandwich", "bootstrap"],
        typer.Option(help="Source of standard errors; auto: sandwich with clusters or several trials."),
    ] = "auto",
    resamples: Annotated[int, typer.Option(help="Number of samples of the bootstrap.", min=2)] = 200,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.", min=0)] = 0,
    allow_unlinked: Annotated[
        bool, typer.Option("--allow-unlinked", help="Compare systems that share no item, even through others.")
    ] = False,
    explain: Annotated[
        str | None, typer.Option(help="Formula over attributes of systems that is to explain abilities: log(size).")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Save the fit (.json), or its table (.csv, .tsv), here.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw abilities beside items here (.svg, .png, .pdf).")] = None,
    as_json: Json = False,
) -> None:
    """Fit abilities of systems and difficulties of items or groups of items.

    Example: langdiff outcomes fit parsers.csv --by construction --clusters document --plot map.svg
    """
    import langdiff as ld

    check_ending(out, FIT)
    if plot is not None:
        check_picture_name(plot)
    if errors != "bootstrap":
        refuse_given(context, ["resamples"], "is for --errors bootstrap: give it, too, or leave this out.")
    outcomes = _read(table, layout, metric, filter_name, repeats, items)
    if systems is not None:
        outcomes = outcomes.with_systems(_attributes(systems))
    result = ld.fit_outcomes(
        outcomes,
        model=model,
        by=by,
        formula=formula,
        interaction=interaction,
        clusters=clusters,
        errors=errors,
        n_resamples=resamples,
        seed=seed,
        allow_unlinked=allow_unlinked,
    )
    explained = None if explain is None else ld.explain_abilities(result, explain)
    if out is not None and out.suffix == ".json":
        result.save(out)
    elif out is not None:
        write_frame(result.to_frame(), out)
    if plot is not None:
        save_picture(result.plot if model != "conditional" else result.abilities.plot, plot)
    if as_json:
        frame = result.to_frame()
        if explained is not None:
            import pandas as pd

            terms = explained.to_frame().rename_axis("name").reset_index().assign(parameter="explained")
            frame = pd.concat([frame, terms], ignore_index=True)
        print_json(frame)
        return
    typer.echo(result.summary())
    if explained is not None:
        typer.echo(f"\n{explained.summary()}")


@outcomes_app.command()
def sample(
    table: Table,
    layout: Format = "long",
    metric: Metric = None,
    filter_name: Filter = None,
    repeats: Repeats = "error",
    items: Items = None,
    model: Annotated[
        Literal["auto", SampledModel],
        typer.Option(help="Model; auto: beta-binomial if a cell has several trials, otherwise rasch."),
    ] = "auto",
    by: By = None,
    formula: Formula = None,
    clusters: Clusters = None,
    cell_noise: Annotated[bool, typer.Option("--cell-noise", help="Give each cell a normal effect.")] = False,
    chains: Annotated[int, typer.Option(help="Number of Markov chains.")] = 4,
    iter_warmup: Annotated[int, typer.Option(help="Draws of each chain to adapt with, not kept.")] = 500,
    iter_sampling: Annotated[int, typer.Option(help="Draws of each chain to keep.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of all chains.", min=0)] = 0,
    engine: Annotated[
        Literal["auto", "cmdstan", "pystan"], typer.Option(help="auto: CmdStan where installed, else PyStan.")
    ] = "auto",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Save all draws here (.nc, NetCDF).")] = None,
    as_json: Json = False,
) -> None:
    """Draw abilities and difficulties from their posterior with Stan, for small or separated tables.

    Example: langdiff outcomes sample parsers.csv --by construction --clusters document
    """
    import langdiff as ld
    from langdiff.cli.stan import check_netcdf, show_draws
    from langdiff.regression import Sampler

    if out is not None:
        check_netcdf(out)
    idata = ld.sample_outcomes(
        _read(table, layout, metric, filter_name, repeats, items),
        model=model,
        by=by,
        formula=formula,
        clusters=clusters,
        cell_noise=cell_noise,
        sampler=Sampler(engine=engine, chains=chains, iter_warmup=iter_warmup, iter_sampling=iter_sampling),
        seed=seed,
    )
    digits = {"mean": "{:+.3f}", "sd": "{:.3f}", "low": "{:+.3f}", "high": "{:+.3f}", "r_hat": "{:.3f}"}
    show_draws(idata, out, as_json, digits | dict.fromkeys(("ess_bulk", "ess_tail", "ess_sd"), "{:,.0f}"))


@outcomes_app.command()
def predict(
    fitted: Annotated[
        Path, typer.Option("--fit", help="Fit that `langdiff outcomes fit --out` saved.", callback=existing)
    ],
    table: Annotated[
        list[Path] | None,
        typer.Argument(help="Table, or logs of an evaluation; none with --rates.", metavar="TABLE…", callback=existing),
    ] = None,
    layout: Format = "long",
    metric: Metric = None,
    filter_name: Filter = None,
    repeats: Repeats = "error",
    items: Items = None,
    rates: Annotated[
        bool, typer.Option("--rates", help="Print expected rates over all items of the fit instead.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Predict the success rate of every cell, missing ones included, given all outcomes of its item, itself included.

    Example: langdiff outcomes predict parsers.csv --fit fit.json --json
    """
    import langdiff as ld
    from langdiff.errors import ConfigError

    if rates and (table or items is not None):
        raise ConfigError("--rates are over the items of the fit; leave TABLE and --items out.")
    if not rates and not table:
        raise ConfigError("no TABLE was given; only --rates need none.")
    result = ld.read_outcome_fit(fitted)
    if rates:
        frame = result.expected_rates().reset_index()
        title = "Expected rates, had every system met every item"
    else:
        outcomes = _read(table or [], layout, metric, filter_name, repeats, items)
        predicted = result.predict(outcomes)
        frame = predicted.rename_axis(index="item").reset_index()
        title = f"Expected rates given the outcomes of each item, by {result!r}"
    if as_json:
        print_json(frame)
    else:
        print_table(frame, title, dict.fromkeys(map(str, frame.columns[1:]), "{:.3f}"))

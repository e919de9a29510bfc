"""`langdiff parallelism score`, `agreement` and `transitions`: predicted parallelisms, two annotators, and tags."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from langdiff.cli.given import refuse_given
from langdiff.cli.output import check_picture_name, print_json, print_table, save_picture
from langdiff.cli.paths import existing, existing_named, split_name

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
FORMATS = dict.fromkeys(["precision", "recall", "f", "macro_f", "overlap", "position"], "{:.4f}")
FORMATS |= dict.fromkeys(["matched", "hypothesis_size", "reference_size"], "{:,}")
METRIC = Literal["EPM", "MPBM", "MBAWO", "MWO"]


def score(
    context: typer.Context,
    reference: Annotated[Path, typer.Argument(help="File or folder of the annotated documents.", callback=existing)],
    predictions: Annotated[
        list[str],
        typer.Argument(
            help="File or folder of each system's documents, as PATH or NAME=PATH.",
            metavar="[NAME=]PREDICTION…",
            callback=existing_named,
        ),
    ],
    table: Annotated[
        Literal["totals", "documents", "parallelisms", "errors", "cases"],
        typer.Option(
            help="Table to print: scores in total, by document, or credits by parallelism; numbers of errors by kind, "
            "or the kind of each."
        ),
    ] = "totals",
    beta: Annotated[float, typer.Option(help="Weight of recall in F.")] = 1.0,
    metric: Annotated[METRIC, typer.Option(help="Metric of outcomes.")] = "MBAWO",
    side: Annotated[
        Literal["reference", "hypothesis"], typer.Option(help="Sizes of outcomes: recall or precision.")
    ] = "reference",
    outcomes: Annotated[
        Path | None, typer.Option(help="Table (.csv, .tsv, .parquet) to write: credits of each system, for models.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare predicted parallelisms with annotated ones: EPM, MPBM, MBAWO and MWO, or kinds of errors.

    Example: langdiff parallelism score gold/ one=tagger1/ two=tagger2/ --table errors
    """
    from langdiff import parallelism
    from langdiff.tables.long_tables import table_kind

    if outcomes is not None:
        table_kind(outcomes)  # an error before any work is done
    else:
        refuse_given(
            context, ["metric", "side"], "is for outcomes; tables have all metrics: give --outcomes, or leave it out."
        )
        if table in ("errors", "cases"):
            refuse_given(context, ["beta"], f"weights F, which is not in the table {table}: leave it out.")
    gold = parallelism.read_parallelisms(reference)
    systems = {name: parallelism.read_parallelisms(path, predicted=True) for name, path in named_paths(predictions)}
    if table in ("errors", "cases"):
        errors = parallelism.classify_errors(systems, gold)
        _print(errors.to_frame() if table == "errors" else errors.cases, as_json, "Errors by kind")
        signature = errors.signature
    if table not in ("errors", "cases") or outcomes is not None:
        result = parallelism.score_parallelisms(systems, gold, beta=beta)
        if outcomes is not None:
            result.outcomes(metric, side=side).save(outcomes)
            typer.echo(f"Outcomes: {outcomes}", err=True)
        if table == "totals":
            _print(result.to_frame(), as_json, f"Scores, F with β = {beta:g}")
        elif table in ("documents", "parallelisms"):
            frame = result.documents if table == "documents" else result.parallelisms
            _print(frame, as_json, f"Scores, F with β = {beta:g}")
        signature = result.signature
    typer.echo(f"[{signature}]", err=True)


def agreement(
    one: Annotated[Path, typer.Argument(help="File or folder of the first annotator's documents.", callback=existing)],
    other: Annotated[Path, typer.Argument(help="The same of the second annotator.", callback=existing)],
    conjunctions: Annotated[
        bool, typer.Option("--conjunctions/--no-conjunctions", help="Let all branches begin with one, or none.")
    ] = True,
    interlocks: Annotated[
        bool,
        typer.Option("--interlocks/--no-interlocks", help="Merge parallelisms that follow one another throughout."),
    ] = True,
    draws: Annotated[int, typer.Option(help="Number of bootstrap samples.", min=2)] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.", min=0)] = 0,
    as_published: Annotated[
        bool, typer.Option("--as-published", help="Bootstrap with the two flaws of the published figures.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Measure the agreement of two annotators, with bootstrap intervals.

    Example: langdiff parallelism agreement annotator-a/ annotator-b/ --no-interlocks
    """
    from langdiff import parallelism

    result = parallelism.annotator_agreement(
        parallelism.read_parallelisms(one),
        parallelism.read_parallelisms(other),
        seed=seed,
        conjunctions=conjunctions,
        interlocks=interlocks,
        n_draws=draws,
        as_published=as_published,
    )
    if as_json:
        print_json(result.to_frame())
        typer.echo(f"[{result.signature}]", err=True)
    else:
        typer.echo(result.summary())


def transitions(
    documents: Annotated[Path, typer.Argument(help="File or folder of annotated documents.", callback=existing)],
    scheme: Annotated[list[str] | None, typer.Option(help="Tagging scheme, such as BIO-TD; may be repeated.")] = None,
    stratum: Annotated[int, typer.Option(help="Stratum whose tags are counted; 0: outermost.", min=0)] = 0,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Picture (.svg, .png, .pdf).")] = None,
    as_json: Json = False,
) -> None:
    """Count which tag follows which in tagging schemes, or draw it, the schemes side by side.

    Example: langdiff parallelism transitions sermons/ --scheme BIO-TD --scheme BIOMJ-TD --out tags.svg
    """
    import pandas as pd

    from langdiff import parallelism

    if out is not None:
        check_picture_name(out)
    schemes = [parallelism.TaggingScheme.named(name) for name in scheme or ["BIO-TD", "BIOMJ-TD"]]
    found = parallelism.read_parallelisms(documents).values()
    tables = {one.name: parallelism.tag_transitions(found, one, stratum) for one in schemes}
    if out is not None:
        save_picture(lambda: _side_by_side(tables), out)
        typer.echo(f"Picture: {out}", err=True)
        return
    if as_json:
        long = [
            table.reset_index().melt("from", value_name="count").assign(scheme=name) for name, table in tables.items()
        ]
        print_json(pd.concat(long, ignore_index=True)[["scheme", "from", "to", "count"]])
        return
    for name, table in tables.items():
        print_table(table.reset_index(), f"{name}: which tag (row) is followed by which", {})


def _side_by_side(tables: "dict[str, pd.DataFrame]") -> "Axes":
    import matplotlib.pyplot as plt

    from langdiff.plots import plot_tag_transitions

    _, axes = plt.subplots(1, len(tables), figsize=(5.6 * len(tables), 5.6), layout="constrained", squeeze=False)
    for ax, (name, table) in zip(axes[0], tables.items(), strict=True):
        plot_tag_transitions(table, ax, title=name)
    first: Axes = axes[0, 0]
    return first


def named_paths(arguments: list[str]) -> list[tuple[str, Path]]:
    """Return names and paths of sets of documents, each given as PATH or NAME=PATH.

    Raises
    ------
    ConfigError
        If two have one name.
    """
    from langdiff.errors import ConfigError

    pairs = []
    for name, path in map(split_name, arguments):
        pairs.append((name or Path(path).name or path, Path(path)))
    names = [name for name, _ in pairs]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise ConfigError(f"{twice[0]!r} is the name of two sets of documents; give names: NAME={pairs[-1][1]}.")
    return pairs


def _print(frame: "pd.DataFrame", as_json: bool, title: str) -> None:
    if as_json:
        print_json(frame)
    else:
        print_table(frame, title, FORMATS)

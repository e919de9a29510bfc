"""`langdiff discourse`: evaluation of discourse parsers, conversion of trees, and pictures of them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from langdiff.base.types import OnError
from langdiff.cli.given import refuse_given
from langdiff.cli.output import check_picture_name, print_json, print_table, save_picture
from langdiff.cli.paths import existing, existing_named, split_name

if TYPE_CHECKING:
    import pandas as pd

    from langdiff.discourse import DiscourseEvaluation
    from langdiff.discourse.items import Classes, Procedure

discourse_app = typer.Typer(name="discourse", help="Evaluate, convert and draw discourse trees.", no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Format = Literal["auto", "dis", "rs3", "spans", "attachments"]
Mode = Literal["right", "right_mixed", "left", "none"]
Skip = Annotated[
    OnError,
    typer.Option("--on-error", help="Documents that cannot be used: an error that lists all, or left out and listed."),
]
Collapse = Annotated[bool, typer.Option("--collapse-unary", help="Leave out nodes that are only children.")]
FORMAT_HELP = "Format of the trees; by default the endings of the files say it."
FRACTIONS = dict.fromkeys(["precision", "recall", "f1", "micro", "macro", "span_recall"], "{:.4f}")
RATIOS = FRACTIONS | dict.fromkeys(["rst-parseval", "parseval"], "{:.4f}") | {"difference": "{:+.4f}"}
COUNTS = dict.fromkeys(["true_positives", "gold", "predicted"], "{:,}")
DIFFERENCES = dict.fromkeys(["difference", "low", "high"], "{:+.4f}") | {"std_error": "{:.4f}", "p_value": "{:.4f}"}


@discourse_app.command()
def evaluate(
    context: typer.Context,
    reference: Annotated[Path, typer.Argument(help="File or folder of the reference trees.", callback=existing)],
    predictions: Annotated[
        list[str],
        typer.Argument(
            help="File or folder of each system's trees, as PATH or NAME=PATH.",
            metavar="[NAME=]PREDICTION…",
            callback=existing_named,
        ),
    ],
    table: Annotated[
        Literal["scores", "details", "averagings", "procedures", "relations", "differences", "similarity", "left-out"],
        typer.Option(
            help="Table to print: F1; counts, precision and recall too; F1 by averaging, or by procedure, with ranks; "
            "by relation; differences between systems with intervals; F1 of every system against every other; "
            "documents left out by --on-error skip."
        ),
    ] = "scores",
    procedure: Annotated[
        Literal["rst-parseval", "parseval", "both"],
        typer.Option(help="RST-Parseval (all nodes), Parseval on attachment decisions, or both."),
    ] = "both",
    binarization: Annotated[Mode, typer.Option(help="How all trees are made binary.")] = "right",
    classes: Annotated[
        str | None,
        typer.Option(help="Classes of relations: rst-dt, gum, or a .csv or .tsv table of relation and class."),
    ] = None,
    spans: Annotated[
        Literal["edus", "chars"], typer.Option(help="Spans of EDUs or, if these differ, of characters.")
    ] = "edus",
    metric: Annotated[
        Literal["S", "N", "R", "F"], typer.Option(help="Metric of differences, similarity and outcomes.")
    ] = "F",
    averaging: Annotated[
        Literal["micro", "macro"], typer.Option(help="Averaging of differences and similarity.")
    ] = "micro",
    trivial_spans: Annotated[
        bool,
        typer.Option(
            "--trivial-spans", help="Add three items per document that are always right; not for relations, similarity."
        ),
    ] = False,
    format: Annotated[Format, typer.Option(help=FORMAT_HELP)] = "auto",
    collapse_unary: Collapse = False,
    on_error: Skip = "raise",
    draws: Annotated[int, typer.Option(help="Number of samples of documents, for differences.", min=1)] = 10_000,
    seed: Annotated[int, typer.Option(help="Seed of the samples of documents.", min=0)] = 0,
    outcomes: Annotated[
        Path | None, typer.Option(help="Table (.csv, .tsv, .parquet) to write: which items each system has.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare predicted trees with reference trees of the same documents: S, N, R and F.

    Example: langdiff discourse evaluate gold/ one=parser1/ two=parser2/ --classes rst-dt --table differences
    """
    from langdiff import discourse
    from langdiff.discourse.files import read_documents
    from langdiff.tables.long_tables import table_kind

    if outcomes is not None:
        table_kind(outcomes)  # an error before any work is done
    _refuse_unused(context, table, outcomes is not None, trivial_spans, metric)
    read = {"format": format, "collapse_unary": collapse_unary}
    gold = read_documents(reference, **read)  # type: ignore[arg-type]
    systems = {name: read_documents(path, **read) for name, path in _named(predictions)}  # type: ignore[arg-type]
    procedures = ("rst-parseval", "parseval") if procedure == "both" else (procedure,)
    result = discourse.evaluate_discourse(
        gold,
        systems,
        binarization=binarization,
        classes=_classes(classes),
        spans=spans,
        procedures=procedures,  # type: ignore[arg-type]
        trivial_spans=trivial_spans,
        on_error=on_error,
    )
    if outcomes is not None:
        result.outcomes(procedures[-1], metric).save(outcomes)  # type: ignore[arg-type]
        typer.echo(f"Outcomes: {outcomes}", err=True)
    last = procedures[-1]
    match table:
        case "differences":
            found = result.compare(seed=seed, procedure=last, metric=metric, averaging=averaging, n_draws=draws)  # type: ignore[arg-type]
            _print(found.to_frame(), f"Differences in F1 ({last}, {metric}, {averaging})", DIFFERENCES, as_json)
            typer.echo(f"[{found.signature}]", err=True)
            return
        case "similarity":
            matrix = discourse.discourse_similarity(
                {"reference": gold, **systems},
                metric=metric,
                procedure=last,  # type: ignore[arg-type]
                averaging=averaging,
                binarization=binarization,
                classes=_classes(classes),
                spans=spans,
                on_error=on_error,
            )
            formats = dict.fromkeys(matrix.columns, "{:.4f}")
            _print(matrix.reset_index(names="against"), f"F1 ({last}, {metric}, {averaging})", formats, as_json)
        case "scores" if not as_json:
            typer.echo(result.summary())
            return
        case _:
            _print(*_table(result, table, last, metric), as_json)  # type: ignore[arg-type]
    typer.echo(f"[{result.signature}]", err=True)


@discourse_app.command()
def convert(
    trees: Annotated[
        list[Path], typer.Argument(help="Files or folders of trees.", metavar="TREES…", callback=existing)
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the converted trees.")],
    to: Annotated[
        Literal["dis", "rs3", "spans", "attachments"], typer.Option(help="Format to write; attachments are binary.")
    ] = "dis",
    binarization: Annotated[Mode, typer.Option(help="How the trees are made binary; none: not at all.")] = "none",
    classes: Annotated[
        str | None,
        typer.Option(help="Classes to replace relations by: rst-dt, gum, or a table (.csv, .tsv)."),
    ] = None,
    format: Annotated[Format, typer.Option(help=FORMAT_HELP)] = "auto",
    collapse_unary: Collapse = False,
    on_error: Skip = "raise",
) -> None:
    """Convert trees between .dis, .rs3, lists of spans and lists of attachments.

    Example: langdiff discourse convert rs4/ --to attachments --binarization right --out decisions
    """
    from langdiff import discourse
    from langdiff.discourse.items import with_classes

    found = discourse.read_discourse(trees, format=format, collapse_unary=collapse_unary, on_error=on_error)
    if classes is not None:
        known = _classes(classes)
        found = {name: with_classes(tree, known) for name, tree in found.items()}
    binary = {name: discourse.binarize(tree, binarization) for name, tree in found.items()}
    paths = discourse.write_discourse(binary, out, format=to)
    typer.echo(f"{len(paths):,} tree(s): {out}", err=True)


@discourse_app.command()
def show(
    tree: Annotated[Path, typer.Argument(help="File of a tree.", callback=existing)],
    other: Annotated[
        Path | None, typer.Argument(help="File of another tree of the same document.", callback=existing)
    ] = None,
    view: Annotated[
        Literal["marcu", "binary", "attachments"],
        typer.Option(help="The tree as it is, made binary to the right, or (of one tree) its attachment decisions."),
    ] = "marcu",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Picture (.svg, .png, .pdf).")] = None,
    format: Annotated[Format, typer.Option(help=FORMAT_HELP)] = "auto",
    collapse_unary: Collapse = False,
    as_json: Json = False,
) -> None:
    """Print a tree as an outline, or draw it; of two trees, print or draw where they differ.

    Example: langdiff discourse show gold/rain.dis parser/rain.dis --out rain.svg
    """
    import pandas as pd

    from langdiff import discourse
    from langdiff.errors import ConfigError

    if out is not None:
        check_picture_name(out)
    if other is not None and view == "attachments":
        raise ConfigError("two trees are compared node by node, not by attachments; choose --view binary or marcu.")
    one, *more = (
        next(iter(discourse.read_discourse(path, format=format, collapse_unary=collapse_unary).values()))
        for path in _single_files([tree] if other is None else [tree, other])
    )
    if view != "marcu" and (more or out is None):
        one, *more = (discourse.binarize(each) for each in (one, *more))
    compared = discourse.compare_trees(one, *more) if more else None
    if out is not None:
        save_picture(lambda: one.plot(view) if compared is None else compared.plot(), out)
        typer.echo(f"Picture: {out}", err=True)
        return
    if view == "attachments":
        decisions = discourse.attachments_of(one)
        if as_json:
            print_json(pd.DataFrame(decisions, columns=discourse.Attachment._fields))
        for decision in () if as_json else decisions:
            typer.echo(" ".join(map(str, decision)))
    elif as_json:
        print_json((one if compared is None else compared).to_frame().reset_index())
    else:
        typer.echo((one if compared is None else compared).summary())


@discourse_app.command()
def published(as_json: Json = False) -> None:
    """Print the scores that Morey, Muller and Asher (2017) published, with what is known of each.

    Example: langdiff discourse published --json
    """
    from langdiff.datasets import morey2017

    figures = morey2017()
    if as_json:
        print_json(figures.to_frame())
    else:
        typer.echo(figures.summary())


def _refuse_unused(context: typer.Context, table: str, has_outcomes: bool, trivial_spans: bool, metric: str) -> None:
    """Refuse options that the table to be printed would not use."""
    from langdiff.errors import ConfigError

    if trivial_spans and table in ("similarity", "relations"):
        raise ConfigError(f"the items of --trivial-spans are not in the table {table!r}; leave the option out.")
    if table == "relations" and metric not in ("R", "F"):
        raise ConfigError(f"--metric {metric}: relations are compared by R or F, which have them.")
    if table not in ("differences", "similarity"):
        refuse_given(context, ["averaging"], f"is for --table differences or similarity; {table} does not use it.")
        if table != "relations" and not has_outcomes:
            reason = f"is for --table differences, similarity or relations, and --outcomes; {table} does not use it."
            refuse_given(context, ["metric"], reason)


def _named(predictions: list[str]) -> list[tuple[str, Path]]:
    """Return names and paths of the systems.

    Raises
    ------
    ConfigError
        If two have one name, or one that of the reference.
    """
    from langdiff.errors import ConfigError

    pairs = []
    for name, path in map(split_name, predictions):
        pairs.append((name or Path(path).name or path, Path(path)))
    names = ["reference", *(name for name, _ in pairs)]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise ConfigError(f"{twice[0]!r} is the name of two sets of trees; give names: NAME={pairs[-1][1]}.")
    return pairs


def _classes(given: str | None) -> "Classes":
    from langdiff.discourse import read_classes

    if given == "rst-dt" or given == "gum":
        return given  # type: ignore[return-value]
    return None if given is None else read_classes(given)


def _single_files(paths: list[Path]) -> list[Path]:
    from langdiff.errors import ConfigError

    if folders := [path for path in paths if path.is_dir()]:
        raise ConfigError(f"{folders[0]} is a folder; show takes the file of one tree.")
    return paths


def _table(
    result: "DiscourseEvaluation", table: str, procedure: "Procedure", metric: str
) -> "tuple[pd.DataFrame, str, dict[str, str]]":
    """Return a table of the result, its title and the formats of its numbers."""
    match table:
        case "averagings":
            return result.averagings(), "F1 by averaging", RATIOS
        case "procedures":
            return result.between_procedures(), "F1 by procedure", RATIOS
        case "relations":
            compared: Literal["R", "F"] = "F" if metric == "F" else "R"
            return result.relations(procedure, compared), f"{compared} by relation, {procedure}", RATIOS | COUNTS
        case "left-out":
            return result.left_out, f"Documents left out, beside {len(result.documents):,} compared", {}
        case _:
            return result.to_frame(), "Scores", RATIOS | COUNTS


def _print(frame: "pd.DataFrame", title: str, formats: dict[str, str], as_json: bool) -> None:
    if as_json:
        print_json(frame)
    else:
        print_table(frame, title, formats)

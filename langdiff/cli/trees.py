"""Of trees: measures and similarity of dependency treebanks, parsing, evaluation of discourse trees."""

import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from langdiff.cli.commands import Call, Command, load
from langdiff.cli.options import (
    Corpus,
    existing,
    existing_after_name,
    existing_named,
    named_files,
    named_paths,
    new_folder,
    refuse_own_folder,
    split_name,
)
from langdiff.cli.output import Json, echo, print_frame, print_json, save_picture
from langdiff.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from langdiff.discourse import DiscourseEvaluation
    from langdiff.discourse.items import Classes, Procedure
    from langdiff.treebanks.measures import TreebankMeasures
    from langdiff.treebanks.pairwise import TreebankComparison
    from langdiff.treebanks.profile import TreebankProfile

treebanks = typer.Typer(
    name="treebanks",
    help="Measure and compare dependency treebanks.",
    no_args_is_help=True,
    rich_help_panel="Other data",
)
discourse = typer.Typer(
    name="discourse",
    help="Evaluate and convert discourse trees.",
    no_args_is_help=True,
    rich_help_panel="Other data",
)
Tsv = Annotated[bool, typer.Option("--tsv", help="Print tab-separated values instead of a table.")]
FRACTIONS = dict.fromkeys(["precision", "recall", "f1", "micro", "macro", "span_recall"], "{:.4f}")
RATIOS = FRACTIONS | dict.fromkeys(["rst-parseval", "parseval"], "{:.4f}") | {"difference": "{:+.4f}"}
COUNTS = dict.fromkeys(["true_positives", "gold", "predicted"], "{:,}")
DIFFERENCES = dict.fromkeys(["estimate", "low", "high"], "{:+.4f}") | dict.fromkeys(
    ["std_error", "p", "p_adjusted"], "{:.4f}"
)
FILES = list[Path]


@Command(treebanks, "langdiff.measure_treebanks", kinds={"treebanks": FILES})
def measures(call: Call, as_tsv: Tsv = False, as_json: Json = False) -> None:
    """Head-POS entropy (bits) and dependency length (words), one row per treebank, with 95 % intervals.

    Example: langdiff treebanks measures pud/*.conllu.gz --tsv
    """
    _print(call(), as_tsv, as_json)


@Command(
    treebanks,
    "langdiff.compare_treebanks",
    settings={"langdiff.read_treebank": ("strict", "trust")},
    without=(
        *("treebanks", "size_bin", "label", "levels", "ancestors", "statistics", "adjacent", "width_by", "divergence"),
        *("alpha", "base", "rescale", "noise"),
    ),
)
def compare(
    call: Call,
    treebanks: Annotated[
        list[str],
        typer.Argument(help="CoNLL-U files, as FILE or NAME=FILE.", metavar="[NAME=]FILE…", callback=existing_named),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", callback=new_folder, help="Folder for all tables and pictures.")
    ] = None,
    as_tsv: Tsv = False,
    as_json: Json = False,
) -> None:
    """Compare the syntax of treebanks in five metrics and their mean.

    Example: langdiff treebanks compare web=en_ewt.conllu.gz news=en_pud.conllu.gz --equalize tokens --out maps
    """
    read = load("langdiff.read_treebank")
    reading = {name: call.given[name] for name in ("strict", "punctuation")} | {"trust": call.given["trust"] or ()}
    banks = [read(file, name=name or None, **reading) for name, file in map(split_name, treebanks)]
    result = load(call.command.function)(banks, **call.arguments("strict", "trust"))
    if out is not None:
        _write(result, out)
        typer.echo(f"Tables and pictures: {out}", err=True)
    _print(result, as_tsv, as_json)


def _print(result: "TreebankMeasures | TreebankComparison", as_tsv: bool, as_json: bool) -> None:
    frame = result.to_frame()
    if as_json:
        infinite = frame.isin([math.inf])  # JSON has no infinity
        print_json(frame.astype(object).mask(infinite, "inf") if infinite.any(axis=None) else frame)
    elif as_tsv:
        typer.echo(frame.to_csv(sep="\t", index=False), nl=False)
    else:
        echo(result.summary())


def _write(result: "TreebankComparison", out: Path) -> None:
    """Write divergences, sizes and counts as TSV, maps and profiles as SVG."""
    import pandas as pd

    from langdiff.base.cells import guarded
    from langdiff.base.io import write_text

    counts = pd.concat([profile.to_frame() for profile in result.profiles.values()])
    tables = {"divergences": result.to_frame(), "sizes": result.sizes().reset_index(), "counts": counts}
    for name, frame in tables.items():
        write_text(out / f"{name}.tsv", guarded(frame).to_csv(sep="\t", index=False))
    write_text(out / "settings.txt", f"{result.signature}\n")
    save_picture(result.plot, out / "mean.svg")
    save_picture(lambda: result.plot(noise=True), out / "noise.svg")
    save_picture(lambda: load("langdiff.plots.plot_metric_maps")(result).flat[0], out / "metrics.svg")
    for name, profile in result.profiles.items():
        save_picture(partial(_draw_profile, profile), out / f"profile-{name}.svg")


def _draw_profile(profile: "TreebankProfile") -> "Axes":
    """Draw what the four metrics see in a treebank, on one figure."""
    import matplotlib.pyplot as plt

    axes = plt.subplots(2, 2, figsize=(10, 6), layout="constrained")[1]
    for metric, ax in zip(("size", "depth", "width", "length"), axes.flat, strict=True):
        load("langdiff.plots.plot_treebank_profile")(profile, metric, ax)
    last: Axes = axes.flat[-1]
    return last


@Command(treebanks)
def parse(
    corpus: Corpus,
    model: Annotated[
        list[str],
        typer.Option(
            "--udpipe",
            metavar="NAME=FILE",
            help="UDPipe 1 model of an edition or a language (repeat for more).",
            callback=existing_after_name,
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", callback=new_folder, help="Folder for the files EDITION.conllu.")],
    as_json: Json = False,
) -> None:
    """Parse the texts of a corpus with UDPipe; the files serve `langdiff predictors --treebanks`.

    Example: langdiff treebanks parse bible/ --udpipe deu=german-gsd.udpipe --udpipe fin=finnish-tdt.udpipe --out parsed
    """
    table = load("langdiff.treebanks.udpipe.parse_multitext")(
        corpus.open(), named_files(model, "--udpipe", "model", "deu=german-gsd.udpipe"), out
    )
    print_frame(table, f"Parsed {len(table)} edition(s)", {"intents": "{:,}", "sentences": "{:,}"}, as_json)


@Command(
    discourse,
    "langdiff.discourse.evaluate_discourse",
    settings={
        "langdiff.discourse.discourse_similarity": ("metric",),
        "langdiff.discourse.read_discourse": ("format", "collapse_unary", "trust"),
    },
    kinds={"classes": str},
    without=("reference", "predictions", "procedures", "spans", "trivial_spans"),
    only={
        "table differences|similarity|relations or outcomes": ("metric",),
    },
)
def evaluate(
    call: Call,
    reference: Annotated[Path, typer.Argument(help="File or folder of the reference trees.", callback=existing)],
    predictions: Annotated[
        list[str],
        typer.Argument(
            help="File or folder of each system's trees, as PATH or NAME=PATH.",
            metavar="[NAME=]PREDICTION…",
            callback=existing_named,
        ),
    ],
    table: Literal[
        "scores", "details", "averagings", "procedures", "relations", "differences", "similarity", "left-out"
    ] = "scores",
    outcomes: Path | None = None,
    as_json: Json = False,
) -> None:
    """Compare predicted trees with reference trees of the same documents: S, N, R and F.

    Tables are of F1 (scores), with counts (details), by averaging, by procedure, by relation, of differences between
    systems with intervals, of every system against every other, and of documents left out by --on-error skip.

    Example: langdiff discourse evaluate gold/ one=parser1/ two=parser2/ --classes rst-dt --table differences
    """
    from langdiff.discourse import discourse_similarity
    from langdiff.discourse.files import read_documents
    from langdiff.tables.long_tables import table_kind

    if outcomes is not None:
        table_kind(outcomes)  # an error before any work is done
    given, classes = call.given, _classes(call.given["classes"])
    if table == "relations" and given["metric"] not in ("R", "F"):
        raise ConfigError(f"--metric {given['metric']}: relations are compared by R or F, which have them.")
    read = {name: given[name] for name in ("format", "collapse_unary", "detached")} | {"trust": given["trust"] or ()}
    gold = read_documents(reference, **read)
    systems = {
        name: read_documents(path, **read) for name, path in named_paths(predictions, "trees", taken="reference")
    }
    arguments = call.arguments("reference", "predictions", "classes", "metric", *read)
    result = load(call.command.function)(gold, systems, classes=classes, **arguments)
    last: Any = result.procedures[-1]
    comparing = {"procedure": last, "metric": given["metric"]}
    if outcomes is not None:
        result.outcomes(last, given["metric"]).save(outcomes)
        typer.echo(f"Outcomes: {outcomes}", err=True)
    match table:
        case "differences":
            found = result.compare(**comparing)
            title = f"Differences in F1 ({', '.join(comparing.values())}, micro)"
            print_frame(found.to_frame().reset_index(), title, DIFFERENCES, as_json)
            typer.echo(f"[{found.signature}]", err=True)
            return
        case "similarity":
            alike = {name: given[name] for name in ("binarization", "on_error")}
            matrix = discourse_similarity({"reference": gold, **systems}, classes=classes, **alike, **comparing)
            formats = dict.fromkeys(matrix.columns, "{:.4f}")
            print_frame(
                matrix.reset_index(names="against"), f"F1 ({', '.join(comparing.values())}, micro)", formats, as_json
            )
        case "scores" if not as_json:
            echo(result.summary())
            return
        case _:
            print_frame(*_table(result, table, last, given["metric"]), as_json)
    typer.echo(f"[{result.signature}]", err=True)


@Command(
    discourse,
    "langdiff.discourse.read_discourse",
    name="convert",
    kinds={"source": list[Path]},
    renamed={"source": "trees"},
)
def convert(
    call: Call,
    out: Annotated[Path, typer.Option("--out", "-o", callback=new_folder, help="Folder for the converted trees.")],
    to: Annotated[
        Literal["dis", "rs3", "spans", "attachments"], typer.Option(help="Format to write; attachments are binary.")
    ] = "dis",
    binarization: Literal["right", "right_mixed", "left", "none"] = "none",
    classes: str | None = None,
) -> None:
    """Convert trees between .dis, .rs3, lists of spans and lists of attachments.

    Example: langdiff discourse convert rs4/ --to attachments --binarization right --out decisions
    """
    from langdiff.discourse import binarize, write_discourse
    from langdiff.discourse.items import with_classes

    refuse_own_folder(out, call.given["source"])
    found = call()
    if classes is not None:
        known = _classes(classes)
        found = {name: with_classes(tree, known) for name, tree in found.items()}
    binary = {name: binarize(tree, binarization) for name, tree in found.items()}
    paths = write_discourse(binary, out, format=to)
    typer.echo(f"{len(paths):,} tree(s): {out}", err=True)


def _classes(given: str | None) -> "Classes":
    from langdiff.discourse import read_classes

    if given == "rst-dt" or given == "gum":
        return given  # type: ignore[return-value]
    return None if given is None else read_classes(given)


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

"""`langdiff treebanks`: measures of dependency treebanks, and their syntactic similarity."""

import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from langdiff.cli.output import print_json, print_table, save_picture
from langdiff.cli.paths import existing

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from langdiff.treebanks.pairwise import TreebankComparison
    from langdiff.treebanks.profile import TreebankProfile

treebanks_app = typer.Typer(name="treebanks", help="Measure and compare dependency treebanks.", no_args_is_help=True)

Files = Annotated[
    list[Path],
    typer.Argument(help="CoNLL-U files (.conllu, .gz), one per treebank.", metavar="FILE…", callback=existing),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Tsv = Annotated[bool, typer.Option("--tsv", help="Print tab-separated values instead of a table.")]


@treebanks_app.command()
def measures(
    files: Files,
    over: Annotated[
        Literal["tokens", "types"], typer.Option(help="Average head-POS entropy over tokens, or over types.")
    ] = "tokens",
    punctuation: Annotated[
        bool | None,
        typer.Option(
            "--punctuation/--no-punctuation",
            help="Keep punctuation in the trees or take it out; by default only dependency length leaves it out.",
        ),
    ] = None,
    as_tsv: Tsv = False,
    as_json: Json = False,
) -> None:
    """Head-POS entropy (bits) and dependency length (words), one row per treebank.

    Example: langdiff treebanks measures pud/*.conllu.gz --tsv
    """
    import langdiff as ld

    frame = ld.measure_treebanks(files, over=over, punctuation=punctuation).to_frame()
    formats = dict.fromkeys(frame.columns[3:], "{:.3f}") | {"words": "{:,}", "sentences": "{:,}"}
    _print(frame, as_tsv, as_json, f"Head-POS entropy in bits over {over}, dependency length in words", formats)


@treebanks_app.command()
def compare(
    files: Files,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder for all tables and pictures.")] = None,
    equalize: Annotated[
        Literal["tokens", "sentences"] | None, typer.Option(help="Compare random subsamples as large as the smallest.")
    ] = None,
    repeats: Annotated[int, typer.Option(help="Number of subsamples, and of divisions in halves.", min=1)] = 5,
    noise: Annotated[bool, typer.Option(help="Compare random halves of each treebank as well.")] = True,
    divergence: Annotated[
        Literal["kl", "js", "symmetric", "correlation"],
        typer.Option(help="Kullback–Leibler, Jensen–Shannon, Kullback–Leibler both ways, 1 - Pearson's r."),
    ] = "kl",
    alpha: Annotated[float, typer.Option(help="Added to every count.", min=0)] = 0.5,
    base: Annotated[float | None, typer.Option(help="Base of the logarithm; e by default.")] = None,
    label: Annotated[
        Literal["upos+deprel", "deprel", "upos"], typer.Option(help="Depth: label of a word.")
    ] = "upos+deprel",
    levels: Annotated[
        Literal["separate", "pooled", "context"],
        typer.Option(help="Depth: count each depth apart, all together, or given the triples above."),
    ] = "separate",
    ancestors: Annotated[int, typer.Option(help="Depth: number of ancestors in the key of a word.", min=0, max=2)] = 2,
    statistics: Annotated[
        Literal["own", "reference"],
        typer.Option(help="Depth and Width: probabilities of each treebank, or of the reference."),
    ] = "own",
    adjacent: Annotated[bool, typer.Option("--adjacent", help="Matrix: neighbouring children only.")] = False,
    width_by: Annotated[Literal["columns", "rows"], typer.Option(help="Width: divide by columns or rows.")] = "columns",
    size_bin: Annotated[float, typer.Option(help="Size: width of a bin of depth.")] = 1.0,
    rescale: Annotated[bool, typer.Option("--rescale", help="Divide metrics by their maxima before the mean.")] = False,
    punctuation: Annotated[
        bool,
        typer.Option("--punctuation/--no-punctuation", help="Keep punctuation in the trees or take it out."),
    ] = True,
    strip_subtypes: Annotated[bool, typer.Option("--strip-subtypes", help="Read acl:relcl as acl.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at a sentence that is not a tree.")] = False,
    cluster: Annotated[bool, typer.Option("--cluster", help="Draw similar treebanks side by side.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of subsamples and halves.", min=0)] = 0,
    as_tsv: Tsv = False,
    as_json: Json = False,
) -> None:
    """Compare the syntax of treebanks in five metrics and their mean.

    Example: langdiff treebanks compare ud/en_*.conllu.gz --equalize tokens --out maps
    """
    import langdiff as ld
    from langdiff.errors import ConfigError
    from langdiff.treebanks import SimilaritySettings

    if cluster and out is None:
        raise ConfigError("--cluster orders the pictures: give their folder, --out DIR, too.")

    settings = SimilaritySettings(
        size_bin=size_bin,
        label=label,
        levels=levels,
        ancestors=ancestors,
        statistics=statistics,
        adjacent=adjacent,
        width_by=width_by,
        divergence=divergence,
        alpha=alpha,
        base=math.e if base is None else base,
        rescale=rescale,
    )
    banks = [
        ld.read_treebank(file, strict=strict, punctuation=punctuation, strip_subtypes=strip_subtypes) for file in files
    ]
    result = ld.compare_treebanks(
        banks, settings=settings, equalize=equalize, n_repeats=repeats, noise=noise, seed=seed
    )
    if out is not None:
        _write(result, out, cluster, noise)
        typer.echo(f"Tables and pictures: {out}", err=True)
    if as_json or as_tsv:
        _print(result.to_frame(), as_tsv, as_json)
    else:
        typer.echo(result.summary())


def _print(
    frame: "pd.DataFrame", as_tsv: bool, as_json: bool, title: str = "", formats: dict[str, str] | None = None
) -> None:
    if as_json:
        infinite = frame.isin([math.inf])  # JSON has no infinity
        print_json(frame.astype(object).mask(infinite, "inf") if infinite.any(axis=None) else frame)
    elif as_tsv:
        typer.echo(frame.to_csv(sep="\t", index=False), nl=False)
    else:
        print_table(frame, title, formats or {})


def _write(result: "TreebankComparison", out: Path, cluster: bool, noise: bool) -> None:
    """Write divergences, sizes and counts as TSV, maps and profiles as SVG."""
    import pandas as pd

    from langdiff.base.cells import guarded
    from langdiff.base.io import write_text
    from langdiff.plots import plot_metric_maps

    order = result.cluster_order() if cluster else None  # may fail, so before anything is written
    counts = pd.concat([profile.to_frame() for profile in result.profiles.values()])
    tables = {"divergences": result.to_frame(), "sizes": result.sizes().reset_index(), "counts": counts}
    for name, frame in tables.items():
        write_text(out / f"{name}.tsv", guarded(frame).to_csv(sep="\t", index=False))
    write_text(out / "settings.txt", f"{result.signature}\n")
    save_picture(lambda: result.plot(order=order), out / "mean.svg")
    if noise:
        save_picture(lambda: result.plot(order=order, noise=True), out / "noise.svg")
    save_picture(lambda: plot_metric_maps(result, order=order).flat[0], out / "metrics.svg")
    for name, profile in result.profiles.items():
        save_picture(partial(_draw_profile, profile), out / f"profile-{name}.svg")


def _draw_profile(profile: "TreebankProfile") -> "Axes":
    """Draw what the four metrics see in a treebank, on one figure."""
    import matplotlib.pyplot as plt

    from langdiff.plots import plot_treebank_profile

    axes = plt.subplots(2, 2, figsize=(10, 6), layout="constrained")[1]
    for metric, ax in zip(("size", "depth", "width", "length"), axes.flat, strict=True):
        plot_treebank_profile(profile, metric, ax)
    last: Axes = axes.flat[-1]
    return last

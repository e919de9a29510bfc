"""`langdiff reproduce`: published figures, recomputed and redrawn."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from langdiff.cli.models import Json
from langdiff.cli.output import check_picture_name, print_json, print_table, save_picture


def reproduce(
    paper: Annotated[
        str,
        typer.Option(
            help="mielke2019, byte_premium2024, goldfish2024, tokenization_lengths2023, xmi2020; or all of them."
        ),
    ] = "mielke2019",
    rows: Annotated[bool, typer.Option("--all", help="Print every reference figure, not only the claims.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw MCC against difficulty here (.svg, .png, .pdf).")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for Figures 3 to 5, Tables 1 to 4 and index.md.")
    ] = None,
    format: Annotated[Literal["svg", "png", "pdf"], typer.Option(help="Format of the figures of --out.")] = "svg",
    as_json: Json = False,
) -> None:
    """Recompute claims of Mielke et al. (2019), or of later papers, from published figures, and show which agree.

    Where the paper's text and its own figures differ, both are shown. The exit code is 1 only if this package
    gets a figure wrong.

    Example: langdiff reproduce --out paper

    Example: langdiff reproduce --paper all
    """
    import langdiff as ld
    from langdiff.errors import ConfigError, LangdiffError

    if paper != "mielke2019":
        if rows or plot is not None or out is not None:
            raise ConfigError("--all, --plot and --out are for --paper mielke2019.")
        _reproduce_papers(paper, as_json)
        return
    if plot is not None:
        check_picture_name(plot)
    result = ld.reproduce()
    if plot is not None:
        save_picture(result.plot, plot)
    if out is not None:
        files = result.save(out, kind=format)
        typer.echo(f"{len(files)} figures and tables, described in {out / 'index.md'}", err=True)
    if as_json:
        print_json(result.to_frame())
    else:
        print_table(result.claims, "Claims of the paper, published and recomputed", {})
        if rows:
            reference = result.reference.assign(
                **{name: result.reference[name].map("{:.12g}".format) for name in ("expected", "recomputed")}
            )
            print_table(reference, "Reference figures computed with SciPy only, and by this package", {})
        print_table(result.counts().reset_index(), "Numbers of figures that agree", {})
    typer.echo(repr(result), err=True)
    if not result.exact:
        raise LangdiffError(
            "some reference figures were not met: the installed SciPy or this package computes otherwise."
        )


def _reproduce_papers(paper: str, as_json: bool) -> None:
    """Print one table of the claims of a later paper, or of all papers."""
    import pandas as pd

    import langdiff as ld
    from langdiff.experiments import reproduce_paper
    from langdiff.experiments.later_papers import PAPERS

    results = [reproduce_paper(name) for name in ([paper] if paper != "all" else sorted(PAPERS))]
    tables = [result.claims for result in results]
    if paper == "all":
        tables.insert(0, ld.reproduce().claims.drop(columns="where").assign(paper="mielke2019"))
    table = pd.concat(tables, ignore_index=True)[list(results[0].claims)]
    if as_json:
        print_json(table)
    else:
        print_table(table, "Claims of papers, published and recomputed", {})
    for result in results:
        typer.echo(repr(result), err=True)

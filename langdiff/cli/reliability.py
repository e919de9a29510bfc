"""`langdiff reliability`, `short-form` and `flag-cells`: how sure difficulties are, and which cells to look at."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from langdiff.cli.models import Json
from langdiff.cli.output import print_json
from langdiff.cli.paths import existing
from langdiff.cli.units import Verify

if TYPE_CHECKING:
    import pandas as pd

Table = Annotated[
    Path,
    typer.Argument(
        help="Table of surprisals (.csv, .tsv, .parquet) that `train` wrote.", metavar="SURPRISALS", callback=existing
    ),
]
Tables = Annotated[
    list[Path],
    typer.Argument(
        help="Tables of surprisals (.csv, .tsv, .parquet), one per language model.",
        metavar="SURPRISALS...",
        callback=existing,
    ),
]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="CSV file for the table.")]


def reliability(
    surprisals: Tables,
    target: Annotated[float, typer.Option(help="Reliability G that the number of intents is asked for.")] = 0.95,
    verify: Verify = True,
    as_json: Json = False,
) -> None:
    """Say how much of ln bits varies by edition, intent and language model, and how many intents difficulties need.

    Example: langdiff reliability models/surprisals-char-residual.csv --target 0.95
    """
    import langdiff as ld

    found = ld.generalizability({path.stem: ld.read_surprisals(path, verify=verify) for path in surprisals})
    if as_json:
        print_json(found.to_frame().reset_index())
    else:
        typer.echo(found.summary())
    typer.echo(f"Intents for a reliability of {target:g}: {found.intents_for(target):,.0f}", err=as_json)


def short_form(
    surprisals: Table,
    k: Annotated[int, typer.Option("--intents", "-k", help="Number of intents to choose.", min=2)],
    judge: Annotated[
        Path | None,
        typer.Option(
            help="Table of another language model, to judge on; its other editions are taken.", callback=existing
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed.", min=0)] = 0,
    verify: Verify = True,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Choose a few intents that stand for all, on half of the editions, and judge them on the others.

    Example: langdiff short-form models/surprisals-char-residual.csv --intents 50 --out short.csv
    """
    import langdiff as ld

    table = ld.read_surprisals(surprisals, verify=verify)
    form = ld.short_form(table, k, judge=None if judge is None else ld.read_surprisals(judge, verify=verify), seed=seed)
    _write(form.to_frame(), out)
    if as_json:
        print_json(form.to_frame())
    typer.echo(form.summary(), err=as_json)


def flag_cells(
    surprisals: Tables,
    q: Annotated[float, typer.Option("-q", help="False discovery rate.")] = 0.05,
    verify: Verify = True,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Name the translations that, by two or more language models, need more or fewer bits than they should.

    Example: langdiff flag-cells models/surprisals-char-residual.csv models/surprisals-kneser-ney-6.csv --out cells.csv
    """
    import langdiff as ld

    found = ld.flag_cells({path.stem: ld.read_surprisals(path, verify=verify) for path in surprisals}, q=q)
    _write(found, out)
    flagged = found[found["flagged"]]
    if as_json:
        print_json(flagged)
    else:
        typer.echo(found.head(max(len(flagged), 10)).round(4).to_string(index=False))
    typer.echo(f"{len(flagged):,} of {len(found):,} cells are flagged at a false discovery rate of {q:g}.", err=True)


def _write(table: "pd.DataFrame", out: Path | None) -> None:
    from langdiff._csv_cells import guarded
    from langdiff._io import atomic_path

    if out is not None:
        with atomic_path(out) as temporary:
            guarded(table).to_csv(temporary, index=False)

"""`langdiff reliability`, `short-form` and `flag-outliers`: how sure difficulties are, and which cells to look at."""

from pathlib import Path
from typing import Annotated

import typer

from langdiff.cli.models import Json
from langdiff.cli.output import TABLE, check_ending, print_json, write_frame
from langdiff.cli.paths import existing
from langdiff.cli.units import Verify

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
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Write the table here (.csv, .tsv).")]


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

    check_ending(out, TABLE, "table")
    table = ld.read_surprisals(surprisals, verify=verify)
    beside = None if judge is None else ld.read_surprisals(judge, verify=verify)
    form = ld.short_form(table, k, judge=beside, seed=seed)
    if out is not None:
        write_frame(form.to_frame(), out)
    if as_json:
        print_json(form.to_frame())
    typer.echo(form.summary(), err=as_json)


def flag_outliers(
    surprisals: Tables,
    q: Annotated[float, typer.Option("-q", help="False discovery rate.")] = 0.05,
    verify: Verify = True,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Name the translations that, by two or more language models, need more or fewer bits than they should.

    The tables have the same cells, with 10 editions and 20 intents or more.

    Example: langdiff flag-outliers models/surprisals-char-residual.csv models/surprisals-kneser-ney-6.csv -o cells.csv
    """
    import langdiff as ld

    check_ending(out, TABLE, "table")
    found = ld.flag_outliers({path.stem: ld.read_surprisals(path, verify=verify) for path in surprisals}, q=q)
    if out is not None:
        write_frame(found, out)
    flagged = found[found["flagged"]]
    if as_json:
        print_json(flagged)
    else:
        typer.echo(found.head(max(len(flagged), 10)).round(4).to_string(index=False))
    typer.echo(f"{len(flagged):,} of {len(found):,} cells are flagged at a false discovery rate of {q:g}.", err=True)

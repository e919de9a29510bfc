"""`langdiff simulate`: surprisals from a model, and the truth behind them."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from langdiff.cli.given import refuse_given
from langdiff.cli.output import check_ending, print_table
from langdiff.regression.variants import Model, find_variant


def simulate(
    context: typer.Context,
    intents: Annotated[int, typer.Option(help="Number of intents (rows).", min=1)],
    editions: Annotated[int, typer.Option(help="Number of editions (columns).")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Write the surprisals to this table (.csv, .tsv, .parquet).")
    ],
    model: Annotated[Model, typer.Option(help="Model to draw from.")] = "2",
    sigma: Annotated[float | None, typer.Option(help="Dispersion in nats; 0.2 in model 1, else 1.3.")] = None,
    laplace_scale: Annotated[float | None, typer.Option(help="Scale b of model 3, nats.")] = None,
    missing: Annotated[float, typer.Option(help="Share of cells to delete, from 0 to 1.")] = 0.0,
    mechanism: Annotated[
        Literal["MCAR", "MAR", "MNAR"],
        typer.Option(help="What makes cells missing: chance, a large first edition, or their own size."),
    ] = "MCAR",
    seed: Annotated[int, typer.Option(help="Seed of the draws.", min=0)] = 0,
    truth: Annotated[Path | None, typer.Option(help="Write the true parameters here (.json).")] = None,
) -> None:
    """Draw surprisals whose true difficulties are known, and print these.

    Example: langdiff simulate --intents 500 --editions 8 --missing 0.2 --out drawn.csv --truth truth.json
    """
    import langdiff as ld
    from langdiff.tables.long_tables import table_kind

    if not missing:
        refuse_given(
            context, ["mechanism"], "is what makes cells missing: give their share, --missing, or leave it out."
        )
    table_kind(out)  # an error before any work is done
    check_ending(truth, (".json",))
    known = ld.simulate(
        intents,
        editions,
        model=find_variant(model, laplace_scale=laplace_scale),
        sigma=sigma,
        missing=missing,
        mechanism=mechanism,
        seed=seed,
    )
    surprisals = known.surprisals
    surprisals.save(out)
    if truth is not None:
        known.save(truth)
    print_table(known.difficulty.rename_axis("edition").reset_index(), repr(surprisals), {"difficulty": "{:+.4f}"})

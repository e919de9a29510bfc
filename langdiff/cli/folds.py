"""`langdiff compare-folds`, and the options that divide a corpus by documents or into folds."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from langdiff.cli.clusters import Clusters, IntentInfo
from langdiff.cli.output import print_json
from langdiff.cli.paths import existing
from langdiff.cli.units import Unit, Verify
from langdiff.regression.variants import Model

if TYPE_CHECKING:
    from langdiff.tables.divisions import Folds, Parts
    from langdiff.tables.multitext import Multitext

GroupsOption = Annotated[
    str | None,
    typer.Option(
        "--groups",
        help="What intents that are not divided have in common: document, book, chapter or another column.",
        metavar="COLUMN",
    ),
]
FoldsOption = Annotated[
    int | None,
    typer.Option(
        "--folds",
        help="Score every intent, by models of this number of folds that are trained on the groups of the others.",
        min=2,
    ),
]


def divide(multitext: "Multitext", groups: str | None, folds: int | None) -> "Parts | Folds":
    """Divide the intents that all editions share; with folds, measure the others, too."""
    import langdiff as ld

    if folds is None:
        return ld.split(multitext.dropna(), groups=groups)
    return ld.split_into_folds(multitext, folds, groups=groups, incomplete="test")


def fold_folders(models: Path, folds: int | None) -> list[Path]:
    """Return the folders whose models `langdiff score` can take: the folder of models, or that of each fold."""
    from langdiff.lm.jobs.folder import fold_cache

    return [models] if folds is None else [fold_cache(models, number) for number in range(1, folds + 1)]


def compare_folds(
    surprisals: Annotated[
        Path,
        typer.Argument(
            help="Table (.csv, .tsv, .parquet) that `train --folds` wrote.", metavar="SURPRISALS", callback=existing
        ),
    ],
    clusters: Clusters = None,
    intent_info: IntentInfo = None,
    folds: Annotated[str, typer.Option(help="Column that names the fold of each intent.", metavar="COLUMN")] = "fold",
    model: Annotated[Model, typer.Option(help="Regression model.")] = "2",
    restricted: Annotated[bool, typer.Option("--restricted", help="Maximize the restricted likelihood.")] = False,
    n_permutations: Annotated[int, typer.Option(help="Number of permutations of the test.", min=1)] = 999,
    seed: Annotated[int, typer.Option(help="Seed of the permutations.", min=0)] = 0,
    unit: Unit = None,
    verify: Verify = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Tell how far difficulties differ between the models of several folds, and test whether they do.

    Example: langdiff compare-folds models/surprisals-char-residual.csv --clusters document
    """
    import langdiff as ld
    from langdiff.regression import compare_folds as compare

    found = compare(
        ld.read_surprisals(surprisals, unit=unit, verify=verify, intent_info=intent_info),
        folds=folds,
        clusters=clusters,
        n_permutations=n_permutations,
        seed=seed,
        model=model,
        restricted=restricted,
    )
    if as_json:
        print_json(found.to_frame().reset_index())
    else:
        typer.echo(found.summary())

"""`langdiff curve`: difficulties against the size of the training data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from langdiff.cli.clusters import Clusters
from langdiff.cli.corpus import Corpus, reads_corpus
from langdiff.cli.folds import FoldsOption, GroupsOption, divide
from langdiff.cli.models import Device, HowToScore, Json, MaxReplaced, Tokenize, prepared_text
from langdiff.cli.output import print_json, save_picture
from langdiff.regression.variants import Model

if TYPE_CHECKING:
    from langdiff.regression import DifficultyCurve


@reads_corpus
def curve(
    corpus: Corpus,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for models, curve.json, tables and pictures.")],
    sizes: Annotated[str, typer.Option("--sizes", help="Numbers of training intents, such as 500,1000,2000,4000.")],
    lm: Annotated[
        str, typer.Option("--lm", help="Language model, such as kneser-ney-6 or char-residual.")
    ] = "kneser-ney-6",
    scoring: HowToScore = None,
    match: Annotated[
        Literal["intents", "bytes", "characters"],
        typer.Option(help="What editions have alike at a size: the intents, or the amount of text."),
    ] = "intents",
    model: Annotated[Model, typer.Option(help="Regression model.")] = "2",
    clusters: Clusters = None,
    groups: GroupsOption = None,
    folds: FoldsOption = None,
    max_replaced: MaxReplaced = 0.05,
    tokenize: Tokenize = True,
    device: Device = "auto",
    workers: Annotated[int, typer.Option(help="Editions trained at a time.", min=1)] = 1,
    seed: Annotated[int, typer.Option(help="Seed.", min=0)] = 0,
    seeds: Annotated[
        int, typer.Option(help="Orders of the training intents; two or more show their spread.", min=1)
    ] = 1,
    as_json: Json = False,
) -> None:
    """Train language models on nested parts of the training data; show how difficulties change with size.

    Example: langdiff curve selected/ --sizes 500,1000,2000,4000 --lm kneser-ney-6 --out curve
    """
    import langdiff as ld
    from langdiff.base.cells import guarded
    from langdiff.base.io import atomic_path

    numbers = _numbers(sizes)
    multitext, _ = prepared_text(corpus, tokenize)
    parts = divide(multitext, groups, folds)
    typer.echo(f"{multitext!r}; {'shared by all: ' if folds is None else ''}{parts.summary()}", err=True)
    result = ld.difficulty_curve(
        parts,
        train_sizes=numbers,
        lm=lm,
        scoring=scoring,
        match=match,
        n_seeds=seeds,
        seed=seed,
        model=model,
        clusters=clusters,
        max_replaced=max_replaced,
        compute=ld.lm.Compute(device=device, cache=out, workers=workers),
    )
    result.save(out / "curve.json")
    tables = {"curve": result.to_frame(), "correlations": result.correlations(), "changes": result.changes()}
    for name, table in tables.items():
        with atomic_path(out / f"{name}.csv") as temporary:
            guarded(table).to_csv(temporary, index=False)
    save_picture(result.plot, out / "curve.svg")
    save_picture(lambda: result.plot("ranks"), out / "ranks.svg")
    save_picture(lambda: result.plot("correlations"), out / "correlations.svg")
    if as_json:
        print_json(result.to_frame())
    else:
        typer.echo(result.summary())
        typer.echo(_floors(result))
    typer.echo(f"Curve, tables and pictures: {out}", err=True)


def _numbers(sizes: str) -> list[int]:
    from langdiff.errors import ConfigError

    try:
        return [int(size) for size in sizes.split(",")]
    except ValueError as error:
        raise ConfigError(
            f"--sizes {sizes}: write whole numbers with commas between, such as 500,1000,2000."
        ) from error


def _floors(result: "DifficultyCurve") -> str:
    """Return the floors, or why there are none."""
    from langdiff.errors import LangdiffError

    try:
        return result.asymptotes().summary()
    except LangdiffError as error:
        return f"No floors: {error}"

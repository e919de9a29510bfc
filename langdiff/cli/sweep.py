"""`langdiff sweep`: the best number of BPE merges of a language model."""

from pathlib import Path
from typing import Annotated

import typer

from langdiff.cli.corpus import Corpus, reads_corpus
from langdiff.cli.models import Device, Json, MaxReplaced, Tokenize, prepared_text
from langdiff.cli.output import print_json, save_picture


@reads_corpus
def sweep(
    corpus: Corpus,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for models, sweep.csv and sweep.svg.")],
    ratio: Annotated[
        list[float] | None,
        typer.Option("--ratio", help="Merges per distinct word (repeat for more); 0, 0.1, … 1 by default."),
    ] = None,
    lm: Annotated[str, typer.Option("--lm", help="Recipe of BPE units, such as bpe-small.")] = "bpe-small",
    max_replaced: MaxReplaced = 0.05,
    tokenize: Tokenize = True,
    device: Device = "auto",
    workers: Annotated[int, typer.Option(help="Editions trained at a time.", min=1)] = 1,
    seed: Annotated[int, typer.Option(help="Seed.", min=0)] = 0,
    as_json: Json = False,
) -> None:
    """Train a language model per edition and number of merges; compare their bits on the dev part.

    Example: langdiff sweep selected/ --lm bpe-small --out merges --ratio 0.2 --ratio 0.4 --ratio 0.8
    """
    import langdiff as ld
    from langdiff.base.cells import guarded
    from langdiff.base.io import atomic_path
    from langdiff.experiments.bpe_sweep import RATIOS
    from langdiff.lm.texts import note_preparation

    multitext, tokenization = prepared_text(corpus, tokenize)
    parts = ld.split(multitext.dropna())
    typer.echo(f"{multitext!r}; shared by all: {parts.summary()}", err=True)
    note_preparation(out, tokenization)
    result = ld.sweep_merges(
        parts,
        ratios=ratio or RATIOS,
        lm=lm,
        max_replaced=max_replaced,
        seed=seed,
        compute=ld.lm.Compute(device=device, cache=out, workers=workers),
    )
    with atomic_path(out / "sweep.csv") as temporary:
        guarded(result.to_frame()).to_csv(temporary, index=False)
    save_picture(result.plot, out / "sweep.svg")
    result.best_surprisals().save(out / f"surprisals-{lm}-best.csv")
    if as_json:
        print_json(result.to_frame())
    else:
        typer.echo(result.summary())
    typer.echo(f"Table, picture and test surprisals at each edition's best: {out}", err=True)

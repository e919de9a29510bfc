"""`langdiff train` and `score`: from text to bits."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from langdiff.cli.corpus import Corpus, Editions, Format, Metadata, open_corpus
from langdiff.cli.output import print_json, print_table

if TYPE_CHECKING:
    from langdiff.run.preparation import Tokenization
    from langdiff.surprisals import Surprisals

Lm = Annotated[str, typer.Option("--lm", help="Recipe of language model, such as char-small or kneser-ney-6.")]
Device = Annotated[str, typer.Option("--device", help="auto, cpu or cuda.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Tokenize = Annotated[
    bool,
    typer.Option("--tokenize/--as-is", help="Split punctuation off reversibly, or take the text as it is."),
]


def train(
    corpus: Corpus,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for models and surprisals.")],
    lm: Lm = "char-small",
    format: Format = "auto",
    metadata: Metadata = None,
    edition: Editions = None,
    tokenize: Tokenize = True,
    device: Device = "auto",
    workers: Annotated[int, typer.Option(help="Editions trained at a time.", min=1)] = 1,
    seed: Annotated[int, typer.Option(help="Seed.", min=0)] = 0,
    as_json: Json = False,
) -> None:
    """Train one language model an edition on the intents they share; score the test intents.

    Example: langdiff train selected/ --lm char-small --out models
    """
    import langdiff as ld
    from langdiff.run.preparation import note_preparation, prepare_text

    tokenization: Tokenization = "reversible" if tokenize else "as-is"
    multitext = prepare_text(open_corpus(corpus, format, metadata, edition), tokenization)
    parts = ld.split(multitext.dropna())
    typer.echo(f"{multitext!r}; shared by all: {parts.summary()}", err=True)
    note_preparation(out, tokenization)
    table = ld.compute_surprisals(parts, lm=lm, device=device, seed=seed, cache=out, workers=workers)
    _finish(table, out / f"surprisals-{lm}.csv", as_json)


def score(
    models: Annotated[Path, typer.Argument(help="Folder that `langdiff train` wrote.", metavar="MODELS")],
    corpus: Corpus,
    out: Annotated[Path, typer.Option("--out", "-o", help="Table to write: .csv, .tsv or .parquet.")],
    lm: Lm = "char-small",
    format: Format = "auto",
    metadata: Metadata = None,
    edition: Editions = None,
    device: Device = "auto",
    as_json: Json = False,
) -> None:
    """Score every intent of a corpus with language models trained before, tokenised as for training.

    Example: langdiff score models other-bibles/ --out surprisals.csv
    """
    import langdiff as ld
    from langdiff.run.preparation import prepare_text, read_preparation
    from langdiff.surprisals import check_table_name

    check_table_name(out)
    multitext = prepare_text(open_corpus(corpus, format, metadata, edition), read_preparation(models))
    _finish(ld.score_multitext(multitext, models, lm=lm, device=device), out, as_json)


def _finish(table: "Surprisals", path: Path, as_json: bool) -> None:
    table.save(path)
    totals = table.bits_per_character().reset_index()
    if as_json:
        print_json(totals)
    else:
        formats = {"bits": "{:,.0f}", "characters": "{:,.0f}", "bits_per_intent": "{:.2f}"}
        print_table(totals, repr(table), formats | {"bits_per_character": "{:.3f}"})
    typer.echo(f"Surprisals: {path}", err=True)

"""`langdiff train` and `score`: from text to bits."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from langdiff.cli.corpus import Corpus, reads_corpus
from langdiff.cli.folds import FoldsOption, GroupsOption, divide, fold_folders
from langdiff.cli.output import print_json, print_table, save_picture
from langdiff.cli.paths import existing
from langdiff.errors import ConfigError

if TYPE_CHECKING:
    from langdiff.base.types import Tokenization
    from langdiff.tables.divisions import Folds, Parts
    from langdiff.tables.multitext import Multitext
    from langdiff.tables.surprisals import Surprisals
    from langdiff.tables.token_tables import TokenScores

LM_HELP = "Language model, such as char-residual or kneser-ney-6; -unpriced at its end is a way of scoring."
MAX_REPLACED_HELP = "Fraction of an edition's characters that may be replaced as too rare."
Lm = Annotated[str, typer.Option("--lm", help=LM_HELP)]
HowToScore = Annotated[
    str | None,
    typer.Option("--scoring", help="priced (replaced characters, the default) or unpriced; carried."),
]
MaxReplaced = Annotated[float, typer.Option(help=MAX_REPLACED_HELP, min=0, max=1)]
Device = Annotated[str, typer.Option("--device", help="auto, cpu or cuda.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Tokenize = Annotated[
    bool,
    typer.Option("--tokenize/--as-is", help="Split punctuation off reversibly, or take the text as it is."),
]


@reads_corpus
def train(
    corpus: Corpus,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for models and surprisals.")],
    lm: Lm = "char-residual",
    scoring: HowToScore = None,
    max_replaced: MaxReplaced = 0.05,
    groups: GroupsOption = None,
    folds: FoldsOption = None,
    tokenize: Tokenize = True,
    device: Device = "auto",
    workers: Annotated[int, typer.Option(help="Editions trained at a time.", min=1)] = 1,
    seed: Annotated[int, typer.Option(help="Seed.", min=0)] = 0,
    seeds: Annotated[
        int, typer.Option(help="Models per edition, each from its own seed; more than one show the spread.", min=1)
    ] = 1,
    as_json: Json = False,
) -> None:
    """Train one language model per edition on the intents they share; score the test intents.

    Example: langdiff train selected/ --lm char-residual --out models

    Example: langdiff train selected/ --lm char-residual --out models --seeds 3

    Example: langdiff train wmt/*.sgm --lm char-residual --out models --folds 5 --groups document
    """
    import langdiff as ld
    from langdiff.lm import Compute
    from langdiff.lm.language_model import find_scored_lm
    from langdiff.lm.texts import note_preparation

    named = find_scored_lm(lm, scoring)  # an error before the corpus is read
    multitext, tokenization = prepared_text(corpus, tokenize)
    parts = divide(multitext, groups, folds)
    typer.echo(f"{multitext!r}; {'shared by all: ' if folds is None else ''}{parts.summary()}", err=True)
    for folder in fold_folders(out, folds):
        note_preparation(folder, tokenization)
    settings: dict[str, Any] = {"lm": lm, "scoring": scoring, "max_replaced": max_replaced, "seed": seed}
    computing: dict[str, Any] = {"device": device, "cache": out, "workers": workers}
    if seeds > 1:
        for of_seed in _replicate(parts, seeds, settings | {"compute": Compute(**computing)}, as_json):
            for folder in fold_folders(of_seed, folds):
                note_preparation(folder, tokenization)  # so that `langdiff score` reads it, too
    else:
        _finish(ld.compute_surprisals(parts, **settings, **computing), out / f"surprisals-{named.name}.csv", as_json)
    _draw_learning(out, named.recipe.name)


def prepared_text(corpus: Corpus, tokenize: bool) -> "tuple[Multitext, Tokenization]":
    """Read a corpus and tokenize it, or not; return how, too."""
    from langdiff.corpora.tokenizer import prepare_text

    tokenization: Tokenization = "reversible" if tokenize else "as-is"
    return prepare_text(corpus.open(), tokenization), tokenization


def _replicate(parts: "Parts | Folds", seeds: int, settings: dict[str, Any], as_json: bool) -> list[Path]:
    """Train from several seeds, write all tables and print the spread; return the folders of the seeds' models."""
    from langdiff.base.cells import guarded
    from langdiff.base.io import atomic_path
    from langdiff.experiments import replicate

    out = settings["compute"].cache
    replicates = replicate(parts, n_seeds=seeds, **settings)
    lm = next(iter(replicates.surprisals.values())).lm
    for number, table in replicates.surprisals.items():
        table.save(out / f"surprisals-{lm}-seed-{number}.csv")
    with atomic_path(out / f"replicates-{lm}.csv") as temporary:
        guarded(replicates.to_frame()).to_csv(temporary)
    if as_json:
        print_json(replicates.to_frame().reset_index())
    else:
        typer.echo(replicates.summary())
    typer.echo(f"Table and surprisals of every seed: {out}", err=True)
    return [out / f"seed-{number}" for number in replicates.surprisals]


def _draw_learning(out: Path, recipe: str) -> None:
    """Draw dev bits by epoch of the models of a recipe; n-grams are counted once and have no curve."""
    from langdiff.lm import read_training_logs
    from langdiff.plots import plot_learning_curves

    logs = read_training_logs(out)
    logs = logs[(logs["lm"] == recipe) & logs["train_bits_per_unit"].notna()]
    if len(logs):
        picture = out / f"learning-curves-{recipe}.svg"
        save_picture(lambda: plot_learning_curves(logs), picture)
        typer.echo(f"Learning curves: {picture}", err=True)


@reads_corpus
def score(
    models: Annotated[
        Path,
        typer.Argument(
            help="Folder that `langdiff train` wrote; with --hf, that of a causal model.",
            metavar="MODELS",
            callback=existing,
        ),
    ],
    corpus: Corpus,
    out: Annotated[Path, typer.Option("--out", "-o", help="Table to write: .csv, .tsv or .parquet.")],
    lm: Annotated[str | None, typer.Option("--lm", help=f"{LM_HELP} By default char-residual.")] = None,
    scoring: HowToScore = None,
    max_replaced: Annotated[
        float | None, typer.Option(help=f"{MAX_REPLACED_HELP} By default 0.05.", min=0, max=1)
    ] = None,
    device: Device = "auto",
    hf: Annotated[bool, typer.Option("--hf", help="MODELS is a folder of the Transformers library.")] = False,
    dtype: Annotated[str | None, typer.Option(help="With --hf: float32 (by default), bfloat16 or float16.")] = None,
    cache: Annotated[
        Path | None, typer.Option(help="With --hf: where scored editions are kept, to go on after an interruption.")
    ] = None,
    per: Annotated[
        Literal["text", "token", "word"],
        typer.Option(help="What has a row: text, token (a unit of the model) or word."),
    ] = "text",
    as_json: Json = False,
) -> None:
    """Score every intent of a corpus with language models trained before, tokenized as for training.

    With --hf, one model of the Transformers library scores the texts of all editions as they are.

    Example: langdiff score models other-bibles/ --out surprisals.csv

    Example: langdiff score models other-bibles/ --out unpriced.csv --scoring unpriced

    Example: langdiff score models other-bibles/ --per word --out words.parquet

    Example: langdiff score --hf models/gpt2 ntrex/ --out surprisals.csv --cache scored

    Example: langdiff score --hf models/gpt2 ntrex/ --per word --out words.parquet
    """
    import langdiff as ld
    from langdiff.corpora.tokenizer import prepare_text
    from langdiff.lm import read_models, token_scores
    from langdiff.lm.language_model import find_scored_lm
    from langdiff.lm.texts import NOTE, read_preparation
    from langdiff.tables.long_tables import table_kind

    table_kind(out)  # an error before any work is done
    if hf:
        if any(given is not None for given in (lm, scoring, max_replaced)):
            raise ConfigError("--lm, --scoring, --max-replaced are for models trained here: leave them out, or --hf.")
        model = ld.HuggingFaceLM(models, device=device, dtype=dtype or "float32")
        if per != "text":
            if cache is not None:
                raise ConfigError("--cache keeps bits of texts: leave it out, or --per.")
            _write_tokens(model.token_scores(corpus.open()), per, out, as_json)
            return
        _finish(ld.surprisals_of(model, corpus.open(), lm=model.name, cache=cache), out, as_json)
        return
    if cache is not None or dtype is not None:
        raise ConfigError("--cache and --dtype are for models of the Transformers library: add --hf.")
    if (models / "config.json").is_file() and not (models / NOTE).is_file():
        raise ConfigError(f"{models}: holds a model of the Transformers library: add --hf.")
    lm, max_replaced = lm or "char-residual", 0.05 if max_replaced is None else max_replaced
    multitext = prepare_text(corpus.open(), read_preparation(models))
    if per != "text":
        recipe, how = find_scored_lm(lm, scoring)
        trained = read_models(models, multitext.editions, lm=recipe, device=device)
        _write_tokens(token_scores(trained, multitext, scoring=how, max_replaced=max_replaced), per, out, as_json)
        return
    scored = ld.score_multitext(multitext, models, lm=lm, scoring=scoring, max_replaced=max_replaced, device=device)
    _finish(scored, out, as_json)


def _write_tokens(scores: "TokenScores", per: Literal["token", "word"], path: Path, as_json: bool) -> None:
    from langdiff.tables.long_tables import write_table_file

    frame = scores.to_frame() if per == "token" else scores.words()
    write_table_file(frame, path)
    if as_json:
        print_json(frame)
    else:
        typer.echo(scores.summary())
    typer.echo(f"Scores: {path}", err=True)


def _finish(table: "Surprisals", path: Path, as_json: bool) -> None:
    table.save(path)
    totals = table.bits_per_character().reset_index()
    if as_json:
        print_json(totals)
    else:
        hidden = ["units_per_byte"]
        hidden += ["replaced_percent"] if table.replaced is None else []
        if table.tokens is None:
            hidden += ["units", "bits_per_unit", "units_per_character"]
        totals = totals.drop(columns=hidden)
        rates = [str(name) for name in totals if "_per_" in str(name)]
        formats = dict.fromkeys(("bits", "characters", "bytes", "units"), "{:,.0f}")
        formats |= dict.fromkeys([*rates, "replaced_percent"], "{:.3f}") | {"bits_per_intent": "{:.2f}"}
        shown = totals.rename(columns=_spaced)  # so that a narrow terminal can break the names
        print_table(shown, repr(table), {_spaced(name): look for name, look in formats.items()})
    typer.echo(f"Surprisals: {path}", err=True)


def _spaced(name: str) -> str:
    return name.replace("_", " ")

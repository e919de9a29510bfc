"""From text to bits: training, scoring, numbers of merges, difficulties by size of the training data."""

from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from langdiff.cli.commands import Call, Command, load
from langdiff.cli.options import Corpus, DividedTexts, Texts, existing, existing_here, new_folder
from langdiff.cli.output import Json, Output, echo, print_frame, print_json, save_picture, write_frame
from langdiff.errors import ConfigError, LangdiffError

if TYPE_CHECKING:
    from langdiff.experiments.replicates import Replicates
    from langdiff.lm import Compute, HuggingFaceLM
    from langdiff.regression import DifficultyCurve
    from langdiff.tables.multitext import Multitext
    from langdiff.tables.surprisals import Surprisals
    from langdiff.tables.token_tables import TokenScores

app = typer.Typer(rich_help_panel="Text to bits")


COMPUTING = ("device", "workers", "progress")  # where language models are trained
OF_TRAINING = ("train_sizes", "lm", "n_seeds", "scoring", "max_replaced", *COMPUTING)


SCORING = "priced (replaced characters, the default) or unpriced; scripts (price theirs, too); carried."


LM = {
    "scoring": SCORING,
    "max_replaced": "Fraction of an edition's characters that may be replaced as too rare.",
}


@Command(
    app,
    "langdiff.compute_surprisals",
    kinds={"lm": str, "scoring": str},
    help=LM,
    without=("parts", "cache"),
    brief="Train one language model per edition, and score.",
)
def train(
    texts: DividedTexts,
    call: Call,
    out: Annotated[Path, typer.Option("--out", "-o", callback=new_folder, help="Folder for models and surprisals.")],
    n_seeds: Annotated[int, typer.Option(min=1)] = 1,
    as_json: Json = False,
) -> None:
    """Train one language model per edition on the intents they share; score the test intents.

    Example: langdiff train selected/ --lm char-residual --out models

    Example: langdiff train selected/ --lm char-residual --out models --n-seeds 3

    Example: langdiff train wmt/*.sgm --lm char-residual --out models --folds 5 --groups document
    """
    from langdiff.experiments import replicate
    from langdiff.lm.language_model import find_scored_lm
    from langdiff.lm.scoring import split_name
    from langdiff.lm.texts import note_preparation

    find_scored_lm(call.given["lm"], call.given["scoring"])  # an error before the corpus is read
    parts, tokenization = texts.divide()
    for folder in texts.folders(out):
        note_preparation(folder, tokenization)
    if n_seeds > 1:
        replicates = replicate(parts, n_seeds=n_seeds, compute=computing(call, out), **call.arguments(*COMPUTING))
        for seed in replicates.surprisals:
            for folder in texts.folders(out / f"seed-{seed}"):
                note_preparation(folder, tokenization)  # so that `langdiff score` reads it, too
        surprisals = next(iter(replicates.surprisals.values()))
        _show_replicates(replicates, out, as_json)
    else:
        surprisals = call(parts=parts, cache=out)
        _finish(surprisals, out / f"surprisals-{surprisals.lm}.csv", as_json)
    _draw_learning(out, split_name(surprisals.lm)[0])


def computing(call: Call, out: Path | None) -> "Compute":
    """Return how language models are trained, and the folder that keeps them."""
    from langdiff.lm import Compute

    return Compute(cache=out, **{name: call.given[name] for name in COMPUTING})


def _show_replicates(replicates: "Replicates", out: Path, as_json: bool) -> None:
    """Write the tables of all seeds, and print the spread."""
    lm = next(iter(replicates.surprisals.values())).lm
    for seed, table in replicates.surprisals.items():
        table.save(out / f"surprisals-{lm}-seed-{seed}.csv")
    write_frame(replicates.to_frame().reset_index(), out / f"replicates-{lm}.csv")
    Output(as_json=as_json).show(replicates)
    typer.echo(f"Table and surprisals of every seed: {out}", err=True)


def _draw_learning(out: Path, recipe: str) -> None:
    """Draw dev bits by epoch of the models of a recipe; n-grams are counted once and have no curve."""
    from langdiff.lm import read_training_logs

    logs = read_training_logs(out)
    logs = logs[(logs["lm"] == recipe) & logs["train_bits_per_unit"].notna()]
    if len(logs):
        picture = out / f"learning-curves-{recipe}.svg"
        save_picture(lambda: load("langdiff.plots.plot_learning_curves")(logs), picture)
        typer.echo(f"Learning curves: {picture}", err=True)


TRANSFORMER = ("dtype", "device_map", "batch_size", "max_length", "overlap", "start_token", "end_token")


@Command(
    app,
    "langdiff.score_multitext",
    kinds={"lm": str, "scoring": str, "device_map": str},
    settings={"langdiff.HuggingFaceLM": TRANSFORMER},
    help=LM,
    panels={"With --hf": (*TRANSFORMER, "cache", "shard")},
    without=("multitext", "models", "progress"),
    only={
        "hf": (*TRANSFORMER, "cache", "shard"),
        "without hf": ("lm", "scoring", "max_replaced", "training_seed"),
        "without shard": ("as_json",),
    },
    brief="Score a corpus with models trained before.",
)
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
    call: Call,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Table to write: .csv, .tsv or .parquet.")] = None,
    hf: Annotated[bool, typer.Option("--hf", help="MODELS is a folder of the Transformers library.")] = False,
    cache: Annotated[
        Path | None,
        typer.Option(
            help="Where scored editions are kept, to go on after an interruption.", rich_help_panel="With --hf"
        ),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            rich_help_panel="With --hf",
        ),
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

    Example: langdiff score --hf models/gpt2 ntrex/ --shard 2/8 --cache scored
    """
    import langdiff as ld
    from langdiff.corpora.tokenizer import prepare_text
    from langdiff.lm import read_models, token_scores
    from langdiff.lm.language_model import find_scored_lm
    from langdiff.lm.texts import NOTE, read_preparation
    from langdiff.tables.long_tables import table_kind

    if (shard is None) == (out is None) or (shard is not None and cache is None):
        raise ConfigError("give --out, the table to write, or --shard with --cache, the folder of all shares.")
    if out is not None:
        table_kind(out)  # an error before any work is done
    if hf:
        if per != "text" and cache is not None:
            raise ConfigError("--cache keeps bits of texts: leave it out, or --per.")
        model = ld.HuggingFaceLM(models, **{name: call.given[name] for name in ("device", *TRANSFORMER)})
        _score_transformer(model, corpus.open(), per, out=out, cache=cache, shard=shard, as_json=as_json)
        return
    written = cast(Path, out)  # without --shard there is one
    if (models / "config.json").is_file() and not (models / NOTE).is_file():
        raise ConfigError(f"{models}: holds a model of the Transformers library: add --hf.")
    multitext = prepare_text(corpus.open(), read_preparation(models))
    if per == "text":
        _finish(call(multitext=multitext, models=models), written, as_json)
        return
    given = call.given
    recipe, how = find_scored_lm(given["lm"], given["scoring"])
    trained = read_models(
        models, multitext.editions, lm=recipe, device=given["device"], training_seed=given["training_seed"]
    )
    scores = token_scores(trained, multitext, scoring=how, max_replaced=given["max_replaced"])
    _write_tokens(scores, per, written, as_json)


def _score_transformer(
    model: "HuggingFaceLM",
    multitext: "Multitext",
    per: Literal["text", "token", "word"],
    *,
    out: Path | None,
    cache: Path | None,
    shard: str | None,
    as_json: bool,
) -> None:
    """Write the scores of a model of the Transformers library, or keep those of one share."""
    import langdiff as ld

    if out is None:
        mine = ld.lm.score_shard(model, multitext, shard=shard or "", cache=cache or Path(), lm=model.name)
        typer.echo(f"Share {shard}: {len(mine)} editions in {cache}; join all shares by langdiff merge.", err=True)
    elif per == "text":
        _finish(ld.surprisals_of(model, multitext, lm=model.name, cache=cache), out, as_json)
    else:
        _write_tokens(model.token_scores(multitext), per, out, as_json)


@Command(app, name="merge", brief="Join the shares of a scored corpus to one table.")
def merge(
    cache: Annotated[Path, typer.Argument(help="Folder that langdiff score --shard wrote to.", callback=existing_here)],
    out: Annotated[Path, typer.Option("--out", "-o", help="Table to write: .csv, .tsv or .parquet.")],
    as_json: Json = False,
) -> None:
    """Join the shares of a scored corpus to one table; of several language models, to a stack of their tables.

    Example: langdiff merge scored --out surprisals.parquet
    """
    import langdiff as ld
    from langdiff.tables.long_tables import table_kind

    table_kind(out)
    tables = ld.lm.merge_shards(cache)
    _finish(next(iter(tables.values())) if len(tables) == 1 else ld.stack(tables), out, as_json)


def _write_tokens(scores: "TokenScores", per: Literal["token", "word"], path: Path, as_json: bool) -> None:
    from langdiff.tables.long_tables import write_table_file

    frame = scores.to_frame() if per == "token" else scores.words()
    write_table_file(frame, path)
    if as_json:
        print_json(frame)
    else:
        echo(scores.summary())
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
        print_frame(shown, repr(table), {_spaced(name): look for name, look in formats.items()})
    typer.echo(f"Surprisals: {path}", err=True)


def _spaced(name: str) -> str:
    return name.replace("_", " ")


@Command(
    app,
    "langdiff.sweep_merges",
    kinds={"lm": str},
    help=LM,
    without=("parts", "cache"),
    brief="Compare numbers of merges by bits on the dev part.",
)
def sweep(
    texts: Texts,
    call: Call,
    out: Annotated[
        Path, typer.Option("--out", "-o", callback=new_folder, help="Folder for models, sweep.csv and sweep.svg.")
    ],
    as_json: Json = False,
) -> None:
    """Train a language model per edition and number of merges; compare their bits on the dev part.

    Example: langdiff sweep selected/ --lm bpe-small --out merges --ratio 0.2 --ratio 0.4 --ratio 0.8
    """
    import langdiff as ld
    from langdiff.lm.texts import note_preparation

    multitext, tokenization = texts.prepared()
    parts = ld.split(multitext.dropna())
    typer.echo(f"{multitext!r}; shared by all: {parts.summary()}", err=True)
    note_preparation(out, tokenization)
    result = call(parts=parts, compute=computing(call, out))
    write_frame(result.to_frame(), out / "sweep.csv")
    save_picture(result.plot, out / "sweep.svg")
    result.best_surprisals().save(out / f"surprisals-{call.given['lm']}-best.csv")
    Output(as_json=as_json).show(result)
    typer.echo(f"Table, picture and test surprisals at each edition's best: {out}", err=True)


@Command(
    app,
    "langdiff.difficulty_curve",
    kinds={"lm": str, "scoring": str},
    help=LM,
    without=("parts", "cache", "match", "n_draws", "train_sizes"),
    only={"without step": (*OF_TRAINING, *(name for name in signature(DividedTexts).parameters if name != "corpus"))},
    panel="How sure, how much text",
    brief="Show how difficulties change with training size.",
)
def curve(
    texts: DividedTexts,
    call: Call,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", callback=new_folder, help="Folder for models, curve.json, tables and pictures."),
    ],
    train_sizes: Annotated[
        str | None, typer.Option(help="Numbers of training intents, such as 500,1000,2000,4000.")
    ] = None,
    step: Annotated[
        str | None, typer.Option(help="Column of the step, where CORPUS is one table of bits of a training run.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Train language models on nested parts of the training data; show how difficulties change with size.

    With --step the curve is that of a training run of your own, whose bits `langdiff.lm.TrainingBits` has written.

    Example: langdiff curve selected/ --train-sizes 500,1000,2000,4000 --lm kneser-ney-6 --out curve

    Example: langdiff curve bits.jsonl --step step --out curve
    """
    if (train_sizes is None) == (step is None):
        raise ConfigError("give --train-sizes, of models to be trained, or --step, of bits of a training run.")
    if step is not None:
        result = _of_steps(texts.corpus, step, call)
    else:
        numbers, (parts, _) = _numbers(str(train_sizes)), texts.divide()
        result = call(parts=parts, train_sizes=numbers, compute=computing(call, out))
    result.save(out / "curve.json")
    tables = {"curve": result.to_frame(), "correlations": result.correlations(), "changes": result.changes()}
    for name, table in tables.items():
        write_frame(table, out / f"{name}.csv")
    save_picture(result.plot, out / "curve.svg")
    save_picture(lambda: result.plot("ranks"), out / "ranks.svg")
    save_picture(lambda: result.plot("correlations"), out / "correlations.svg")
    Output(as_json=as_json).show(result)
    if not as_json:
        echo(_floors(result))
    typer.echo(f"Curve, tables and pictures: {out}", err=True)


def _of_steps(paths: list[str], step: str, call: Call) -> "DifficultyCurve":
    """Return the curve of a training run."""
    from langdiff.lm import read_training
    from langdiff.regression import fit_curve

    if len(paths) != 1:
        raise ConfigError(f"--step is for one table of bits, not {len(paths)}.")
    settings = {name: call.given[name] for name in ("model", "clusters", "seed")}
    return fit_curve(read_training(paths[0], step=step), axis="step", **settings)


def _numbers(sizes: str) -> list[int]:
    try:
        return [int(size) for size in sizes.split(",")]
    except ValueError as error:
        raise ConfigError(
            f"--train-sizes {sizes}: write whole numbers with commas between, such as 500,1000,2000."
        ) from error


def _floors(result: "DifficultyCurve") -> str:
    """Return the floors, or why there are none."""
    try:
        return result.asymptotes().summary()
    except LangdiffError as error:
        return f"No floors: {error}"

"""Of languages and their texts: correlations, spread, parity, translationese, published figures."""

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from langdiff.base.grids import Shown
from langdiff.cli.commands import LONG, OF_TABLES, READER, Call, Command, load
from langdiff.cli.options import (
    Corpus,
    existing,
    existing_after_name,
    named_files,
    new_folder,
    read_frame,
    refuse_given,
)
from langdiff.cli.output import (
    Json,
    Output,
    Plot,
    check_ending,
    check_picture_name,
    print_frame,
    save_picture,
)
from langdiff.cli.training import COMPUTING, computing
from langdiff.errors import ConfigError, DataError

if TYPE_CHECKING:
    import pandas as pd

    from langdiff.regression import DifficultyFit
    from langdiff.tables.multitext import Multitext
    from langdiff.tables.surprisals import Surprisals

app = typer.Typer(rich_help_panel="Questions")
TABLES = (".csv", ".tsv", ".parquet")
LOGS = (".jsonl", ".jsonl.gz", ".jsonl.xz", ".jsonl.bz2")
FAMILIES = ("language", "family")  # columns whose numbers are names


@Command(
    app,
    "langdiff.correlate",
    reads={
        "difficulties": lambda path, _: read_difficulties(path),
        "edition_info": lambda path, _: read_frame(path, FAMILIES),
    },
    renamed={"tests": "test -t", "only": "predictor -p"},
    without=("average", "coordinates", "averaging", "min_level"),
    only={"tests permutation or interval bootstrap": ("seed",)},
    brief="Test predictors against difficulties of languages.",
)
def correlate(
    call: Call,
    output: Output,
    categorical: Annotated[
        list[str] | None, typer.Option(help="Numbers in this column are names of categories (repeat for more).")
    ] = None,
    average: Annotated[
        Literal["language", "edition"],
        typer.Option(help="Average over the editions of a language, or take every edition by itself."),
    ] = "language",
    contrast: list[str] | None = None,
) -> None:
    """Test predictors against the difficulties of languages, adjusted for the number of tests.

    Places for area are in columns latitude and longitude of --edition-info, or else those of Glottolog. With
    --contrast "SOV - SVO", levels of a category are compared by each test that has their means.

    Example: langdiff correlate fit.json predictors.tsv --edition-info editions.csv --tree glottolog/
    """
    from langdiff.base.result import Printed, rounded

    output.check(call.offers)
    frame = read_frame(call.given["predictors"], categorical or (), of_predictors=True)
    result = call(predictors=frame, average="language" if average == "language" else None)
    only = call.given["only"] or []
    shown, found = result.tables(), result.contrasts(contrast) if contrast else None
    if found is not None:
        told = rounded(found, result.digits)
        shown.insert(1, Shown(told, "contrasts", "Contrasts of levels, nats", printing=result.printing))
    made = Printed(of=result, shown=shown, contrasts=found)
    output.show(result, draw=lambda: result.plot(only[0] if len(only) == 1 else result.strongest()), shown=made)


def read_difficulties(path: Path) -> "DifficultyFit | pd.DataFrame":
    """Read a fit, or a table of difficulties by language model."""
    import pandas as pd

    import langdiff as ld
    from langdiff.base.cells import exact_numbers

    if path.suffix == ".json":
        fit: DifficultyFit = ld.read(path, ld.regression.DifficultyFit)
        return fit
    frame = read_frame(path)
    columns = ["difficulty"] if "difficulty" in frame else list(frame)
    words = [name for name in columns if frame[name].dtype.kind != "f"]
    if words:
        cells = frame[words[0]].dropna()
        row, cell = next((row, cell) for row, cell in cells.items() if pd.isna(exact_numbers(pd.Series([cell]))[0]))
        raise DataError(
            f"{path}: column {words[0]!r} is not of numbers, such as {cell!r} for {row!r}; difficulties are in nats, "
            "one column per model."
        )
    return frame[[*columns, *(["std_error"] if "difficulty" in frame and "std_error" in frame else [])]]


@Command(
    app,
    "langdiff.measure_parity",
    reads={"source": Corpus},
    settings={READER: OF_TABLES},
    renamed=LONG,
    without=("surprisals", "tokenizers", "alpha"),
    brief="Compare bytes, tokens and bits of the same content.",
)
def parity(
    context: typer.Context,
    call: Call,
    output: Output,
    surprisals: Annotated[
        Path | None, typer.Option(help="Table of surprisals or log-probabilities beside the texts.", callback=existing)
    ] = None,
    tokenizer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FILE",
            callback=existing_after_name,
            help="Tokenizer: folder of Hugging Face, tokenizer.json, SentencePiece's .model, tiktoken:ENCODING, or a "
            "table of counts (repeat).",
        ),
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write a page with tables and pictures here (.html).")] = None,
) -> None:
    """Compare bytes, characters, tokens and bits of the same content with those of one edition.

    CORPUS is texts, counted as they are, or one table of surprisals or log-probabilities (.csv, .tsv, .parquet), or
    logs of one language model (.jsonl). A table of texts is read with --format table.

    Example: langdiff parity flores200/ --reference eng_Latn --tokenizer gpt2=tokenizers/gpt2 --plot premiums.svg

    Example: langdiff parity scores.csv --unit nats --reference eng --report parity.html
    """
    output.check(call.offers)
    check_ending(report, (".html",), "page")
    source, bits = _sources(call, surprisals)
    if bits is None:
        reason = "is for bits, and CORPUS is texts: give --surprisals beside them, or leave it out."
        refuse_given(context, ["model", *OF_TABLES], reason)
    beside = None if bits is source else bits
    files = named_files(tokenizer, "--tokenizer", "tokenizer", "gpt2=tokenizers/gpt2")
    tokenizers = {name: load("langdiff.parity.tokenizers.read_tokenizer")(file) for name, file in files.items()}
    result = call(source=source, surprisals=beside, tokenizers=tokenizers or None)
    output.show(result, draw=result.plot)
    if report is not None:
        from langdiff.run.report import write_parity_report

        write_parity_report(result, report, fit=result.fit)
        typer.echo(f"Report: {report}", err=True)


def _sources(call: Call, surprisals: Path | None) -> "tuple[Multitext | Surprisals, Surprisals | None]":
    """Return the texts or bits that are compared, and the bits if there are any."""
    import langdiff as ld

    corpus = Corpus(**{each.name: call.given[each.name] for each in fields(Corpus)})
    reading = call.reading()
    given = [Path(name) for name in corpus.corpus]
    if len(given) == 1 and given[0].suffix in TABLES and corpus.format != "table":
        if surprisals is not None:
            raise ConfigError(
                "two tables of surprisals: give texts as CORPUS (with --format table if they are a table), or leave "
                "--surprisals out."
            )
        if options := corpus.options():
            raise ConfigError(
                f"{', '.join(options)}: for texts, and {given[0]} is read as a table of surprisals. Leave it out, "
                "or for a table of texts give --format table."
            )
        table = ld.read_surprisals(given[0], **reading)
        return table, table
    if all(path.name.endswith(LOGS) for path in given) and corpus.format == "auto":
        if options := [*(["--surprisals"] if surprisals is not None else []), *corpus.options()]:
            raise ConfigError(f"{', '.join(options)}: for texts, and {given[0]} is a log. Leave it out.")
        table = ld.read_logs(given, unit=reading["unit"]).surprisals()
        return table, table
    bits = None if surprisals is None else ld.read_surprisals(surprisals, **reading)
    return corpus.open(nfc=False), bits


@Command(
    app,
    only={"paper mielke2019": ("plot", "out"), "out": ("format",)},
    brief="Recompute claims of papers from published figures.",
)
def reproduce(
    paper: Annotated[
        str,
        typer.Option(
            help="mielke2019, belebele2024, byte_premium2024, goldfish2024, tokenization_lengths2023, xmi2020; or all."
        ),
    ] = "mielke2019",
    plot: Path | None = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", callback=new_folder, help="Folder for Figures 3 to 5, Tables 1 to 4 and index.md."),
    ] = None,
    format: Literal["svg", "png", "pdf"] = "svg",
    as_json: Json = False,
) -> None:
    """Recompute claims of Mielke et al. (2019), or of later papers, from published figures, and show which agree.

    Where the paper's text and its own figures differ, both are shown.

    Example: langdiff reproduce --out paper

    Example: langdiff reproduce --paper all
    """
    import pandas as pd

    import langdiff as ld
    from langdiff.experiments.reproduction import PAPERS

    check_picture_name(plot)
    results = [ld.reproduce(name) for name in (PAPERS if paper == "all" else [paper])]
    if plot is not None:
        save_picture(results[0].plot, plot)
    if out is not None:
        files = results[0].save_figures(out, kind=format)
        typer.echo(f"{len(files)} figures and tables, described in {out / 'index.md'}", err=True)
    claims = pd.concat([result.claims for result in results], join="inner", ignore_index=True)
    print_frame(claims, "Claims of papers, published and recomputed", {}, as_json)
    for result in results:
        typer.echo(repr(result), err=True)


PANEL = "With --balanced"
TRAINING = ("lm", "budget_words", "reference", "groups", "folds", "seed")
ONLY_BALANCED = ("format", *TRAINING, *COMPUTING, "tokenize")


@Command(
    app,
    "langdiff.run_balanced",
    settings={
        "langdiff.experiments.translationese": ("languages", "min_native"),
        "langdiff.fit": ("model", "restricted", "clusters"),
        READER: tuple(name for name in OF_TABLES if name != "lm"),  # that is the one to train here
        "langdiff.read_multitext": ("format",),
    },
    renamed={"languages": "language -l", **LONG, "lm": "lm"},
    kinds={"lm": str, "model": str, "format": str},
    without=("multitext", "languages", "original_language", "cache", "by"),
    panels={PANEL: ONLY_BALANCED},
    only={
        "balanced": ONLY_BALANCED,
        "without balanced": ("min_native", "beside", *(name for name in OF_TABLES if name != "lm")),
    },
    brief="Estimate how much harder native texts are.",
)
def translationese(
    table: Annotated[
        str,
        typer.Argument(
            help="Surprisals (.csv, .tsv, .parquet): long, or intents × editions. With --balanced the corpus: a file, "
            "directory or pattern in quotes.",
            metavar="SURPRISALS",
            callback=existing,
        ),
    ],
    call: Call,
    origins: Annotated[
        Path | None,
        typer.Argument(
            help="Table (.csv, .tsv) with intents in its first column and a column original_language, not needed "
            "where surprisals or corpus know it.",
            metavar="[ORIGINS]",
            callback=existing,
        ),
    ] = None,
    beside: Annotated[
        list[str] | None,
        typer.Option(
            help="Surprisals of the same intents by another language model (repeat): differences by bits per "
            "character, and those of lengths.",
            metavar="SURPRISALS",
        ),
    ] = None,
    plot: Plot = None,
    as_json: Json = False,
    balanced: Annotated[
        bool,
        typer.Option(
            "--balanced",
            help="Train language models on as much native as translated text, for one --language at a time.",
        ),
    ] = False,
    tokenize: Annotated[
        bool,
        typer.Option(
            "--tokenize/--as-is",
            rich_help_panel=PANEL,
        ),
    ] = True,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Save here (.json, .csv, .tsv, .parquet, .md, .tex, .html, .txt); with --balanced, folder of models.",
            rich_help_panel="Output",
        ),
    ] = None,
) -> None:
    """Estimate how much harder native texts are than translated ones, by edition.

    Example: langdiff translationese surprisals.csv origins.csv --min-native 1 --clusters document --plot native.svg

    Example: langdiff translationese tiny.csv --beside small.csv --beside kneser-ney-10.csv --min-native 1

    Example: langdiff translationese europarl/ --format moses --balanced -l en -l fr --reference en --folds 5
    """
    import langdiff as ld
    from langdiff.corpora.tokenizer import prepare_text
    from langdiff.experiments import translationese_by_model

    given = call.given
    if balanced and not given["languages"]:
        raise ConfigError("--balanced needs the languages to balance: name each with --language.")
    folder = new_folder(out) if balanced else None
    output = Output(out=None if balanced else out, plot=plot, as_json=as_json)
    output.check(call.offers)
    known = None if origins is None else _read_origins(origins, balanced)
    fitting = {name: call.read(name) for name in ("model", "restricted", "clusters", "edition_info")}
    if balanced:
        multitext = ld.read_multitext(table, format=given["format"])
        training = {name: given[name] for name in TRAINING} | fitting
        output.show(
            ld.run_balanced(
                prepare_text(multitext, "reversible" if tokenize else "as-is"),
                given["languages"],
                original_language=known,
                compute=computing(call, folder),
                **training,
            )
        )
        return
    tables = [ld.read_surprisals(path, **call.reading("lm")) for path in (table, *(beside or []))]
    fitting |= {"languages": given["languages"] or None, "min_native": given["min_native"]}
    if beside:
        output.show(translationese_by_model(tables, known, **fitting))
    else:
        output.show(ld.translationese(tables[0], known, **fitting))


def _read_origins(path: Path, balanced: bool) -> "pd.Series":
    """Read the second argument, which may have been meant for something else: say how that is written."""
    from langdiff.experiments import read_origins

    try:
        return read_origins(path)
    except DataError as error:
        if not path.is_dir() and "no column 'original_language'" not in str(error):
            raise
        meant = (
            "The corpus of --balanced is one argument: name several files by their folder, or by a pattern in quotes, "
            f"'{path if path.is_dir() else path.parent}/*'."
            if balanced
            else f"Surprisals by another language model are named by an option: --beside {path}."
        )
        raise DataError(f"{error} {meant}") from error

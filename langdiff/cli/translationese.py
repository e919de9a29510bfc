"""`langdiff translationese`: native against translated texts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from langdiff.base.types import AnyFormat
from langdiff.cli.clusters import Clusters
from langdiff.cli.folds import FoldsOption, GroupsOption
from langdiff.cli.given import refuse_given
from langdiff.cli.models import Tokenize
from langdiff.cli.output import check_picture_name, print_json, save_picture
from langdiff.cli.paths import existing
from langdiff.cli.units import Unit, Verify
from langdiff.regression.variants import PlainModel

if TYPE_CHECKING:
    import pandas as pd

    from langdiff.experiments.balanced_training import BalancedResult
    from langdiff.experiments.native_and_translated import TranslationeseResult
    from langdiff.experiments.native_by_model import TranslationeseByModel

PANEL = "With --balanced"
ONLY_BALANCED = (
    *("format", "lm", "budget_words", "by", "reference", "groups", "folds"),
    *("tokenize", "device", "workers", "seed", "out"),
)


def translationese(
    context: typer.Context,
    table: Annotated[
        str,
        typer.Argument(
            help="Surprisals (.csv, .tsv, .parquet): long, or intents × editions. With --balanced the corpus: a file, "
            "directory or pattern in quotes.",
            metavar="SURPRISALS",
            callback=existing,
        ),
    ],
    origins: Annotated[
        Path | None,
        typer.Argument(
            help="Table (.csv, .tsv) with intents in its first column and a column original_language, as `langdiff "
            "corpora origins` writes it; not needed where surprisals or corpus know it.",
            metavar="[ORIGINS]",
            callback=existing,
        ),
    ] = None,
    language: Annotated[
        list[str] | None,
        typer.Option("--language", "-l", help="Divide editions of this language (repeat for more)."),
    ] = None,
    min_native: Annotated[
        int | None,
        typer.Option(
            help="Divide editions with at least this number of native intents; 500, or with --language 1, by default.",
            min=1,
        ),
    ] = None,
    model: Annotated[PlainModel, typer.Option(help="Regression model.")] = "2",
    restricted: Annotated[bool, typer.Option("--restricted", help="Maximize the restricted likelihood.")] = False,
    clusters: Clusters = None,
    unit: Unit = None,
    verify: Verify = True,
    beside: Annotated[
        list[str] | None,
        typer.Option(
            help="Surprisals of the same intents by another language model (repeat): differences by bits per "
            "character, and those of lengths.",
            metavar="SURPRISALS",
        ),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the differences here (.svg, .png, .pdf).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    balanced: Annotated[
        bool,
        typer.Option(
            "--balanced",
            help="Train language models on as much native as translated text, for one --language at a time.",
        ),
    ] = False,
    format: Annotated[AnyFormat, typer.Option(help="Format of the corpus.", rich_help_panel=PANEL)] = "auto",
    lm: Annotated[str, typer.Option("--lm", help="Language model to train.", rich_help_panel=PANEL)] = "bpe-residual",
    by: Annotated[
        Literal["words", "intents"], typer.Option(help="Unit of which there are equal numbers.", rich_help_panel=PANEL)
    ] = "words",
    budget_words: Annotated[
        int, typer.Option(help="Words of native and of translated text each.", min=1, rich_help_panel=PANEL)
    ] = 500_000,
    reference: Annotated[
        str, typer.Option(help="Edition or language whose words are counted.", rich_help_panel=PANEL)
    ] = "eng",
    groups: GroupsOption = None,
    folds: FoldsOption = None,
    tokenize: Tokenize = True,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.", rich_help_panel=PANEL)] = "auto",
    workers: Annotated[int, typer.Option(help="Editions trained at a time.", min=1, rich_help_panel=PANEL)] = 1,
    seed: Annotated[int, typer.Option(help="Seed of draws and trainings.", min=0, rich_help_panel=PANEL)] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for language models.", rich_help_panel=PANEL)
    ] = None,
) -> None:
    """Estimate how much harder native texts are than translated ones, by edition.

    Example: langdiff translationese surprisals.csv origins.csv --min-native 1 --clusters document --plot native.svg

    Example: langdiff translationese tiny.csv --beside small.csv --beside kneser-ney-10.csv --min-native 1

    Example: langdiff translationese europarl/ --format moses --balanced -l en -l fr --reference en --folds 5
    """
    import langdiff as ld
    from langdiff.experiments import translationese as compare
    from langdiff.experiments import translationese_by_model

    _check_options(context, balanced, language)
    if plot is not None:
        check_picture_name(plot)
    known = None if origins is None else _read_origins(origins, balanced)
    fitting: dict[str, Any] = {"model": model, "restricted": restricted, "clusters": clusters}
    result: TranslationeseResult | TranslationeseByModel | BalancedResult
    if balanced:
        from langdiff.lm import Compute

        training = {"lm": lm, "by": by, "budget_words": budget_words, "reference": reference, "groups": groups}
        training |= {"folds": folds, "seed": seed, "compute": Compute(device=device, workers=workers, cache=out)}
        result = _balance(table, known, format, tokenize, language or [], training | fitting)
    else:
        tables = [ld.read_surprisals(path, unit=unit, verify=verify) for path in (table, *(beside or []))]
        fitting |= {"languages": language or None, "min_native": min_native}
        result = translationese_by_model(tables, known, **fitting) if beside else compare(tables[0], known, **fitting)
    if plot is not None:
        save_picture(result.plot, plot)
    if as_json:
        frame = result.to_frame()
        print_json(frame if beside else frame.reset_index())
    else:
        typer.echo(result.summary())


def _read_origins(path: Path, balanced: bool) -> "pd.Series":
    """Read the second argument, which may have been meant for something else: say how that is written."""
    from langdiff.errors import DataError
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


def _balance(
    corpus: str, origins: "pd.Series | None", format: AnyFormat, tokenize: bool, languages: list[str], settings: Any
) -> "BalancedResult":
    import langdiff as ld
    from langdiff.corpora.tokenizer import prepare_text

    multitext = prepare_text(ld.read_multitext(corpus, format=format), "reversible" if tokenize else "as-is")
    return ld.run_balanced(multitext, languages, original_language=origins, **settings)


def _check_options(context: typer.Context, balanced: bool, languages: list[str] | None) -> None:
    """Refuse options that would not be used."""
    from langdiff.errors import ConfigError

    unused = ("min_native", "unit", "verify", "beside") if balanced else ONLY_BALANCED
    refuse_given(context, unused, f"is of no use {'with' if balanced else 'without'} --balanced: leave it out.")
    if balanced and not languages:
        raise ConfigError("--balanced needs the languages to balance: name each with --language.")

"""`langdiff predictors`: of texts, or of languages by their codes."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from langdiff.cli.commands import Call, Command
from langdiff.cli.languages import TABLES, read_difficulties
from langdiff.cli.options import Texts, existing, read_attributes
from langdiff.cli.output import TABLE, Json, Out, check_ending, echo, print_json, write_frame
from langdiff.errors import ConfigError, DataError

if TYPE_CHECKING:
    from langdiff.tables.multitext import Multitext
    from langdiff.typology.predictors.languages import LanguageTable
    from langdiff.typology.predictors.table import Predictors

app = typer.Typer(rich_help_panel="Questions")
WITH_TEXTS = ("entropy", "compressor", "treebanks", "lexicons", "progress")


@dataclass(frozen=True)
class TextsOrNone(Texts):
    """Texts, which `--codes` does without."""

    corpus: Annotated[
        list[str] | None,
        typer.Argument(help="Texts: files, directories or patterns; none with --codes.", callback=existing),
    ] = None  # type: ignore[assignment]


@Command(
    app,
    "langdiff.predictors",
    reads={"multitext": TextsOrNone},
    without=("tokenized", "syncretism", "lang2vec"),
    only={
        "wals": ("features",),
        "codes": ("glottolog", "unmatched"),
        "without codes": (*(each.name for each in fields(TextsOrNone)), "all_intents", *WITH_TEXTS),
    },
    brief="Print predictors of difficulty of editions.",
)
def predictors(
    call: Call,
    codes: Annotated[
        Path | None,
        typer.Option(
            help="Instead of CORPUS: a fit (.json), or a table whose first column has codes or names of languages.",
            callback=existing,
        ),
    ] = None,
    glottolog: Annotated[
        Path | None, typer.Option(help="With --codes: folder of Glottolog's tables.", callback=existing)
    ] = None,
    unmatched: Annotated[
        Path | None, typer.Option(help="With --codes: write the names that are no language here (.txt).")
    ] = None,
    all_intents: Annotated[
        bool, typer.Option("--all-intents", help="Count each edition's own intents, not those shared by all.")
    ] = False,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Print predictors of difficulty, editions × predictors, as tab-separated values, and missing ones on stderr.

    With --codes and without CORPUS, print codes, family, place and features of WALS for each language.

    Example: langdiff predictors bible/ --wals wals/ --feature 26A > predictors.tsv

    Example: langdiff predictors --codes fit.json --wals wals/ --feature 81A --glottolog glottolog/ --out p.tsv
    """
    check_ending(out, TABLE, "table")
    result = _of_codes(call, codes, glottolog, unmatched) if codes else _of_texts(call, all_intents)
    table = result.to_frame().reset_index()
    if out is not None:
        write_frame(table, out)
    if as_json:
        print_json(table)
    elif out is None:
        typer.echo(table.to_csv(sep="\t", index=False, float_format="%.15g"), nl=False)
    echo("\n".join([repr(result), *result._notes()]) if codes else result.summary(), err=True)


def _of_codes(call: Call, codes: Path, glottolog: Path | None, unmatched: Path | None) -> "LanguageTable":
    """Look up the languages that a fit or a table names."""
    from langdiff.base.saving import write_lines
    from langdiff.typology.predictors.languages import language_table

    names = read_difficulties(codes).effects.estimate.index if codes.suffix == ".json" else read_attributes(codes).index
    found = language_table(names, wals=call.given["wals"], glottolog=glottolog, features=call.given["features"])
    if unmatched is not None:
        write_lines("\n".join(found.unmatched["name"]), unmatched)
    return found


def _of_texts(call: Call, all_intents: bool) -> "Predictors":
    """Compute predictors of texts."""
    corpus = call.given["corpus"]
    if not corpus:
        raise ConfigError("there is nothing to describe: give a CORPUS, or a table of languages with --codes.")
    if len(corpus) == 1 and corpus[0].endswith(TABLES[:2]) and Path(corpus[0]).is_file():
        kinds = {kind.kind for kind in read_attributes(Path(corpus[0])).dtypes}
        if kinds <= {"f", "i"}:
            raise ConfigError(f"{corpus[0]}: this is a table of numbers: pass it as --codes.")
    multitext = call.read("multitext")
    found: Predictors = call(
        multitext=multitext if all_intents else _shared(multitext), tokenized=not call.given["tokenize"]
    )
    return found


def _shared(multitext: "Multitext") -> "Multitext":
    shared = multitext.dropna()
    if not len(shared):
        raise DataError(
            "no intent is in all editions. Choose editions with `langdiff select` or --edition, or count what each "
            "has with --all-intents, where their sizes cannot be compared."
        )
    typer.echo(f"{multitext!r}; shared by all: {len(shared):,} intents", err=True)
    return shared

"""`langdiff table`: fits side by side, with contrasts; `langdiff shares`: several corpora; `langdiff predictors`."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from langdiff.base.saving import FRAMES
from langdiff.cli.commands import LONG, OF_TABLES, READER, Call, Command, show
from langdiff.cli.languages import TABLES, read_difficulties
from langdiff.cli.options import Texts, existing, read_attributes, refuse_given
from langdiff.cli.output import TABLE, Json, Out, Output, check_ending, echo, print_json, write_frame
from langdiff.errors import ConfigError, DataError

if TYPE_CHECKING:
    from langdiff.tables.multitext import Multitext
    from langdiff.typology.predictors.languages import LanguageTable
    from langdiff.typology.predictors.table import Predictors

app = typer.Typer(rich_help_panel="Difficulties")
Fits = Annotated[
    list[Path],
    typer.Argument(
        help="Saved results (.json), or tables of surprisals (.csv, .tsv, .parquet), which are fitted.",
        metavar="FIT|TABLE...",
        callback=existing,
    ),
]
Name = Annotated[list[str] | None, typer.Option(help="Name of a fit, in place of that of its file (repeat).")]
Rows = Annotated[Literal["editions", "groups"], typer.Option(help="Show editions, or means of groups alone.")]
Wanted = Annotated[list[str] | None, typer.Option("--contrast")]
All = Annotated[bool, typer.Option("--pairs")]
Baseline = Annotated[str | None, typer.Option(help="Compare with this row; or hardest, easiest.")]
Paired = Annotated[bool | None, typer.Option("--paired/--no-paired", help="Differences of fits from the first.")]
Adjust = Annotated[Literal["max-t", "holm", "bh", "none"], typer.Option(help="Adjustment of p-values of contrasts.")]
Unit = Annotated[Literal["percent", "nats"] | None, typer.Option("--scale", help="Unit of the numbers.")]
Order = Annotated[Literal["first", "name", "family", "mean"], typer.Option(help="Order of rows.")]
Names = Annotated[
    str | None, typer.Option(help="Property of editions that is printed as their name; or english, by their codes.")
]
Noted = Annotated[bool, typer.Option(help="Set differences beside those of two editions of one language.")]
Saved = Annotated[
    list[Path] | None,
    typer.Option(
        "--out", "-o", help="Save here, by ending: .json .csv .tsv .parquet .md .tex .html .txt (repeatable)."
    ),
]
Seed = Annotated[int, typer.Option(min=0)]


@Command(
    app,
    READER,
    without=("path",),
    renamed=LONG,
    only={
        "by or names or order family or rows groups": ("edition_info",),
        "contrast or pairs or baseline": ("adjust",),
    },
    brief="Table of fits side by side, pairs and differences.",
)
def table(
    context: typer.Context,
    fits: Fits,
    call: Call,
    name: Name = None,
    by: str | None = None,
    rows: Rows = "editions",
    contrast: Wanted = None,
    pairs: All = False,
    baseline: Baseline = None,
    paired: Paired = None,
    adjust: Adjust = "max-t",
    level: float = 0.95,
    scale: Unit = None,
    order: Order = "first",
    names: Names = None,
    note_editions: Noted = True,
    model: str = "2",
    clusters: str = "auto",
    seed: Seed = 0,
    out: Saved = None,
    as_json: Json = False,
) -> None:
    """Put fits side by side: difficulties ± standard errors, rank sets, groups, contrasts, paired differences.

    Differences of two fits of the same texts have errors from the clusters that they share.

    Example: langdiff table llama.json gpt2.json --by family --contrast "Germanic - Romance" --out t.tex
    """
    import langdiff as ld
    from langdiff.base.saving import check_ending

    for path in out or ():
        check_ending(path)
    contrasts: Any = list(contrast) if contrast else None
    info = call.given["edition_info"]
    if sum([bool(contrast), pairs, baseline is not None]) > 1:
        raise ConfigError("--contrast, --pairs and --baseline are three families: give one of them.")
    if pairs or baseline is not None:
        contrasts = "pairs" if pairs else f"vs {baseline}"
    if not any(path.suffix in FRAMES for path in fits):
        refuse_given(
            context,
            ["model", "clusters", *call.reading("edition_info")],
            "is for tables, not for saved fits: leave it out.",
        )
    found = _read(fits, name or [], call, model=model, clusters=clusters)
    if paired is None and len(fits) == 1 and len(found) == 2:  # two language models in one table have the same texts
        one, other = found.values()
        paired = True if len(one.intent_size.index.intersection(other.intent_size.index)) else None
    made = ld.table(
        found,
        by=by,
        rows=rows,
        contrasts=contrasts,
        paired=paired,
        adjust=None if adjust == "none" else adjust,
        level=level,
        scale=scale,
        order=order,
        names=names,
        note_editions=note_editions,
        edition_info=None if info is None else read_attributes(info, numbers=False),
        seed=seed,
    )
    for path in out or ():
        made.save(path)
    Output(as_json=as_json).show(made)


def _read(paths: list[Path], names: list[str], call: Call, **settings: Any) -> dict[str, Any]:
    """Return the fits that files hold, or that are made of tables, by name."""
    import langdiff as ld
    from langdiff.tables.stack import unstack

    found: list[tuple[str, Any]] = []
    for path in paths:
        if path.suffix in FRAMES:
            clusters = None if settings["clusters"] == "none" else settings["clusters"]
            read = ld.read_surprisals(path, **call.reading("edition_info"))
            parts = unstack(read)
            for name, part in parts.items():
                own = path.stem if len(parts) == 1 else name
                found.append((own, ld.fit(part, model=settings["model"], clusters=clusters)))
        else:
            read = ld.read(path)
            found.append((getattr(read, "lm", "") or path.stem, read))
    if names and len(names) != len(found):
        raise ConfigError(f"{len(names)} name(s) for {len(found)} fits: give one --name for each, in their order.")
    called = names or [name for name, _ in found]
    if len(set(called)) < len(called):
        called = [path.stem for path in paths] if len(paths) == len(found) else called
    if len(set(called)) < len(called):
        raise ConfigError("several fits have one name: give each its own, --name A --name B.")
    return dict(zip(called, (fit for _, fit in found), strict=True))


def _properties(path: Path, call: Call) -> Any:  # noqa: ARG001 as all readers
    return read_attributes(path, numbers=False)


Command(
    app,
    "langdiff.difficulty_shares",
    reads={"tables": lambda paths, call: _of_corpora(paths, call), "edition_info": _properties, "facets": _properties},
    kinds={"tables": list[Path]},
    settings={READER: OF_TABLES},
    renamed={**LONG, "tables": "table|run"},
    help={
        "tables": "Tables of surprisals (.csv, .tsv, .parquet), or run directories with all of theirs.",
        "facets": "Table (.csv, .tsv): name of the table, and corpus, genre, lm, size, seed as far as they differ.",
    },
    without=("languages",),
    panel="Questions",
    brief="Estimate what share of difficulty is of languages.",
    name="shares",
    also="Several editions of a language are a component of their own where five languages have two in a corpus.",
    examples=("langdiff shares runs/study-nt runs/study-ntrex --edition-info languages.csv --plot shares.svg",),
)(show)


def _of_corpora(paths: list[Path], call: Call) -> dict[str, Any]:
    """Read tables by the names of their files, with that of the run before, and of language models where several."""
    import langdiff as ld
    from langdiff.tables.stack import unstack

    found: dict[str, Any] = {}
    for path in paths:
        files = sorted((path / "surprisals").glob("*.csv")) if path.is_dir() else [path]
        if not files:
            raise ConfigError(f"{path}: not a finished run: no tables in {path / 'surprisals'}.")
        for file in files:
            name = f"{path.name}/{file.stem}" if path.is_dir() else str(file.with_suffix(""))
            read = ld.read_surprisals(file, **call.reading())
            found |= (
                {name: read} if read.columns is None else {f"{name}/{lm}": one for lm, one in unstack(read).items()}
            )
    return found


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
    panel="Questions",
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

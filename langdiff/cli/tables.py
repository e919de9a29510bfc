"""`langdiff table`: fits side by side, with contrasts and paired differences; `langdiff shares`: several corpora."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from langdiff.base.saving import FRAMES
from langdiff.cli.commands import LONG, OF_TABLES, READER, Call, Command
from langdiff.cli.options import existing, read_attributes, refuse_given
from langdiff.cli.output import Json, Output
from langdiff.errors import ConfigError

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
Out = Annotated[
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
    out: Out = None,
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


@Command(
    app,
    "langdiff.difficulty_shares",
    reads={"edition_info": _properties, "facets": _properties},
    settings={READER: OF_TABLES},
    renamed=LONG,
    help={
        "facets": "Table (.csv, .tsv): name of the table, and corpus, genre, lm, size, seed as far as they differ.",
    },
    without=("tables", "languages"),
    panel="Questions",
    brief="Estimate what share of difficulty is of languages.",
)
def shares(
    tables: Annotated[
        list[Path],
        typer.Argument(
            help="Tables of surprisals (.csv, .tsv, .parquet), or run directories with all of theirs.",
            metavar="TABLE|RUN...",
            callback=existing,
        ),
    ],
    call: Call,
    output: Output,
) -> None:
    """Estimate how much of the difficulties is of languages, language models, corpora and their combinations.

    Several editions of a language are a component of their own where five languages have two in a corpus.

    Example: langdiff shares runs/study-nt runs/study-ntrex --edition-info languages.csv --plot shares.svg
    """
    import langdiff as ld

    output.check(call.offers)
    output.show(ld.difficulty_shares(_of_corpora(tables, call), **call.arguments(*OF_TABLES)))


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

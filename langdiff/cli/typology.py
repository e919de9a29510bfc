"""`langdiff correlate`: what makes a language hard."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from langdiff.cli.given import refuse_given
from langdiff.cli.models import Json
from langdiff.cli.output import check_picture_name, print_json, save_picture
from langdiff.cli.paths import existing

if TYPE_CHECKING:
    import pandas as pd

    from langdiff.regression import DifficultyFit
    from langdiff.typology.association.result import Correlations

NO_VALUE = {"", "NA", "NaN", "nan"}
CODES = {"language"}  # nan is Min Nan Chinese there
NOT_TESTED = ("language", "family", "genus")


def correlate(
    context: typer.Context,
    difficulties: Annotated[
        Path,
        typer.Argument(
            help="Fit (.json, of `langdiff fit --out`), or table of nats: editions × language models.",
            callback=existing,
        ),
    ],
    predictors: Annotated[
        Path, typer.Argument(help="Table (.csv, .tsv): editions or languages × predictors.", callback=existing)
    ],
    edition_info: Annotated[
        Path | None,
        typer.Option(
            help="Table of editions: their names, then columns language, family, latitude, longitude.",
            callback=existing,
        ),
    ] = None,
    tests: Annotated[
        list[str] | None,
        typer.Option(
            "--test",
            "-t",
            help="pearson, spearman, kendall, mixed, permutation, phylo, area, phylo+area, mood, kruskal (repeat).",
        ),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--predictor", "-p", help="Test only this predictor (repeat for more).")
    ] = None,
    tree: Annotated[
        Path | None,
        typer.Option(
            help="Family tree: folder of Glottolog, or file in Newick's format or NEXUS. The test phylo is then made "
            "in addition, unless tests are named.",
            callback=existing,
        ),
    ] = None,
    given: Annotated[list[str] | None, typer.Option(help="Hold this predictor fixed (repeat for more).")] = None,
    categorical: Annotated[
        list[str] | None, typer.Option(help="Numbers in this column are names of categories (repeat for more).")
    ] = None,
    corpus: Annotated[str, typer.Option(help="Name of the corpus in the table.")] = "",
    unit: Annotated[Literal["language", "edition"], typer.Option(help="Unit of a point.")] = "language",
    interval: Annotated[Literal["fisher", "bootstrap"], typer.Option(help="Kind of 95 % interval.")] = "fisher",
    alpha: Annotated[float, typer.Option(help="False discovery rate.")] = 0.05,
    seed: Annotated[int, typer.Option(help="Seed of --test permutation and of --interval bootstrap.", min=0)] = 0,
    plot: Annotated[Path | None, typer.Option(help="Draw the strongest predictor here (.svg, .png, .pdf).")] = None,
    as_json: Json = False,
) -> None:
    """Test predictors against the difficulties of languages, adjusted for the number of tests.

    Places for area are in columns latitude and longitude of --edition-info, or else those of Glottolog.

    Example: langdiff correlate fit.json predictors.tsv --edition-info editions.csv --tree glottolog/
    """
    import langdiff as ld

    if plot is not None:
        check_picture_name(plot)
    if interval != "bootstrap" and "permutation" not in (tests or []):
        refuse_given(context, ["seed"], "is for --test permutation or --interval bootstrap: add one, or leave it out.")
    result = ld.correlate(
        read_difficulties(difficulties),
        read_frame(predictors, categorical or [], of_predictors=True),
        edition_info=None if edition_info is None else read_frame(edition_info, ["language", "family"]),
        corpus=corpus,
        tests=tests or None,  # type: ignore[arg-type]  # checked there
        only=only or (),
        given=given or (),
        tree=tree,
        average=None if unit == "edition" else "language",
        interval=interval,
        alpha=alpha,
        seed=seed,
    )
    if plot is not None:
        _draw(result, plot, only)
    if as_json:
        print_json(result.to_frame())
    else:
        typer.echo(result.summary())


def _draw(result: "Correlations", path: Path, only: list[str] | None) -> None:
    name = only[0] if only and len(only) == 1 else result.strongest()
    save_picture(lambda: result.plot(name), path)


def read_difficulties(path: Path) -> "DifficultyFit | pd.DataFrame":
    """Read a fit, or a table of difficulties by language model."""
    import pandas as pd

    from langdiff.base.numbers import exact_numbers
    from langdiff.errors import DataError
    from langdiff.regression import read_fit

    if path.suffix == ".json":
        return read_fit(path)
    frame = read_frame(path, [])
    columns = ["difficulty"] if "difficulty" in frame else list(frame)
    words = [name for name in columns if frame[name].dtype.kind != "f"]
    if words:
        cells = frame[words[0]].dropna()
        row, cell = next((row, cell) for row, cell in cells.items() if pd.isna(exact_numbers(pd.Series([cell]))[0]))
        raise DataError(
            f"{path}: column {words[0]!r} is not of numbers, such as {cell!r} for {row!r}; difficulties are in nats, "
            "one column per model."
        )
    return frame[columns]


def read_frame(path: Path, categorical: list[str], *, of_predictors: bool = False) -> "pd.DataFrame":
    """Read a table by its first column; columns of numbers become floats, others stay text.

    A column of predictors that has both numbers and words is refused: as categories its numbers would be lost.
    """
    import pandas as pd

    from langdiff.base.io import read_table
    from langdiff.base.numbers import exact_numbers
    from langdiff.errors import ConfigError, DataError, listing

    header, rows = read_table(path, "\t" if path.suffix in (".tsv", ".tab") else ",")
    if len(header) < 2:
        raise DataError(f"{path}: one column only; is the delimiter a comma (.csv) or a tab (.tsv)?")
    if unnamed := [place for place, name in enumerate(header[1:], start=2) if not name.strip()]:
        raise DataError(f"{path}, line 1: column {unnamed[0]} has no name; name it, or delete it.")
    if nameless := [line for line, row in rows if not row[0].strip()]:
        raise DataError(f"{path}, line {nameless[0]}: the first cell, which names the row, is empty.")
    frame = pd.DataFrame([row for _, row in rows], columns=header, dtype=object).set_index(header[0])
    for name in frame:
        frame[name] = frame[name].where(~frame[name].isin({""} if name in CODES else NO_VALUE), None)
    unknown = [name for name in categorical if name not in header[1:] and name not in ("language", "family")]
    if unknown:
        raise ConfigError(f"{path}: no column {listing(unknown)}; there are {listing(header[1:])}.")
    for name in frame:
        if name in categorical:
            continue
        numbers = exact_numbers(frame[name])
        words = (frame[name].notna() & numbers.isna()).to_numpy()
        if not words.any():
            frame[name] = numbers.astype(float)
        elif of_predictors and numbers.notna().any() and name not in NOT_TESTED:
            place = int(words.argmax())
            raise DataError(
                f"{path}, line {rows[place][0]}: {frame[name].iloc[place]!r} is not a number, and column {name!r} has "
                f"{int(numbers.notna().sum())}. Write a number (12345.6), leave the cell empty if there is none, or "
                f"say that all are names of categories: --categorical {name}."
            )
    return frame

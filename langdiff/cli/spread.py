"""`langdiff spread`: several editions of a language."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from langdiff.cli.models import Json
from langdiff.cli.output import check_picture_name, print_json, save_picture
from langdiff.cli.paths import existing
from langdiff.cli.typology import read_difficulties, read_frame

if TYPE_CHECKING:
    from langdiff.tables.effect_sources import EffectsLike


def spread(
    difficulties: Annotated[
        Path,
        typer.Argument(
            help="Fit (.json, of `langdiff fit --out`), or table of nats: editions × language models.",
            callback=existing,
        ),
    ],
    edition_info: Annotated[
        Path,
        typer.Argument(help="Table of editions (.csv, .tsv): their names, then a column language.", callback=existing),
    ],
    column: Annotated[
        str | None, typer.Option(help="Language model, a column of a table of several; by default the first.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the editions by language here (.svg, .png, .pdf).")] = None,
    as_json: Json = False,
) -> None:
    """Compare how far difficulties spread within languages and between them.

    Example: langdiff spread fit.json editions.csv --plot spread.svg
    """
    import pandas as pd

    from langdiff.errors import ConfigError, listing
    from langdiff.experiments import spread_within_languages

    if plot is not None:
        check_picture_name(plot)
    given = read_difficulties(difficulties)
    source: EffectsLike = given
    if isinstance(given, pd.DataFrame):
        chosen = column or given.columns[0]
        if chosen not in given:
            raise ConfigError(f"--column {chosen}: {difficulties} has {listing(given.columns)}.")
        source = given[chosen]
    elif column is not None:
        raise ConfigError("--column is for a table; a fit is of one language model.")
    found = spread_within_languages(source, read_frame(edition_info, ["language", "family"]))
    if plot is not None:
        save_picture(found.plot, plot)
    if as_json:
        print_json(found.to_frame().reset_index())
    else:
        typer.echo(found.summary())

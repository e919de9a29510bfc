"""Options of all commands that know of clusters: a table of intents, and which of its columns is meant."""

from pathlib import Path
from typing import Annotated

import typer

from langdiff.cli.paths import existing

IntentInfo = Annotated[
    Path | None,
    typer.Option(
        "--intent-info",
        help="Table of intents (.csv, .tsv), with their names in the first column and, for example, their documents.",
        metavar="TABLE",
        callback=existing,
    ),
]
Strata = Annotated[
    str | None,
    typer.Option(
        "--strata",
        help="Groups of clusters that the claim is about as they are: book, for clusters by chapter.",
        metavar="COLUMN",
    ),
]
Clusters = Annotated[
    str | None,
    typer.Option(
        "--clusters",
        help="What intents that share errors have in common: document, book, chapter or another column.",
        metavar="COLUMN",
    ),
]

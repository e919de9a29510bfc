"""The option of all commands that read a table of surprisals: the unit of its numbers."""

from typing import Annotated, Literal

import typer

Unit = Annotated[
    Literal["bits", "nats", "log10"] | None,
    typer.Option(help="Unit of the table, by default bits; needed if it has log-probabilities, below 0."),
]

"""Options of all commands that read a table of surprisals: the unit of its numbers, and whether they are verified."""

from typing import Annotated, Literal

import typer

Unit = Annotated[
    Literal["bits", "nats", "log10"] | None,
    typer.Option(help="Unit of the table, by default bits; needed if it has log-probabilities, below 0."),
]
Verify = Annotated[
    bool,
    typer.Option(
        "--verify/--no-verify",
        help="Refuse a table that is not the one that was saved with its provenance; otherwise drop the provenance.",
    ),
]

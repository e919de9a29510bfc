"""`langdiff doctor`: what is installed."""

import json
from typing import Annotated

import typer

from langdiff.cli.installed import Finding, findings


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Show what is installed: packages, device, solvers, Stan, extras.

    Example: langdiff doctor
    """
    found = findings()
    if as_json:
        typer.echo(json.dumps([{"what": w, "ok": ok, "detail": d} for w, ok, d in found], indent=2))
        return
    try:
        _print_table(found)
    except ImportError:  # rich is one of what may be missing
        for what, ok, detail in found:
            typer.echo(f"{what}: {'yes' if ok else 'no'}, {detail}")


def _print_table(found: list[Finding]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title="langdiff doctor", title_justify="left")
    for name in ("what", "", "detail"):
        table.add_column(name, overflow="fold")
    for what, ok, detail in found:
        table.add_row(what, Text("yes", "green") if ok else Text("no", "yellow"), Text(detail))
    Console().print(table)

"""`langdiff demo`, `run` and `report`: all stages at once."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from langdiff.cli.output import print_json, print_table

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import pandas as pd

    from langdiff.run import Experiment
    from langdiff.run.result import RunResult

Out = Annotated[Path, typer.Option("--out", "-o", help="Run directory; made if missing, resumed if there.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def demo(out: Out = Path("runs/demo"), as_json: Json = False) -> None:
    """Estimate the difficulties of eight synthetic languages, whose true difficulties are known.

    Takes a few minutes on two cores. Example: langdiff demo --out runs/demo
    """
    from langdiff.run.experiment import demo_experiment

    _run(demo_experiment(), out, as_json)


def run(
    experiment: Annotated[Path, typer.Argument(help="Experiment file (TOML).", metavar="EXPERIMENT.toml")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Run directory; by default runs/NAME of the experiment."),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            "--dask",
            metavar="ADDRESS|local",
            help="Train on a Dask cluster: address or file (.json) of its scheduler, or 'local' for this machine.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Run an experiment file from corpus to report; repeat it to go on after an interruption.

    Example: langdiff run examples/bible-new-testament.toml
    """
    from langdiff.run import read_experiment

    settings = read_experiment(experiment)
    out = out or Path("runs") / settings.name
    if dask is None:
        _run(settings, out, as_json)
        return
    from langdiff.lm.jobs.dask_client import dask_executor

    logging.getLogger("distributed").setLevel(logging.WARNING)
    workers = settings.lm.workers if settings.lm.workers > 1 else None  # 1 is what files that say nothing have
    with dask_executor(dask, device=settings.lm.device, workers=workers) as executor:
        _run(settings, out, as_json, executor)


def report(
    directory: Annotated[Path, typer.Argument(help="Directory of a finished run.", metavar="RUN")],
    as_json: Json = False,
) -> None:
    """Write the report of a finished run again and print its difficulties.

    Example: langdiff report runs/demo
    """
    from langdiff.run import read_run, write_report

    result = read_run(directory)
    write_report(result)
    _show(result, as_json)


def _run(settings: "Experiment", out: Path, as_json: bool, executor: "Executor | None" = None) -> None:
    from langdiff.run import run_experiment

    _show(run_experiment(settings, out, executor=executor), as_json)


def _show(result: "RunResult", as_json: bool) -> None:
    if as_json:
        print_json(result.to_frame())
    else:
        shown = _side_by_side(result)
        looks = {"%": "{:+.1f}", "±": "{:.1f}"}
        formats = {name: looks.get(name[-1], "{:.3f}") for name in shown.columns}
        title = "Difficulty: percent more bits than average, same content (± one standard error)"
        print_table(shown.reset_index(), title, formats)
    typer.echo(f"Report: {result.report}", err=True)


def _side_by_side(result: "RunResult") -> "pd.DataFrame":
    """Return percent ± standard error and bits per character by model, then the truth; one row per edition."""
    import numpy as np
    import pandas as pd

    columns = {}
    for lm, fit in result.fits.items():
        columns[f"{lm} %"] = fit.to_frame()["percent"]
        columns[f"{lm} ±"] = fit.to_frame()["percent_std_error"]
        columns[f"{lm} bits/char"] = result.surprisals[lm].bits_per_character()["bits_per_character"]
    if result.truth is not None:
        columns["truth %"] = 100 * np.expm1(result.truth)
    table = pd.DataFrame(columns).rename_axis("edition")
    return table.sort_values(table.columns[0], ascending=False)

"""`langdiff demo`, `run` and `report`: all stages at once; `status`, `verify`, `clean`: what a run left; `doctor`."""

import json
import logging
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from langdiff.base.grids import filled, line_width
from langdiff.cli.commands import Command
from langdiff.cli.help import print_rows
from langdiff.cli.options import existing, existing_here, new_folder
from langdiff.cli.output import Json, echo, print_frame, print_json

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import pandas as pd

    from langdiff.run import Experiment
    from langdiff.run.result import RunResult

app = typer.Typer(rich_help_panel="Start")
RunOut = Annotated[
    Path, typer.Option("--out", "-o", callback=new_folder, help="Run directory; made if missing, resumed if there.")
]
Directory = Annotated[Path, typer.Argument(help="Run directory.", metavar="RUN", callback=existing_here)]


@Command(app, brief="Rank eight synthetic languages, truth known.")
def demo(out: RunOut = Path("runs/demo"), as_json: Json = False) -> None:
    """Estimate the difficulties of eight synthetic languages, whose true difficulties are known.

    Takes a few minutes on two cores. Example: langdiff demo --out runs/demo
    """
    from langdiff.run.experiment import demo_experiment

    _run(demo_experiment(), out, as_json)


@Command(app, only={"without shard": ("dask", "as_json")}, brief="Run an experiment file, from corpus to report.")
def run(
    experiment: Annotated[
        Path, typer.Argument(help="Experiment file (TOML).", metavar="EXPERIMENT.toml", callback=existing_here)
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", callback=new_folder, help="Run directory; by default runs/NAME of the experiment."),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            "--dask",
            metavar="ADDRESS|local",
            help="Train on a Dask cluster: address or file (.json) of its scheduler, or 'local' for this machine.",
        ),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="k/N",
        ),
    ] = None,
    remote: Annotated[
        bool,
        typer.Option("--remote", help="Read addresses of the network (https://, hf://, ...) in the experiment file."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Run an experiment file from corpus to report; repeat it to go on after an interruption.

    Example: langdiff run examples/bible-new-testament.toml
    """
    from langdiff.run.experiment_file import read_experiment

    settings = read_experiment(experiment, remote=remote)
    from langdiff.run.runner import run_shard  # slow to import, and the file may be none

    out = out or Path("runs") / settings.name
    if shard is not None:
        typer.echo(f"Share {shard} is in {out}: {', '.join(run_shard(settings, out, shard)) or 'no edition'}.")
        return
    if dask is None:
        _run(settings, out, as_json)
        return
    from langdiff.lm.jobs.workers import dask_executor

    with suppress(ImportError):  # which `dask_executor` explains
        import distributed  # noqa: F401 sets the level of its logger to INFO
    logging.getLogger("distributed").setLevel(logging.WARNING)
    workers = settings.lm.workers if settings.lm.workers > 1 else None  # 1 is what files that say nothing have
    with dask_executor(dask, device=settings.lm.device, workers=workers) as executor:
        _run(settings, out, as_json, executor)


@Command(app, brief="Write an experiment file for a folder of texts.")
def init(
    folder: Annotated[
        Path,
        typer.Argument(help="Folder with texts in lines, verses or tables, or with logs.", callback=existing_here),
    ],
    out: Annotated[
        Path | None, typer.Option(help="Experiment file to write; it must not exist; FOLDER.toml unless given.")
    ] = None,
) -> None:
    """Write an experiment file for what a folder holds: format, languages, split, models, an estimate of the time.

    What was guessed has a question mark.

    Example: langdiff init texts/ --out texts.toml
    """
    from shlex import quote

    from langdiff.base.io import write_text
    from langdiff.errors import OutputError
    from langdiff.run.draft import draft_experiment

    out = out or Path(f"{folder.absolute().name}.toml")
    if out.exists():
        raise OutputError(f"{out}: exists already, and is not overwritten. Choose another name: --out NAME.toml.")
    draft = draft_experiment(folder, out)
    typer.echo(draft.found)
    if draft.text:
        write_text(out, draft.text)
        echo(f"Written to {out}. Look at the lines with a question mark, then: langdiff run {quote(str(out))}")


@Command(app, brief="Write and print the report of a run again.")
def report(
    directory: Annotated[
        Path, typer.Argument(help="Directory of a finished run.", metavar="RUN", callback=existing_here)
    ],
    as_json: Json = False,
) -> None:
    """Write the report of a finished run again and print its difficulties.

    Example: langdiff report runs/demo
    """
    from langdiff.run import read_run
    from langdiff.run.report import write_report

    result = read_run(directory)
    write_report(result)
    _show(result, as_json)


@Command(app, brief="Show how far the models of a run are.")
def status(directory: Directory, as_json: Json = False) -> None:
    """Show how far the language models of a run are, also while it is going.

    Example: langdiff status runs/demo
    """
    from langdiff.run.upkeep import read_status

    table = read_status(directory)
    if as_json:
        print_json(table)
        return
    table["seconds_left"] = table["seconds_left"].round()
    formats = {"bits_per_character": "{:.3f}", "seconds": "{:.0f}", "seconds_left": "{:.0f}"}
    counts = ", ".join(f"{count} {state}" for state, count in table["state"].value_counts().items())
    spaced = {name: name.replace("_", " ") for name in table.columns}
    print_frame(
        table.rename(columns=spaced), counts or "nothing begun", {spaced[k]: look for k, look in formats.items()}
    )
    if not table["state"].isin(["done", "failed"]).all():
        typer.echo(_left(table), err=True)


def _left(table: "pd.DataFrame") -> str:
    """Return the estimated time of training for each language model, where it is known."""
    known, unknown = [], []
    for lm, jobs in table[~table["state"].isin(["done", "failed"])].groupby("lm", sort=False):
        if jobs["seconds_left"].isna().any():
            unknown.append(str(lm))
        else:
            minutes = jobs["seconds_left"].sum() / 60
            known.append(f"{lm}, {minutes:.0f} minutes" if minutes >= 1 else f"{lm}, less than a minute")
    return "Left of training, for one worker: " + "; ".join(known + [f"{lm}, not known yet" for lm in unknown])


@Command(app, panel="Upkeep", brief="Trace tables, figures and runs to their texts.")
def verify(
    paths: Annotated[
        list[Path], typer.Argument(help="Files that langdiff saved, runs, folders of models.", callback=existing)
    ],
    as_json: Json = False,
) -> None:
    """Follow tables, figures, fits and runs back to bits, language models and texts.

    Hashes are compared, and fits that take seconds are computed again. The first link that is not proven is named; the
    exit code is then 1.

    Example: langdiff verify table.csv runs/demo
    """
    from langdiff.run import verify as trace

    table = trace(*paths)
    ok = table["state"].isin(["whole", "recomputed", "given", "unfinished"])
    if as_json:
        print_json(table)
    else:
        links = table[(table["link"] != "file") | ~ok]
        if len(links):
            print_frame(links, "what was followed", {})
        whole, again = (ok & (table["link"] == "file")).sum(), (table["state"] == "recomputed").sum()
        echo(f"As they were written: {whole} file(s); computed again: {again} fit(s)")
    if unfinished := int((table["state"] == "unfinished").sum()):
        echo(f"{unfinished} language models are unfinished; `langdiff run` goes on with them.", err=True)
    if not ok.all():
        first = table[~ok].iloc[0]
        echo(
            f"langdiff: first link that is not proven: {first['link']} of {first['file']}: {first['state']}. "
            f"{first['reason']}",
            err=True,
        )
        raise typer.Exit(1)


@Command(app, panel="Upkeep", brief="Remove what a run does not need any more.")
def clean(
    directory: Directory,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would be removed.")] = False,
    as_json: Json = False,
) -> None:
    """Remove what a run does not need any more: old language models, checkpoints, leftovers of interruptions.

    Example: langdiff clean runs/demo --dry-run
    """
    from langdiff.run.upkeep import clean_run

    table = clean_run(directory, dry_run=dry_run)
    if as_json:
        print_json(table)
        return
    size = f"{table['bytes'].sum() / 1e6:,.1f} MB"
    title = f"{'would be removed' if dry_run else 'removed'}: {len(table)} files or folders, {size}"
    if len(table):
        print_frame(table, title, {"bytes": "{:,}"})
    else:
        typer.echo("nothing to remove")


@Command(app, brief="Show what is installed, and what is missing.")
def doctor(
    as_json: Json = False,
) -> None:
    """Show which packages, devices, solvers and extras are installed, and whether Stan is.

    Example: langdiff doctor
    """
    from langdiff.cli.installed import findings  # it needs metadata of packages, which are slow to import

    found = findings()
    if as_json:
        typer.echo(json.dumps([{"what": w, "ok": ok, "detail": d} for w, ok, d in found], indent=2))
        return
    print_rows(((what, f"{'yes' if ok else 'no'}: {detail}") for what, ok, detail in found), line_width())


def _run(settings: "Experiment", out: Path, as_json: bool, executor: "Executor | None" = None) -> None:
    from langdiff.run import run_experiment

    result = run_experiment(settings, out, executor=executor)
    _show(result, as_json)
    for row in result.failed.itertuples():
        typer.echo(f"langdiff: {row.lm}: {row.error}", err=True)
    if len(result.failed) or result.manifest["not_done"]:
        raise typer.Exit(1)


def _show(result: "RunResult", as_json: bool) -> None:
    if as_json:
        print_json(result.to_frame())
    else:
        import langdiff as ld

        typer.echo(ld.table(result.fits).text() + "\n")
        known = result.truth is not None
        shown = result.by_model()
        rates = [name for name in shown if str(name).endswith("bits/char")]
        percents = sorted((name for name in shown if str(name).endswith("%")), key="truth %".__ne__) if known else []
        beside = shown[percents + rates]
        title = (
            "Estimates beside the truth (percent more bits), and bits per character" if known else "Bits per character"
        )
        formats = {name: "{:+.1f}" if name.endswith("%") else "{:.3f}" for name in map(str, beside)}
        print_frame(beside.reset_index(), title, formats)
        if result.truth is not None:
            remark = (
                "An estimate may differ from the truth by more than its ±, which describes the sampling of intents: a "
                "language model that has not learned all regularities of a language needs more bits than the truth."
            )
            typer.echo(filled(remark))
    for name, why in result.manifest.get("not_done", {}).items():
        typer.echo(f"langdiff: [{name}]: {why}", err=True)
    typer.echo(f"Report: {result.report}", err=True)

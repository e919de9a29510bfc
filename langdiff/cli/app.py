"""The command: global options, errors in one line, exit codes 0 (done), 1 (failed), 2 (usage)."""

import logging
import os
import sys
import warnings
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.logging import RichHandler
from typer.core import TyperGroup

import langdiff
from langdiff.cli import (
    checks,
    constructions,
    corpora,
    corpus,
    curve,
    discourse,
    doctor,
    experiment,
    folds,
    goodness,
    models,
    outcomes,
    parallelism,
    parallelism_scores,
    parallelism_taggers,
    parity,
    parsing,
    plot,
    predictors,
    regression,
    reliability,
    reproduction,
    simulation,
    spread,
    stability,
    stan,
    sweep,
    translationese,
    treebanks,
    typology,
)
from langdiff.errors import LangdiffError


class _Commands(TyperGroup):
    """Turns errors that a user can act on into one line and exit code 1; other exceptions keep their traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except LangdiffError as error:
            if ctx.obj:  # --debug
                raise
            typer.echo(f"langdiff: {error}", err=True)
        except KeyboardInterrupt:
            typer.echo(
                "langdiff: interrupted. Language models that were finished are kept; run the same command to go on.",
                err=True,
            )
        except BrokenPipeError:  # the reader of our output, such as `head`, has gone
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123 so that closing it cannot fail again
        raise typer.Exit(1)


app = typer.Typer(
    cls=_Commands,
    name="langdiff",
    help="Measure how hard languages are for language models, from texts that say the same thing.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(experiment.demo)
app.command()(experiment.run)
app.command()(experiment.report)
app.command()(experiment.status)
app.command()(experiment.floors)
app.command()(experiment.verify)
app.command()(experiment.clean)
app.command()(corpus.select)
app.command()(models.train)
app.command()(models.score)
app.command()(regression.fit)
app.command()(checks.compare)
app.command("cross-validate")(checks.cross_validate)
app.command()(goodness.goodness)
app.command("compare-folds")(folds.compare_folds)
app.command()(simulation.simulate)
app.command()(translationese.translationese)
app.command()(sweep.sweep)
app.command()(curve.curve)
app.command()(reliability.reliability)
app.command("short-form")(reliability.short_form)
app.command("flag-cells")(reliability.flag_cells)
app.command()(stan.sample)
app.command("install-stan")(stan.install_stan)
app.command()(predictors.predictors)
app.command()(parity.parity)
app.command()(typology.correlate)
app.command()(spread.spread)
app.command()(stability.stability)
app.command()(stability.deletion)
app.command()(reproduction.reproduce)
app.command()(plot.plot)
app.command()(doctor.doctor)
app.add_typer(corpora.corpora_app)
app.add_typer(outcomes.outcomes_app)
treebanks.treebanks_app.command()(parsing.parse)
app.add_typer(treebanks.treebanks_app)
app.add_typer(constructions.constructions_app)
app.add_typer(discourse.discourse_app)
parallelism.parallelism_app.command()(parallelism_taggers.train)
parallelism.parallelism_app.command()(parallelism_taggers.predict)
parallelism.parallelism_app.command()(parallelism_taggers.search)
parallelism.parallelism_app.command()(parallelism_scores.score)
parallelism.parallelism_app.command()(parallelism_scores.agreement)
parallelism.parallelism_app.command()(parallelism_scores.transitions)
app.add_typer(parallelism.parallelism_app)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"langdiff {langdiff.__version__}")
        raise typer.Exit


@app.callback()
def _globally(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks and details.")] = False,
    _: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    context.obj = debug
    console = Console(stderr=True)
    logging.basicConfig(
        level=logging.DEBUG if debug else logging.WARNING,
        format="%(message)s",
        handlers=[RichHandler(console=console, show_path=debug)],
    )
    if not debug:
        warnings.showwarning = lambda message, *_: console.print(
            f"warning: {message}", style="yellow", markup=False, soft_wrap=True
        )


def main() -> None:
    """Run the command."""
    app()

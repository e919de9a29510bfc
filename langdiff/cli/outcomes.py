"""`langdiff outcomes` and `import`: tables of right and wrong, and logs of language models as one long table."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from langdiff.base.grids import Shown
from langdiff.cli.commands import Call, Command, load, show
from langdiff.cli.difficulties import Draws, show_draws
from langdiff.cli.options import existing, key_or_names, read_attributes
from langdiff.cli.output import TABLE, Json, Output, check_ending, echo, print_frame

if TYPE_CHECKING:
    from langdiff.tables.outcomes import Outcomes


NAMED = {"language": list[str], "system": list[str], "tokenizer": Path}
outcomes = typer.Typer(
    name="outcomes",
    help="Abilities of systems and difficulties of items, from successes out of trials.",
    no_args_is_help=True,
    rich_help_panel="Other data",
    short_help="Abilities of systems, difficulties of items.",
)

answers = typer.Typer(rich_help_panel="Difficulties")


@dataclass(frozen=True)
class Tables:
    """Outcomes, and attributes of their items."""

    table: Annotated[
        list[Path],
        typer.Argument(
            help="Table (.csv, .tsv, .parquet), or logs of an evaluation.", metavar="TABLE…", callback=existing
        ),
    ]
    item: list[str] | None = None
    language: list[str] | None = None
    system: list[str] | None = None
    chance: str | None = "auto"
    pairing: Literal["checked", "unchecked"] = "checked"
    metric: str | None = None
    filter: str | None = None
    repeats: Annotated[
        Literal["error", "sum"], typer.Option(help="Several outcomes of a system on an item: an error, or trials.")
    ] = "error"
    items: Annotated[
        Path | None,
        typer.Option(help="Attributes of items (.csv, .tsv), items in the first column.", callback=existing),
    ] = None

    def open(self) -> "Outcomes":
        """Read the tables."""
        import langdiff as ld

        how = {name: getattr(self, name) for name in ("metric", "filter", "repeats", "pairing")}
        how |= {name: key_or_names(getattr(self, name), name) for name in ("language", "system")}
        found = ld.read_outcomes(self.table, item=self.item or None, chance=_chance(self.chance), **how)
        return found if self.items is None else found.with_items(read_attributes(self.items, distinct=True))


def _chance(given: str | None) -> str | float | None:
    """Return a probability as Python has it."""
    if given in (None, "none"):
        return None
    try:
        return float(given)
    except ValueError:
        return given


@Command(outcomes, "langdiff.check_outcomes", without=("outcomes",))
def check(
    tables: Tables,
    call: Call,
    as_json: Json = False,
) -> None:
    """Count a table's outcomes and check that marginal or conditional estimates are finite; exit code 1 if neither is.

    Example: langdiff outcomes check samples/ --metric acc
    """
    table = tables.open()
    checked = call(outcomes=table)
    found = {
        str(kind): "; ".join(filter(None, ["can be fitted", words])) if finite else f"CANNOT be fitted: {words}"
        for kind, finite, words in checked.itertuples()
    }
    totals = table.totals().reset_index()
    if as_json:
        document = {"outcomes": repr(table), "systems": totals.to_dict(orient="records"), "models": found}
        typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        formats = {"rate": "{:.3f}", "score": "{:.4g}", "sd": "{:.4g}"} | dict.fromkeys(
            ("items", "trials", "successes"), "{:,}"
        )
        print_frame(totals, repr(table), {name: formats[name] for name in totals.columns[1:]})
        for name, words in found.items():
            typer.echo(f"{name} models: {words}")
    if not checked["finite"].any():
        raise typer.Exit(1)


@Command(
    outcomes,
    "langdiff.fit_outcomes",
    reads={"outcomes": Tables},
    kinds={"model": str},
    without=("allow_unlinked",),
    only={"errors bootstrap": ("n_resamples",), "without as_json": ("contrast",)},
)
def fit(call: Call, output: Output, contrast: list[str] | None = None) -> None:
    """Fit abilities of systems and difficulties of items or groups of items.

    With --contrast "large - small", or "fin@large - deu@large", two systems, languages or columns are compared.

    Example: langdiff outcomes fit parsers.csv --by construction --clusters document --plot map.svg

    Example: langdiff outcomes fit samples/ --contrast "large - small" --out leaderboard.tex
    """
    from langdiff.base.result import Printed
    from langdiff.tables.crossing import grid_of_contrasts

    output.check(call.offers)
    result = call()
    (*shown, details), found = result.tables(), None
    if contrast:
        found = result.contrasts(contrast)
        what = "log odds of a right answer, and points of the expected rates"
        if "points" not in found:
            unit = result.abilities.scale.unit
            what = "differences of logarithms of rates" if unit == "nats" else unit
        shown.append(Shown(grid_of_contrasts(found), "contrasts", f"Contrasts, ± standard error: {what}"))
    draw = result.abilities.plot if result.structure.conditional else result.plot
    output.show(result, draw=draw, shown=Printed(of=result, shown=(*shown, details), contrasts=found))


@Command(
    outcomes,
    "langdiff.sample_outcomes",
    reads={"outcomes": Tables},
    without=("cell_noise", "priors", "inits"),
)
def sample(call: Call, out: Draws = None, as_json: Json = False) -> None:
    """Draw abilities and difficulties from their posterior with Stan, for small or separated tables.

    Example: langdiff outcomes sample parsers.csv --by construction --clusters document
    """
    show_draws(call, out, as_json, dict.fromkeys(("mean", "low", "high"), "{:+.3f}") | {"sd": "{:.3f}"})


@dataclass(frozen=True)
class Difference:
    """Difference that a plan is made for."""

    difference: Annotated[
        float | None, typer.Argument(help="Difference to be found, in accuracy or score; of --rate by default.")
    ] = None

    def open(self) -> float | None:
        """Return the difference."""
        return self.difference


Command(
    answers,
    "langdiff.compare_runs",
    reads={"language": lambda given, _: key_or_names(given, "language")},
    kinds={"old": Path, "new": Path, "language": list[str], "item": list[str]},
    help={"old": "Logs of the first run, or a table of outcomes.", "new": "Those of the second run."},
    brief="Compare two runs over the same items.",
    examples=("langdiff compare-runs results/old/ results/new/ --metric acc",),
)(show)

Command(
    outcomes,
    "langdiff.plan_items",
    name="plan",
    reads={"difference": Difference, "pilot": lambda path, _: load("langdiff.read_outcomes")(path)},
    examples=(
        "langdiff outcomes plan --rate 0.73 --rate 0.7 --correlation 0.5",
        "langdiff outcomes plan 0.02 --pilot samples/ --each",
    ),
)(show)


logs = typer.Typer(rich_help_panel="Text to bits")


@Command(
    logs,
    "langdiff.read_logs",
    name="import",
    kinds=NAMED,
    renamed={"tokenizer": "tokenizer-folder"},
    help={"tokenizer": "Folder of the tokenizer, or with --start subtract, of the model."},
    without=("paths",),
    brief="Read logs of any language model into one table.",
)
def import_logs(
    paths: Annotated[
        list[Path],
        typer.Argument(help="Files, folders, archives or patterns of logs.", metavar="PATHS...", callback=existing),
    ],
    call: Call,
    out: Annotated[Path, typer.Option("--out", "-o", help="Table to write: .parquet, .csv or .tsv.")],
    per: Annotated[
        Literal["bits", "outcomes", "tokens"] | None,
        typer.Option("--as", help="What has a row: a text, an answer or a token; by default texts if there are any."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Read logs of language models of any kind into one long table, which all commands read.

    Kinds are told by content: lm-evaluation-harness, OpenAI completions, llama-cpp-python, vLLM, minicons, Inspect,
    flat JSON lines and tables. --item, --language and --system name keys of the documents; --language TASK=LANGUAGE and
    --system FOLDER=NAME give the names themselves.

    Example: langdiff import results/ --out logs.parquet

    Example: langdiff import results/ --as outcomes --metric acc --out answers.parquet

    Example: langdiff import eng.csv deu.csv --unit nats --system gpt2 --start drop --out bits.parquet
    """
    check_ending(out, TABLE, "table")
    found = call(
        paths=paths, **{name: key_or_names(call.given[name], name) for name in ("language", "system")}, **_model(call)
    )
    found.write(out, per)
    if as_json:
        typer.echo(json.dumps(found.record(), indent=2, ensure_ascii=False))
    else:
        echo(found.summary())
    both = per is None and len(found.texts) and len(found.answers)
    typer.echo(f"Table: {out}{', of bits; for the answers --as outcomes' if both else ''}", err=True)


def _model(call: Call) -> dict[str, Any]:
    """Return the model of a folder where its charge is to be subtracted; its tokenizer says the rest."""
    if call.given["tokenizer"] is None or call.given["start"] != "subtract":
        return {}
    from langdiff.lm import HuggingFaceLM

    return {"tokenizer": HuggingFaceLM(call.given["tokenizer"])}

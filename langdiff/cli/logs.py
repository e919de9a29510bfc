"""`langdiff import`: logs of language models as one long table."""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from langdiff.cli.commands import Call, Command
from langdiff.cli.options import existing, key_or_names
from langdiff.cli.output import TABLE, Json, check_ending, echo

app = typer.Typer(rich_help_panel="Text to bits")
NAMED = {"language": list[str], "system": list[str], "tokenizer": Path}


@Command(
    app,
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
    typer.echo(f"Table: {out}", err=True)


def _model(call: Call) -> dict[str, Any]:
    """Return the model of a folder where its charge is to be subtracted; its tokenizer says the rest."""
    if call.given["tokenizer"] is None or call.given["start"] != "subtract":
        return {}
    from langdiff.lm import HuggingFaceLM

    return {"tokenizer": HuggingFaceLM(call.given["tokenizer"])}

"""`langdiff parallelism train`, `predict` and `search`: taggers that detect parallelisms."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from langdiff.cli.commands import Call, Command
from langdiff.cli.options import existing, existing_here, new_folder
from langdiff.cli.output import Json, echo, print_frame, save_picture
from langdiff.cli.parallelism import FORMATS
from langdiff.errors import ConfigError, OutputError

if TYPE_CHECKING:
    import pandas as pd

    from langdiff.parallelism import Document, Tagger

app = typer.Typer()
MANIFEST = "manifest.json"
Parts = Annotated[
    Path,
    typer.Option(
        "--parts", help="Table (.csv, .tsv) with columns document and part; see parallelism split.", callback=existing
    ),
]
Tagged = Annotated[
    Path,
    typer.Option("--out", "-o", callback=new_folder, help="Folder for the tagger, its learning curve and a manifest."),
]
Documents = Annotated[Path, typer.Argument(help="File or folder of annotated documents.", callback=existing)]
TRAINING = {"max_epochs": "Epochs at most."}
TRAINING |= {"vectors": "File of word2vec (text, or binary if called *.bin)."}
TRAINING |= {"bert": "Folder of a BERT with its tokenizer; nothing is downloaded."}


@Command(
    app,
    "langdiff.parallelism.train_tagger",
    name="train",
    renamed={"lemmatizer": "language", "max_epochs": "epochs"},
    help=TRAINING,
    without=("training", "validation", "settings", "resume", "patience", "singletons"),
)
def train(
    documents: Documents,
    parts: Parts,
    out: Tagged,
    call: Call,
    published: str | None = None,
    settings: Annotated[
        Path | None,
        typer.Option(
            help="File of settings of one's own (.toml), such as examples/small-tagger.toml.", callback=existing
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Train a tagger on the part called training; the part called validation decides when to stop.

    Interrupted, the same command goes on after the last epoch that was finished.

    Example: langdiff parallelism train sermons/ --parts parts.csv --published ASP/learned-word/BIO-TD --out tagger
    """
    from langdiff.parallelism import published_settings, read_parallelisms, read_parts, read_settings

    if (published is None) == (settings is None):
        raise ConfigError("give either --published KEY or --settings FILE.")
    chosen = read_settings(settings) if settings is not None else published_settings(str(published))
    divided = read_parts(parts, read_parallelisms(documents), ["training", "validation"])
    record = {"settings": chosen.model_dump(exclude_none=True), "published": published, "seed": call.given["seed"]}
    record |= {"epochs": call.given["max_epochs"], "device": call.given["device"]}
    with _folder(out, record, divided) as write:
        tagger = call(**divided, settings=chosen, resume=out)
        write(tagger, tagger.to_frame())
    echo(f"{tagger.summary()}\nTagger: {out}", err=True)
    print_frame(tagger.to_frame(), "Epochs", FORMATS, as_json)


@Command(
    app,
    "langdiff.parallelism.taggers.tagger:read_tagger",
    name="predict",
    help=TRAINING,
    without=("directory", "lemmatizer"),
)
def predict(
    tagger: Annotated[Path, typer.Argument(help="Folder that train or search has written.", callback=existing_here)],
    documents: Annotated[
        Path, typer.Argument(help="File or folder of documents; their annotation is not looked at.", callback=existing)
    ],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", callback=new_folder, help="Folder for the documents with predicted parallelisms."),
    ],
    call: Call,
    format: Literal["brat", "text-xml", "word-xml", "essay-xml", "tsv"] = "word-xml",
    as_json: Json = False,
) -> None:
    """Find parallelisms in documents and write them, for parallelism score and parallelism show.

    Example: langdiff parallelism predict tagger sermons/ --out predicted
    """
    import pandas as pd

    from langdiff.parallelism import read_parallelisms, write_parallelisms

    found = call(directory=tagger / "model")
    predicted = found.predict(read_parallelisms(documents, predicted=True))
    write_parallelisms(predicted, out, format=format)
    counts = [
        (name, len(one.tokens), len(one.parallelisms), sum(len(each.branches) for each in one.parallelisms))
        for name, one in predicted.items()
    ]
    table = pd.DataFrame(counts, columns=["document", "tokens", "parallelisms", "branches"])
    print_frame(table, "Predictions", FORMATS, as_json)
    typer.echo(f"Predictions: {out}", err=True)


@contextmanager
def _folder(out: Path, record: dict[str, Any], divided: Mapping[str, Mapping[str, "Document"]]) -> Iterator[Any]:
    """Own a folder; give a function that writes a tagger, its table and its picture, and a manifest last."""
    import shutil

    from langdiff.base.cells import guarded
    from langdiff.base.io import locked, write_json, write_text
    from langdiff.base.signature import short_hash
    from langdiff.lm.checkpoint import is_state, remove_states
    from langdiff.run.directory import environment

    others = [path for path in out.glob("[!.]*") if not is_state(path) and path.name not in ("trials", "model")]
    if (out / MANIFEST).is_file():
        raise OutputError(f"{out}: holds a finished tagger; choose another folder, or remove it.")
    if others and not (out / "history.csv").is_file():
        raise OutputError(f"{out}: not empty and not the folder of a tagger ({others[0].name}); choose another.")

    def write(tagger: "Tagger", table: "pd.DataFrame") -> None:
        tagger.save(out / "model")
        write_text(out / "history.csv", guarded(table).to_csv(index=False))
        save_picture(tagger.plot, out / "learning-curve.svg")
        data = {
            part: {"documents": list(chosen), "sha256": short_hash([repr(one) for one in chosen.values()])}
            for part, chosen in divided.items()
        }
        write_json(out / MANIFEST, {**environment(), **record, "data": data})
        remove_states(out)
        shutil.rmtree(out / "trials", ignore_errors=True)

    with locked(out, "training a tagger there. Wait for it, or choose another folder."):
        yield write

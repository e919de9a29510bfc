"""Rhetorical parallelism: statistics, splits, ranks, scores, agreement of annotators, taggers."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from langdiff.cli.commands import Call, Command, load
from langdiff.cli.options import existing, existing_here, existing_named, named_paths, new_folder, refuse_own_folder
from langdiff.cli.output import Json, echo, print_frame, save_picture
from langdiff.errors import ConfigError, OutputError

if TYPE_CHECKING:
    import pandas as pd

    from langdiff.parallelism import Document, Tagger


parallelism = typer.Typer(
    name="parallelism",
    help="Measure, split and detect rhetorical parallelism.",
    no_args_is_help=True,
    rich_help_panel="Other data",
    short_help="Measure and detect rhetorical parallelism.",
)
READ = "langdiff.parallelism.read_parallelisms"
Published = Literal["ASP", "PSE-I"]
Metric = Literal["EPM", "MPBM", "MBAWO", "MWO"]
FORMATS = dict.fromkeys(["precision", "recall", "f", "macro_f", "overlap", "position"], "{:.4f}")
FORMATS |= dict.fromkeys(["mbawo", "epm", "loss", "validation", "optimization"], "{:.4f}") | {"seconds": "{:.1f}"}
FORMATS |= dict.fromkeys(["matched", "hypothesis_size", "reference_size"], "{:,}")
FORMATS |= dict.fromkeys(["inner_share", "outer_share", "share", "statistic", "p_value"], "{:.4f}")


DOCUMENTS: dict[str, Any] = {"kinds": {"source": list[Path]}, "renamed": {"source": "documents"}}


@Command(parallelism, READ, **DOCUMENTS, without=("predicted",))
def stats(
    call: Call,
    table: Literal["statistics", "pairs"] = "statistics",
    as_json: Json = False,
) -> None:
    """Count documents, parallelisms and branches, and measure how many words branches share.

    Example: langdiff parallelism stats sermons/
    """
    from langdiff import parallelism

    found = call()
    result = parallelism.parallelism_statistics(found)
    frame = result.to_frame() if table == "statistics" else result.pairs
    if table == "statistics" and not as_json:
        kinds = Counter(parallelism.nesting(document.parallelisms) for document in found.values())
        typer.echo(", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items())) + " document(s)")
        echo(result.summary())
    else:
        print_frame(frame, "Pairs of parallel branches", FORMATS, as_json)


@Command(parallelism, READ, **DOCUMENTS, without=("predicted",))
def split(
    call: Call,
    share: Annotated[
        list[str] | None, typer.Option(help="Part and its share, such as test=0.1; may be repeated.")
    ] = None,
    table: Literal["documents", "parts", "tests"] = "parts",
    as_json: Json = False,
) -> None:
    """Split documents so that every part has its share of tokens in branches and of other tokens.

    Example: langdiff parallelism split sermons/ --share training=0.8 --share test=0.2 --table documents
    """
    from langdiff import parallelism

    result = parallelism.split_documents(parallelism.tag_counts(call()), _shares(share))
    frame = {"documents": result.to_frame, "parts": result.parts, "tests": result.tests}[table]()
    title = {"documents": "Documents", "parts": "Parts", "tests": "Welch's t-tests"}[table]
    print_frame(frame, title, FORMATS, as_json)
    if as_json:
        return
    errors = ", ".join(f"{name} {error:.2e}" for name, error in result.errors().items())
    typer.echo(f"Mean squared errors of the shares: {errors}", err=True)


@Command(parallelism, only={"without scores": ("corpus", "metric")})
def ranks(
    scores: Annotated[
        Path | None,
        typer.Argument(
            help="Table (.csv, .tsv): one row per block, named in the first column; one column per treatment.",
            callback=existing,
        ),
    ] = None,
    corpus: Published = "ASP",
    metric: Metric = "EPM",
    table: Literal["ranks", "pairs"] = "ranks",
    as_json: Json = False,
) -> None:
    """Test by ranks whether treatments differ over blocks; by default tagging schemes over the published models.

    Example: langdiff parallelism ranks --corpus PSE-I --metric EPM
    """
    from langdiff import parallelism

    values = load("langdiff.datasets.bothwell2023")().table(corpus, metric) if scores is None else _read_blocks(scores)
    result = parallelism.compare_treatments(values)
    frame = result.to_frame() if table == "ranks" else result.pairs
    if table == "ranks" and not as_json:
        echo(result.summary())
    else:
        print_frame(frame, "Pairs of treatments (Nemenyi)", FORMATS | {"difference": "{:.3f}"}, as_json)


def _shares(given: list[str] | None) -> dict[str, float] | None:
    """Return parts and shares."""
    shares: dict[str, float] = {}
    for pair in given or []:
        name, _, number = pair.partition("=")
        if not name or name in shares:
            raise ConfigError(f"every part has a name of its own and one share, such as test=0.1; got {pair!r}.")
        try:
            shares[name] = float(number)
        except ValueError as error:
            raise ConfigError(f"a share is written NAME=NUMBER, such as test=0.1; got {pair!r}.") from error
    return shares or None


def _read_blocks(path: Path) -> "pd.DataFrame":
    from langdiff.tables.long_tables import numbers_of, read_table_file

    table = read_table_file(path)
    numbers = table.iloc[:, 1:].apply(lambda column: numbers_of(column, path))
    return numbers.set_index(table.iloc[:, 0].astype(str))


@Command(
    parallelism,
    "langdiff.parallelism.score_parallelisms",
    without=("hypotheses", "references"),
    only={
        "outcomes": ("metric",),
        "table totals|documents|parallelisms or outcomes": ("beta",),
        "table totals": ("published",),
    },
)
def score(
    call: Call,
    reference: Annotated[Path, typer.Argument(help="File or folder of the annotated documents.", callback=existing)],
    predictions: Annotated[
        list[str],
        typer.Argument(
            help="File or folder of each system's documents, as PATH or NAME=PATH.",
            metavar="[NAME=]PREDICTION…",
            callback=existing_named,
        ),
    ],
    table: Literal["totals", "documents", "parallelisms", "errors", "cases"] = "totals",
    metric: Metric = "MBAWO",
    outcomes: Path | None = None,
    published: Published | None = None,
    as_json: Json = False,
) -> None:
    """Compare predicted parallelisms with annotated ones: EPM, MPBM, MBAWO and MWO, or kinds of errors.

    Tables are of scores in total or by document, of credits by parallelism, of numbers of errors by kind, and of the
    kind of each. With --published ASP or PSE-I, published scores of each model's best scheme follow in the totals.

    Example: langdiff parallelism score gold/ one=tagger1/ two=tagger2/ --table errors
    """
    from langdiff import parallelism
    from langdiff.tables.long_tables import table_kind

    if outcomes is not None:
        table_kind(outcomes)  # an error before any work is done
    if published is not None and call.given["beta"] != 1:
        raise ConfigError("--published adds F1 to the totals: leave --beta out, or --published.")
    gold = parallelism.read_parallelisms(reference)
    systems = {name: parallelism.read_parallelisms(path, predicted=True) for name, path in named_paths(predictions)}
    if table in ("errors", "cases"):
        errors = parallelism.classify_errors(systems, gold)
        print_frame(errors.to_frame() if table == "errors" else errors.cases, "Errors by kind", FORMATS, as_json)
        signature = errors.signature
    if table not in ("errors", "cases") or outcomes is not None:
        result = call(hypotheses=systems, references=gold)
        if outcomes is not None:
            result.outcomes(metric).save(outcomes)
            typer.echo(f"Outcomes: {outcomes}", err=True)
        if table == "totals":
            totals = result.to_frame()
            frame = totals if published is None else _with_published(totals, published)
            print_frame(frame, f"Scores, F with β = {call.given['beta']:g}", FORMATS, as_json)
        elif table in ("documents", "parallelisms"):
            frame = result.documents if table == "documents" else result.parallelisms
            print_frame(frame, f"Scores, F with β = {call.given['beta']:g}", FORMATS, as_json)
        signature = result.signature
    typer.echo(f"[{signature}]", err=True)


def _with_published(totals: "pd.DataFrame", corpus: str) -> "pd.DataFrame":
    """Return totals and, below them, the published scores of the best scheme of each model, metric by metric."""
    import pandas as pd

    figures = load("langdiff.datasets.bothwell2023")()
    best = pd.concat([figures.best(metric).assign(metric=metric) for metric in totals["metric"].unique()])
    best = best[best["corpus"] == corpus].rename(columns={"f1": "f"})
    best["system"] = "published " + best["model"] + "/" + best["scheme"]
    counts = totals.select_dtypes("integer").columns  # published scores have none
    rows: pd.DataFrame = best[["system", "metric", "precision", "recall", "f"]]
    both: pd.DataFrame = pd.concat([totals.astype(dict.fromkeys(counts, "Int64")), rows], ignore_index=True)
    return both[totals.columns.tolist()]


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
    parallelism,
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
    from langdiff.parallelism import published_settings, read_parallelisms, read_settings
    from langdiff.parallelism.splitting import read_parts

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
    parallelism,
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
    """Find parallelisms in documents and write them, for parallelism score.

    Example: langdiff parallelism predict tagger sermons/ --out predicted
    """
    import pandas as pd

    from langdiff.parallelism import read_parallelisms, write_parallelisms

    refuse_own_folder(out, [documents])
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

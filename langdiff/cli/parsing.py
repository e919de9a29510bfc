"""`langdiff treebanks parse`: CoNLL-U of texts, by UDPipe."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from langdiff.cli.corpus import Corpus, reads_corpus
from langdiff.cli.models import Json
from langdiff.cli.output import print_json, print_table
from langdiff.cli.paths import existing_after_name, split_name

if TYPE_CHECKING:
    import pandas as pd
    from rich.progress import Progress


@reads_corpus
def parse(
    corpus: Corpus,
    model: Annotated[
        list[str],
        typer.Option(
            "--model",
            metavar="NAME=FILE",
            help="UDPipe 1 model of an edition or a language (repeat).",
            callback=existing_after_name,
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the files EDITION.conllu.")],
    as_json: Json = False,
) -> None:
    """Parse the texts of a corpus with UDPipe; the files serve `langdiff predictors --treebanks`.

    Example: langdiff treebanks parse bible/ --model deu=german-gsd.udpipe --model fin=finnish-tdt.udpipe --out parsed
    """
    import pandas as pd

    from langdiff.base.progress import progress_bar
    from langdiff.treebanks import UDPipeParser

    multitext = corpus.open()
    model_of = _model_by_edition(model, multitext.edition_info["language"])
    parsers = {path: UDPipeParser(path) for path in dict.fromkeys(model_of.values())}
    rows = []
    with progress_bar() as bar:
        for name, path in model_of.items():
            texts = multitext.text(name)
            file = out / f"{name}.conllu"
            sentences = parsers[path].write(_followed(texts, bar, name), file)
            rows.append((name, len(texts), sentences, str(file)))
    table = pd.DataFrame(rows, columns=["edition", "intents", "sentences", "file"])
    if as_json:
        print_json(table)
    else:
        print_table(table, f"Parsed {len(table)} edition(s)", {"intents": "{:,}", "sentences": "{:,}"})


def _followed(texts: "pd.Series", bar: "Progress", name: str) -> Iterator[tuple[str, str]]:
    task = bar.add_task(name, total=len(texts), note="")
    for intent, text in texts.items():
        yield str(intent), text
        bar.advance(task)


def _model_by_edition(models: list[str], language_of: "pd.Series") -> dict[str, Path]:
    from langdiff.errors import ConfigError, listing

    languages = {str(edition): str(language) for edition, language in language_of.items()}
    given = {}
    for option in models:
        name, file = split_name(option)
        if not (name and file):
            raise ConfigError(f"--model {option}: write NAME=FILE, such as deu=german-gsd.udpipe.")
        if name not in languages and name not in languages.values():
            known = listing(sorted(set(languages.values())))
            raise ConfigError(f"--model {option}: {name!r} is neither an edition nor a language; there are {known}.")
        if name in given:
            raise ConfigError(f"--model {option}: a second model for {name!r}; give one.")
        given[name] = Path(file)
    found = {
        edition: path
        for edition, language in languages.items()
        if (path := given.get(edition) or given.get(language)) is not None
    }
    without = [edition for edition in languages if edition not in found]
    if without:
        typer.echo(f"No model for {len(without)} edition(s), which are left out: {listing(without)}", err=True)
    return found

"""`langdiff predictors`: what may make a language hard, one row per edition."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from langdiff.cli.corpus import Corpus, reads_corpus
from langdiff.cli.models import Json, Tokenize
from langdiff.cli.output import print_json
from langdiff.cli.paths import existing

if TYPE_CHECKING:
    from langdiff.tables.multitext import Multitext


@reads_corpus
def predictors(
    corpus: Corpus,
    treebanks: Annotated[
        Path | None, typer.Option(help="Folder of CoNLL-U files named by edition or language.", callback=existing)
    ] = None,
    lexicon: Annotated[
        Path | None, typer.Option(help="Folder of UniMorph files named by edition or language.", callback=existing)
    ] = None,
    syncretism: Annotated[
        Literal["count", "merge"], typer.Option(help="Count the cells that share a word form, or merge them.")
    ] = "count",
    wals: Annotated[Path | None, typer.Option(help="Folder of the CLDF tables of WALS.", callback=existing)] = None,
    feature: Annotated[
        list[str] | None, typer.Option(help="WALS feature (repeat for more); 26A and 81A by default.")
    ] = None,
    lang2vec: Annotated[
        list[str] | None, typer.Option(help="Feature of lang2vec, SET:FEATURE (repeat for more).")
    ] = None,
    entropy: Annotated[
        Literal["plug-in", "miller-madow", "chao-shen"], typer.Option(help="Estimator of the entropy of words.")
    ] = "plug-in",
    compressor: Annotated[Literal["lzma", "zlib"], typer.Option(help="Compressor.")] = "lzma",
    all_intents: Annotated[
        bool, typer.Option("--all-intents", help="Count each edition's own intents, not those shared by all.")
    ] = False,
    tokenize: Tokenize = True,
    as_json: Json = False,
) -> None:
    """Print predictors of difficulty, editions × predictors, as tab-separated values; what is missing on stderr.

    Example: langdiff predictors bible/ --wals wals/ --feature 26A > predictors.tsv
    """
    import langdiff as ld
    from langdiff.errors import ConfigError

    if feature and wals is None:
        raise ConfigError("--feature names features of WALS: give its folder, --wals DIR, too.")
    multitext = corpus.open()
    if not all_intents:
        multitext = _shared(multitext)
    result = ld.predictors(
        multitext,
        tokenized=not tokenize,
        entropy=entropy,
        compressor=compressor,
        treebanks=treebanks,
        lexicons=lexicon,
        syncretism=syncretism,
        wals=wals,
        features=feature or ("26A", "81A"),
        lang2vec=lang2vec or (),
    )
    table = result.to_frame().reset_index()
    if as_json:
        print_json(table)
    else:
        typer.echo(table.to_csv(sep="\t", index=False, float_format="%.15g"), nl=False)
    typer.echo(result.summary(), err=True)


def _shared(multitext: "Multitext") -> "Multitext":
    from langdiff.errors import DataError

    shared = multitext.dropna()
    if not len(shared):
        raise DataError(
            "no intent is in all editions. Choose editions with `langdiff select` or --edition, or count what each "
            "has with --all-intents, where their sizes cannot be compared."
        )
    typer.echo(f"{multitext!r}; shared by all: {len(shared):,} intents", err=True)
    return shared

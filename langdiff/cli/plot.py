"""`langdiff plot`: pictures of a corpus, or of a table of surprisals."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from langdiff.cli.corpus import Corpus, reads_corpus
from langdiff.cli.output import check_picture_name, save_picture
from langdiff.cli.paths import existing
from langdiff.cli.units import Verify
from langdiff.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from langdiff.tables.multitext import Multitext


@reads_corpus
def plot(
    what: Annotated[
        Literal["presence", "sizes", "languages", "intents", "native", "table"],
        typer.Argument(
            help="presence: which edition has which intent; sizes: words and characters per edition; "
            "languages: languages per intent; intents: intents per edition; "
            "native: intents first said in the language of the edition; "
            "table: the first intents of a table of surprisals, with the fitted model in its margins."
        ),
    ],
    corpus: Corpus,
    out: Annotated[Path, typer.Option("--out", "-o", help="Picture (.png, .svg, .pdf).")],
    origins: Annotated[
        Path | None,
        typer.Option(
            help="For native: table (.csv, .tsv) with intents in its first column and a column original_language.",
            callback=existing,
        ),
    ] = None,
    verify: Verify = True,
) -> None:
    """Draw a corpus, or a table of surprisals.

    Example: langdiff plot presence 'bible/*.txt.gz' --out presence.png

    Example: langdiff plot table surprisals.csv --out table.svg
    """
    from langdiff.experiments import read_origins

    check_picture_name(out)
    if origins is not None and what != "native":
        raise ConfigError(f"--origins is for native; {what} does not use original languages.")
    if what == "table":
        save_picture(_table(corpus, verify=verify), out)
        typer.echo(f"Picture: {out}", err=True)
        return
    original_language = None if origins is None else read_origins(origins)
    multitext = corpus.open()
    save_picture(lambda: _draw(what, multitext, original_language), out)
    typer.echo(f"Picture: {out}", err=True)


def _table(given: Corpus, *, verify: bool) -> "Callable[[], Axes]":
    import langdiff as ld

    if len(given.corpus) > 1:
        raise ConfigError(f"table draws one table of surprisals, got {len(given.corpus)} files.")
    if options := given.options():
        raise ConfigError(f"{', '.join(options)}: for pictures of a corpus; a table of surprisals is drawn as it is.")
    surprisals = ld.read_surprisals(given.corpus[0], verify=verify)
    fitted = ld.fit(surprisals)
    return lambda: ld.plots.plot_multitext(surprisals, fit=fitted)


def _draw(what: str, multitext: "Multitext", original_language: "pd.Series | None") -> "Axes":
    from langdiff import plots
    from langdiff.corpora.origin import languages_per_intent, native_share

    match what:
        case "presence":
            return plots.plot_presence(multitext)
        case "sizes":
            return plots.plot_corpus_sizes(multitext.edition_sizes())
        case "languages":
            return plots.plot_languages_per_intent(languages_per_intent(multitext))
        case "intents":
            return plots.plot_intents_per_edition(multitext)
        case _:
            return plots.plot_native_share(native_share(multitext, original_language))

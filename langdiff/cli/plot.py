"""`langdiff plot`: pictures of a corpus."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from langdiff.cli.corpus import Corpus, reads_corpus
from langdiff.cli.output import check_picture_name, save_picture
from langdiff.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd

    from langdiff.multitext import Multitext


@reads_corpus
def plot(
    what: Annotated[
        Literal["presence", "sizes", "languages", "intents", "native"],
        typer.Argument(
            help="presence: which edition has which intent; sizes: words and characters an edition; languages: how "
            "many an intent has; intents: how many an edition has; native: how many were first said in its language."
        ),
    ],
    corpus: Corpus,
    out: Annotated[Path, typer.Option("--out", "-o", help="Picture (.png, .svg, .pdf).")],
    origins: Annotated[
        Path | None,
        typer.Option(help="For native: table (.csv, .tsv), intents first, a column original_language."),
    ] = None,
) -> None:
    """Draw a corpus.

    Example: langdiff plot presence 'bible/*.txt.gz' --out presence.png
    """
    from langdiff.experiments import read_origins

    check_picture_name(out)
    if origins is not None and what != "native":
        raise ConfigError(f"--origins is for native; {what} does not need to know who said what.")
    original_language = None if origins is None else read_origins(origins)
    multitext = corpus.open()
    draw, height = _picture(what, multitext, original_language)
    save_picture(draw, out, height=height)
    typer.echo(f"Picture: {out}", err=True)


def _picture(
    what: str, multitext: "Multitext", original_language: "pd.Series | None"
) -> tuple[Callable[..., Any], float]:
    """Return what draws on axes, and inches of height."""
    from langdiff import plots
    from langdiff.corpora.origin import languages_per_intent, native_share

    rows = len(multitext.editions)
    match what:
        case "presence":
            return multitext.plot_presence, 1.2 + (0.14 * rows if rows <= plots.presence.NAMED else 5.0)
        case "sizes":
            sizes = multitext.edition_sizes()
            return lambda ax: plots.plot_corpus_sizes(sizes, ax), 1.1 + 0.15 * rows
        case "languages":
            counts = languages_per_intent(multitext)
            return lambda ax: plots.plot_languages_per_intent(counts, ax), 3.2
        case "intents":
            return lambda ax: plots.plot_intents_per_edition(multitext, ax), 0.9 + 0.18 * rows
        case _:
            share = native_share(multitext, original_language)
            return lambda ax: plots.plot_native_share(share, ax), 0.9 + 0.18 * rows

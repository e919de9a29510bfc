"""Gold sets that come with the package: one constructed, one mined, the latter without words."""

import io
from collections.abc import Iterable
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pandas as pd

from langdiff.base.signature import short_hash
from langdiff.constructions.gold import GoldTargets, collect_targets, read_gold
from langdiff.constructions.graphs import read_graphs
from langdiff.errors import DataError, listing

_DATA = resources.files("langdiff.constructions").joinpath("data")


def constructed_gold() -> GoldTargets:
    """Return 100 sentences written for langdiff, ten of each phenomenon, with their targets.

    They are for tests and for learning the tool. They are short and clear, as sentences of real texts are not, so that
    parsers must not be ranked by them.

    Returns
    -------
    GoldTargets
        The set, labelled ``"constructed"``.

    Raises
    ------
    FaultsError
        Never with the files that are shipped.

    Examples
    --------
    >>> constructed_gold()
    GoldTargets 'constructed' (constructed): 100 items, 190 targets (20 negative), 10 phenomena
    """
    with resources.as_file(_DATA) as folder:
        return read_gold(
            folder / "constructed.targets.tsv",
            folder / "constructed.sentences.tsv",
            name="constructed",
            origin="constructed",
        )


def mined_gold(path: str | Path | Iterable[str | Path]) -> GoldTargets:
    """Return targets in 525 sentences of English treebanks, with the words taken from the treebanks.

    The package has only the ``sent_id`` of each sentence and the positions of the targets. They were found by the
    queries for English Universal Dependencies and read by one reader: of PUD all candidates, of the other treebanks
    up to 60 sentences per phenomenon, drawn at random. They are derived from the treebanks' annotation and vetted. The
    limits are in the handbook, page "Constructions".

    Parameters
    ----------
    path : str, Path or iterable of them
        CoNLL-U files of UD English PUD, EWT (dev), GUM (dev and test), LinES (dev and test) and ParTUT, or some of
        them.

    Returns
    -------
    GoldTargets
        Targets in the sentences of those files.

    Raises
    ------
    DataError
        If no sentence is in the files, or the words of one are others than those that were annotated.

    Examples
    --------
    The files are not part of the package, so this example is not run as a test.

    >>> mined_gold("en_pud.conllu.gz")  # doctest: +SKIP
    GoldTargets 'mined' (derived and vetted): 153 items, 315 targets (51 negative), 10 phenomena
    """
    rows = [line.split("\t") for line in _text("mined.items.tsv").splitlines() if not line.startswith("#")]
    hashes = {item: digest for item, _, _, digest in rows}
    treebanks = {item: treebank for item, treebank, _, _ in rows}
    sentences: dict[str, tuple[str, ...]] = {}
    changed = []
    for file in [path] if isinstance(path, (str, Path)) else path:
        for graph in read_graphs(file):
            if graph.item in hashes:
                sentences[graph.item] = graph.forms
                if short_hash(list(graph.forms)) != hashes[graph.item]:
                    changed.append(graph.item)
    if changed:
        raise DataError(
            f"the words of {len(changed)} sentences are not those that were annotated: {listing(changed)}. The "
            "treebank is of another revision; the targets are for UD English of 2026 (PUD) and 2025 (others)."
        )
    if not sentences:
        raise DataError(
            "none of the mined sentences is in these files; give UD English PUD, EWT (dev), GUM (dev, test), LinES "
            "(dev, test) or ParTUT."
        )
    lines = enumerate(_text("mined.targets.tsv").splitlines(), 1)
    own = [(number, line) for number, line in lines if line.split("\t")[0] in sentences]
    gold = collect_targets(own, "mined.targets.tsv", sentences, [], name="mined", origin="derived and vetted")
    return replace(gold, treebanks={item: treebanks[item] for item in gold.sentences})


def mined_counts() -> pd.DataFrame:
    """Return counts of the mining and vetting of the mined set, one row per phenomenon.

    Returns
    -------
    DataFrame
        ``sentences`` with candidates of the queries among 8,982 of five treebanks, their ``percent``, and how many
        were ``vetted`` and ``accepted``: all of PUD, and up to 60 drawn from the others.

    Raises
    ------
    OSError
        Never with the file that is shipped.

    Examples
    --------
    >>> mined_counts().set_index("phenomenon").loc["ned"].astype(int).to_dict()
    {'sentences': 11, 'percent': 0, 'vetted': 11, 'accepted': 4}
    """
    return pd.read_csv(io.StringIO(_text("mined.counts.tsv")), sep="\t")


def _text(name: str) -> str:
    return _DATA.joinpath(name).read_text(encoding="utf-8")

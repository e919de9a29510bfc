"""Gold sets that come with the package, one constructed and one mined, and agreement of two annotators."""

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from langdiff.base.grids import Shown
from langdiff.base.result import Result
from langdiff.base.signature import short_hash
from langdiff.constructions.gold import GoldTargets, collect_targets, read_gold
from langdiff.constructions.graphs import read_graphs
from langdiff.constructions.target import Target, write_nodes
from langdiff.errors import DataError, listing
from langdiff.tables.rule import wilson

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
    return collect_targets(
        [(number, cells) for number, line in lines if (cells := line.split("\t"))[0] in sentences],
        "mined.targets.tsv",
        sentences,
        [],
        treebanks={item: treebank for item, treebank, _, _ in rows},
        name="mined",
        origin="derived and vetted",
    )


def mined_counts() -> pd.DataFrame:
    """Return counts of the mining and vetting of the mined set, one row per phenomenon.

    Returns
    -------
    DataFrame
        ``sentences`` with candidates of the queries among 8,982 of five treebanks and their ``percent``; and how many
        were ``vetted`` and ``accepted``, all of PUD and up to 60 drawn from the others, of what wider queries found.

    Raises
    ------
    OSError
        Never with the file that is shipped.

    Examples
    --------
    >>> mined_counts().set_index("phenomenon").loc["ned"].astype(int).to_dict()
    {'sentences': 4, 'percent': 0, 'vetted': 11, 'accepted': 4}
    """
    return pd.read_csv(io.StringIO(_text("mined.counts.tsv")), sep="\t")


def _text(name: str) -> str:
    return _DATA.joinpath(name).read_text(encoding="utf-8")


MOST_DIFFERENCES = 10  # that a summary shows


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Agreement(Result):
    """Agreement of two sets of targets.

    Attributes
    ----------
    table : DataFrame
        One row per phenomenon and a last one, ``all``: ``items`` (sentences with targets in either set), ``identical``
        (those with the same targets in both), their ``share`` with its 95 % Wilson interval ``low`` and ``high``;
        targets ``shared``, ``only_first``, ``only_second``; and ``dice``, 2 · shared / (all targets of both).
    differences : DataFrame
        One row per target that only one of the two has: ``item``, ``phenomenon``, ``annotator`` (name of the set),
        ``head``, ``type``, ``dependent``.
    """

    digits = 3
    printing: ClassVar[Mapping[str, Any]] = {"index": False}

    table: pd.DataFrame
    differences: pd.DataFrame

    def tables(self) -> list[Shown]:
        """Return the table, and the first ten differences."""
        rest = len(self.differences) - MOST_DIFFERENCES
        notes = [f"… and {rest} more"] if rest > 0 else [] if len(self.differences) else ["no differences"]
        first = self.differences.head(MOST_DIFFERENCES)
        return [
            Shown(self.table, "agreement", printing={"index": False, "float_format": "{:.3f}".format}),
            Shown(first, "differences", "Targets that only one of the two has", notes, self.printing),
        ]

    def __repr__(self) -> str:
        """Return a line with the share of sentences with identical targets."""
        whole = self.table.iloc[-1]
        return f"Agreement: the same targets in {whole['identical']} of {whole['items']} items"


def compare_annotators(first: GoldTargets, second: GoldTargets) -> Agreement:
    """Compare the targets that two annotators gave the same sentences.

    A sentence counts once for each phenomenon of which it has targets. Two targets are the same if phenomenon, type,
    heads and dependents are, alternatives in any order. There is no kappa: what could have been a target
    but is none cannot be counted.

    Parameters
    ----------
    first, second : GoldTargets
        Sets of targets in the same sentences.

    Returns
    -------
    Agreement
        Agreement by phenomenon and in all, and every difference.

    Raises
    ------
    DataError
        If the sets have no sentence in common, or one sentence has different words in them.

    Examples
    --------
    >>> from langdiff.constructions import constructed_gold
    >>> compare_annotators(constructed_gold(), constructed_gold())
    Agreement: the same targets in 100 of 100 items
    """
    common = [item for item in first.sentences if item in second.sentences]
    if not common:
        raise DataError("the two sets have no sentence in common; do their items have the same names?")
    if differing := [item for item in common if first.sentences[item] != second.sentences[item]]:
        raise DataError(f"{len(differing)} sentences have different words in the two sets: {listing(differing)}.")
    one, other = _by_item(first, common), _by_item(second, common)
    rows = []
    differences = []
    for item, phenomenon in dict.fromkeys([*one, *other]):
        own, theirs = one.get((item, phenomenon), {}), other.get((item, phenomenon), {})
        rows.append((phenomenon, own.keys() == theirs.keys(), len(own.keys() & theirs.keys()), len(own), len(theirs)))
        for annotator, kept in ((first.name, own.keys() - theirs.keys()), (second.name, theirs.keys() - own.keys())):
            both = own | theirs
            differences += [_row(annotator, both[key], first.sentences[item]) for key in sorted(kept, key=str)]
    frame = pd.DataFrame(rows, columns=["phenomenon", "identical", "shared", "first", "second"])
    parts = [(code, part) for code, part in frame.groupby("phenomenon", sort=False)]
    table = pd.DataFrame([_share(str(code), part) for code, part in [*parts, ("all", frame)]])
    columns = ["item", "phenomenon", "annotator", "head", "type", "dependent"]
    return Agreement(table=table, differences=pd.DataFrame(differences, columns=columns))


def _by_item(gold: GoldTargets, items: list[str]) -> dict[tuple[str, str], dict[object, Target]]:
    common = set(items)
    found: dict[tuple[str, str], dict[object, Target]] = {}
    for target in gold.targets:
        if target.item in common:
            found.setdefault((target.item, target.phenomenon), {})[target.key] = target
    return found


def _row(annotator: str, target: Target, words: tuple[str, ...]) -> tuple[str, ...]:
    head, dependent = write_nodes(target.heads, words), write_nodes(target.dependents, words)
    return target.item, target.phenomenon, annotator, head, target.type, dependent


def _share(code: str, part: pd.DataFrame) -> dict[str, object]:
    identical, shared = int(part["identical"].sum()), int(part["shared"].sum())
    first, second = int(part["first"].sum()), int(part["second"].sum())
    low, high = map(float, wilson(np.array(identical / len(part)), len(part)))
    share = {"phenomenon": code, "items": len(part), "identical": identical, "share": identical / len(part)}
    targets = {"shared": shared, "only_first": first - shared, "only_second": second - shared}
    return {**share, "low": low, "high": high, **targets, "dice": 2 * shared / (first + second)}

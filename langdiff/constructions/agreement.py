"""Agreement of two annotators on the targets of the same sentences."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pandas as pd

from langdiff.base.grids import frame_text
from langdiff.base.result import Result
from langdiff.constructions.gold import GoldTargets
from langdiff.constructions.scores import wilson
from langdiff.constructions.target import Target, write_nodes
from langdiff.errors import DataError, listing


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

    def to_frame(self) -> pd.DataFrame:
        """Return `table`."""
        return self.table

    def _notes(self) -> Iterator[str]:
        yield frame_text(self.differences.head(10), index=False) if len(self.differences) else "no differences"
        if (rest := len(self.differences) - 10) > 0:
            yield f"… and {rest} more"

    def summary(self) -> str:
        """Return the table and the first ten differences as text."""
        table = frame_text(self.table, index=False, float_format="{:.3f}".format)
        return "\n".join([table, "", *self._notes()])

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
    low, high = wilson(identical, len(part))
    share = {"phenomenon": code, "items": len(part), "identical": identical, "share": identical / len(part)}
    targets = {"shared": shared, "only_first": first - shared, "only_second": second - shared}
    return {**share, "low": low, "high": high, **targets, "dice": 2 * shared / (first + second)}

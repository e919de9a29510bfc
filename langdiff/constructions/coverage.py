"""Sentences that parsers did not parse: counted by treebank, said, and treebanks that are missing as a whole."""

import warnings
from collections.abc import Sequence
from typing import Literal, get_args

import pandas as pd

from langdiff.constructions.gold import GoldTargets
from langdiff.constructions.parses import Parses
from langdiff.errors import ConfigError, DataError, LangdiffWarning, listing, option

Missing = Literal["raise", "skip", "wrong"]


def coverage_of(gold: GoldTargets, systems: Sequence[Parses]) -> pd.DataFrame:
    """Return how much of the gold set parsers have parsed, one row per parser and treebank.

    Columns are ``parser``, ``treebank``, ``items`` (sentences of the gold set), ``no_parse`` (those without a block)
    and ``empty`` (blocks without lines).
    """
    rows = [
        (system.name, gold.treebank_of(item), 1, item not in system.blocks, system.blocks.get(item) == ())
        for system in systems
        for item in gold.sentences
    ]
    frame = pd.DataFrame(rows, columns=["parser", "treebank", "items", "no_parse", "empty"])
    return frame.groupby(["parser", "treebank"], sort=False).sum().astype(int).reset_index()


def without_missing_treebanks(gold: GoldTargets, systems: Sequence[Parses], missing: Missing) -> GoldTargets:
    """Return the gold set, without treebanks of which a parser has parsed nothing if these are to be left out.

    Raises
    ------
    ConfigError
        If `missing` is unknown.
    DataError
        If a parser has no parse of any sentence of a treebank, and `missing` is ``"raise"`` or no other treebank is
        left; if a parser has parsed nothing at all.

    Warns
    -----
    LangdiffWarning
        If treebanks are left out.
    """
    if missing not in get_args(Missing):
        raise ConfigError(f"missing is one of {', '.join(get_args(Missing))}; got {missing!r}.")
    coverage = coverage_of(gold, systems)
    for parser, own in coverage.groupby("parser", sort=False):
        if (own["no_parse"] == own["items"]).all():
            raise DataError(f"parser {parser!r} has no block for any item of {gold.name!r}; do their names agree?")
    lost = coverage[coverage["no_parse"] == coverage["items"]]
    if lost.empty or missing == "wrong":
        return gold
    said = "; ".join(_said(str(parser), own, coverage) for parser, own in lost.groupby("parser", sort=False))
    names = set(lost["treebank"])
    kept = [item for item in gold.sentences if gold.treebank_of(item) not in names]
    if missing == "raise" or not kept:
        skip = f"leave these treebanks out for all parsers ({option('missing', 'skip')}), or " if kept else ""
        raise DataError(
            f"{said}. Give its output for them, too, {skip}count their targets as wrong ({option('missing', 'wrong')})."
        )
    warnings.warn(
        f"{said}. These treebanks are left out for all parsers: the scores are of {len(kept):,} of "
        f"{len(gold.sentences):,} sentences.",
        LangdiffWarning,
        stacklevel=3,
    )
    return gold.sel(items=kept)


def _said(parser: str, lost: pd.DataFrame, coverage: pd.DataFrame) -> str:
    number = coverage["treebank"].nunique()
    named = ", ".join(f"{row.treebank} ({row.items:,} sentences)" for row in lost.itertuples())
    return f"parser {parser!r} has no parse of any sentence of {len(lost)} of {number} treebanks: {named}"


def warn_of_missing_parses(gold: GoldTargets, system: Parses) -> None:
    """Warn of sentences without a parse, whose targets count as wrong: how many of each treebank, and the first."""
    banks: dict[str, list[str]] = {}
    for item in gold.sentences:
        banks.setdefault(gold.treebank_of(item), []).append(item)
    lacking = {bank: [item for item in items if item not in system.blocks] for bank, items in banks.items()}
    if total := sum(map(len, lacking.values())):
        each = "; ".join(
            f"{bank}: {len(own):,} of {len(banks[bank]):,} ({listing(own)})" for bank, own in lacking.items() if own
        )
        warnings.warn(
            f"parser {system.name!r} has no parse of {total:,} of {len(gold.sentences):,} sentences, whose targets "
            f"count as wrong. {each}.",
            LangdiffWarning,
            stacklevel=3,
        )

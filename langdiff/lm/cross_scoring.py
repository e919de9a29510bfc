"""One table of the surprisals of all folds."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import pandas as pd

from langdiff.base.signature import short_hash
from langdiff.errors import FaultsError, LangdiffError, without_figures
from langdiff.tables.divisions import Folds, Parts
from langdiff.tables.long_tables import BESIDE
from langdiff.tables.provenance import Provenance
from langdiff.tables.surprisals import Surprisals


class Scored(NamedTuple):
    """What language models of all editions gave.

    Attributes
    ----------
    surprisals : Surprisals
        Bits of the test intents.
    failed : dict from str to str
        What was wrong with editions that are left out.
    cautions : list of (str, str)
        Edition and what a reader of its surprisals should know.
    """

    surprisals: Surprisals
    failed: dict[str, str]
    cautions: list[tuple[str, str]]


class ScoreParts(Protocol):
    """Train and score the language models of one fold, whose number counts from 1."""

    def __call__(self, parts: Parts, number: int, /) -> Scored:
        """Return the surprisals of the test part."""
        ...


def score_folds(folds: Folds, score: ScoreParts, seed: int | None) -> Scored:
    """Train and score fold after fold; return one table of all intents.

    An edition that fails in one fold is left out of the table, and of the folds after it.

    Parameters
    ----------
    folds : Folds
        What the models of each fold learn from and are measured on.
    score : callable
        Takes the parts of a fold and its number.
    seed : int or None
        Seed from which those of the folds were made, for the provenance.

    Returns
    -------
    Scored
        Bits of all intents, in the order of the multitext; the fold that measured each is in ``intent_info["fold"]``.
    """
    found: list[Scored] = []
    failed: dict[str, str] = {}
    for number in range(1, len(folds.parts) + 1):
        with _naming_fold(number, len(folds.parts)):
            found.append(score(folds.parts[number - 1], number))
        new = {edition: f"fold {number}: {why}" for edition, why in found[-1].failed.items()}
        if new:
            failed |= new
            folds = folds.sel([edition for edition in folds.editions if edition not in failed])
    tables = [table.surprisals.sel(editions=folds.editions) for table in found]
    return Scored(_join(tables, folds, seed), failed, _each_once(found, failed))


def _join(tables: Sequence[Surprisals], folds: Folds, seed: int | None) -> Surprisals:
    def join(name: str) -> pd.DataFrame:
        joined: pd.DataFrame = pd.concat([getattr(table, name) for table in tables])
        return joined.loc[folds.multitext.intents]

    known = [name for name in ("bits", *BESIDE) if getattr(tables[0], name) is not None]
    columns: dict[str, Any] = {name: join(name) for name in known}
    info = folds.multitext.intent_info.assign(fold=folds.fold)
    records = [table.provenance for table in tables if table.provenance is not None]
    return Surprisals(**columns, intent_info=info, lm=tables[0].lm, provenance=_provenance(records, folds, seed))


def _provenance(records: Sequence[Provenance], folds: Folds, seed: int | None) -> Provenance:
    """Return what the joint table depends on; folds differ in their texts, and in seeds made of one."""

    def joined(name: str) -> str | None:
        values = dict.fromkeys(getattr(record, name) for record in records)
        return "+".join(sorted(value for value in values if value is not None)) or None

    return Provenance(
        recipe=records[0].recipe,
        scoring=records[0].scoring,
        seed=seed,
        texts=short_hash([record.texts for record in records]),
        preparation=joined("preparation"),
        split=f"folds:{len(records)},by:{folds.group.name},measured:{len(folds.multitext)}",
        compute=joined("compute"),
        versions=joined("versions"),
    )


def _each_once(found: Sequence[Scored], failed: dict[str, str]) -> list[tuple[str, str]]:
    """Return the cautions of all folds, those that differ in figures only once."""
    kinds: dict[tuple[str, str], str] = {}
    for scored in found:
        for edition, caution in scored.cautions:
            if edition not in failed:
                kinds.setdefault((edition, without_figures(caution)), caution)
    return [(edition, caution) for (edition, _), caution in kinds.items()]


@contextmanager
def _naming_fold(number: int, of: int) -> Iterator[None]:
    """Name the fold in errors."""
    try:
        yield
    except FaultsError:
        raise
    except LangdiffError as error:
        raise type(error)(f"fold {number} of {of}: {error}") from error

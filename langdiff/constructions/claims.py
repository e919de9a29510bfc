"""Formal claims about scores: parsers above or below a value, by type of dependency."""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from langdiff.base.grids import Shown
from langdiff.base.result import Result
from langdiff.constructions.scores import order_columns, score_matrix
from langdiff.errors import ConfigError, DataError

COLUMNS = ["claim", "phenomenon", "column", "who", "holds"]
_SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CheckedClaims(Result):
    """Claims with their truth values.

    Attributes
    ----------
    table : DataFrame
        The claims, one row each, with ``true`` (whether it holds) and ``cells`` (the recalls that decide it).
    """

    table: pd.DataFrame

    def tables(self) -> list[Shown]:
        """Return the claims with their truth values and the deciding cells."""
        shown = [*self.table.columns.drop(["true", "cells"]), "cells"]
        return [Shown(self.table[["true", *shown]], "claims", printing={"index": False})]

    def __repr__(self) -> str:
        """Return a line with the number of claims that hold."""
        return f"CheckedClaims: {int(self.table['true'].sum())} of {len(self.table)} hold"


def check_claims(scores: pd.DataFrame, claims: pd.DataFrame) -> CheckedClaims:
    """Check claims about recall against a table of scores.

    Parameters
    ----------
    scores : DataFrame
        One row per ``phenomenon``, ``type`` and ``parser``, and ``recall``, as `ConstructionScores.to_frame` gives it.
    claims : DataFrame
        One row per claim, columns ``claim`` (words), ``phenomenon`` (codes with spaces between; each must
        satisfy the claim), ``column`` (a type; ``easier`` or ``harder``, the first or last type in the order of
        `order_columns`; ``every``, the parser's lowest recall; ``gap``, its highest less its lowest recall), ``who``
        (``all``, ``nobody``, ``A, B``: these at least; ``only A, B``: these and no others; ``all but A``;
        ``at least 5``: that many) and ``holds`` (``> 0.1``, ``<= 0.33``, ``0.7 to 0.85``).

    Returns
    -------
    CheckedClaims
        Claims with truth values and deciding cells.

    Raises
    ------
    DataError
        If a column is missing, or a claim names a phenomenon, type or parser that has no scores.
    ConfigError
        If a claim is not written so.

    Examples
    --------
    >>> rows = [("ned", "MOD", "XLE", 0.6), ("ned", "MOD", "RASP", 0.05)]
    >>> scores = pd.DataFrame(rows, columns=["phenomenon", "type", "parser", "recall"])
    >>> claim = {"claim": "XLE alone", "phenomenon": "ned", "column": "MOD", "who": "only XLE", "holds": "> 0.1"}
    >>> checked = check_claims(scores, pd.DataFrame([claim]))
    >>> checked
    CheckedClaims: 1 of 1 hold
    >>> checked.to_frame()["cells"].item()
    'ned: XLE 0.600 yes, RASP 0.050 no'
    """
    if lacking := [name for name in COLUMNS if name not in claims.columns]:
        raise DataError(f"a table of claims has the columns {', '.join(COLUMNS)}; it lacks {lacking[0]!r}.")
    recall = score_matrix(scores)[list(dict.fromkeys(scores["parser"]))]
    order = order_columns(scores)
    checked = []
    for claim in claims[COLUMNS].itertuples(index=False):
        holds = _condition(str(claim.holds))
        verdicts, cells = [], []
        for phenomenon in str(claim.phenomenon).split():
            values = _values(recall, order, phenomenon, str(claim.column))
            satisfied = {str(parser) for parser, value in values.items() if holds(float(value))}
            verdicts.append(_agrees(str(claim.who), satisfied, [str(parser) for parser in values.index]))
            told = (
                f"{parser} {value:.3f} {'yes' if parser in satisfied else 'no'}" for parser, value in values.items()
            )
            cells.append(f"{phenomenon}: {', '.join(told)}")
        checked.append({"true": all(verdicts), "cells": "; ".join(cells)})
    return CheckedClaims(table=pd.concat([claims[COLUMNS].reset_index(drop=True), pd.DataFrame(checked)], axis=1))


def _values(recall: pd.DataFrame, order: list[tuple[str, str]], phenomenon: str, column: str) -> pd.Series:
    """Return the quantity of a claim, by parser."""
    types = [kind for code, kind in order if code == phenomenon]
    if not types:
        raise DataError(f"there are no scores for phenomenon {phenomenon!r}.")
    part = pd.DataFrame(recall.T[phenomenon])  # parsers × types
    match column:
        case "easier":
            return part[types[0]]
        case "harder":
            return part[types[-1]]
        case "every":
            return part.min(axis=1)
        case "gap":
            return part.max(axis=1) - part.min(axis=1)
    if column not in types:
        raise DataError(f"there are no scores for {phenomenon} {column!r}; its types are {', '.join(types)}.")
    return part[column]


def _condition(text: str) -> Callable[[float], bool]:
    if match := re.fullmatch(r"(>=|<=|>|<) *(\d*\.?\d+)", text.strip()):
        sign, bound = _SIGNS[match.group(1)], float(match.group(2))
        return lambda value: sign(value, bound)
    if match := re.fullmatch(r"(\d*\.?\d+) to (\d*\.?\d+)", text.strip()):
        low, high = map(float, match.groups())
        return lambda value: low <= value <= high
    raise ConfigError(f"{text!r} is not a condition such as '> 0.1' or '0.7 to 0.85'.")


def _agrees(who: str, satisfied: set[str], parsers: list[str]) -> bool:
    """Return whether the parsers that satisfy a condition are the ones that the claim names."""
    everyone = set(parsers)
    if who == "all":
        return satisfied == everyone
    if who == "nobody":
        return not satisfied
    if match := re.fullmatch(r"at least (\d+)", who):
        return len(satisfied) >= int(match.group(1))
    for prefix in ("only ", "all but ", ""):
        if who.startswith(prefix):
            named = {name.strip() for name in who.removeprefix(prefix).split(",")}
            break
    if unknown := sorted(named - everyone):
        raise DataError(f"claim about {who!r}: {unknown[0]!r} is not a parser; parsers are {', '.join(parsers)}.")
    if prefix == "only ":
        return satisfied == named
    return satisfied == everyone - named if prefix else named <= satisfied

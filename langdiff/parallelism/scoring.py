"""Comparison of predicted with annotated parallelisms by four metrics, and its result."""

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import pandas as pd

from langdiff.base.result import Result
from langdiff.base.signature import full_signature, name_of_number, short_hash
from langdiff.base.types import Floats, Integers, check_choice
from langdiff.errors import ConfigError, DataError, option
from langdiff.parallelism.documents import Document, Documents, check_documents, depths
from langdiff.parallelism.matching import METRICS, Metric, match_parallelisms, sizes
from langdiff.parallelism.statistics import shared_tokens
from langdiff.tables.effects import Effects
from langdiff.tables.influences import Units
from langdiff.tables.outcomes import Outcomes
from langdiff.tables.rule import shares

Side = Literal["reference", "hypothesis"]
SIDES: tuple[Side, ...] = get_args(Side)
SUMS = ("matched", "hypothesis_size", "reference_size")
FEATURES = ("stratum", "kind", "branches", "tokens", "overlap", "distance", "section", "position")
_KEYS = ("system", "document", "side", "number")
_TYPES: dict[str, str] = {"stratum": "int64", "distance": "Int64", "kind": "object"}
_PERCENT = ["precision", "recall", "f", "macro_f"]
_SHOWN = {"f": "F", "macro_f": "macro F", "hypothesis_size": "predicted", "reference_size": "annotated"}


@dataclass(frozen=True, eq=False)
class ScoreRows:
    """Table of parallelisms, as files of scores have it."""

    rows: pd.DataFrame


class ScoreTable:
    """Scores of pairs of documents, which may be added one after the other; or the rows of all, from a file."""

    def __init__(self, rows: pd.DataFrame | None = None) -> None:
        self._rows = rows
        self._pairs: list[tuple[str, str, Document, Document, dict[Metric, dict[int, tuple[int, int]]]]] = []

    def add(self, system: str, name: str, reference: Document, hypothesis: Document) -> None:
        """Score a hypothesis against the reference of its document."""
        matched = match_parallelisms(reference.parallelisms, hypothesis.parallelisms)
        self._pairs.append((system, name, reference, hypothesis, matched))

    def documents(self) -> dict[str, list[Any]]:
        """Return columns of a table with one row per system, document and metric, with w* and the two sizes."""
        columns: dict[str, list[Any]] = {name: [] for name in ("system", "document", "metric", *SUMS)}
        for system, name, reference, hypothesis, matched in self._pairs:
            columns["system"] += [system] * len(METRICS)
            columns["document"] += [name] * len(METRICS)
            columns["metric"] += METRICS
            columns["matched"] += [sum(credit for _, credit in pairs.values()) for pairs in matched.values()]
            columns["hypothesis_size"] += _total_sizes(hypothesis)
            columns["reference_size"] += _total_sizes(reference)
        return columns

    def parallelisms(self) -> pd.DataFrame:
        """Return one row per system, document, side, parallelism and metric."""
        if self._rows is not None:
            return self._rows
        known: dict[str, list[tuple[Any, ...]]] = {}  # features of the references
        rows: list[tuple[Any, ...]] = []  # one per parallelism
        cells = [np.zeros((0, 3, len(METRICS)), dtype=int)]  # credits, sizes, partners of the rows
        for system, name, reference, hypothesis, matched in self._pairs:
            if name not in known:
                known[name] = features(reference)
            sides = [np.zeros((len(side.parallelisms), 3, len(METRICS)), dtype=int) for side in (reference, hypothesis)]
            for side, own in zip((reference, hypothesis), sides, strict=True):
                own[:, 1] = np.array([sizes(one) for one in side.parallelisms], dtype=int).reshape(-1, len(METRICS))
            for place, pairs in enumerate(matched.values()):
                for row, (column, credit) in pairs.items():
                    sides[0][row, ::2, place] = credit, column + 1
                    sides[1][column, ::2, place] = credit, row + 1
            for what, found in zip(SIDES, (known[name], features(hypothesis)), strict=True):
                rows += [(system, name, what, number, *row) for number, row in enumerate(found, 1)]
            cells += sides
        return _long(pd.DataFrame(rows, columns=[*_KEYS, *FEATURES]).astype(_TYPES), np.concatenate(cells))

    def to_record(self) -> ScoreRows:
        """Return the rows that are saved."""
        return ScoreRows(self.parallelisms())

    @classmethod
    def from_record(cls, record: ScoreRows) -> "ScoreTable":
        """Return the table of rows that were saved."""
        return cls(record.rows)


def _total_sizes(document: Document) -> tuple[int, int, int, int]:
    """Return the size of all parallelisms by each metric."""
    lengths = [end - start for one in document.parallelisms for start, end in one.branches]
    return len(document.parallelisms), len(lengths), sum(lengths), sum(lengths)


def _long(wide: pd.DataFrame, cells: Integers) -> pd.DataFrame:
    """Return one row per parallelism and metric; credits, sizes and partners have shape (N, 3, 4)."""
    long = wide.loc[np.repeat(np.arange(len(wide)), len(METRICS))].reset_index(drop=True)
    credit, size, partner = (cells[:, place].ravel() for place in range(3))
    at = len(_KEYS)
    long.insert(at, "partner", pd.Series(partner, dtype="Int64").mask(partner == 0))
    long.insert(at, "size", size)
    long.insert(at, "credit", credit)
    long.insert(at, "metric", np.tile(np.array(METRICS, dtype=object), len(wide)))
    return long


def features(document: Document) -> list[tuple[Any, ...]]:
    """Return properties of parallelisms that may explain their scores, named by `FEATURES`.

    Examples
    --------
    >>> from langdiff.parallelism import Parallelism, make_document
    >>> features(make_document("1", "we came , we saw".split(), [Parallelism(((0, 2), (3, 5)))]))
    [(0, None, 2, 4, 0.3333333333333333, 2, '1', 0.0)]
    """
    starts = [section.start for section in document.sections]
    rows = []
    for one, depth in zip(document.parallelisms, depths(document), strict=True):
        _, branches, tokens, _ = sizes(one)
        pairs = [shared_tokens(document, *pair) for pair in combinations(one.branches, 2)]
        overlap = sum(shared / joint for shared, joint in pairs) / len(pairs) if pairs else math.nan
        distance = max((other[0] - before[1] + 1 for before, other in pairwise(one.branches)), default=None)
        first = one.branches[0][0]
        section = document.sections[max(bisect_right(starts, first) - 1, 0)].name
        rows.append((depth, one.kind, branches, tokens, overlap, distance, section, first / len(document.tokens)))
    return rows


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ParallelismScores(Result):
    """Scores of systems that predict parallelisms.

    Attributes
    ----------
    documents : DataFrame
        One row per system, document and metric: ``matched`` (w*), ``hypothesis_size``, ``reference_size``,
        ``precision``, ``recall``, ``f``, and whether both sides are empty, so that these are ``undefined`` (and 0).
    systems : tuple of str
        Names of the systems.
    beta : float
        Weight of recall in F.
    signature : str
        Settings and a hash of the references, to be quoted with the numbers.
    matchings : ScoreTable
        Matchings from which `parallelisms` is made.

    Notes
    -----
    The fixed matching goes through the references by number and gives each the largest credit that leaves the total at
    its maximum and, of equal credits, the hypothesis of the smallest number. Totals do not depend on it.
    """

    digits = 2
    printing: ClassVar[Mapping[str, Any]] = {
        "index": False,
        "formatters": {_SHOWN.get(name, name): "{:.2f}".format for name in _PERCENT},
    }

    documents: pd.DataFrame
    systems: tuple[str, ...]
    beta: float
    signature: str
    matchings: ScoreTable

    @cached_property
    def parallelisms(self) -> pd.DataFrame:
        """One row per system, document, side (``reference`` or ``hypothesis``), parallelism and metric.

        Columns: ``number`` of the parallelism in its document, from 1; ``credit`` in one fixed maximum matching, out
        of ``size``; number of the ``partner`` on the other side, missing without credit; and what may explain the
        credit: ``stratum`` (from 0, outermost), ``kind``, ``branches``, ``tokens``, ``overlap`` (mean lexical overlap
        of its pairs of branches), ``distance`` (largest from the last token of a branch to the first of the next),
        ``section``, ``position`` (of its first token in the document, from 0 to 1). The table is made when it is first
        asked for, since that takes longer than scoring.
        """
        return self.matchings.parallelisms()

    def to_frame(self) -> pd.DataFrame:
        """Return one row per system and metric.

        Columns: ``system``, ``metric``, number of ``documents`` compared, the sums ``matched``, ``hypothesis_size`` and
        ``reference_size``, ``precision``, ``recall`` and ``f`` of these, ``undefined``, and ``macro_f``, the mean of
        ``f`` over the documents in which it is defined.
        """
        documents = self.documents
        system, systems = pd.factorize(documents["system"])
        metric, metrics = pd.factorize(documents["metric"])
        rows = system * len(metrics) + metric
        columns: dict[str, Any] = {
            "system": np.repeat(systems, len(metrics)),
            "metric": np.tile(metrics, len(systems)),
            "documents": np.bincount(rows),
        }
        columns |= {name: np.bincount(rows, documents[name]).astype(np.int64) for name in SUMS}
        frame = with_ratios(columns, self.beta)
        defined = ~documents["undefined"].to_numpy()
        count = np.bincount(rows, defined).astype(np.float64)
        total = np.bincount(rows, documents["f"] * defined).astype(np.float64)
        frame["macro_f"] = np.where(count > 0, ratio(total, count), np.nan)
        return frame

    def effects(self, metric: Metric = "MBAWO") -> Effects:
        """Return F (β = 1) of the systems with errors by document, over the documents that all have.

        Parameters
        ----------
        metric : {"EPM", "MPBM", "MBAWO", "MWO"}
            Metric of the matching.

        Raises
        ------
        ConfigError
            If the metric is unknown.
        """
        check_choice("metric", metric, METRICS)
        rows = self.documents[self.documents["metric"] == metric].set_index(["document", "system"])
        sizes = rows["hypothesis_size"] + rows["reference_size"]
        tops, bottoms = (part.unstack("system")[list(self.systems)].dropna() for part in (2 * rows["matched"], sizes))
        return Effects.of_ratios(
            tops,
            bottoms,
            Units("document", tops.index.map(str)),
            shares("f"),
            title=metric,
            signature=f"{self.signature}|metric:{metric}",
        )

    def outcomes(self, metric: Metric = "MBAWO", *, side: Side = "reference") -> Outcomes:
        """Return credits as successes out of sizes as trials, for models of outcomes.

        Annotated parallelisms are items that all systems share, so that ``reference`` is about recall. Predicted
        parallelisms differ from system to system: ``hypothesis`` has documents as items, and is about precision.

        Parameters
        ----------
        metric : {"EPM", "MPBM", "MBAWO", "MWO"}
            Metric of the credits. Outcomes of one parallelism by several metrics are not independent.
        side : {"reference", "hypothesis"}
            Side whose sizes are the trials.

        Returns
        -------
        Outcomes
            Items × systems. Items are ``document/number`` of references, with what may explain their credit and the
            ``document``, the cluster that errors should allow for; or documents. Cells are missing where a system lacks
            the document, or predicts no parallelism in it (``hypothesis``).

        Raises
        ------
        ConfigError
            If the metric or the side is unknown.
        DataError
            If there are no items: no parallelisms on that side.
        """
        check_choice("metric", metric, METRICS)
        if side not in SIDES:
            raise ConfigError(f"{option('side')} is reference or hypothesis; got {side!r}.")
        if side == "hypothesis":
            rows = self.documents[self.documents["metric"] == metric]
            rows = rows.assign(item=rows["document"], credit=rows["matched"], size=rows["hypothesis_size"])
            rows = rows[rows["size"] > 0]
            attributes = ["document"]
        else:
            rows = self.parallelisms
            rows = rows[(rows["metric"] == metric) & (rows["side"] == side)]
            rows = rows.assign(item=rows["document"] + "/" + rows["number"].astype(str))
            attributes = ["document", *FEATURES]
        if rows.empty:
            raise DataError(f"there are no parallelisms on the {side} side, so that there are no outcomes.")
        items = rows.drop_duplicates("item").set_index("item")[attributes]
        order = [system for system in self.systems if (rows["system"] == system).any()]
        successes, trials = (
            rows.pivot(index="item", columns="system", values=name).astype(float).reindex(index=items.index)[order]
            for name in ("credit", "size")
        )
        name = f"{metric} {'recall' if side == 'reference' else 'precision'}"
        return Outcomes(successes=successes, trials=trials, items=items, name=name)

    def _lines(self) -> Iterator[str]:
        yield f"Scores in percent, F with β = {self.beta:g}; sums over documents, macro F: mean over documents"
        if self.to_frame()["undefined"].any():
            yield "Systems and references without any parallelism have no scores; they are given as 0."

    def _table(self) -> pd.DataFrame:
        frame = self.to_frame()
        frame[_PERCENT] *= 100
        return frame.drop(columns="undefined").rename(columns=_SHOWN)

    def __repr__(self) -> str:
        """Return a line with the numbers of systems and documents, and F by MBAWO."""
        totals = self.to_frame()
        f = ", ".join(f"{value:.3g}" for value in totals.loc[totals["metric"] == "MBAWO", "f"])
        documents = self.documents["document"].nunique()
        return f"ParallelismScores of {len(self.systems)} system(s) on {documents} document(s): F of MBAWO {f}"


def with_ratios(columns: Mapping[str, Any], beta: float) -> pd.DataFrame:
    """Return a table with w* and the two sizes among its columns; precision, recall and F, and whether undefined.

    Examples
    --------
    >>> with_ratios({"matched": [2], "hypothesis_size": [4], "reference_size": [4]}, 1.0)["f"].tolist()
    [0.5]
    """
    matched, hypotheses, references = (np.asarray(columns[name], dtype=np.float64) for name in SUMS)
    precision, recall = ratio(matched, hypotheses), ratio(matched, references)
    f = ratio((1 + beta**2) * precision * recall, beta**2 * precision + recall)
    undefined = (hypotheses == 0) & (references == 0)
    return pd.DataFrame({**columns, "precision": precision, "recall": recall, "f": f, "undefined": undefined})


def ratio(above: Floats, below: Floats) -> Floats:
    """Return quotients, 0 where the denominator is 0.

    Examples
    --------
    >>> ratio(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    array([0.5, 0. ])
    """
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def score_parallelisms(
    hypotheses: Mapping[str, Documents], references: Documents, *, beta: float = 1.0
) -> ParallelismScores:
    r"""Compare predicted parallelisms with annotated ones by four metrics.

    Of each document, parallelisms of both sides are matched one to one so that the sum of their scores is as large as
    can be, :math:`w^*`; then

    .. math:: P = w^* / \sum_x \mathrm{size}(x), \quad R = w^* / \sum_y \mathrm{size}(y), \quad
              F_\beta = (1 + \beta^2) P R / (\beta^2 P + R)

    with sums over the predicted parallelisms x and the annotated y; of several documents, the three sums are added
    up first. A quotient whose denominator is 0 is 0.

    * EPM (exact parallelism match): 1 for the same set of branches; size 1.
    * MPBM (maximum parallel branch match): number of identical branches if there are at least two; size: branches.
    * MBAWO (maximum branch-aware word overlap): tokens that branches matched one to one have in common, if at least
      two pairs of branches have some; size: tokens. Of several best matchings of branches, one with the most pairs
      counts, so that scores do not depend on the order of the sides.
    * MWO (maximum word overlap): tokens in common; size: tokens.

    Parameters
    ----------
    hypotheses : mapping from str to mapping
        By name of the system: its documents by name, as `read_parallelisms` returns them with ``predicted=True``. A
        system may lack documents, which its totals then leave out.
    references : mapping from str to Document
        Annotated documents by name.
    beta : float
        Weight of recall: β > 1 counts it more than precision.

    Returns
    -------
    ParallelismScores
        Tables of scores.

    Raises
    ------
    ConfigError
        If there are no systems, or `beta` is not a positive number.
    DataError
        If there are no references, a system has a document that the references lack or none at all, or the two
        versions of a document have different numbers of tokens.

    Warns
    -----
    LangdiffWarning
        If a system lacks documents.

    References
    ----------
    Bothwell, DeBenedetto, Crnkovich, Müller and Chiang (2023), "Introducing Rhetorical Parallelism Detection: A New
    Task with Datasets, Metrics, and Baselines", EMNLP, section 4.

    Examples
    --------
    >>> from langdiff.parallelism import Parallelism, make_document
    >>> words = "we came , we saw , we stayed".split()
    >>> gold = make_document("1", words, [Parallelism(((0, 2), (3, 5), (6, 8)))])
    >>> guess = make_document("1", words, [Parallelism(((0, 2), (3, 5)))])
    >>> scores = score_parallelisms({"guess": {"1": guess}}, {"1": gold})
    >>> scores
    ParallelismScores of 1 system(s) on 1 document(s): F of MBAWO 0.8
    >>> scores.to_frame()[["metric", "matched", "precision", "recall", "f"]].round(3)
      metric  matched  precision  recall    f
    0    EPM        0        0.0   0.000  0.0
    1   MPBM        2        1.0   0.667  0.8
    2  MBAWO        4        1.0   0.667  0.8
    3    MWO        4        1.0   0.667  0.8
    """
    if not (math.isfinite(beta) and beta > 0):
        raise ConfigError(f"{option('beta')} is a positive number; got {beta!r}.")
    check_documents(hypotheses, references)
    table = ScoreTable()
    for system, documents in hypotheses.items():
        for name in references:
            if name in documents:
                table.add(system, name, references[name], documents[name])
    content = [[name, len(one.tokens), [p.branches for p in one.parallelisms]] for name, one in references.items()]
    parts = {"metrics": "parallelism", "beta": name_of_number(beta), "reference": short_hash(content)}
    return ParallelismScores(
        documents=with_ratios(table.documents(), beta),
        systems=tuple(hypotheses),
        beta=float(beta),
        signature=full_signature(parts),
        matchings=table,
    )

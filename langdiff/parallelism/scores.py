"""Result of a comparison of predicted with annotated parallelisms."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from langdiff.base.types import Floats
from langdiff.errors import ConfigError, DataError
from langdiff.parallelism.matching import METRICS, Metric
from langdiff.parallelism.score_table import FEATURES, SIDES, SUMS, ScoreTable, Side
from langdiff.tables.outcomes import Outcomes


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ParallelismScores:
    """How well systems find parallelisms.

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

    Notes
    -----
    The fixed matching goes through the references by number and gives each the largest credit that leaves the total at
    its maximum and, of equal credits, the hypothesis of the smallest number. Totals do not depend on it.
    """

    documents: pd.DataFrame
    systems: tuple[str, ...]
    beta: float
    signature: str
    _table: ScoreTable

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
        return self._table.parallelisms()

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
        if metric not in METRICS:
            raise ConfigError(f"metric is one of {', '.join(METRICS)}; got {metric!r}.")
        if side not in SIDES:
            raise ConfigError(f"side is reference or hypothesis; got {side!r}.")
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
            raise DataError(f"there are no parallelisms on the {side} side to make outcomes of.")
        items = rows.drop_duplicates("item").set_index("item")[attributes]
        order = [system for system in self.systems if (rows["system"] == system).any()]
        successes, trials = (
            rows.pivot(index="item", columns="system", values=name).astype(float).reindex(index=items.index)[order]
            for name in ("credit", "size")
        )
        name = f"{metric} {'recall' if side == 'reference' else 'precision'}"
        return Outcomes(successes=successes, trials=trials, items=items, name=name)

    def summary(self) -> str:
        """Format precision, recall and F in percent, with the sums they are made of."""
        frame = self.to_frame()
        shares = ["precision", "recall", "f", "macro_f"]
        frame[shares] *= 100
        names = {"f": "F", "macro_f": "macro F", "hypothesis_size": "predicted", "reference_size": "annotated"}
        formats = {names.get(name, name): "{:.2f}".format for name in shares}
        lines = [f"Scores in percent, F with β = {self.beta:g}; sums over documents, macro F: mean over documents", ""]
        if frame["undefined"].any():
            lines.insert(1, "Systems and references without any parallelism have no scores; they are given as 0.")
        shown = frame.drop(columns="undefined").rename(columns=names).to_string(index=False, formatters=formats)
        return "\n".join([*lines, shown, "", f"[{self.signature}]"])

    def __repr__(self) -> str:
        """Give the numbers of systems and documents, and F by MBAWO."""
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
    """Divide, with 0 where the denominator is 0.

    Examples
    --------
    >>> ratio(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    array([0.5, 0. ])
    """
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)

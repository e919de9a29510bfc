"""Differences between systems, by a paired bootstrap over documents."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from langdiff.base.seeds import generator
from langdiff.base.signature import join_signature, name_of_seed
from langdiff.base.types import Floats
from langdiff.discourse.items import METRICS
from langdiff.errors import ConfigError, DataError

_CELLS = 1 << 22  # of the table of samples × documents that is drawn at once


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class DiscourseDifferences:
    """Differences in F1 between all pairs of systems.

    Samples of documents are drawn with replacement, the same for both systems of a pair, because some documents are
    harder than others for all systems. With macro averages, documents of one EDU in the reference are not drawn.

    Attributes
    ----------
    table : DataFrame
        One row per pair: ``system``, ``other``, ``difference`` (F1 of the first minus that of the second),
        ``std_error``, ``low``, ``high`` (95 % percentile interval), ``p_value`` (two-sided, not adjusted for the
        number of pairs).
    signature : str
        Settings, to be quoted with the numbers.
    """

    table: pd.DataFrame
    signature: str

    def to_frame(self) -> pd.DataFrame:
        """Return the table."""
        return self.table.copy()

    def summary(self) -> str:
        """Format the differences in percentage points."""
        shown = self.table.copy()
        numbers = ["difference", "std_error", "low", "high"]
        shown[numbers] *= 100
        formats = dict.fromkeys(numbers, "{:.1f}".format) | {"p_value": "{:.4f}".format}
        lines = ["Differences in F1 in percentage points, paired bootstrap over documents", ""]
        return "\n".join([*lines, shown.to_string(index=False, formatters=formats), "", f"[{self.signature}]"])

    def __repr__(self) -> str:
        """Give the number of pairs."""
        return f"DiscourseDifferences of {len(self.table)} pair(s) of systems"


def compare_systems(
    counts: pd.DataFrame, metric: str, averaging: str, n_draws: int, seed: int | np.random.Generator, signature: str
) -> DiscourseDifferences:
    """Compare systems by their counts, indexed by system and document; see `DiscourseEvaluation.compare`."""
    systems = list(dict.fromkeys(counts.index.get_level_values("system")))
    if metric not in METRICS:
        raise ConfigError(f"metric is one of {', '.join(METRICS)}; got {metric!r}.")
    if len(systems) < 2:
        raise ConfigError("a comparison needs two systems; there is one.")
    if isinstance(n_draws, bool) or not isinstance(n_draws, int | np.integer) or n_draws < 1:
        raise ConfigError(f"n_draws must be a whole number, at least 1, got {n_draws!r}.")
    with_items = counts["gold"] > 0
    if averaging == "macro":
        counts = counts[with_items]
    hits = counts[metric].unstack("system")[systems].to_numpy(float)  # (D, J)
    sizes = (counts["gold"] + counts["predicted"]).unstack("system")[systems].to_numpy(float)
    if with_items.sum() < 2 * len(systems):
        raise DataError("a bootstrap over documents needs two documents with items in the reference; there is one.")
    rng = generator(seed, "samples of documents")
    seed_name = name_of_seed(seed, rng)
    observed = _f1(np.ones((1, len(hits))), hits, sizes, averaging)[0]  # (J,)
    drawn = _draws(hits, sizes, averaging, n_draws, rng)  # (B, J)
    rows = []
    for one, other in combinations(range(len(systems)), 2):
        differences = drawn[:, one] - drawn[:, other]
        low, high = np.quantile(differences, [0.025, 0.975])
        below, above = (1 + np.sum(differences <= 0)) / (n_draws + 1), (1 + np.sum(differences >= 0)) / (n_draws + 1)
        pair = (systems[one], systems[other], observed[one] - observed[other])
        rows.append((*pair, differences.std(), low, high, min(1.0, 2 * min(below, above))))
    columns = ["system", "other", "difference", "std_error", "low", "high", "p_value"]
    parts = {"metric": metric, "averaging": averaging, "draws": n_draws, "seed": seed_name}
    return DiscourseDifferences(
        table=pd.DataFrame(rows, columns=columns), signature=f"{signature}|{join_signature(parts)}"
    )


def _draws(hits: Floats, sizes: Floats, averaging: str, n_draws: int, rng: np.random.Generator) -> Floats:
    documents = len(hits)
    step = max(1, _CELLS // documents)
    parts = []
    for start in range(0, n_draws, step):
        some = min(step, n_draws - start)
        weights = rng.multinomial(documents, np.full(documents, 1 / documents), size=some).astype(float)
        parts.append(_f1(weights, hits, sizes, averaging))
    return np.concatenate(parts)


def _f1(weights: Floats, hits: Floats, sizes: Floats, averaging: str) -> Floats:
    """Return F1 of every sample and system, shape (B, J); `weights` say how often each document is drawn, (B, D).

    Of a sample without items on either side F1 is 0, as it is of a document.
    """
    if averaging == "macro":
        means: Floats = weights @ (2 * hits / sizes) / weights.sum(axis=1, keepdims=True)
        return means
    sums = weights @ sizes
    ratios: Floats = np.divide(2 * (weights @ hits), sums, out=np.zeros_like(sums), where=sums > 0)
    return ratios

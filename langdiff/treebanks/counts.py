"""How often each of several numbered bins occurs."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from langdiff.base.types import Integers


class Counts(NamedTuple):
    """Bins that occur, whole numbers or floats, sorted, and how often; both of shape (B,)."""

    bins: npt.NDArray[Any]
    counts: Integers

    @classmethod
    def of(cls, values: npt.NDArray[Any]) -> "Counts":
        """Count equal values."""
        bins, counts = np.unique(values, return_counts=True)
        return cls(bins, counts.astype(np.int64))

    @classmethod
    def total(cls, several: Sequence["Counts"]) -> "Counts":
        """Add counts up.

        Examples
        --------
        >>> Counts.total([Counts.of(np.array([3, 3])), Counts.of(np.array([1, 3]))])
        Counts(bins=array([1, 3]), counts=array([1, 3]))
        """
        bins, place = np.unique(np.concatenate([one.bins for one in several]), return_inverse=True)
        counts = np.zeros(len(bins), dtype=np.int64)
        np.add.at(counts, place, np.concatenate([one.counts for one in several]))
        return cls(bins, counts)

    def at(self, bins: npt.NDArray[Any]) -> Integers:
        """Return how often each of some bins occurs."""
        if not len(self.bins):
            return np.zeros(len(bins), dtype=np.int64)
        place = np.minimum(np.searchsorted(self.bins, bins), len(self.bins) - 1)
        return np.where(self.bins[place] == bins, self.counts[place], 0)

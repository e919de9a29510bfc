"""Result of a comparison of treebanks."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from langdiff.errors import ConfigError, DataError
from langdiff.treebanks.profile import TreebankProfile
from langdiff.treebanks.settings import SimilaritySettings
from langdiff.treebanks.tables import METRICS, Metric

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Column = Metric | Literal["mean"]
COLUMNS: tuple[Column, ...] = (*METRICS, "mean")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TreebankComparison:
    """Divergences of every treebank from every other.

    Attributes
    ----------
    divergence, std : mapping from metric to DataFrame, shape (N, N)
        Row: the reference R, column: the compared C, cell: D(R ‖ C); ``"mean"`` is over size, depth, width and
        length. With repeated subsamples the mean over them and its standard deviation (of one, NaN); else std
        is NaN.
    noise, noise_std : DataFrame, index: treebank, columns: metrics and ``mean``
        D between two random halves of each treebank, mean and standard deviation over divisions; NaN if not
        asked for.
    profiles : mapping from name to TreebankProfile
        Counts of the metrics in each whole treebank.
    settings : SimilaritySettings
        Settings of the metrics and of the divergence.
    equalize : {"tokens", "sentences"} or None
        Quantity of which all subsamples had the same amount; None for whole treebanks.
    signature : str
        Settings, and a hash of the treebanks, to be quoted with the numbers.
    """

    divergence: dict[Column, pd.DataFrame]
    std: dict[Column, pd.DataFrame]
    noise: pd.DataFrame
    noise_std: pd.DataFrame
    profiles: dict[str, TreebankProfile]
    settings: SimilaritySettings
    equalize: str | None
    signature: str

    def to_frame(self) -> pd.DataFrame:
        """Return one row per metric, reference and compared treebank.

        Columns: ``metric``, ``reference``, ``compared``, ``divergence``, ``std`` and ``noise`` (the larger of the
        two treebanks' own; a smaller divergence cannot be distinguished from 0).
        """
        rows = []
        for metric in COLUMNS:
            frame, std, noise = self.divergence[metric], self.std[metric], self.noise[metric]
            rows += [
                (metric, one, other, frame.at[one, other], std.at[one, other], max(noise[one], noise[other]))
                for one in frame.index
                for other in frame.columns
            ]
        return pd.DataFrame(rows, columns=["metric", "reference", "compared", "divergence", "std", "noise"])

    def sizes(self) -> pd.DataFrame:
        """Return one row per treebank: its sentences, words, leaves, … (see `TreebankProfile`)."""
        frame = pd.DataFrame({name: profile.sizes for name, profile in self.profiles.items()}).T
        return frame.infer_objects().rename_axis("treebank")

    def cluster_order(self) -> list[str]:
        """Return the treebanks so that similar ones are neighbours.

        Raises
        ------
        DataError
            If a divergence is infinite.
        """
        from scipy.cluster.hierarchy import leaves_list

        names = list(self.profiles)
        return [names[place] for place in leaves_list(self._linkage())]

    def groups(self, n_groups: int) -> pd.Series:
        """Divide the treebanks into groups: average linkage on the mean divergence of both directions.

        Parameters
        ----------
        n_groups : int
            Largest number of groups.

        Returns
        -------
        Series, index: treebank
            Number of the group, from 1.

        Raises
        ------
        DataError
            If a divergence is infinite.
        ConfigError
            If `n_groups` is below 1.
        """
        from scipy.cluster.hierarchy import fcluster

        if n_groups < 1:
            raise ConfigError(f"there is at least one group; got n_groups={n_groups}.")
        members = fcluster(self._linkage(), n_groups, criterion="maxclust")
        return pd.Series(members, index=pd.Index(list(self.profiles), name="treebank"), name="group")

    def _linkage(self) -> "np.ndarray[Any, np.dtype[np.float64]]":
        from scipy.cluster.hierarchy import linkage
        from scipy.spatial.distance import squareform

        means = self.divergence["mean"].to_numpy()
        if not np.isfinite(means).all():
            raise DataError("treebanks at infinite divergence cannot be clustered; use alpha above 0.")
        both = (means + means.T) / 2
        np.fill_diagonal(both, 0)
        return linkage(squareform(both), method="average")

    def summary(self) -> str:
        """Format the mean divergences, noise, sizes and settings."""
        names = list(self.profiles)
        words = self.sizes()["words"]
        what = f"of subsamples of equal {self.equalize}" if self.equalize else "of whole treebanks"
        lines = [f"Mean divergence over size, depth, width and length, {what} (row: reference, column: compared)", ""]
        lines.append(self.divergence["mean"].round(4).to_string(index_names=False))
        if self.noise["mean"].notna().all():
            lines += ["", "The same between random halves of one treebank; differences below mean nothing"]
            lines.append(self.noise.T[names].round(4).to_string())
        lines += ["", self.sizes().round(4).to_string(index_names=False), ""]
        if not self.equalize and words.max() > words.min():
            lines += [
                f"The largest treebank has {words.max() / words.min():.1f} times the words of the smallest. Size and "
                "Depth depend on the size of",
                "a treebank and on the length of its sentences: compare equal ones (equalize), of one language.",
            ]
        return "\n".join([*lines, f"[{self.signature}]"])

    def plot(self, metric: Column = "mean", ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw a map of divergences; see `langdiff.plots.plot_divergences`.

        Parameters
        ----------
        metric : str
            Metric to draw, or ``"mean"``.
        ax : Axes, optional
            Axes to draw on; by default those of a new figure.
        **options
            Options of Matplotlib, passed to the function that draws.

        Returns
        -------
        Axes
            The axes drawn on.
        """
        from langdiff.plots.treebanks import plot_divergences  # Matplotlib only when asked for

        return plot_divergences(self, metric, ax, **options)

    def __repr__(self) -> str:
        """Name the treebanks, the divergence and what was equalized."""
        kind = "" if not self.equalize else f", equal {self.equalize}"
        return f"TreebankComparison of {', '.join(self.profiles)} ({self.settings.divergence}{kind})"

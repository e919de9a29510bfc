"""Settings of the similarity of treebanks."""

import math
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

import numpy as np

from langdiff.base.signature import name_of_number
from langdiff.errors import ConfigError
from langdiff.treebanks.divergence import Kind
from langdiff.treebanks.horizontal import Normalizer
from langdiff.treebanks.vertical import Levels

Label = Literal["upos+deprel", "deprel", "upos"]
Statistics = Literal["own", "reference"]


@dataclass(frozen=True, kw_only=True)
class SimilaritySettings:
    """Choices that the metrics of Zykova leave open; the defaults are those of the documentation.

    Attributes
    ----------
    size_bin : float
        Size: width of the bins of the mean depth of leaves.
    label : {"upos+deprel", "deprel", "upos"}
        Depth: labels of a word that its key holds.
    levels : {"separate", "pooled", "context"}
        Depth: count keys at each depth separately; or at all depths together; or divide by the count of keys
        whose triples above are the same, which gives a probability of transition.
    ancestors : {0, 1, 2}
        Depth: number of ancestors of a word that its key holds.
    statistics : {"own", "reference"}
        Depth and Width: probabilities from each treebank itself, or from the reference for both; what the
        reference lacks then has probability 0 and a bin of its own.
    adjacent : bool
        Matrix: count only children that are neighbours. (Width needs all pairs and keeps them.)
    width_by : {"columns", "rows"}
        Width: divide co-occurrences by how often the later child occurs, or the earlier.
    divergence : {"kl", "js", "symmetric", "correlation"}
        Measure of divergence: Kullback–Leibler, Jensen–Shannon, the mean of Kullback–Leibler in both directions, 1 -
        Pearson's r.
    alpha : float
        Number added to every bin that occurs in either treebank; without effect on the correlation.
    base : float
        Base of the logarithm in divergences; e gives nats, 2 gives bits.
    rescale : bool
        Divide each metric's matrix by its largest value before the mean over metrics.

    Raises
    ------
    ConfigError
        If a setting is unknown or out of range.

    Examples
    --------
    >>> SimilaritySettings(divergence="js", base=2).signature
    'size_bin:1|label:upos+deprel|levels:separate|ancestors:2|statistics:own|adjacent:no|width_by:columns|divergence:js|alpha:0.5|base:2|rescale:no'
    """

    size_bin: float = 1.0
    label: Label = "upos+deprel"
    levels: Levels = "separate"
    ancestors: int = 2
    statistics: Statistics = "own"
    adjacent: bool = False
    width_by: Normalizer = "columns"
    divergence: Kind = "kl"
    alpha: float = 0.5
    base: float = math.e
    rescale: bool = False

    def __post_init__(self) -> None:
        known: dict[str, tuple[Any, ...]] = {
            "label": get_args(Label),
            "levels": get_args(Levels),
            "ancestors": (0, 1, 2),
            "statistics": get_args(Statistics),
            "width_by": get_args(Normalizer),
            "divergence": get_args(Kind),
        }
        for name, values in known.items():
            if getattr(self, name) not in values:
                raise ConfigError(f"{name} is one of {', '.join(map(str, values))}; got {getattr(self, name)!r}.")
        for name, low in (("size_bin", 0), ("base", 1)):
            if not low < getattr(self, name) < np.inf:
                raise ConfigError(f"{name} must be finite and above {low}; got {getattr(self, name)!r}.")
        if not 0 <= self.alpha < np.inf:
            raise ConfigError(f"alpha must be finite and not negative; got {self.alpha!r}.")

    @property
    def signature(self) -> str:
        """All settings in one line."""
        return "|".join(f"{field.name}:{_short(getattr(self, field.name))}" for field in fields(self))


def _short(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "e" if value == math.e else name_of_number(value)
    return str(value)

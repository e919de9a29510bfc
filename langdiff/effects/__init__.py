"""Effects: estimates with their joint covariance, which contrasts, ranks, tests and plots take from any model."""

from langdiff.effects.effects import Effects, Names
from langdiff.effects.scale import Contrast, Scale
from langdiff.effects.sources import (
    EffectsLike,
    HasEffects,
    HasPosterior,
    Sources,
    as_effects,
    effects_by_source,
    posterior_draws,
    rank_probabilities,
)

__all__ = [
    "Contrast",
    "Effects",
    "EffectsLike",
    "HasEffects",
    "HasPosterior",
    "Names",
    "Scale",
    "Sources",
    "as_effects",
    "effects_by_source",
    "posterior_draws",
    "rank_probabilities",
]

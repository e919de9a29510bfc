"""Pictures: axes in, the same axes out. Importing this does not import Matplotlib."""

from langdiff.plots.difficulty import plot_difficulties, plot_two_models
from langdiff.plots.goodness import plot_goodness_of_fit
from langdiff.plots.line_follow import plot_line_follow
from langdiff.plots.posterior import plot_posterior
from langdiff.plots.ranks import plot_ranks
from langdiff.plots.residuals import plot_residuals
from langdiff.plots.sweep import plot_bpe_sweep
from langdiff.plots.translationese import plot_translationese
from langdiff.plots.truth import plot_against_truth

__all__ = [
    "plot_against_truth",
    "plot_bpe_sweep",
    "plot_difficulties",
    "plot_goodness_of_fit",
    "plot_line_follow",
    "plot_posterior",
    "plot_ranks",
    "plot_residuals",
    "plot_translationese",
    "plot_two_models",
]

"""Pictures: axes in, the same axes out. Importing this does not import Matplotlib."""

from langdiff.plots.difficulty import plot_difficulties, plot_two_models
from langdiff.plots.truth import plot_against_truth

__all__ = ["plot_against_truth", "plot_difficulties", "plot_two_models"]

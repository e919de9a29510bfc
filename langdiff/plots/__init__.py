"""Pictures: axes in, the same axes out. Importing this does not import Matplotlib."""

from langdiff.plots.corpus_sizes import plot_corpus_sizes
from langdiff.plots.costep import plot_intents_per_edition, plot_languages_per_intent, plot_native_share
from langdiff.plots.difficulty import plot_difficulties, plot_two_models
from langdiff.plots.goodness import plot_goodness_of_fit
from langdiff.plots.learning_curve import plot_learning_curves
from langdiff.plots.line_follow import plot_line_follow
from langdiff.plots.pareto import plot_certificate, plot_pareto_front
from langdiff.plots.posterior import plot_posterior
from langdiff.plots.predictors import plot_predictor
from langdiff.plots.presence import plot_presence
from langdiff.plots.ranks import plot_ranks
from langdiff.plots.residuals import plot_residuals
from langdiff.plots.sweep import plot_bpe_sweep
from langdiff.plots.translationese import plot_balanced, plot_translationese
from langdiff.plots.treebanks import (
    plot_divergences,
    plot_metric_maps,
    plot_perturbation,
    plot_treebank_measures,
    plot_treebank_profile,
)
from langdiff.plots.truth import plot_against_truth
from langdiff.plots.typology import plot_correlation

__all__ = [
    "plot_against_truth",
    "plot_balanced",
    "plot_bpe_sweep",
    "plot_certificate",
    "plot_corpus_sizes",
    "plot_correlation",
    "plot_difficulties",
    "plot_divergences",
    "plot_goodness_of_fit",
    "plot_intents_per_edition",
    "plot_languages_per_intent",
    "plot_learning_curves",
    "plot_line_follow",
    "plot_metric_maps",
    "plot_native_share",
    "plot_pareto_front",
    "plot_perturbation",
    "plot_posterior",
    "plot_predictor",
    "plot_presence",
    "plot_ranks",
    "plot_residuals",
    "plot_translationese",
    "plot_treebank_measures",
    "plot_treebank_profile",
    "plot_two_models",
]

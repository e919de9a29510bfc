"""What makes a language hard: predictors, and tests of them against difficulties.

The names below are loaded when first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what type checkers and editors see; `_HOME` is what happens
    from langdiff.typology.association.adjust import adjust, benjamini_hochberg
    from langdiff.typology.association.categories import category_means, compare_categories
    from langdiff.typology.association.correlate import correlate
    from langdiff.typology.association.correlation import correlation
    from langdiff.typology.association.draws import PropagatedCorrelations, propagate_errors
    from langdiff.typology.association.family import mixed_slope, permute_within_families
    from langdiff.typology.association.power import detectable_correlation, power_of_correlation
    from langdiff.typology.association.regression import MultipleRegression, regress
    from langdiff.typology.association.result import Correlations
    from langdiff.typology.predictors.lang2vec import lang2vec_features
    from langdiff.typology.predictors.lexicon import morphological_counting_complexity, read_unimorph
    from langdiff.typology.predictors.table import Predictors, predictors
    from langdiff.typology.predictors.text import (
        compressed_bits,
        count_words,
        separates_words,
        type_token_ratio,
        unigram_entropy,
    )
    from langdiff.typology.predictors.wals import Wals, read_wals

_HOME = {
    "Correlations": "association.result",
    "MultipleRegression": "association.regression",
    "Predictors": "predictors.table",
    "PropagatedCorrelations": "association.draws",
    "Wals": "predictors.wals",
    "adjust": "association.adjust",
    "benjamini_hochberg": "association.adjust",
    "category_means": "association.categories",
    "compare_categories": "association.categories",
    "compressed_bits": "predictors.text",
    "correlate": "association.correlate",
    "correlation": "association.correlation",
    "count_words": "predictors.text",
    "detectable_correlation": "association.power",
    "lang2vec_features": "predictors.lang2vec",
    "mixed_slope": "association.family",
    "morphological_counting_complexity": "predictors.lexicon",
    "permute_within_families": "association.family",
    "power_of_correlation": "association.power",
    "predictors": "predictors.table",
    "propagate_errors": "association.draws",
    "read_unimorph": "predictors.lexicon",
    "read_wals": "predictors.wals",
    "regress": "association.regression",
    "separates_words": "predictors.text",
    "type_token_ratio": "predictors.text",
    "unigram_entropy": "predictors.text",
}

__all__ = [
    "Correlations",
    "MultipleRegression",
    "Predictors",
    "PropagatedCorrelations",
    "Wals",
    "adjust",
    "benjamini_hochberg",
    "category_means",
    "compare_categories",
    "compressed_bits",
    "correlate",
    "correlation",
    "count_words",
    "detectable_correlation",
    "lang2vec_features",
    "mixed_slope",
    "morphological_counting_complexity",
    "permute_within_families",
    "power_of_correlation",
    "predictors",
    "propagate_errors",
    "read_unimorph",
    "read_wals",
    "regress",
    "separates_words",
    "type_token_ratio",
    "unigram_entropy",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'langdiff.typology' has no attribute {name!r}")
    return getattr(importlib.import_module(f"langdiff.typology.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)

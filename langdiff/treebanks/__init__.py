"""Dependency treebanks: CoNLL-U, measures of word order, and the syntactic similarity of corpora."""

from langdiff.treebanks.comparison import TreebankComparison
from langdiff.treebanks.conllu import read_conllu
from langdiff.treebanks.head_entropy import HeadPosEntropy, head_pos_entropy
from langdiff.treebanks.lengths import DependencyLength, dependency_length, with_function_heads
from langdiff.treebanks.measures import TreebankMeasures, measure_treebanks
from langdiff.treebanks.pairwise import compare_treebanks
from langdiff.treebanks.perturbation import PerturbationCurve, perturb, perturbation_curve
from langdiff.treebanks.profile import TreebankProfile, profile_treebank
from langdiff.treebanks.settings import SimilaritySettings
from langdiff.treebanks.tree import Tree
from langdiff.treebanks.treebank import Treebank, read_treebank
from langdiff.treebanks.udpipe import UDPipeParser

__all__ = [
    "DependencyLength",
    "HeadPosEntropy",
    "PerturbationCurve",
    "SimilaritySettings",
    "Tree",
    "Treebank",
    "TreebankComparison",
    "TreebankMeasures",
    "TreebankProfile",
    "UDPipeParser",
    "compare_treebanks",
    "dependency_length",
    "head_pos_entropy",
    "measure_treebanks",
    "perturb",
    "perturbation_curve",
    "profile_treebank",
    "read_conllu",
    "read_treebank",
    "with_function_heads",
]

"""Dependency treebanks: CoNLL-U, measures of word order, and the syntactic similarity of corpora."""

from langdiff.treebanks._compare import compare_treebanks
from langdiff.treebanks._comparison import TreebankComparison
from langdiff.treebanks._conllu import read_conllu
from langdiff.treebanks._dependency_length import DependencyLength, dependency_length, with_function_heads
from langdiff.treebanks._head_entropy import HeadPosEntropy, head_pos_entropy
from langdiff.treebanks._measures import TreebankMeasures, measure_treebanks
from langdiff.treebanks._perturbation import PerturbationCurve, perturb, perturbation_curve
from langdiff.treebanks._profile import TreebankProfile, profile_treebank
from langdiff.treebanks._settings import SimilaritySettings
from langdiff.treebanks._tree import Tree
from langdiff.treebanks._treebank import Treebank, read_treebank
from langdiff.treebanks._udpipe import UDPipeParser

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

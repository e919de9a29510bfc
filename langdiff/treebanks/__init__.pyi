# the public names, for type checkers and at run time alike
from .measures import TreebankMeasures as TreebankMeasures
from .measures import dependency_length as dependency_length
from .measures import head_pos_entropy as head_pos_entropy
from .measures import measure_treebanks as measure_treebanks
from .measures import score_trees as score_trees
from .pairwise import TreebankComparison as TreebankComparison
from .pairwise import compare_treebanks as compare_treebanks
from .perturbation import PerturbationCurve as PerturbationCurve
from .perturbation import perturbation_curve as perturbation_curve
from .perturbation import reorder as reorder
from .profile import TreebankProfile as TreebankProfile
from .tables import SimilaritySettings as SimilaritySettings
from .treebank import read_treebank as read_treebank

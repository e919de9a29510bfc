# the public names, for type checkers and at run time alike
from .head_entropy import head_pos_entropy as head_pos_entropy
from .measures import dependency_length as dependency_length
from .measures import measure_treebanks as measure_treebanks
from .pairwise import compare_treebanks as compare_treebanks
from .perturbation import perturbation_curve as perturbation_curve
from .tables import SimilaritySettings as SimilaritySettings
from .treebank import read_treebank as read_treebank
from .udpipe import UDPipeParser as UDPipeParser

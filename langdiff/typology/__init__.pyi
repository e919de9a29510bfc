# the public names, for type checkers and at run time alike
from .association.comparison import RelatednessComparison as RelatednessComparison
from .association.comparison import compare_relatedness as compare_relatedness
from .association.correlate import correlate as correlate
from .association.draws import PropagatedCorrelations as PropagatedCorrelations
from .association.draws import propagate_errors as propagate_errors
from .association.regression import MultipleRegression as MultipleRegression
from .association.regression import regress as regress
from .association.result import Correlations as Correlations
from .association.result import adjust as adjust
from .family_tree import read_tree as read_tree
from .glottolog import read_glottolog as read_glottolog
from .predictors.languages import LanguageTable as LanguageTable
from .predictors.table import Predictors as Predictors
from .predictors.wals import read_wals as read_wals

# the public names, for type checkers and at run time alike
from .association.adjust import adjust as adjust
from .association.adjust import benjamini_hochberg as benjamini_hochberg
from .association.correlate import correlate as correlate
from .association.draws import propagate_errors as propagate_errors
from .association.regression import regress as regress
from .predictors.wals import read_wals as read_wals

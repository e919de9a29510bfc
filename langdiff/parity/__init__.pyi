# the public names, for type checkers and at run time alike
from .measure import CrossMutualInformation as CrossMutualInformation
from .measure import measure_parity as measure_parity
from .measure import xmi as xmi
from .result import Parity as Parity

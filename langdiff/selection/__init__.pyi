# the public names, for type checkers and at run time alike
from .result import ParetoFront as ParetoFront
from .result import Selection as Selection
from .selecting import pareto_front as pareto_front
from .selecting import select as select
from .splits import split as split
from .splits import split_into_folds as split_into_folds

# the public names, for type checkers and at run time alike
from .evaluation import evaluate as evaluate
from .gold import GoldTargets as GoldTargets
from .gold import read_gold as read_gold
from .mining import mine_candidates as mine_candidates

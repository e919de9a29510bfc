# the public names, for type checkers and at run time alike
from .balance import balance_by_origin as balance_by_origin
from .balance import run_balanced as run_balanced
from .bpe_sweep import sweep_merges as sweep_merges
from .curves import difficulty_curve as difficulty_curve
from .goodness_of_fit import goodness as goodness
from .goodness_result import Goodness as Goodness
from .later_papers import PaperClaims as PaperClaims
from .later_papers import reproduce_paper as reproduce_paper
from .native import read_origins as read_origins
from .native import split_by_origin as split_by_origin
from .native import split_by_source as split_by_source
from .native import write_origins as write_origins
from .native_and_translated import translationese as translationese
from .native_by_model import translationese_by_model as translationese_by_model
from .replicates import replicate as replicate
from .reproduction import reproduce as reproduce

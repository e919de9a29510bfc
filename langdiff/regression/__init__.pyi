# the public names, for type checkers and at run time alike
from .check.compare import compare as compare
from .check.cross_validate import cross_validate as cross_validate
from .check.fold_differences import compare_folds as compare_folds
from .check.held_out import held_out_log_likelihood as held_out_log_likelihood
from .check.residuals import standardized_residuals as standardized_residuals
from .check.totals import compare_totals as compare_totals
from .fitting import fit as fit
from .result import DifficultyFit as DifficultyFit
from .result import read_fit as read_fit
from .simulation.draw import Simulation as Simulation
from .simulation.draw import simulate as simulate
from .stan.approximation import approximate as approximate
from .stan.diagnosis import diagnose as diagnose
from .stan.diagnosis import posterior_table as posterior_table
from .stan.priors import Priors as Priors
from .stan.sampling import sample as sample

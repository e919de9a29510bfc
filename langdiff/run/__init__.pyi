# the public names, for type checkers and at run time alike
from .analysis import Analysis as Analysis
from .experiment import Experiment as Experiment
from .experiment_file import read_experiment as read_experiment
from .result import read_run as read_run
from .runner import run_experiment as run_experiment
from .settings import Section as Section
from .settings import section as section
from .tracing import verify as verify
from .upkeep import verify_run as verify_run

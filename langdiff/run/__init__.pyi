# the public names, for type checkers and at run time alike
from .analysis import Analysis as Analysis
from .experiment import Experiment as Experiment
from .experiment_file import read_experiment as read_experiment
from .report import write_report as write_report
from .result import read_run as read_run
from .runner import run_experiment as run_experiment
from .runner import run_shard as run_shard
from .settings import Section as Section
from .settings import section as section
from .tracing import verify as verify
from .upkeep import clean_run as clean_run
from .upkeep import read_status as read_status
from .upkeep import verify_run as verify_run

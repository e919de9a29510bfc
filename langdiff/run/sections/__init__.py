"""One file per section; importing them, in the order of experiment files and reports, fills the registry."""

# isort: off
from langdiff.run.sections import alignment as alignment
from langdiff.run.sections import baselines as baselines
from langdiff.run.sections import folds as folds
from langdiff.run.sections import systems as systems
from langdiff.run.sections import curve as curve
from langdiff.run.sections import compare as compare
from langdiff.run.sections import goodness as goodness
from langdiff.run.sections import sample as sample
from langdiff.run.sections import translationese as translationese
from langdiff.run.sections import predictors as predictors
from langdiff.run.sections import correlate as correlate
from langdiff.run.sections import parity as parity

"""Sampling with settings of `Sampler` among the others, as most tests want it."""

from dataclasses import fields

import langdiff as ld
from langdiff.regression import Sampler

OF_SAMPLER = {field.name for field in fields(Sampler)}


def given(settings):
    """Return settings with those of `Sampler` put into one."""
    own = {name: value for name, value in settings.items() if name in OF_SAMPLER}
    rest = {name: value for name, value in settings.items() if name not in OF_SAMPLER}
    return rest | ({"sampler": Sampler(**own)} if own else {})


def sample(surprisals, **settings):
    """Sample difficulties."""
    return ld.sample(surprisals, **given(settings))


def sample_outcomes(outcomes, **settings):
    """Sample abilities."""
    return ld.sample_outcomes(outcomes, **given(settings))

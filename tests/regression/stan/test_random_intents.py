"""The posterior with random intents, against the marginal likelihood that integrates the same sizes out."""

import numpy as np
import pandas as pd
import pytest

from langdiff import diagnose, fit
from langdiff.errors import ConfigError
from langdiff.regression import Blunders
from langdiff.regression.kernel.integrated.random import estimate_random
from langdiff.regression.kernel.likelihood import normalize
from langdiff.regression.kernel.two_way import normalized_covariance
from langdiff.regression.stan.posterior import Priors
from tests.helpers import refused
from tests.regression.stan.conftest import sample

NEAR = 0.3  # posterior standard deviations, between a mean and a maximum at 120 rows
LIMITS = {"progress": False, "engine": "pystan"}


@pytest.fixture(scope="module")
def bits():
    """A table from which cells are lost where the first edition's are large, rows of one cell among them."""
    rng = np.random.default_rng(3)
    sizes = 4 + rng.normal(0, 0.6, 120)
    z = sizes[:, None] + np.array([0.0, 0.1, -0.1, 0.05]) + rng.normal(0, 0.25, (120, 4))
    gone = rng.random(z.shape) < 1 / (1 + np.exp(1 - 3 * (z[:, :1] - 4)))
    gone[:, 0] = False
    assert (gone.sum(axis=1) == 3).any()
    z[gone] = np.nan
    return pd.DataFrame(np.exp(z), columns=list("abcd"))


SLOW = pytest.mark.slow  # programs to compile, a minute and a half each


@SLOW
@pytest.mark.filterwarnings("ignore:intents are taken as independent")
@pytest.mark.parametrize("model", ["1", "2", "2L"])
def test_the_posterior_is_where_the_marginal_likelihood_is(bits, model):
    idata = sample(bits, model=model, intents="random", seed=1, iter_warmup=400, **LIMITS)
    assert diagnose(idata).good
    kernel = {"model": "2", "distribution": "Laplace"} if model == "2L" else {"model": model}
    found = estimate_random(np.log(bits.to_numpy()), **kernel, max_iterations=100)
    level = np.log(np.mean(np.exp(found.c)))
    draws = idata.posterior["difficulty"]
    spread = draws.std(("chain", "draw")).to_numpy()
    miss = (draws.mean(("chain", "draw")).to_numpy() - (found.c - level)) / spread
    assert np.abs(miss).max() < NEAR
    errors = np.sqrt(np.diag(normalized_covariance(found.covariance, found.c)))
    np.testing.assert_allclose(spread, errors, rtol=0.15)
    mean = found.mean + (level if model == "1" else normalize(found.sizes, found.c).log_kappa)
    for name, expected in (("log_size_mean", mean), ("log_size_std", found.tau)):
        values = idata.posterior[name]
        assert abs(float(values.mean()) - expected) < NEAR * float(values.std())
    if model == "1":  # and not where fixed intents are
        fixed = fit(bits, model=model).difficulty.to_numpy()
        assert np.abs((found.c - level - fixed) / spread).max() > 3 * NEAR
    assert idata.posterior.sizes["intent"] == 120  # those of one cell too
    assert "sizes:normal" in idata.posterior.attrs["signature"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"intents": "mixed"}, "intents is one of"),
        ({"plain": True}, "plain program has no random intents"),
        ({"model": Blunders(scale=0.05)}, "model '3' has no random intents"),
        ({"priors": Priors(log_size=(4.0, 1.0))}, "leave out the prior log_size"),
    ],
)
def test_settings_that_are_refused(bits, settings, message):
    refused(ConfigError, message, sample, bits, seed=1, **{"intents": "random", **LIMITS, **settings})

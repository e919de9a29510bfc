"""What takes minutes: the remaining programs against their plain twins."""

import numpy as np
import pytest

from langdiff import simulate
from langdiff.regression import Blunders
from langdiff.regression.stan.draws import import_arviz
from tests.regression.stan.conftest import sample

pytestmark = pytest.mark.slow

MONTE_CARLO_ERRORS = 3
SPREAD_RTOL = 0.16  # two estimates of about 8 % at most
az = import_arviz()


@pytest.mark.parametrize("model", ["1", "2L", Blunders(scale=0.05)], ids=["1", "2L", "3"])
@pytest.mark.filterwarnings("ignore::langdiff.errors.ConvergenceWarning")  # plain programs mix slowly
def test_whitened_and_plain_programs_have_one_posterior(model):
    surprisals = simulate(30, 4, missing=0.15, seed=3, model="1" if model == "1" else "2").surprisals
    settings = {"model": model, "engine": "pystan", "progress": False}
    whitened = sample(surprisals, seed=1, iter_sampling=2000, **settings)
    plain = sample(surprisals, seed=2, plain=True, iter_warmup=1000, iter_sampling=2000, **settings)
    for name in ("difficulty", "dispersion", "intent_size"):
        means, spreads, errors = [], [], []
        for idata in (whitened, plain):
            draws = np.log(idata.posterior[name]) if name != "difficulty" else idata.posterior[name]
            means.append(np.atleast_1d(draws.mean(("chain", "draw"))))
            spreads.append(np.atleast_1d(draws.std(("chain", "draw"))))
            errors.append(np.atleast_1d(az.mcse(draws)[name]))
        miss = np.abs(means[0] - means[1]) / np.hypot(*errors)
        assert np.mean(miss < MONTE_CARLO_ERRORS) >= 0.95
        np.testing.assert_allclose(spreads[0], spreads[1], rtol=SPREAD_RTOL)

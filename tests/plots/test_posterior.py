import matplotlib.pyplot as plt
import numpy as np
import pytest

from langdiff.plots import plot_posterior
from langdiff.regression.stan.draws import import_arviz


@pytest.fixture
def idata():
    rng = np.random.default_rng(0)
    draws = np.array([0.1, -0.2, 0.05]) + np.array([0.01, 0.02, 0.03]) * rng.standard_normal((2, 500, 3))
    made = import_arviz().from_dict(
        posterior={"difficulty": draws}, dims={"difficulty": ["edition"]}, coords={"edition": ["deu", "eng", "fin"]}
    )
    made.posterior.attrs.update(model="2", lm="lstm")
    yield made
    plt.close("all")


def test_intervals_are_quantiles_hardest_on_top(idata):
    ax = plt.figure().add_subplot()
    assert plot_posterior(idata, ax) is ax
    assert [label.get_text() for label in ax.get_yticklabels()] == ["eng", "fin", "deu"]
    draws = idata.posterior["difficulty"].sel(edition="deu").to_numpy().ravel()
    _, wide, narrow = ax.collections  # grid, 95 %, 50 %
    for lines, part in ((wide, (0.025, 0.975)), (narrow, (0.25, 0.75))):
        segment = lines.get_segments()[2]
        np.testing.assert_allclose(segment[:, 0], np.quantile(draws, part))
        np.testing.assert_array_equal(segment[:, 1], 2)
    x, y = ax.lines[-1].get_data()
    np.testing.assert_allclose(x[list(y).index(2)], np.median(draws))
    assert "model 2" in ax.get_title(loc="left")

"""Gini's coefficient of tokenizers, and premiums of two of them, beside sums by hand, jackknife and simulation."""

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.errors import ConfigError
from tests.helpers import refused

pytestmark = pytest.mark.filterwarnings("ignore:Few units")
LANGUAGES = ["l1", "l2", "l3", "l4"]
OLD = [[10, 14, 22, 30], [8, 12, 15, 26], [20, 25, 47, 55], [5, 9, 12, 14], [12, 13, 30, 33], [15, 22, 29, 48]]
NEW = [[9, 12, 14, 18], [9, 10, 12, 15], [18, 21, 30, 33], [6, 8, 8, 11], [11, 12, 19, 21], [14, 17, 20, 29]]
DOCUMENTS = pd.Series([0, 0, 1, 1, 2, 2], name="document")
NAMES = ("token_premium_new", "token_premium")


def parity(old=OLD, new=NEW, clusters=None, **settings):
    tables = [pd.DataFrame(rows, columns=LANGUAGES, dtype=float) for rows in (old, new)]
    return ld.measure_parity(tables[0], tokenizers={"new": tables[1]}, clusters=clusters, **settings)


def equal_units(effects):
    """The standard errors that influences have where all units are taken to have one share."""
    values = effects.influence.plain
    return np.sqrt((values**2).sum(axis=0) * len(values) / (len(values) - 1))


@pytest.mark.parametrize(
    ("clusters", "gini", "difference", "premiums"),
    [
        (None, [0.005864863, 0.004568028], 0.00544303, [0.020632, 0.026122, 0.024878, 0.020146]),
        (DOCUMENTS, [0.007965404, 0.006813315], 0.006505189, [0.013392, 0.005008, 0.020555, 0.023799]),
    ],
)
def test_the_worked_table(clusters, gini, difference, premiums):
    found = parity(clusters=clusters)
    of = found.gini(*NAMES)
    assert of.estimate.to_numpy() == pytest.approx([0.134615385, 0.22243346], abs=1e-8)
    assert equal_units(of) == pytest.approx(gini, abs=1e-9)
    less = found.compare(*NAMES)
    assert less.estimate.to_numpy() == pytest.approx([0.233207, 0.105159, -0.131687, -0.20668], abs=1e-6)
    assert equal_units(less) == pytest.approx(premiums, abs=1e-6)
    contrast = of.contrast(*NAMES)
    assert contrast.estimate == pytest.approx(-0.087818075, abs=1e-8)
    assert contrast.std_error == pytest.approx(difference, rel=0.03)  # of units with shares of their own
    assert f"Its difference: {of.contrast(*NAMES[::-1])}." in found.summary()


def test_errors_are_those_of_the_jackknife():
    rng = np.random.default_rng(1)
    size = rng.lognormal(3, 0.5, (60, 1))
    old, new = (rng.poisson(size * rate) + 1.0 for rate in ([1, 1.4, 2.2, 3], [1, 1.2, 1.5, 2]))
    found = parity(old, new).gini(*NAMES)

    def gini(table):
        t = table.sum(axis=0)
        return np.abs(t[:, None] - t).sum() / (2 * len(t) * t.sum())

    left_out = np.array([[gini(np.delete(table, g, axis=0)) for table in (new, old)] for g in range(60)])
    left_out = np.column_stack([left_out, left_out[:, 0] - left_out[:, 1]])
    jackknife = np.sqrt(59 / 60 * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0))
    errors = [*found.std_error, found.contrast(*NAMES).std_error]
    assert errors == pytest.approx(jackknife, rel=0.04)


def test_holes_and_a_reference_leave_it_as_it_is():
    rng = np.random.default_rng(2)
    rows = rng.poisson(rng.lognormal(3, 0.5, (40, 1)) * [1, 1.4, 2.2, 3]) + 1.0
    whole = parity(rows, rows).gini("token_premium")
    referred = parity(rows, rows, reference="l1").gini("token_premium")
    assert referred.estimate.iloc[0] == pytest.approx(whole.estimate.iloc[0], abs=1e-12)
    rows[rng.random(rows.shape) < 0.2] = np.nan
    holes = parity(rows, rows).gini("token_premium")
    assert holes.estimate.iloc[0] == pytest.approx(whole.estimate.iloc[0], abs=3 * whole.std_error.iloc[0] + 0.02)


def test_no_interval_where_noise_makes_the_coefficient():
    """Lengths that are equal but for noise: the coefficient is above 0, and nothing is said of it."""
    rng = np.random.default_rng(4)
    old, new = (rng.poisson(mean, (60, 4)) + 1.0 for mean in (200, 8))
    found = parity(old, new)
    frame = found.gini(*NAMES).to_frame()
    assert (frame["gini"] > 0).all()
    assert frame["low"].isna().all()
    assert np.isnan(found.gini().contrast(*NAMES).p_value)
    assert "(not told from noise)" in found.summary()


def test_unknown_premiums():
    refused(ConfigError, "there are premiums", parity().gini, "fertility")
    refused(ConfigError, "there are errors of", parity().compare, "token_premium", "token_premium_x")

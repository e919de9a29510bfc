"""Cross-validation holds out what it may, and finds the model that made the data."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.regression import Blunders, Bootstrap
from langdiff.regression.check.compare import compare
from langdiff.regression.check.cross_validate import NEVER, assign_folds, cross_validate
from langdiff.regression.kernel.two_way import edition_components
from tests.helpers import refused

MODELS = ("1", "2", "2L", "2C")


@given(
    seed=st.integers(0, 2**32 - 1),
    k=st.integers(2, 12),
    intents=st.integers(2, 30),
    editions=st.integers(2, 9),
    missing=st.sampled_from([0.0, 0.3, 0.7]),
)
def test_folds_leave_a_table_that_can_be_fitted(seed, k, intents, editions, missing):
    rng = np.random.default_rng(seed)
    observed = rng.random((intents, editions)) >= missing
    observed[0] = True  # connected
    observed[np.arange(editions) % intents, np.arange(editions)] = True
    fittable = observed.sum() >= intents + editions
    folds = assign_folds(observed, k, rng)
    assert set(np.unique(folds)) <= set(range(NEVER, k))
    assert (folds[~observed] == NEVER).all()
    for fold in range(k):
        left = observed & (folds != fold)
        touched = (folds == fold).any(axis=1)
        assert (left.sum(axis=1)[touched] >= 2).all()
        assert edition_components(left).max() == 0
        if fittable:
            assert left.sum() >= intents + editions
    few = observed.sum(axis=1) <= 2
    assert (folds[few] == NEVER).all()


@pytest.mark.parametrize("k", [2, 5, 10])
def test_all_cells_of_a_large_complete_table_are_held_out_in_equal_folds(k):
    folds = assign_folds(np.ones((200, 8), dtype=bool), k, np.random.default_rng(0))
    assert (folds != NEVER).all()
    sizes = np.bincount(folds.ravel(), minlength=k)
    assert sizes.min() > 0.8 * sizes.max()


def test_cells_that_join_two_groups_are_kept():
    observed = np.zeros((21, 4), dtype=bool)
    observed[:10, :2], observed[10:20, 2:], observed[20] = True, True, True  # one intent joins the halves
    folds = assign_folds(observed, 2, np.random.default_rng(0))
    for fold in range(2):
        left = observed & (folds != fold)
        assert left[20, :2].any()
        assert left[20, 2:].any()


def wide(model, seed, intents=250, editions=7):
    sizes = np.exp(np.random.default_rng(seed).normal(4.5, 1, intents))
    return ld.simulate(intents, editions, model=model, intent_sizes=sizes, seed=seed).surprisals


@pytest.mark.filterwarnings("ignore:.*over 20 times")  # as model 2C draws them
@pytest.mark.parametrize("model", [pytest.param(m, marks=() if m == "2" else pytest.mark.slow) for m in MODELS])
def test_the_model_that_made_the_data_wins(model):
    found = cross_validate(wide(model, seed=1, intents=150), MODELS, n_folds=2, seed=0)
    assert found.best == model
    frame = found.to_frame()
    second = frame.iloc[1]
    assert second["difference"] < -2 * second["difference_std_error"]
    assert frame["rank"].tolist() == [1, 2, 3, 4]
    assert (frame["difference"] <= 0).all()


@pytest.mark.slow
def test_model_3_wins_where_it_made_the_data_and_only_there():
    sizes = np.exp(np.random.default_rng(0).normal(4.5, 1, 300))
    for made_by, best in ((Blunders(scale=0.1), "3"), ("2", "2")):
        surprisals = ld.simulate(300, 8, model=made_by, intent_sizes=sizes, seed=1).surprisals
        found = cross_validate(surprisals, ["2", Blunders(scale=0.05)], n_folds=3, seed=0)
        assert found.best == best
        assert found.not_converged.sum() == 0


def test_predictions_of_model_1_are_conditional_normals():
    """Every held-out row of model 1 has a closed form: normal given its other cells."""
    from langdiff.regression.check.held_out import size_prior

    surprisals = wide("1", seed=2, intents=40, editions=5)
    k, seed = 3, 5
    found = cross_validate(surprisals, ["1"], n_folds=k, seed=seed)
    z = np.log(surprisals.bits.to_numpy())
    folds = assign_folds(~np.isnan(z), k, np.random.default_rng(seed))
    total = np.zeros(40)
    for fold in range(k):
        out = folds == fold
        trained = ld.fit(surprisals.bits.mask(out), model="1")
        prior, centred = size_prior(trained), z - trained.difficulty.to_numpy()
        for i in range(40):
            o, r = centred[i, out[i]], centred[i, ~out[i]]
            variance = np.log1p(trained.dispersion)
            precision = 1 / prior.std**2 + len(r) / variance
            mean = (prior.mean / prior.std**2 + r.sum() / variance) / precision
            covariance = np.full((len(o), len(o)), 1 / precision) + variance * np.eye(len(o))
            deviation = o - mean
            total[i] += -0.5 * (
                len(o) * np.log(2 * np.pi)
                + np.linalg.slogdet(covariance)[1]
                + deviation @ np.linalg.solve(covariance, deviation)
            )
    np.testing.assert_allclose(found.per_intent["1"], total, atol=1e-6)


def test_rows_with_too_few_cells_are_counted_not_scored():
    bits = wide("2", seed=3, intents=60, editions=5).bits
    bits.iloc[:7, 2:] = np.nan
    found = cross_validate(bits, ["1", "2"], n_folds=4, seed=0)
    assert found.kept_intents == 7
    assert found.kept_cells == 14
    assert len(found.held_out) == 53
    assert found.held_out.sum() == 53 * 5
    assert "14 cells never held out (7 intents" in found.summary()


def test_seed_decides_everything():
    table = wide("2", seed=3, intents=60, editions=5)
    one, other, third = (cross_validate(table, ["1", "2"], n_folds=3, seed=seed).per_intent for seed in (0, 0, 1))
    pd.testing.assert_frame_equal(one, other)
    assert not one.equals(third)


def test_bad_settings_are_refused():
    table = wide("2", seed=3, intents=60, editions=5)
    refused(ConfigError, "n_folds must be at least 2, got 1", cross_validate, table, n_folds=1, seed=0)
    refused(ConfigError, "twice: '2'", cross_validate, table, ["2", "1", "2"], seed=0)
    refused(ConfigError, "unknown model", cross_validate, table, ["5"], seed=0)
    refused(DataError, "no cell can be held out", cross_validate, table.bits.iloc[:, :2], ["1"], seed=0)
    refused(ConfigError, r"n_folds must be at least 2, got 2\.5", cross_validate, table, ["1"], n_folds=2.5, seed=0)
    refused(ConfigError, "unknown model '12'", cross_validate, table, "12", seed=0)
    for seed in (-1, "x", 0.5):
        refused(ConfigError, "seed must be a whole number from 0 up", cross_validate, table, ["1"], seed=seed)


@pytest.mark.parametrize("shape", [(2, 3), (5, 4), (3, 6)])
@pytest.mark.parametrize("k", [2, 10])
def test_small_tables_have_fewer_folds_or_cells(shape, k):
    surprisals = ld.simulate(*shape, seed=1).surprisals
    found = cross_validate(surprisals, ["1", "2"], n_folds=k, seed=0)
    assert 1 <= found.folds <= k
    assert found.held_out.sum() + found.kept_cells == np.prod(shape)
    assert np.isfinite(found.per_intent.to_numpy()).all()


def test_a_fold_whose_rest_cannot_be_fitted_is_told_as_such():
    """Ten surprisals of one edition are equal but for the last, which some fold holds out."""
    bits = wide("1", seed=2, intents=10, editions=5).bits
    bits["e1"] = [7.0] * 9 + [8.0]
    with pytest.raises(DataError, match=r"with a fold of \d+ cells held out, the rest cannot be fitted: 1 edition"):
        cross_validate(bits, ["1"], n_folds=3, seed=0)


def test_compare_counts_parameters_and_distances():
    table = wide("2", seed=4, intents=80, editions=5)
    bits = table.bits.copy()
    bits.iloc[:3, 1:] = np.nan  # single cells
    fits = {
        "one": ld.fit(bits, model="1"),
        "two": ld.fit(bits, restricted=False),
        "tied": ld.fit(bits, restricted=False),
    }
    frame = compare(fits)
    assert frame["parameters"].tolist() == [77 + 4 + 1] * 3
    assert frame["cells"].tolist() == [77 * 5] * 3
    assert frame.loc["one", "correlation"] == pytest.approx(1)
    assert frame.loc["one", "largest_difference"] == 0
    apart = (fits["two"].difficulty - fits["one"].difficulty).abs().max()
    assert frame.loc["two", "largest_difference"] == pytest.approx(apart)
    assert frame.loc["two", "log_likelihood"] == fits["two"].log_likelihood


def test_compare_counts_what_is_free_whatever_the_covariance_is_of():
    table = wide("2", seed=4, intents=40, editions=10)
    sides = {e: "ab"[k % 2] for k, e in enumerate(table.editions)}
    info = pd.Series(sides).to_frame("side").assign(x=np.arange(10.0) ** 2)
    fits = {
        "few samples": ld.fit(table, errors=Bootstrap(99), seed=1),  # of rank 3
        "formula": ld.fit(table, formula="side + x", edition_info=info),
    }
    assert compare(fits)["parameters"].tolist() == [40 + 9 + 1, 40 + 2 + 1]
    assert compare({"groups": ld.fit(table, groups=sides)})["parameters"].tolist() == [40 + 1 + 1]


def test_compare_names_a_list_of_fits_by_their_models():
    table = wide("2", seed=4, intents=40, editions=4)
    one, two = ld.fit(table, model="1"), ld.fit(table)
    frame = compare([two, one, two, ld.fit(table, errors="information")])
    assert list(frame.index) == ["2", "1", "2 (2)", "2 (3)"]
    assert frame["restricted"].tolist() == [False] * 4
    pd.testing.assert_frame_equal(frame.iloc[:2], compare({"2": two, "1": one}))
    assert list(compare(fit for fit in (one, one)).index) == ["1", "1 (2)"]


@pytest.mark.parametrize(("made_of", "named"), [(lambda fit: fit, "DifficultyFit"), (lambda fit: [fit, 1], "int")])
def test_compare_says_what_it_takes(made_of, named):
    fit = ld.fit(wide("2", seed=4, intents=40, editions=4))
    refused(DataError, f"takes a list of fits, or fits by name .*, not {named}", compare, made_of(fit))

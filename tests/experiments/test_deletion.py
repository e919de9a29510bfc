"""Deleted cells bias difficulties as the mechanism says, and differences are those of fits to what is left."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.experiments import deletion_bias
from langdiff.plots import plot_deletion_bias
from tests.helpers import refused

COMPLETE = ld.simulate(200, 4, seed=0)


@pytest.fixture(scope="module")
def found():
    return deletion_bias(COMPLETE.surprisals, rates=[0.2, 0.5], n_repeats=4, seed=1)


def test_one_deletion_is_a_fit_to_what_is_left():
    bits = COMPLETE.surprisals.bits
    result = deletion_bias(bits, rates=[0.15], mechanisms="MCAR", n_repeats=1, seed=7).results.set_index("edition")
    gone = np.random.default_rng(7).random(bits.shape) < 0.15
    left = bits.mask(gone)
    assert left.notna().any(axis=1).all()  # a row that loses all would keep one cell
    fit = ld.fit(left, restricted=False, clusters=None, dispersion="common")
    assert_allclose(result["difference"], fit.difficulty - ld.fit(bits).difficulty, atol=1e-9)
    assert_allclose(result["std_error"], fit.std_error, rtol=1e-6)


def test_bias_has_the_direction_of_its_mechanism(found):
    overall = found.overall().set_index(["mechanism", "rate"])
    frame = found.to_frame()
    free = frame[frame["mechanism"] == "MCAR"]
    assert (np.abs(free["bias"]) < 5 * free["bias_std_error"]).all()
    mnar = overall.loc["MNAR", "bias_of_first"]
    assert (mnar > 0.02).all()  # hard cells of the others are gone
    assert mnar[0.5] > mnar[0.2]
    assert overall.loc[("MAR", 0.5), "bias_of_first"] < -0.005
    last = overall.loc[("MNAR", 0.5)]
    assert last["largest_bias"] < 0 < last["rms"]


def test_frames_are_means_over_repeats(found):
    rows = found.results
    one = rows[(rows["mechanism"] == "MAR") & (rows["rate"] == 0.2) & (rows["edition"] == "e3")]
    frame = found.to_frame().set_index(["mechanism", "rate", "edition"]).loc[("MAR", 0.2, "e3")]
    assert frame["bias"] == pytest.approx(one["difference"].mean())
    assert frame["bias_std_error"] == pytest.approx(one["difference"].std(ddof=1) / np.sqrt(4))
    assert frame["rms"] == pytest.approx(np.sqrt((one["difference"] ** 2).mean()))
    assert frame["std_error"] == pytest.approx(one["std_error"].mean())
    assert "3 mechanism(s) × 2 rate(s) × 4 repeat(s)" in found.summary()


@pytest.mark.slow  # fits with random intents
def test_random_intents_take_most_of_the_bias_of_mar_away(found):
    random = deletion_bias(
        COMPLETE.surprisals, rates=[0.5], mechanisms="MAR", n_repeats=4, intents="random", seed=1
    ).overall()["bias_of_first"][0]
    fixed = found.overall().set_index(["mechanism", "rate"]).loc[("MAR", 0.5), "bias_of_first"]
    assert abs(random) < 0.7 * abs(fixed)


def test_differences_can_be_those_from_the_truth():
    truth = COMPLETE.difficulty
    settings = {"rates": [0.1], "mechanisms": "MCAR", "n_repeats": 2, "seed": 3}
    own, other = (deletion_bias(COMPLETE.surprisals, truth=t, **settings) for t in (None, 1 + truth[::-1]))
    shift = ld.fit(COMPLETE.surprisals).difficulty - truth
    assert_allclose(other.results["difference"] - own.results["difference"], [*shift, *shift], atol=1e-12)
    assert own.signature != other.signature


def test_lines_are_the_biases(found):
    ax = found.plot()
    frame = found.to_frame()
    lines = [line.get_ydata() for line in ax.lines if len(line.get_xdata()) == 2 and line.get_marker() != "None"]
    wanted = frame.groupby(["mechanism", "edition"], sort=False)["bias"].apply(list)
    assert_allclose(lines, wanted.tolist())
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["MCAR", "MAR", "MNAR"]
    refused(DataError, "no column 'bias'", plot_deletion_bias, frame.drop(columns="bias"))


def test_of_many_editions_only_the_first_has_lines(found):
    one = found.to_frame().query("edition == 'e1'")
    many = pd.concat([one.assign(edition=f"e{k}") for k in range(1, 41)], ignore_index=True)
    ax = plot_deletion_bias(many)
    drawn = [line for line in ax.lines if len(line.get_xdata()) == 2 and line.get_marker() != "None"]
    assert len(drawn) == 3 * 40
    assert [line.get_label() for line in drawn if line.get_linestyle() != "None"] == ["MCAR", "MAR", "MNAR"]
    assert len({tuple(line.get_xdata()) for line in drawn}) == 3  # mechanisms stand side by side
    assert len(ax.collections) == 3  # only lines have errors


def test_refusals():
    bits = COMPLETE.surprisals.bits
    for settings, message in (
        ({"rates": [0.0]}, "rates are shares"),
        ({"rates": []}, "rates must be named once each"),
        ({"rates": [0.1, 0.1]}, "rates must be named once each"),
        ({"mechanisms": []}, "mechanisms must be named once each"),
        ({"mechanisms": ["MAR", "MAR"]}, "mechanisms must be named once each"),
        ({"mechanisms": ["MCAR", "all"]}, "unknown mechanisms 'all'"),
        ({"n_repeats": 0}, "n_repeats must be at least 1"),
        ({"seed": -1}, "seed must be a whole number"),
    ):
        refused(ConfigError, message, deletion_bias, bits, **{"seed": 0} | settings)
    refused(DataError, "1 cells are missing", deletion_bias, bits.mask(bits == bits.iloc[0, 0]), seed=0)
    refused(DataError, "truth has other editions", deletion_bias, bits, truth=pd.Series({"x": 0.0}), seed=0)
    with pytest.raises(DataError, match="1 of 4 are not finite"):
        deletion_bias(bits, truth=COMPLETE.difficulty.mask(COMPLETE.difficulty.index == "e2"), seed=0)
    with pytest.raises(DataError, match=r"left after MCAR at rate 0\.9 cannot be fitted"):
        deletion_bias(bits.iloc[:6], rates=[0.9], mechanisms="MCAR", seed=0)

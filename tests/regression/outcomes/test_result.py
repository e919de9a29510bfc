"""Fits of outcomes as results: effects for contrasts, ranks, plots and tests; files."""

import json

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.plots import plot_difficulties, plot_line_follow, plot_two_models, plot_wright_map
from langdiff.tables.effects import Effects
from tests.helpers import refused


@pytest.fixture(scope="module")
def outcomes():
    truth = ld.simulate_outcomes(200, 5, groups={"a": 0.0, "b": 1.0, "c": -1.0}, missing=0.1, seed=8)
    return truth.outcomes.with_systems(pd.DataFrame({"size": [1, 2, 3, 4, 5]}, index=truth.ability.index))


@pytest.fixture(scope="module")
def fit(outcomes):
    return ld.fit_outcomes(outcomes, interaction="group")


def test_effects_say_what_they_are(fit):
    assert repr(fit.abilities) == "Effects: ability of 5 systems by simulation, rasch (log odds)"
    assert repr(fit.difficulties) == "Effects: difficulty of 3 groups by simulation, rasch (log odds)"
    assert list(fit.abilities.to_frame()) == ["ability", "std_error", "low", "high", "rank", "rank_low", "rank_high"]
    assert "log odds (odds ×" in str(fit.difficulties.contrast("b", "a"))
    assert fit.abilities.ranks(500, seed=1).loc["s5", 1] > 0.9
    assert abs(fit.abilities.estimate.sum()) < 1e-9
    assert len(fit.profile.estimate) == 15
    plain = ld.fit_outcomes(ld.simulate_outcomes(100, 3, seed=1).outcomes)
    assert plain.difficulties is None
    assert plain.profile is None


def test_systems_may_be_named_by_numbers(tmp_path):
    successes = ld.simulate_outcomes(50, 3, seed=1).outcomes.successes.set_axis([10, 20, 30], axis=1)
    fit = ld.fit_outcomes(ld.Outcomes(successes=successes))
    fit.save(tmp_path / "fit.json")
    back = ld.read(tmp_path / "fit.json")
    assert back.abilities.contrast(30, 10) == fit.abilities.contrast(30, 10)


def test_the_fit_itself_has_no_effects(fit):
    refused(ConfigError, r"got OutcomeFit\. Give its abilities, difficulties or profile", ld.as_effects, fit)


def test_pictures_take_effects_of_outcomes(fit, outcomes):
    axes = plot_difficulties(fit.difficulties)
    assert " ".join(axes.get_xlabel().split()) == "difficulty (log odds), with 95 % interval (thin: of all together)"
    assert axes.child_axes[0].get_xlabel() == "odds of failure"
    top = plot_difficulties(fit.abilities).child_axes[0]
    assert top.get_xlabel() == "odds, relative to the average system"
    other = ld.fit_outcomes(outcomes, model="conditional")
    assert plot_two_models(fit.abilities, other.abilities).get_xlabel().endswith("(log odds)")
    assert plot_line_follow({"marginal": fit.abilities, "conditional": other.abilities}).get_ylabel()
    refused(ConfigError, "different scales", plot_two_models, fit.abilities, pd.Series({"s1": 0.1, "s2": 0.2}))


def test_abilities_can_be_correlated(fit):
    sizes = pd.DataFrame({"size": [1.0, 2, 3, 4, 5]}, index=fit.abilities.estimate.index)
    found = ld.correlate(fit.abilities, sizes, tests="pearson").to_frame()
    expected = np.corrcoef(fit.abilities.estimate, sizes["size"])[0, 1]
    assert found["estimate"].iloc[0] == pytest.approx(expected)


def test_a_wright_map_has_systems_items_and_groups(fit):
    axes = fit.plot()
    names = {text.get_text() for text in axes.texts}
    assert names == {"s1", "s2", "s3", "s4", "s5", "a", "b", "c"}
    assert [label.get_text() for label in axes.get_xticklabels()] == ["200 items", "5 systems"]
    counted = sum(-bar.get_width() for bar in axes.patches)
    assert counted > 0
    refused(DataError, "nothing to draw", plot_wright_map, fit.abilities, pd.Series(dtype=float))


@pytest.mark.parametrize(
    "settings",
    [{"interaction": "group"}, {"formula": "group"}, {"model": "conditional"}, {"model": "slopes", "by": "group"}],
)
def test_files_bring_back_the_fit(outcomes, settings, tmp_path):
    fit = ld.fit_outcomes(outcomes, **settings)
    fit.save(tmp_path / "fit.json")
    back = ld.read(tmp_path / "fit.json")
    for part in ("parameters", "covariance", "items", "systems"):
        pd.testing.assert_frame_equal(
            getattr(back, part), getattr(fit, part), check_exact=True, check_column_type=False
        )
    assert back.summary() == fit.summary()
    assert back.errors == fit.errors
    assert isinstance(back.abilities, Effects)
    if fit.model != "conditional":
        pd.testing.assert_frame_equal(back.predict(outcomes), fit.predict(outcomes), check_exact=True)
        pd.testing.assert_frame_equal(back.expected_rates(), fit.expected_rates(), check_exact=True)


def test_damaged_files_are_refused(fit, tmp_path):
    path = tmp_path / "fit.json"
    document = json.loads(fit.to_json())
    for change, message in [
        ({"format": "langdiff.DifficultyFit"}, "not a saved OutcomeFit"),
        ({"format_version": 0}, "format version 0"),
        ({"log_likelihood": 0.0}, "damaged, or edited"),
    ]:
        path.write_text(json.dumps(document | change))
        refused(DataError, message, ld.read, path, ld.OutcomeFit)
    unsealed = {name: value for name, value in document.items() if name != "sha256"}
    path.write_text(json.dumps(unsealed | {"cells": "many"}))
    refused(DataError, "damaged: TypeError: cells is 'many'", ld.read, path, ld.OutcomeFit)
    path.write_text("{")
    refused(DataError, "not a saved OutcomeFit, or damaged", ld.read, path, ld.OutcomeFit)
    refused(DataError, "cannot be read", ld.read, tmp_path / "none.json")

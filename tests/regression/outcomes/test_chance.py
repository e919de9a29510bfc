"""Known chance: where it is given, columns at chance and their bounds, expected rates and differences in points."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from scipy.stats import binom, multivariate_normal

import langdiff as ld
from langdiff.cli.output import save_picture
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from langdiff.regression.outcomes.chance import ABILITIES, Answers, bound_of_sum, guesses, level_intervals
from langdiff.regression.outcomes.evaluation import Point
from langdiff.regression.outcomes.integrals import Rows
from langdiff.regression.outcomes.likelihoods import Structure
from langdiff.tables.logs.pairing import Pairing
from langdiff.tables.simultaneous import largest_together
from tests.helpers import refused

WIDE = {"a": -2.0, "b": -1.0, "c": 0.0, "d": 1.0, "e": 2.0}


def drawn(seed=1, languages=4, systems=None, **settings):
    settings = {"chance": 0.25, "translation_spread": 0.3} | settings
    return ld.simulate_crossed_outcomes(150, languages, systems or WIDE, seed=seed, **settings).outcomes


def plain(outcomes):
    return replace(outcomes, items=outcomes.items[[]])


@pytest.mark.filterwarnings("ignore:.*cannot be told from guessing")
def test_chance_is_given_in_several_ways():
    outcomes, bare = drawn(), plain(drawn())
    of_items = ld.fit_outcomes(outcomes)
    choices = bare.with_items(pd.DataFrame({"choices": 4}, index=bare.items.index))
    named = bare.with_items(pd.DataFrame({"guess": 0.25, "task": "t"}, index=bare.items.index))
    of_columns = replace(bare, systems=pd.DataFrame({"chance": 0.25}, index=bare.systems.index))
    for table, chance in (
        (bare, 0.25),
        (bare, "0.25"),
        (choices, "auto"),
        (named, "guess"),
        (bare, dict.fromkeys(["l1", "l2", "l3", "l4"], 0.25)),
        (named, {"t": 0.25}),
        (of_columns, "auto"),
    ):
        fit = ld.fit_outcomes(table, chance=chance)
        assert fit.log_likelihood == pytest.approx(of_items.log_likelihood, abs=1e-9)
        assert fit.chance_words.startswith("chance 1/4 of 150 items")
    assert "from the number of choices" in ld.fit_outcomes(choices).chance_words
    without = ld.fit_outcomes(outcomes, chance=None)
    assert without.chance is None
    assert without.log_likelihood != pytest.approx(of_items.log_likelihood, abs=0.1)


@pytest.mark.parametrize(
    ("chance", "error", "message"),
    [
        (1.0, DataError, "from 0 to below 1, got 1"),
        (-0.1, DataError, "from 0 to below 1"),
        (True, ConfigError, "must be a number"),
        ("gess", ConfigError, "chance='gess' is an attribute neither of items nor of columns"),
        ({"l1": 0.25}, ConfigError, "has no number for 'l2', 'l3', 'l4'"),
        ({"l9": 0.25}, ConfigError, "neither a language of the columns nor a task"),
        ([0.25], ConfigError, "must be a number, an attribute"),
    ],
)
def test_chance_that_cannot_be(chance, error, message):
    refused(error, message, ld.fit_outcomes, plain(drawn()), chance=chance)


@pytest.mark.filterwarnings("ignore:.*cannot be told from guessing")
def test_chance_must_be_known_of_all_and_fit_the_model():
    outcomes = drawn()
    lacking = outcomes.with_items(outcomes.items.assign(chance=[np.nan, *[0.25] * 149]))
    refused(DataError, "1 of 150 items have no number as chance: 'i1'", ld.fit_outcomes, lacking)
    both = replace(outcomes, systems=pd.DataFrame({"chance": 0.25}, index=outcomes.systems.index))
    refused(DataError, "both items and columns", ld.fit_outcomes, both)
    refused(ConfigError, "rests on totals", ld.fit_outcomes, outcomes, model="conditional")
    with pytest.raises(DataError, match="choices must be at least 1"):
        ld.fit_outcomes(plain(outcomes).with_items(pd.DataFrame({"choices": 0}, index=outcomes.items.index)))
    fit = ld.fit_outcomes(outcomes)
    refused(DataError, "these outcomes have no such attribute", fit.predict, plain(outcomes))


def test_rates_at_a_reciprocal_are_warned_of():
    weak = dict.fromkeys("abc", -50.0)
    outcomes = plain(ld.simulate_crossed_outcomes(400, 4, weak, chance=0.25, seed=3).outcomes)
    with pytest.warns(LangdiffWarning, match=r"many columns have 1/4 of their answers right: .* chance=0.25"):
        ld.fit_outcomes(outcomes)


def test_a_column_of_guesses():
    """225 of 900 at 1/4; 248 is the smallest number with p < .05."""
    for right, p in ((225, 0.5128), (247, 0.0500), (248, 0.0427)):
        s = (np.arange(900) < right).astype(float)[:, None]
        found = guesses(s, np.ones_like(s), np.full(s.shape, 0.25))
        assert found[0] == pytest.approx(p, abs=5e-5)
    s = (np.arange(900) < 225).astype(float)
    answers = Answers(s, np.ones(900), np.full(900, 0.25), -1)
    point = Point(level=np.zeros((1, 2)), slope=np.zeros(0), spread=0.0, log_loading=np.zeros(2))
    nothing = np.zeros((900, 2))
    rows = Rows(s=nothing, t=nothing, x=np.zeros((900, 0)), block=np.zeros(900, dtype=int), weight=np.ones(900))
    (ends,) = level_intervals(rows, point, Structure(), [answers], [None])
    assert ends[0] == -np.inf
    assert ends[2] == pytest.approx(-3.1908, abs=5e-5)


@pytest.mark.filterwarnings("ignore:.*cannot be told from guessing")
def test_fewer_right_than_guesses_is_said():
    """15 of 120 at 1/4: p .000563."""
    outcomes = drawn(seed=6, languages=2)
    answers = outcomes.successes.iloc[:120].copy()
    answers["l2@a"] = (np.arange(120) % 8 == 0).astype(float)
    fit = ld.fit_outcomes(replace(outcomes, successes=answers, items=outcomes.items.iloc[:120], trials=None))
    row = fit.guessing.loc["l2@a"]
    assert row["p_below"] == pytest.approx(0.000563, abs=5e-7)
    assert row["below"]
    assert row["at_chance"]
    assert fit.guessing["below"].sum() == 1
    assert "below chance (0.125 of 0.25, p = 0.0006): not guessing; look at extraction of answers" in fit.summary()


def test_unequal_chance_is_poisson_binomial():
    chance = np.array([0.5, 0.5, 0.2, 0.25, 0.25])[:, None]
    s = np.array([1, 1, 0, 1, 0.0])[:, None]
    brute = sum(
        np.prod(np.where(bits, chance[:, 0], 1 - chance[:, 0]))
        for bits in np.ndindex(2, 2, 2, 2, 2)
        for bits in [np.array(bits)]
        if bits.sum() >= 3
    )
    assert guesses(s, np.ones_like(s), chance)[0] == pytest.approx(brute, abs=1e-12)
    assert binom.sf(2, 5, 0.25) == pytest.approx(guesses(s, np.ones_like(s), np.full((5, 1), 0.25))[0], abs=1e-12)


def test_the_interval_of_a_level_is_that_of_the_likelihood():
    """Against sums over a grid of v, one language, the levels of the other columns as they are."""
    rng = np.random.default_rng(4)
    level, spread, items = np.array([0.5, -0.5, -2.5]), 1.2, 120
    chance = np.full((items, 3), 0.25)
    p = 0.25 + 0.75 * expit(level - spread * rng.normal(size=(items, 1)))
    s = (rng.random(p.shape) < p).astype(float)
    rows = Rows(s=s, t=np.ones_like(s), x=np.zeros((items, 0)), block=np.zeros(items, int), weight=np.ones(items),
                constant=chance)  # fmt: skip
    point = Point(level=level[None], slope=np.zeros(0), spread=spread, log_loading=np.zeros(3))
    one = Answers(s[:, 2], np.ones(items), chance[:, 2], -1)
    (found,) = level_intervals(rows, point, Structure(), [one], [2])
    v = np.linspace(-8, 8, 4001)

    def log_likelihood(ability):
        q = 0.25 + 0.75 * expit(np.array([*level[:2], ability]) - spread * v[:, None])
        rows_of = s @ np.log(q).T + (1 - s) @ np.log1p(-q).T - v**2 / 2
        return np.log(np.exp(rows_of).sum(axis=1)).sum()

    best = log_likelihood(found[0])
    assert best >= max(log_likelihood(found[0] + d) for d in (-0.01, 0.01))
    for end in found[1:]:
        if np.isfinite(end):
            assert 2 * (best - log_likelihood(end)) == pytest.approx(3.841459, abs=1e-4)
    assert np.isfinite(found[2])


HARD = {"l1": -1.5, "l2": 0.0, "l3": 1.5}


def test_columns_at_chance_are_bounds_and_the_others_stay_free():
    outcomes = drawn(seed=6, languages=HARD)
    with pytest.warns(LangdiffWarning, match=r"cannot be told from guessing"):
        fit = ld.fit_outcomes(outcomes)
    low = fit.guessing[fit.guessing["at_chance"]]
    assert not fit.additive
    assert 1 <= len(low) <= 4
    assert len(fit.systems) == 15 - len(low)
    assert np.isposinf(low[["level", "level_high"]]).any(axis=None)
    assert "their levels are bounds" in fit.summary()
    assert "l3@a: ability <" in fit.summary()
    assert fit.summary().startswith("Without a, at chance in part: ")  # the weakest of the others is not of all
    aside = {name.split("@")[1] for name in low.index}
    assert set(fit.two_way.systems.estimate.index) == set(WIDE) - aside
    one = fit.two_way.languages.contrast("l3", "l1")
    assert one.low < 3 < one.high
    board = fit.leaderboard()
    bound = board[board["kind"] == "bound"]
    assert set(bound.index) == aside
    assert bound["ability"].isna().all()
    assert np.isfinite(bound["high"]).all()
    assert list(fit.predict(outcomes)) == list(fit.systems.index)


@pytest.mark.parametrize(("level", "name"), [("language", "l2"), ("system", "a")])
def test_what_is_wholly_at_chance_has_its_place_in_table_and_picture(level, name):
    outcomes = drawn(seed=6, languages={"l1": -1.5, "l2": -0.5}, systems={"a": 0.0, "b": 0.5, "c": 1.0})
    values, guessed = outcomes.successes.copy(), (outcomes.columns[level] == name).to_numpy()
    values.loc[:, guessed] = np.random.default_rng(1).binomial(1, 0.25, (len(values), guessed.sum())).astype(float)
    with pytest.warns(LangdiffWarning, match=r"cannot be told from guessing"):
        two_way = ld.fit_outcomes(replace(outcomes, successes=values)).two_way
    assert two_way.without_level["language"] == (["l2"] if level == "language" else [])
    grid = next(shown for shown in two_way.tables() if shown.name == "levels").content
    assert [line.name for line in grid.lines] == ["l1", "l2"]
    assert len(grid.columns) == 3
    assert sum(cell.text.startswith("<") for line in grid.lines for cell in line.cells) == guessed.sum()
    axes = two_way.plot()
    assert {text.get_text() for text in axes.get_yticklabels()} == {"l1", "l2"}
    assert len(axes.get_legend_handles_labels()[1]) == 3
    assert len(axes.texts) == guessed.sum()  # arrows


TABLE_H = """010000000 111101111 111011000 001111001 111000111 111011001 111111111 101100100 111011111 000001000
111101000 111001000 111111011 101111111 111110111 111111010 101011000 111101111 111111000 111001000 111111010 011000001
011111011 011011111"""


def test_scores_at_the_additive_fit_test_the_interaction_and_each_system(monkeypatch, tmp_path):
    """Worked numbers, against an independent implementation by grids and differences; sign flips within their error."""
    monkeypatch.setattr(Structure, "translated", False)
    answers = np.array([[float(a) for a in row] for row in TABLE_H.split()])
    answers[:, 6] = np.arange(24) % 4 == 3
    names = [f"l{language}@m{system}" for language in (1, 2, 3) for system in (1, 2, 3)]
    columns = pd.DataFrame([name.split("@") for name in names], names, ["language", "system"])
    table = ld.Outcomes(successes=pd.DataFrame(answers, [f"q{i}" for i in range(24)], names), columns=columns)
    with pytest.warns(LangdiffWarning, match=r"1 column\(s\) cannot be told from guessing: 'l3@m1'"):
        fit = ld.fit_outcomes(table, chance=0.25)
    assert_allclose([fit.log_likelihood, fit.spread], [-104.431410, 1.490762], atol=1.5e-6)
    low = -2.407757 - fit.point.level.mean()  # beside abilities, which average 0
    assert_allclose([-fit.guessing.loc["l3@m1", "level_low"], fit.bounds["m1"]], [low, -0.975542], atol=1.5e-6)
    languages = fit.two_way.languages.contrast("l3", "l1"), fit.two_way.languages.contrast("l3", "l2")
    found = [[-one.estimate, one.std_error] for one in languages]
    assert_allclose(found, [[-2.708680, 0.806761], [-1.163696, 0.872091]], atol=1.5e-6)
    assert fit.profiles.loc["interaction", "statistic"] == pytest.approx(5.349032, abs=1.5e-6)
    assert fit.profiles["df"].tolist() == [4, 2, 2, 2]
    assert_allclose(fit.profiles["p"], [0.208, 0.256, 0.096, 0.927], atol=0.015)
    assert_allclose(fit.profiles["p_holm"].iloc[1:], np.minimum(fit.profiles["p"].iloc[1:] * [2, 3, 1], 1))
    assert fit.two_way.test().loc["interaction", "p"] == fit.profiles.loc["interaction", "p"]
    assert "No system's profile over languages was shown to differ" in fit.summary()
    assert fit.two_way.flags().loc[("l3", "m1"), "low"] == pytest.approx(0.249691, abs=1.5e-6)
    shows_bounds_only(fit, tmp_path, low)


def shows_bounds_only(fit, tmp_path, low):
    """Assert that of l3@m1 nothing but its bounds is shown, in frames, tables, files and the picture."""
    row = fit.to_frame().set_index("name").loc["l3@m1"]
    assert row[["language", "system", "kind"]].tolist() == ["l3", "m1", "bound"]
    assert row[["estimate", "std_error", "low"]].isna().all()
    assert row["high"] == pytest.approx(low, abs=1.5e-6)
    for frame in (fit.two_way.to_frame(), fit.two_way.flags()):
        assert frame.loc[("l3", "m1")].drop(["low", "kind"]).replace("", np.nan).dropna().tolist() in ([], ["harder"])
    grids = {shown.name or "systems": shown.grid for shown in fit.tables() if shown.grid}
    cells = {
        name: {line.name: dict(zip([c.head for c in grid.columns], line.cells, strict=True)) for line in grid.lines}
        for name, grid in grids.items()
    }
    assert cells["levels"]["l3"]["m1"] == ("< −2.95", "")
    assert cells["interaction"]["l3"]["m1"] == ("< −0.25", "")
    assert cells["systems"]["m1"]["ability, log odds"] == ("< −0.98", "")
    assert cells["systems"]["m1"]["ranks"] == ("–", "")
    for ending, look in (
        (".tex", r"\textless{} $-$2.95"),
        (".md", "&lt; −2.95"),
        (".html", "&lt; −2.95"),
        (".txt", "< −2.95"),
    ):
        fit.save(tmp_path / f"fit{ending}")
        assert look in (tmp_path / f"fit{ending}").read_text(encoding="utf-8")
    ax = fit.plot()
    assert sum(len(each.lines[0].get_xdata()) for each in ax.containers) == len(fit.systems)
    arrows = [text for text in ax.texts if text.arrow_patch is not None]
    assert [arrow.xyann[0] for arrow in arrows] == [pytest.approx(low, abs=1e-5)]
    assert all(arrow.xy[0] < arrow.xyann[0] for arrow in arrows)
    fit.save(tmp_path / "fit.csv")
    (line,) = (text for text in (tmp_path / "fit.csv").read_text().splitlines() if "l3@m1" in text)
    assert line == f"ability,l3@m1,l3,m1,,,,{row['high']},bound"
    save_picture(fit.plot, tmp_path / "fit.svg")
    drawn = (tmp_path / "fit.svg").read_text(encoding="utf-8")
    assert not any(f"{-end:.2f}" in drawn for end in fit.guessing.loc["l3@m1", ["level", "rate"]])


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_bounds_hold_together_by_the_largest_of_normal_statistics(correlation):
    joint = np.full((4, 4), correlation) + (1 - correlation) * np.eye(4)
    end = largest_together(joint * np.outer([1, 2, 3, 4], [1, 2, 3, 4]))
    inside = multivariate_normal(cov=joint, seed=1).cdf(np.full(4, end), lower_limit=np.full(4, -end))
    assert inside == pytest.approx(0.95, abs=0.006)  # 20,000 draws


def test_the_bound_of_a_sum_of_columns_is_that_of_a_search():
    steep, flat = (np.maximum(ABILITIES - end, 0) ** 2 * curve for end, curve in ((-3.0, 4.0), (-2.0, 1.0)))
    # max of -3 + a/2 + -2 + b + .4 c, a² + b² + c² = 3.84, half of the sum of levels
    exact = 0.5 * (-5.0) + 0.2 + np.sqrt(3.8414588 * (0.25**2 + 0.5**2 + 0.4**2))
    assert bound_of_sum(0.2, 0.4, 0.5, [steep, flat]) == pytest.approx(exact, abs=1e-3)


def test_a_spread_of_translations_that_has_no_bound_is_left_out():
    with pytest.warns(LangdiffWarning, match="grows without bound in the fit, and is left out"):
        fit = ld.fit_outcomes(drawn(seed=1, languages=HARD, systems={"a": -1.5, "b": 2.0}))
    assert fit.converged
    assert fit.point.translation == 0
    assert fit.spread < 2
    assert "equalities" not in fit.summary()  # of the one system that is not at chance in part


def test_languages_and_systems_at_chance_have_bounds_only():
    systems, languages = {"a": 0.5, "b": 1.0, "c": 1.5, "g": -50.0}, {"l1": -0.5, "l2": 0.3, "none": 40.0}
    outcomes = drawn(seed=2, languages=languages, systems=systems)
    with pytest.warns(LangdiffWarning, match="cannot be told from guessing: "):
        fit = ld.fit_outcomes(outcomes)
    assert set(fit.columns["language"]) == {"l1", "l2"}
    left = fit.guessing.loc[[name for name in fit.guessing.index if name.startswith("none")]]
    assert left["at_chance"].all()
    assert np.isfinite(left["level_low"]).all()
    board = fit.leaderboard()
    assert board.index[-1] == "g"
    assert board.loc["g", "kind"] == "bound"
    assert board.loc["g", "high"] < board["ability"].min() - 1
    assert board.loc["g"].drop(["high", "kind"]).isna().all()
    told = " ".join(fit._lines())
    assert told.startswith("Without g, at chance: ")
    assert "No system can be told from guessing in none. g cannot be told from guessing in any language (" in told


def test_one_language_leaves_columns_at_chance_out():
    outcomes = replace(drawn(seed=3, languages=1, systems=WIDE | {"guess": -50.0}), columns=None)
    with pytest.warns(LangdiffWarning, match="cannot be told from guessing: 'l1@guess'"):
        fit = ld.fit_outcomes(outcomes)
    assert "l1@guess" not in fit.systems.index
    assert fit.guessing.loc["l1@guess", "at_chance"]
    assert "l1@guess cannot be told from guessing (" in " ".join(fit._lines())
    weak = outcomes.sel(systems=["l1@guess", "l1@c"])
    refused(DataError, "too few are left", ld.fit_outcomes, weak)


def test_slopes_and_trials_may_have_chance():
    rng = np.random.default_rng(1)
    p = 0.25 + 0.75 * expit(np.array([0.0, 1.0, 2.0]) - np.array([0.7, 1.0, 1.4]) * rng.normal(size=(3000, 1)))
    answers = pd.DataFrame(rng.binomial(1, p).astype(float), [f"i{i}" for i in range(3000)], ["x", "y", "z"])
    slopes = ld.fit_outcomes(ld.Outcomes(successes=answers), model="slopes", chance=0.25)
    assert slopes.converged
    loading = slopes.parameters.loc["loading"]
    assert (np.abs(loading["estimate"] - [0.7, 1.0, 1.4] / np.cbrt(0.98)) < 3 * loading["std_error"]).all()
    p = 0.25 + 0.75 * expit(np.array([0.0, 1.0]) - rng.normal(size=(300, 1)))
    names = [f"i{i}" for i in range(300)]
    table = ld.Outcomes(
        successes=pd.DataFrame(rng.binomial(4, p).astype(float), names, ["x", "y"]),
        trials=pd.DataFrame(4.0, names, ["x", "y"]),
    )
    fit = ld.fit_outcomes(table, chance=0.25)
    assert fit.model == "beta-binomial"
    contrast = fit.abilities.contrast("y", "x")
    assert contrast.low < 1 < contrast.high
    assert ld.fit_outcomes(table, model="rasch", chance=0.25).abilities.contrast("y", "x").estimate == pytest.approx(
        contrast.estimate, abs=0.1
    )


@pytest.mark.parametrize("settings", [{}, {"by": "half"}, {"formula": "length"}, {"model": "slopes", "chance": None}])
def test_errors_of_rates_are_those_of_the_delta_method(settings):
    """Differences of the rates in the parameters of the search, with the covariance of the fit."""
    outcomes = drawn(seed=6, languages=2, systems={"b": -0.5, "c": 0.5})
    outcomes = outcomes.with_items(outcomes.items.assign(half=np.arange(150) % 2, length=np.arange(150) % 7 / 3))
    if "model" in settings:
        outcomes = ld.simulate_outcomes(400, 3, loadings=[0.8, 1.0, 1.2], seed=2).outcomes
    fit = ld.fit_outcomes(outcomes, **settings)
    found = fit.expected_rates(errors=True)
    assert_allclose(found["rate"], fit.expected_rates().to_numpy().ravel())
    parameters = fit.parameters["estimate"]
    groups = len(fit.expected_rates())

    def rates(values):
        kind = {name: values[parameters.index.get_level_values(0) == name] for name in parameters.index.levels[0]}
        level = kind["ability"] - kind["difficulty"][:, None]
        slope = kind.get("loading", np.ones(len(kind["ability"])))
        loading = np.sqrt((kind["spread"][0] * slope) ** 2 + (kind["spread"][1] ** 2 if len(kind["spread"]) > 1 else 0))
        x, w = np.polynomial.hermite_e.hermegauss(80)
        chance = 0.0 if "chance" in settings else 0.25
        centred = fit.items["length"].to_numpy() - fit.items["length"].mean() if "term" in kind else np.zeros(1)
        term = kind["term"][0] if "term" in kind else 0.0
        eta = level[:, :, None, None] - term * centred[:, None] - loading[:, None, None] * x
        return ((chance + (1 - chance) * expit(eta)) @ (w / w.sum())).mean(axis=2).ravel()

    values = parameters.to_numpy()
    assert len(rates(values)) == groups * len(fit.systems)
    assert_allclose(rates(values), found["rate"], atol=1e-6)
    jacobian = np.stack([(rates(values + e) - rates(values - e)) / 2e-6 for e in 1e-6 * np.eye(len(values))], axis=1)
    covariance = np.nan_to_num(fit.covariance.to_numpy())
    assert_allclose(found["std_error"], np.sqrt(np.diag(jacobian @ covariance @ jacobian.T)), rtol=2e-3)  # mean shares


def test_pairs_have_points():
    fit = ld.fit_outcomes(drawn(seed=7, languages=3, systems={"c": 0.0, "d": 1.0, "e": 2.0}))
    rates = fit.expected_rates().loc["all"]
    languages = fit.pairs().frame
    (one, other), row = next(languages.iterrows())
    mean = [rates[[f"{language}@{system}" for system in "cde"]].mean() for language in (one, other)]
    assert row["points"] == pytest.approx(100 * (mean[0] - mean[1]))
    assert row["points"] < 0 < row["estimate"]  # the harder first
    assert (languages["points_std_error"] > 0).all()
    within = fit.pairs("d").frame
    assert within.iloc[0]["points"] == pytest.approx(
        100 * (rates[f"{within.index[0][0]}@d"] - rates[f"{within.index[0][1]}@d"])
    )
    assert fit.pairs("systems", weights={"l1": 1, "l2": 1, "l3": 2}).frame.shape == fit.pairs("systems").frame.shape
    one_level = ld.fit_outcomes(ld.simulate_outcomes(100, 3, seed=1).outcomes)
    assert one_level.pairs().frame["points"].iloc[0] > 0
    with pytest.raises(DataError, match="one level"):
        _ = one_level.two_way


def test_a_crossed_fit_comes_back_from_its_file(tmp_path):
    fit = ld.fit_outcomes(drawn(seed=2, languages=HARD))
    fit.save(tmp_path / "fit.json")
    back = ld.read(tmp_path / "fit.json")
    pd.testing.assert_frame_equal(back.guessing, fit.guessing)
    assert back.summary() == fit.summary()
    pd.testing.assert_frame_equal(back.predict(fit.outcomes), fit.predict(fit.outcomes))


def test_clusters_are_found():
    outcomes = drawn(passages=30, passage_spread=0.5, systems={"c": 0.0, "d": 1.0})
    fit = ld.fit_outcomes(outcomes)
    assert (fit.errors.kind, fit.influence.units.kind, fit.influence.count) == ("sandwich", "passage", 30)
    assert "Independent units: 30 passages (from the column passage)" in fit.summary()
    assert "design effect" in fit.summary()
    assert ld.fit_outcomes(outcomes, clusters=None).influence.units.kind == "item"
    assert ld.fit_outcomes(outcomes, errors="information").errors.kind == "information"


def test_the_summary_tells_how_items_were_paired(tmp_path):
    checks = pd.DataFrame(
        {"items": [150] * 4, "text": 0.8, "digits": np.nan, "easiness": 0.6, "targets": np.nan},
        index=pd.Index([f"l{i}" for i in range(1, 5)], name="language"),
    )
    outcomes = replace(drawn(systems={"c": 0.0, "d": 1.0}), pairing=Pairing(("link", "number"), checks))
    fit = ld.fit_outcomes(outcomes)
    assert "items of 4 languages paired by link + number" in fit.summary()
    fit.save(tmp_path / "fit.json")
    assert ld.read(tmp_path / "fit.json").summary() == fit.summary()


def test_one_language_has_no_spread_of_translations():
    outcomes = ld.simulate_crossed_outcomes(60, 3, 4, seed=1).outcomes
    one = outcomes.sel(systems=[name for name in outcomes.successes if name.startswith("l1@")])
    assert np.isnan(ld.fit_outcomes(one).translation_spread)


def test_columns_are_not_explained_as_independent():
    fit = ld.fit_outcomes(ld.simulate_crossed_outcomes(60, 3, 4, seed=1).outcomes)
    table = pd.DataFrame({"size": np.arange(12.0)}, index=fit.abilities.estimate.index)
    refused(ConfigError, r"explain two_way\.systems by attributes of systems", ld.explain, fit.abilities, "size", table)

"""Questions and their translations: the golden table, brute force, differences, special cases, order and names."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

import langdiff as ld
from langdiff.regression.outcomes import evaluation
from langdiff.regression.outcomes.estimate import estimate
from langdiff.regression.outcomes.evaluation import Point, evaluate
from langdiff.regression.outcomes.integrals import Rows
from langdiff.regression.outcomes.likelihoods import BetaBinomial, Structure, binomial, guessed_binomial

WORKED = 1.5e-6  # of numbers given to six digits
DIFFERENCES = 1e-6
SAME = 1e-8
GOLDEN = """
010000000 111101111 111011000 001111001 111000111 111011001 111111111 101100100
111011111 000001000 111101000 111001000 111111011 101111111 111110111 111111010
101011000 111101111 111111000 111001000 111111010 011000001 011111011 011011111
"""
CELLS = np.array([[float(digit) for digit in row] for row in GOLDEN.split()])
LANGUAGES, SYSTEMS = (0, 0, 0, 1, 1, 1, 2, 2, 2), (0, 1, 2) * 3
QUARTER, MIXED = np.full(CELLS.shape, 0.25), np.where(np.arange(24) < 12, 0.25, 0.5)[:, None] * np.ones(9)
CHANCES = {"none": None, "quarter": QUARTER, "mixed": MIXED}
# levels = LINEAR @ (theta 1, 2, 3, lambda 1, 2), since the lambdas sum to 0
LINEAR = np.column_stack(
    [np.tile(np.eye(3), (3, 1)), -np.repeat([1, 0, -1], 3)[:, None], -np.repeat([0, 1, -1], 3)[:, None]]
)
BACK = np.linalg.pinv(LINEAR)


def rows_of(cells, chance=None, x=None, trials=None):
    cells = np.asarray(cells, dtype=float)
    t = np.where(np.isnan(cells), 0.0, 1.0 if trials is None else trials)
    count = len(cells)
    return Rows(
        s=np.nan_to_num(cells),
        t=t,
        x=np.zeros((count, 0)) if x is None else x,
        block=np.zeros(count, dtype=int),
        weight=np.ones(count),
        constant=chance,
    )


def point_of(level, spread, translation, slope=()):
    level = np.atleast_2d(np.asarray(level, dtype=float))
    return Point(
        level=level,
        slope=np.array(slope, dtype=float),
        spread=spread,
        translation=translation,
        log_loading=np.zeros(level.shape[1]),
    )


AT = point_of(LINEAR @ [0, 0.5, 1.5, -1, 0.2], 1.0, 1.0)


@pytest.mark.parametrize(
    ("chance", "value", "gradient"),
    [
        ("none", -115.342427, [1.925338, 1.075064, -0.321245, -3.165856, -2.908572, 1.757016, 3.040354]),
        ("quarter", -119.748848, [-1.166673, -0.990690, -1.154165, -3.911269, -2.425214, 2.669025, 3.203260]),
        ("mixed", -122.910645, [-2.224597, -2.604254, -1.826154, -4.151044, -2.028190, 3.465278, 3.208396]),
    ],
)
def test_golden_table_at_given_parameters(chance, value, gradient):
    found = evaluate(rows_of(CELLS, CHANCES[chance]), AT, Structure(languages=LANGUAGES))
    assert found.log_likelihood == pytest.approx(value, abs=WORKED)
    tau, sigma = found.gradient[9:11]
    assert_allclose([*(LINEAR.T @ found.gradient[:9]), sigma, tau], gradient, atol=WORKED)
    if chance == "none":
        assert_allclose(found.row_log_likelihoods[[0, 1, 23]], [-5.694054, -4.306706, -5.386345], atol=WORKED)


# R 4.2.2: glmer with one random term (psyphy's mafc.logit for chance), optim on an equidistant grid with two
FITS = {
    "tau 0": (None, False, [0.310875, 0.718508, 1.535033, -1.119980, 0.104392], [1.219351, 0], -117.806017),
    "tau 0, quarter": (
        QUARTER,
        False,
        [-0.469443, 0.130911, 1.120767, -1.379987, 0.125061],
        [1.439714, 0],
        -120.152420,
    ),
    "tau 0, mixed": (MIXED, False, [-1.136928, -0.644261, 0.757430, -1.717351, 0.192751], [1.558522, 0], -120.008237),
    "none": (None, True, [0.380366, 0.911798, 1.980941, -1.430739, 0.147313], [1.257388, 1.667612], -113.222158),
    "quarter": (QUARTER, True, [-0.767609, 0.140309, 2.044497, -2.354921, 0.380923], [1.886985, 3.121162], -115.483934),
}
ERRORS = {
    "tau 0": [0.378798, 0.387142, 0.423115, 0.278675, 0.239033, 0.305777],
    "tau 0, quarter": [0.518343, 0.496745, 0.505338, 0.371409, 0.328445, 0.425269],
    "tau 0, mixed": [0.699295, 0.672167, 0.574855, 0.521627, 0.450290, 0.553572],
    "none": [0.467376, 0.484959, 0.554906, 0.467414, 0.402757, 0.464233, 0.511027],
    "quarter": [0.898951, 0.830891, 1.037866, 1.080765, 0.764599, 0.996914, 1.529486],
}


@pytest.mark.parametrize("name", list(FITS))
def test_golden_table_fitted(name, monkeypatch):
    chance, translated, levels, (sigma, tau), log_likelihood = FITS[name]
    monkeypatch.setattr(Structure, "translated", translated)
    found = estimate(rows_of(CELLS, chance), Structure(languages=LANGUAGES, additive=SYSTEMS)).optimum
    assert found.converged
    assert_allclose(BACK @ found.point.level[0], levels, atol=WORKED)
    assert_allclose([found.point.spread, found.point.translation], [sigma, tau], atol=WORKED)
    assert found.value.log_likelihood == pytest.approx(log_likelihood, abs=WORKED)
    linear = np.zeros((7, len(found.covariance)))
    linear[:5, :9], linear[5, 10], linear[6, 9] = BACK, 1, 1
    errors = np.sqrt(np.diag(linear @ found.covariance @ linear.T))
    assert_allclose(errors[: len(ERRORS[name])], ERRORS[name], atol=WORKED)


def golden(**options):
    columns = [(f"l{language}", f"m{system}") for language in (1, 2, 3) for system in (1, 2, 3)]
    names = [f"{language}@{system}" for language, system in columns]
    frame = pd.DataFrame(columns, columns=["language", "system"], index=pd.Index(names, name="column"))
    successes = pd.DataFrame(CELLS, [f"q{i}" for i in range(24)], names)
    return ld.Outcomes(successes=successes, columns=frame, **options)


@pytest.mark.parametrize(
    ("errors", "of_languages", "of_systems", "wald"),
    [("information", 0.825821, 0.564295, 1.587785), ("sandwich", 0.813457, 0.655105, None)],
)
@pytest.mark.filterwarnings("ignore:.*never beat")
def test_golden_table_with_free_levels(errors, of_languages, of_systems, wald):
    fit = ld.fit_outcomes(golden(), errors=errors)
    levels = fit.abilities.estimate - fit.parameters.loc[("difficulty", "all"), "estimate"]
    expected = [1.807602, 2.184833, 3.790475, 0.254086, 0.531233, 2.135755, -0.914304, 0.016783, 0.320722]
    assert_allclose(levels, expected, atol=WORKED)
    assert_allclose([fit.spread, fit.translation_spread], [1.274497, 1.685822], atol=WORKED)
    assert fit.log_likelihood == pytest.approx(-112.412018, abs=WORKED)
    two_way = fit.two_way
    assert_allclose(two_way.languages.estimate, [-1.469060, 0.151551, 1.317509], atol=WORKED)
    assert_allclose(two_way.systems.estimate, [-0.742781, -0.214293, 0.957075], atol=WORKED)
    one, other = two_way.languages.contrast("l3", "l1"), two_way.systems.contrast("m3", "m1")
    assert_allclose([one.estimate, one.std_error], [2.786569, of_languages], atol=WORKED)
    assert_allclose([other.estimate, other.std_error], [1.699856, of_systems], atol=WORKED)
    cells = -two_way.interaction.estimate.to_numpy()  # of abilities
    expected = [-0.043920, -0.195177, 0.239097, 0.023176, -0.228165, 0.204989, 0.020744, 0.423342, -0.444086]
    assert_allclose(cells, expected, atol=WORKED)
    test = two_way.test().loc["interaction"]
    assert test["by"] == ("chi-squared" if wald else "sign flips")
    assert [test["statistic"], test["df"]] == pytest.approx([wald or np.square(expected).sum(), 4], abs=WORKED)


def test_golden_table_robust_and_one_system():
    found = ld.fit_outcomes(golden(), additive=True, model="rasch")
    assert found.additive
    one = golden().sel(systems=["l1@m2", "l2@m2", "l3@m2"])
    fit = ld.fit_outcomes(one, errors="information")
    level = (fit.abilities.estimate - fit.parameters.loc[("difficulty", "all"), "estimate"]).to_numpy()
    theta = level.mean()
    assert_allclose([theta, *(theta - level)[:2]], [0.729480, -1.006479, 0.280554], atol=WORKED)
    assert fit.log_likelihood == pytest.approx(-43.667381, abs=WORKED)
    errors = [*fit.abilities.std_error[:2], fit.parameters.loc[("spread", "items"), "std_error"]]
    assert_allclose(errors, [0.469301, 0.402904, 0.612992], atol=WORKED)
    assert fit.parameters.loc[("difficulty", "all"), "std_error"] == pytest.approx(0.417248, abs=WORKED)
    assert np.isnan(fit.translation_spread)
    assert "translations cannot be told from chance" in fit.summary()
    conditional = ld.fit_outcomes(one, model="conditional", errors="information").abilities
    assert_allclose(-conditional.estimate[:2], [-0.965067, 0.244601], atol=WORKED)
    assert_allclose(conditional.std_error[:2], [0.451817, 0.406535], atol=WORKED)


def test_golden_table_scores_of_items(monkeypatch):
    """Sandwich of items with equal shares, C/(C − 1), without translations."""
    monkeypatch.setattr(Structure, "translated", False)
    fit = ld.fit_outcomes(golden(), additive=True, model="rasch")
    level = fit.influence.values[:, :9] - fit.influence.values[:, [9]]
    linear = np.column_stack([level @ BACK[:, :9].T, fit.influence.values[:, -1]])
    errors = np.linalg.norm(linear, axis=0) * np.sqrt(24 / 23)
    assert_allclose(errors, [0.391151, 0.394705, 0.350526, 0.320150, 0.305108, 0.286223], atol=WORKED)


def by_brute_force(rows, point, languages):
    """Return log-likelihoods of items by nested sums over fine grids."""
    v = np.linspace(-10, 10, 801)
    u = np.linspace(-10, 10, 401)
    density = np.exp(-(v**2) / 2) / np.sqrt(2 * np.pi) * (v[1] - v[0])
    of_u = np.exp(-(u**2) / 2) / np.sqrt(2 * np.pi) * (u[1] - u[0])
    chance = np.zeros(rows.s.shape) if rows.constant is None else rows.constant
    found = []
    for i, (s, t) in enumerate(zip(rows.s, rows.t, strict=True)):
        value = density.copy()
        for language in set(languages):
            inner = np.ones((len(v), len(u)))
            for j in np.flatnonzero(np.array(languages) == language):
                eta = point.level[0, j] - rows.x[i] @ point.slope
                eta = eta - point.spread * v[:, None] - point.translation * u
                p = chance[i, j] + (1 - chance[i, j]) * expit(eta)
                inner *= p ** s[j] * (1 - p) ** (t[j] - s[j])
            value = value * (inner @ of_u)
        found.append(np.log(value.sum()))
    return np.array(found)


@pytest.mark.parametrize("seed", range(30))
def test_random_tables_by_brute_force(seed):
    rng = np.random.default_rng(seed)
    items, languages, systems = rng.integers(1, 6), rng.integers(1, 3), rng.integers(1, 3)
    columns = languages * systems
    cells = rng.integers(0, 2, (items, columns)).astype(float)
    cells[rng.random(cells.shape) < 0.2] = np.nan
    chance = [None, np.full(cells.shape, 0.25), rng.choice([0.0, 0.2, 0.5], cells.shape)][seed % 3]
    trials = rng.integers(1, 4) if seed % 2 else 1
    rows = rows_of(cells, chance, rng.normal(size=(items, 1)), trials)
    codes = tuple(np.repeat(np.arange(languages), systems).tolist())
    point = point_of(rng.normal(size=columns), rng.uniform(0, 2), rng.uniform(0.1, 3), rng.normal(size=1))
    found = evaluate(rows, point, Structure(languages=codes)).row_log_likelihoods
    assert_allclose(found, by_brute_force(rows, point, codes), atol=SAME)


@pytest.mark.parametrize(("chance", "spread"), list(itertools.product(CHANCES, [0.8, 0.0])))
def test_derivatives_are_differences(chance, spread):
    rng = np.random.default_rng(1)
    cells = np.where(rng.random(CELLS.shape) < 0.1, np.nan, CELLS)
    rows = replace(rows_of(cells, CHANCES[chance], rng.normal(size=(24, 2)).round(1)), weight=rng.integers(1, 3, 24))
    point, structure = point_of(AT.level, spread, 0.9, [0.4, -0.3]), Structure(languages=LANGUAGES)

    def at(vector):
        return evaluate(rows, point.from_vector(vector), structure)

    z, h = point.to_vector(), 1e-5
    found = evaluate(rows, point, structure, scores=True)
    free = np.arange(13) if spread else np.delete(np.arange(13), 12)  # at 0 the likelihood is even in it
    steps = h * np.eye(len(z))[free]
    beside = [(at(z + e), at(z - e)) for e in steps]
    gradient = [(one.log_likelihood - other.log_likelihood) / (2 * h) for one, other in beside]
    hessian = [(one.gradient - other.gradient)[free] / (2 * h) for one, other in beside]
    assert_allclose(found.gradient[free], gradient, atol=DIFFERENCES)
    assert_allclose(found.hessian[np.ix_(free, free)], hessian, atol=DIFFERENCES)
    assert_allclose(rows.weight @ found.scores, found.gradient, atol=SAME)


def test_cells_that_may_be_guesses():
    eta, s, t = np.linspace(-4, 4, 9)[:, None], np.array([[2.0]]), np.array([[5.0]])
    none = np.zeros((1, 1))
    for one, other in zip(guessed_binomial(eta, s, t, none)[:3], binomial(eta, s, t)[:3], strict=True):
        assert_allclose(one, other, atol=1e-12)
    chance, h = np.full((1, 1), 0.25), 1e-5
    for likelihood, d in ((None, None), (BetaBinomial(), 0.3)):

        def terms(at, likelihood=likelihood, d=d):
            if likelihood is None:
                return guessed_binomial(at, s, t, chance)
            return likelihood.terms(at, s, t, d, chance)

        found = terms(eta)
        assert_allclose(found.of_eta[:, 0], (terms(eta + h).value - terms(eta - h).value) / (2 * h), atol=DIFFERENCES)
        differences = (terms(eta + h).of_eta - terms(eta - h).of_eta) / (2 * h)
        assert_allclose(found.curvature, -differences, atol=DIFFERENCES)


def test_one_language_without_translations_is_the_model_of_items():
    """Nested integrals at τ → 0, c → 0 against those of one level, in which totals suffice."""
    rows = rows_of(CELLS)
    structure = Structure(languages=LANGUAGES)
    plain = evaluate(rows, point_of(AT.level, 1.2, 0.0), structure, nodes=60, scores=True)
    nested = evaluate(
        replace(rows, constant=np.zeros(CELLS.shape)), point_of(AT.level, 1.2, 0.0), structure, scores=True
    )
    assert_allclose(nested.row_log_likelihoods, plain.row_log_likelihoods, atol=SAME)
    places = [*range(9), 10]
    assert_allclose(nested.hessian[np.ix_(places, places)], plain.hessian[np.ix_(places, places)], atol=1e-7)
    assert_allclose(nested.scores[:, places], plain.scores[:, places], atol=SAME)


def test_a_fit_of_one_language_is_that_without_languages():
    drawn = ld.simulate_crossed_outcomes(150, 1, 4, translation_spread=0.0, seed=3).outcomes
    plain = ld.fit_outcomes(replace(drawn, columns=None), errors="sandwich")
    crossed = ld.fit_outcomes(drawn)
    if crossed.translation_spread == 0:
        assert_allclose(crossed.abilities.estimate, plain.abilities.estimate, atol=SAME)
    assert crossed.log_likelihood >= plain.log_likelihood - SAME


@pytest.mark.filterwarnings("ignore:.*never beat")
def test_order_and_names_do_not_matter():
    drawn = ld.simulate_crossed_outcomes(60, 3, 2, chance=0.2, missing=0.1, seed=5).outcomes
    fit = ld.fit_outcomes(drawn)
    rng = np.random.default_rng(2)
    items, systems = rng.permutation(drawn.items.index), rng.permutation(drawn.systems.index)
    other = ld.fit_outcomes(drawn.sel(items=items, systems=systems))
    assert_allclose(other.abilities.estimate[fit.abilities.estimate.index], fit.abilities.estimate, atol=1e-7)
    assert_allclose(other.abilities.std_error[fit.abilities.estimate.index], fit.abilities.std_error, atol=1e-7)
    assert other.log_likelihood == pytest.approx(fit.log_likelihood, abs=SAME)
    assert_allclose(other.predict(drawn.sel(systems=systems))[drawn.systems.index], fit.predict(drawn), atol=1e-6)


def test_many_systems_share_no_table_too_large(monkeypatch):
    rows = rows_of(CELLS, QUARTER)
    whole = evaluate(rows, AT, Structure(languages=LANGUAGES), scores=True)
    monkeypatch.setattr(evaluation.nested, "LARGEST", 1)
    monkeypatch.setattr(evaluation.nested, "FEWEST_ITEMS", 5)
    parts = evaluate(rows, AT, Structure(languages=LANGUAGES), scores=True)
    assert_allclose(parts.hessian, whole.hessian, atol=SAME)
    assert_allclose(parts.scores, whole.scores, atol=SAME)

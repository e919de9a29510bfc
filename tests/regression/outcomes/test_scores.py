"""Scores, ratings and counts beside worked numbers, dense algebra, quadrature and bad input."""

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.linalg import sqrtm
from scipy.special import expit

import langdiff as ld
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from langdiff.regression.kernel.two_way import two_way_premiums
from langdiff.regression.outcomes.scores import _Ratings
from tests.helpers import refused

pytestmark = pytest.mark.filterwarnings("ignore:Few units")
NONE = np.nan
SCORES = [
    [0.62, 0.55, 0.41, 0.3], [0.8, 0.78, 0.7, 0.52], [0.35, 0.4, 0.22, NONE], [0.91, 0.84, 0.88, 0.7],
    [0.55, 0.35, 0.48, 0.2], [0.74, 0.7, NONE, 0.61], [0.28, 0.3, 0.12, 0.05], [0.66, 0.6, 0.5, 0.47],
    [1.0, 0.9, 0.83, 0.75], [0.47, 0.52, 0.33, 0.18],
]  # fmt: skip
RATINGS = [[3, 2, 2], [4, 4, 3], [2, 1, 1], [4, 3, 3], [3, 3, 1], [4, 2, 3], [1, 2, 1], [3, 4, 2], [4, 4, 4], [2, 3, 2],
           [1, 1, 2], [3, 2, 3]]  # fmt: skip
COUNTS = [[3, 5, 2], [0, 1, 0], [7, 9, 4], [2, 2, 1], [5, NONE, 3], [1, 4, 0], [6, 8, 5], [0, 0, 0]]


def table(cells, columns="a b c", **more):
    names = columns.split()
    frame = pd.DataFrame(cells, index=[f"q{i}" for i in range(len(cells))], columns=names, dtype=float)
    levels = pd.DataFrame([name.split("@") for name in names], names) if "@" in columns else None
    if levels is not None:
        levels.columns = ["language", "system"]
    return ld.Outcomes(scores=frame, columns=levels, **more)


CROSSED = table(SCORES, "de@a de@b fi@a fi@b")


@pytest.mark.parametrize(
    ("clusters", "language", "system", "interaction"),
    [
        (
            None,
            (0.164107143, 0.019188772, 8.797378),
            (0.082576923, 0.022414249, 8.732819),
            (-0.077153846, 0.026836631, 8.732819),
        ),
        (
            "pair",
            (0.164107143, 0.020996886, 3.962367),
            (0.082576923, 0.018605483, 3.9509),
            (-0.077153846, 0.019883695, 3.9509),
        ),
    ],
)
def test_the_worked_scores(clusters, language, system, interaction):
    pairs = pd.DataFrame({"pair": [f"p{i // 2}" for i in range(10)]}, index=CROSSED.items.index)
    fit = ld.fit_outcomes(CROSSED.with_items(pairs), clusters=clusters)
    assert fit.abilities.estimate.tolist() == pytest.approx(
        [0.10405357, 0.06005357, -0.02147665, -0.14263049], abs=1e-8
    )
    two_way = fit.two_way
    found = [
        two_way.languages.contrast("de", "fi"),
        two_way.systems.contrast("a", "b"),
        two_way.contrast(["de", "fi"], ["a", "b"]),
    ]
    for contrast, worked in zip(found, (language, system, interaction), strict=True):
        assert (contrast.estimate, contrast.std_error) == pytest.approx(worked[:2], abs=1e-9)
        assert contrast.degrees_of_freedom == pytest.approx(worked[2], abs=1e-6)
    assert fit.leaderboard().index[0] == "a"
    assert set(two_way.flags()["flag"]) <= {"higher", "lower", ""}


def test_errors_of_scores_are_those_of_dense_least_squares():
    rng = np.random.default_rng(1)
    y, code = rng.normal(size=(12, 5)), np.arange(12) // 3
    y[rng.random(y.shape) < 0.2] = np.nan
    rows, columns = np.nonzero(np.isfinite(y))
    x = np.column_stack([np.eye(5)[columns][:, 1:], np.eye(12)[rows]])
    bread = np.linalg.pinv(x.T @ x)
    maker = np.eye(len(x)) - x @ bread @ x.T  # of residuals
    parts = []  # of clusters: what each observation adds to estimates, and to their errors
    for own in (code[rows] == g for g in range(4)):
        values, vectors = np.linalg.eigh(maker[np.ix_(own, own)])
        root = vectors @ np.diag(np.where(values > 1e-9, np.abs(values) ** -0.5, 0)) @ vectors.T
        parts.append(maker[:, own] @ root @ x[own] @ bread[:, :4])
    parts = np.array(parts)  # (4, N, 4)
    expected = np.sqrt((np.einsum("gnk,n->gk", parts, y[rows, columns]) ** 2).sum(axis=0))
    forms = np.einsum("gnk,hnk->kgh", parts, parts)
    freedom = np.einsum("kgg->k", forms) ** 2 / (forms**2).sum(axis=(1, 2))
    outcomes = table(y, "a b c d e").with_items(pd.DataFrame({"unit": code}, index=[f"q{i}" for i in range(12)]))
    found = [ld.fit_outcomes(outcomes, clusters="unit").abilities.contrast(name, "a") for name in "bcde"]
    assert [each.std_error for each in found] == pytest.approx(expected, rel=1e-6)
    assert [each.degrees_of_freedom for each in found] == pytest.approx(freedom, rel=1e-6)


def test_the_worked_ratings():
    fit = ld.fit_outcomes(table(RATINGS), model="ordinal")
    found = fit.parameters["estimate"]
    assert (found["ability"] - found["difficulty", "all"]).tolist() == pytest.approx(
        [3.538653, 2.723731, 1.742171], abs=1e-6
    )
    assert found["threshold"].tolist() == pytest.approx([2.39666, 4.956762], abs=1e-6)
    assert fit.spread == pytest.approx(2.33588, abs=1e-6)
    assert fit.log_likelihood == pytest.approx(-42.750219, abs=1e-6)


def test_the_likelihood_of_ratings_and_its_derivatives():
    model = _Ratings(np.array(RATINGS) - 1, 4)
    point = np.array([1, 0.5, 0, 1.5, 3, 1])
    found = model.at(point)

    def density(v, row):
        ends = np.array([-np.inf, 0, 1.5, 3, np.inf])
        eta = np.array([1, 0.5, 0]) + v
        return np.prod(expit(ends[row] - eta) - expit(ends[np.array(row) - 1] - eta)) * np.exp(-(v**2) / 2)

    exact = sum(np.log(quad(density, -9, 9, (row,))[0] / np.sqrt(2 * np.pi)) for row in RATINGS)
    assert found.log_likelihood == pytest.approx(-48.926156036, abs=1e-8)
    assert found.log_likelihood == pytest.approx(exact, abs=1e-6)
    step = 1e-5 * np.eye(6)
    ends = [(model.at(point + each), model.at(point - each)) for each in step]
    assert found.scores.sum(axis=0) == pytest.approx(
        [(a.log_likelihood - b.log_likelihood) / 2e-5 for a, b in ends], abs=1e-5
    )
    slopes = np.array([(a.scores - b.scores).sum(axis=0) / 2e-5 for a, b in ends])
    assert found.hessian == pytest.approx(slopes, abs=1e-5)


def test_ratings_of_two_values_are_successes():
    outcomes = ld.simulate_outcomes(120, 4, seed=3).outcomes
    right = (outcomes.values > 0).astype(float).where(outcomes.values.notna())
    one = ld.fit_outcomes(ld.Outcomes(successes=right), errors="sandwich")
    other = ld.fit_outcomes(ld.Outcomes(scores=right + 3), model="ordinal")
    assert other.log_likelihood == pytest.approx(one.log_likelihood, abs=1e-9)
    names = ["ability", "difficulty", "spread"]
    pd.testing.assert_frame_equal(other.parameters.loc[names], one.parameters.loc[names], atol=1e-7)


def test_ratings_that_differ_less_than_chance_have_no_spread():
    rng = np.random.default_rng(1)
    fit = ld.fit_outcomes(table([rng.permutation(4) for _ in range(60)], "a b c d"), model="ordinal")
    assert fit.spread == 0
    assert np.isnan(fit.parameters.loc[("spread", "items"), "std_error"])
    assert fit.abilities.std_error.notna().all()


def test_the_worked_counts():
    fit = ld.fit_outcomes(table(COUNTS), model="poisson")
    contrast = fit.abilities.contrast("b", "a")
    assert contrast.estimate == pytest.approx(0.41881644, abs=1e-8)
    counts = np.nan_to_num(np.array(COUNTS))[:7]
    made = two_way_premiums(counts, np.isfinite(np.array(COUNTS[:7])).astype(float))
    assert np.sqrt(((made.influence @ [-1, 1, 0]) ** 2).sum() * 7 / 6) == pytest.approx(0.13552009, abs=1e-8)
    own = [np.diag(row) - np.outer(row, row) / row.sum() for row in made.expected]  # multinomial, dense
    values, axes = np.linalg.eigh(sum(own))
    root = axes[:, 1:] / np.sqrt(values[1:])
    moved = [
        root @ np.linalg.inv(sqrtm(np.eye(2) - root.T @ part @ root)) @ root.T @ score
        for part, score in zip(own, counts - made.expected, strict=True)
    ]
    errors = np.linalg.norm(np.array(moved) @ [-1, 1, 0])
    assert contrast.std_error == pytest.approx(errors, abs=1e-8)  # CR2; the jackknife has .1436
    assert contrast.std_error == pytest.approx(0.138830, abs=1e-6)


def test_exposure_is_a_factor_of_counts():
    plain = table(COUNTS)
    twice = plain.scores * 0 + [1.0, 2.0, 1.0]
    exposed = ld.fit_outcomes(ld.Outcomes(scores=plain.scores, trials=twice), model="poisson").abilities
    assert exposed.contrast("b", "a").estimate == pytest.approx(0.41881644 - np.log(2))


@pytest.mark.parametrize(
    ("cells", "model", "kind", "message"),
    [
        (SCORES, "ordinal", DataError, r"37 cell\(s\) are not whole numbers.*\(q0, a\) = 0.62.*normal"),
        (SCORES, "poisson", DataError, r"\(q0, a\) = 0.62.*normal"),
        (SCORES, "rasch", DataError, r"not successes out of trials.*\(q0, a\) = 0.62"),
        ([[1, 2, 3, 4], [np.inf, 2, 1, 3]], "normal", DataError, r"not finite scores: \(q1, a\) = inf"),
        (np.ones((4, 4)), "ordinal", DataError, "ratings have 1 value.*normal"),
        ([[1, 2, 1, 2], [1, 1, 2, 1]], "ordinal", DataError, "all ratings of 'a'"),
        ([[0, 2, 1, 2], [0, 1, 2, 1]], "poisson", DataError, "no counts"),
        ([[1, 2, NONE, NONE], [NONE, NONE, 2, 1]], "normal", DataError, "2 parts that share no item"),
        (np.full((4, 4), 2.0), "normal", DataError, "copies of one another"),
    ],
)
def test_what_is_refused(cells, model, kind, message):
    with pytest.raises(kind, match=message):
        ld.fit_outcomes(table(cells, "a b c d"), model=model)


@pytest.mark.parametrize(
    "options", [{"by": "x"}, {"chance": 0.25}, {"additive": True}, {"errors": "information"}, {"allow_unlinked": True}]
)
def test_options_of_successes_are_refused(options):
    with pytest.raises(ConfigError, match=f"'normal' does not take .*{next(iter(options))}"):
        ld.fit_outcomes(CROSSED, clusters=None, **options)


def test_tables_have_either_scores_or_successes():
    for given in ({}, {"scores": CROSSED.scores, "successes": CROSSED.scores}):
        refused(ConfigError, "either successes", ld.Outcomes, **given)


@pytest.mark.parametrize("exposure", [0.0, NONE, np.inf])
def test_counts_without_exposure_are_refused(exposure):
    plain = table(COUNTS).scores
    refused(DataError, r"\(q0, b\) = (5 of|inf)", ld.Outcomes, scores=plain, trials=plain * 0 + [1.0, exposure, 1.0])


@pytest.mark.parametrize("exposure", ["0", "-5"])
def test_files_of_counts_without_exposure_are_refused(tmp_path, exposure):
    (tmp_path / "counts.csv").write_text(f"item,system,score,exposure\na,x,3,{exposure}\na,y,4,10\nb,x,,0\n")
    refused(DataError, r"line 2, column 'trials': is no number above 0", ld.read_outcomes, tmp_path / "counts.csv")


def test_contrasts_are_on_the_scale_of_the_model():
    for model, cells, quantity in (("normal", SCORES, "difference"), ("ordinal", RATINGS, "log_odds")):
        fit = ld.fit_outcomes(table(cells, "a b c d"[: 2 * len(cells[0]) - 1]), model=model)
        assert fit.contrasts(["b - a"]).columns[0] == quantity


def test_runs_of_scores_and_of_right_answers_are_not_compared():
    right = ld.Outcomes(successes=(CROSSED.scores > 0.5).astype(float), columns=CROSSED.columns)
    refused(DataError, "one run has scores", ld.compare_runs, CROSSED, right)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda rng: ld.fit_outcomes(table(np.column_stack([np.arange(100) // 98 / 2, rng.random(100)]), "a b")),
         r"more than 95 % of scores at 0 or at 1: 'a'"),
        (lambda rng: ld.compare_runs(CROSSED, table(100 * CROSSED.scores.to_numpy(), "de@a de@b fi@a fi@b")),
         r"go up to 1, of the new run up to 100: are both on one scale\?"),
        (lambda rng: ld.fit_outcomes(table(rng.integers(1, 6, (40, 3)), "a b c")),
         "whole values from 1 to 5. If they are ratings, .*'ordinal'"),
    ],
)  # fmt: skip
def test_scores_that_are_doubted(use, message):
    with pytest.warns(LangdiffWarning, match=message):
        use(np.random.default_rng(1))


def test_small_scores_have_digits():
    fit = ld.fit_outcomes(table(1e-6 * CROSSED.scores.to_numpy(), "de@a de@b fi@a fi@b"))
    assert "+0.000000041 ±0.000000011" in fit.summary()
    assert "(+0.00000004" in fit.summary()


@pytest.mark.parametrize("form", ["long", "wide", "metric"])
def test_files_of_scores(tmp_path, form):
    path = tmp_path / "chrf.csv"
    plain = table(SCORES, "a b c d", name="chrf")
    if form == "wide":
        plain.scores.to_csv(path)
    elif form == "metric":
        plain.to_frame().rename(columns={"score": "chrf"}).to_csv(path, index=False)
    else:
        plain.save(path)
    found = ld.read_outcomes(path, metric="chrf" if form == "metric" else None)
    pd.testing.assert_frame_equal(found.scores, plain.scores)
    ld.fit_outcomes(found).save(tmp_path / "fit.json")
    again = ld.read(tmp_path / "fit.json")
    assert again.model == "normal"
    pd.testing.assert_frame_equal(again.outcomes.scores, plain.scores)
    first, *_, last = found.scores
    one, two = (fit.abilities.contrast(first, last) for fit in (again, ld.fit_outcomes(found)))
    assert (one.std_error, one.degrees_of_freedom) == (two.std_error, two.degrees_of_freedom)


def test_a_column_score_is_no_log_probability(tmp_path):
    CROSSED.to_frame().rename(columns={"column_language": "language"}).to_csv(tmp_path / "a.csv", index=False)
    assert "score" in ld.read_logs(tmp_path / "a.csv").answers


def test_runs_and_plans_are_on_the_scale_of_the_score():
    rng = np.random.default_rng(1)
    better = table(CROSSED.scores.to_numpy() + rng.normal(0.03, 0.05, CROSSED.scores.shape), "de@a de@b fi@a fi@b")
    frame = ld.compare_runs(CROSSED, better).to_frame().set_index(["system", "language"])
    gain = better.scores["de@a"] - CROSSED.scores["de@a"]
    assert frame.loc[("a", "de"), "difference"] == pytest.approx(gain.mean())
    assert frame.loc[("a", "de"), "std_error"] == pytest.approx(gain.sem())
    assert frame[["mcnemar", "log_odds"]].isna().all(axis=None)
    apart = CROSSED.scores["de@a"] - CROSSED.scores["de@b"], CROSSED.scores["fi@a"] - CROSSED.scores["fi@b"]
    plan = ld.plan_items(0.03, CROSSED)
    assert plan.variance == pytest.approx(np.mean([part.var() for part in apart]))
    assert plan.repeat_share == 0

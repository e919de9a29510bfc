"""Standard errors of `fit` by each method: clusters, random intents, unequal noise, and what is refused."""

import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from numpy.testing import assert_allclose
from scipy import stats

import langdiff as ld
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from langdiff.regression import Blunders, Bootstrap, Laplace, Optimizer, Random, Sandwich
from langdiff.regression.fitting import influence
from tests.helpers import refused

PERMUTED = 1e-9  # nats; the same sums in another order


@pytest.fixture(scope="module")
def table():
    """Three hundred intents of 30 chapters, a fifth of the cells missing."""
    bits = ld.simulate(300, 4, missing=0.2, seed=5).surprisals.bits
    info = pd.DataFrame({"chapter": np.arange(300) // 10, "genre": np.arange(300) % 15}, index=bits.index)
    return ld.Surprisals(bits=bits, intent_info=info)


def test_clusters_of_model_1_are_those_of_least_squares(table):
    fit = ld.fit(table, model="1", clusters="chapter", errors=Sandwich("CR0"))
    long = table.to_frame().assign(z=lambda cells: np.log(cells["bits"]))
    long["chapter"] = table.intent_info["chapter"].loc[long["intent"]].to_numpy()
    groups = {"groups": long["chapter"], "use_correction": False}
    oracle = smf.ols("z ~ C(intent) + C(edition)", long).fit(cov_type="cluster", cov_kwds=groups)
    for edition in ("e2", "e3", "e4"):
        contrast = fit.contrast(edition, "e1")
        assert contrast.estimate == pytest.approx(oracle.params[f"C(edition)[T.{edition}]"], abs=1e-8)
        assert contrast.std_error == pytest.approx(oracle.bse[f"C(edition)[T.{edition}]"], rel=1e-7)


@pytest.mark.parametrize(
    "settings",
    [
        {"model": "1"},
        {"model": "2"},
        {"model": "2", "clusters": "chapter"},
        {"model": "2L"},
        pytest.param({"model": Laplace(rounding=0), "seed": 3}, marks=pytest.mark.slow),
        {"model": "2C"},
        {"model": Blunders(scale=0.03)},
        {"model": "1", "intents": "random"},
        {"model": "2", "intents": "random", "clusters": "chapter"},
        {"model": "1", "dispersion": "edition"},
    ],
    ids=str,
)
def test_standard_errors_do_not_depend_on_the_order_of_intents(table, settings):
    order = np.random.default_rng(1).permutation(table.intents.to_numpy())
    first, again = (ld.fit(one, **settings) for one in (table, table.sel(intents=order)))
    assert first.converged
    tolerance = 1e-4 if settings["model"] == Laplace(rounding=0) else PERMUTED  # the exact kink is approached, not met
    assert_allclose(again.std_error, first.std_error, atol=tolerance, rtol=0)


def test_the_default_is_a_sandwich_from_fifty_intents_on(table):
    assert ld.fit(table).errors.kind == "sandwich"
    assert ld.fit(table, clusters=None).errors.words.startswith("a sandwich (CR2) over ")
    small = table.sel(intents=table.intents[:45])
    assert ld.fit(small.bits).errors.kind == "information"
    fit = ld.fit(small, clusters=None)
    assert fit.degrees_of_freedom == fit.cells - fit.single_cell_intents - (45 - fit.single_cell_intents) - 4 + 1


INTEGRATED = [{"intents": "random"}, {"dispersion": "edition"}, {"dispersion": "edition", "intents": "random"}]


@pytest.mark.parametrize("settings", INTEGRATED, ids=str)
@pytest.mark.parametrize("model", ["1", "2"])
def test_the_default_is_the_same_where_sizes_are_integrated_out(table, model, settings):
    settings = {"clusters": None, "dispersion": "common", **settings}
    fit, asked = (ld.fit(table, model=model, errors=kind, **settings) for kind in (None, "sandwich"))
    used = 300 - (fit.single_cell_intents if fit.intents == "fixed" else 0)
    assert (fit.errors.words, fit.degrees_of_freedom) == (f"a sandwich (CR1) over {used} intents", used - 1.0)
    assert_allclose(fit.covariance, asked.covariance, rtol=1e-12)
    small = table.sel(intents=table.intents[:45])
    assert ld.fit(small, model=model, **settings).errors.kind == "information"


def test_random_sizes_of_model_2l_have_a_sandwich_by_default(table):
    assert (
        ld.fit(table, model="2L", intents="random", clusters=None).errors.words == "a sandwich (CR1) over 300 intents"
    )


SPREAD = 0.25  # of a ratio of variances from 40 tables × 4 differences; from the information it is below .55


@pytest.mark.parametrize("settings", INTEGRATED[:2], ids=str)
def test_errors_hold_where_noise_does_not_fall_with_length(settings):
    """Bits are gamma with one coefficient of variation, whereas Model 2 gives long intents less noise."""
    errors, variances = [], []
    for seed in range(40):
        rng = np.random.default_rng([6, seed])
        size, noise = np.exp(rng.normal(np.log(150), 1.0, (150, 1))), np.expm1(0.17**2)
        fit = ld.fit(pd.DataFrame(size * rng.gamma(1 / noise, noise, (150, 5))), **settings)
        contrasts = [fit.contrast(0, other) for other in range(1, 5)]
        errors.append([contrast.estimate for contrast in contrasts])  # the editions are equal
        variances.append([contrast.std_error**2 for contrast in contrasts])
    assert np.mean(variances) / np.mean(np.square(errors)) == pytest.approx(1, abs=SPREAD)


def test_clusters_without_effect_leave_errors_and_cost_degrees_of_freedom(table):
    plain, clustered = ld.fit(table, clusters=None), ld.fit(table, clusters="chapter")
    assert clustered.errors.n_clusters == 30
    assert clustered.errors.design_effect == pytest.approx(1, abs=0.5)
    assert_allclose(clustered.std_error, plain.std_error, rtol=0.4)
    freedom = clustered.contrast("e1", "e2").degrees_of_freedom
    assert 20 < freedom < 29 < plain.contrast("e1", "e2").degrees_of_freedom


def test_shared_errors_of_chapters_show_in_the_design_effect(table):
    rng, chapter = np.random.default_rng(2), table.intent_info["chapter"].to_numpy()
    shared = rng.normal(0, 0.1, (30, 4))[chapter]
    fit = ld.fit(ld.Surprisals(bits=table.bits * np.exp(shared), intent_info=table.intent_info), clusters="chapter")
    assert fit.errors.design_effect > 2
    assert f"design effect {fit.errors.design_effect:.2f}" in fit.summary()


def test_crossed_clusters_add_what_each_kind_adds(table):
    rng = np.random.default_rng(8)
    of_chapter, of_genre = (rng.normal(0, 0.2, (count, 4)) for count in (30, 15))
    info = table.intent_info
    shared = of_chapter[info["chapter"].to_numpy()] + of_genre[info["genre"].to_numpy()]
    table = ld.Surprisals(bits=table.bits * np.exp(shared), intent_info=info)
    one, other = (
        ld.fit(table, model="1", clusters=name, errors=Sandwich("CR1")).covariance for name in ("chapter", "genre")
    )
    pair = table.intent_info["chapter"].astype(str) + "/" + table.intent_info["genre"].astype(str)
    both = ld.fit(table, model="1", clusters=pair.rename("pair"), errors=Sandwich("CR1")).covariance
    crossed = ld.fit(table, model="1", clusters=["chapter", "genre"], errors=Sandwich("CR1"))
    expected = (one + other - both).to_numpy()
    assert np.linalg.eigvalsh(expected).min() > -1e-12  # no eigenvalue had to be set to 0
    assert_allclose(crossed.covariance, expected, atol=1e-10)
    assert crossed.errors.clusters == "chapter and genre"


@pytest.mark.parametrize("model", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_methods_agree_where_the_model_is_right(model):
    truth = ld.simulate(400, 3, model=model, seed=11)
    errors = {
        kind: ld.fit(
            truth.surprisals, model=model, errors=Bootstrap(300) if kind == "bootstrap" else kind, seed=1
        ).std_error
        for kind in ("information", "sandwich", "bootstrap", "jackknife")
    }
    for kind, found in errors.items():
        assert_allclose(found, errors["information"], rtol=0.15, err_msg=kind)


def test_the_jackknife_over_clusters_is_cr3_in_model_1(table):
    sandwich = ld.fit(table, model="1", clusters="chapter", errors=Sandwich("CR3"))
    jackknife = ld.fit(table, model="1", clusters="chapter", errors="jackknife")
    contrasts = [
        (fit.contrast("e2", "e1").std_error, fit.contrast("e4", "e3").std_error) for fit in (sandwich, jackknife)
    ]
    assert_allclose(contrasts[0], contrasts[1], rtol=0.01)  # differences of factors that average 1 are all but linear


def test_random_and_fixed_intents_are_told_apart_where_bits_decide_what_is_missing():
    bits = ld.simulate(600, 4, model="1", seed=4).surprisals.bits
    noisy = stats.zscore((np.log(bits["e1"]) - np.log(bits).mean(axis=1)).to_numpy())
    rng = np.random.default_rng(0)
    lost = rng.random((600, 3)) < 0.9 * stats.logistic.cdf(4 * noisy)[:, None]
    bits = bits.mask(np.column_stack([np.zeros(600, dtype=bool), lost]))
    with pytest.warns(LangdiffWarning, match="fixed and random intents differ by up to"):
        fixed = ld.fit(bits, model="1")
    with pytest.warns(LangdiffWarning, match="fixed and random intents differ by up to"):
        random = ld.fit(bits, model="1", intents="random")
    assert fixed.compared.p_value < 0.01
    assert "fixed and random intents differ by up to" in fixed.summary()
    assert_allclose(random.compared.difference, fixed.compared.difference, atol=1e-8)
    assert random.sizes.sd > 0.3
    assert "ln n normal" in random.summary()


def test_complete_tables_of_model_1_do_not_depend_on_the_kind_of_intents():
    bits = ld.simulate(100, 4, model="1", seed=4).surprisals
    fixed, random = (ld.fit(bits, model="1", intents=kind) for kind in ("fixed", "random"))
    assert fixed.compared is None
    assert_allclose(random.difficulty, fixed.difficulty, atol=1e-10)


def test_unequal_noise_is_found_and_divides_the_estimands():
    rng = np.random.default_rng(3)
    sd = np.array([0.1, 0.2, 0.3, 0.5])
    z = rng.normal(4.5, 0.6, (2000, 1)) + rng.normal(0, sd, (2000, 4))
    bits = pd.DataFrame(np.exp(z), columns=["a", "b", "c", "d"])
    fit = ld.fit(bits, model="1", dispersion="edition")
    assert fit.dispersions.p_value < 1e-6
    assert_allclose(np.log1p(fit.dispersions.value), sd**2, rtol=0.15)
    median, expected = fit.contrast("d", "a", estimand="median"), fit.contrast("d", "a")
    assert median.estimate == pytest.approx(0, abs=4 * median.std_error)
    assert expected.estimate == pytest.approx(0.12, abs=4 * expected.std_error)
    assert expected.estimate - median.estimate == pytest.approx(0.12, abs=0.03)
    s, t = np.log1p(fit.dispersions.value["d"]), np.log1p(fit.dispersions.value["a"])
    fit = ld.fit(bits, model="1", dispersion="edition", errors="information")
    assert fit.contrast("d", "a", estimand="median").std_error == pytest.approx(np.sqrt((s + t) / 2000), rel=1e-3)
    groups = ld.fit(bits, model="1", dispersion={"a": "x", "b": "x", "c": "y", "d": "y"})
    assert list(groups.dispersions.value.index) == ["x", "y"]
    assert "equal: p = " in groups.summary()


def test_medians_of_model_2_are_those_of_intents_of_a_size():
    v = np.log1p(np.array([2.0, 8.0, 30.0]) / 60)
    noise = np.random.default_rng(4).normal(size=(4000, 3))
    bits = pd.DataFrame(60 * np.exp(np.array([0.1, 0.0, -0.1]) - v / 2 + np.sqrt(v) * noise), columns=list("abc"))
    fit = ld.fit(bits, dispersion="edition", clusters=None)
    found, of_bits = fit.contrast("c", "a", estimand="median"), np.log(bits.median())
    assert found.estimate == pytest.approx(of_bits["c"] - of_bits["a"], abs=4 * np.sqrt(1.6 * (v[0] + v[2]) / 4000))
    assert abs(fit.contrast("c", "a").estimate - found.estimate) > 0.15  # half the difference of variances
    x = np.concatenate([fit.dispersions.level, np.log(fit.dispersions.value)])

    def formula(x):
        return x[:3] - 0.5 * np.log1p(np.exp(x[3:]) / 60)

    jacobian = np.array([(formula(x + h) - formula(x - h)) / 2e-6 for h in 1e-6 * np.eye(6)]).T
    covariance = jacobian @ fit.dispersions.covariance.to_numpy() @ jacobian.T
    assert_allclose(fit.dispersions.median("2", 60.0)[1], covariance, rtol=1e-4)


def test_estimands_are_one_where_noise_is_common(table):
    fit = ld.fit(table)
    assert fit.contrast("e1", "e2", estimand="median") == fit.contrast("e1", "e2")
    refused(ConfigError, r"^estimand is one of .*'mean'", fit.contrast, "e1", "e2", estimand="mean")


def test_few_clusters_are_warned_about(table):
    book = pd.Series(np.arange(300) // 100, table.intents, name="book")
    with pytest.warns(LangdiffWarning, match=r"^standard errors from 3 clusters by book have as few as [12]\.\d"):
        fit = ld.fit(table, clusters=book)
    assert "degrees of freedom or more" in fit.summary()


def test_widths_of_the_kink_are_from_0_to_1():
    refused(ConfigError, r"^rounding must be from 0 to 1", Laplace, rounding=2)


def test_a_cluster_that_alone_joins_editions_is_named(table):
    bits = ld.simulate(300, 4, seed=5).surprisals.bits
    bits.loc[bits.index[20:], "e4"] = np.nan
    chapter = pd.Series(np.where(np.arange(300) < 20, "first", np.arange(300) // 10), table.intents, name="chapter")
    refused(DataError, r"^without the intents of one cluster \('first'\) some editions", ld.fit, bits, clusters=chapter)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"errors": "robust"}, "^errors is one of information, .*; got 'robust'"),
        ({"errors": "information", "clusters": "chapter"}, "takes intents to be independent; with clusters use"),
        ({"errors": "information", "model": "2C"}, "^errors='information' needs a smooth likelihood"),
        ({"errors": Sandwich(strata="genre"), "model": "2L"}, "^strata are not for model '2L'"),
        ({"errors": "bootstrap", "seed": None}, "bootstrap samples are drawn at random"),
        ({"errors": "jackknife", "clusters": None, "seed": None}, "groups of intents to leave out are drawn"),
        ({"intents": "free"}, "^intents is one of fixed, random; got 'free'"),
        ({"intents": "random", "model": "2C"}, "^intents='random' is for models '1', '2' and '2L'"),
        ({"intents": "random", "restricted": True}, "^restricted=True makes up for one size"),
        ({"dispersion": "edition", "model": "2L"}, "^dispersions of editions are for models '1' and '2'"),
        ({"dispersion": "side"}, "^dispersion='side' must be 'auto', 'common', 'edition', a column"),
        ({"clusters": "verse"}, "verse"),
        ({"clusters": ["chapter", "genre"], "errors": "bootstrap", "seed": 1}, "two kinds that cross need errors="),
        ({"errors": Sandwich("CR3"), "model": "2L"}, "^correction='CR3' is not for model '2L'.* use correction='CR1'"),
        ({"errors": Sandwich(strata="genre")}, "^strata are groups of clusters: add clusters="),
        ({"errors": Sandwich(strata="chapter"), "clusters": ["chapter", "genre"]}, "^strata hold clusters of one kind"),
        ({"errors": Bootstrap}, r"^errors is the class Bootstrap: write Bootstrap\(\)\."),
        ({"intents": Random}, r"^intents is the class Random: write Random\(\)\."),
        ({"optimizer": Optimizer}, r"^optimizer is the class Optimizer: write Optimizer\(\)\."),
    ],
)
def test_settings_that_contradict_are_refused(table, settings, message):
    refused(ConfigError, message, ld.fit, table, **settings)


def test_size_formula_needs_attributes(table):
    with pytest.raises(ConfigError, match=r"^the formula of Random needs a table with intent_info"):
        ld.fit(table.bits, intents=Random(formula="chapter"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = ld.fit(table, intents=Random(formula="chapter"))
    assert list(fit.sizes.slopes.index) == ["chapter"]
    assert "around chapter" in fit.summary()


def test_the_distance_of_model_2_does_not_take_its_own_bias_for_a_difference():
    """Cells missing completely at random: the restricted fit agrees with random intents, in nine tables of ten."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)  # where p is below .01
        p = [ld.fit(ld.simulate(400, 4, missing=0.4, seed=seed).surprisals).compared.p_value for seed in range(30)]
    assert np.mean(np.array(p) < 0.05) < 0.2


def test_designs_of_expected_bits_need_dispersions_that_follow_them(table):
    groups = {"e1": "x", "e2": "x", "e3": "y", "e4": "y"}
    with pytest.raises(ConfigError, match=r"^in model '1' editions that share a difficulty must share a dispersion"):
        ld.fit(table, model="1", groups=groups, dispersion="edition")
    alike = ld.fit(table, model="1", groups=groups, dispersion=groups)
    other = ld.fit(table.sel(editions=["e2", "e1", "e4", "e3"]), model="1", groups=groups, dispersion=groups)
    assert alike.contrast("x", "y").estimate == pytest.approx(other.contrast("x", "y").estimate, abs=1e-6)
    refused(ConfigError, r"^estimand='median' compares editions", alike.contrast, "x", "y", estimand="median")


def test_the_design_effect_of_random_intents_is_that_of_fixed_ones(table):
    rng, chapter = np.random.default_rng(2), table.intent_info["chapter"].to_numpy()
    shared = rng.normal(0, 0.1, (30, 4))[chapter]
    table = ld.Surprisals(bits=table.bits * np.exp(shared), intent_info=table.intent_info)
    for model in ("1", "2"):
        fixed, random = (ld.fit(table, model=model, intents=kind, clusters="chapter") for kind in ("fixed", "random"))
        assert random.errors.design_effect == pytest.approx(fixed.errors.design_effect, rel=0.15)


def test_median_ratios_have_the_errors_that_were_asked_for(table):
    found = {
        correction: ld.fit(table, model="1", dispersion="edition", clusters="chapter", errors=Sandwich(correction))
        for correction in ("CR0", "CR1")
    }
    errors = [fit.contrast("e2", "e1", estimand="median").std_error for fit in found.values()]
    assert errors[1] == pytest.approx(errors[0] * np.sqrt(30 / 29))
    crossed = [
        ld.fit(table, model="1", dispersion="edition", clusters=pair)
        for pair in (["chapter", "genre"], ["genre", "chapter"])
    ]
    one, other = (fit.contrast("e2", "e1", estimand="median").std_error for fit in crossed)
    assert one == pytest.approx(other, rel=1e-6)
    with pytest.raises(ConfigError, match=r"^size must be positive bits, got -5"):
        found["CR0"].contrast("e2", "e1", estimand="median", size=-5)


def test_few_clusters_do_not_reject_equal_dispersions(table):
    with pytest.warns(LangdiffWarning, match="degrees of freedom"):
        fit = ld.fit(table, model="1", dispersion="edition", clusters=pd.Series(np.arange(300) // 75, table.intents))
    assert np.isnan(fit.dispersions.p_value)


def test_the_distance_between_kinds_of_intents_knows_of_clusters(table):
    plain, clustered = (ld.fit(table, model="1", clusters=name) for name in (None, "chapter"))
    assert plain.compared.statistic != clustered.compared.statistic
    assert clustered.compared.degrees_of_freedom == 3


def test_sizes_that_depend_on_the_clusters_fall_back_on_cr1(table):
    text = table.with_intent_info(pd.DataFrame({"book": [f"b{k // 25}" for k in range(300)]}, index=table.intents))
    fit = ld.fit(text, model="1", intents=Random(formula="book"), clusters="book", errors=Sandwich("CR2"))
    assert (fit.errors.correction, fit.errors.n_clusters) == ("CR1", 12)
    assert fit.converged
    length = table.with_intent_info(pd.DataFrame({"length": [str(k % 37) for k in range(300)]}, index=table.intents))
    assert len(ld.fit(length, model="1", intents=Random(formula="length")).sizes.slopes) == 1


def test_degrees_of_freedom_are_between_one_and_the_clusters_less_one():
    bits = ld.simulate(6, 3, model="2L", seed=2).surprisals
    with pytest.warns(LangdiffWarning, match="^standard errors from 6 intents have as few as"):
        fit = ld.fit(bits, model="2L-rounded")
    freedom = np.asarray(fit.degrees_of_freedom)
    assert freedom.min() >= 1
    assert freedom.max() <= 5


def test_strata_take_what_their_clusters_share_as_given(table):
    """The sum over chapters within books, by least squares with dummies."""
    complete = table.bits.dropna()
    info = pd.DataFrame({"chapter": np.arange(len(complete)) // 5}, index=complete.index)
    info["book"] = info["chapter"] // 4
    surprisals = ld.Surprisals(bits=complete, intent_info=info)
    fit = ld.fit(surprisals, model="1", clusters="chapter", errors=Sandwich("CR0", strata="book"))
    z = np.log(complete.to_numpy())
    residual = z - z.mean(axis=0) - z.mean(axis=1, keepdims=True) + z.mean()
    scores = pd.DataFrame(residual, index=complete.index).groupby(info["chapter"]).sum()
    book = scores.index // 4
    meat = np.zeros((4, 4))
    for _, part in scores.groupby(book):
        deviations = (part - part.mean()).to_numpy() if len(part) > 1 else part.to_numpy()
        meat += deviations.T @ deviations * (len(part) / (len(part) - 1) if len(part) > 1 else 1.0)
    expected = meat / len(complete) ** 2
    pair = expected[1, 1] + expected[0, 0] - 2 * expected[0, 1]
    assert fit.contrast("e2", "e1").std_error == pytest.approx(np.sqrt(pair), rel=1e-9)
    assert "within book" in fit.errors.words
    assert "strata:book#" in fit.signature


def test_strata_leave_out_the_variation_of_whole_books():
    rng = np.random.default_rng(4)
    book = np.repeat(np.arange(20), 40)
    noise = rng.normal(0, 0.1, (800, 3)) + rng.normal(0, 0.2, (20, 3))[book]
    bits = pd.DataFrame(np.exp(rng.normal(4.5, 0.6, (800, 1)) + noise), columns=list("abc"))
    info = pd.DataFrame({"chapter": np.arange(800) // 10, "book": book}, index=bits.index)
    surprisals = ld.Surprisals(bits=bits, intent_info=info)
    by_book = ld.fit(surprisals, model="1", clusters="book").contrast("a", "b").std_error
    by_chapter = ld.fit(surprisals, model="1", clusters="chapter").contrast("a", "b").std_error
    within = (
        ld.fit(surprisals, model="1", clusters="chapter", errors=Sandwich(strata="book")).contrast("a", "b").std_error
    )
    assert within < 0.5 * by_chapter < by_book
    assert within == pytest.approx(np.sqrt(2 / 800) * 0.1, rel=0.15)


@pytest.mark.parametrize(
    ("strata", "message"),
    [
        (pd.Series(np.arange(300) % 7, name="day"), "^30 of 30 clusters are in several strata \\(day\\)"),
        ("chapter", "^every stratum \\(chapter\\) has one cluster"),
    ],
)
def test_strata_must_hold_whole_clusters(table, strata, message):
    if isinstance(strata, pd.Series):
        strata.index = table.intents
    refused(DataError, message, ld.fit, table, clusters="chapter", errors=Sandwich(strata=strata))


def test_a_correction_asks_for_the_sandwich():
    few = ld.simulate(30, 3, model="1", seed=1).surprisals
    assert ld.fit(few, model="1").errors.kind == "information"
    assert ld.fit(few, model="1", errors=Sandwich("CR3")).errors.words == "a sandwich (CR3) over 30 intents"


def test_the_bootstrap_tests_equal_dispersions(table):
    complete = ld.Surprisals(bits=table.bits.dropna())
    fit = ld.fit(complete, model="1", dispersion="edition", clusters=None, errors=Bootstrap(99), seed=2)
    assert fit.dispersions.test == "bootstrap"
    assert fit.dispersions.p_value * 100 == pytest.approx(round(fit.dispersions.p_value * 100))
    again = ld.fit(complete, model="1", dispersion="edition", clusters=None, errors=Bootstrap(99), seed=2)
    assert again.dispersions.p_value == fit.dispersions.p_value


def test_total_bits_agree_with_expected_bits(table):
    fit = ld.fit(table, model="1", dispersion="edition", clusters="chapter")
    total = ld.regression.compare_totals(table, "e2", "e1", clusters="chapter")
    common = table.bits[["e1", "e2"]].dropna().sum()
    assert total.estimate == pytest.approx(np.log(common["e2"] / common["e1"]), rel=1e-12)
    assert 20 < total.degrees_of_freedom < 29  # of 30 chapters of unequal size
    assert abs(total.estimate - fit.contrast("e2", "e1").estimate) < 3 * total.std_error
    for names, message in ((("e2", "xx"), "^not in this table: 'xx'"), (("e2", "e2"), "^on both sides")):
        refused(ConfigError, message, ld.regression.compare_totals, table, *names)


def test_errors_about_strata_name_strata(table):
    with pytest.raises(ConfigError, match=r"^strata='side': intent_info has no such column"):
        ld.fit(table, clusters="chapter", errors=Sandwich(strata="side"))
    with pytest.raises(DataError, match=r"all intents are in one stratum .*: leave strata out"):
        ld.fit(table, clusters="chapter", errors=Sandwich(strata=pd.Series("x", table.intents, name="book")))


def test_a_correction_that_random_intents_lack_is_refused(table):
    with pytest.raises(ConfigError, match=r"^correction='CR3' with random intents"):
        ld.fit(table.bits, model="1", intents="random", errors=Sandwich("CR3"))
    assert ld.fit(table, model="1", intents="random", errors=Sandwich("CR3")).errors.n_clusters == 30
    found = {kind: ld.fit(table.bits, model="1", intents="random", errors=Sandwich(kind)) for kind in ("CR0", "CR1")}
    factor = found["CR1"].covariance.to_numpy() / found["CR0"].covariance.to_numpy()
    assert_allclose(factor, 300 / 299, rtol=1e-9)
    assert found["CR0"].errors.correction == "CR0"


def test_the_test_of_dispersions_knows_of_both_kinds_of_clusters(table):
    first, second = (
        ld.fit(table, model="1", dispersion="edition", clusters=list(pair)).dispersions.p_value
        for pair in (("chapter", "genre"), ("genre", "chapter"))
    )
    assert first == pytest.approx(second, rel=1e-6)


def two_blocks(*, shared=1):
    """Two blocks of three editions and sixty intents each, which `shared` intents join."""
    rng = np.random.default_rng(1)
    sizes = np.exp(rng.normal(5, 0.6, (120, 1)))
    bits = pd.DataFrame(sizes * np.exp(rng.normal(0, 0.17, (120, 6))), columns=list("abcdef"))
    bits.index = pd.Index([f"i{k}" for k in range(120)])
    joined = bits.iloc[:shared, 4].copy()
    bits.iloc[:60, 3:] = np.nan
    bits.iloc[60:, :3] = np.nan
    bits.iloc[:shared, 4] = joined
    return bits


@pytest.mark.parametrize("settings", [{"model": "1"}, {"dispersion": "edition"}], ids=str)
def test_what_one_intent_decides_has_one_degree_of_freedom(settings):
    with (
        pytest.warns(LangdiffWarning, match=r"'d', 'e', 'f' \(joined by 'i0'\)\. Nothing shows"),
        pytest.warns(LangdiffWarning, match=r"^single intents \('i0'\) decide how some editions compare: "),
    ):
        fit = ld.fit(two_blocks(), **settings)
    assert fit.errors.kind == "information"
    across, within = fit.contrast("a", "e"), fit.contrast("a", "b")
    assert (across.degrees_of_freedom, within.degrees_of_freedom) == (1, 361 - 120 - 6 + 1)
    half = stats.t(1).ppf(0.975) * across.std_error
    assert (across.low, across.high) == pytest.approx((across.estimate - half, across.estimate + half))
    with pytest.warns(LangdiffWarning, match="few"):  # two intents leave something to see the error by
        assert ld.fit(two_blocks(shared=2), model="1").errors.kind == "sandwich"


@pytest.mark.parametrize(
    "settings", [{}, {"dispersion": "edition"}, {"model": "2L"}, {"errors": "information"}, {"intents": "random"}]
)
def test_influences_of_intents_are_made_when_they_are_read(monkeypatch, settings):
    made, usual = [], influence._rows_of
    monkeypatch.setattr(influence, "_rows_of", lambda sample: made.append(1) or usual(sample))
    bits = ld.simulate(120, 4, missing=0.1, seed=3).surprisals.bits.to_numpy().copy()
    fit = ld.fit(bits, clusters=None, **settings)
    assert fit.summary()
    assert len(fit.pairs().to_frame()) > len(fit.to_frame())
    assert not made
    if fit.errors.kind == "sandwich":
        np.testing.assert_allclose(fit.influence.values.T @ fit.influence.values, fit.covariance, rtol=1e-5, atol=1e-15)
    assert len(fit.influence.values) == len(fit.influence.units.names)
    assert len(made) == 1
    other = ld.fit(bits, clusters=None, **settings)
    bits[0, 0] *= 2
    refused(DataError, "the table was changed after its fit", lambda: other.influence.values)

"""Pairs of effects: worked numbers, Tukey's and Dunnett's distributions of SciPy, a slow loop, and rank sets."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from statsmodels.stats.multitest import multipletests
from typer.testing import CliRunner

import langdiff as ld
from langdiff.cli.app import app
from langdiff.errors import ConfigError, DataError
from langdiff.regression.seeds import combine_seeds
from langdiff.tables.effects import Effects
from langdiff.tables.rule import Scale
from langdiff.tables.simultaneous import from_normal, number_of_draws, to_normal
from tests.helpers import refused

OF_DRAWS, OF_P = 0.02, 0.003  # distance of a quantile of 20,000 draws from the exact one, and of a p below .1
OF_HIGH_P = 0.01  # of a p near .5: three standard errors of a share of 20,000 draws
TABLE = pd.DataFrame(
    {
        "a": [100, 40, 220, 75, 150, 60, 310, 95],
        "b": [120, 52, 230, 70, 190, 63, 355, 110],
        "c": [90, 50, 180, 88, 140, 49, 300, 92],
        "d": [104, 47, 215, 71, 168, 66, 298, 101],
    },
    index=[f"i{row}" for row in range(8)],
)


@pytest.fixture(scope="module")
def worked():
    return ld.fit(TABLE, model="1", errors="information", clusters=None)


def groups(seed=3, sizes=(6, 9, 5, 8), shift=0.6):
    """Return samples of independent groups, and their means as effects with the pooled variance."""
    rng = np.random.default_rng(seed)
    samples = [rng.normal(shift * place, 1, size) for place, size in enumerate(sizes)]
    freedom = sum(sizes) - len(sizes)
    variance = sum(((x - x.mean()) ** 2).sum() for x in samples) / freedom
    names = [f"g{place}" for place in range(len(sizes))]
    effects = Effects.from_covariance(
        pd.Series([x.mean() for x in samples], names),
        covariance=pd.DataFrame(np.diag(variance / np.array(sizes)), names, names),
        freedom=float(freedom),
    )
    return samples, effects


def test_worked_table(worked):
    pairs = worked.pairs()
    frame = pairs.frame
    assert list(frame.index) == [("b", "c"), ("b", "a"), ("b", "d"), ("d", "c"), ("d", "a"), ("a", "c")]
    expected = [0.1558633566, 0.1234340776, 0.0792972294, 0.0765661272, 0.0441368482, 0.0324292790]
    assert_allclose(frame["estimate"], expected, atol=1e-9)
    assert_allclose(frame["std_error"], 0.0469170608, atol=1e-9)
    assert (frame["df"] == 21).all()
    assert_allclose(frame["p"], [0.003238, 0.015620, 0.105789, 0.117598, 0.357534, 0.497008], atol=1e-6)
    assert pairs.critical == pytest.approx(2.787328610, abs=OF_DRAWS)
    adjusted = [0.015796, 0.068765, 0.353422, 0.383160, 0.783517, 0.899299]
    assert_allclose(frame["p_adjusted"][:2], adjusted[:2], atol=OF_P)
    assert_allclose(frame["p_adjusted"], adjusted, atol=OF_HIGH_P / 2)
    assert_allclose(frame.loc[("b", "c"), ["low", "high"]].tolist(), [0.025090, 0.286637], atol=OF_DRAWS * 0.047)
    holm = worked.pairs(adjust="holm").frame["p_adjusted"]
    assert_allclose(holm, [0.0194, 0.0781, 0.4232, 0.4232, 0.7151, 0.7151], atol=5e-5)
    sets = pairs.ranks[["rank_low", "rank_high"]].loc[["a", "b", "c", "d"]].to_numpy().tolist()
    assert sets == [[1, 4], [1, 3], [2, 4], [1, 4]]
    assert worked.to_frame().loc["b", ["rank_low", "rank_high"]].tolist() == [1, 3]
    assert pairs.words == "Hardest: b (rank 1–3), d or a; 1 of 6 pairs differ."


@pytest.mark.parametrize(("count", "freedom"), [(3, 4), (8, 30), (20, 1000)])
def test_one_variance_gives_tukeys_distribution(count, freedom):
    names = [f"e{place}" for place in range(count)]
    estimate = pd.Series(np.linspace(0.15 * count, 0, count), names)
    centred = np.eye(count) - 1 / count
    effects = Effects.from_covariance(estimate, covariance=pd.DataFrame(centred, names, names), freedom=float(freedom))
    pairs = effects.pairs()
    exact = stats.studentized_range(count, freedom)
    assert pairs.critical == pytest.approx(exact.isf(0.05) / 2**0.5, rel=OF_DRAWS)
    assert_allclose(pairs.frame["p_adjusted"], exact.sf(pairs.frame["estimate"]), atol=OF_HIGH_P)


def test_unequal_groups_and_a_baseline_are_those_of_scipy():
    samples, effects = groups()
    tukey = stats.tukey_hsd(*samples)
    for (one, other), p in effects.pairs().frame["p_adjusted"].items():
        assert p == pytest.approx(tukey.pvalue[int(one[1]), int(other[1])], abs=OF_HIGH_P)
    dunnett = stats.dunnett(*samples[1:], control=samples[0], rng=np.random.default_rng(1))
    frame = effects.pairs(baseline="g0").frame.loc[[(f"g{place}", "g0") for place in (1, 2, 3)]]
    assert_allclose(frame["p_adjusted"], dunnett.pvalue, atol=OF_HIGH_P)
    interval = dunnett.confidence_interval(0.95)
    assert_allclose(frame[["low", "high"]], np.column_stack([interval.low, interval.high]), atol=OF_DRAWS)


@pytest.mark.parametrize("baseline", ["hardest", "easiest"])
def test_comparison_with_the_best_is_one_sided_and_unadjusted_for_the_choice(baseline):
    samples, effects = groups(shift=0.5)
    sign = 1 if baseline == "hardest" else -1
    pairs = effects.pairs(baseline=baseline)
    rows = pairs.frame.reset_index("other")
    for control in range(4):
        others = [sign * x for place, x in enumerate(samples) if place != control]
        found = stats.dunnett(
            *others, control=sign * samples[control], alternative="greater", rng=np.random.default_rng(2)
        )
        row = rows.loc[f"g{control}"]
        # where no other is above it, p is 1
        above = found.statistic.max() > 0
        assert row["p_adjusted"] == (pytest.approx(found.pvalue.min(), abs=OF_HIGH_P) if above else 1)
        assert (row["verdict"] == f"may be {baseline}") == (found.pvalue.min() > 0.05)
        # the interval reaches as far as the nearest upper bound of the others allows, and not beyond 0
        reach = found.confidence_interval(0.95).low
        end = row["high"] if sign == 1 else -row["low"]
        assert end == pytest.approx(max(-max(reach), 0), abs=OF_DRAWS)
    assert (rows["low"] <= 0).all()
    assert (rows["high"] >= 0).all()
    assert pairs.ranks is None
    if baseline == "hardest":
        ranks = effects.pairs().ranks
        assert set(rows.index[rows["verdict"] == "may be hardest"]) <= set(ranks.index[ranks["rank_low"] == 1])


def test_pairs_with_variances_of_their_own_hold_together():
    """The share of draws of a slow loop outside the intervals, with the exact scale in place of Wallace's."""
    rng = np.random.default_rng(4)
    root = rng.normal(size=(5, 5))
    names = list("abcde")
    freedom = rng.uniform(3, 30, (5, 5))
    freedom = pd.DataFrame((freedom + freedom.T) / 2, names, names)
    effects = Effects.from_covariance(
        pd.Series(np.zeros(5), names),
        covariance=pd.DataFrame(np.diag(rng.uniform(1, 4, 5)), names, names),
        shape=pd.DataFrame(root @ root.T, names, names),
        freedom=freedom,
    )
    frame = effects.pairs().frame
    x, inside = rng.multivariate_normal(np.zeros(5), root @ root.T, 40_000), np.ones(40_000, dtype=bool)
    for (one, other), row in frame.iterrows():
        gap = x[:, names.index(one)] - x[:, names.index(other)]
        nu = freedom.loc[one, other]
        t = gap / gap.std() / np.sqrt(rng.chisquare(nu, 40_000) / nu)
        inside &= np.abs(t) <= row["high"] / row["std_error"]
    assert inside.mean() == pytest.approx(0.95, abs=0.006)  # three standard errors of both
    single = stats.t.isf(0.025, frame["df"]) * frame["std_error"]
    bonferroni = stats.t.isf(0.0025, frame["df"]) * frame["std_error"]
    assert ((frame["high"] > single) & (frame["high"] <= bonferroni * (1 + 1e-12))).all()


def test_the_normal_scale():
    exact = stats.norm.isf(stats.t.sf(3.3, 9.7))
    assert exact == pytest.approx(2.63782, abs=1e-5)
    assert to_normal(np.array([3.3]), 9.7)[0] == pytest.approx(2.63499, abs=1e-5)
    assert_allclose(from_normal(to_normal(np.linspace(0, 9, 7), 3.5), 3.5), np.linspace(0, 9, 7), atol=1e-9)
    assert to_normal(np.array([2.0]), np.inf)[0] == pytest.approx(2, abs=1e-5)
    assert [number_of_draws(size) for size in (1, 5000, 100_000)] == [20_000, 10_000, 4_000]


def test_few_clusters_are_drawn_from_the_information():
    table = ld.simulate(60, 5, seed=1).surprisals
    book = pd.Series(np.repeat(list("uvwxyz"), 10), table.intents, name="book")
    with pytest.warns(ld.errors.LangdiffWarning, match="degrees of freedom"):
        fit = ld.fit(table, model="1", clusters=book, dispersion="common")
    information = ld.fit(table, model="1", errors="information", clusters=None, dispersion="common")
    assert_allclose(fit.reference, information.covariance, rtol=1e-10)
    assert information.reference is None
    assert np.linalg.matrix_rank(fit.reference.to_numpy()) == 4
    rounded = ld.fit(table, model="2L-rounded", clusters=None)  # has no information: CR0 over intents
    assert_allclose(
        rounded.reference, ld.fit(table, model="2L-rounded", errors=ld.regression.Sandwich("CR0")).covariance
    )


def test_bonferroni_where_the_joint_distribution_is_not_known_or_too_large():
    _, effects = groups()
    names = effects.estimate.index
    alone = Effects.from_covariance(effects.estimate, effects.covariance, pd.DataFrame(24.0, names, names)).pairs()
    assert alone.n_draws == 0
    assert alone.bound == "the joint distribution is known for clusters only"
    assert alone.critical == pytest.approx(stats.t.isf(0.025 / 6, 24))
    assert_allclose(alone.frame["p_adjusted"], np.minimum(6 * alone.frame["p"], 1))
    many = [f"e{place}" for place in range(201)]
    large = Effects.from_covariance(pd.Series(np.arange(201.0), many), covariance=pd.DataFrame(np.eye(201), many, many))
    assert large.pairs().bound == "there are more than 200 effects"
    assert large.pairs().critical == pytest.approx(stats.norm.isf(0.025 / 20_100))
    assert "Bonferroni's, since there are more than 200 effects" in large.pairs().summary()


def test_tied_effects_leave_the_family_and_are_identical():
    _, effects = groups()
    names = [*effects.estimate.index, "copy"]
    picks = np.eye(4)[[0, 1, 2, 3, 3]]
    covariance = picks @ effects.covariance.to_numpy() @ picks.T
    copied = Effects.from_covariance(
        pd.Series(picks @ effects.estimate.to_numpy(), names), pd.DataFrame(covariance, names, names), 24.0
    )
    frame = copied.pairs().frame
    row = frame.loc[("copy", "g3")]
    assert row[["estimate", "low", "high", "p", "p_adjusted", "verdict"]].tolist() == [0, 0, 0, 1, 1, "identical"]
    assert frame["p_adjusted"].notna().all()
    for adjust in ("holm", "bh", None):
        assert copied.pairs(adjust=adjust).frame["p_adjusted"].notna().all()
    certain = Effects.from_covariance(copied.estimate, copied.covariance * 0)
    assert set(certain.pairs().frame["verdict"]) == {"differ", "identical"}
    assert certain.to_frame()[["rank_low", "rank_high"]].to_numpy()[0].tolist() == [1, 2]


def test_rank_sets_count_the_intervals(worked):
    table = ld.simulate(300, 7, difficulties=[0.1, 0.1, 0.05, 0, 0, -0.1, -0.15], seed=2).surprisals
    fit = ld.fit(table)
    for adjust in ("max-t", "holm", "bh", None):
        pairs = fit.pairs(adjust=adjust)
        frame = fit.pairs().frame.reset_index()
        harder = frame.loc[frame["low"] > 0]
        for name, row in pairs.ranks.iterrows():
            assert row["rank_low"] == 1 + (harder["other"] == name).sum()
            assert row["rank_high"] == 7 - (harder["one"] == name).sum()
    assert_allclose((frame["p_adjusted"] <= 0.05), (frame["low"] > 0))
    wide = fit.pairs(level=0.99).frame
    assert_allclose((wide["p_adjusted"] <= 0.01), (wide["low"] > 0))
    single = fit.pairs(adjust=None).frame
    contrast = fit.contrast(*single.index[0])
    assert_allclose(single.iloc[0][["low", "high", "p"]].tolist(), [contrast.low, contrast.high, contrast.p_value])
    for adjust, method in (("holm", "holm"), ("bh", "fdr_bh")):
        expected = multipletests(single["p"], method=method)[1]
        assert_allclose(fit.pairs(adjust=adjust).frame["p_adjusted"], expected)


def test_against_the_mean_is_between_one_and_bonferroni(worked):
    together, rows = worked.effects.against_mean(), worked.to_frame()
    half = (together["high"] - worked.difficulty) / worked.std_error
    rows = rows.loc[together.index]
    assert (half > stats.t.isf(0.025, 21)).all()
    assert (half <= stats.t.isf(0.025 / 4, 21) + 1e-9).all()
    assert (together["low"] < rows["low"]).all()


def test_effects_with_errors_of_seeds_and_curves_know_their_degrees_of_freedom():
    rng = np.random.default_rng(6)
    truth = ld.simulate(100, 4, seed=1).surprisals.bits
    tables = [ld.Surprisals(bits=truth * np.exp(rng.normal(0, 0.05, (100, 4)))) for _ in range(3)]
    found = combine_seeds(tables, lambda table: ld.fit(table, model="1", errors="information"))
    frame = found.effects.pairs().frame
    shares = found.degrees_of_freedom(400 - 3 - 100).to_numpy()
    assert_allclose(np.sort(frame["df"]), np.sort(shares[np.triu_indices(4, 1)]))
    contrast = found.effects.contrast(*frame.index[0])
    assert contrast.p_value == pytest.approx(frame["p"].iloc[0])
    abilities = ld.fit_outcomes(ld.simulate_outcomes(200, 4, seed=1).outcomes).abilities
    assert abilities.pairs(baseline="weakest").words.startswith("May be weakest: ")
    assert abilities.pairs().words.startswith("Ablest: s4")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"adjust": "x"}, "adjust is one of max-t, holm, bh, None; got 'x'"),
        ({"level": 0.5}, "level must be between 0.5 and 1, got 0.5"),
        ({"level": 1}, "level must be between 0.5 and 1, got 1"),
        ({"baseline": "eng"}, "unknown baseline 'eng'; use 'hardest', 'easiest' or one of 'a', 'b', 'c', 'd'"),
        ({"baseline": "hardest", "adjust": "holm"}, "leave adjust out"),
        ({"seed": -1}, "seed must be a whole number"),
    ],
)
def test_bad_options(worked, options, message):
    refused(ConfigError, message, worked.pairs, **options)


def test_unknown_errors():
    refused(DataError, "without their joint covariance", ld.as_effects(pd.Series({"eng": -0.1, "fin": 0.1})).pairs)
    single = Effects.from_covariance(pd.Series({"eng": 0.0}), covariance=pd.DataFrame({"eng": [0.0]}, ["eng"]))
    refused(DataError, "at least two effects; there is 1", single.pairs)
    assert "rank_low" not in ld.as_effects(pd.Series({"eng": -0.1, "fin": 0.1})).to_frame()
    assert replace(single, scale=Scale()).to_frame()["rank_high"].tolist() == [1]


def test_saved_and_from_the_command_line(worked, tmp_path):
    pairs = worked.pairs(baseline="a", adjust="bh")
    pairs.save(tmp_path / "pairs.json")
    again = ld.read(tmp_path / "pairs.json")
    assert again.summary() == pairs.summary()
    pd.testing.assert_frame_equal(again.frame, pairs.frame)
    worked.save(tmp_path / "fit.json")
    run = CliRunner().invoke
    given = ["table", str(tmp_path / "fit.json"), "--out"]
    result = run(app, [*given, str(tmp_path / "pairs.csv"), "--pairs"])
    assert result.exit_code == 0
    assert "1 of 6 pairs was shown to differ" in " ".join(result.output.split())
    table = pd.read_csv(tmp_path / "pairs.csv")
    assert "contrast b - c" in set(table["row"])
    result = run(app, [*given, str(tmp_path / "pairs.tex"), "--baseline", "a", "--adjust", "none"])
    assert result.exit_code == 0
    assert r"\toprule" in (tmp_path / "pairs.tex").read_text()
    assert run(app, [*given, str(tmp_path / "pairs.cvs")]).exit_code == 2
    assert run(app, [*given[:2], "--baseline", "eng"]).exit_code != 0

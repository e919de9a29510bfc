"""Curves against known truth, against full refits, and against the plain fit at each size."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

import langdiff as ld
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from langdiff.regression import fit_curve
from langdiff.regression.curves.curve import correlation_intervals
from tests.helpers import refused

SIZES = (100, 300, 900, 2700)
EXPONENT = 0.4


def simulated(rng, *, form="power", intents=150, editions=6, noise=0.05, floors=None):
    slope = np.linspace(-1, 1, editions)
    floor = (1 if form == "power" else 0) + 0.1 * slope if floors is None else floors
    gain = 1.0 + 0.4 * rng.permutation(slope)
    curves = floor[:, None] + gain[:, None] * (np.array(SIZES) / SIZES[0]) ** -EXPONENT
    curves = np.log(curves) if form == "power" else curves
    content, shared = rng.lognormal(4.6, 0.6, intents), rng.normal(0, noise, (intents, editions))
    tables = {}
    for k, size in enumerate(SIZES):
        bits = content[:, None] * np.exp(curves[:, k] + shared + rng.normal(0, noise, shared.shape))
        tables[size] = ld.Surprisals(bits=pd.DataFrame(bits).rename(index=str, columns="e{}".format))
    return tables, floor, gain, curves


@pytest.fixture(scope="module")
def tables():
    return simulated(np.random.default_rng(1))[0]


@pytest.fixture(scope="module")
def curve(tables):
    return fit_curve(tables, seed=0)


@pytest.mark.parametrize("model", ["1", "2", "2L", "2L-rounded"])
def test_every_size_is_the_fit_of_its_table(tables, model):
    curve = fit_curve(tables, model=model, seed=0)
    for size in SIZES:
        fit = ld.fit(tables[size], model=model, errors="sandwich", clusters=None, dispersion="common")
        np.testing.assert_allclose(curve.difficulty[size], fit.difficulty, atol=1e-9)
        np.testing.assert_allclose(curve.covariance(size), fit.covariance, atol=1e-12)


def test_clusters_and_missing_cells_give_the_errors_of_the_fit(tables):
    rng = np.random.default_rng(2)
    missing = rng.random((150, 6)) < 0.1
    documents = pd.Series(np.arange(150) // 5, tables[100].intents, name="document")
    thinned = {size: ld.Surprisals(bits=table.bits.mask(missing)) for size, table in tables.items()}
    curve = fit_curve(thinned, clusters=documents, seed=0)
    fit = ld.fit(thinned[900], clusters=documents, restricted=False, dispersion="common")
    np.testing.assert_allclose(curve.difficulty[900], fit.difficulty, atol=1e-9)
    np.testing.assert_allclose(curve.covariance(900), fit.covariance, atol=1e-12)
    assert curve.influence.shape == (30, 6, 4)
    assert curve.clusters == "document"


def test_frames_serve_as_tables(curve, tables):
    again = fit_curve({size: table.bits for size, table in tables.items()}, seed=0)
    np.testing.assert_allclose(again.to_frame()["difficulty"], curve.to_frame()["difficulty"], rtol=1e-12)


def test_the_level_is_the_mean_of_the_bits(curve, tables):
    means = {size: table.bits.to_numpy().mean() for size, table in tables.items()}
    np.testing.assert_allclose(np.exp(curve.log_bits).mean(), list(means.values()), rtol=1e-12)


def test_draws_are_those_of_refits_to_the_same_samples(tables):
    """What influences make of a sample of intents is what fits of both sizes to that sample find."""
    pair = {size: tables[size] for size in (100, 2700)}
    curve = fit_curve(pair, seed=0)
    rng, refits, linear = np.random.default_rng(3), [], []
    for _ in range(20):
        rows = rng.integers(150, size=150)
        both = []
        for table in pair.values():
            bits = table.bits.iloc[rows].set_axis([str(i) for i in range(150)])
            fit = ld.fit(bits, errors="information", clusters=None, dispersion="common")
            both.append(fit.difficulty.to_numpy() + np.log(bits.to_numpy().mean()))
        refits.append(np.array(both).T)
        times = np.bincount(rows, minlength=150) - 1.0
        linear.append(curve.log_bits.to_numpy() + np.tensordot(times, curve.influence, 1))
    refits, linear = (np.array(part) - curve.log_bits.to_numpy() for part in (refits, linear))  # (draws, J, K)
    assert np.corrcoef(refits.ravel(), linear.ravel())[0, 1] > 0.99
    change, ours = (part[..., 1] - part[..., 0] for part in (refits, linear))
    assert np.corrcoef(change.ravel(), ours.ravel())[0, 1] > 0.98
    assert ours.std() / change.std() == pytest.approx(1, abs=0.1)
    assert curve.draws.std(axis=0) == pytest.approx(np.sqrt((curve.influence**2).sum(axis=0)), rel=0.1)


@pytest.mark.parametrize("form", ["power", "stretched"])
def test_exact_curves_are_recovered(form):
    given, floor, gain, _ = simulated(np.random.default_rng(1), form=form, noise=1e-6)
    found = fit_curve(given, model="1", seed=0).asymptotes(form)
    mean = np.exp(4.6 + 0.18)
    assert found.exponent == pytest.approx(EXPONENT, abs=1e-4)
    content = given[100].bits.to_numpy().mean() / np.mean(
        np.exp((np.log if form == "power" else np.asarray)(floor + gain))
    )
    assert content == pytest.approx(mean, rel=0.2)  # the sample's own
    floors = content * (floor if form == "power" else np.exp(floor))
    np.testing.assert_allclose(found.frame["floor"], floors, rtol=1e-3)
    np.testing.assert_allclose(found.frame["gain"], gain * (content if form == "power" else 1), rtol=1e-3)


def test_correlations_near_one_have_intervals_that_hold_them():
    """Ten editions whose difficulties differ little between two sizes; Fisher's scale leaves out 31 % of these."""
    rng, held = np.random.default_rng(6), []
    values = rng.normal(0, 0.1, (10, 1)) + rng.normal(0, 0.01, (10, 2))
    truth = np.corrcoef(values.T)[0, 1]
    for _ in range(400):
        noise = rng.normal(0, 0.008, (10, 2))
        draws = values + noise + rng.normal(0, 0.008, (200, 10, 2))
        _, low, high = correlation_intervals(values + noise, draws, ranks=False)
        held.append((truth < low[0, 1], truth > high[0, 1]))
    assert np.mean(held, axis=0).sum() < 0.15


@pytest.mark.slow
def test_intervals_hold_the_truth():
    rng, held, exponents = np.random.default_rng(5), [], []
    for number in range(25):
        given, floor, _, _ = simulated(rng)
        found = fit_curve(given, model="1", seed=number, n_draws=200).asymptotes()
        exponents.append(found.exponent_low <= EXPONENT <= found.exponent_high)
        truth = np.log(floor / floor.mean())
        frame = found.frame
        held.append((frame["floor_difficulty_low"] <= truth) & (truth <= frame["floor_difficulty_high"]))
    assert np.mean(held) > 0.85
    assert np.mean(exponents) > 0.8


def test_floors_are_refused_with_a_reason(tables):
    with pytest.raises(ConfigError, match="at least 3 sizes, got 2"):
        fit_curve({size: tables[size] for size in (100, 300)}, seed=0).asymptotes()
    with pytest.raises(ConfigError, match="unknown form 'linear'"):
        fit_curve(tables, seed=0).asymptotes("linear")
    rising = {size: ld.Surprisals(bits=tables[SIZES[-1 - k]].bits) for k, size in enumerate(SIZES)}
    with pytest.raises(DataError, match="do not fall with size"):
        fit_curve(rising, seed=0).asymptotes()
    partly = {size: ld.Surprisals(bits=table.bits.assign(e0=rising[size].bits["e0"])) for size, table in tables.items()}
    found = fit_curve(partly, seed=0).asymptotes()
    assert found.frame.loc["e0", "reason"] == "its bits do not fall with size"
    assert found.frame.drop(index="e0")["reason"].eq("").all()
    assert "e0: its bits do not fall with size" in found.summary()


def test_exchange_rate_is_where_the_curves_say_the_same_bits(curve):
    rate = curve.exchange_rate("e2", 300)
    assert rate.loc["e2", "size"] == pytest.approx(300)
    target = curve.log_bits.loc["e2", 300]
    for edition in curve.editions:
        if rate.loc[edition, "reason"] == "":
            there = np.interp(np.log(rate.loc[edition, "size"]), np.log(SIZES), curve.log_bits.loc[edition])
            assert there == pytest.approx(target, abs=1e-9)
            assert rate.loc[edition, "low"] <= rate.loc[edition, "size"] <= rate.loc[edition, "high"]
    never = curve.exchange_rate("e2", 300, content_ratio={"e3": 0.1, "e4": 10.0})
    assert np.isnan(never.loc["e3", "size"])
    assert never.loc["e3", "reason"] == "more than 2,700"
    assert np.isnan(never.loc["e4", "size"])
    assert never.loc["e4", "reason"] == "fewer than 100"
    for bad in ({"reference": "xx", "size": 300}, {"reference": "e2", "size": 50}):
        with pytest.raises(ConfigError):
            curve.exchange_rate(**bad)
    refused(ConfigError, "positive", curve.exchange_rate, "e2", 300, content_ratio={"e1": 0.0})
    refused(ConfigError, "positive: 'e1'", curve.exchange_rate, "e2", 300, content_ratio={"e1": np.nan})
    refused(ConfigError, "has not: 'deu'", curve.exchange_rate, "e2", 300, content_ratio={"deu": 1.1})


def test_pairs_that_change_places_are_found_and_others_are_not():
    rng = np.random.default_rng(7)
    before, after = np.array([0.1, 0.0, -0.2, 0.0]), np.array([-0.1, 0.0, -0.2, 0.2])
    content = rng.lognormal(4.6, 0.6, 200)
    given = {}
    for size, difficulty in ((100, before), (1000, after)):
        bits = content[:, None] * np.exp(difficulty + rng.normal(0, 0.05, (200, 4)))
        given[size] = ld.Surprisals(bits=pd.DataFrame(bits, columns=list("abcd")).rename(index=str))
    found = fit_curve(given, seed=0).changes()
    significant = found[found["significant"]]
    assert set(zip(significant["harder_at_size"], significant["harder_at_other"], strict=True)) == {
        ("a", "b"),
        ("a", "d"),
    }
    assert (found["p_adjusted"] >= found["p"]).all()


def test_correlations_are_those_of_the_difficulties(curve):
    found = curve.correlations().set_index(["size", "other"])
    assert len(found) == 6
    assert found.loc[(100, 900), "pearson"] == pytest.approx(curve.log_bits[100].corr(curve.log_bits[900]))
    assert found.loc[(100, 900), "spearman"] == pytest.approx(
        curve.difficulty[100].corr(curve.difficulty[900], "spearman")
    )
    assert (found["pearson_low"] <= found["pearson_high"]).all()


def test_seeds_add_their_spread():
    rng = np.random.default_rng(4)
    base = simulated(rng, noise=0.02)[0]
    seeds = rng.normal(0, 0.05, (3, 6))
    tables = {
        size: [ld.Surprisals(bits=table.bits * np.exp(seeds[r])) for r in range(3)] for size, table in base.items()
    }
    one, three = fit_curve(base, seed=0), fit_curve(tables, seed=0)
    assert three.n_seeds == 3
    own = seeds - seeds.mean(axis=0)
    own = own - own.mean(axis=1, keepdims=True)
    expected = (own**2).sum() / (2 * 5) / 3
    np.testing.assert_allclose(three.spread.of_editions, expected, rtol=0.05)  # the same at all sizes, in full
    added = np.diag(three.covariance(300)) - np.diag(one.covariance(300))
    np.testing.assert_allclose(added, expected * 5 / 6, rtol=0.2)
    few = three.effects(300).degrees_of_freedom  # seeds have 2 × 5 of them, and most of the variance
    assert 10 < few.loc["e0", "e1"] < 15
    rows = three.to_frame().query("size == 300").set_index("edition")
    of_intents, of_seeds = np.diag(one.covariance(300)), np.diag(three.covariance(300)) - np.diag(one.covariance(300))
    freedom = (of_intents + of_seeds) ** 2 / (of_intents**2 / 149 + of_seeds**2 / 10)  # Satterthwaite, by hand
    half = student.ppf(0.975, freedom) * rows["std_error"]
    np.testing.assert_allclose(rows["high"] - rows["difficulty"], half, rtol=0.05)  # `one` has slightly other errors
    assert three.changes()["p"].notna().all()
    change = three.draws[..., -1] - three.draws[..., 0]
    assert change.std() < 1.5 * (one.draws[..., -1] - one.draws[..., 0]).std()  # what sizes share leaves no change


def test_saved_curves_come_back_whole(curve, tmp_path):
    path = tmp_path / "curve.json"
    curve.draws  # noqa: B018 what is kept in memory is not saved
    curve.save(path)
    again = ld.read(path)
    pd.testing.assert_frame_equal(again.log_bits, curve.log_bits)
    pd.testing.assert_frame_equal(again.to_frame(), curve.to_frame())
    assert again.signature == curve.signature
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"n_intents": 3}))
    refused(DataError, "damaged, or edited", ld.read, path)
    document = {key: value for key, value in document.items() if key not in ("sha256", "by_seed")}
    path.write_text(json.dumps(document))
    refused(DataError, "damaged: KeyError", ld.read, path)


def test_tables_that_do_not_go_together_are_refused(tables):
    shuffled = ld.Surprisals(bits=tables[300].bits.iloc[::-1])
    holes = tables[300].bits.copy()
    holes.iloc[0, 0] = np.nan
    for given, error, message in (
        ({100: tables[100]}, ConfigError, "at least two sizes"),
        ({0: tables[100], 300: tables[300]}, ConfigError, "positive"),
        ({1.2: tables[100], 1.7: tables[300]}, ConfigError, "whole numbers, got 1.2"),
        ({"100": tables[100], "300": tables[300]}, ConfigError, "whole numbers, got '100'"),
        ({100: [], 300: []}, DataError, "size 100 has no table"),
        ({100: tables[100], 300: shuffled}, DataError, "intents of size 300"),
        ({100: tables[100], 300: ld.Surprisals(bits=holes)}, DataError, "lacks other cells"),
        ({100: tables[100], 300: [tables[300]] * 2}, DataError, "2 table"),
    ):
        refused(error, message, fit_curve, given, seed=0)
    refused(ConfigError, "model '3' needs model=Blunders", fit_curve, tables, model="3", seed=0)
    refused(ConfigError, "seed", fit_curve, tables, seed=None)


def test_summary_and_effects_say_what_was_done(curve):
    text = curve.summary()
    assert "of 15 pairs of editions change places" in text
    assert curve.signature in text
    assert curve.effects(900).degrees_of_freedom == pytest.approx(149)
    assert repr(curve).endswith("6 editions × 4 sizes (100 to 2,700), 150 test intents, model 2")
    refused(ConfigError, "q must be", curve.changes, q=5)
    refused(ConfigError, "not a size", curve.effects, 5)


def training(tmp_path, rows):
    pd.DataFrame(rows).to_json(tmp_path / "bits.jsonl", orient="records", lines=True)
    return tmp_path / "bits.jsonl"


@pytest.mark.filterwarnings("ignore:.*approximately")
def test_the_worked_training(tmp_path):
    """Bits per byte of unlike texts, turned into bits of content by premiums."""
    rows = [
        {"step": step, "language": name, "bits_per_byte": bits}
        for step in (1000, 2000)
        for name, bits in zip("abc", (0.9, 0.95, 0.45), strict=True)
    ]
    path = training(tmp_path, rows)
    refused(DataError, "bits per byte are of unlike texts", ld.lm.read_training, path)
    tables = ld.lm.read_training(path, byte_premium={"a": 1, "b": 1.05, "c": 2.6})
    curve = fit_curve(tables, axis="step")
    percent = 100 * np.expm1(curve.difficulty[1000])
    assert percent.round(1).tolist() == [-12.0, -2.4, 14.4]
    assert curve.to_frame()[["std_error", "low", "bits_high"]].isna().all(axis=None)
    assert "Totals: differences have no errors" in curve.summary()
    curve.save(tmp_path / "curve.json")
    assert ld.read(tmp_path / "curve.json").axis == "step"
    refused(DataError, "no byte premium of 'c'", ld.lm.read_training, path, byte_premium={"a": 1, "b": 1.05})


@pytest.mark.filterwarnings("ignore:.*totals without items")
def test_totals_have_no_intervals(tmp_path):
    rows = [
        {"step": n, "language": name, "bits": bits * (1 + 5 / n**0.5)}
        for n in (100, 200, 1000)
        for name, bits in zip("abc", (900, 950, 980), strict=True)
    ]
    with pytest.raises(DataError, match=r"9 more row.* the first of a at step 100, but no column item"):
        ld.lm.read_training(training(tmp_path, rows * 2))
    curve = fit_curve(ld.lm.read_training(training(tmp_path, rows)), axis="step")
    floors = curve.asymptotes()
    assert floors.exponent == pytest.approx(0.5, abs=1e-4)
    assert np.isnan([floors.exponent_low, floors.exponent_high]).all()
    assert repr(floors).endswith("exponent 0.500")
    rates = curve.exchange_rate("a", 200)
    assert rates["size"].notna().all()
    assert rates[["low", "high"]].isna().all(axis=None)


def test_steps_of_a_training_are_those_of_its_tables(tables, tmp_path):
    rows = [
        {"step": n, "language": edition, "item": intent, "bits": bits}
        for n, table in tables.items()
        for (intent, edition), bits in table.bits.stack().items()
    ]
    found = ld.lm.read_training(training(tmp_path, rows))
    curve, expected = fit_curve(found, axis="step"), fit_curve(tables)
    pd.testing.assert_frame_equal(curve.difficulty, expected.difficulty.rename_axis(columns="step"), check_names=True)
    assert "step" in curve.to_frame()
    assert curve.plot().get_xlabel() == "step of the training"
    last = [row for row in rows if row["item"] != rows[0]["item"] or row["step"] != rows[0]["step"]]
    with pytest.warns(LangdiffWarning, match="cells are not at all steps"):
        fewer = ld.lm.read_training(training(tmp_path, last))
    assert {len(table.intents) for table in fewer.values()} == {len(next(iter(found.values())).intents) - 1}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step": 0.5}, "line 1: step 0.5 is not a whole number from 1"),
        ({"bits": -1.0}, "below 0|not a surprisal|log-probabilit"),
    ],
)
def test_faulty_trainings_are_refused(tmp_path, change, message):
    rows = [{"step": n, "language": name, "item": "x", "bits": 5.0} for n in (1, 2) for name in "ab"]
    with pytest.raises((DataError, ConfigError), match=message):
        ld.lm.read_training(training(tmp_path, [rows[0] | change, *rows[1:]]))

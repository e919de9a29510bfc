"""Generalizability, short forms and outliers against brute force and known truth."""

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.regression.components import reliability
from langdiff.regression.components.outliers import _standardized, moderate_variances
from tests.helpers import refused

VARIANCES = {"edition": 0.04, "intent": 1.0, "residual": 0.09}
SAMPLE_VARIANCES = np.array([0.02, 1.1, 5.3, 0.04, 1.7, 0.9, 3.2, 0.6, 9.3, 1.0])
SEARCH = 2e-8  # at which limma ends its search for d0


def crossed(rng, intents=300, editions=40, variances=VARIANCES):
    z = rng.normal(0, np.sqrt(variances["intent"]), (intents, 1)) + rng.normal(
        0, np.sqrt(variances["edition"]), editions
    )
    bits = np.exp(5 + z + rng.normal(0, np.sqrt(variances["residual"]), z.shape))
    return ld.Surprisals(bits=pd.DataFrame(bits).rename(index=str, columns="e{}".format))


def without_large(rng, table):
    """Return a table of which each edition has lost large intents, at a rate of its own."""
    z = np.log(table.bits.to_numpy())
    size = z.mean(axis=1, keepdims=True)
    rates = rng.uniform(0, 3, z.shape[1]) * (size - size.mean()) / size.std()
    return ld.Surprisals(bits=table.bits.where(rng.random(z.shape) > 1 / (1 + np.exp(1.6 - rates))).dropna(how="all"))


def test_cells_missing_by_size_do_not_turn_intents_into_editions(monkeypatch):
    monkeypatch.setattr(reliability, "MOST_GROUPS", 2)
    rng, enough = np.random.default_rng(5), []
    for _ in range(20):
        table = crossed(rng, 100, 12, {"edition": 0.0064, "intent": 0.36, "residual": 0.0196})
        found = [ld.generalizability(each) for each in (table, without_large(rng, table))]
        enough.append([each.intents_for(0.95).estimate for each in found])
    complete, missing = np.median(enough, axis=0)
    assert missing == pytest.approx(complete, rel=0.2)  # moments of raw cells give a third of it


def test_shares_and_reliability_of_one_table():
    found = ld.generalizability(crossed(np.random.default_rng(2)))
    truth = pd.Series(VARIANCES)
    assert (np.abs(found.frame["share"] - truth / truth.sum()) < 4 * found.frame["share_std_error"]).all()
    edition, residual = found.frame.loc["edition", "variance"], found.frame.loc["residual", "variance"]
    assert found.reliability() == pytest.approx(edition / (edition + residual / 300))
    enough = np.ceil(found.intents_for(0.95).estimate)
    assert found.reliability(int(enough)) >= 0.95 > found.reliability(int(enough) - 1)
    fewest = int(np.ceil(found.intents_for_error(0.02).estimate))
    assert found.error_variance(fewest) <= 0.02**2 < found.error_variance(fewest - 1)
    assert found.design()["n_seeds"].unique().tolist() == [1]


def test_language_models_and_seeds_are_told_apart(monkeypatch):
    monkeypatch.setattr(reliability, "MOST_GROUPS", 3)  # of the standard errors, which are not looked at here
    rng = np.random.default_rng(3)
    base = np.log(crossed(rng, 150, 30).bits)
    of_lm = rng.normal(0, 0.1, (3, 30))
    tables, facets = {}, []
    for lm in range(3):
        for seed in range(2):
            noise = rng.normal(0, 0.05, base.shape) + rng.normal(0, 0.03, 30)
            tables[f"{lm}-{seed}"] = ld.Surprisals(bits=np.exp(base + of_lm[lm] + 0.3 * lm + noise))
            facets.append({"lm": lm, "seed": seed})
    found = ld.generalizability(tables, facets=pd.DataFrame(facets, index=list(tables)))
    variance = found.frame["variance"]
    assert found.n_lms == 3
    assert found.n_seeds == 2
    assert variance["edition:lm"] == pytest.approx(of_lm.var(axis=0, ddof=1).mean(), rel=0.25)
    assert variance["edition:seed"] == pytest.approx(0.03**2, rel=0.5)
    assert variance["edition:intent"] == pytest.approx(0.09, rel=0.1)
    assert variance["residual"] == pytest.approx(0.05**2, rel=0.1)
    assert found.intents_for(0.9999).estimate == np.inf  # three language models cannot reach it
    assert found.reliability(n_lms=10) > found.reliability()
    assert len(found.design(n_intents=(50,), n_seeds=(1, 5))) == 2
    refused(DataError, "Say in facets", ld.generalizability, tables)


def test_corpora_have_intents_of_their_own(monkeypatch):
    monkeypatch.setattr(reliability, "MOST_GROUPS", 3)
    rng = np.random.default_rng(4)
    language = rng.normal(0, 0.2, 30)
    tables, of_corpus = {}, []
    for corpus in ("news", "verse"):
        own = rng.normal(0, 0.1, 30)
        of_corpus.append(own)
        z = 5 + language + own + rng.normal(0, 1, (120, 1)) + rng.normal(0, 0.3, (120, 30))
        names = [f"{corpus}{j}" for j in range(30)]
        tables[corpus] = ld.Surprisals(bits=pd.DataFrame(np.exp(z), columns=names).rename(index=str))
    languages = {f"{corpus}{j}": f"l{j}" for corpus in tables for j in range(30)}
    facets = pd.DataFrame({"corpus": list(tables)}, index=list(tables))
    found = ld.generalizability(tables, facets=facets, languages=languages)
    assert found.n_corpora == 2
    assert found.n_intents == 240
    assert found.n_editions == 30
    assert found.frame.loc["edition", "variance"] == pytest.approx(0.04, rel=0.6)
    drawn = np.diff(of_corpus, axis=0).var(ddof=1) / 2
    assert found.frame.loc["edition:corpus", "variance"] == pytest.approx(drawn, rel=0.3)
    refused(ConfigError, "languages lack", ld.generalizability, tables, facets=facets, languages={"news0": "l0"})


def test_short_forms_beat_random_choices_on_other_editions():
    truth = ld.simulate(300, 40, seed=3).surprisals
    noise = np.random.default_rng(1).normal(0, 0.05, truth.bits.shape)
    other = ld.Surprisals(bits=truth.bits * np.exp(noise))
    form = ld.short_form(truth, 25, judge=other, seed=0)
    assert not set(form.chosen_on) & set(form.judged_on)
    assert form.error < form.random["error"].mean()
    assert form.correlation > form.random["correlation"].mean()
    z = np.log(other.bits[list(form.judged_on)])
    expected = z.loc[form.intents].mean().corr(z.mean())
    assert form.correlation == pytest.approx(expected)
    assert ld.short_form(truth, 25, judge=other, seed=0).intents.equals(form.intents)


def test_tables_without_residuals_are_refused():
    one = ld.simulate(60, 1, seed=3).surprisals.bits["e1"]
    copies = ld.Surprisals(bits=pd.DataFrame({name: one * (1 + k) for k, name in enumerate("abcdefghij")}))
    holes = copies.bits.copy()
    holes.iloc[:9, 2] = holes.iloc[4, 3:6] = np.nan
    for bits in (copies.bits, holes):
        refused(DataError, "the residuals vanish", ld.generalizability, bits)
    refused(DataError, "residuals of 'x' vanish in most cells", ld.flag_outliers, {"x": copies, "y": copies})
    refused(ConfigError, "one table of surprisals or more", ld.generalizability, {})


def test_facets_have_one_complete_row_per_table():
    table = ld.simulate(60, 4, seed=3).surprisals
    for names, seeds in ((["a", "a", "b"], [1, 2, 3]), (["a", "b"], [1, None])):
        with pytest.raises(ConfigError, match="one row per table"):
            ld.generalizability({"a": table, "b": table}, facets=pd.DataFrame({"seed": seeds}, index=names))


def test_short_forms_refuse_what_they_cannot_use():
    truth = ld.simulate(60, 8, seed=3).surprisals
    refused(ConfigError, r"n_items=5\.5: must be from 2 to 59", ld.short_form, truth, 5.5, seed=0)
    refused(ConfigError, "named twice", ld.short_form, truth, 5, chosen_on=["e1", "e2", "e2"], seed=0)
    refused(ConfigError, "n_items=60: must be from 2 to 59", ld.short_form, truth, 60, seed=0)
    refused(DataError, "to judge on", ld.short_form, truth, 10, chosen_on=list(truth.editions[:7]), seed=0)
    with pytest.raises(DataError, match="other intents"):
        ld.short_form(truth, 10, judge=ld.Surprisals(bits=truth.bits.iloc[::-1]), seed=0)
    holes = truth.bits.copy()
    holes.iloc[3] = holes.iloc[3].where(holes.columns == "e1")
    refused(DataError, "are missing", ld.short_form, ld.Surprisals(bits=holes), 10, seed=0)


def exchanged(seed):
    """Return two tables in which six rows of every edition were exchanged, and which cells these are."""
    rng = np.random.default_rng(seed)
    truth = ld.simulate(300, 20, seed=seed).surprisals.bits
    numbers, faulty = truth.to_numpy().copy(), np.zeros(truth.shape, dtype=bool)
    for j in range(numbers.shape[1]):
        rows = rng.permutation(300)[:6]
        numbers[rows, j], faulty[rows, j] = numbers[np.roll(rows, 1), j], True
    tables = {
        name: ld.Surprisals(bits=pd.DataFrame(numbers * np.exp(rng.normal(0, 0.1, numbers.shape)), *truth.axes))
        for name in ("one", "other")
    }
    return tables, pd.DataFrame(faulty, *truth.axes)


@pytest.fixture(scope="module")
def damaged():
    """Return four such pairs of tables: what one has found depends much on which rows were exchanged."""
    return [exchanged(seed) for seed in range(4)]


def rightly(found, faulty):
    """Return which rows of what was found are outliers."""
    return [faulty.at[i, e] for i, e in zip(found["intent"], found["edition"], strict=True)]


def test_exchanged_cells_are_flagged_and_few_others(damaged):
    right, known = [], 0
    for tables, faulty in damaged:
        found = ld.flag_outliers(tables, q=0.1)
        assert len(found) == faulty.size
        right += rightly(found[found["flagged"]], faulty)
        known += faulty.to_numpy().sum()
    assert np.sum(right) > 0.15 * known  # most exchanged rows are about as long as those they were exchanged with
    assert np.mean(right) > 0.9


def test_two_models_order_cells_better_than_one(damaged):
    both, alone = [], []
    for tables, faulty in damaged:
        count = int(faulty.to_numpy().sum())
        both += rightly(ld.flag_outliers(tables).head(count), faulty)
        alone += rightly(ld.flag_outliers({"one": tables["one"], "same": tables["one"]}).head(count), faulty)
    assert np.mean(both) > np.mean(alone)


def noisy(rng, z, names="ab"):
    """Return tables of language models that add little to what is theirs together."""
    frame = pd.DataFrame(z).rename(index=str, columns="e{}".format)
    return {name: ld.Surprisals(bits=np.exp(frame + rng.normal(0, 0.05, z.shape))) for name in names}


@pytest.mark.parametrize("editions", [10, 20])
def test_tables_without_faults_have_flags_no_more_often_than_told(editions):
    flags = []
    for number in range(20):
        rng = np.random.default_rng([9, number])
        scale = np.exp(rng.uniform(-0.5, 0.5, editions))
        z = 5 + rng.normal(0, 0.6, (200, 1)) + 0.14 * scale * rng.normal(size=(200, editions))
        flags.append(ld.flag_outliers(noisy(rng, z))["flagged"].any())
    assert np.sum(flags) <= 4  # 5 % of 20 are 1; 5 or more happen once in 400


def test_cells_are_standard_normal_in_rows_and_columns_of_unequal_noise():
    rng, found = np.random.default_rng(10), []
    for _ in range(20):
        z = rng.normal(0, 0.6, (300, 1)) + np.exp(rng.uniform(-0.7, 0.7, 10)) * rng.normal(size=(300, 10))
        z[rng.random(z.shape) < 0.2] = np.nan
        found.append(_standardized(z, np.zeros(z.shape, dtype=bool))[1][~np.isnan(z)])
    for nominal, end in ((0.05, 1.95996), (0.01, 2.57583), (0.001, 3.29053)):
        cells = np.concatenate(found)
        # rows share a variance, so that cells are not independent: twice the binomial error, four times
        assert (np.abs(cells) > end).mean() == pytest.approx(nominal, abs=8 * np.sqrt(nominal / len(cells)))


def test_the_only_cell_of_an_intent_cannot_be_faulty():
    rng = np.random.default_rng(11)
    z = rng.normal(5, 0.6, (40, 1)) + rng.normal(0, 0.1, (40, 12))
    z[7, 1:] = np.nan
    found = ld.flag_outliers(noisy(rng, z))
    assert len(found) == 40 * 12 - 11
    row = found[found["intent"] == "7"]
    assert row[["score", "p"]].to_numpy().tolist() == [[0.0, 1.0]]


def test_tables_too_small_or_without_links_are_refused():
    rng = np.random.default_rng(12)
    z = rng.normal(5, 0.6, (40, 1)) + rng.normal(0, 0.1, (40, 12))
    refused(DataError, "at least 20 intents × 10 editions", ld.flag_outliers, noisy(rng, z[:, :9]))
    refused(DataError, "at least 20 intents × 10 editions", ld.flag_outliers, noisy(rng, z[:19]))
    z[3] = np.nan
    refused(DataError, r"1 intent\(s\) without any surprisal: '3'", ld.flag_outliers, noisy(rng, z))
    z[3], z[:20, :2], z[20:, 2:] = 5.0, np.nan, np.nan
    refused(DataError, r"2 edition\(s\) share no intent with the others.*'e0', 'e1'", ld.flag_outliers, noisy(rng, z))


def test_cells_need_two_tables_of_the_same_cells(damaged):
    tables, _ = damaged[0]
    refused(ConfigError, "two or more language models", ld.flag_outliers, {"one": tables["one"]})
    with pytest.raises(DataError, match="'other' has other"):
        ld.flag_outliers(tables | {"other": ld.Surprisals(bits=tables["one"].bits.iloc[1:])})
    refused(ConfigError, "q must be", ld.flag_outliers, tables, q=2)


# limma 3.54: squeezeVar(variances, df)
@pytest.mark.parametrize(
    ("freedom", "prior_freedom", "prior", "first"),
    [
        (np.full(10, 6.0), 1.231710893, 0.3571342262, [0.07742097617, 0.97347449600, 4.45812707310]),
        (
            np.array([6.0, 5, 4, 8, 6, 6, 3, 7, 6, 6]),
            1.217482187,
            0.3614122860,
            [0.07759118843, 0.95537274442, 4.14759691452],
        ),
    ],
)
def test_variances_are_those_of_limma(freedom, prior_freedom, prior, first):
    found = moderate_variances(SAMPLE_VARIANCES, freedom)
    assert found.prior_freedom == pytest.approx(prior_freedom, rel=SEARCH)
    assert found.prior == pytest.approx(prior, rel=SEARCH)
    np.testing.assert_allclose(found.variances[:3], first, rtol=SEARCH)


def test_variances_that_vary_no_more_than_samples_do_are_one():
    found = moderate_variances(np.array([0.9, 1.0, 1.1]), np.full(3, 5.0))
    assert np.isinf(found.prior_freedom)
    np.testing.assert_allclose(found.variances, 1.0)


def test_a_sample_without_freedom_takes_the_prior():
    found = moderate_variances(np.append(SAMPLE_VARIANCES, 0.0), np.append(np.full(10, 6.0), 0.0))
    assert found.variances[-1] == pytest.approx(found.prior)
    assert found.prior_freedom == pytest.approx(1.231710893, rel=SEARCH)

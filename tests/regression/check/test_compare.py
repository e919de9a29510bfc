"""Comparisons of fits, of totals and of folds."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import langdiff as ld
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from langdiff.regression import compare_folds
from langdiff.regression.check.fold_differences import _permute
from langdiff.regression.kernel.likelihood import ScaleFreeLikelihood
from langdiff.regression.kernel.two_way import solve_two_way
from langdiff.regression.variants import find_variant
from tests.helpers import refused

MONTE_CARLO = 0.02  # of a probability from 4,000 permutations: two and a half standard errors


@pytest.fixture(scope="module")
def bits():
    return ld.simulate(60, 4, seed=2).surprisals.bits


def noisier(bits):
    """The bits of a worse language model: more for the same text, and less noise, so that the likelihood is higher."""
    means = bits.mean(axis=1).to_numpy()[:, None] * np.exp(np.log(bits).mean() - np.log(bits).mean().mean()).to_numpy()
    return ld.Surprisals(bits=1.2 * means * (bits / means) ** 0.5, lm="worse")


def test_language_models_are_not_compared_by_their_likelihoods(bits):
    better, worse = ld.Surprisals(bits=bits, lm="better"), noisier(bits)
    assert worse.bits.sum().sum() > better.bits.sum().sum()
    fits = {"A": ld.fit(better), "B": ld.fit(worse)}
    assert fits["B"].log_likelihood > fits["A"].log_likelihood  # and yet it is the worse of the two
    message = (
        r"^fits 'A' and 'B' are of different tables \(of better, bits [0-9a-f]{8}, and of worse, bits [0-9a-f]{8}\)"
    )
    with pytest.raises(DataError, match=message) as caught:
        ld.compare(fits)
    assert "their likelihoods are not comparable; ld.table compares their difficulties" in str(caught.value)


def test_the_table_is_known_after_saving_and_with_any_name(bits, tmp_path):
    named = ld.Surprisals(bits=bits, lm="a|bits:00000000|b")
    ld.fit(named).save(tmp_path / "fit.json")
    table = ld.compare({"read": ld.read(tmp_path / "fit.json"), "1": ld.fit(bits, model="1")})
    assert table.loc["1", "log_likelihood"] == pytest.approx(ld.fit(bits, model="1").log_likelihood)


def test_restricted_fits_are_compared_by_the_maximum_of_the_full_likelihood(bits):
    for model in ("2", "2L", "2C"):
        restricted, full = ld.fit(bits, model=model, restricted=True), ld.fit(bits, model=model)
        assert restricted.log_likelihood == pytest.approx(full.log_likelihood, abs=1e-3)
        assert abs(restricted.sigma - full.sigma) > 0.01
        assert len(ld.compare({"one": restricted, "other": full})) == 2


def test_restricted_and_unrestricted_fits_with_random_intents_are_refused(bits):
    message = r"^restricted and unrestricted likelihoods of random intents do not compare: fit '1 \(2\)' is restricted"
    with pytest.raises(DataError, match=message):
        ld.compare([ld.fit(bits, model="1", intents="random", restricted=reml) for reml in (False, True)])


def test_grouped_fits_of_one_table_are_compared(bits):
    """Groups change the parameters, not the cells."""
    language = dict(zip(bits.columns, "aabb", strict=True))
    info = pd.DataFrame({"half": [0.0, 0, 1, 1]}, index=bits.columns)
    names = [ld.fit(bits, formula="half", edition_info=info), ld.fit(bits)]
    table = ld.compare(names)
    assert table["parameters"].diff().iloc[1] == 2
    refused(DataError, "different editions", ld.compare, [ld.fit(bits, groups=language), ld.fit(bits)])


def table_of(rng, *, editions=5, documents=100, size=10, folds=5, model_sd=0.0, document_sd=0.0, sigma=0.1):
    """Draw surprisals whose difficulties differ between folds, and which documents move."""
    document = np.repeat(np.arange(documents), size)
    fold = document % folds
    z = 4 + rng.normal(size=(len(document), 1)) + 0.1 * np.arange(editions)
    z = z + sigma * rng.normal(size=z.shape)
    z += document_sd * rng.normal(size=(documents, editions))[document]
    z += model_sd * rng.normal(size=(folds, editions))[fold]
    names = [f"i{i}" for i in range(len(document))]
    bits = pd.DataFrame(np.exp(z), index=names, columns=[f"e{j}" for j in range(editions)])
    info = pd.DataFrame({"document": document.astype(str), "fold": (fold + 1).astype(str)}, index=names)
    return ld.Surprisals(bits=bits, intent_info=info)


def test_with_two_editions_the_test_is_an_analysis_of_variance():
    rng = np.random.default_rng(3)
    table = table_of(rng, editions=2, documents=40, model_sd=0.01, size=5)
    found = compare_folds(table, clusters=None, n_permutations=4000, seed=1, model="1")
    ratio = np.log(table.bits["e1"] / table.bits["e0"])
    expected = stats.f_oneway(*(ratio[table.intent_info["fold"] == fold] for fold in found.by_fold)).pvalue
    assert 0.01 < expected < 0.8
    assert found.p_value == pytest.approx(expected, abs=MONTE_CARLO)
    assert found.p_values.tolist() == [found.p_value] * 2


def test_documents_count_as_wholes_in_the_test():
    """Of documents of equal size, an analysis of variance of their means."""
    rng = np.random.default_rng(4)
    table = table_of(rng, editions=2, documents=60, document_sd=0.05)
    found = compare_folds(table, clusters="document", n_permutations=4000, seed=1, model="1")
    info = table.intent_info.assign(ratio=np.log(table.bits["e1"] / table.bits["e0"]))
    means = info.groupby("document").agg({"ratio": "mean", "fold": "first"})
    expected = stats.f_oneway(*(means["ratio"][means["fold"] == fold] for fold in found.by_fold)).pvalue
    assert found.p_value == pytest.approx(expected, abs=MONTE_CARLO)


def test_the_statistic_is_the_one_in_the_docstring():
    rng = np.random.default_rng(0)
    residuals, cells = rng.normal(size=(30, 3)), (rng.random((30, 3)) < 0.8).astype(float)
    cluster, fold = np.arange(30) // 3, np.arange(30) // 3 % 4
    residuals *= cells
    observed, permuted = _permute(residuals, cells, cluster, fold, 250, rng)
    by_hand = [sum(residuals[fold == f, j].sum() ** 2 / cells[fold == f, j].sum() for f in range(4)) for j in range(3)]
    np.testing.assert_allclose(observed, by_hand)
    assert permuted.shape == (250, 3)


@pytest.mark.parametrize("document_sd", [0.0, 0.05])
def test_the_test_is_as_often_significant_as_it_says(document_sd):
    """Two hundred tables whose models do not differ: p is uniform if whole documents are permuted."""
    rng = np.random.default_rng(5)
    p = []
    for _ in range(200):
        table = table_of(rng, documents=50, size=4, document_sd=document_sd)
        z = np.log(table.bits.to_numpy())
        residuals = z - z.mean(axis=1, keepdims=True)
        residuals -= residuals.mean(axis=0)
        codes = [pd.factorize(table.intent_info[name])[0] for name in ("document", "fold")]
        observed, permuted = _permute(residuals, np.ones_like(z), *codes, 199, rng)
        p.append((1 + (permuted.sum(axis=1) >= observed.sum()).sum()) / 200)
    assert stats.kstest(p, "uniform").pvalue > 0.01
    assert np.mean(np.array(p) <= 0.05) < 0.1


@pytest.mark.slow
def test_the_spread_between_models_is_found_and_enters_the_errors():
    rng = np.random.default_rng(6)
    alike, differing = [
        [
            compare_folds(table_of(rng, model_sd=sd), clusters="document", n_permutations=99, seed=1, model="1")
            for _ in range(10)
        ]
        for sd in (0.0, 0.03)
    ]
    found = np.sqrt(np.mean([one.model_sd**2 for one in differing]))
    assert found == pytest.approx(0.03, rel=0.25)
    assert max(one.p_value for one in differing) == 0.01
    assert np.mean([one.p_value < 0.05 for one in alike]) < 0.3
    assert np.sqrt(np.mean([one.model_sd**2 for one in alike])) < 0.006
    one = differing[0]
    added = one.effects.std_error**2 - one.overall.std_error**2
    np.testing.assert_allclose(added, one.model_sd**2 / 5 * (1 - 1 / 5))
    assert "fold-models:5" in one.effects.signature
    assert ld.rank_probabilities(one.effects, n_draws=99, seed=0).shape == (5, 5)


def test_a_fold_is_the_fit_of_its_intents():
    table = table_of(np.random.default_rng(7))
    found = compare_folds(table, clusters="document", seed=1, n_permutations=99)
    assert found.to_frame().index[0] == "e4"
    one = ld.fit(table.sel(intents=table.intents[table.intent_info["fold"] == "2"]), clusters="document")
    pd.testing.assert_series_equal(found.by_fold["2"], one.difficulty, check_names=False)
    pd.testing.assert_series_equal(found.std_errors["2"], one.std_error, check_names=False)
    assert f"p = {found.p_value:.3f} (99 permutations)" in found.summary()


def test_what_cannot_be_compared():
    table = table_of(np.random.default_rng(8), documents=20, size=5)
    refused(ConfigError, "cannot take groups", compare_folds, table, groups={"e0": "a"}, seed=1)
    refused(ConfigError, "folds='part': intent_info has no such column", compare_folds, table, folds="part", seed=1)
    with pytest.raises(DataError, match=r"20 of 20 clusters \(document\) are in several folds"):
        compare_folds(table, folds=pd.Series(np.arange(100) % 2, index=table.intents), clusters="document", seed=1)
    with pytest.raises(DataError, match=r"1 fold\(s\) and 5 edition\(s\)"):
        compare_folds(table, folds=pd.Series(1, index=table.intents), seed=1)
    refused(ConfigError, "seed", compare_folds, table, seed=None)
    with pytest.warns(LangdiffWarning, match="in single folds: standard errors from 4 clusters") as caught:
        compare_folds(table, clusters="document", seed=1, n_permutations=99)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_model_2_is_compared_by_its_full_likelihood_where_cells_are_missing():
    bits = ld.simulate(200, 4, seed=2).surprisals.bits
    missing = bits.mask(np.random.default_rng(0).random(bits.shape) < 0.2)
    fits = {model: ld.fit(missing, model=model) for model in ("1", "2", "2L")}
    table = ld.compare(fits | {"full": ld.fit(missing, restricted=False)})
    assert table["restricted"].tolist() == [False, True, False, False]
    # the search from restricted estimates may end at a better mode of a few intents, not at a worse one
    assert table.loc["2", "log_likelihood"] >= table.loc["full", "log_likelihood"] - 1e-6
    z = np.log(missing.to_numpy())
    from_restricted = find_variant("2").estimate(solve_two_way(z), restricted=True, with_covariance=False)
    full = ScaleFreeLikelihood(solve_two_way(z))
    at_estimates = -full.intent_values(from_restricted.sizes, from_restricted.c).sum()
    assert table.loc["2", "log_likelihood"] > at_estimates + 1


def test_fits_with_and_without_one_size_per_intent_are_refused(bits):
    with pytest.raises(DataError, match=r"^likelihoods of fits 'own', with the sizes .* and 'common', with one size"):
        ld.compare({"common": ld.fit(bits), "own": ld.fit(bits, dispersion="edition")})
    both = ld.compare({"2": ld.fit(bits, intents="random"), "1": ld.fit(bits, model="1", intents="random")})
    assert len(both) == 2

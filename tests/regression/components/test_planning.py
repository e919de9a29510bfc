"""Numbers of intents against noncentral t, simulated studies and pilots computed by hand."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, nct, t

import langdiff as ld
from langdiff.errors import ConfigError
from langdiff.regression.kernel.two_way import information_on_pairs
from langdiff.regression.seeds import combine_seeds
from tests.helpers import refused

NO_NUMBER = np.inf
QUADRATURE = 1e-6  # of an integral with 200 nodes
DOCUMENTS = {"per_document": 8, "icc": 0.1}
SEEDS = {"seed_sd": 0.006, "n_seeds": 3, "n_editions": 5}
TABLE = {  # documents with which a difference in percent is found, noise .17, power .8
    1: (4584, 976, NO_NUMBER, NO_NUMBER),
    2: (1159, 248, 2534, 540),
    5: (193, 43, 210, 46),
    10: (52, 13, 53, 13),
}


@pytest.mark.parametrize("percent", TABLE)
def test_numbers_of_documents(percent):
    settings = ({}, DOCUMENTS, SEEDS, DOCUMENTS | SEEDS)
    found = [ld.plan(percent, noise=0.17, **each) for each in settings]
    assert tuple(each.n_documents for each in found) == TABLE[percent]
    assert [each.n_intents for each in found] == [
        number * each.get("per_document", 1) for number, each in zip(TABLE[percent], settings, strict=True)
    ]


def test_the_power_is_that_of_noncentral_t_and_the_number_is_the_smallest():
    found = ld.plan(5, noise=0.17, **DOCUMENTS)
    for count in (42, 43, 60):
        error = np.sqrt(2 * 0.17**2 * (1 + 7 * 0.1) / (8 * count))
        critical, away = t.ppf(0.975, count - 1), np.log(1.05) / error
        exact = nct.sf(critical, count - 1, away) + nct.cdf(-critical, count - 1, away)
        assert found.power(count) == pytest.approx(exact, abs=QUADRATURE)
    assert found.power(42) < 0.8 <= found.power(43)


def test_seeds_that_leave_too_much_error_are_named_with_the_number_that_would_do():
    found = ld.plan(1, noise=0.17, **SEEDS)
    assert np.isinf(found.n_intents)
    assert found.to_frame().loc[1, "seeds_needed"] == 7
    assert found.summary().endswith("1 %: no number: seeds alone leave an error of 0.0049; 7 seeds would do.")
    more = {name: ld.plan(1, noise=0.17, **(SEEDS | {"n_seeds": name})).n_documents for name in (6, 7)}
    assert np.isinf(more[6])
    assert np.isfinite(more[7])
    hopeless = ld.plan(1, noise=0.17, seed_sd=5, n_seeds=3, n_editions=5)
    assert hopeless.summary().endswith("no number of seeds would do.")


@pytest.mark.parametrize(("n_documents", "per_document", "icc", "percent"), [(193, 1, 0, 5), (13, 8, 0.1, 10)])
def test_simulated_studies_find_the_difference_as_often_as_told(n_documents, per_document, icc, percent):
    rng, studies, variance = np.random.default_rng(1), 4000, 2 * 0.17**2
    own = np.sqrt(variance * (1 - icc) / per_document) * rng.standard_normal((studies, n_documents))
    shared = np.sqrt(variance * icc) * rng.standard_normal((studies, n_documents))
    differences = np.log1p(percent / 100) + shared + own
    ratio = differences.mean(axis=1) / (differences.std(axis=1, ddof=1) / np.sqrt(n_documents))
    share = (np.abs(ratio) > t.ppf(0.975, n_documents - 1)).mean()
    told = ld.plan(percent, noise=0.17, per_document=per_document, icc=icc).power(n_documents)
    assert share == pytest.approx(told, abs=4 * np.sqrt(0.16 / studies))


def test_all_pairs_take_the_critical_value_of_the_largest_difference():
    one = ld.plan(5, noise=0.17)
    of_two, of_four, of_eight = (ld.plan(5, noise=0.17, all_pairs=True, n_editions=number) for number in (2, 4, 8))
    assert of_two.n_intents == one.n_intents
    assert one.n_intents < of_four.n_intents < of_eight.n_intents
    rng, count, percent = np.random.default_rng(2), 25, 12
    cells = rng.normal(0, 0.17, (6000, count, 4))
    first, second = np.triu_indices(4, 1)
    differences = cells[:, :, first] - cells[:, :, second]
    error = differences.std(axis=1, ddof=1) / np.sqrt(count)
    critical = np.quantile(np.abs(differences.mean(axis=1) / error).max(axis=1), 0.95)
    share = (np.abs((differences.mean(axis=1) + np.log1p(percent / 100)) / error) > critical).mean()
    assert share == pytest.approx(of_four.power(count, percent), abs=0.02)
    assert share < one.power(count, percent) - 0.1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"percent": 0}, "percent must be positive, got 0"),
        ({"percent": np.nan}, "percent must be positive, got nan"),
        ({"power": 0.05}, r"power must be between 0\.05, which chance reaches, and 1, got 0\.05"),
        ({"power": 0.1, "level": 0.9}, r"power must be between 0\.1"),
        ({"power": 1}, "power must be between"),
        ({"icc": 1}, "icc must be from 0 to below 1, got 1"),
        ({"icc": -0.1}, "icc must be from 0 to below 1"),
        ({"per_document": 0.5}, r"per_document must be at least 1, got 0\.5"),
        ({"level": 1}, r"level must be between 0\.5 and 1"),
        ({"seed_sd": -1}, "seed_sd must be 0 or positive"),
        ({"seed_sd": 0.1}, r"seed_sd=0\.1 needs n_seeds=2 or more"),
        ({"n_editions": 1}, "n_editions must be at least 2"),
        ({"noise": 0}, "noise must be positive, got 0"),
        ({"noise": None}, "a plan needs pilot"),
        ({"pilot": ld.simulate(40, 3, seed=1).surprisals}, "and not both"),
    ],
)
def test_numbers_out_of_range_are_refused(given, words):
    refused(ConfigError, words, ld.plan, **{"percent": 5, "noise": 0.17} | given)
    with pytest.raises(ConfigError, match=r"n_documents must be above 1, got 1"):
        ld.plan(5, noise=0.17).power(1)


def documents(rng, sizes, icc=0.2, editions=4):
    """Return a table of documents whose intents share a part of the noise."""
    of = np.repeat(np.arange(len(sizes)), sizes)
    noise = np.sqrt(icc) * rng.standard_normal((len(sizes), editions))[of]
    noise = 0.15 * (noise + np.sqrt(1 - icc) * rng.standard_normal((len(of), editions)))
    z = 5 + rng.normal(0, 0.5, (len(of), 1)) + noise
    names = [f"doc{number}_s{place}" for place, number in enumerate(of)]
    return ld.Surprisals(bits=pd.DataFrame(np.exp(z), names, list("abcdefgh")[:editions]))


def by_hand(fit):
    """Return I times the squared error of every pair of editions."""
    names = list(fit.difficulty.index)
    pairs = [fit.contrast(one, other).std_error for i, one in enumerate(names) for other in names[:i]]
    return len(fit.intent_size) * np.square(pairs)


def test_a_pilot_of_independent_intents_by_hand():
    fit = ld.fit(ld.simulate(120, 4, seed=3).surprisals, clusters=None)
    found, variances = ld.plan(5, fit), by_hand(fit)
    assert found.variance == pytest.approx(np.median(variances), rel=1e-10)
    assert (found.per_document, found.icc) == (1, 0)
    row, freedom = found.to_frame().loc[5], np.nanmedian(fit.degrees_of_freedom.to_numpy()[np.triu_indices(4, 1)])
    same = [
        ld.plan(5, noise=np.sqrt(variance / 2)).n_documents
        for variance in (
            np.median(variances),
            np.median(variances) * freedom / chi2.ppf(0.975, freedom),
            np.median(variances) * freedom / chi2.ppf(0.025, freedom),
            variances.max(),
        )
    ]
    assert row[["n_documents", "n_documents_low", "n_documents_high", "n_documents_worst"]].tolist() == same


def test_a_pilot_of_documents_by_hand():
    sizes = np.array([4, 12, 8, 6, 10] * 6)
    table = documents(np.random.default_rng(4), sizes)
    fit = ld.fit(table, errors=ld.Sandwich(), model="1")
    found, mean_size = ld.plan(5, fit), (sizes @ sizes) / sizes.sum()
    assert fit.errors.n_clusters == 30
    assert fit.errors.design_effect > 1.5
    assert found.per_document == pytest.approx(mean_size)
    assert found.icc == pytest.approx((fit.errors.design_effect - 1) / (mean_size - 1))
    assert found.variance == pytest.approx(np.median(by_hand(fit)) / fit.errors.design_effect)
    of_table = ld.plan(5, table)
    plain, clustered = (by_hand(ld.fit(table, errors=ld.Sandwich(), clusters=c)) for c in (None, "auto"))
    assert of_table.variance == pytest.approx(np.median(plain))
    assert of_table.icc == pytest.approx(
        np.median(clustered / plain - 1) / (mean_size - 1), rel=0.1
    )  # rows weigh alike
    assert np.isnan(of_table.to_frame().loc[5, "n_documents_incomplete"])
    assert ld.plan(5, table, clusters=None).per_document == 1
    longer = ld.plan(5, table, per_document=20)
    assert (longer.per_document, longer.icc) == (20, of_table.icc)
    refused(ConfigError, "clusters are those of a table", ld.plan, 5, fit, clusters="document")


@pytest.mark.parametrize(("share", "clustered"), [(0.4, False), (0.4, True), (0.3, True)])
def test_holes_of_a_pilot_do_not_change_the_plan_of_a_complete_table(share, clustered):
    """The same intents with and without holes; the other number is that of a table with such holes."""
    rng = np.random.default_rng(8)
    table = documents(rng, [8] * 60, icc=0.1, editions=5)
    bits = table.bits.mask(rng.random(table.bits.shape) < share)
    pilot = ld.Surprisals(bits=bits[bits.notna().sum(axis=1) > 1])
    clusters = "auto" if clustered else None
    whole, found = ld.plan(5, table, clusters=clusters), ld.plan(5, pilot, clusters=clusters)
    assert found.variance == pytest.approx(whole.variance, rel=0.15)
    assert found.n_documents == pytest.approx(whole.n_documents, rel=0.25)
    row = found.to_frame().loc[5]
    assert row["n_documents_incomplete"] > row["n_documents"] * (1.1 if clustered else 1.5)


def test_replicates_as_a_pilot_give_the_variance_between_seeds():
    base, rng = ld.simulate(150, 4, seed=5).surprisals, np.random.default_rng(6)
    tables = [ld.Surprisals(bits=base.bits * np.exp(rng.normal(0, 0.02, 4))) for _ in range(3)]
    pilot = SimpleNamespace(surprisals=dict(enumerate(tables)), combined=combine_seeds(tables, ld.fit))
    found = ld.plan(5, pilot, n_editions=4)
    difficulties = pd.DataFrame([ld.fit(table).difficulty for table in tables])
    deviations = difficulties.sub(difficulties.mean(axis=1), axis=0)
    deviations -= deviations.mean()
    assert found.seed_variance == pytest.approx((deviations.to_numpy() ** 2).sum() / (2 * 3), rel=1e-9)
    assert found.n_seeds == 3
    assert ld.plan(5, pilot, n_seeds=5, n_editions=4).n_seeds == 5
    assert ld.plan(5, pilot, seed_sd=0).seed_variance == 0


def test_labels_of_the_curves_of_power_do_not_overlap():
    for percent in (5, 1.1, 2.2):
        axes = ld.plan(percent, noise=0.17, **SEEDS).plot()
        axes.figure.canvas.draw()
        boxes = [label.get_window_extent() for label in axes.texts]
        assert len(boxes) >= 4
        assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])


BYTES = [[100, 120, 90], [210, 230, 200], [50, 66, 47], [400, 430, 410], [80, 100, 70], [160, 204, 153]]


def test_information_on_pairs_of_an_incomplete_table_gives_the_worked_plan():
    """Variances by normal equations with a dummy for each intent and edition; CR1 over rows and over pairs of them."""
    z = np.log(BYTES)
    z[[1, 3, 4], [2, 0, 1]] = np.nan
    observed, unit = ~np.isnan(z), np.array([0, 0, 1, 1, 2, 2])
    i, j = np.nonzero(observed)
    dummies = np.column_stack([np.eye(6)[i], np.eye(3)[j][:, 1:]])
    inverse = np.linalg.inv(dummies.T @ dummies)
    scores = dummies * (z[observed] - dummies @ (inverse @ dummies.T @ z[observed]))[:, None]

    def of_pairs(cluster):
        sums = np.array([scores[cluster == g].sum(axis=0) for g in np.unique(cluster)])
        v = np.pad((inverse @ sums.T @ sums @ inverse * len(sums) / (len(sums) - 1))[6:, 6:], ((1, 0), (1, 0)))
        return np.array([v[a, a] + v[b, b] - 2 * v[a, b] for a, b in ((0, 1), (0, 2), (1, 2))])

    found = information_on_pairs(observed, np.ones(6), unit)
    assert found.intents / 6 == pytest.approx([0.75] * 3, abs=1e-12)
    assert found.per_cluster == pytest.approx([1.58333333] * 3, abs=1e-8)
    assert found.intents * of_pairs(i) == pytest.approx([0.0091046259, 0.0043544666, 0.0143613139], abs=1e-10)
    effects = of_pairs(unit[i]) / of_pairs(i)
    assert effects == pytest.approx([0.21729098, 1.33504441, 0.34017823], abs=1e-8)

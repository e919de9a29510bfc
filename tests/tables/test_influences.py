"""The floor of inference: worked numbers, the rule against brute force, and what changes nothing."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import t as student

import langdiff as ld
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from langdiff.tables.effects import Effects
from langdiff.tables.influences import Influence, Units, joint_test
from langdiff.tables.rule import freedom_of, shares, sign_flips, t_interval

DIGITS = {"rtol": 0, "atol": 6e-11}
GOLD = np.array([10.0, 20, 5, 40, 8, 17])
RIGHT = np.array([[7.0, 15, 3, 30, 6, 10], [6, 12, 4, 25, 5, 11]]).T
SHARES = shares("f1")
DOCUMENTS = Units("document", pd.Index(list("abcdef")))


def f1():
    """Return F1 of two parsers on six documents whose gold and predicted items are as many."""
    influence = Influence.of_ratio(2 * RIGHT, 2 * GOLD, DOCUMENTS)
    return Effects(estimate=pd.Series(RIGHT.sum(axis=0) / GOLD.sum(), ["A", "B"]), influence=influence, scale=SHARES)


def flipped(parts):
    """Return how many of all sign vectors give a statistic as large as the observed one, by a plain loop."""
    observed, count = float(np.square(parts.sum(axis=0)).sum()), 0
    for signs in itertools.product((1, -1), repeat=len(parts)):
        total = sum(sign * row for sign, row in zip(signs, parts, strict=True))
        count += float(np.square(total).sum()) >= observed * (1 - 1e-12)
    return count


def test_f1_of_two_parsers_has_all_worked_digits():
    effects = f1()
    contrast, ratio = effects.contrast("A", "B"), effects.ratio("A", "B")
    assert_allclose(effects.to_frame().loc["A", ["low", "high"]], [0.6008128737, 0.7992983594], **DIGITS)
    difference = effects.influence.values @ [1, -1]
    assert_allclose(1e4 * difference, [20, 140, -140, 180, 36, -236], atol=1e-10)
    found = [contrast.std_error, contrast.degrees_of_freedom, contrast.low, contrast.high, contrast.p_value]
    assert_allclose(found, [0.0409985772, 3.2121339344, -0.0457339608, 0.2057339608, 0.1400003409], **DIGITS)
    assert_allclose(np.exp([ratio.estimate, ratio.low, ratio.high]), [1.12698413, 0.93923232, 1.35226738], atol=6e-9)
    assert ratio.p_value == pytest.approx(0.13168421, abs=6e-9)
    assert effects.pairs().frame["p"].iloc[0] == effects.test().p == pytest.approx(contrast.p_value, abs=1e-12)
    cr1 = float(np.sqrt(6 / 5 * (difference**2).sum()))
    assert 2 * student.sf(0.08 / cr1, 5) == pytest.approx(0.0977, abs=6e-5)
    parts = effects.influence.plain + effects.influence.share[:, None] * effects.estimate.to_numpy()
    parts = parts - parts.mean(axis=1, keepdims=True)
    assert flipped(parts) == 22
    assert sign_flips(parts, list("abcdef"))[1] == 22 / 64


def test_macro_means_are_those_of_a_t_test():
    ratio = RIGHT / GOLD[:, None]
    effects = Effects(
        estimate=pd.Series(ratio.mean(axis=0), ["A", "B"]), influence=Influence.of_mean(ratio, DOCUMENTS), scale=SHARES
    )
    found = effects.contrast("A", "B")
    values = [found.estimate, found.std_error, found.p_value]
    assert_allclose(values, [0.0401960784, 0.0570134076, 0.5122704870], **DIGITS)
    assert found.degrees_of_freedom == pytest.approx(5)


def test_the_rule_is_that_of_dense_matrices():
    """The variance of a ratio is a quadratic form of the units' ratios, whose eigenvalues give ν."""
    share = GOLD / GOLD.sum()
    residual = np.eye(6) - np.outer(np.ones(6), share)
    root = np.diag(share / np.sqrt(1 - share))
    values = np.linalg.eigvalsh(root @ residual @ np.diag(1 / GOLD) @ residual.T @ root)
    assert freedom_of(share) == pytest.approx(values.sum() ** 2 / (values**2).sum(), rel=1e-12)
    ratio = RIGHT[:, 0] / GOLD
    found = Influence.of_ratio(RIGHT[:, :1], GOLD, DOCUMENTS).covariance[0, 0]
    assert found == pytest.approx(float(np.sum((root @ residual @ ratio) ** 2)), rel=1e-12)


def test_shares_of_none_or_all_have_wilsons_interval():
    influence = Influence.of_ratio(np.outer(GOLD, [0.0, 1.0]), GOLD, DOCUMENTS)
    frame = Effects(estimate=pd.Series([0.0, 1.0], ["A", "B"]), influence=influence, scale=SHARES).to_frame()
    trials, z = 1 / np.sum((GOLD / 100) ** 2), student.ppf(0.975, np.inf)
    assert frame.loc["B", ["low", "high"]].tolist() == pytest.approx([trials / (trials + z**2), 1])
    assert frame.loc["A", ["low", "high"]].tolist() == pytest.approx([0, z**2 / (trials + z**2)])
    assert t_interval(0.5, 0.1, 9, ends="log") == pytest.approx(0.5 * np.exp(np.array([-1, 1]) * 0.2 * 2.262157163))


def test_strata_are_taken_as_they_are():
    """Means of two strata have the errors of a stratified sample, and Satterthwaite's degrees of freedom."""
    values, strata = np.random.default_rng(2).normal(size=9), np.array([0, 0, 0, 0, 1, 1, 1, 1, 1])
    units = Units("chapter", pd.RangeIndex(9).map(str), strata=strata)
    found = Influence.of_mean(values[:, None], units)
    parts = [(values[strata == s].var(ddof=1) / n * (n / 9) ** 2, n - 1) for s, n in ((0, 4), (1, 5))]
    variance = sum(part for part, _ in parts)
    assert found.covariance[0, 0] == pytest.approx(variance)
    nu = variance**2 / sum(part**2 / own for part, own in parts)
    assert found.freedom_of_pairs[0, 0] == pytest.approx(nu)


def test_differences_of_results_with_other_units():
    """A unit that one result lacks has no influence there, so that the errors are those of two means."""
    values = np.random.default_rng(3).normal(size=(8, 2))
    names = pd.Index([f"d{k}" for k in range(8)])
    one = Influence.of_mean(values[:6, :1], Units("document", names[:6]))
    two = Influence.of_mean(values[2:, 1:], Units("document", names[2:]))
    rows = np.zeros((8, 2))
    rows[:6, 0], rows[2:, 1] = one.values[:, 0], two.values[:, 0]
    share = (np.r_[one.share, 0, 0] + np.r_[0, 0, two.share]) / 2
    found = one.minus(two)
    assert_allclose(found.covariance[0, 0], np.sum((rows @ [1, -1]) ** 2 / (1 - share)))
    stacked = one.stack(two)
    assert_allclose(stacked.covariance, rows.T @ rows * 6 / 5)  # as many units behind each mean
    with pytest.raises(ConfigError, match="errors by document, the other by sentence"):
        one.minus(Influence.of_mean(values[:, :1], Units("sentence", names)))


@pytest.mark.parametrize(
    ("share", "words"),
    [
        ([1.0, 0.0], "Independent units: one document: errors say nothing of others."),
        ([0.5, 0.5], "Independent units: 2 documents (from names)."),
        (
            [0.8, 0.1, 0.1],
            "Independent units: 3 documents (from names), which count as 2.2 equal ones; the largest has 80 %.",
        ),
    ],
)
def test_the_sentence(share, words):
    units = Units("document", pd.Index(list("abc")[: len(share)]), "from names")
    found = Influence(np.array([[0.1], [-0.1], [0.0]])[: len(share)] * (share[1] > 0), np.array(share), units)
    assert found.words == words
    with pytest.warns(LangdiffWarning, match="Few units: intervals are long and hang on single documents"):
        found.warn_of_few()
    known = Effects(estimate=pd.Series([0.1], ["x"]), influence=found).std_error.notna().all()
    assert known == (share[1] > 0)


def test_what_is_no_number_is_refused():
    with pytest.raises(DataError, match="influences of document 'b' are not finite"):
        Influence(np.array([[0.1], [np.nan]]), np.array([0.5, 0.5]), Units("document", pd.Index(["a", "b"])))


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1), units=st.integers(8, 60), count=st.integers(3, 7), wide=st.booleans(),
    drawn=st.booleans(),
)  # fmt: skip
def test_neither_order_nor_names_change_anything(seed, units, count, wide, drawn):
    """Adjusted p, rank sets and joint p are equal to 1e-12 in another order of units and effects, under other names."""
    rng = np.random.default_rng(seed)
    share = rng.gamma(1, size=(units, count) if wide else units) + 0.01
    share = share / share.sum(axis=0)
    values = rng.normal(0, 0.1, (units, count)) * (share if wide else share[:, None])
    values -= share * values.sum(axis=0) if wide else share[:, None] * values.sum(axis=0)
    estimate = rng.normal(0, 0.03, count)
    root = rng.normal(size=(count, count))
    shape = root @ root.T if drawn else None

    def found(rows, columns, prefix):
        names = pd.Index([f"{prefix}{k}" for k in rng.permutation(units)])
        part = share[rows][:, columns] if wide else share[rows]
        influence = Influence(
            values[rows][:, columns],
            part,
            Units("unit", names),
            shape=None if shape is None else shape[np.ix_(columns, columns)],
        )
        titles = [f"{prefix}{(7 * k + len(prefix)) % 11}" for k in columns]
        return titles, Effects(estimate=pd.Series(estimate[columns], titles), influence=influence)

    one, effects = found(np.arange(units), np.arange(count), "a")
    columns = rng.permutation(count)
    two, other = found(rng.permutation(units), columns, "zz")
    again = dict(zip(two, [one[k] for k in columns], strict=True))
    assert other.test().p == pytest.approx(effects.test().p, abs=1e-12)
    first, second = effects.pairs(), other.pairs()
    for frame in (second.frame, second.ranks):
        frame.index = frame.rename(index=again).index
    assert_allclose(second.frame["p_adjusted"].loc[first.frame.index], first.frame["p_adjusted"], atol=1e-12)
    pd.testing.assert_frame_equal(second.ranks.loc[first.ranks.index], first.ranks)


@pytest.mark.parametrize("units", [8, 12, 30])
def test_sign_flips_keep_their_level(units):
    """Of three equal means of log-normal units, rejections at 5 % are at most what chance allows (300 tables)."""
    rng, rejected, tables = np.random.default_rng(units), 0, 300
    for _ in range(tables):
        sizes = np.exp(rng.normal(0, 1, units))
        values = rng.normal(0, 1, (units, 3)) * sizes[:, None]
        influence = Influence.of_ratio(values, sizes, Units("unit", pd.RangeIndex(units).map(str)))
        estimate = values.sum(axis=0) / sizes.sum()
        centred = influence.pick(np.arange(3), np.full(3, 1 / 3))
        rejected += joint_test(estimate - estimate.mean(), centred, 2).p <= 0.05
    assert rejected / tables <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / tables)


def document_table(rng, rows=200, documents=10):
    """Return bits of five editions whose documents move each by itself, with the document of each row."""
    document = np.sort(rng.integers(0, documents, rows))
    moved = rng.normal(0, 0.05, (documents, 5))[document]
    bits = np.exp(rng.normal(4.8, 0.6, (rows, 1)) + np.linspace(-0.03, 0.03, 5) + moved)
    return bits * np.exp(rng.normal(0, 0.17, (rows, 5))), document


def surprisals(bits, document, intents, editions, prefix):
    info = pd.DataFrame({"document": [f"{prefix}{k}" for k in document]}, intents)
    return ld.Surprisals(bits=pd.DataFrame(bits, intents, editions), intent_info=info)


@pytest.mark.parametrize(("seed", "documents"), [(0, 10), (1, 60), (2, 7)])
def test_order_and_names_of_rows_editions_and_documents_change_no_fit(seed, documents):
    rng = np.random.default_rng(seed)
    bits, document = document_table(rng, documents=documents)
    if seed:
        bits[rng.random(bits.shape) < 0.1] = np.nan
    rows, columns, renumbered = rng.permutation(200), rng.permutation(5), rng.permutation(documents)
    names = np.array(["zulu", "x", "eng", "qq", "m"])
    one = ld.fit(surprisals(bits, document, [f"r{k}" for k in range(200)], names, "d"))
    moved = bits[np.ix_(rows, columns)]
    two = ld.fit(surprisals(moved, renumbered[document[rows]], [f"t{k}" for k in rows], names[columns[::-1]], "u"))
    new = dict(zip(names[columns[::-1]], names[columns], strict=True))
    pairs = [fit.pairs() for fit in (one, two)]
    p = [{frozenset(key): value for key, value in each.frame["p_adjusted"].items()} for each in pairs]
    again = {frozenset(new[name] for name in key): value for key, value in p[1].items()}
    assert all(again[key] == pytest.approx(value, abs=1e-12) for key, value in p[0].items())
    pd.testing.assert_frame_equal(pairs[1].ranks.rename(index=new).loc[pairs[0].ranks.index], pairs[0].ranks)
    assert two.effects.test().p == pytest.approx(one.effects.test().p, abs=1e-12)
    assert two.audit.noise.p_value == pytest.approx(one.audit.noise.p_value, abs=1e-12)


def test_differences_of_two_fits_have_the_errors_of_differences_of_logs():
    """In a complete table of equal documents Model 1 is the mean of logs, and what the fits share cancels."""
    rng, document = np.random.default_rng(4), np.repeat(np.arange(8), 10)
    shared = rng.normal(0, 0.2, (80, 3))
    bits = [np.exp(rng.normal(4.8, 0.6, (80, 1)) + shared + rng.normal(0, 0.02, (80, 3))) for _ in range(2)]
    one, two = (
        ld.fit(surprisals(each, document, range(80), list("abc"), "d"), model="1", dispersion="common").effects
        for each in bits
    )
    found = one.minus(two).contrast("a", "b")
    apart = np.log(bits[0]) - np.log(bits[1])
    of_documents = (apart[:, 0] - apart[:, 1]).reshape(8, 10).mean(axis=1)
    assert found.estimate == pytest.approx(of_documents.mean())
    assert found.std_error == pytest.approx(of_documents.std(ddof=1) / np.sqrt(8))
    assert found.degrees_of_freedom == pytest.approx(7)
    assert found.std_error < one.contrast("a", "b").std_error / 3
    with pytest.raises(ConfigError, match="make both with the same clusters"):
        one.minus(ld.fit(bits[1], model="1", clusters=None).effects.linear(np.eye(3), pd.Index(list("abc")), one.scale))

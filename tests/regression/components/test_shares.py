"""Shares of difficulty against mean squares, sums over intents written out, and simulated truth."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, logit
from scipy.stats import t as student

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.regression.components.shares import Cells

LANGUAGES = [f"l{j}" for j in range(12)]
NAMES = {name: name for name in LANGUAGES}


def factorial(rng, corpora=3, lms=2, *, own=0.05, corpus=0.04, lm=0.02, rest=0.005):
    """Return ln bits of languages, shape (L, C, M)."""
    count = len(LANGUAGES)
    return (
        rng.normal(0, own, (count, 1, 1))
        + rng.normal(0, corpus, (count, corpora, 1))
        + rng.normal(0, lm, (count, 1, lms))
        + rng.normal(0, rest, (count, corpora, lms))
    )


def as_series(d):
    """Return one table without intents per cell, and the facets."""
    tables, rows = {}, {}
    for c, m in product(range(d.shape[1]), range(d.shape[2])):
        tables[f"{c}/{m}"] = pd.Series(np.exp(8 + d[:, c, m]), LANGUAGES)
        rows[f"{c}/{m}"] = {"corpus": f"c{c}", "lm": f"m{m}"}
    return tables, pd.DataFrame.from_dict(rows, orient="index")


def with_intents(rng, own, corpora=("a", "b"), lms=("x", "y"), intents=40, noise=0.3, documents=1):
    """Return tables whose language models share the noise of test intents."""
    tables, rows = {}, {}
    for corpus in corpora:
        units = np.repeat(rng.normal(0, noise, (intents // documents, len(LANGUAGES))), documents, axis=0)
        info = pd.DataFrame(
            {"document": np.arange(intents) // documents}, index=[f"{corpus}{i}" for i in range(intents)]
        )
        for lm in lms:
            bits = np.exp(5 + own + units + rng.normal(0, 0.01, units.shape))
            tables[f"{corpus}/{lm}"] = ld.Surprisals(
                bits=pd.DataFrame(bits, info.index, LANGUAGES), intent_info=info, lm=lm
            )
            rows[f"{corpus}/{lm}"] = {"corpus": corpus, "lm": lm}
    return tables, pd.DataFrame.from_dict(rows, orient="index")


def test_components_are_those_of_mean_squares():
    d = factorial(np.random.default_rng(1))
    tables, facets = as_series(d)
    found = ld.difficulty_shares(tables, languages=NAMES, facets=facets)
    count, corpora, lms = d.shape
    d = d - d.mean(axis=0)
    of_lc, of_lm, of_l = d.mean(axis=2), d.mean(axis=1), d.mean(axis=(1, 2))
    ms_l = corpora * lms * (of_l**2).sum() / (count - 1)
    ms_lc = lms * ((of_lc - of_l[:, None]) ** 2).sum() / ((count - 1) * (corpora - 1))
    ms_lm = corpora * ((of_lm - of_l[:, None]) ** 2).sum() / ((count - 1) * (lms - 1))
    rest = d - of_lc[:, :, None] - of_lm[:, None] + of_l[:, None, None]
    ms = (rest**2).sum() / ((count - 1) * (corpora - 1) * (lms - 1))
    expected = [
        (ms_l - ms_lc - ms_lm + ms) / (corpora * lms),
        (ms_lc - ms) / lms,
        (ms_lm - ms) / corpora,
        ms,
    ]
    assert_allclose(found.frame["variance"], expected, rtol=1e-10)
    assert found.frame.index.tolist() == ["language", "language:corpus", "language:lm", "language:corpus:lm"]
    assert "not known, and taken as 0" in found.summary()


def test_errors_of_common_intents_are_taken_out():
    """Against E written out; without it the noise of intents would be the corpora's."""
    rng = np.random.default_rng(2)
    own = rng.normal(0, 0.05, len(LANGUAGES))
    tables, facets = with_intents(rng, own)
    found = ld.difficulty_shares(tables, languages=NAMES, facets=facets, clusters=None)
    first, second = (np.log(tables[name].bits.to_numpy()) for name in ("a/x", "a/y"))
    e, f = (z - z.mean(axis=0) - z.mean(axis=1, keepdims=True) + z.mean() for z in (first, second))
    count, size = first.shape
    error = (e * f).sum() / (count * (count - 1) * (size - 1))
    d, g = (z.mean(axis=0) - z.mean() for z in (first, second))
    other = [np.log(tables[name].bits.to_numpy()) for name in ("b/x", "b/y")]
    p, q = (z - z.mean(axis=0) - z.mean(axis=1, keepdims=True) + z.mean() for z in other)
    u, v = (z.mean(axis=0) - z.mean() for z in other)
    same_corpus = np.mean(
        [d @ g / (size - 1) - error, u @ v / (size - 1) - (p * q).sum() / (count * (count - 1) * (size - 1))]
    )
    between = np.mean([one @ two / (size - 1) for one, two in ((d, v), (g, u))])
    assert found.frame.at["language:corpus", "variance"] == pytest.approx(same_corpus - between, rel=1e-9)
    naive = (d @ g + u @ v) / 2 / (size - 1) - between
    assert naive > 0.001  # noise of 40 intents, .3² / 40
    assert abs(found.frame.at["language:corpus", "variance"]) < 0.0012


def test_documents_are_found_and_matter():
    rng = np.random.default_rng(3)
    tables, facets = with_intents(rng, rng.normal(0, 0.05, len(LANGUAGES)), intents=120, documents=6)
    alone = ld.difficulty_shares(tables, languages=NAMES, facets=facets, clusters=None)
    found = ld.difficulty_shares(tables, languages=NAMES, facets=facets)
    assert 3 < found.error / alone.error < 9


def test_every_interval_holds_its_share():
    frame = ld.difficulty_shares(ld.datasets.three_corpora()).frame
    assert (frame["share"] < 0.001).any()
    assert ((frame["low"] <= frame["share"]) & (frame["share"] <= frame["high"])).all()
    assert (frame["low"][frame["share"] < 0.001] == 0).all()


def test_intervals_are_a_jackknife_of_logits():
    tables, facets = as_series(factorial(np.random.default_rng(4)))
    found = ld.difficulty_shares(tables, languages=NAMES, facets=facets)
    count = len(LANGUAGES)

    def share(kept):
        some = {name: table[kept] for name, table in tables.items()}
        return logit(ld.difficulty_shares(some, languages=NAMES, facets=facets).frame.at["language", "share"])

    whole = logit(found.frame.at["language", "share"])
    pseudo = [count * whole - (count - 1) * share([n for n in LANGUAGES if n != out]) for out in LANGUAGES]
    reach = student.ppf(0.975, count - 1) * np.std(pseudo, ddof=1) / np.sqrt(count)
    expected = expit([np.mean(pseudo) - reach, np.mean(pseudo) + reach])
    assert_allclose(found.frame.loc["language", ["low", "high"]].astype(float), expected, rtol=1e-9)


def test_leaving_out_a_language_is_as_if_it_had_not_been_measured():
    rng = np.random.default_rng(7)
    cells = Cells(rng.normal(size=(6, 4)), [([0, 2], rng.normal(size=(2, 6, 9))), ([1], rng.normal(size=(1, 6, 5)))])
    without = cells.covariances_without_each()
    for place in range(6):
        assert_allclose(without[place], cells.take(np.arange(6) != place).covariances(), rtol=1e-12)


@pytest.mark.slow
def test_intervals_hold_the_share():
    hits = []
    for seed in range(200):
        tables, facets = as_series(factorial(np.random.default_rng(seed), own=0.05, corpus=0.05, lm=0.015))
        row = ld.difficulty_shares(tables, languages=NAMES, facets=facets).frame.loc["language"]
        hits.append(row["low"] < 0.05**2 / (2 * 0.05**2 + 0.015**2 + 0.005**2) < row["high"])
    assert 0.9 < np.mean(hits) < 0.99


def test_the_stable_part_has_errors_for_other_corpora(tmp_path):
    d = factorial(np.random.default_rng(5))
    tables, facets = as_series(d)
    found = ld.difficulty_shares(tables, languages=NAMES, facets=facets)
    stable = found.stable
    assert_allclose(stable.estimate, d.mean(axis=(1, 2)) - d.mean(), atol=1e-12)
    v = np.maximum(found.frame["variance"], 0).to_numpy()
    of_mean = v[1] / 3 + v[2] / 2 + v[3] / 6
    assert_allclose(stable.std_error**2, of_mean * (1 - 1 / len(LANGUAGES)), rtol=1e-12)
    assert stable.degrees_of_freedom == 11 * 2
    assert found.reliability() == pytest.approx(v[0] / (v[0] + of_mean))
    assert found.reliability(corpus=1) == pytest.approx(v[0] / (v[0] + v[1] + v[2] / 2 + v[3] / 2))
    found.save(tmp_path / "shares.json")
    pd.testing.assert_frame_equal(ld.read(tmp_path / "shares.json").stable.to_frame(), stable.to_frame())


def test_correlations_take_all_languages_of_both():
    d = factorial(np.random.default_rng(6), corpora=2, lms=1)
    tables, facets = as_series(d)
    third = {"2/0": tables["0/0"].iloc[:9] * 1.1}
    facets = pd.concat([facets, pd.DataFrame({"corpus": ["c2"], "lm": ["m0"]}, index=["2/0"])])
    found = ld.difficulty_shares(tables | third, languages=NAMES, facets=facets)
    assert len(found.difficulties) == 9
    assert found.n_left_out == 3
    table = found.correlations.set_index(["one", "other"])
    assert table.loc[("c0", "c1"), "n"] == 12
    assert table.loc[("c0", "c1"), "pearson"] == pytest.approx(np.corrcoef(d[:, 0, 0], d[:, 1, 0])[0, 1])
    assert table.loc[("c0", "c2"), "n"] == 9


def test_several_editions_of_a_language_are_averaged():
    d = factorial(np.random.default_rng(7), lms=1)
    tables, facets = as_series(d)
    two = {name: pd.concat([table, table.iloc[:1].set_axis(["again"]) * 1.2]) for name, table in tables.items()}
    found = ld.difficulty_shares(two, languages=NAMES | {"again": "l0"}, facets=facets)
    assert len(found.difficulties) == 12
    assert "mean over editions of 1 language(s)" in found.summary()
    with pytest.raises(ConfigError, match=r"languages lack 1 edition\(s\) of 0/0: 'again'"):
        ld.difficulty_shares(two, languages=NAMES, facets=facets)


def test_what_cannot_be_told_apart_is_named():
    tables, facets = as_series(factorial(np.random.default_rng(8)))
    with pytest.raises(ConfigError, match="give generalizability one table"):
        ld.difficulty_shares({"a": tables["0/0"]}, languages=NAMES)
    some = ["0/0", "1/1"]
    with pytest.raises(DataError, match="no two tables agree on 'corpus' and differ in 'lm'"):
        ld.difficulty_shares({n: tables[n] for n in some}, languages=NAMES, facets=facets.loc[some])
    with pytest.raises(DataError, match="0/1 has the facets of another table"):
        ld.difficulty_shares(tables, languages=NAMES, facets=facets[["corpus"]])
    with pytest.raises(DataError, match="only 7 language"):
        ld.difficulty_shares({n: t.iloc[:7] for n, t in tables.items()}, languages=NAMES, facets=facets)
    with pytest.raises(ConfigError, match="has no intents, so that its facets are not known"):
        ld.difficulty_shares(tables, languages=NAMES)
    both, of_both = with_intents(np.random.default_rng(9), np.zeros(12))
    short = both | {"a/y": both["a/y"].sel(intents=both["a/y"].intents[:-1])}
    with pytest.raises(DataError, match="corpus a: a/x and a/y have other test intents"):
        ld.difficulty_shares(short, languages=NAMES, facets=of_both)


def test_facets_are_read_from_tables():
    tables, facets = with_intents(np.random.default_rng(10), np.zeros(12))
    given = ld.difficulty_shares(tables, languages=NAMES, facets=facets, clusters=None)
    found = ld.difficulty_shares(tables, languages=NAMES, clusters=None)
    assert_allclose(found.frame["variance"], given.frame["variance"])


def test_an_edition_of_unknown_language_is_named():
    tables, facets = as_series(factorial(np.random.default_rng(0)))
    languages = pd.Series(NAMES).mask([name == "l3" for name in LANGUAGES])
    with pytest.raises(ConfigError, match=r"lack 1 edition.*'l3'"):
        ld.difficulty_shares(tables, languages=languages, facets=facets)


def test_a_mean_of_editions_is_over_intents_that_all_of_them_have():
    rng = np.random.default_rng(1)
    made = {name: np.exp(rng.normal(3, 0.1, (40, 13))) for name in ("a", "b")}
    editions = [*LANGUAGES, "second"]
    tables = {name: pd.DataFrame(bits, [f"{name}{i}" for i in range(40)], editions) for name, bits in made.items()}
    tables["a"]["second"] *= np.e  # one nat harder, and in half of the intents
    tables["a"].loc[tables["a"].index[:20], "second"] = np.nan
    found = ld.difficulty_shares(
        {name: ld.Surprisals(bits=table) for name, table in tables.items()}, languages=NAMES | {"second": "l0"}
    )
    logs = np.log(made["a"][20:])
    level = (logs[:, 0] + logs[:, 12] + 1).mean() / 2
    others = logs[:, 1:12].mean(axis=0)
    assert found.difficulties.loc["l0", "a"] == pytest.approx(level - np.mean([level, *others]))

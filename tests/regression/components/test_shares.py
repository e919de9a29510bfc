"""Shares of difficulty against mean squares, symmetric sums, other programs' figures and simulated truth."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, logit
from scipy.stats import t as student

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from tests.helpers import refused

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
    expected = [(ms_l - ms_lc - ms_lm + ms) / (corpora * lms), (ms_lc - ms) / lms, (ms_lm - ms) / corpora, ms]
    assert_allclose(found.frame["variance"], expected, rtol=1e-10)
    assert found.frame.index.tolist() == ["language", "language:corpus", "language:lm", "language:corpus:lm"]
    assert "not known, and taken as 0" in found.summary()


def test_errors_of_common_intents_are_taken_out():
    """Without them the noise of 40 intents would be the corpora's."""
    rng = np.random.default_rng(2)
    tables, facets = with_intents(rng, rng.normal(0, 0.05, len(LANGUAGES)))
    totals = {name: np.exp(np.log(table.bits).mean()) for name, table in tables.items()}
    of = {"languages": NAMES, "facets": facets}
    naive = ld.difficulty_shares(totals, **of).frame.at["language:corpus", "variance"]
    found = ld.difficulty_shares(tables, **of, clusters=None)
    assert found.error == pytest.approx(0.3**2 / 40 / 2, rel=0.25)  # of a mean over two corpora, whose models share it
    assert found.frame.at["language:corpus", "variance"] < 0.2 * naive


def test_documents_are_found_and_matter():
    rng = np.random.default_rng(3)
    tables, facets = with_intents(rng, rng.normal(0, 0.05, len(LANGUAGES)), intents=120, documents=6)
    alone = ld.difficulty_shares(tables, languages=NAMES, facets=facets, clusters=None)
    found = ld.difficulty_shares(tables, languages=NAMES, facets=facets)
    assert 3 < found.error / alone.error < 9


def test_every_interval_holds_its_share():
    frame = ld.difficulty_shares(ld.datasets.three_corpora()).frame
    assert ((frame["low"] <= frame["share"]) & (frame["share"] <= frame["high"])).all()
    assert (frame[["low", "high"]].to_numpy() <= 1).all()


def test_intervals_are_the_wider_of_jackknife_and_slopes():
    tables, facets = as_series(factorial(np.random.default_rng(4)))
    found = ld.difficulty_shares(tables, languages=NAMES, facets=facets).frame
    count = len(LANGUAGES)

    def share(kept):
        some = {name: table[kept] for name, table in tables.items()}
        return logit(ld.difficulty_shares(some, languages=NAMES, facets=facets).frame.at["language", "share"])

    whole = logit(found.at["language", "share"])
    pseudo = [count * whole - (count - 1) * share([n for n in LANGUAGES if n != out]) for out in LANGUAGES]
    reach = student.ppf(0.975, count - 1) * np.std(pseudo, ddof=1) / np.sqrt(count)
    jackknife = expit([np.mean(pseudo) - reach, np.mean(pseudo) + reach])
    width = found.at["language", "high"] - found.at["language", "low"]
    assert width >= np.diff(jackknife)[0] - 1e-6
    by_slopes = found.at["language", "share"] + np.array([-0.5, 0.5]) * width
    ends = found.loc["language", ["low", "high"]].astype(float)
    assert np.allclose(ends, jackknife, atol=1e-5) or np.allclose(ends, by_slopes, atol=1e-9)


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
    assert (len(found.difficulties), len(found.means)) == (12, 9)
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
    assert "means over the editions of languages with several (1 in one corpus)" in found.summary()
    with pytest.raises(ConfigError, match=r"languages lack 1 edition\(s\) of 0/0: 'again'"):
        ld.difficulty_shares(two, languages=NAMES, facets=facets)


def test_what_cannot_be_told_apart_is_named():
    tables, facets = as_series(factorial(np.random.default_rng(8)))
    refused(ConfigError, "give generalizability one table", ld.difficulty_shares, {"a": tables["0/0"]}, languages=NAMES)
    some = ["0/0", "1/1"]
    together = ld.difficulty_shares({n: tables[n] for n in some}, languages=NAMES, facets=facets.loc[some])
    assert together.frame.index.tolist() == ["language", "language:corpus"]
    assert "lm goes together with another facet" in together.summary()
    with pytest.raises(DataError, match="0/1 has the facets of another table"):
        ld.difficulty_shares(tables, languages=NAMES, facets=facets[["corpus"]])
    with pytest.raises(DataError, match=r"only 7 language\(s\)"):
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
    refused(ConfigError, r"lack 1 edition.*'l3'", ld.difficulty_shares, tables, languages=languages, facets=facets)


def test_the_effect_of_an_edition_is_freed_of_its_missing_intents():
    """Against least squares of a table with a column of ones and zeros per edition and intent."""
    rng = np.random.default_rng(1)
    bits = pd.DataFrame(np.exp(rng.normal(3, 0.1, (40, 12)) + rng.normal(0, 1, (40, 1))), columns=LANGUAGES)
    bits = bits.mask(rng.random(bits.shape) < 0.2)
    tables = {"a": bits, "b": bits.set_axis([f"b{i}" for i in range(40)])}
    found = ld.difficulty_shares({name: ld.Surprisals(bits=table) for name, table in tables.items()}, languages=NAMES)
    rows, columns = np.nonzero(bits.notna().to_numpy())
    design = np.hstack([np.eye(40)[rows], np.eye(12)[columns]])
    effects = np.linalg.lstsq(design, np.log(bits.to_numpy()[rows, columns]), rcond=None)[0][40:]
    assert_allclose(found.difficulties["a"], effects - effects.mean(), atol=1e-10)


def symmetric_sums(d, facets):
    """Return variance components by symmetric sums (Koch 1967), the smallest sets of facets first."""
    s, found = np.cov(d, rowvar=False), {}
    agrees = {name: facets[name].to_numpy()[:, None] == facets[name].to_numpy() for name in facets}
    for size in range(len(agrees) + 1):
        for wanted in combinations(agrees, size):
            inside = np.logical_and.reduce([same if name in wanted else ~same for name, same in agrees.items()])
            found[wanted] = s[inside].mean() - sum(v for other, v in found.items() if set(other) < set(wanted))
    return found


def test_shipped_tables_by_symmetric_sums():
    """Without errors: .4890 .4257 .0474 .0202, as the analysis of variance and lme4 have them."""
    made = ld.datasets.three_corpora()
    totals = {
        name: table if isinstance(table, pd.Series) else np.exp(np.log(table.bits).mean())
        for name, table in made.items()
    }
    frame = ld.difficulty_shares(totals, languages=made.languages, facets=made.facets).frame
    d = pd.DataFrame(
        {name: np.log(t.set_axis(made.languages.loc[t.index, "glottocode"])) for name, t in totals.items()}
    )
    expected = symmetric_sums(d.to_numpy(), made.facets)
    total = sum(expected.values())
    assert_allclose(
        frame["share"].iloc[:4], [expected[of] / total for of in [(), ("corpus",), ("lm",), ("size",)]], atol=2e-4
    )
    assert_allclose(frame["share"].iloc[:4], [0.4890, 0.4257, 0.0474, 0.0202], atol=5e-4)
    with_errors = ld.difficulty_shares(made).frame["share"].iloc[:4]
    assert_allclose(with_errors, [0.502, 0.424, 0.045, 0.018], atol=0.01)

"""Nested editions against lme4, mean squares and simulated truth."""

from io import StringIO

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.regression.components import nested, share_tables
from langdiff.regression.components.shares import told_apart
from tests.helpers import refused

# 8 languages × 2 corpora × 2 editions; a language's values are of corpus a, then of corpus b
EXAMPLE = """l0 -5 -18 -3 -7
l1 3 -9 4 6
l2 5 15 13 16
l3 2 -6 10 12
l4 -15 -14 -8 -8
l5 -5 -4 -4 -4
l6 2 -9 -8 -5
l7 -1 1 1 4"""
LEFT_OUT = ["l0a1", "l2a1", "l4a1", "l6b0", "l6b1"]


def example(without=()):
    """Return totals by corpus, and the language of each edition."""
    table = pd.read_csv(StringIO(EXAMPLE), sep=" ", header=None, index_col=0)
    found = {}
    for place, corpus in enumerate("ab"):
        own = {
            f"{name}{corpus}{e}": float(np.exp(table.loc[name].iloc[2 * place + e] / 100))
            for name in table.index
            for e in (0, 1)
        }
        found[corpus] = pd.Series({name: 1000 * value for name, value in own.items() if name not in without})
    languages = {name: name[:2] for series in found.values() for name in series.index}
    facets = pd.DataFrame({"corpus": ["a", "b"]}, index=["a", "b"])
    return found, languages, facets


BALANCED, UNBALANCED = [50.955357, 1.763393, 20.468750], [36.363296, 4.283327, 15.131252]  # mean squares; lme4


@pytest.mark.parametrize(("without", "variances"), [((), BALANCED), (LEFT_OUT, UNBALANCED)])
def test_the_small_example(without, variances):
    tables, languages, facets = example(without)
    found = ld.difficulty_shares(tables, languages=languages, facets=facets)
    assert found.frame.index.tolist() == ["language", "language:corpus", "edition"]
    assert_allclose(found.frame[["variance", "unconstrained"]].T * 1e4, [variances] * 2, atol=1e-6)
    assert_allclose(found.frame["share"], np.array(variances) / sum(variances), atol=1e-6)


def test_known_errors_are_taken_from_the_variance_of_editions():
    tables, languages, _ = example(LEFT_OUT)
    rows = [(languages[e], c, 100 * np.log(v / 1000)) for c, t in tables.items() for e, v in t.items()]
    blocks = []
    for language in dict.fromkeys(row[0] for row in rows):
        own = [row for row in rows if row[0] == language]
        corpus = np.array([row[1] for row in own])
        parts = np.stack([np.ones((len(own), len(own))), corpus[:, None] == corpus, np.eye(len(own))]).astype(float)
        y = np.array([row[2] for row in own])
        blocks.append(nested.Block(y, (corpus == "b").astype(int), parts, 2 * np.eye(len(own))))
    found = nested.Nested(blocks, 2).fit()
    assert_allclose(found.variances[0], [36.363296, 4.283327, 13.131252], atol=1e-6)


@pytest.mark.parametrize("without", [(), LEFT_OUT])
def test_one_step_without_each_language_is_the_first_of_the_search(without, monkeypatch):
    tables, languages, facets = example(without)
    found = share_tables.observe_editions(tables, languages, facets, None, None)
    model = nested.Nested(found.blocks(share_tables.terms_of(found.facets, nested=True))[0], 2)
    variances = model.fit().variances[0]
    first = model.fit(~np.eye(8, dtype=bool), variances, np.inf).variances
    monkeypatch.setattr(nested, "MOST_SEARCHED", 0)
    assert_allclose(model.without_each(variances), first, atol=1e-9 * variances.sum())


def made(rng, editions, corpora=3, shares=(0.30, 0.20, 0.50), missing=0.0):
    """Return totals in which language, language × corpus and edition have known shares of the variance."""
    tables, languages = {}, {}
    own = rng.normal(0, shares[0] ** 0.5, len(editions))
    for c in range(corpora):
        values = {}
        for place, count in enumerate(editions):
            if c and rng.random() < missing:
                continue
            here = own[place] + rng.normal(0, shares[1] ** 0.5)
            for e in range(count if c == 0 else 1):
                name = f"{c}/{place}/{e}"
                values[name] = np.exp(8 + 0.05 * (here + rng.normal(0, shares[2] ** 0.5)))
                languages[name] = str(place)
        tables[f"c{c}"] = pd.Series(values)
    return tables, languages, pd.DataFrame({"corpus": list(tables)}, index=list(tables))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "most", "shares", "missing"), [(27, 9, (0.30, 0.20, 0.50), 0.0), (60, 2, (0.45, 0.15, 0.40), 0.3)]
)
def test_intervals_hold(count, most, shares, missing):
    hits = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        tables, languages, facets = made(rng, rng.integers(1, most + 1, count), shares=shares, missing=missing)
        frame = ld.difficulty_shares(tables, languages=languages, facets=facets, editions="nested").frame
        hits.append(((frame["low"] <= np.array(shares)) & (frame["high"] >= np.array(shares))).tolist())
    assert (np.mean(hits, axis=0) >= 0.93).all()


def test_pairs_told_apart_are_those_of_the_formula():
    found = [told_apart(27, k, 0.54 / (0.46 / k)) for k in (3, 5, 10, 20)]
    assert_allclose(found, [0.07, 0.15, 0.29, 0.45], atol=0.006)
    assert_allclose([told_apart(27, k, 0.9 / (0.1 / k)) for k in (3, 5, 10, 20)], [0.46, 0.58, 0.69, 0.78], atol=0.006)


def test_texts_corpora_and_editions():
    tables, languages, facets = example()
    found = ld.difficulty_shares(tables, languages=languages, facets=facets)
    texts = found.texts()
    assert_allclose(texts.loc["a", "b"], texts.loc["b", "a"])
    of_one = {}
    for name, table in tables.items():  # mean squares of a balanced table
        y = 100 * np.log(table.to_numpy().reshape(8, 2) / 1000)
        within = ((y - y.mean(axis=1, keepdims=True)) ** 2).sum() / 8
        of_one[name] = (2 * y.mean(axis=1).var(ddof=1) - within) / 2, within
        assert texts.loc[name, name] == pytest.approx(of_one[name][0] / sum(of_one[name]))
    means = found.difficulties.to_numpy() * 100
    covariance = np.cov(means.T)[0, 1]
    assert texts.loc["a", "b"] == pytest.approx(2 * covariance / sum(sum(v) for v in of_one.values()))
    by_corpus = found.by_corpus()
    assert by_corpus.groupby("corpus")["share"].sum().tolist() == pytest.approx([1, 1])
    assert set(by_corpus["component"]) <= {"language", "language:corpus", "edition"}


def test_means_and_representative_editions():
    tables, languages, facets = example()
    mean = ld.difficulty_shares(tables, languages=languages, facets=facets, editions="mean")
    assert mean.frame.index.tolist() == ["language", "language:corpus"]
    info = pd.DataFrame({"language": languages})
    info["representative"] = [name.endswith("0") for name in info.index]
    found = ld.difficulty_shares(tables, edition_info=info, facets=facets, editions="representative")
    first = {name: table[[e.endswith("0") for e in table.index]] for name, table in tables.items()}
    alone = ld.difficulty_shares(first, languages=languages, facets=facets)
    assert_allclose(found.frame["share"], alone.frame["share"])


def test_copies_are_left_out():
    tables, languages, facets = example()
    tables["a"]["copy"] = tables["a"]["l0a0"]
    info = pd.DataFrame({"language": {**languages, "copy": "l0"}})
    info.loc["copy", "same_as"] = "l0a0"
    found = ld.difficulty_shares(tables, edition_info=info, facets=facets)
    assert found.frame["variance"].iloc[2] * 1e4 == pytest.approx(20.46875)
    assert "1 copies" in found.summary()


def test_what_cannot_be():
    tables, languages, facets = example()
    of = {"languages": languages, "facets": facets}
    with pytest.raises(DataError, match="need 5 languages with two editions"):
        ld.difficulty_shares(
            {n: t[[e.endswith("0") for e in t.index]] for n, t in tables.items()}, **of, editions="nested"
        )
    refused(ConfigError, "2 corpora do not tell how corpora vary", ld.difficulty_shares, tables, **of, corpora="random")
    with pytest.raises(ConfigError, match="is nested, mean, representative or auto"):
        ld.difficulty_shares(tables, **of, editions="every")
    with pytest.raises(DataError, match="of a genre of its own"):
        ld.difficulty_shares(tables, languages=languages, facets=facets.assign(genre=["x", "y"]))
    info = pd.DataFrame({"language": languages, "same_as": "nobody"})
    with pytest.raises(DataError, match="same_as names editions that no table has"):
        ld.difficulty_shares(tables, edition_info=info, facets=facets)

"""The pictures of `difficulty_shares` draw what its tables say."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.plots import plot_shares
from tests.helpers import refused


@pytest.fixture(scope="module")
def shares():
    return ld.difficulty_shares(ld.datasets.three_corpora())


@pytest.fixture
def axes():
    figure, ax = plt.subplots(figsize=(6, 5))
    yield ax
    plt.close(figure)


def test_stacked_bars_add_up(shares, axes):
    shares.plot("stacked", axes)
    widths = [bar.get_width() for bar in axes.patches]
    share = shares.to_frame()["share"]
    assert_allclose(widths[:4], 100 * share.iloc[:4])
    assert_allclose(sum(widths), 100)
    assert axes.texts[0].get_text() == f"{100 * share['language']:.0f}"


def test_several_bars_by_name(shares, axes):
    plot_shares({"first": shares, "second": shares}, "stacked", axes)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["second", "first"]


def test_ranks_by_corpus(shares, axes):
    shares.plot("ranks", axes)
    corpora = list(dict.fromkeys(shares.facets["corpus"]))
    assert [label.get_text() for label in axes.get_xticklabels()] == corpora
    own = [shares.facets.index[shares.facets["corpus"] == name] for name in corpora]
    means = np.column_stack([shares.difficulties[names].mean(axis=1) for names in own])
    ranks = (means[None] >= means[:, None]).sum(axis=1)  # the hardest has rank 1
    drawn = np.array([line.get_ydata() for line in axes.lines])
    assert_allclose(drawn, ranks)
    assert {text.get_text() for text in axes.texts} == set(shares.difficulties.index)


def test_correlations_are_those_of_the_table(shares, axes):
    shares.plot("correlations", axes)
    drawn = np.concatenate([container[0].get_xdata() for container in axes.containers])
    assert_allclose(np.sort(drawn), np.sort(shares.correlations["pearson"]))


def test_the_leaderboard_has_rank_sets(shares, axes):
    shares.plot("leaderboard", axes)
    assert any("1–" in label.get_text() for label in axes.child_axes[1].get_yticklabels())


def test_what_cannot_be_drawn(shares):
    refused(ConfigError, r"kind is one of .*'ranks'", shares.plot, "pie")
    refused(DataError, r"'stacked' only", plot_shares, {"one": shares}, "ranks")
    refused(DataError, "there are none", plot_shares, {}, "stacked")
    table = ld.simulate(100, 10, seed=1).surprisals
    tables = {"a": table, "b": ld.Surprisals(bits=table.bits**1.01, lm="other")}
    found = ld.difficulty_shares(tables, languages={name: name for name in table.editions})
    refused(DataError, "at least two corpora", found.plot, "ranks")


def test_one_dot_per_edition_and_how_texts_agree(axes):
    atlas = ld.datasets.edition_atlas().sel(lm="kneser-ney-6", size="1300")
    kept = atlas.editions.index[
        atlas.editions["language"].isin(["deu", "fra", "eng", "hun", "spa", "nld", "dan", "ces"])
    ]
    found = ld.difficulty_shares(atlas.sel([edition for edition in kept if not edition.startswith("pud")]))
    found.plot("editions", axes)
    drawn = np.sort(np.concatenate([line.get_xdata() for line in axes.lines if line.get_linestyle() == "None"]))
    assert_allclose(drawn, np.sort(100 * np.expm1(found.editions["difficulty"])))
    assert len({line.get_marker() for line in axes.lines} - {"None"}) == 3  # told apart in grey, too
    axes.clear()
    found.plot("texts", axes)
    table = found.texts()
    assert [text.get_text() for text in axes.texts] == [
        "–" if np.isnan(value) else f"{value:.2f}" for value in table.to_numpy().ravel()
    ]

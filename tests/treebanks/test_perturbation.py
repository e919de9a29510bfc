import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.treebanks import SimilaritySettings, perturbation_curve
from langdiff.treebanks.conllu import Tree
from langdiff.treebanks.perturbation import perturb
from langdiff.treebanks.treebank import Treebank
from tests.helpers import refused
from tests.treebanks.strategies import corpora

KINDS = ("relations", "heads", "order")


def trees_of(treebank):
    """The trees, each of which checks itself."""
    for start, end in zip(treebank.starts[:-1], treebank.starts[1:], strict=True):
        heads = tuple(int(head) - int(start) + 1 if head >= 0 else 0 for head in treebank.parents[start:end])
        upos = tuple(treebank.upos_names[code] for code in treebank.upos[start:end])
        deprels = tuple(treebank.deprel_names[code] for code in treebank.deprels[start:end])
        yield Tree(("w",) * len(heads), upos, heads, deprels)


@given(trees=corpora, rate=st.sampled_from([0.0, 0.3, 1.0]), seed=st.integers(0, 99))
@pytest.mark.parametrize("kind", KINDS)
def test_copies_are_treebanks(trees, rate, seed, kind):
    source = Treebank.from_trees(trees, name="source")
    copy = perturb(source, rate, kind=kind, seed=seed)
    before, after = list(trees_of(source)), list(trees_of(copy))
    for one, other in zip(before, after, strict=True):
        assert len(one) == len(other)
        if kind != "relations":
            assert sorted(zip(one.upos, one.deprels, strict=True)) == sorted(
                zip(other.upos, other.deprels, strict=True)
            )
        if kind == "relations":
            assert one.heads == other.heads
            assert one.deprels[one.heads.index(0)] == other.deprels[other.heads.index(0)]
        if kind == "order":  # the same tree, in other places
            assert sorted(map(one.heads.count, range(1, len(one) + 1))) == sorted(
                map(other.heads.count, range(1, len(other) + 1))
            )
        if rate == 0:
            assert one == other


@pytest.fixture(scope="module")
def source():
    rng = np.random.default_rng(1)
    trees = []
    for n in rng.integers(2, 12, 150):
        heads = (0, *(int(rng.integers(max(1, i - 2), i)) for i in range(2, n + 1)))
        upos = tuple("NV"[i % 2] for i in range(n))
        trees.append(Tree(("w",) * n, upos, heads, ("root", *("ab"[i % 2] for i in range(n - 1)))))
    return Treebank.from_trees(trees, name="source")


@pytest.mark.parametrize(
    ("kind", "metric"), [("relations", "matrix"), ("heads", "length"), ("order", "matrix"), ("heads", "size")]
)
def test_divergence_grows_with_the_rate(source, kind, metric):
    curve = perturbation_curve(source, rates=[0, 0.1, 0.4, 1], kinds=[kind], progress=False, seed=0)
    rows = curve.to_frame().query("metric == @metric")["divergence"].to_numpy()
    assert rows[0] == 0
    assert (np.diff(rows) > 0).all()
    assert "Divergence of copies of 'source'" in curve.summary()
    assert repr(curve) == f"PerturbationCurve of 'source': {kind} at 4 rates"


def test_metrics_that_do_not_see_a_change(source):
    table = perturbation_curve(source, rates=[0.7], progress=False, seed=0).table
    frame = table.set_index(["kind", "metric"])["divergence"].sort_index()
    assert (frame["relations", "size"] == 0).all()
    assert (frame["relations", "length"] == 0).all()
    assert (frame["order", "size"] == 0).all()
    assert (frame["order", "length"] == 0).all()
    assert (frame["heads", "size"] > 0).all()


def test_words_change_places_at_random(source):
    shuffled = [perturb(source, 1.0, kind="order", seed=seed) for seed in range(30)]
    first = np.mean([[corpus.parents[start] < 0 for start in source.starts[:-1]] for corpus in shuffled], axis=0)
    # a root word, first in all sentences, is first in one of n copies
    assert first.mean() == pytest.approx((1 / source.lengths).mean(), abs=0.03)


def test_a_seed_gives_the_same_copy(source):
    for kind in KINDS:
        one, same, other = (perturb(source, 0.5, kind=kind, seed=seed) for seed in (1, 1, 2))
        assert (one.parents == same.parents).all()
        assert (one.deprels == same.deprels).all()
        assert (one.parents != other.parents).any() or (one.deprels != other.deprels).any()


def test_bad_calls(source):
    refused(ConfigError, "rate must be between 0 and 1; got 2", perturb, source, 2, seed=0)
    with pytest.raises(ConfigError, match="kind is one of relations, heads, order; got 'words'"):
        perturb(source, 0.1, kind="words", seed=0)
    refused(ConfigError, "n_repeats must be at least 1", perturbation_curve, source, n_repeats=0, seed=0)
    refused(ConfigError, "at least one rate and one kind", perturbation_curve, source, rates=[], seed=0)
    with pytest.raises(ConfigError, match="a curve has one treebank; leave rescale out"):
        perturbation_curve(source, settings=SimilaritySettings(rescale=True), seed=0)
    with pytest.raises(DataError, match="'source' needs at least two sentences to estimate the noise floor"):
        perturbation_curve(source.take(np.array([0])), rates=[0.5], seed=0)


def test_a_curve_says_what_it_depends_on(source):
    curve = perturbation_curve(source, rates=[0.5], kinds="order", n_repeats=1, seed=4, progress=False)
    assert set(curve.table["kind"]) == {"order"}
    assert curve.signature == (
        f"{SimilaritySettings().signature}|kinds:order|rates:0.5|repeats:1|seed:4|treebank:#{source.digest}"
        f"|version:{ld.__version__}"
    )
    assert curve.signature in curve.summary()

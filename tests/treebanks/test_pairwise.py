import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from pandas.testing import assert_frame_equal

import langdiff as ld
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from langdiff.treebanks import SimilaritySettings
from langdiff.treebanks.conllu import Tree
from langdiff.treebanks.pairwise import _samples
from langdiff.treebanks.treebank import Treebank
from tests.helpers import refused
from tests.treebanks import oracle
from tests.treebanks.strategies import A, B, corpora

AVERAGED = ["size", "depth", "width", "length"]
SIX_DECIMALS = 5e-7


def banks():
    return [Treebank.from_trees(A, name="A"), Treebank.from_trees(B, name="B")]


def compare(**options):
    options = {"noise": False, "progress": False, "seed": 0} | options
    return ld.compare_treebanks(banks(), **options)


def apart(metric, **settings):
    return compare(settings=SimilaritySettings(**settings)).divergence[metric].at["A", "B"]


@given(a=corpora, b=corpora)
def test_against_direct_counting(a, b):
    result = ld.compare_treebanks(
        [Treebank.from_trees(a, name="a"), Treebank.from_trees(b, name="b")], noise=False, progress=False
    )
    tables = [
        {
            "size": oracle.size(trees),
            "length": oracle.lengths(trees),
            "matrix": {k: n for k, n in oracle.matrices(trees).items() if k[1] != "BOS" and k[2] != "EOS"},
        }
        for trees in (a, b)
    ]
    for metric in tables[0]:
        expected = oracle.kullback_leibler(tables[0][metric], tables[1][metric])
        assert result.divergence[metric].at["a", "b"] == pytest.approx(expected, abs=1e-9)
    stacked = np.stack([result.divergence[metric].to_numpy() for metric in AVERAGED])
    assert (stacked >= 0).all()
    assert (np.diagonal(stacked, axis1=1, axis2=2) == 0).all()
    assert result.divergence["mean"].to_numpy() == pytest.approx(stacked.mean(axis=0))


# what each option changes on the worked example, by hand or by the slow count
def test_alpha_and_base():
    assert apart("size", alpha=1) == pytest.approx(2 / 5 * math.log(2) + 1 / 5 * math.log(1 / 2))
    assert apart("size", base=2) == pytest.approx(apart("size") / math.log(2))


def test_without_smoothing_infinity_stays_in_the_mean():
    result = compare(settings=SimilaritySettings(alpha=0))
    assert result.divergence["size"].at["A", "B"] == math.inf
    assert result.divergence["mean"].at["A", "B"] == math.inf
    assert result.divergence["length"].at["A", "B"] < math.inf
    assert "inf" in result.summary()
    refused(DataError, "infinite divergence cannot be clustered; use alpha above 0", result.cluster_order)
    with pytest.raises(ConfigError, match="rescale needs finite divergences; use alpha above 0"):
        compare(settings=SimilaritySettings(alpha=0, rescale=True))


def test_kinds_of_divergence():
    forth, back = 0.628229, 0.471701
    assert apart("depth", divergence="symmetric") == pytest.approx((forth + back) / 2, abs=SIX_DECIMALS)
    assert apart("depth", divergence="js") < min(forth, back)
    # sentences of depth 1, 2 and length 2 … 6: ones at (1, 2), (2, 6) and at (1, 4), (2, 6)
    a, b = np.zeros((2, 5)), np.zeros((2, 5))
    a[0, 0] = a[1, 4] = b[0, 2] = b[1, 4] = 1
    assert apart("size", divergence="correlation") == pytest.approx(1 - np.corrcoef(a.ravel(), b.ravel())[0, 1])


@pytest.mark.parametrize("option", [{"levels": "pooled"}, {"levels": "context"}, {"ancestors": 0}, {"label": "upos"}])
def test_depth_options(option):
    expected = [oracle.binned(oracle.depth_costs(trees, **option)) for trees in (A, B)]
    assert apart("depth", **option) == pytest.approx(oracle.kullback_leibler(*expected))
    usual = [oracle.binned(oracle.depth_costs(trees)) for trees in (A, B)]
    assert expected != usual or option == {"label": "upos"}  # whose keys are as distinct; see test_metrics
    assert apart("width", **option) == pytest.approx(0.116322, abs=SIX_DECIMALS)


def test_statistics_of_the_reference():
    seen = oracle.binned(oracle.depth_costs(B, A))
    assert seen[math.inf] == 3  # cats, quietly, here
    assert apart("depth", statistics="reference") == pytest.approx(
        oracle.kullback_leibler(oracle.binned(oracle.depth_costs(A)), seen)
    )
    assert apart("width", statistics="reference") == pytest.approx(
        oracle.kullback_leibler(oracle.binned(oracle.width_costs(A)), oracle.binned(oracle.width_costs(B, A)))
    )


def test_width_by_rows_and_adjacent_pairs():
    rows = [oracle.binned(oracle.width_costs(trees, by="rows")) for trees in (A, B)]
    assert apart("width", width_by="rows") == pytest.approx(oracle.kullback_leibler(*rows))
    assert apart("width", width_by="rows") != pytest.approx(apart("width"), abs=1e-3)
    pairs = [
        {k: n for k, n in oracle.matrices(trees, adjacent=True).items() if k[1] != "BOS" and k[2] != "EOS"}
        for trees in (A, B)
    ]
    assert apart("matrix", adjacent=True) == pytest.approx(oracle.kullback_leibler(*pairs))
    assert apart("matrix", adjacent=True) != pytest.approx(apart("matrix"), abs=1e-3)
    assert apart("width", adjacent=True) == apart("width")


def test_size_bin():
    # 5/3 is bin 3 and 1 is bin 2 of halves in both corpora, so nothing changes; of 2 all are in bin 1
    assert apart("size", size_bin=0.5) == pytest.approx(0.313889, abs=SIX_DECIMALS)
    profile = compare(settings=SimilaritySettings(size_bin=0.5)).profiles["A"]
    assert set(profile.bins["size"].index) == {(3, 6), (2, 2)}


def test_rescale_divides_by_the_largest():
    plain, scaled = compare(), compare(settings=SimilaritySettings(rescale=True))
    largest = {metric: plain.divergence[metric].max(axis=None) for metric in AVERAGED}
    expected = np.mean([plain.divergence[metric].at["A", "B"] / largest[metric] for metric in AVERAGED])
    assert scaled.divergence["mean"].at["A", "B"] == pytest.approx(expected)
    assert_frame_equal(scaled.divergence["size"], plain.divergence["size"])
    same = ld.compare_treebanks(dict.fromkeys("ab", banks()[0]), settings=SimilaritySettings(rescale=True), noise=False)
    assert (same.divergence["mean"] == 0).all(axis=None)


def test_punctuation_and_subtypes_are_in_the_signature(tmp_path):
    row = "1\tw\t_\tX\t_\t_\t0\troot\t_\t_\n2\tw\t_\tX\t_\t_\t1\tacl:relcl\t_\t_\n3\t.\t_\tX\t_\t_\t1\tpunct\t_\t_\n\n"
    (tmp_path / "a.conllu").write_text(row * 50)
    plain = ld.read_treebank(tmp_path / "a.conllu")
    bare = ld.read_treebank(tmp_path / "a.conllu", name="b", punctuation=False, strip_subtypes=True)
    result = ld.compare_treebanks([plain, bare], seed=0)
    assert "punctuation:mixed|strip_subtypes:mixed" in result.signature
    assert result.sizes().loc["b", "words"] == 100
    assert "punctuation:no|strip_subtypes:yes" in ld.compare_treebanks({"b": bare, "c": bare}, seed=0).signature
    files = {"d": tmp_path / "a.conllu", "e": [tmp_path / "a.conllu"]}
    read_here = ld.compare_treebanks(files, punctuation=False, seed=0)
    assert "punctuation:no|strip_subtypes:no" in read_here.signature
    assert read_here.profiles["d"].sizes["words"] == bare.words
    assert "punctuation:yes|" in ld.compare_treebanks(files, seed=0).signature


@pytest.fixture(scope="module")
def unequal():
    rng = np.random.default_rng(5)

    def draw(count, words, relations):
        trees = []
        for n in rng.integers(1, words, count):
            heads = (0, *(int(rng.integers(1, i)) for i in range(2, n + 1)))
            deprels = ("root", *rng.choice(relations, n - 1)) if n > 1 else ("root",)
            trees.append(Tree(("w",) * n, tuple(rng.choice(["N", "V"], n)), heads, deprels))
        return trees

    return [
        Treebank.from_trees(draw(60, 6, ["a", "b"]), name="few"),
        Treebank.from_trees(draw(200, 6, ["a", "b"]), name="many"),
        Treebank.from_trees(draw(200, 12, ["b", "c"]), name="other"),
    ]


@pytest.mark.parametrize("equalize", ["tokens", "sentences"])
def test_equalized_samples(unequal, equalize):
    samples = list(_samples(unequal, equalize, np.random.default_rng(0)))
    if equalize == "sentences":
        assert [sample.sentences for sample in samples] == [60] * 3
    else:
        smallest = unequal[0].words
        longest = max(bank.lengths.max() for bank in unequal)
        assert all(smallest - longest < sample.words <= smallest for sample in samples)
        assert samples[0].words == smallest
    result = ld.compare_treebanks(unequal, equalize=equalize, n_repeats=4, seed=3)
    again = ld.compare_treebanks(unequal, equalize=equalize, n_repeats=4, seed=3)
    other = ld.compare_treebanks(unequal, equalize=equalize, n_repeats=4, seed=4)
    assert_frame_equal(result.to_frame(), again.to_frame())
    assert not result.to_frame().equals(other.to_frame())
    assert (result.std["mean"].to_numpy()[~np.eye(3, dtype=bool)] > 0).all()
    assert (np.diag(result.divergence["mean"]) == 0).all()
    assert f"equalize:{equalize}|repeats:4|seed:3" in result.signature
    assert f"subsamples of equal {equalize}" in result.summary()


def test_noise_is_below_real_differences(unequal):
    result = ld.compare_treebanks(unequal, n_repeats=8, seed=0)
    assert (result.noise_std["mean"] > 0).all()
    matrix = result.divergence["matrix"]
    assert matrix.at["many", "other"] > 10 * max(result.noise.loc[["many", "other"], "matrix"])
    assert matrix.at["few", "many"] < 3 * max(result.noise.loc[["few", "many"], "matrix"])
    frame = result.to_frame().set_index(["metric", "reference", "compared"])
    assert frame.at[("size", "few", "many"), "noise"] == max(result.noise.loc[["few", "many"], "size"])
    assert "differences below mean nothing" in result.summary()
    assert "times the words of the smallest" in result.summary()


def test_errors_are_those_of_resampled_treebanks(unequal):
    result = ld.compare_treebanks(unequal, n_repeats=1, seed=0)
    rng, drawn = np.random.default_rng(1), []
    for _ in range(60):  # 60 and 200 sentences: 50 blocks of one or two, and of four
        own = []
        for bank in unequal[:2]:
            block = np.arange(bank.sentences) * 50 // bank.sentences
            chosen = rng.integers(50, size=50)
            own.append(bank.take(np.concatenate([np.flatnonzero(block == unit) for unit in chosen])))
        drawn.append([m.at["few", "many"] for m in ld.compare_treebanks(own, noise=False).divergence.values()])
    rows = result.to_frame().query("reference == 'few' and compared == 'many'").set_index("metric")
    ratio = rows["std_error"].to_numpy() / np.std(drawn, axis=0, ddof=1)
    assert np.exp(np.abs(np.log(ratio)).mean()) < 1.25  # each by its own 40 and 60 draws
    assert ((rows["low"] < rows["divergence"]) & (rows["divergence"] < rows["high"])).all()
    effects = result.effects("length")
    assert effects.std_error["few → many"] == pytest.approx(rows.at["length", "std_error"])
    assert result.effects("matrix").contrast("few → other", "few → many").low > 0
    assert "by bootstrap of 150 blocks of neighbouring sentences" in result.summary()
    quiet = ld.compare_treebanks(unequal, noise=False)
    refused(DataError, "divergences have no errors: compare the treebanks with noise", quiet.effects)


def test_words_for_a_difference(unequal):
    result = ld.compare_treebanks(unequal, n_repeats=20, seed=0)
    assert result.words_needed(metric="length")["exponent"].between(0.5, 1.2).all()  # bins are few: near 1
    parts = result.noise_of_parts
    assert parts.xs(1, level="part")["mean"].equals(result.noise["mean"])
    levels = pd.Series({"few": 3.0, "many": 5.0, "other": 1.0}).reindex(parts.index, level="treebank")
    exact = replace(result, noise_of_parts=parts.assign(mean=levels * parts["words"] ** -0.5))
    assert exact.words_needed(0.1)["words_needed"].tolist() == pytest.approx([900, 2500, 100])
    assert "Noise as small as 0.1 needs 100 to 2,500 words" in exact.summary()
    slow = replace(result, noise_of_parts=parts.assign(mean=levels * parts["words"] ** -0.2))
    refused(DataError, r"falls too slowly with the words \(exponent 0.20\)", slow.words_needed)
    assert "No plan: the noise of mean falls too slowly" in slow.summary()
    refused(ConfigError, "difference must be finite and above 0", result.words_needed, 0)
    quiet = ld.compare_treebanks(unequal, noise=False)
    refused(DataError, "mean has no noise in parts of each treebank", quiet.words_needed)
    assert "Natural is not correct" in quiet.summary()


def test_groups_and_order(unequal):
    result = ld.compare_treebanks(unequal, noise=False)
    groups = result.groups(2)
    assert groups["few"] == groups["many"] != groups["other"]
    order = result.cluster_order()
    assert sorted(order) == ["few", "many", "other"]
    assert order[1] != "other"
    assert result.groups(1).nunique() == 1
    refused(ConfigError, "n_groups must be at least 1; got 0", result.groups, 0)


def test_relation_of_one_corpus_only_and_no_bin_in_common():
    one = Treebank.from_trees([Tree(("w",), ("X",), (0,), ("root",))] * 2, name="one")
    result = ld.compare_treebanks([one, banks()[0]], progress=False, seed=0)
    assert np.isfinite(result.to_frame()["divergence"]).all()
    bare = ld.compare_treebanks([one, banks()[0]], settings=SimilaritySettings(alpha=0), noise=False)
    assert bare.divergence["size"].at["one", "A"] == math.inf


def test_bad_calls(tmp_path):
    refused(ConfigError, "at least two treebanks; got 1", ld.compare_treebanks, banks()[:1], seed=0)
    refused(ConfigError, r"at least two treebanks; got 'x\.conllu'", ld.compare_treebanks, "x.conllu", seed=0)
    refused(ConfigError, "several treebanks are called 'A'", ld.compare_treebanks, banks()[:1] * 2, seed=0)
    refused(ConfigError, "n_repeats must be at least 1; got 0", compare, n_repeats=0)
    refused(ConfigError, "equalize is one of tokens, sentences, or None; got 'words'", compare, equalize="words")
    with pytest.raises(DataError, match="'B', or a subsample of it, needs at least two sentences to estimate"):
        compare(equalize="tokens", noise=True)  # A has 8 words, B's sentences 6 and 4
    lonely = Treebank.from_trees(A[:1], name="lonely")
    with pytest.raises(DataError, match="'lonely' needs at least two sentences to estimate the noise floor; leave"):
        ld.compare_treebanks([lonely, banks()[0]], seed=0)
    long = Treebank.from_trees([Tree(("w",) * 9, ("X",) * 9, tuple(range(9)), ("r",) * 9)] * 2, name="long")
    with pytest.raises(DataError, match=r"smallest treebank has 6 words, fewer than a sentence of 'long'"):
        ld.compare_treebanks([lonely, long], equalize="tokens", noise=False, seed=0)
    (tmp_path / "few.conllu").write_text("1\tw\t_\tX\t_\t_\t0\troot\t_\t_\n")
    with pytest.warns(LangdiffWarning, match="'few' has 1 sentences"):
        ld.compare_treebanks([tmp_path / "few.conllu", banks()[0]], noise=False)


@pytest.mark.parametrize(
    ("name", "value"),
    [("size_bin", 0), ("base", 1), ("alpha", -1), ("alpha", math.nan), ("levels", "deep"), ("ancestors", 3)],
)
def test_bad_settings(name, value):
    refused(ConfigError, name, SimilaritySettings, **{name: value})


REAL = ["en_ewt", "en_gum", "en_lines", "en_partut", "ru_gsd", "ru_taiga"]
FOUR_DECIMALS = 5e-4
PRINTED = """
size en_ewt 0 .1848 .3971 .8962 .8931 .1445
size en_gum .1887 0 .1912 .4389 .5678 .3140
size ru_gsd .4830 .3490 .2452 .2373 0 .4580
size ru_taiga .1413 .2780 .4157 .8768 .6890 0
depth en_ewt 0 .5845 .5328 1.1320 1.1102 .3513
depth en_gum 1.8915 0 .1401 1.2251 1.8337 2.1148
depth ru_gsd .9414 1.4316 .8202 .6091 0 1.3525
depth ru_taiga .2369 .6840 .6415 1.5528 1.4738 0
width en_ewt 0 .0075 .0198 .0166 .0177 .0056
width ru_gsd .0166 .0154 .0267 .0134 0 .0187
width ru_taiga .0055 .0086 .0208 .0142 .0202 0
length en_ewt 0 .0020 .0057 .0055 .0200 .0237
length ru_gsd .0179 .0240 .0382 .0307 0 .0034
length ru_taiga .0220 .0289 .0458 .0402 .0041 0
mean en_ewt 0 .1947 .2389 .5126 .5102 .1313
mean en_gum .5225 0 .0904 .4206 .6120 .6177
mean en_lines .5112 .1329 0 .3047 .4077 .6073
mean en_partut .6587 .5269 .4100 0 .3219 .7037
mean ru_gsd .3648 .4550 .2826 .2226 0 .4581
mean ru_taiga .1014 .2499 .2810 .6210 .5468 0
"""
SIZES = """
en_ewt 2000 25135 16308 8827 49 17774 1.9075
en_gum 1982 35124 22748 12376 51 26554 2.2079
en_lines 2000 36674 24112 12562 42 26538 2.3145
en_partut 2000 47768 30708 17060 43 34921 2.7530
ru_gsd 1180 23094 13730 9364 43 16825 2.6432
ru_taiga 2000 23634 14361 9273 48 17737 2.0385
"""


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.filterwarnings("ignore:sentence_twice")  # in EWT
def test_real_treebanks(real_data):
    result = ld.compare_treebanks([real_data / "ud" / f"{name}.conllu.gz" for name in REAL], noise=False)
    for line in PRINTED.split("\n")[1:-1]:
        metric, reference, *values = line.split()
        ours = result.divergence[metric].loc[reference, REAL].to_numpy()
        assert ours == pytest.approx(np.array(values, dtype=float), abs=FOUR_DECIMALS), line
    columns = ["sentences", "words", "leaves", "chains", "relations", "depth_keys", "mean_size_bin"]
    expected = pd.DataFrame([line.split() for line in SIZES.split("\n")[1:-1]]).set_index(0).astype(float)
    ours = result.sizes()[columns].astype(float)
    assert (ours.iloc[:, :-1].to_numpy() == expected.iloc[:, :-1].to_numpy()).all()
    assert ours["mean_size_bin"].to_numpy() == pytest.approx(expected[7].to_numpy(), abs=5e-5)


def test_a_seed_is_in_the_signature_whatever_its_type():
    assert compare(seed=np.int64(3), noise=True).signature == compare(seed=3, noise=True).signature
    assert "|seed:none|" in compare(seed=None).signature  # nothing is drawn
    generators = [np.random.default_rng(seed) for seed in (3, 3, 4)]
    one, same, other = (compare(seed=generator, noise=True).signature for generator in generators)
    assert "|seed:generator#" in one
    assert one == same != other
    assert compare(seed=generators[0], noise=True).signature != one  # it spawned before, and so spawns others now


def test_other_treebanks_have_another_signature():
    bark = Tree(("a", "b"), ("NOUN", "VERB"), (2, 0), ("nsubj", "root"))
    relabelled = Tree(("a", "b"), ("PRON", "VERB"), (2, 0), ("nsubj", "root"))
    banks = [Treebank.from_trees([tree] * 3, name="x") for tree in (bark, bark, relabelled)]
    fixed = Treebank.from_trees([bark] * 4, name="y")
    one, same, other = (ld.compare_treebanks([bank, fixed], seed=0).signature for bank in banks)
    assert one == same != other

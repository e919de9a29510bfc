"""Nested training sizes, and the curve that is measured on them."""

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.experiments.curves import curve_where_possible, nested_parts
from langdiff.lm import Compute
from tests.helpers import refused


@pytest.fixture(scope="module")
def parts():
    return ld.split(ld.synthesize(n_intents=240, n_languages=3, seed=0).multitext)


@pytest.fixture(scope="module")
def curve(parts, tmp_path_factory):
    cache = tmp_path_factory.mktemp("curve")
    return ld.difficulty_curve(
        parts, train_sizes=[40, 80, 160], lm="kneser-ney-3", seed=0, compute=Compute(cache=cache, progress=False)
    ), cache


def test_sizes_are_nested_and_the_rest_is_untouched(parts):
    cut, read = nested_parts(parts, [10, 40, 160], "intents", np.random.default_rng(0))
    names = [set(part.train.intents) for part in cut.values()]
    assert names[0] < names[1] < names[2] == set(parts.train.intents)
    assert all(part.test is parts.test and part.dev is parts.dev for part in cut.values())
    assert list(cut[40].train.intents) == [name for name in parts.train.intents if name in names[1]]
    assert (read.to_numpy() == [10, 40, 160]).all()


@pytest.mark.parametrize("match", ["bytes", "characters"])
def test_editions_read_as_much_text_as_the_shortest_allows(parts, match):
    cut, read = nested_parts(parts, [20, 80], match, np.random.default_rng(1))
    measure = (lambda text: len(text.encode())) if match == "bytes" else len
    longest = max(measure(text) for edition in parts.editions for text in parts.train.text(edition))
    order = np.random.default_rng(1).permutation(len(parts.train))
    for size, part in cut.items():
        amounts = {edition: sum(map(measure, part.train.text(edition))) for edition in part.editions}
        first = parts.train.intents[order[:size]]
        budget = min(sum(map(measure, parts.train.text(edition)[first])) for edition in parts.editions)
        assert max(amounts.values()) == budget
        assert all(budget - longest < amount <= budget for amount in amounts.values())
        assert {edition: len(part.train.text(edition)) for edition in part.editions} == read[size].to_dict()


def test_sizes_that_cannot_be_cut_are_refused(parts):
    for sizes, message in (
        ([80], "two or more"),
        ([80, 40], "that rise"),
        ([40.0, 80], "whole numbers"),
        ([1, 80], "from 2 to the 160"),
        ([40, 500], "from 2 to the 160"),
    ):
        refused(ConfigError, message, ld.difficulty_curve, parts, train_sizes=sizes, seed=0)
    with pytest.raises(ConfigError, match="unknown match 'words'"):
        ld.difficulty_curve(parts, train_sizes=[40, 80], match="words", seed=0)
    refused(ConfigError, "n_seeds", ld.difficulty_curve, parts, train_sizes=[40, 80], n_seeds=0, seed=0)
    long = ld.read_frame(pd.DataFrame({"eng": ["a dog"] * 66, "deu": ["ein Hund " * 50] * 66}))
    with pytest.raises(DataError, match=r"1 edition\(s\) would read fewer than 2 intents: 'deu'"):
        nested_parts(ld.split(long), [3, 40], "bytes", np.random.default_rng(0))


def test_each_size_is_a_model_of_its_part(parts, curve):
    curve, cache = curve
    cut, _ = nested_parts(parts, [40, 80, 160], "intents", np.random.default_rng(0))
    table = ld.compute_surprisals(cut[80], lm="kneser-ney-3", progress=False)
    np.testing.assert_allclose(
        curve.difficulty[80], ld.fit(table, errors="sandwich", clusters=None, dispersion="common").difficulty
    )
    assert sorted(path.name for path in cache.iterdir()) == ["size-160", "size-40", "size-80"]
    assert (curve.log_bits.diff(axis=1).iloc[:, 1:] < 0).to_numpy().all()
    assert curve.match == "intents"
    assert curve.read.loc[curve.editions[0]].tolist() == [40, 80, 160]


def test_the_cache_and_the_first_seed_are_used_again(parts, curve):
    curve, cache = curve
    again = ld.difficulty_curve(
        parts, train_sizes=[40, 80, 160], lm="kneser-ney-3", seed=0, compute=Compute(cache=cache, progress=False)
    )
    pd.testing.assert_frame_equal(again.log_bits, curve.log_bits)
    two = ld.difficulty_curve(
        parts,
        train_sizes=[40, 160],
        lm="kneser-ney-3",
        seed=0,
        n_seeds=2,
        compute=Compute(cache=cache, progress=False),
        match="intents",
    )
    np.testing.assert_allclose(two.by_seed[0], curve.log_bits[[40, 160]])
    assert (two.by_seed[1, :, 0] != two.by_seed[0, :, 0]).all()
    assert len(list(cache.glob("seed-*/size-40"))) == 1


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"model": "3"}, "model '3' needs model=Blunders"),
        ({"clusters": "scene"}, "scene"),
        ({"n_draws": 10}, "n_draws=10: "),
    ],
)
def test_what_the_fit_would_refuse_is_refused_before_training(parts, tmp_path, setting, message):
    with pytest.raises(ConfigError, match=message):
        ld.difficulty_curve(
            parts, train_sizes=[40, 80], lm="kneser-ney-2", seed=0, compute=Compute(cache=tmp_path), **setting
        )
    assert not list(tmp_path.iterdir())


def test_folds_are_cut_each_by_its_own_order():
    text = ld.synthesize(n_intents=240, n_languages=3, seed=0).multitext
    folds = ld.split_into_folds(text, 3, groups=pd.Series(np.arange(240) // 8, text.intents, name="document"))
    fewest = min(len(each.train) for each in folds.parts)
    with pytest.raises(ConfigError, match=f"from 2 to the {fewest}"):
        ld.difficulty_curve(folds, train_sizes=[20, fewest + 1], lm="kneser-ney-3", seed=0)
    cut, read = nested_parts(folds, [20, 60], "bytes", np.random.default_rng(0))
    own = [nested_parts(each, [20, 60], "bytes", rng) for rng in [np.random.default_rng(0)] for each in folds.parts]
    np.testing.assert_allclose(read, np.mean([counts for _, counts in own], axis=0), atol=0.5)
    for k, (smaller, _) in enumerate(own):
        assert list(cut[60].parts[k].train.intents) == list(smaller[60].train.intents)
        assert cut[60].parts[k].test is folds.parts[k].test
    curve = ld.difficulty_curve(
        folds, train_sizes=[20, 60], lm="kneser-ney-3", seed=0, clusters="fold", compute=Compute(progress=False)
    )
    assert curve.n_intents == 240
    cut, _ = nested_parts(folds, [20, 60], "intents", np.random.default_rng(0))
    table = ld.compute_surprisals(cut[20], lm="kneser-ney-3", max_replaced=1.0, progress=False)
    np.testing.assert_allclose(
        curve.difficulty[20], ld.fit(table, errors="sandwich", clusters=None, dispersion="common").difficulty
    )


def test_an_edition_that_fails_is_left_out_and_named(parts, tmp_path):
    texts = {
        edition: pd.concat([getattr(parts, name).text(edition) for name in ("train", "dev", "test")])
        for edition in parts.editions
    }
    frame = pd.DataFrame(texts)
    other = parts.editions[1]
    frame.loc[parts.test.intents, other] = "ЖЖЖ ЖЖ"  # no character of which is in its training text
    train, dev, test = (ld.read_frame(frame.loc[part.intents]) for part in (parts.train, parts.dev, parts.test))
    settings = {"sizes": [40, 160], "lm": "kneser-ney-3", "scoring": None, "match": "intents", "n_seeds": 1, "seed": 0}
    settings |= {"model": "2", "clusters": None, "max_replaced": 0.5}
    curve, failed = curve_where_possible(
        ld.Parts(train=train, dev=dev, test=test), **settings, compute=Compute(cache=tmp_path, progress=False), least=2
    )
    assert list(failed) == [other]
    assert failed[other].startswith("40 training intents: ")
    kept = [edition for edition in parts.editions if edition != other]
    assert list(curve.editions) == kept
    alone, none = curve_where_possible(
        parts.sel(kept), **settings, compute=Compute(cache=tmp_path / "alone", progress=False), least=2
    )
    assert not none
    np.testing.assert_array_equal(curve.log_bits, alone.log_bits)
    with pytest.raises(DataError, match=other):
        ld.difficulty_curve(ld.Parts(train=train, dev=dev, test=test), train_sizes=[40, 160], seed=0, max_replaced=0.5)

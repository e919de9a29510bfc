"""Balanced samples obey the rules by which they are drawn; a planted difference is found by the whole experiment."""

import gzip
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import langdiff as ld
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from langdiff.experiments import balance_by_origin, run_balanced
from langdiff.lm import Compute

ORIGINS = ["eng", "deu", "fra", "und", np.nan]


def drawn_multitext(sizes, origins, missing=()):
    """Make two editions, with so many words each and some German cells missing."""
    names = [f"s{number}" for number in range(len(sizes))]
    texts = pd.DataFrame({"deu": ["wort"] * len(sizes), "eng": [" ".join(["word"] * n) for n in sizes]}, index=names)
    texts.loc[[names[k] for k in missing], "deu"] = None
    return ld.read_frame(texts), pd.Series(origins, index=names, dtype=object)


@given(
    st.lists(st.tuples(st.integers(1, 9), st.sampled_from(ORIGINS), st.booleans()), min_size=1, max_size=60),
    st.integers(1, 60),
    st.integers(0, 5),
)
def test_rules_of_the_draw(rows, budget, seed):
    sizes, origins, present = zip(*rows, strict=True)
    missing = [k for k, there in enumerate(present) if not there]
    multitext, origin = drawn_multitext(sizes, origins, missing)
    words = pd.Series(sizes, index=origin.index)
    there = origin.index[list(present)]
    native = [i for i in there if origin[i] == "deu"]
    translated = [i for i in there if origin[i] in ("eng", "fra")]
    settings = {"budget_words": budget, "seed": seed, "original_language": origin}
    if not native or not translated or words[native].sum() < budget:
        with pytest.raises(DataError):
            balance_by_origin(multitext, "deu", **settings)
        return
    refused = ""
    try:
        sample = balance_by_origin(multitext, "deu", **settings)
    except DataError as error:  # fewer translated words than native ones were drawn
        refused = str(error)
    if refused:
        assert words[translated].sum() < words[native].sum()
        assert f"{words[translated].sum():,} words in {len(translated)} intents" in refused
        return
    part = sample.intent_info["origin"]
    taken = {name: list(part.index[part == name]) for name in ("native", "translated")}
    assert set(taken["native"]) <= set(native)
    assert set(taken["translated"]) <= set(translated)
    total = {name: words[intents].sum() for name, intents in taken.items()}
    largest = {name: words[intents].max() for name, intents in taken.items()}
    assert budget <= total["native"] < budget + largest["native"]
    assert total["native"] <= total["translated"] < total["native"] + largest["translated"]
    assert sample.presence.all(axis=None)
    assert list(sample.editions) == ["deu", "eng"]
    assert sample.intent_info["original_language"].equals(origin[sample.intents].rename("original_language"))
    again = balance_by_origin(multitext, "deu", **settings)
    assert list(again.intents) == list(sample.intents)


@given(
    st.lists(st.tuples(st.integers(1, 9), st.sampled_from(ORIGINS)), min_size=1, max_size=60),
    st.integers(1, 60),
    st.integers(0, 5),
)
@example([(1, "eng"), (2, "deu")], 2, 0)  # as many of one as of the other
def test_rules_of_the_draw_by_intents(rows, budget, seed):
    sizes, origins = zip(*rows, strict=True)
    multitext, origin = drawn_multitext(sizes, origins)
    words = pd.Series(sizes, index=origin.index)
    pools = {"native": origin[origin == "deu"].index, "translated": origin[origin.isin(["eng", "fra"])].index}
    settings = {"by": "intents", "budget_words": budget, "seed": seed, "original_language": origin}
    try:
        sample = balance_by_origin(multitext, "deu", **settings)
    except DataError:
        fewest, most = sorted(pools.values(), key=len)  # all of the first are drawn, with as many of the others
        assert words[fewest].sum() + words[most].nsmallest(len(fewest)).sum() < 2 * budget
        return
    part = sample.intent_info["origin"]
    taken = {name: part.index[part == name] for name in pools}
    assert len(taken["native"]) == len(taken["translated"])
    for name, pool in pools.items():
        assert set(taken[name]) <= set(pool)
    total = words[part.index].sum()
    largest = sum(words[intents].max() for intents in taken.values())
    assert 2 * budget <= total < 2 * budget + largest  # without the last pair it is not reached
    again = balance_by_origin(multitext, "deu", **settings)
    assert list(again.intents) == list(sample.intents)


def test_equal_words_are_not_equal_numbers_of_intents():
    # native sentences are three times as long
    multitext, origin = drawn_multitext([3, 1] * 100, ["deu", "eng"] * 100)
    counts = {
        by: balance_by_origin(multitext, "deu", by=by, budget_words=30, seed=0, original_language=origin)
        .intent_info["origin"]
        .value_counts()
        .to_dict()
        for by in ("words", "intents")
    }
    assert counts == {"words": {"translated": 30, "native": 10}, "intents": {"native": 15, "translated": 15}}
    with pytest.raises(DataError, match=r"native and translated intents of 'deu': 400 words in 100 pairs, but"):
        balance_by_origin(multitext, "deu", by="intents", budget_words=201, seed=0, original_language=origin)
    with pytest.raises(ConfigError, match="by is one of words, intents; got 'verses'"):
        balance_by_origin(multitext, "deu", by="verses", budget_words=1, seed=0, original_language=origin)


def test_draw_is_random_and_shuffled():
    multitext, origin = drawn_multitext([1] * 400, ["deu", "eng"] * 200)
    firsts, runs = set(), []
    for seed in range(20):
        sample = balance_by_origin(multitext, "deu", budget_words=100, seed=seed, original_language=origin)
        firsts.add(sample.intents[0])
        part = sample.intent_info["origin"].to_numpy()
        runs.append(int((part[1:] != part[:-1]).sum()))
    assert len(firsts) > 10
    assert 80 < np.mean(runs) < 120  # 100 expected of 200 shuffled intents, 1 if the parts were in order
    picks = pd.concat(
        [
            pd.Series(balance_by_origin(multitext, "deu", budget_words=50, seed=s, original_language=origin).intents)
            for s in range(40)
        ]
    )
    half = picks.str[1:].astype(int) < 200
    assert abs(half.mean() - 0.5) < 4 * 0.5 / np.sqrt(len(picks))  # early intents are no likelier than late ones


def test_intent_info_is_the_default_and_codes_may_differ():
    multitext, origin = drawn_multitext([2] * 8, ["de", "en"] * 4)
    with pytest.raises(DataError, match="has no column 'original_language'"):
        balance_by_origin(multitext, "de", budget_words=4, seed=0)
    info = pd.DataFrame({"original_language": origin})
    known = ld.read_frame(multitext.to_frame(), intent_info=info)
    with pytest.raises(DataError, match=r"unknown language 'de': editions are in 'deu', 'eng', intents from"):
        balance_by_origin(known, "de", budget_words=4, seed=0)
    codes = {"deu": "de", "eng": "en"}
    assert len(balance_by_origin(known, "de", budget_words=4, seed=0, edition_info=codes)) == 4
    assert len(balance_by_origin(known, "de", budget_words=4, seed=np.random.default_rng(1), edition_info=codes))


@pytest.mark.parametrize(
    ("language", "settings", "message"),
    [
        ("swe", {}, r"unknown language 'swe': editions are in 'deu', 'eng', intents from 'deu', 'fra'"),
        ("eng", {}, r"no native intent for 'eng' among the 6 that all editions have"),
        ("deu", {"budget_words": 10**6}, r"native intents of 'deu': 9 words in 3 intents, but 1,000,000 are wanted"),
        ("deu", {"budget_words": 9}, r"translated intents of 'deu': 6 words in 2 intents, but 9 are wanted"),
        ("deu", {"reference": "swe"}, r"reference 'swe' is not an edition: 'deu', 'eng'"),
    ],
)
def test_what_cannot_be_drawn_is_explained(language, settings, message):
    multitext, origin = drawn_multitext([3] * 6, ["deu"] * 3 + ["fra"] * 2 + ["und"])
    with pytest.raises(DataError, match=message):
        balance_by_origin(
            multitext, language, **({"budget_words": 3, "seed": 0, "original_language": origin} | settings)
        )


def three_languages(native_factor):
    """Native German says each thing once or twice; who spoke is known of nine intents in ten."""
    rng = np.random.default_rng(0)
    words = {"deu": ["da", "du", "di", "do"], "eng": ["ta", "tu", "ti", "to"], "fra": ["la", "lu", "li", "lo"]}
    names = [f"s{number}" for number in range(2400)]
    origin = rng.choice(["deu", "eng", "fra", "und"], len(names), p=[0.3, 0.3, 0.3, 0.1])
    lengths = rng.integers(4, 13, len(names))  # what the languages share; the words are each language's own
    texts = {
        language: [" ".join(rng.choice(lexicon, length)) for length in lengths] for language, lexicon in words.items()
    }
    texts["deu"] = [
        " ".join([text] * (native_factor if source == "deu" else 1))
        for text, source in zip(texts["deu"], origin, strict=True)
    ]
    return ld.read_frame(pd.DataFrame(texts, index=names)), pd.Series(origin, index=names)


@pytest.mark.parametrize("factor", [1, 2])
def test_a_planted_difference_is_found(factor):
    multitext, origin = three_languages(factor)
    result = run_balanced(
        multitext,
        ["deu", "eng"],
        budget_words=4000,
        original_language=origin,
        lm="kneser-ney-3",
        compute=Compute(progress=False),
        seed=0,
    )
    frame = result.to_frame()
    assert list(frame.index) == ["deu", "eng"]
    assert (
        abs(frame.loc["eng", "difference"]) < 4 * frame.loc["eng", "std_error"] < 0.05
    )  # German's is not taken for it
    row = frame.loc["deu"]
    # trigrams of characters cannot see that far back: twice the text is twice the bits
    assert row["difference"] == pytest.approx(np.log(factor), abs=0.1)
    if factor == 1:
        assert abs(row["difference"]) < 4 * row["std_error"]
    assert 4000 <= row["native_words"] <= row["translated_words"] < 4024 * factor
    assert row["native"] + row["translated"] == pytest.approx(1000 / 6, rel=0.1)  # of about 500 + 500 intents


@pytest.mark.parametrize(
    ("origins", "budget", "message"),
    [
        (["deu", "eng"] * 200, 100, "Two languages are not enough on their own"),
        (["deu", "fra"] + ["eng"] * 398, 1, r"leave none for train"),
        (["deu", "fra"] * 200, 6, r"the test part has no native, or no translated, intents of 'deu'\. Raise budget"),
    ],
)
def test_what_cannot_be_compared_is_told_before_training(monkeypatch, origins, budget, message):
    def train(*_, **__):
        raise AssertionError("trained")

    monkeypatch.setattr("langdiff.lm.compute.compute_where_possible", train)
    multitext, origin = drawn_multitext([1] * len(origins), origins)
    with pytest.raises(DataError, match=message):
        run_balanced(multitext, ["deu"], budget_words=budget, original_language=origin, seed=196)  # five of one origin


def test_the_whole_experiment_by_intents():
    multitext, origin = three_languages(2)
    result = run_balanced(
        multitext,
        ["deu"],
        by="intents",
        seed=0,
        budget_words=1600,
        original_language=origin,
        lm="kneser-ney-2",
        compute=Compute(progress=False),
        model="1",
    )
    row = result.words.loc["deu"]
    assert row["native_intents"] == row["translated_intents"]
    assert 3200 <= row["native_words"] + row["translated_words"] < 3224  # a pair of sentences has 24 words at most
    assert "[experiment:balanced|by:intents|language:deu|" in result.summary()


def test_result_says_what_was_done(tmp_path):
    multitext, origin = three_languages(1)
    result = run_balanced(
        multitext,
        ["deu", "eng"],
        budget_words=1600,
        original_language=origin,
        lm="kneser-ney-2",
        compute=Compute(cache=tmp_path, progress=False),
        model="1",
        seed=0,
    )
    frame = result.to_frame()
    assert list(frame.index) == ["deu", "eng"]
    assert result.mean == pytest.approx(frame["difference"].mean())
    assert result.standard_deviation == pytest.approx(np.std(frame["difference"], ddof=1))
    assert "trained on equal amounts of both" in result.summary()
    assert "native_words" in result.summary()
    assert "[experiment:balanced|by:words|language:deu|" in result.summary()
    assert (result.words["native_intents"] != result.words["translated_intents"]).any()
    assert "over 2 language(s)" in repr(result)
    assert sorted(folder.name for folder in tmp_path.iterdir()) == ["balanced-deu", "balanced-eng"]
    axes = result.plot()
    assert axes.get_title(loc="left") == "kneser-ney-2, model 1"
    assert "models trained on equal amounts of both" in axes.get_xlabel()
    axes.figure.clear()


def rare(text, number):
    """Put a character of its own into every text: too rare to be learned."""
    return text + chr(0x4E00 + number)


def test_cautions_come_once_for_all_editions_at_the_callers_line():
    multitext, origin = three_languages(1)
    frame = multitext.to_frame()
    strange = pd.DataFrame(
        {edition: [rare(text, number) for number, text in enumerate(frame[edition])] for edition in frame},
        index=frame.index,
    )
    options = {
        "budget_words": 1600,
        "original_language": origin,
        "lm": "kneser-ney-2",
        "compute": Compute(progress=False),
        "seed": 0,
    }
    with pytest.warns(LangdiffWarning) as caught:
        run_balanced(ld.read_frame(strange), ["deu", "eng"], **options)
    assert len(caught) == 2  # one of the dev parts, one of the test parts
    for warning, part in zip(caught, ("dev", "test"), strict=True):
        assert warning.filename == __file__
        assert re.match(
            r"3 editions, 'deu', 'eng', 'fra'( \(the figures are those of 'deu'\))?: many characters are too rare in .*"
            rf"\({part} \d+\.\d+%\)",
            str(warning.message),
        )


def test_standard_errors_by_bootstrap_need_no_other_seed():
    multitext, origin = three_languages(1)
    options = {
        "budget_words": 1600,
        "original_language": origin,
        "lm": "kneser-ney-2",
        "compute": Compute(progress=False),
        "errors": ld.Bootstrap(99),
    }
    first, again = (run_balanced(multitext, "deu", **options, seed=3).to_frame() for _ in range(2))
    pd.testing.assert_frame_equal(first, again)
    assert first["std_error"].notna().all()


@pytest.mark.real_data
def test_europarl_holds_as_many_words_as_the_sample_says(real_data):
    folder = real_data / "europarl"
    texts = {
        name: gzip.decompress((folder / f"{code}.txt.gz").read_bytes()).decode().split("\n")[:-1]
        for code, name in (("en", "eng"), ("fr", "fra"))
    }
    multitext = ld.read_frame(pd.DataFrame(texts))
    codes = gzip.decompress((folder / "original_language.txt.gz").read_bytes()).decode().split()
    origin = pd.Series(codes, index=multitext.intents).replace({"en": "eng", "fr": "fra"})
    native = multitext.text("eng")[origin == "eng"].str.split().str.len().sum()
    with pytest.raises(DataError, match=f"native intents of 'eng': {native:,} words in 603 intents, but 500,000"):
        balance_by_origin(multitext, "eng", seed=0, original_language=origin)
    sample = balance_by_origin(multitext, "eng", budget_words=int(native), seed=0, original_language=origin)
    assert sample.intent_info["origin"].value_counts()["native"] == 603

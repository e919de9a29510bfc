"""Batches of padded intents."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from langdiff.errors import DataError
from langdiff.lm import RECIPES, compute_surprisals, score_multitext, train_language_model
from langdiff.lm.lstm.batches import Text, cut, draw_segments, lay_out, pad
from tests.lm.conftest import make_parts, verses

END = 99
intents = st.lists(st.lists(st.integers(0, 8), max_size=12), min_size=1, max_size=6)


@given(intents)
def test_a_batch_holds_each_intent_between_end_symbols(intents):
    batch = pad([np.array(ids, dtype=np.int64) for ids in intents], END, torch.device("cpu"))
    steps = 1 + max(map(len, intents))
    columns = [ids + [END] * (steps - len(ids)) for ids in intents]
    assert batch.targets.T.tolist() == columns
    assert batch.inputs.T.tolist() == [[END, *ids[:-1]] for ids in columns]
    assert batch.lengths.tolist() == [len(ids) + 1 for ids in intents]


@given(intents)
def test_the_rows_of_a_batch_are_those_that_are_not_padding(intents):
    batch = pad([np.array(ids, dtype=np.int64) for ids in intents], END, torch.device("cpu"))
    rows = torch.arange(batch.targets.numel()) if batch.rows is None else batch.rows
    assert rows.tolist() == batch.real.flatten().nonzero()[:, 0].tolist()
    assert (batch.rows is None) == bool(batch.real.all())


@given(intents=intents, steps=st.integers(1, 14))
def test_stretches_of_a_batch_are_the_batch(intents, steps):
    arrays, cpu = [np.array(ids, dtype=np.int64) for ids in intents], torch.device("cpu")
    whole, text = pad(arrays, END, cpu), Text(arrays, END)
    parts = list(text.batches(text.pieces(), cpu, steps=steps))
    for name in ("inputs", "targets", "real"):
        assert torch.equal(torch.cat([getattr(part, name) for part in parts]), getattr(whole, name))
    assert torch.equal(sum(part.lengths for part in parts), whole.lengths)
    assert max(len(part.inputs) for part in parts) <= steps


@given(intents=intents, window=st.integers(2, 14), share=st.floats(0, 0.99))
def test_windows_score_every_symbol_once(intents, window, share):
    overlap = int(share * window)
    text = Text([np.array(ids, dtype=np.int64) for ids in intents], END)
    pieces = text.pieces(window, overlap)
    scored = [(row, begin + t) for row, begin, length, first in zip(*pieces, strict=True) for t in range(first, length)]
    assert scored == [(row, t) for row, ids in enumerate(intents) for t in range(len(ids) + 1)]
    assert pieces.lengths.max() <= window
    assert set(pieces.scored[pieces.begins > 0]) <= {overlap}  # in view before what is scored


@given(lengths=st.lists(st.integers(1, 6), min_size=3, max_size=12), streams=st.integers(1, 6), seed=st.integers(0, 99))
def test_every_unit_is_predicted_once_after_the_one_before_it(lengths, streams, seed):
    units = iter(range(1000))
    intents = [np.array([next(units) for _ in range(n)]) for n in lengths]
    text = [END, *(unit for ids in intents for unit in (*ids, END))]
    laid = lay_out(intents, END, streams)  # (T + 1, B)
    segments = draw_segments(len(laid) - 1, 10, np.random.default_rng(seed))
    batches = [cut(laid, segment) for segment in segments]
    predicted = torch.cat([batch.targets for batch in batches]).T.flatten().tolist()
    given_ = torch.cat([batch.inputs for batch in batches]).T.flatten().tolist()
    assert len(text) - 1 - streams < len(predicted) <= len(text) - 1
    assert predicted == text[1 : len(predicted) + 1]
    assert given_ == text[: len(predicted)]
    assert all(batch.real.all() for batch in batches)


def test_lengths_of_segments():
    """95 % about bptt and 5 % about half of it, with standard deviation 5, and the rate in proportion."""
    segments = draw_segments(2_000_000, 100, np.random.default_rng(0))[:-1]
    lengths = np.array([stop - start for start, stop, _ in segments])
    short = lengths < 75
    # 20,000 draws: the fraction has a standard error of 0.0015, the long mean one of 0.04; int() cuts off 0.5
    assert short.mean() == pytest.approx(0.05, abs=0.006)
    assert lengths[~short].mean() == pytest.approx(99.5, abs=0.2)
    assert lengths[short].mean() == pytest.approx(49.5, abs=1)
    assert lengths[~short].std() == pytest.approx(5, abs=0.15)
    assert [segment.rate for segment in segments] == (lengths / 100).tolist()
    assert min(stop - start for start, stop, _ in draw_segments(10_000, 6, np.random.default_rng(0))[:-1]) == 5


def test_too_few_units_for_the_streams():
    with pytest.raises(DataError, match="training part: 9 units are too few for 10 streams"):
        lay_out([np.arange(8)], END, 10)


def test_a_stream_carries_what_was_before():
    """Where intents say what the one before them said, only a model that saw that one can know."""
    letters = np.random.default_rng(0).choice(list("abcdefgh"), 200)
    texts = [letter * 2 for letter in letters for _ in range(10)]
    alone = replace(RECIPES["char-tiny"], embedding_size=32, learning_rate=3e-2, batch_units=120, epochs=5, patience=5)
    carried = replace(alone, context="stream", bptt=30)
    bits = {
        recipe.context: train_language_model(texts, texts[:20], recipe=recipe, progress=False, seed=0).history
        for recipe in (alone, carried)
    }
    # alone, three bits for the first of three symbols; in a stream, letters change after ten intents only
    assert bits["intent"][-1].train_bits_per_unit > 0.97
    assert bits["stream"][-1].train_bits_per_unit < 0.4


@pytest.mark.parametrize("name", ["char-ptb", "bpe-awd", "char-fast", "bpe-fast"])
def test_the_large_recipes_train_in_small(name, tiny_recipe):
    small = {key: getattr(tiny_recipe, key) for key in ("embedding_size", "hidden_size", "min_count")}
    recipe = replace(RECIPES[name], **small, epochs=2, batch_units=8 * (RECIPES[name].bptt or 50))
    model = train_language_model(verses("eng", 200, 0), verses("eng", 20, 1), recipe=recipe, progress=False, seed=0)
    assert len(model.history) == 2
    assert model.history[1].train_bits_per_unit < model.history[0].train_bits_per_unit


def test_a_recipe_with_lists_of_epochs_is_known_again(tiny_recipe, tmp_path, monkeypatch):
    """JSON turns tuples into lists; a cache must not take that for another recipe."""
    recipe = replace(tiny_recipe, context="stream", bptt=20, batch_units=160, schedule="steps", decay_epochs=(1,))
    parts = make_parts()
    first = compute_surprisals(parts, lm=recipe, cache=tmp_path, progress=False, seed=0)
    monkeypatch.setattr("langdiff.lm.lstm.training.fit_language_model", lambda *_, **__: pytest.fail("trained again"))
    again = compute_surprisals(parts, lm=recipe, cache=tmp_path, progress=False, seed=0)
    scored = score_multitext(parts.test, tmp_path, lm=recipe, progress=False)
    assert first.bits.equals(again.bits)
    assert first.bits.equals(scored.bits)

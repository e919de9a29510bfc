"""Hashes for signatures: equal for equal things, different for all that could give other numbers."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from langdiff.base.signature import full_hash, name_of_number, name_of_seed, short_hash

arrays = hnp.arrays(
    np.float64, hnp.array_shapes(max_dims=2, min_side=0, max_side=4), elements=st.sampled_from([0.0, -0.0, 1.0, np.nan])
)


@given(arrays, arrays)
def test_arrays_have_equal_hashes_if_and_only_if_they_are_equal(one, other):
    equal = one.shape == other.shape and np.array_equal(one, other, equal_nan=True)
    assert (full_hash(one) == full_hash(other)) == equal


@given(arrays)
def test_the_hash_is_that_of_the_values_whatever_their_layout(array):
    strided = np.repeat(array, 2, axis=-1)[..., ::2]
    backwards = np.flip(np.flip(array).copy())
    for same in (np.asfortranarray(array), strided, backwards, array.astype(">f8"), array.astype(np.float32)):
        np.testing.assert_array_equal(same, array)
        assert full_hash(same) == full_hash(array)


def test_every_nan_is_the_same():
    other = np.array([0x7FF8000000000001], dtype=np.uint64).view(np.float64)
    assert np.isnan(other).all()
    assert full_hash(other) == full_hash(np.array([np.nan]))


FRAME = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, np.nan]}, index=["i", "j"])


@pytest.mark.parametrize(
    "other",
    [
        FRAME[["b", "a"]],
        FRAME.iloc[::-1],
        FRAME.rename(columns={"a": "c"}),
        FRAME.rename(index={"i": "k"}),
        FRAME.fillna(3.0),
        FRAME.T,
        FRAME.iloc[:, :1],
        FRAME.rename_axis(index="intent"),
    ],
)
def test_frames_that_differ_have_different_hashes(other):
    assert short_hash(FRAME) == short_hash(FRAME.copy())
    assert short_hash(FRAME) != short_hash(other)


def test_text_and_categories_are_hashed_by_value():
    words = pd.DataFrame({"a": ["x", None]})
    assert short_hash(words) == short_hash(words.astype("category"))
    assert short_hash(words) != short_hash(pd.DataFrame({"a": ["x", "None"]}))


def test_parts_do_not_run_into_one_another():
    assert short_hash("a", "bc") != short_hash("ab", "c")
    assert short_hash(["a", "b"]) != short_hash(["a"], ["b"])


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_numbers_keep_all_digits(one, other):
    assert (name_of_number(one) == name_of_number(other)) == (repr(one) == repr(other))


def test_a_generator_is_named_by_what_it_will_draw():
    def name(rng):
        return name_of_seed(rng, rng)

    one, same = np.random.default_rng(1), np.random.default_rng(1)
    assert name(one) == name(same) != name(np.random.default_rng(2))
    same.spawn(1)  # what it spawns next is other
    assert name(one) != name(same)
    one.random()
    assert name(one) != name(np.random.default_rng(1))
    assert name(np.random.Generator(np.random.MT19937(1))).startswith("generator#")
    assert name_of_seed(None, np.random.default_rng()) != name_of_seed(None, np.random.default_rng())

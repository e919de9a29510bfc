"""Splits by row number modulo the block."""

from itertools import chain

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from tests.helpers import refused
from tests.selection.test_select import catalogue


def numbers(part):
    return [int(name[1:]) + 1 for name in part.intents]


def test_sizes_of_the_bibles_of_the_paper():
    parts = ld.split(catalogue(np.ones((25_996, 2))))
    assert (len(parts.train), len(parts.dev), len(parts.test)) == (17_326, 4_335, 4_335)


def test_rule_row_by_row():
    parts = ld.split(catalogue(np.ones((100, 2))))
    for n in range(1, 101):
        expected = "dev" if n % 30 in range(1, 6) else "test" if n % 30 in range(6, 11) else "train"
        assert [name for name in ("train", "dev", "test") if n in numbers(getattr(parts, name))] == [expected]


@given(
    st.integers(2, 12).flatmap(
        lambda block: st.tuples(st.just(block), st.integers(1, block - 1), st.integers(1, block - 1))
    ),
    st.integers(30, 80),
    st.sampled_from(["drop", "test"]),
    st.integers(0, 1000),
)
def test_parts_are_disjoint_ordered_and_complete(sizes, rows, incomplete, seed):
    block, dev, test = sizes
    presence = np.random.default_rng(seed).random((rows, 3)) < 0.95
    presence[7] = False
    multitext = catalogue(presence)
    if dev + test >= block:
        refused(ConfigError, "cannot give", ld.split, multitext, block=block, dev=dev, test=test, incomplete=incomplete)
        return
    parts = ld.split(multitext, block=block, dev=dev, test=test, incomplete=incomplete)
    found = [numbers(part) for part in (parts.train, parts.dev, parts.test)]
    assert all(part == sorted(part) for part in found)
    together = sorted(chain(*found))
    wanted = presence.all(axis=1) if incomplete == "drop" else presence.any(axis=1)
    assert together == [int(i) + 1 for i in np.flatnonzero(wanted)]
    assert parts.train.presence.to_numpy().all()
    assert parts.dev.presence.to_numpy().all()


def test_incomplete_intents_do_not_count_and_may_join_the_test_part():
    presence = np.ones((70, 2), dtype=bool)
    presence[[0, 3, 40], 1] = False  # rows 1, 4 and 41
    with pytest.raises(DataError, match=r"3 of 70 intents are missing in some edition, the first 'i0'.*=.drop"):
        ld.split(catalogue(presence))
    dropped = ld.split(catalogue(presence), incomplete="drop")
    assert numbers(dropped.dev) == [2, 3, 5, 6, 7, 33, 34, 35, 36, 37, 64, 65, 66, 67, 68]
    kept = ld.split(catalogue(presence), incomplete="test")
    assert numbers(kept.test) == sorted([*numbers(dropped.test), 1, 4, 41])
    assert numbers(kept.train) == numbers(dropped.train)


def test_too_few_intents_or_bad_settings():
    with pytest.raises(DataError, match="5 complete intents leave none for train; at least 11 are needed"):
        ld.split(catalogue(np.ones((5, 2))))
    refused(DataError, "10 complete intents leave none for train", ld.split, catalogue(np.ones((10, 2))))
    for wrong in ({"dev": 0}, {"test": 0}, {"block": 10}, {"block": -3}):
        refused(ConfigError, "cannot give", ld.split, catalogue(np.ones((40, 2))), **wrong)
    refused(ConfigError, "incomplete='keep': must be", ld.split, catalogue(np.ones((40, 2))), incomplete="keep")


def test_editions_with_no_intent_in_common():
    multitext = ld.read_frame(pd.DataFrame({"deu": ["a", None], "eng": [None, "b"]}))
    refused(DataError, r"no intent is in all 2 editions\. Choose editions that share some", ld.split, multitext)


@pytest.mark.parametrize("function", [ld.split, ld.split_into_folds, ld.select, ld.pareto_front])
def test_what_is_no_multitext_is_refused_with_advice(function):
    multitext = ld.synthesize(n_intents=10, n_languages=2, seed=0).multitext
    for other, advice in (
        (ld.select(multitext), "not Selection. Give its attribute multitext"),
        (multitext.to_frame(), r"not DataFrame. langdiff\.read_frame"),
        ("bible/", r"not str. langdiff\.read_multitext\('bible/'\)"),
        (None, "not NoneType"),
    ):
        refused(ConfigError, f"a Multitext is needed, {advice}", function, other)

"""Parts and folds of whole documents."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.selection.splits import deal_groups
from tests.helpers import refused
from tests.selection.test_select import catalogue

SHARES = np.array([4, 1, 1]) / 6


def text_of(sizes, *, lacking=(), names=None):
    """Return a multitext whose consecutive documents have these sizes, and the document of every intent."""
    presence = np.ones((sum(sizes), 2), dtype=bool)
    presence[list(lacking), 1] = False
    multitext = catalogue(presence)
    labels = names or [f"d{number}" for number in range(len(sizes))]
    return multitext, pd.Series(np.repeat(labels, sizes), index=multitext.intents, name="document")


def sizes_of(*parts):
    return [len(part) for part in parts]


@given(sizes=st.lists(st.integers(1, 40), min_size=3, max_size=60))
def test_every_part_is_near_its_share_all_along_the_text(sizes):
    part = deal_groups(np.array(sizes), SHARES)
    assert set(part) == {0, 1, 2}
    if np.bincount(part).min() > 1:  # no part was filled at the end
        given_so_far = np.cumsum(np.array(sizes)[:, None] * (part[:, None] == np.arange(3)), axis=0)
        distance = np.abs(given_so_far - SHARES * np.cumsum(sizes)[:, None])
        assert distance.max() <= 2 * max(sizes)


def test_equal_groups_alternate():
    assert deal_groups(np.full(10, 7), np.full(5, 0.2)).tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]


@given(sizes=st.lists(st.integers(1, 9), min_size=25, max_size=60), seed=st.integers(0, 99))
def test_a_document_is_in_one_part(sizes, seed):
    rng = np.random.default_rng(seed)
    lacking = np.flatnonzero(rng.random(sum(sizes)) < 0.1)
    multitext, document = text_of(sizes, lacking=lacking)
    parts = ld.split(multitext, groups=document, incomplete="test")
    found = [set(document[part.intents]) for part in (parts.train, parts.dev, parts.test)]
    assert sum(map(len, found)) == len(set().union(*found))
    for part in (parts.train, parts.dev):
        assert part.presence.to_numpy().all()
    dropped = ld.split(multitext, groups=document, incomplete="drop")
    whole = len(multitext) - len(lacking)
    assert sum(sizes_of(dropped.train, dropped.dev, dropped.test)) == whole
    assert len(dropped.train) == pytest.approx(whole * 2 / 3, abs=2 * max(sizes))


@given(
    sizes=st.lists(st.integers(1, 9), min_size=40, max_size=50),
    n_folds=st.integers(2, 6),
    incomplete=st.sampled_from(["drop", "test"]),
    seed=st.integers(0, 99),
)
def test_folds_measure_every_intent_once_and_train_on_other_documents(sizes, n_folds, incomplete, seed):
    rng = np.random.default_rng(seed)
    multitext, document = text_of(sizes, lacking=np.flatnonzero(rng.random(sum(sizes)) < 0.1))
    folds = ld.split_into_folds(multitext, n_folds, groups=document, incomplete=incomplete)
    wanted = multitext.dropna() if incomplete == "drop" else multitext
    assert list(folds.multitext.intents) == list(wanted.intents)
    tested = [intent for parts in folds.parts for intent in parts.test.intents]
    assert sorted(tested) == sorted(wanted.intents)
    for number, parts in enumerate(folds.parts, 1):
        learned = set(document[parts.train.intents]) | set(document[parts.dev.intents])
        assert not learned & set(document[parts.test.intents])
        assert not set(document[parts.train.intents]) & set(document[parts.dev.intents])
        assert (folds.fold[parts.test.intents] == str(number)).all()
        assert parts.train.presence.to_numpy().all()
    counts = folds.to_frame()
    complete = [int(parts.test.presence.all(axis=1).sum()) for parts in folds.parts]
    assert np.ptp(complete) <= 3 * max(sizes)
    assert counts["test"].sum() == len(wanted)


def test_documents_that_no_fold_can_learn_from_are_shared_out():
    """After the tenth document the second edition has nothing: these are measured, and none is trained on."""
    sizes = [6] * 30
    multitext, document = text_of(sizes, lacking=range(60, 180))
    folds = ld.split_into_folds(multitext, 5, groups=document, incomplete="test")
    assert folds.to_frame()["test"].tolist() == [36] * 5
    assert {len(parts.train) + len(parts.dev) for parts in folds.parts} == {48}


def test_books_need_no_column_where_intents_are_verses():
    verses = pd.Index(
        [f"{book}{chapter:03}{verse:03}" for book in range(40, 58) for chapter in (1, 2) for verse in range(1, 9)]
    )
    bible = ld.read_frame(pd.DataFrame({"eng": ["a"] * len(verses), "deu": ["b"] * len(verses)}, index=verses))
    parts = ld.split(bible, groups="book")
    assert sizes_of(parts.train, parts.dev, parts.test) == [192, 48, 48]
    assert {verse[:2] for verse in parts.test.intents}.isdisjoint(verse[:2] for verse in parts.train.intents)
    folds = ld.split_into_folds(bible, 3, groups="chapter")
    assert folds.group.nunique() == 36
    assert "3 folds of 36 groups (chapter): all 288 intents are measured" in folds.summary()


def test_without_groups_five_consecutive_intents_stay_together():
    folds = ld.split_into_folds(catalogue(np.ones((100, 2))), 5)
    assert [int(name[1:]) for name in folds.parts[0].test.intents] == [
        *range(5),
        *range(25, 30),
        *range(50, 55),
        *range(75, 80),
    ]


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([30, 30], r"2 group\(s\) \(document\) .* cannot be divided into 3 parts \('train', 'dev', 'test'\)"),
        ([500, 5, 5, 5], r"too few or too unequal: dev would get 10 of 515 .* share of 17%\. The largest group, 'd0'"),
    ],
)
def test_groups_too_few_or_one_too_large(sizes, message):
    multitext, document = text_of(sizes)
    refused(DataError, message, ld.split, multitext, groups=document)
    refused(DataError, r"cannot be divided into 5 parts \('fold 1'", ld.split_into_folds, multitext, groups=document)


def test_groups_that_intents_do_not_have():
    multitext, document = text_of([5] * 12)
    with pytest.raises(ConfigError, match=r"groups='document': intent_info has no such column\. There is none"):
        ld.split(multitext, groups="document")
    with pytest.raises(DataError, match=r"1 of 60 intents have no group \(document\): 'i3'"):
        ld.split_into_folds(multitext, groups=document.drop("i3"))
    with pytest.raises(DataError, match="1 of 60 intents are missing in some edition"):
        ld.split_into_folds(text_of([5] * 12, lacking=[1])[0])
    for wrong in ({"n_folds": 1}, {"dev_share": 0.0}, {"dev_share": 1.0}, {"dev_share": "x"}):
        refused(ConfigError, next(iter(wrong)), ld.split_into_folds, multitext, **wrong)


def test_folds_that_overlap_are_refused():
    multitext, document = text_of([5] * 12)
    parts = ld.split_into_folds(multitext, 3, groups=document).parts
    from langdiff.tables.multitext import Folds

    for wrong, message in (
        ((parts[0],), "at least two folds"),
        ((parts[0], parts[0], parts[1]), r"20 intent\(s\) are in the test part of several folds"),
        (parts[:2], "must be the intents of the multitext"),
    ):
        refused(DataError, message, Folds, multitext=multitext, parts=wrong, group=document)

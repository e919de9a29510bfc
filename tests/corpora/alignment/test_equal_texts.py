"""Equal texts against loops over all pairs."""

import numpy as np
import pandas as pd
import pytest

from langdiff.corpora.alignment.passages import copies_of, repeats_of


def names(hashes):
    return pd.Index([f"i{row}" for row in range(len(hashes))]), pd.Index(
        [f"e{column}" for column in range(hashes.shape[1])]
    )


def test_copies_are_those_of_a_loop_over_pairs():
    random = np.random.default_rng(0)
    hashes = random.integers(0, 4, (300, 5)).astype(np.uint64)
    intents, editions = names(hashes)
    languages = pd.Series(["a", "a", "b", "c", np.nan], index=editions, dtype=object)
    found = copies_of(hashes, hashes > 0, intents, editions, languages).set_index(["edition", "other"])
    assert len(found) == 10
    for (one, other), row in found.iterrows():
        left, right = hashes[:, int(one[1])], hashes[:, int(other[1])]
        both = (left != 0) & (right != 0)
        equal = both & (left == right)
        runs = "".join("x" if same else " " for same in equal).split()
        assert (row["equal"], row["texts"], row["longest_run"]) == (equal.sum(), both.sum(), max(map(len, runs)))
        assert row["severity"] == ("note" if (one, other) == ("e0", "e1") else "warning")


def test_few_equal_texts_are_told_only_if_they_follow_one_another():
    hashes = np.arange(1, 2001, dtype=np.uint64).reshape(1000, 2)
    hashes[10:15, 1] = hashes[10:15, 0]
    intents, editions = names(hashes)
    languages = pd.Series(["a", "b"], index=editions)
    assert not len(copies_of(hashes, hashes > 0, intents, editions, languages).query("severity == 'warning'"))
    hashes[15, 1] = hashes[15, 0]
    found = copies_of(hashes, hashes > 0, intents, editions, languages).iloc[0]
    assert (found["first"], found["last"], found["severity"]) == ("i10", "i15", "warning")


@pytest.mark.parametrize(("length", "fit", "severity"), [(12, -1.0, "warning"), (12, 1.0, "note"), (5, -1.0, "note")])
def test_a_chapter_that_is_there_twice(length, fit, severity):
    hashes = np.arange(1, 601, dtype=np.uint64).reshape(200, 3)
    hashes[100 : 100 + length, 1] = hashes[40 : 40 + length, 1]
    hashes[102, 1] = 7777  # one may be skipped
    fits = np.ones((200, 3), dtype=np.float32)
    fits[100 : 100 + length, 1] = fit
    found = repeats_of(hashes, hashes > 0, *names(hashes), fits)
    assert found["edition"].tolist() == ["e1"]
    row = found.iloc[0]
    ends = {row["first"], row["last"]} | {row["equals_first"], row["equals_last"]}
    assert ends == {"i100", f"i{99 + length}", "i40", f"i{39 + length}"}
    assert (row["texts"], row["severity"]) == (length - 1, severity)
    if fit < 0:
        assert row["first"] == "i100"  # what fits less


def test_what_all_editions_repeat_is_not_told():
    hashes = np.arange(1, 601, dtype=np.uint64).reshape(200, 3)
    hashes[100:120] = hashes[40:60]
    assert repeats_of(hashes, hashes > 0, *names(hashes), np.ones((200, 3), dtype=np.float32)).empty

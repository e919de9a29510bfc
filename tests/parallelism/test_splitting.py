"""The split follows its rule step by step; the published splits are in `test_published.py`."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langdiff.errors import ConfigError, DataError
from langdiff.parallelism import Parallelism, make_document, split_documents, tag_counts
from langdiff.parallelism.splitting import read_parts
from tests.helpers import refused

SHARES = {"one": 0.6, "two": 0.3, "three": 0.1}


def by_hand(counts, shares):
    """Split with plain loops."""
    parts = {name: [0, 0] for name in shares}
    found = {}
    for inner, outer, name in sorted(zip(counts["inner"], counts["outer"], counts.index, strict=True), reverse=True):
        errors = {}
        for candidate in shares:
            after = {part: list(own) for part, own in parts.items()}
            after[candidate][0] += inner
            after[candidate][1] += outer
            errors[candidate] = 0.0
            for place in (0, 1):
                total = sum(pair[place] for pair in after.values())
                for part, share in shares.items():
                    have = after[part][place] / total if total else 0.0
                    errors[candidate] += (share - have) ** 2 / len(shares) / 2
        found[name] = min(shares, key=lambda part: round(errors[part], 12))  # the first on ties
        parts[found[name]][0] += inner
        parts[found[name]][1] += outer
    return found


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 99)), min_size=1, max_size=12))
def test_against_plain_loops(rows):
    counts = pd.DataFrame(rows, columns=["inner", "outer"], index=[f"d{k}" for k in range(len(rows))])
    found = split_documents(counts, SHARES).to_frame()
    assert dict(zip(found["document"], found["part"], strict=True)) == by_hand(counts, SHARES)


def test_counts_of_tags():
    nested = [Parallelism(((0, 4), (5, 7))), Parallelism(((0, 1), (2, 3)))]
    documents = {"a": make_document("a", list("abcdefg"), nested), "b": make_document("b", ["x"], [])}
    assert tag_counts(documents).to_numpy().tolist() == [[8, 6], [0, 2]]  # two strata for both


def test_parts_errors_and_tests():
    counts = pd.DataFrame({"inner": [6, 5, 4, 3, 2], "outer": [60, 50, 41, 30, 20]}, index=list("abcde"))
    split = split_documents(counts, {"many": 0.9, "few": 0.1})
    parts = split.parts().set_index("part")
    assert parts["documents"].tolist() == [4, 1]
    assert parts["inner_share"].tolist() == [0.85, 0.15]
    assert split.errors()["inner"] == pytest.approx(0.05**2)
    assert split.errors()["outer"] == pytest.approx((30 / 201 - 0.1) ** 2)
    assert split.tests()["p_value"].isna().all()
    assert "no test, because a part has fewer than two documents" in split.summary()


def test_bad_input():
    counts = pd.DataFrame({"inner": [1, 2], "outer": [3, 4]}, index=["a", "a"])
    refused(DataError, "'a' occurs twice", split_documents, counts)
    refused(DataError, "no column 'outer'", split_documents, counts[["inner"]])
    refused(DataError, "no documents", split_documents, counts.iloc[:0])
    for count in (np.nan, np.inf, -1):
        with pytest.raises(DataError, match=r"counts of 1 document\(s\) are missing, infinite or neg.* among them 'b'"):
            split_documents(pd.DataFrame({"inner": [1, count], "outer": [3, 4]}, index=["a", "b"]))
    for shares in ({"a": 1.0}, {"a": 0.5, "b": 0.6}, {"a": 1.5, "b": -0.5}):
        refused(ConfigError, "two or more parts have positive shares that sum to 1", split_documents, counts, shares)


def test_a_saved_split_divides_its_documents(tmp_path):
    documents = {name: make_document(name, ["w"] * size, []) for name, size in zip("abcdef", range(4, 10), strict=True)}
    split = split_documents(tag_counts(documents), SHARES)
    split.to_frame().to_csv(tmp_path / "parts.csv", index=False)
    wanted = dict.fromkeys(SHARES, ())
    for name, part in zip(split.documents["document"], split.documents["part"], strict=True):
        wanted[part] = (*wanted[part], name)
    parts = read_parts(tmp_path / "parts.csv", documents, SHARES)
    assert {part: set(chosen) for part, chosen in parts.items()} == {part: set(names) for part, names in wanted.items()}
    assert parts["one"].items() <= documents.items()
    del documents["a"]
    with pytest.warns(UserWarning, match="1 document.s. only in .*parts.csv, and left out: 'a'"):
        read_parts(tmp_path / "parts.csv", documents, [])

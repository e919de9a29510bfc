"""Words of a text multiply to its probability, under a language model whose words can be counted."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import langdiff as ld
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from langdiff.tables.token_tables import TokenScores
from tests.helpers import refused

VOCABULARY = ["a", "b", " a", " b", ""]  # the last is the end


def probabilities(context):
    """Return p(token | context) of a small model that depends on the last token and on the length."""
    weights = np.array([1 + len(context), 2, 3, 1 + (context[-1:] == ("a",)), 1.5])
    if not context:
        weights[[2, 3, 4]] = 0  # a text starts with a word, without a space
    return dict(zip(VOCABULARY, weights / weights.sum(), strict=True))


def scores(tokens):
    """Return a table of one text."""
    rows = []
    for i, token in enumerate(tokens):
        here, after = probabilities(tuple(tokens[:i])), probabilities(tuple(tokens[: i + 1]))
        boundary = sum(after[name] for name in (" a", " b", "")) if token else 1.0
        rows.append(("1", "x", token, np.log(here[token]), np.log(boundary)))
    return pd.DataFrame(rows, columns=["intent", "edition", "token", "bits", "boundary"])


@given(st.sampled_from(["a", "b"]), st.lists(st.sampled_from(VOCABULARY[:-1]), max_size=6), st.booleans())
def test_words_multiply_to_the_text(first, others, ended):
    tokens = [first, *others, *([""] if ended else [])]
    read = ld.read_logs(scores(tokens), unit="nats").tokens()
    table = read.surprisals()
    assert table.units.iloc[0, 0] == len(tokens) - ended
    total = table.bits.iloc[0, 0]
    words = read.words()
    assert words["corrected_bits"].sum() == pytest.approx(total)
    assert words["bits"].sum() == pytest.approx(total)
    assert words["word"].tolist() == ["".join(tokens).split(" ")[i] for i in range(len(words) - ended)] + [""] * ended
    assert words["place"].tolist() == list(range(len(words)))


def test_a_corrected_word_is_the_sum_over_all_that_may_follow_it():
    """P(the first word is "ab"): every continuation that begins a word or ends, over all texts."""
    words = ld.read_logs(scores(["a", "b", " a", ""]), unit="nats").tokens().words()
    context = ("a", "b")
    p = probabilities(())["a"] * probabilities(("a",))["b"]
    p *= sum(probabilities(context)[token] for token in (" a", " b", ""))
    assert 2 ** -words["corrected_bits"][0] == pytest.approx(p)
    # the second word given the first: over all texts of up to six tokens that go on with " a" and no more
    after = probabilities(context)
    begun = sum(after[token] for token in (" a", " b", ""))
    second = after[" a"] / begun * sum(probabilities((*context, " a"))[token] for token in (" a", " b", ""))
    assert 2 ** -words["corrected_bits"][1] == pytest.approx(second)


def test_without_correction_a_word_may_be_likelier_than_its_beginning():
    tokens = list(itertools.chain(["a"], [" b"] * 3))
    words = ld.read_logs(scores(tokens).drop(columns="boundary"), unit="nats").tokens().words()
    assert words["corrected_bits"].isna().all()
    assert words["tokens"].tolist() == [1, 1, 1, 1]


def test_several_texts_and_files(tmp_path):
    table = pd.concat([scores(["a", " b", ""]), scores(["b", ""]).assign(edition="y")])
    table.to_csv(tmp_path / "tokens.tsv", sep="\t", index=False)
    read = ld.read_logs(tmp_path / "tokens.tsv", unit="nats").tokens()
    found = read.surprisals(lm="mine")
    assert found.bits.loc["1"].tolist() == pytest.approx(list(table.groupby("edition")["bits"].sum() / -np.log(2)))
    assert found.eos_bits.loc["1", "y"] == pytest.approx(table["bits"].iloc[-1] / -np.log(2))
    assert read.words()["place"].tolist() == [0, 1, 2, 0, 1]
    assert repr(read) == "TokenScores: 5 tokens of 2 texts in 2 editions"
    assert "bits per token" in read.summary()


def test_refusals():
    table = scores(["a", " b", ""])
    with pytest.raises(DataError, match="a second text of item '1'"):
        ld.read_logs(table.drop(columns="token"), unit="nats").tokens()
    with pytest.raises(DataError, match="line 2: a token without a number, which is not the first"):
        ld.read_logs(table.assign(bits=[-1, np.nan, -1]), unit="nats").tokens()
    with pytest.raises(DataError, match="line 1: an empty token stands for the end"):
        ld.read_logs(table.assign(token=["", "a", "b"]), unit="nats").tokens()
    with pytest.raises(DataError, match="line 3: the tokens of a text are not together"):
        ld.read_logs(table.assign(edition=["x", "y", "x"]), unit="nats").tokens()
    with pytest.raises(DataError, match="which is no score"):
        ld.read_logs(table.assign(bits=-np.inf), unit="nats").tokens()
    with pytest.raises(ConfigError, match="unknown unit"):
        ld.read_logs(table, unit="x").tokens()
    with pytest.raises(DataError, match="must be a str"):
        ld.read_logs(3, unit="nats").tokens()
    with pytest.raises(DataError, match="no token"):
        ld.read_logs(table.iloc[:0], unit="nats").tokens()
    with pytest.raises(DataError, match="not every row names its language"):
        ld.read_logs(table.assign(edition=["x", "x", None]), unit="nats").tokens()
    with pytest.raises(DataError, match="named twice: 'bits'"):
        ld.read_logs(pd.concat([table, table[["bits"]]], axis=1), unit="nats").tokens()


def test_nothing_need_be_known_after_a_text():
    table = scores(["a", " b", ""])
    known = ld.read_logs(table, unit="nats").tokens().words()
    table.loc[2, "boundary"] = np.nan
    assert ld.read_logs(table, unit="nats").tokens().words().equals(known)
    table.loc[1, "boundary"] = np.nan
    with pytest.raises(DataError, match="line 2: a token without a number in column"):
        ld.read_logs(table, unit="nats").tokens()


def test_texts_with_and_without_an_end_are_not_alike():
    table = pd.concat([scores(["a", ""]), scores(["a", " b"]).assign(edition="y")])
    refused(DataError, "1 of 2 texts have no end", ld.read_logs, table, unit="nats")
    without = ld.read_logs(table, unit="nats", end="drop")
    assert without.surprisals().bits.notna().to_numpy().all()
    assert "" not in without.tokens().tokens["token"].tolist()
    with pytest.warns(LangdiffWarning, match="1 of 2 texts have no end"):
        TokenScores(tokens=table.assign(bits=1.0)).surprisals()

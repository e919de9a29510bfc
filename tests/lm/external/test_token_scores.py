"""Scores of tokens and of words, against one token at a time and against minicons."""

import copy
import warnings

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.testing import assert_allclose

import langdiff as ld
from tests.cli.conftest import langdiff as langdiff
from tests.lm.external.tiny_gpt import WINDOW, make_gpt, make_tokenizer

SINGLE_PRECISION = 1e-3  # bits: float32 against float64
AGREEMENT = 1e-6  # relative, of two programs in single precision
SUMS = 1e-9  # bits: the same numbers added in another order
TEXTS = pd.DataFrame(
    {
        "eng": ["the cat sat on a mat", "dog ran  far", "café " + "the cat " * 20],
        "ell": ["ο γάτος κάθισε", None, "στο χαλί"],
    },
    index=["a", "b", "c"],
)


@pytest.fixture(scope="module")
def model():
    tokenizer = make_tokenizer()
    return ld.HuggingFaceLM(make_gpt(tokenizer), tokenizer, overlap=WINDOW - 1)


@pytest.fixture(scope="module")
def scores(model):
    return model.token_scores(ld.read_frame(TEXTS))


@torch.no_grad()
def test_every_token_against_its_own_distribution_in_double_precision(model, scores):
    double = copy.deepcopy(model.model).double()
    names = {number: name for name, number in model.tokenizer.get_vocab().items()}
    begins = [number for number, name in names.items() if name.startswith("Ġ") or name == "</s>"]
    for (intent, edition), rows in scores.tokens.groupby(["intent", "edition"]):
        ids = model.tokenizer.backend_tokenizer.encode(TEXTS.loc[intent, edition], add_special_tokens=False).ids
        assert rows["token"].tolist() == [*(names[number] for number in ids), ""]
        covered = "".join(rows["text"])  # the tokenizer may count spaces to no token
        assert covered.replace(" ", "") == TEXTS.loc[intent, edition].replace(" ", "")
        bits, boundaries = [], []
        for t, symbol in enumerate([*ids, 1]):
            context = [0, *ids[max(0, t - WINDOW + 1) : t]]
            p = double(input_ids=torch.tensor([context])).logits[0, -1].softmax(0)
            bits.append(-np.log2(p[symbol].item()))
            boundaries.append(-np.log2(p[begins].sum().item()))
        assert_allclose(rows["bits"], bits, atol=SINGLE_PRECISION)
        assert_allclose(rows["boundary_bits"], [*boundaries[1:], np.nan], atol=SINGLE_PRECISION)


def test_tokens_and_words_add_up_to_the_text(model, scores):
    table = ld.surprisals_of(model, ld.read_frame(TEXTS), progress=False)
    added = scores.surprisals()
    assert_allclose(added.bits, table.bits, atol=SUMS)
    assert_allclose(added.eos_bits, table.eos_bits, atol=SUMS)
    pd.testing.assert_frame_equal(added.units, table.units, check_names=False)
    words = scores.words()
    corrected = words.groupby(["intent", "edition"])["corrected_bits"].sum()
    assert_allclose(corrected, table.bits.stack()[corrected.index], atol=SUMS)
    first = words[(words["intent"] == "c") & (words["place"] == 0)]
    assert dict(zip(first["edition"], first["word"], strict=True)) == {"eng": "café", "ell": "στο"}


def test_tokens_have_the_surprisals_of_minicons(model):
    """minicons reads a text of one window, after the start token and to the end token."""
    scorer = pytest.importorskip("minicons.scorer", reason="needs minicons, which is not a dependency")
    text = "the cat sat on a mat"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it adds a padding token
        theirs = scorer.IncrementalLMScorer(model.model, "cpu", tokenizer=copy.deepcopy(model.tokenizer)).token_score(
            [text], bos_token=True, eos_token=True, surprisal=True, base_two=True
        )[0]
    ours = model.token_scores(ld.read_frame(pd.DataFrame({"eng": [text]}))).tokens
    assert [name for name, _ in theirs[1:-1]] == ours["token"].tolist()[:-1]
    assert_allclose(ours["bits"], [bits for _, bits in theirs[1:]], rtol=AGREEMENT)

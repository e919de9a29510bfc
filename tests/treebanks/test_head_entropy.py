import numpy as np
import pytest
from hypothesis import given
from scipy import stats

from langdiff.errors import DataError
from langdiff.treebanks import Tree, head_pos_entropy, read_conllu
from tests.treebanks.strategies import corpora, tree

ROUNDING = 1e-9
RUN = [
    tree("I PRON 2 nsubj; run VERB 0 root; . PUNCT 2 punct"),
    tree("a DET 2 det; run NOUN 0 root"),
    tree("Run NOUN 2 nmod; I NOUN 0 root"),
]


def slow_entropies(trees, lowercase, punctuation, root):
    """Entropy of the type of each token, through scipy."""
    heads = {}
    for one in trees:
        for word, head in enumerate(one.heads, start=1):
            if (not punctuation and one.deprels[word - 1] == "punct") or (not root and not head):
                continue
            form = one.forms[word - 1].lower() if lowercase else one.forms[word - 1]
            heads.setdefault(form, []).append(one.upos[head - 1] if head else "ROOT")
    values = {form: stats.entropy(np.unique(pos, return_counts=True)[1], base=2) for form, pos in heads.items()}
    return [values[form] for form, pos in heads.items() for _ in pos]


@given(trees=corpora)
@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize(("punctuation", "root"), [(True, True), (False, True), (True, False)])
def test_against_scipy(trees, lowercase, punctuation, root):
    values = slow_entropies(trees, lowercase, punctuation, root)
    options = {"lowercase": lowercase, "punctuation": punctuation, "root": root}
    if not values:
        with pytest.raises(DataError, match="No token to measure"):
            head_pos_entropy(trees, **options)
        return
    ours = head_pos_entropy(trees, **options)
    assert ours.tokens == len(values)
    assert ours.mean == pytest.approx(np.mean(values), abs=ROUNDING)
    if np.ptp(values) > ROUNDING:
        assert ours.skew == pytest.approx(stats.skew(values), abs=1e-6)  # a third power of small numbers


def test_worked_by_hand():
    # run: ROOT, ROOT; Run: NOUN; I: VERB, ROOT; a: NOUN; ".": VERB
    assert head_pos_entropy(RUN).mean == pytest.approx(2 * 1 / 7)
    # run: ROOT, ROOT, NOUN, entropy 0.9183
    assert head_pos_entropy(RUN, lowercase=True).mean == pytest.approx((2 * 1 + 3 * 0.918296) / 7, abs=1e-6)
    assert head_pos_entropy(RUN, punctuation=False).tokens == 6
    assert head_pos_entropy(RUN, root=False).mean == 0
    assert np.isnan(head_pos_entropy(RUN, root=False).skew)  # all tokens have the same entropy
    assert head_pos_entropy(RUN).zero_share == pytest.approx(5 / 7)
    assert head_pos_entropy(RUN).types == 5


def test_without_parts_of_speech():
    with pytest.raises(DataError, match="No word has a part of speech"):
        head_pos_entropy([Tree(("a",), ("_",), (0,), ("root",))])
    with pytest.raises(DataError, match="No token to measure"):
        head_pos_entropy([])


@pytest.mark.real_data
def test_files_and_trees_are_the_same(real_data):
    path = real_data / "pud" / "ko_pud.conllu.gz"
    trees = list(read_conllu(path))
    once = head_pos_entropy(trees)
    assert head_pos_entropy(path) == once
    # of a corpus twice over frequencies are the same
    assert head_pos_entropy([*trees, str(path)]).mean == pytest.approx(once.mean, abs=ROUNDING)

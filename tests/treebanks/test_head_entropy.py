import numpy as np
import pytest
from hypothesis import given
from scipy import stats

from langdiff.datasets import mielke2019
from langdiff.errors import ConfigError, DataError
from langdiff.treebanks import head_pos_entropy
from langdiff.treebanks.conllu import Tree, read_conllu
from tests.helpers import refused
from tests.treebanks.strategies import corpora, tree

ROUNDING = 1e-9
RUN = [
    tree("I PRON 2 nsubj; run VERB 0 root; . PUNCT 2 punct"),
    tree("a DET 2 det; run NOUN 0 root"),
    tree("Run NOUN 2 nmod; I NOUN 0 root"),
]


def slow_entropies(trees, lowercase, punctuation, root, over):
    """Entropy of the type of each token, or of each type, through scipy."""
    heads = {}
    for one in trees:
        one = one if punctuation else one.without_punctuation()  # tested with the trees
        for word, head in enumerate(one.heads, start=1):
            if not root and not head:
                continue
            form = one.forms[word - 1].lower() if lowercase else one.forms[word - 1]
            heads.setdefault(form, []).append(one.upos[head - 1] if head else "ROOT")
    values = {form: stats.entropy(np.unique(pos, return_counts=True)[1], base=2) for form, pos in heads.items()}
    return [values[form] for form, pos in heads.items() for _ in (pos if over == "tokens" else [1])]


@given(trees=corpora)
@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize(("punctuation", "root"), [(True, True), (False, True), (True, False)])
@pytest.mark.parametrize("over", ["tokens", "types"])
def test_against_scipy(trees, lowercase, punctuation, root, over):
    options = {"lowercase": lowercase, "punctuation": punctuation, "root": root, "over": over}
    values = slow_entropies(trees, **options)
    if not values:
        refused(DataError, "There are no tokens to measure", head_pos_entropy, trees, **options)
        return
    ours = head_pos_entropy(trees, **options)
    assert (ours.tokens if over == "tokens" else ours.types) == len(values)
    assert ours.zero_share == pytest.approx(np.mean(np.array(values) == 0), abs=ROUNDING)
    assert ours.mean == pytest.approx(np.mean(values), abs=ROUNDING)
    if np.ptp(values) > ROUNDING:
        assert ours.skew == pytest.approx(stats.skew(values), abs=1e-6)  # a third power of small numbers


def test_over_types_by_hand():
    # run 0, Run 0, I 1, a 0, "." 0
    types = head_pos_entropy(RUN, over="types")
    assert (types.mean, types.zero_share, types.tokens, types.types) == pytest.approx((1 / 5, 4 / 5, 7, 5))
    assert types.skew == pytest.approx(1.5)  # of one 1 among five: (1 - 2p) / sqrt(p(1 - p)), p = 1/5
    assert (types.over, head_pos_entropy(RUN).over) == ("types", "tokens")
    refused(ConfigError, "over is one of tokens, types; got 'words'", head_pos_entropy, RUN, over="words")


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.filterwarnings("ignore:sentence_twice")  # in EWT
def test_with_more_text_means_over_types_come_nearer_to_the_published_one_and_means_over_tokens_do_not(real_data):
    # English, published: .7183 (Europarl, UDPipe); docs/evidence/predictors.md has the table
    trees = [
        tree
        for name in ("ewt", "gum", "lines", "partut")
        for tree in read_conllu(real_data / f"ud/en_{name}.conllu.gz")
    ]
    published = mielke2019().europarl.at["en", "hpe_mean"]
    gaps = {
        over: [abs(head_pos_entropy(trees[::step], over=over).mean - published) for step in (16, 4, 1)]
        for over in ("tokens", "types")
    }
    assert gaps["types"] == sorted(gaps["types"], reverse=True)
    assert gaps["tokens"] == sorted(gaps["tokens"])


def test_without_parts_of_speech():
    refused(DataError, "No word has a part of speech", head_pos_entropy, [Tree(("a",), ("_",), (0,), ("root",))])
    refused(DataError, "There are no tokens to measure", head_pos_entropy, [])


@pytest.mark.real_data
def test_files_and_trees_are_the_same(real_data):
    path = real_data / "pud" / "ko_pud.conllu.gz"
    trees = list(read_conllu(path))
    once = head_pos_entropy(trees)
    assert head_pos_entropy(path) == once
    # of a corpus twice over frequencies are the same
    assert head_pos_entropy([*trees, str(path)]).mean == pytest.approx(once.mean, abs=ROUNDING)

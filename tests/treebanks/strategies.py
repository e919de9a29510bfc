"""Random trees and treebanks, and the worked example of two tiny corpora."""

from hypothesis import strategies as st

from langdiff.treebanks.conllu import Tree

UPOS = ("NOUN", "VERB", "ADP", "PUNCT")
DEPRELS = ("nsubj", "obj", "case", "mark", "acl:relcl", "punct")


@st.composite
def trees(draw, most=9):
    """A tree whose root word and order are random: words are attached one by one to those before."""
    n = draw(st.integers(1, most))
    places = draw(st.permutations(range(1, n + 1)))
    heads = [0] * n
    for step in range(1, n):
        heads[places[step] - 1] = places[draw(st.integers(0, step - 1))]
    upos = tuple(draw(st.sampled_from(UPOS)) for _ in range(n))
    deprels = tuple("root" if head == 0 else draw(st.sampled_from(DEPRELS)) for head in heads)
    return Tree(tuple(f"w{i}" for i in range(n)), upos, tuple(heads), deprels)


corpora = st.lists(trees(), min_size=1, max_size=12)


def tree(text):
    """A tree of "form UPOS head deprel" rows, divided by semicolons."""
    rows = [row.split() for row in text.split(";")]
    forms, upos, heads, deprels = zip(*rows, strict=True)
    return Tree(forms, upos, tuple(map(int, heads)), deprels)


SAW = tree("the DET 2 det; dog NOUN 3 nsubj; saw VERB 0 root; a DET 5 det; cat NOUN 3 obj; . PUNCT 3 punct")
BARK = tree("dogs NOUN 2 nsubj; bark VERB 0 root")
SLEEP = tree("cats NOUN 2 nsubj; sleep VERB 0 root; quietly ADV 2 advmod; here ADV 2 advmod")
A, B = [SAW, BARK], [SLEEP, SAW]

"""Reading, writing, tokenising and inventing multitexts."""

from langdiff.corpora.formats import read_multitext, write_multitext
from langdiff.corpora.frame import read_frame
from langdiff.corpora.pbc import read_pbc, write_pbc
from langdiff.corpora.synthetic import Grammar, SyntheticLanguage, SyntheticMultitext, synthesize
from langdiff.corpora.tokenizer import detokenize, tokenize

__all__ = [
    "Grammar",
    "SyntheticLanguage",
    "SyntheticMultitext",
    "detokenize",
    "read_frame",
    "read_multitext",
    "read_pbc",
    "synthesize",
    "tokenize",
    "write_multitext",
    "write_pbc",
]

"""Reading, writing, tokenizing and synthesizing multitexts."""

from langdiff.corpora.download import fetch
from langdiff.corpora.formats.costep import costep_statistics
from langdiff.corpora.formats.registry import read_multitext, write_multitext
from langdiff.corpora.frame import read_frame
from langdiff.corpora.origin import native_share
from langdiff.corpora.sizes import corpus_sizes
from langdiff.corpora.synthetic import SyntheticLanguage, synthesize
from langdiff.corpora.tokenizer import detokenize, tokenize

__all__ = [
    "SyntheticLanguage",
    "corpus_sizes",
    "costep_statistics",
    "detokenize",
    "fetch",
    "native_share",
    "read_frame",
    "read_multitext",
    "synthesize",
    "tokenize",
    "write_multitext",
]

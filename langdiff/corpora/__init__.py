"""Reading, writing, tokenising and inventing multitexts."""

from langdiff.corpora.catalogue import SOURCES, CorpusSource
from langdiff.corpora.costep_counts import CostepStatistics
from langdiff.corpora.download import fetch
from langdiff.corpora.formats.ces import read_ces
from langdiff.corpora.formats.costep import costep_statistics, read_costep
from langdiff.corpora.formats.ebible import read_ebible
from langdiff.corpora.formats.moses import read_moses, write_moses
from langdiff.corpora.formats.mteval import read_mteval
from langdiff.corpora.formats.osis import read_osis
from langdiff.corpora.formats.pbc import read_pbc, write_pbc
from langdiff.corpora.formats.registry import read_multitext, write_multitext
from langdiff.corpora.formats.usfm import read_usfm
from langdiff.corpora.frame import read_frame
from langdiff.corpora.origin import languages_per_intent, native_share, origin_accounting
from langdiff.corpora.sizes import corpus_sizes
from langdiff.corpora.synthetic import Grammar, SyntheticLanguage, SyntheticMultitext, synthesize
from langdiff.corpora.tokenizer import detokenize, tokenize

__all__ = [
    "SOURCES",
    "CorpusSource",
    "CostepStatistics",
    "Grammar",
    "SyntheticLanguage",
    "SyntheticMultitext",
    "corpus_sizes",
    "costep_statistics",
    "detokenize",
    "fetch",
    "languages_per_intent",
    "native_share",
    "origin_accounting",
    "read_ces",
    "read_costep",
    "read_ebible",
    "read_frame",
    "read_moses",
    "read_mteval",
    "read_multitext",
    "read_osis",
    "read_pbc",
    "read_usfm",
    "synthesize",
    "tokenize",
    "write_moses",
    "write_multitext",
    "write_pbc",
]

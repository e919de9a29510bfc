"""Reading, writing, tokenising and inventing multitexts."""

from langdiff.corpora._catalogue import SOURCES, CorpusSource
from langdiff.corpora._costep_statistics import CostepStatistics
from langdiff.corpora._fetch import fetch
from langdiff.corpora._origin import languages_per_intent, native_share, origin_accounting
from langdiff.corpora._sizes import corpus_sizes
from langdiff.corpora.ces import read_ces
from langdiff.corpora.costep import costep_statistics, read_costep
from langdiff.corpora.ebible import read_ebible
from langdiff.corpora.formats import read_multitext, write_multitext
from langdiff.corpora.frame import read_frame
from langdiff.corpora.moses import read_moses, write_moses
from langdiff.corpora.mteval import read_mteval
from langdiff.corpora.osis import read_osis
from langdiff.corpora.pbc import read_pbc, write_pbc
from langdiff.corpora.synthetic import Grammar, SyntheticLanguage, SyntheticMultitext, synthesize
from langdiff.corpora.tokenizer import detokenize, tokenize
from langdiff.corpora.usfm import read_usfm

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

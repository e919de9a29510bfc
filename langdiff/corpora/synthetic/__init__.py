"""Artificial languages that say the same things, with the true information of every sentence."""

from langdiff.corpora.synthetic.defaults import DEFAULT_LANGUAGES, draw_language
from langdiff.corpora.synthetic.grammar import Grammar
from langdiff.corpora.synthetic.language import SyntheticLanguage
from langdiff.corpora.synthetic.result import SyntheticMultitext, synthesize

__all__ = [
    "DEFAULT_LANGUAGES",
    "Grammar",
    "SyntheticLanguage",
    "SyntheticMultitext",
    "draw_language",
    "synthesize",
]

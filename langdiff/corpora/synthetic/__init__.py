"""Artificial languages that express the same intents, with the true information of every sentence."""

from langdiff.corpora.synthetic.language import SyntheticLanguage
from langdiff.corpora.synthetic.result import synthesize

__all__ = ["SyntheticLanguage", "synthesize"]

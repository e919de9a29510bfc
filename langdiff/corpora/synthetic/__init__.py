"""Artificial languages that express the same intents, with the true information of every sentence; automata."""

from langdiff.corpora.synthetic.automaton import Automaton
from langdiff.corpora.synthetic.language import SyntheticLanguage
from langdiff.corpora.synthetic.result import synthesize

__all__ = ["Automaton", "SyntheticLanguage", "synthesize"]

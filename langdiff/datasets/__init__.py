"""Published figures as frames."""

from langdiff.datasets.mielke_et_al_2019 import Corpus, LanguageSet, Mielke2019, mielke2019

__all__ = ["Corpus", "LanguageSet", "Mielke2019", "mielke2019"]

"""Dependency treebanks: CoNLL-U, measures of word order, and the syntactic similarity of corpora."""

"""The source of a tagger's input that its settings ask for."""

from collections.abc import Sequence
from pathlib import Path

import torch

from langdiff.errors import ConfigError
from langdiff.parallelism.taggers.bert import FrozenBert
from langdiff.parallelism.taggers.inputs import Source
from langdiff.parallelism.taggers.settings import TaggerSettings
from langdiff.parallelism.taggers.subwords import learn_subwords
from langdiff.parallelism.taggers.word_vectors import FileVectors
from langdiff.parallelism.taggers.words import LearnedWords, count_words


def make_source(
    settings: TaggerSettings,
    sections: Sequence[Sequence[str]],
    *,
    vectors: str | Path | None,
    bert: str | Path | None,
    device: torch.device | str,
) -> Source:
    """Return what turns words into the input of a tagger; words and subwords are those of the training part.

    Parameters
    ----------
    settings : TaggerSettings
        Embedding, encoder and tagging scheme of the tagger.
    sections : sequence of sequence of str
        Words of the training part.
    vectors, bert : str or Path, optional
        File of word2vec, folder of a BERT.
    device : torch.device or str
        Where a BERT computes.

    Returns
    -------
    Source

    Raises
    ------
    ConfigError
        If a file or folder is missing that the settings need, or given although they do not.
    """
    for embedding, what, given in (("word2vec", "vectors", vectors), ("bert", "bert", bert)):
        if (settings.embedding == embedding) != (given is not None):
            verb = "needs" if given is None else "takes no"
            raise ConfigError(f"a tagger of {settings.embedding!r} {verb} {what}: a local file or folder.")
    if vectors is not None:
        return FileVectors(Path(vectors))
    if bert is not None:
        return FrozenBert(Path(bert), settings.blending or "mean", device)
    if settings.embedding == "learned-subword":
        return learn_subwords(sections, settings.bpe_ratio)
    return LearnedWords(count_words(sections).words)

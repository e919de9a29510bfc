"""The source of a tagger's input that its settings ask for."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import torch

from langdiff.errors import ConfigError
from langdiff.parallelism.taggers.bert import FrozenBert
from langdiff.parallelism.taggers.inputs import Source
from langdiff.parallelism.taggers.settings import TaggerSettings
from langdiff.parallelism.taggers.subwords import learn_subwords
from langdiff.parallelism.taggers.word_vectors import FileVectors
from langdiff.parallelism.taggers.words import LearnedWords, count_words


class Sources:
    """Sources of the input of one tagger or of several, which share a file of word2vec or a BERT.

    Parameters
    ----------
    vectors, bert : str or Path, optional
        File of word2vec, folder of a BERT.
    device : torch.device
        Where a BERT computes, and the networks that read what it gives.
    """

    def __init__(self, vectors: str | Path | None, bert: str | Path | None, device: torch.device) -> None:
        self._paths = {"word2vec": ("vectors", vectors), "bert": ("bert", bert)}
        self.device = device

    @cached_property
    def vectors(self) -> FileVectors | None:
        """The file of word2vec, if one was given."""
        path = self._paths["word2vec"][1]
        return None if path is None else FileVectors(Path(path))

    @cached_property
    def bert(self) -> FrozenBert | None:
        """The BERT, if one was given."""
        path = self._paths["bert"][1]
        return None if path is None else FrozenBert(Path(path), "mean", self.device)

    @property
    def width(self) -> int | None:
        """Width of vectors that are not learned, if a file or folder was given."""
        given = self.vectors or self.bert
        return None if given is None else given.width

    def of(self, settings: TaggerSettings, sections: Sequence[Sequence[str]]) -> Source:
        """Return what turns words into the input of a tagger; words and subwords are those of the training part.

        Parameters
        ----------
        settings : TaggerSettings
            Embedding, encoder and tagging scheme of the tagger.
        sections : sequence of sequence of str
            Words of the training part.

        Raises
        ------
        ConfigError
            If a file or folder is missing that the settings need, or given although they do not.
        """
        for embedding, (what, given) in self._paths.items():
            if (settings.embedding == embedding) != (given is not None):
                verb = "needs" if given is None else "takes no"
                raise ConfigError(f"a tagger of {settings.embedding!r} {verb} {what}: a local file or folder.")
        if self.vectors is not None:
            return self.vectors
        if self.bert is not None:
            return self.bert.with_blending(settings.blending or "mean")
        if settings.embedding == "learned-subword":
            return learn_subwords(sections, settings.bpe_ratio)
        return LearnedWords(count_words(sections).words)

"""A tagger that finds the parallelisms of documents."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from langdiff.errors import DataError
from langdiff.lm.device import one_thread
from langdiff.parallelism.documents import Document
from langdiff.parallelism.taggers.inputs import Inputs, Source, make_batch
from langdiff.parallelism.taggers.network import TaggerNetwork
from langdiff.parallelism.taggers.sections import with_tags, words_of_sections
from langdiff.parallelism.taggers.settings import TaggerSettings
from langdiff.parallelism.tagging import TaggingScheme

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

BATCH_TOKENS = 8192  # of a batch of sections that are tagged, padding included


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Tagger:
    """A trained tagger: predicts the parallelisms of the outermost stratum.

    Attributes
    ----------
    settings : TaggerSettings
        What it is made of.
    tags : tuple of str
        Tags seen in training; there are no others.
    history : DataFrame, one row per epoch
        ``epoch``, ``loss`` (of the training part, nats per token, dropout and replacement on), ``mbawo`` and ``epm``
        (F1 of the validation part), ``kept`` and ``seconds`` (of processor time).
    seed : int
        Seed of the training.
    source : Source
        What turns words into the network's input.
    network : TaggerNetwork
        The network, with the weights of the epoch kept.
    lemmatizer : str or None
        Language of the lemmata, None where there are none or they come from a function.
    lemma : callable or None
        Function from word to lemma.
    unknown_share : float or None
        Share of the running words of the training part that have no vector in the file of word2vec.
    """

    settings: TaggerSettings
    tags: tuple[str, ...]
    history: pd.DataFrame
    seed: int
    source: Source
    network: TaggerNetwork
    lemmatizer: str | None = None
    lemma: Callable[[str], str] | None = None
    unknown_share: float | None = None

    @property
    def scheme(self) -> TaggingScheme:
        """The scheme of its tags."""
        return TaggingScheme(self.settings.tagset, self.settings.link)

    def predict(self, documents: Mapping[str, Document] | Iterable[Document]) -> dict[str, Document]:
        """Find the parallelisms of documents.

        Parameters
        ----------
        documents : mapping from name to Document, or iterable of Document
            Documents; their own parallelisms are not looked at.

        Returns
        -------
        dict from str to Document
            The same documents with the parallelisms predicted, of which some may have a single branch.

        Raises
        ------
        DataError
            If two documents have one name.
        """
        given = list(documents.values() if isinstance(documents, Mapping) else documents)
        if len({one.name for one in given}) < len(given):
            raise DataError("two documents have one name; give each a name of its own.")
        sections = [words_of_sections(one) for one in given]
        tags = iter(self.tag([words for parts in sections for words in parts]))
        return {
            one.name: with_tags(one, [next(tags) for _ in parts], self.scheme)
            for one, parts in zip(given, sections, strict=True)
        }

    def tag(self, sections: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
        """Return the tags of the words of sections.

        Parameters
        ----------
        sections : sequence of sequence of str
            Words of each section, at least one.

        Returns
        -------
        list of tuple of str
            One tag per word.

        Raises
        ------
        DataError
            If a section has no words.
        """
        if not all(sections):
            raise DataError("a section without words cannot be tagged; leave it out.")
        inputs = self.source.prepare(with_lemmata(sections, self.lemma))
        return [tuple(self.tags[number] for number in row) for row in best_tags(self.network, inputs)]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per epoch; see `history`."""
        return self.history.copy()

    def summary(self) -> str:
        """Say what it is made of, how long it learned, and how good it is on the validation part."""
        kept = self.history[self.history["kept"]].iloc[-1]
        unknown = "" if self.unknown_share is None else f"\n{self.unknown_share:.1%} of the words have no vector"
        return (
            f"{self!r}\n{len(self.history)} epochs, the one kept is {int(kept['epoch'])}: F1 of the validation part "
            f"{kept['mbawo']:.4f} (MBAWO), {kept['epm']:.4f} (EPM){unknown}"
        )

    def plot(self, ax: "Axes | None" = None, **style: Any) -> "Axes":
        """Draw how it learned; see `langdiff.plots.plot_tagger_training`.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on; by default those of a new figure.
        **style
            Settings of the lines, which override the defaults.
        """
        from langdiff.plots import plot_tagger_training

        return plot_tagger_training(self.history, ax, **style)

    def save(self, directory: "str | Path") -> None:
        """Write ``model.json`` and weights (safetensors), replacing a tagger that is there.

        Vectors and BERTs that were not learned stay where they are: their place and a hash are saved.

        Parameters
        ----------
        directory : str or Path
            Folder to write to; it is made if it is missing.

        Raises
        ------
        OutputError
            If the files cannot be written.
        """
        from langdiff.parallelism.taggers.saving import save_tagger

        save_tagger(self, directory)

    def __repr__(self) -> str:
        """Say what it is."""
        n_weights = sum(weights.numel() for weights in self.network.parameters())
        return f"Tagger {self.settings.model} {self.settings.scheme}: {len(self.tags)} tags, {n_weights:,} weights"


def with_lemmata(sections: Sequence[Sequence[str]], lemma: Callable[[str], str] | None) -> Sequence[Sequence[str]]:
    """Return sections with each word replaced by its lemma, if there is a function for that."""
    return sections if lemma is None else [[lemma(word) for word in words] for words in sections]


def best_tags(network: TaggerNetwork, inputs: Sequence[Inputs]) -> list[list[int]]:
    """Return the best tags of sections, which are batched with others of about their length."""
    device = next(network.parameters()).device
    found: list[list[int]] = [[] for _ in inputs]
    training = network.training
    network.eval()
    try:
        with one_thread():
            for chosen in _batches(np.array([each.length for each in inputs])):
                rows = network.best(make_batch([inputs[place] for place in chosen], device))
                for place, row in zip(chosen, rows, strict=True):
                    found[place] = row
    finally:
        network.train(training)
    return found


def _batches(lengths: Any) -> Iterable[list[int]]:
    """Yield places of sections, the longest first, so that no batch has more than some number of tokens."""
    order = np.argsort(-lengths, kind="stable").tolist()
    while order:
        count = max(1, BATCH_TOKENS // int(lengths[order[0]]))
        yield order[:count]
        order = order[count:]


def gold_ids(tags: Sequence[str], known: Mapping[str, int]) -> Tensor:
    """Return the ids of tags of the training part, shape (1, T)."""
    return torch.tensor([[known[tag] for tag in tags]])

"""A tagger that finds the parallelisms of documents, and its folder on disk."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from langdiff.base.io import as_path
from langdiff.base.result import Drawn, Result
from langdiff.errors import CheckpointError, ConfigError, DataError, LangdiffError
from langdiff.lm.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from langdiff.lm.device import find_device, one_thread
from langdiff.lm.units.alphabet import Alphabet
from langdiff.lm.units.bpe import BPEUnits
from langdiff.parallelism.documents import Document
from langdiff.parallelism.scoring import score_parallelisms
from langdiff.parallelism.taggers.bert import FrozenBert
from langdiff.parallelism.taggers.network import TaggerNetwork
from langdiff.parallelism.taggers.settings import TaggerSettings, make_settings
from langdiff.parallelism.taggers.word_vectors import FileVectors
from langdiff.parallelism.taggers.words import (
    Inputs,
    LearnedSubwords,
    LearnedWords,
    Lemmatizer,
    Source,
    find_lemmatizer,
    make_batch,
    with_tags,
    words_of_sections,
)
from langdiff.parallelism.tagging import TaggingScheme

BATCH_TOKENS = 8192  # of a batch of sections that are tagged, padding included
_KIND = "parallelism-tagger"


def micro_f1(predicted: Sequence[Document], gold: Sequence[Document]) -> dict[str, float]:
    """Return F1 by metric, of all documents together."""
    names = [str(number) for number in range(len(gold))]
    scores = score_parallelisms(
        {"tagger": dict(zip(names, predicted, strict=True))}, dict(zip(names, gold, strict=True))
    )
    frame = scores.to_frame()
    return dict(zip(frame["metric"], frame["f"].astype(float), strict=True))


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Tagger(Result):
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

    def _table(self) -> pd.DataFrame:
        return super()._table().drop(columns="seconds")  # which no run repeats

    def _notes(self) -> Iterator[str]:
        kept = self.history[self.history["kept"]].iloc[-1]
        yield (
            f"{len(self.history)} epochs, the one kept is {int(kept['epoch'])}: F1 of the validation part "
            f"{kept['mbawo']:.4f} (MBAWO), {kept['epm']:.4f} (EPM)"
        )
        if self.unknown_share is not None:
            yield f"{self.unknown_share:.1%} of the words have no vector"

    plot = Drawn("plot_tagger_training", lambda tagger: tagger.history)

    def save(self, directory: str | Path) -> None:
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
        source, subwords = _described(self.source)
        settings = {
            "kind": _KIND,
            "settings": self.settings.model_dump(exclude_none=True),
            "tags": self.tags,
            "seed": self.seed,
            "lemmatizer": self.lemmatizer,
            "unknown_share": self.unknown_share,
            "source": source,
            "history": self.history.to_dict("list"),
        }
        weights = {name: value.cpu().numpy() for name, value in self.network.state_dict().items()}
        write_checkpoint(Path(directory), Checkpoint(settings=settings, weights=weights, subwords=subwords))

    def __repr__(self) -> str:
        """Return a line with the kind of tagger and its size."""
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


def read_tagger(
    directory: str | Path,
    *,
    vectors: str | Path | None = None,
    bert: str | Path | None = None,
    lemmatizer: Callable[[str], str] | None = None,
    device: str = "cpu",
) -> Tagger:
    """Read a tagger that `Tagger.save` wrote."""
    checkpoint = read_checkpoint(as_path(directory))
    saved = checkpoint.settings
    if saved.get("kind") != _KIND:
        raise CheckpointError(f"{directory}: another kind of model, not a tagger of parallelisms.")
    place = find_device(device)
    try:
        settings = make_settings(**saved["settings"])
        moved = _moved(saved["source"], settings, vectors, bert)
        source = _source(moved, settings, checkpoint.subwords, place)
        network = TaggerNetwork(settings, len(saved["tags"]), source.size, source.width)
        network.load_state_dict({name: torch.tensor(value) for name, value in checkpoint.weights.items()})
        tags, history, seed = tuple(saved["tags"]), pd.DataFrame(saved["history"]), int(saved["seed"])
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        if isinstance(error, LangdiffError):
            raise
        raise CheckpointError(f"{directory}: damaged, or not a tagger of this version: {error}") from error
    lemma = _lemma(settings, saved["lemmatizer"], lemmatizer)
    return Tagger(
        settings=settings,
        tags=tags,
        history=history,
        seed=seed,
        source=source,
        network=network.eval().to(place),
        lemmatizer=saved["lemmatizer"],
        lemma=lemma,
        unknown_share=saved["unknown_share"],
    )


def _described(source: Source) -> tuple[dict[str, Any], bytes | None]:
    """Return the description of a source for JSON, and its SentencePiece model if it has one."""
    if isinstance(source, LearnedSubwords):
        return {"alphabet": asdict(source.units.alphabet)}, source.units.model
    if isinstance(source, FileVectors):
        return {"vectors": str(source.path.absolute()), "sha256": source.digest()}, None
    if isinstance(source, FrozenBert):
        return {"bert": str(source.folder.absolute()), "sha256": source.digest()}, None
    if isinstance(source, LearnedWords):
        return {"words": source.words}, None
    raise TypeError(f"{type(source).__name__} cannot be saved")


def _moved(
    described: dict[str, Any], settings: TaggerSettings, vectors: str | Path | None, bert: str | Path | None
) -> dict[str, Any]:
    for what, given in (("vectors", vectors), ("bert", bert)):
        if given is not None and what not in described:
            raise ConfigError(f"a tagger of {settings.embedding!r} takes no {what}.")
        if given is not None:
            described = described | {what: str(given)}
    return described


def _source(
    described: dict[str, Any], settings: TaggerSettings, subwords: bytes | None, device: torch.device
) -> Source:
    if "words" in described:
        return LearnedWords(tuple(described["words"]))
    if "alphabet" in described:
        if subwords is None:
            raise KeyError("subwords")
        return LearnedSubwords(BPEUnits(Alphabet(**described["alphabet"]), subwords))
    source: FileVectors | FrozenBert
    if "vectors" in described:
        path = Path(described["vectors"])
        source = FileVectors(path)
    else:
        path = Path(described["bert"])
        source = FrozenBert(path, settings.blending or "mean", device)
    if source.digest() != described["sha256"]:
        raise CheckpointError(f"{path}: its content differs from the file that the tagger was trained with.")
    return source


def _lemma(settings: TaggerSettings, language: str | None, given: Callable[[str], str] | None) -> Lemmatizer | None:
    if not settings.lemmatize:
        if given is not None:
            raise ConfigError("this tagger does not use lemmata; leave lemmatizer out.")
        return None
    if language is None and given is None:
        raise ConfigError("this tagger was trained with a function as lemmatizer: give it again, lemmatizer=….")
    return find_lemmatizer(given or language or "")

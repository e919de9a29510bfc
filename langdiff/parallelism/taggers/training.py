"""Training of taggers with early stopping."""

import hashlib
import json
import logging
import time
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from langdiff.base.progress import progress_bar
from langdiff.base.types import generator, seed_number, seed_numbers
from langdiff.errors import ConfigError, DataError, TrainingError, option
from langdiff.lm.device import find_device, one_thread, seeded_torch
from langdiff.lm.lstm.resume import StateFolder, TrainingState
from langdiff.parallelism.documents import Document
from langdiff.parallelism.taggers.network import TaggerNetwork
from langdiff.parallelism.taggers.settings import TaggerSettings
from langdiff.parallelism.taggers.tagger import Tagger, best_tags, gold_ids, micro_f1, with_lemmata
from langdiff.parallelism.taggers.word_vectors import FileVectors, Sources
from langdiff.parallelism.taggers.words import (
    Documents,
    Inputs,
    LearnedWords,
    Lemmatizer,
    SingletonReplacement,
    Source,
    TaggedSection,
    as_list,
    count_words,
    find_lemmatizer,
    make_batch,
    tagged_sections,
    with_tags,
    words_of_sections,
)
from langdiff.parallelism.tagging import TaggingScheme

PATIENCE = 25  # epochs
logger = logging.getLogger(__name__)
MAX_EPOCHS = 200
TRAINING_FORMAT = 1  # raised when the same training gives another tagger; then states of another are not used
_MAX_NORM = 1.0  # of the gradient


class EarlyStopping:
    """Keeps the last of the best epochs, and stops after some epochs without one.

    An epoch is kept if its F1 is at least that of all before. Patience runs out after so many epochs in a row that were
    not kept; epochs of F1 0 count as such although they are kept.

    Parameters
    ----------
    patience : int
        Epochs to wait.
    scores : iterable of float
        F1 of the epochs so far, of a training that goes on.

    Attributes
    ----------
    best : float
        Highest F1 so far.
    waited : int
        Epochs since one was kept.

    Examples
    --------
    >>> stopping = EarlyStopping(2)
    >>> [stopping.keeps(f1) for f1 in (0.1, 0.3, 0.3, 0.2, 0.1)], stopping.is_over
    ([True, True, True, False, False], True)
    """

    def __init__(self, patience: int = PATIENCE, scores: Iterable[float] = ()) -> None:
        self.patience = patience
        self.best = 0.0
        self.waited = 0
        for score in scores:
            self.keeps(score)

    def keeps(self, score: float) -> bool:
        """Count an epoch; return whether its weights are kept."""
        kept = score >= self.best
        self.waited = 0 if kept and score > 0 else self.waited + 1
        self.best = max(self.best, score)
        return kept

    @property
    def is_over(self) -> bool:
        """Whether training stops."""
        return self.waited >= self.patience


class _Data(NamedTuple):
    """Training sections as inputs and tags, and validation documents with the inputs of their sections."""

    inputs: list[Inputs]
    tags: list[Tensor]
    replacement: SingletonReplacement | None
    documents: list[Document]
    held_out: list[Inputs]


def train_tagger(
    training: Documents,
    validation: Documents,
    settings: TaggerSettings,
    *,
    seed: int | np.random.Generator = 0,
    vectors: str | Path | None = None,
    bert: str | Path | None = None,
    lemmatizer: str | Lemmatizer = "la",
    singletons: bool = True,
    max_epochs: int = MAX_EPOCHS,
    patience: int = PATIENCE,
    device: str = "cpu",
    resume: str | Path | None = None,
    progress: bool | None = None,
) -> Tagger:
    r"""Train a tagger on annotated documents.

    One step of Adam per section, gradients clipped at a norm of 1, sections in a new order every epoch. After each
    epoch the validation part is tagged; the last epoch of the highest MBAWO F1 is kept.

    Parameters
    ----------
    training, validation : mapping from name to Document, or iterable of Document
        Documents to learn from, and documents that decide when to stop.
    settings : TaggerSettings
        Embedding, encoder and tagging scheme of the tagger.
    seed : int or numpy.random.Generator
        Seed of weights, orders of sections, replaced words and dropout.
    vectors : str or Path, optional
        File of word2vec, for ``embedding="word2vec"``, in its text or binary form.
    bert : str or Path, optional
        Folder of a BERT, for ``embedding="bert"``.
    lemmatizer : str or callable
        Language of simplemma's word lists or function from word to lemma, for ``lemmatize=True``.
    singletons : bool
        Whether, of learned words, those seen once teach the vector of unknown words: each of their occurrences is
        replaced with probability :math:`n_1 / (n_1 + 2 n_2)`, anew every epoch.
    max_epochs, patience : int
        Epochs at most, and epochs without one that is kept after which training stops.
    device : str
        Device, ``"cpu"``, ``"cuda"``, or ``"auto"``.
    resume : str or Path, optional
        Folder for the state after every epoch, from which the same call goes on; with the CPU, as if it had never
        stopped.
    progress : bool, optional
        Whether to draw a bar on stderr, by default on a terminal only.

    Returns
    -------
    Tagger
        The tagger of the epoch kept.

    Raises
    ------
    ConfigError
        If settings, vectors and BERT do not belong together, or a number is out of range.
    DataError
        If a part has no documents, or branches of the outermost stratum share tokens.
    TrainingError
        If the loss is not finite.

    References
    ----------
    Bothwell, DeBenedetto, Crnkovich, Müller and Chiang (2023), "Introducing Rhetorical Parallelism Detection: A New
    Task with Datasets, Metrics, and Baselines", EMNLP.

    Examples
    --------
    >>> from langdiff.parallelism import Parallelism, TaggerSettings, make_document
    >>> text = "we sing , we dance , and they sleep".split()
    >>> document = make_document("1", text, [Parallelism(((0, 2), (3, 5)))])
    >>> settings = TaggerSettings(
    ...     embedding="learned-word",
    ...     encoder="bilstm",
    ...     tagset="BIO",
    ...     link="TD",
    ...     learning_rate=0.05,
    ...     input_size=8,
    ...     hidden_size=8,
    ...     depth=1,
    ... )
    >>> tagger = train_tagger([document], [document], settings, seed=0, singletons=False, max_epochs=30)
    >>> tagger.predict([document])["1"].parallelisms
    (Parallelism(branches=((0, 2), (3, 5)), kind=None),)
    """
    return train_with(
        Sources(vectors, bert, find_device(device)),
        training,
        validation,
        settings,
        seed=seed,
        lemmatizer=lemmatizer,
        singletons=singletons,
        max_epochs=max_epochs,
        patience=patience,
        resume=resume,
        progress=progress,
    )


def train_with(
    sources: Sources,
    training: Documents,
    validation: Documents,
    settings: TaggerSettings,
    *,
    seed: int | np.random.Generator,
    lemmatizer: str | Lemmatizer,
    max_epochs: int,
    resume: str | Path | None,
    progress: bool | None,
    singletons: bool = True,
    patience: int = PATIENCE,
) -> Tagger:
    """Train a tagger with sources that other trainings may share; see `train_tagger`."""
    learned, judged = as_list(training), as_list(validation)
    if not (learned and judged):
        raise DataError("a tagger needs documents to learn from, and others that decide when to stop.")
    if not (max_epochs >= 1 and patience >= 1):
        raise ConfigError(f"{option('max_epochs')} and patience are at least 1; got {max_epochs} and {patience}.")
    number = seed_number(seed, "weights, orders and replaced words")
    lemma = find_lemmatizer(lemmatizer) if settings.lemmatize else None
    scheme = TaggingScheme(settings.tagset, settings.link)
    sections = tagged_sections(learned, scheme)
    words = with_lemmata([each.words for each in sections], lemma)
    tags = tuple(dict.fromkeys(tag for each in sections for tag in each.tags))
    source = sources.of(settings, words)
    known = {tag: number for number, tag in enumerate(tags)}
    replaced = singletons and isinstance(source, LearnedWords)
    data = _Data(
        inputs=source.prepare(words),
        tags=[gold_ids(each.tags, known) for each in sections],
        replacement=SingletonReplacement(count_words(words)) if replaced else None,
        documents=judged,
        held_out=source.prepare(with_lemmata([w for one in judged for w in words_of_sections(one)], lemma)),
    )
    with one_thread():
        with seeded_torch(seed_numbers(number, 1)[0]):
            network = TaggerNetwork(settings, len(tags), source.size, source.width).to(sources.device)
        run = _Run(network, settings, data, tags, number, patience)
        key = _key(settings, number, sources.device, singletons, patience, sections, judged, source)
        run.go(max_epochs, StateFolder(None if resume is None else Path(resume), key), progress)
    return Tagger(
        settings=settings,
        tags=tags,
        history=pd.DataFrame(run.history),
        seed=number,
        source=source,
        network=network,
        lemmatizer=lemmatizer if settings.lemmatize and isinstance(lemmatizer, str) else None,
        lemma=lemma,
        unknown_share=source.unknown_share([*chain(*words)]) if isinstance(source, FileVectors) else None,
    )


class _Run:
    """A training between its epochs."""

    def __init__(
        self,
        network: TaggerNetwork,
        settings: TaggerSettings,
        data: _Data,
        tags: tuple[str, ...],
        seed: int,
        patience: int,
    ) -> None:
        self.network, self.data, self.tags, self.seed = network, data, tags, seed
        self.scheme = TaggingScheme(settings.tagset, settings.link)
        self.optimizer = torch.optim.Adam(network.parameters(), lr=settings.learning_rate, fused=True)
        self.stopping = EarlyStopping(patience)
        self.history: list[dict[str, Any]] = []
        self.kept = self._weights()

    def go(self, max_epochs: int, states: StateFolder, progress: bool | None) -> None:
        """Train until it is over; give the network the weights of the epoch kept."""
        self._restore(states.read())
        with progress_bar(progress=progress) as bar:
            task = bar.add_task("training", total=max_epochs, completed=len(self.history), note="")
            while len(self.history) < max_epochs and not self.stopping.is_over:
                self._epoch(len(self.history) + 1)
                last = self.history[-1]
                bar.update(task, advance=1, note=f"MBAWO F1 {last['mbawo']:.4f}, best {self.stopping.best:.4f}")
                logger.info("epoch %d: loss %.4f, F1 %.4f (MBAWO), %.4f (EPM)", *list(last.values())[:4])
                states.write(self._state())
        self.network.load_state_dict(self.kept)
        self.network.eval()

    def _epoch(self, epoch: int) -> None:
        start = time.process_time()
        number = seed_numbers(self.seed, epoch + 1)[-1]  # so that an epoch does not depend on how it was reached
        with seeded_torch(number):
            nats = self._steps(generator(number))
        if not np.isfinite(nats):
            raise TrainingError(f"the loss of epoch {epoch} is not finite; choose a lower learning rate.")
        scores = micro_f1(self._predicted(), self.data.documents)
        kept = self.stopping.keeps(scores["MBAWO"])
        if kept:
            self.kept = self._weights()
        self.history.append(
            {
                "epoch": epoch,
                "loss": nats / sum(inputs.length for inputs in self.data.inputs),
                "mbawo": scores["MBAWO"],
                "epm": scores["EPM"],
                "kept": kept,
                "seconds": time.process_time() - start,
            }
        )

    def _steps(self, rng: np.random.Generator) -> float:
        """Train one step per section; return the sum of the losses in nats."""
        device = next(self.network.parameters()).device
        self.network.train()
        nats = 0.0
        for place in rng.permutation(len(self.data.inputs)).tolist():
            inputs = self.data.inputs[place]
            if self.data.replacement is not None:
                inputs = self.data.replacement(inputs, rng)
            loss = self.network(make_batch([inputs], device), self.data.tags[place].to(device)).sum()
            self.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), _MAX_NORM)
            self.optimizer.step()
            nats += loss.item()
        return nats

    def _predicted(self) -> list[Document]:
        rows = iter(best_tags(self.network, self.data.held_out))
        return [
            with_tags(one, [[self.tags[i] for i in next(rows)] for _ in words_of_sections(one)], self.scheme)
            for one in self.data.documents
        ]

    def _weights(self) -> dict[str, Tensor]:
        return {name: weights.detach().clone() for name, weights in self.network.state_dict().items()}

    def _state(self) -> TrainingState:
        optimizer = self.optimizer.state_dict()["state"]
        tensors = {f"now.{name}": weights for name, weights in self.network.state_dict().items()}
        tensors |= {f"kept.{name}": weights for name, weights in self.kept.items()}
        tensors |= {f"adam.{i}.{name}": value for i, own in optimizer.items() for name, value in own.items()}
        return TrainingState(epoch=len(self.history), settings={"history": self.history}, tensors=tensors)

    def _restore(self, state: TrainingState | None) -> None:
        if state is None:
            return
        parts: dict[str, dict[str, Tensor]] = {"now": {}, "kept": {}, "adam": {}}
        for name, tensor in state.tensors.items():
            part, _, rest = name.partition(".")
            parts[part][rest] = tensor
        self.network.load_state_dict(parts["now"])
        self.kept = parts["kept"]
        adam: dict[int, dict[str, Tensor]] = {}
        for name, tensor in parts["adam"].items():
            number, _, what = name.partition(".")
            adam.setdefault(int(number), {})[what] = tensor
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": adam})
        self.history = list(state.settings["history"])
        self.stopping = EarlyStopping(self.stopping.patience, (epoch["mbawo"] for epoch in self.history))


def _key(
    settings: TaggerSettings,
    seed: int,
    device: torch.device,
    singletons: bool,
    patience: int,
    sections: Sequence[TaggedSection],
    validation: Sequence[Document],
    source: Source,
) -> str:
    """Return a hash of all inputs of a training."""
    decisive = {
        "settings": settings.model_dump(exclude_none=True),
        "seed": seed,
        "device": device.type,
        "singletons": singletons,
        "patience": patience,
        "training_format": TRAINING_FORMAT,
        "vectors": source.digest() if hasattr(source, "digest") else None,
    }
    digest = hashlib.sha256(json.dumps(decisive).encode())
    for section in sections:
        digest.update(repr((section.words, section.tags)).encode())
    for document in validation:
        places = [(one.start, one.end) for one in document.sections]
        digest.update(repr((document.tokens, places, [one.branches for one in document.parallelisms])).encode())
    return digest.hexdigest()

"""Taggers on disk: settings in JSON, weights in safetensors, and where vectors that were not learned are."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from langdiff.base.io import as_path
from langdiff.errors import CheckpointError, ConfigError, LangdiffError
from langdiff.lm.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from langdiff.lm.device import find_device
from langdiff.lm.units.alphabet import Alphabet
from langdiff.lm.units.bpe import BPEUnits
from langdiff.parallelism.taggers.bert import FrozenBert
from langdiff.parallelism.taggers.inputs import Source
from langdiff.parallelism.taggers.lemmas import Lemmatizer, find_lemmatizer
from langdiff.parallelism.taggers.network import TaggerNetwork
from langdiff.parallelism.taggers.settings import TaggerSettings, make_settings
from langdiff.parallelism.taggers.subwords import LearnedSubwords
from langdiff.parallelism.taggers.tagger import Tagger
from langdiff.parallelism.taggers.word_vectors import FileVectors
from langdiff.parallelism.taggers.words import LearnedWords

_KIND = "parallelism-tagger"


def save_tagger(tagger: Tagger, directory: str | Path) -> None:
    """Write a tagger; see `Tagger.save`."""
    source, subwords = _described(tagger.source)
    settings = {
        "kind": _KIND,
        "settings": tagger.settings.model_dump(exclude_none=True),
        "tags": tagger.tags,
        "seed": tagger.seed,
        "lemmatizer": tagger.lemmatizer,
        "unknown_share": tagger.unknown_share,
        "source": source,
        "history": tagger.history.to_dict("list"),
    }
    weights = {name: value.cpu().numpy() for name, value in tagger.network.state_dict().items()}
    write_checkpoint(Path(directory), Checkpoint(settings=settings, weights=weights, subwords=subwords))


def read_tagger(
    directory: str | Path,
    *,
    vectors: str | Path | None = None,
    bert: str | Path | None = None,
    lemmatizer: Callable[[str], str] | None = None,
    device: str = "cpu",
) -> Tagger:
    """Read a tagger that `Tagger.save` wrote.

    Parameters
    ----------
    directory : str or Path
        Folder that the tagger was saved in.
    vectors, bert : str or Path, optional
        Where the file of vectors or the folder of the BERT is now, if it was moved.
    lemmatizer : callable, optional
        The function from word to lemma that the tagger was trained with, if that was not a language's word list.
    device : str
        ``"cpu"``, ``"cuda"``, or ``"auto"``.

    Returns
    -------
    Tagger
        The tagger, which predicts what it predicted before.

    Raises
    ------
    CheckpointError
        If files are missing, damaged or of something else, or vectors or the BERT are not those of the training.
    ConfigError
        If a file, folder or function is given that the tagger does not use, or a function that it needs is missing.

    Examples
    --------
    >>> import tempfile
    >>> from langdiff.parallelism import Parallelism, TaggerSettings, make_document, train_tagger
    >>> document = make_document("1", "we sing , they sleep".split(), [Parallelism(((0, 2), (3, 5)))])
    >>> settings = TaggerSettings(
    ...     embedding="learned-word", encoder="none", tagset="BIO", link="BD", learning_rate=0.1, input_size=4
    ... )
    >>> tagger = train_tagger([document], [document], settings, seed=0, max_epochs=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tagger.save(folder)
    ...     again = read_tagger(folder)
    >>> again.predict([document]) == tagger.predict([document])
    True
    """
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
        raise CheckpointError(f"{directory}: damaged, or no tagger of this version: {error}") from error
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
    """Return what JSON says of a source, and its SentencePiece model if it has one."""
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
        raise CheckpointError(f"{path}: not what the tagger was trained with: other content.")
    return source


def _lemma(settings: TaggerSettings, language: str | None, given: Callable[[str], str] | None) -> Lemmatizer | None:
    if not settings.lemmatize:
        if given is not None:
            raise ConfigError("this tagger does not look at lemmata; leave lemmatizer out.")
        return None
    if language is None and given is None:
        raise ConfigError("this tagger was trained with a lemmatizer of your own: give it again, lemmatizer=….")
    return find_lemmatizer(given or language or "")

"""Protocol of external language models, and tables of their surprisals, cached edition by edition."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
import pandas as pd

from langdiff.base.checksums import is_whole, seal
from langdiff.base.io import parse_json, remove, write_json
from langdiff.base.progress import progress_bar
from langdiff.base.signature import full_hash
from langdiff.errors import ConfigError, DataError, LangdiffWarning, listing, warn
from langdiff.lm.jobs.record import hash_texts, provenance_of_models, surprisals_of_frames
from langdiff.lm.texts import check_texts
from langdiff.tables.multitext import Multitext
from langdiff.tables.surprisals import Surprisals

KIND = "surprisals of an edition"
FORMAT_VERSION = 1


@runtime_checkable
class SurprisalModel(Protocol):
    """Interface of an external language model: one method.

    `langdiff.lm.LanguageModel` and `langdiff.lm.HuggingFaceLM` have it.
    """

    def surprisal(self, texts: pd.Series, /) -> pd.DataFrame | Sequence[float]:
        r"""Score texts independently.

        Parameters
        ----------
        texts : Series of str, length I
            None of them missing or empty.

        Returns
        -------
        DataFrame or sequence of float, length I
            :math:`-\log_2 p(\text{text}, \text{end})` of each text, in bits; or a frame with these as
            its column ``bits`` and, if known, ``eos_bits``, ``characters``, ``bytes`` and ``replaced``.
        """
        ...


class Identified(Protocol):
    """Additional interface for caching: a string that identifies the model."""

    @property
    def identity(self) -> str:
        """Hash of everything that determines the bits."""


def surprisals_of(
    model: SurprisalModel | Mapping[str, SurprisalModel],
    multitext: Multitext,
    *,
    lm: str | None = None,
    cache: str | Path | None = None,
    progress: bool | None = None,
) -> Surprisals:
    """Score every intent of a multitext with an external language model.

    Parameters
    ----------
    model : SurprisalModel, or mapping from edition to SurprisalModel
        One for all editions (a multilingual model), or one for each.
    multitext : Multitext
        What to score; the models must not have been trained on it.
    lm : str, optional
        Names the language model in tables and figures; by default the class of `model`.
    cache : str or Path, optional
        Folder where what is known of each edition is kept as soon as it is scored, so that the same call goes on after
        an interruption. Models need an attribute ``identity``, a string that tells them from others, as
        `langdiff.HuggingFaceLM` has.
    progress : bool, optional
        Draw a progress bar; by default if stderr is a terminal.

    Returns
    -------
    Surprisals
        Bits of all intents, NaN where an edition lacks one, with the `intent_info` of the multitext.

    Raises
    ------
    ConfigError
        If an edition has no model, or what was given has no method ``surprisal``, or no ``identity`` for a cache.
    DataError
        If a model gives another number of surprisals than it was given texts, or one that is not a
        positive finite number; the message names the edition.

    Examples
    --------
    >>> import langdiff as ld
    >>> multitext = ld.read_frame(pd.DataFrame({"eng": ["a dog", "a cat"], "deu": ["ein Hund", None]}))
    >>> class EightBitsAByte:
    ...     def surprisal(self, texts):
    ...         return [8.0 * len(text.encode()) for text in texts]
    >>> surprisals_of(EightBitsAByte(), multitext)
    Surprisals by EightBitsAByte: 2 intents × 2 editions, 1 of 4 cells missing
    """
    models = dict(model) if isinstance(model, Mapping) else dict.fromkeys(multitext.editions, model)
    without = [edition for edition in multitext.editions if edition not in models]
    if without:
        raise ConfigError(f"no language model for {len(without)} edition(s): {listing(without)}.")
    unfit = [models[edition] for edition in multitext.editions if not isinstance(models[edition], SurprisalModel)]
    if unfit:
        raise ConfigError(
            f"a language model needs a method surprisal(texts) that gives bits; {type(unfit[0]).__name__} has none."
        )
    if cache is not None:
        unknown = [each for each in models.values() if not isinstance(getattr(each, "identity", None), str)]
        if unknown:
            raise ConfigError(
                "a cache needs models with an attribute identity, a string that tells them from others; "
                f"{type(unknown[0]).__name__} has none."
            )
    name = lm or "+".join(dict.fromkeys(type(models[edition]).__name__ for edition in multitext.editions))
    frames, scored = {}, {}
    with progress_bar(progress=progress) as bar:
        task = bar.add_task(name, total=len(multitext.editions), note="")
        for edition in multitext.editions:
            bar.update(task, note=edition)
            texts = multitext.text(edition)
            score = partial(_score, models[edition], texts, edition)
            if cache is None:
                frames[edition] = score()
            else:
                identity = cast(Identified, models[edition]).identity
                frames[edition] = cached(Path(cache), identity, edition, texts, score)
            scored[edition] = hash_texts(texts)
            bar.update(task, advance=1)

    used = [models[edition] for edition in multitext.editions]
    return surprisals_of_frames(frames, multitext, name, provenance_of_models(used, name, multitext, scored))


def _score(model: SurprisalModel, texts: pd.Series, edition: str) -> pd.DataFrame:
    """Return a frame with a column ``bits``, indexed as the texts."""
    check_texts(texts, f"edition {edition!r}")
    given = model.surprisal(texts)
    frame = given if isinstance(given, pd.DataFrame) else pd.DataFrame({"bits": np.asarray(given, dtype=float)})
    if "bits" not in frame:
        raise DataError(f"edition {edition!r}: the model's table has no column 'bits', but {listing(frame.columns)}.")
    if len(frame) != len(texts):
        raise DataError(f"edition {edition!r}: the model gave {len(frame):,} surprisals for {len(texts):,} texts.")
    frame = frame.set_axis(texts.index, axis=0)
    bits = frame["bits"].to_numpy(dtype=float)
    wrong = np.flatnonzero(~((bits > 0) & np.isfinite(bits)))  # NaN would pass for a missing translation
    if len(wrong):
        raise DataError(
            f"edition {edition!r}: {len(wrong):,} of {len(bits):,} surprisals are not positive finite bits, the first "
            f"{bits[wrong[0]]:g} for intent {texts.index[wrong[0]]!r}. Give minus log2 of the probability of the text."
        )
    return frame


def cached(
    folder: Path, identity: str, edition: str, texts: pd.Series, score: Callable[[], pd.DataFrame]
) -> pd.DataFrame:
    """Return the cached scores of a model for the texts of an edition; compute and store them if there are none.

    Parameters
    ----------
    folder : Path
        Folder of one file per model and edition, made if missing.
    identity : str
        What tells the model from others.
    edition : str
        Name of the edition.
    texts : Series of str, length I
        Texts of the edition, by intent.
    score : callable
        Scores the texts: a frame of numbers with one row per text. Numbers are kept to the last bit.

    Warns
    -----
    LangdiffWarning
        As `score` does, also if what it gave was kept; or if a folder is where it would be kept.
    """
    key = full_hash(identity, edition, texts)
    path = folder / f"{key[:32]}.json"
    if path.is_dir():
        warn(f"{path}: is a directory. The texts are scored again.")
        remove(path)
    kept = _read(path, key)
    if kept is not None:
        for message in kept.get("warnings", []):
            warn(message)
        return pd.DataFrame(kept["columns"]).set_axis(texts.index, axis=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LangdiffWarning)
        frame = score()
    for each in caught:
        warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    messages = [str(each.message) for each in caught if issubclass(each.category, LangdiffWarning)]
    columns = {str(name): [float(number) for number in column] for name, column in frame.items()}
    document = {"format": KIND, "format_version": FORMAT_VERSION, "edition": edition, "key": key, "columns": columns}
    write_json(path, seal(document | {"warnings": messages}))
    return frame.astype(float)


def _read(path: Path, key: str) -> dict[str, Any] | None:
    """Return the content of a file; None if it is missing, damaged or of another kind."""
    try:
        document = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if (
        not isinstance(document, dict)
        or "sha256" not in document
        or not is_whole(document)
        or document.get("key") != key
    ):
        return None
    return document

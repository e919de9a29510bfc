"""Protocol of external language models, and tables of their surprisals, cached edition by edition."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from langdiff.base.checksums import seal
from langdiff.base.io import remove, write_json
from langdiff.base.progress import progress_bar
from langdiff.base.signature import full_hash
from langdiff.errors import ConfigError, DataError, LangdiffWarning, listing, warn
from langdiff.lm.external.shards import (
    Plan,
    Submits,
    collect,
    file_of,
    frames_of_plan,
    read_plans,
    read_scores,
    share_of,
)
from langdiff.lm.jobs.record import hash_texts, provenance_of_models, surprisals_of_frames, table_of_frames
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


def surprisals_of(
    model: SurprisalModel | Mapping[str, SurprisalModel],
    multitext: Multitext,
    *,
    lm: str | None = None,
    cache: str | Path | None = None,
    executor: Submits | None = None,
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
        `langdiff.HuggingFaceLM` has. A cluster without an executor shares the editions out by `score_shard`.
    executor : object with a method ``submit``, optional
        Where editions are scored, instead of here one after the other: of the standard library, Dask or submitit. What
        ``submit`` returns needs ``done()`` and ``result()``; model and texts are sent to it. With a cache, which must
        be a folder that all workers see, each worker keeps what it has scored.
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
    models = _models_of(model, multitext, with_identity=cache is not None)
    name = lm or _name_of(models)
    folder = None if cache is None else Path(cache)
    frames, scored = {}, {}
    with progress_bar(progress=progress) as bar:
        task = bar.add_task(name, total=len(multitext.editions), note="")
        futures = {}
        for edition in multitext.editions:
            texts = multitext.text(edition)
            scored[edition] = hash_texts(texts)
            if executor is not None:
                futures[edition] = executor.submit(_job, models[edition], texts, edition, folder)
                continue
            bar.update(task, note=edition)
            frames[edition] = _job(models[edition], texts, edition, folder)
            bar.update(task, advance=1)
        frames |= collect(futures, lambda edition: bar.update(task, advance=1, note=edition))
    return surprisals_of_frames(frames, multitext, name, provenance_of_models(models.values(), name, multitext, scored))


def score_shard(
    model: SurprisalModel | Mapping[str, SurprisalModel],
    multitext: Multitext,
    *,
    shard: str,
    cache: str | Path,
    lm: str | None = None,
    progress: bool | None = None,
) -> list[str]:
    """Score one machine's share of the editions, as an array of jobs on a cluster does, and keep it in the cache.

    Run it with the same arguments and each of ``"1/N"`` to ``"N/N"``, at once or not, then `merge_shards`. Several
    models may share a cache. Nothing is locked, since no two shares write the same file.

    Parameters
    ----------
    model, multitext, lm, progress
        As `langdiff.surprisals_of` takes them; models need an ``identity``.
    shard : str
        ``"k/N"``: share k, from 1, of N.
    cache : str or Path
        Folder that all machines see, of files; object stores cannot hold it.

    Returns
    -------
    list of str
        Editions of this share.

    Raises
    ------
    ConfigError
        If `shard` is not of this form, or as `langdiff.surprisals_of`.
    DataError
        As `langdiff.surprisals_of`.

    Examples
    --------
    >>> import tempfile
    >>> import langdiff as ld
    >>> multitext = ld.read_frame(pd.DataFrame({"eng": ["a dog", "a cat"], "deu": ["ein Hund", "eine Katze"]}))
    >>> class EightBitsAByte:
    ...     identity = "8 bits per byte"
    ...
    ...     def surprisal(self, texts):
    ...         return [8.0 * len(text.encode()) for text in texts]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     shares = [score_shard(EightBitsAByte(), multitext, shard=f"{k}/2", cache=folder) for k in (1, 2)]
    ...     merge_shards(folder)["EightBitsAByte"]
    Surprisals by EightBitsAByte: 2 intents × 2 editions, 0 of 4 cells missing
    """
    models = _models_of(model, multitext, with_identity=True)
    name, folder = lm or _name_of(models), Path(cache)
    texts = {edition: multitext.text(edition) for edition in multitext.editions}
    keys = {edition: _key(models[edition], edition, texts[edition]) for edition in multitext.editions}
    chosen = share_of(list(keys.values()), shard)
    scored = {edition: hash_texts(texts[edition]) for edition in texts}
    Plan(
        lm=name,
        keys=pd.Series(keys, name="key"),
        presence=multitext.presence,
        intent_info=multitext.intent_info,
        provenance=provenance_of_models(models.values(), name, multitext, scored),
    ).write(folder)
    mine = [edition for edition, key in keys.items() if key in chosen]
    with progress_bar(progress=progress) as bar:
        task = bar.add_task(f"{name}, share {shard}", total=len(mine), note="")
        for edition in mine:
            bar.update(task, note=edition)
            _job(models[edition], texts[edition], edition, folder)
            bar.update(task, advance=1)
    return mine


def merge_shards(cache: str | Path) -> dict[str, Surprisals]:
    """Join the shares of a cache to tables.

    Parameters
    ----------
    cache : str or Path
        Folder that `score_shard` wrote to.

    Returns
    -------
    dict from str to Surprisals
        Table of each language model, the same to the last bit as `langdiff.surprisals_of` gives; `langdiff.stack` takes
        them.

    Raises
    ------
    DataError
        If nothing was scored, or shares are missing; the message names the editions.

    Examples
    --------
    >>> merge_shards("no-such-folder")
    Traceback (most recent call last):
    ...
    langdiff.errors.DataError: no-such-folder: no plan of scores. It is written by langdiff score --shard k/N --cache \
no-such-folder.
    """
    folder = Path(cache)
    tables: dict[str, Surprisals] = {}
    for plan in read_plans(folder):
        if plan.lm in tables:
            raise DataError(f"{folder}: two tables of {plan.lm}, of other texts or settings. Use a folder for each.")
        frames = frames_of_plan(plan, folder)
        tables[plan.lm] = table_of_frames(
            frames, list(plan.keys.index), plan.presence.index, plan.lm, plan.provenance, plan.intent_info
        )
    return tables


def _models_of(model: object, multitext: Multitext, *, with_identity: bool) -> dict[str, Any]:
    """Return the model of each edition, after checking that it can score and, for a cache, be told from others."""
    models = dict(model) if isinstance(model, Mapping) else dict.fromkeys(multitext.editions, model)
    without = [edition for edition in multitext.editions if edition not in models]
    if without:
        raise ConfigError(f"no language model for {len(without)} edition(s): {listing(without)}.")
    models = {edition: models[edition] for edition in multitext.editions}
    unfit = [each for each in models.values() if not isinstance(each, SurprisalModel)]
    if unfit:
        raise ConfigError(
            f"a language model needs a method surprisal(texts) that gives bits; {type(unfit[0]).__name__} has none."
        )
    unknown = [each for each in models.values() if not isinstance(getattr(each, "identity", None), str)]
    if with_identity and unknown:
        raise ConfigError(
            "a cache needs models with an attribute identity, a string that tells them from others; "
            f"{type(unknown[0]).__name__} has none."
        )
    return models


def _name_of(models: Mapping[str, object]) -> str:
    return "+".join(dict.fromkeys(type(each).__name__ for each in models.values()))


def _key(model: Any, edition: str, texts: pd.Series) -> str:
    """Return the key of a job: a hash of the model and of the texts."""
    return full_hash(model.identity, edition, texts)


def _job(model: Any, texts: pd.Series, edition: str, folder: Path | None) -> pd.DataFrame:
    """Score the texts of one edition, or read their scores from the cache; a worker needs nothing else."""
    score = partial(_score, model, texts, edition)
    return score() if folder is None else cached(folder, model.identity, edition, texts, score)


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

    Warns
    -----
    LangdiffWarning
        As `score` does, also if what it gave was kept; or if a folder is where it would be kept.
    """
    key = full_hash(identity, edition, texts)
    path = folder / file_of(key)
    if path.is_dir():
        warn(f"{path}: is a directory. The texts are scored again.")
        remove(path)
    kept = read_scores(path, key)
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

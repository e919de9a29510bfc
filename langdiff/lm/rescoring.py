"""Scoring texts with language models that were trained before."""

from collections.abc import Iterable
from pathlib import Path

from langdiff.base.progress import progress_bar
from langdiff.errors import ConfigError, DataError
from langdiff.lm.jobs.job import explain_replaced, load_finished, read_record, score_texts
from langdiff.lm.jobs.record import hash_texts, provenance_of_scored, surprisals_of_frames
from langdiff.lm.jobs.results import cautions_of, check_fraction, frames_of, warn_of
from langdiff.lm.language_model import LanguageModelRecipe, Model, find_lm, find_scored_lm
from langdiff.lm.scoring import Scoring
from langdiff.lm.texts import naming
from langdiff.tables.multitext import Multitext
from langdiff.tables.surprisals import Surprisals


def read_models(
    models: str | Path,
    editions: Iterable[str],
    *,
    lm: str | LanguageModelRecipe = "char-residual",
    device: str = "auto",
) -> dict[str, Model]:
    """Read the language models that `compute_surprisals` left in its cache.

    Parameters
    ----------
    models : str or Path
        Folder that was given to `compute_surprisals` as `cache`.
    editions : iterable of str
        Editions whose models to read.
    lm : str or LanguageModelRecipe
        Language model to take from there.
    device : str
        ``"auto"`` (CUDA where there is one, else the CPU), ``"cpu"``, ``"cuda"``, ….

    Returns
    -------
    dict from str to Model
        The model of each edition, for `langdiff.surprisals_of` or `langdiff.lm.token_scores`.

    Raises
    ------
    CheckpointError
        If an edition has no finished model of that recipe there, or its files are damaged.
    ConfigError
        If recipe or device cannot be used, or the name of the recipe is that of a way of scoring.

    Examples
    --------
    >>> import tempfile
    >>> import langdiff as ld
    >>> parts = ld.split(ld.synthesize(200, 1, seed=1).multitext)
    >>> with tempfile.TemporaryDirectory() as cache:
    ...     surprisals = ld.compute_surprisals(parts, lm="kneser-ney-3", cache=cache, progress=False)
    ...     models = read_models(cache, parts.test.editions, lm="kneser-ney-3")
    >>> bool((models[parts.test.editions[0]].surprisal(parts.test.text(parts.test.editions[0]))["bits"] > 0).all())
    True
    """
    if isinstance(editions, str):
        raise ConfigError(f"editions are several names; got one string: write [{editions!r}].")
    recipe = find_lm(lm)
    found = {}
    for edition in editions:
        with naming(edition):
            found[edition] = load_finished(Path(models), edition, recipe, device)
    return found


def score_multitext(
    multitext: Multitext,
    models: str | Path,
    *,
    lm: str | LanguageModelRecipe = "char-residual",
    scoring: Scoring | str | None = None,
    max_replaced: float = 0.05,
    device: str = "auto",
    progress: bool | None = None,
) -> Surprisals:
    """Score every intent with the language models that `compute_surprisals` left in its cache.

    A model has seen the intents it was trained on: do not mix their surprisals with those of others.

    Parameters
    ----------
    multitext : Multitext
        Texts to score; editions must have the names of those that the models were trained on.
    models : str or Path
        Folder that was given to `compute_surprisals` as `cache`.
    lm : str or LanguageModelRecipe
        Language model to take from there; a name may end in ``-unpriced`` or ``-carried``, which stand for `scoring`.
    scoring : Scoring or str, optional
        Way of scoring, as for `compute_surprisals`; it may differ from earlier ones.
    max_replaced : float
        Fraction of an edition's characters, from 0 to 1, that may be outside its model's alphabet.
    device : str
        ``"auto"`` (CUDA where there is one, else the CPU), ``"cpu"``, ``"cuda"``, ….
    progress : bool, optional
        Draw a progress bar; by default if stderr is a terminal.

    Returns
    -------
    Surprisals
        Bits of all intents, NaN where an edition lacks one, with the `intent_info` of the multitext.

    Raises
    ------
    CheckpointError
        If an edition has no finished model of that recipe there, or its files are damaged.
    ConfigError
        If recipe, scoring or device cannot be used.
    DataError
        If more than `max_replaced` of the characters of editions are replaced; the message names all of them.

    Warns
    -----
    LangdiffWarning
        If more than 0.1 % of an edition's characters are outside its model's alphabet.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> import langdiff as ld
    >>> bible = ld.read_frame(pd.DataFrame({"eng": ["the cat sat", "a dog ran"] * 70}))
    >>> train, dev, test = (bible.sel(intents=bible.intents[a:b]) for a, b in ((0, 120), (120, 130), (130, 140)))
    >>> parts = ld.Parts(train=train, dev=dev, test=test)
    >>> with tempfile.TemporaryDirectory() as cache:
    ...     trained = ld.compute_surprisals(parts, lm="kneser-ney-3", cache=cache, progress=False)
    ...     score_multitext(dev, cache, lm="kneser-ney-3", progress=False)
    Surprisals by kneser-ney-3: 10 intents × 1 editions, 0 of 10 cells missing
    """
    recipe, scoring = named = find_scored_lm(lm, scoring)
    check_fraction(max_replaced)
    results, records, scored = {}, {}, {}
    with progress_bar(progress=progress) as bar:
        task = bar.add_task(named.name, total=len(multitext.editions), note="")
        for edition in multitext.editions:
            bar.update(task, note=edition)
            with naming(edition):
                model = load_finished(Path(models), edition, recipe, device)
                records[edition] = read_record(Path(models), edition, recipe.name)
                texts = multitext.text(edition)
                results[edition], scored[edition] = score_texts(model, texts, "scored", scoring), hash_texts(texts)
            bar.update(task, advance=1)
    message = explain_replaced({edition: result.replaced_rate for edition, result in results.items()}, max_replaced)
    if message is not None:
        raise DataError(message)
    warn_of(cautions_of(results), stacklevel=3)
    provenance = provenance_of_scored(recipe, scoring, multitext, records, scored)
    return surprisals_of_frames(frames_of(results), multitext, named.name, provenance)

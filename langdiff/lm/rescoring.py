"""Scoring of texts, or of every unit of them, with previously trained language models."""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import cast

import numpy as np
import pandas as pd

from langdiff.base.io import as_path
from langdiff.base.progress import progress_bar
from langdiff.base.types import Booleans, Floats, Integers
from langdiff.errors import ConfigError, DataError, listing
from langdiff.lm.jobs.job import explain_replaced, find_model, load_finished, read_record, score_texts
from langdiff.lm.jobs.record import hash_texts, provenance_of_scored, surprisals_of_frames
from langdiff.lm.jobs.workers import cautions_of, check_fraction, frames_of, warn_of
from langdiff.lm.language_model import LanguageModelRecipe, Model, find_lm, find_scored_lm
from langdiff.lm.mixture import Mixable
from langdiff.lm.scoring import Scoring, as_scoring
from langdiff.lm.texts import caution_about_rates, check_texts, naming
from langdiff.lm.units.alphabet import SPACE, Alphabet
from langdiff.tables.multitext import Multitext
from langdiff.tables.surprisals import Surprisals
from langdiff.tables.token_tables import END, TokenScores

_NOTHING = np.empty((3, 0))  # bits, bits of a boundary and beginnings of words of no text


def read_models(
    models: str | Path,
    editions: Iterable[str],
    *,
    lm: str | LanguageModelRecipe = "char-residual",
    device: str = "auto",
    training_seed: int | None = None,
) -> dict[str, Model]:
    """Read the language models in a cache of `compute_surprisals`.

    Parameters
    ----------
    models : str or Path
        Folder that was given to `compute_surprisals` as `cache`.
    editions : iterable of str
        Editions whose models to read.
    lm : str or LanguageModelRecipe
        Language model to take from there.
    device : str
        Device, auto (CUDA where there is one, else the CPU), ``"cpu"``, ``"cuda"``, ….
    training_seed : int, optional
        Seed of the trainings, where the cache has models of several.

    Returns
    -------
    dict from str to Model
        The model of each edition, for `langdiff.surprisals_of` or `langdiff.lm.token_scores`.

    Raises
    ------
    CheckpointError
        If an edition has no finished model of that recipe there, or several, or its files are damaged.
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
            found[edition] = load_finished(find_model(as_path(models), edition, recipe, training_seed), recipe, device)
    return found


def score_multitext(
    multitext: Multitext,
    models: str | Path,
    *,
    lm: str | LanguageModelRecipe = "char-residual",
    scoring: Scoring | str | None = None,
    max_replaced: float = 0.05,
    device: str = "auto",
    training_seed: int | None = None,
    progress: bool | None = None,
) -> Surprisals:
    """Score every intent with the language models in a cache of `compute_surprisals`.

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
        Device, auto (CUDA where there is one, else the CPU), ``"cpu"``, ``"cuda"``, ….
    training_seed : int, optional
        Seed of the trainings, where the cache has models of several.
    progress : bool, optional
        Draw a progress bar; by default if stderr is a terminal.

    Returns
    -------
    Surprisals
        Bits of all intents, NaN where an edition lacks one, with the `intent_info` of the multitext.

    Raises
    ------
    CheckpointError
        If an edition has no finished model of that recipe there, or several, or its files are damaged.
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
                folder = find_model(as_path(models), edition, recipe, training_seed)
                model, records[edition] = load_finished(folder, recipe, device), read_record(folder)
                texts = multitext.text(edition)
                results[edition], scored[edition] = score_texts(model, texts, "scored", scoring), hash_texts(texts)
            bar.update(task, advance=1)
    message = explain_replaced({edition: result.replaced_rate for edition, result in results.items()}, max_replaced)
    if message is not None:
        raise DataError(message)
    warn_of(cautions_of(results))
    provenance = provenance_of_scored(recipe, scoring, multitext, records, scored)
    return surprisals_of_frames(frames_of(results), multitext, named.name, provenance)


def token_scores(
    models: Model | Mapping[str, Model],
    multitext: Multitext,
    *,
    scoring: Scoring | str | None = None,
    max_replaced: float = 0.05,
) -> TokenScores:
    r"""Score every unit of texts – character, subword, byte or grapheme – and the end of each text.

    Parameters
    ----------
    models : LanguageModel, KneserNeyModel or Mixture, or mapping from edition to one of these
        One for all editions, or one for each, such as `read_models` gives.
    multitext : Multitext
        Texts to score.
    scoring : Scoring or str, optional
        Whether replaced characters are priced, as by default. The price stands with the unit that holds the character.
        No state is carried.
    max_replaced : float
        Fraction of an edition's characters, from 0 to 1, that may be outside its model's alphabet.

    Returns
    -------
    TokenScores
        One row per unit. ``token`` is the unit as the model reads it: white space is a plain space, and a replaced
        character the replacement symbol. Subwords of SentencePiece have ``▁`` for a space, the first of a text, too;
        bytes beyond ASCII are written ``<0xE9>``. ``text`` is what a unit covers of the text given, so that these
        strings joined are the text; a character of several bytes stands with its last one. ``begins_word`` and
        ``boundary_bits`` (bits of the event that the next unit begins with a space, or the text ends; 0 after a unit
        that ends with the space after it) are for `TokenScores.words`. The sum over the rows of a text is its
        surprisal.

    Raises
    ------
    ConfigError
        If an edition has no model, something else is given for one, or a state is to be carried.
    DataError
        If there is no text, one is empty, or more than `max_replaced` of the characters of editions are replaced.

    Warns
    -----
    LangdiffWarning
        If more than 0.1 % of an edition's characters are outside its model's alphabet, and of what else a reader of the
        model's surprisals should know.

    Notes
    -----
    Words are what stands between white space. The space before a word is part of its bits; with subword-nmt, whose
    units end with the space after them, it is that after the word. White space at the end of a text belongs to the end.
    A grapheme cluster with a space inside it, which a few characters such as U+0600 form, is not divided: it belongs to
    the word in which it begins.

    Examples
    --------
    >>> import langdiff as ld
    >>> from langdiff.lm import train_kneser_ney
    >>> model = train_kneser_ney(["a cat sat", "a dog ran"] * 40, ["a cat ran"], recipe="kneser-ney-3")
    >>> scores = token_scores(model, ld.read_frame(pd.DataFrame({"eng": ["a dog"]}, index=["1"])))
    >>> scores.tokens["token"].tolist()
    ['a', ' ', 'd', 'o', 'g', '']
    >>> scores.words()[["word", "tokens", "bits"]].round(1)
      word  tokens  bits
    0    a       1   0.0
    1  dog       4   1.1
    2            1   9.1
    """
    scoring = as_scoring(scoring)
    if scoring.carried:
        raise ConfigError("scores of units are those of texts on their own: leave 'carried' out.")
    check_fraction(max_replaced)
    of_edition = _models_of(models, multitext)
    texts = {edition: check_texts(multitext.text(edition), f"edition {edition!r}") for edition in multitext.editions}
    if not any(len(series) for series in texts.values()):
        raise DataError("the multitext has no text to score.")
    rates = {edition: of_edition[edition].alphabet.out_of_alphabet_rate(list(texts[edition])) for edition in texts}
    if (message := explain_replaced(rates, max_replaced)) is not None:
        raise DataError(message)
    cautions = [
        (edition, caution)
        for edition, rate in rates.items()
        for caution in (*of_edition[edition].cautions, caution_about_rates({"scored": rate}, scoring))
        if caution is not None
    ]
    warn_of(cautions)
    tables = []
    for edition, series in texts.items():
        with naming(edition):
            tables.append(_table_of(of_edition[edition], series, scoring).assign(edition=edition))
    columns = ["intent", "edition", "token", "text", "begins_word", "bits", "boundary_bits"]
    return TokenScores(tokens=pd.concat(tables, ignore_index=True)[columns])


def _models_of(models: Model | Mapping[str, Model], multitext: Multitext) -> dict[str, Mixable]:
    """Return the model of each edition."""
    known = dict(models) if isinstance(models, Mapping) else dict.fromkeys(multitext.editions, models)
    without = [edition for edition in multitext.editions if edition not in known]
    if multitext.editions.empty:
        raise DataError("the multitext has no edition to score.")
    if without:
        raise ConfigError(f"no language model for {len(without)} edition(s): {listing(without)}.")
    for edition in multitext.editions:
        if not all(hasattr(known[edition], needed) for needed in ("alphabet", "units", "symbol_bits")):
            raise ConfigError(
                f"edition {edition!r}: a {type(known[edition]).__name__} gives no scores of units here; give models "
                "that langdiff trained. HuggingFaceLM has a method token_scores of its own."
            )
    return cast(dict[str, Mixable], known)


def _table_of(model: Mixable, texts: pd.Series, scoring: Scoring) -> pd.DataFrame:
    """Return one row per unit of the texts of an edition."""
    scored = model.symbol_bits(texts, boundaries=True)
    units, parts = model.units, [_NOTHING]
    tokens: list[str] = []
    covered: list[str] = []
    for text, (bits, boundaries) in zip(texts, scored, strict=True):
        text, seen = model.alphabet.normal(text), model.alphabet.apply(text)
        spelt, ends = units.spell(units.encode(seen))
        ends = np.minimum(ends, len(text))  # the last unit of subword-nmt holds a space that the text has not
        starts = np.append(0, ends)
        tokens += [*spelt, END]
        covered += [*(text[start:end] for start, end in pairwise(starts)), END]
        if scoring.price_replaced:
            bits = bits + _prices(model.alphabet, text, ends, scripts=scoring.price_scripts)
        closed = [len(token) > 1 and token.endswith(SPACE) for token in spelt]
        after = np.append(np.where(closed, 0.0, boundaries[1:]), np.nan)  # of what the next unit was drawn from
        parts.append(np.array([bits, after, _begins_word(seen, starts)]))
    bits, after, begins = np.concatenate(parts, axis=1)
    return pd.DataFrame(
        {
            "intent": np.repeat(texts.index.to_numpy(), [part.shape[1] for part in parts[1:]]),
            "token": tokens,
            "text": covered,
            "begins_word": begins.astype(bool),
            "bits": bits,
            "boundary_bits": after,
        }
    )


def _prices(alphabet: Alphabet, text: str, ends: Integers, *, scripts: bool) -> Floats:
    """Return the bits of the replaced characters in each unit, and of the end, which has none."""
    places = alphabet.replaced_at(text)
    of_unit = np.searchsorted(ends, places, side="right")
    bits = np.array([alphabet.price(text[place], scripts=scripts) for place in places], dtype=np.float64)
    prices: Floats = np.bincount(of_unit, weights=bits, minlength=len(ends) + 1).astype(np.float64)
    return prices


def _begins_word(seen: str, starts: Integers) -> Booleans:
    """Return whether each unit is the first of a word, or the end, from the positions where units start."""
    letter = np.array([character != SPACE for character in seen])
    begun = np.cumsum(letter & ~np.append(False, letter[:-1]))
    word = np.append(begun - letter, begun[-1])  # of a space, that of the next word
    found: Booleans = np.diff(word[starts], prepend=-1) != 0
    return found

"""Random search: trials of settings drawn from the published space, of which the best is kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
import pandas as pd

from langdiff.base.io import write_text
from langdiff.base.result import Result
from langdiff.base.types import generator, seed_number
from langdiff.errors import ConfigError, DataError
from langdiff.lm.device import find_device
from langdiff.parallelism.taggers.bert import FrozenBert
from langdiff.parallelism.taggers.settings import MODELS, TaggerSettings, make_settings
from langdiff.parallelism.taggers.tagger import Tagger, micro_f1
from langdiff.parallelism.taggers.training import MAX_EPOCHS, train_with
from langdiff.parallelism.taggers.word_vectors import Sources
from langdiff.parallelism.taggers.words import Documents, Lemmatizer, as_list
from langdiff.parallelism.tagging import TaggingScheme

N_TRIALS = 8
_TOO_MANY = 10_000  # draws without a new setting

_LSTM_SIZES = (32, 48, 64, 96, 128, 192, 256, 384, 512)
_FEED_FORWARD_SIZES = (256, 384, 512, 768, 1024, 1280, 1536, 1792, 2048)
_BLENDING = {"blending": ("mean", "sum", "first")}
_RATES = {"learning_rate": tuple(number / 10_000 for number in range(1, 101))}
_BILSTM = {"depth": (1, 2, 3, 4), "hidden_size": _LSTM_SIZES}
_TRANSFORMER = {
    "depth": (1, 2, 3, 4),
    "hidden_size": _FEED_FORWARD_SIZES,
    "heads": (1, 2, 4, 8),
    "activation": ("relu", "gelu"),
}


class ModelSpace(NamedTuple):
    """Search space of a kind of tagger, whether its words are always lemmatized, and its published width."""

    varied: Mapping[str, tuple[Any, ...]]
    lemmatize: bool = False
    width: int | None = None


SEARCH_SPACE: Mapping[str, ModelSpace] = {
    "learned-word": ModelSpace(
        {**_BILSTM, "input_size": (64, 96, 128, 192, 256, 384, 512, 768), **_RATES, "lemmatize": (True, False)}
    ),
    "word2vec": ModelSpace({**_BILSTM, **_RATES}, lemmatize=True, width=300),
    "learned-subword": ModelSpace(
        {**_BLENDING, **_TRANSFORMER, "input_size": (128, 192, 256, 384, 512, 768, 1024), **_RATES}
    ),
    "bert": ModelSpace({**_BLENDING, **_RATES}, width=768),
    "bert-bilstm": ModelSpace({**_BLENDING, **_BILSTM, **_RATES}, width=768),
    "bert-transformer": ModelSpace({**_BLENDING, **_TRANSFORMER, **_RATES}, width=768),
}


def find_space(model: str) -> ModelSpace:
    """Return the space of a kind of tagger."""
    if model not in SEARCH_SPACE:
        raise ConfigError(f"a tagger is one of {', '.join(SEARCH_SPACE)}; got {model!r}.")
    return SEARCH_SPACE[model]


def draw_settings(
    model: str,
    scheme: str,
    n_trials: int = N_TRIALS,
    *,
    seed: int | np.random.Generator = 0,
    width: int | None = None,
    lemmatize: bool | None = None,
) -> list[TaggerSettings]:
    """Draw settings from the published space, each value uniformly, no two settings the same.

    A BiLSTM is at most as wide as its input, and heads divide a Transformer's; settings for which that does not hold
    are drawn again.

    Examples
    --------
    >>> [settings.blending for settings in draw_settings("bert", "BIO-TD", 3, seed=1)]
    ['sum', 'first', 'mean']
    """
    if n_trials < 1:
        raise ConfigError(f"a search has at least one trial; got {n_trials}.")
    rng = generator(seed, "settings")
    space = find_space(model)
    embedding, encoder = MODELS[model]
    tagging = TaggingScheme.named(scheme)
    found: dict[TaggerSettings, None] = {}
    for _ in range(_TOO_MANY):
        drawn = {name: values[int(rng.integers(len(values)))] for name, values in space.varied.items()}
        if lemmatize is not None or space.lemmatize:
            drawn["lemmatize"] = space.lemmatize if lemmatize is None else lemmatize
        input_size = int(cast(int, drawn.get("input_size", space.width if width is None else width)))
        too_wide = encoder == "bilstm" and drawn["hidden_size"] > input_size
        if not too_wide and input_size % drawn.get("heads", 1) == 0:
            settings = make_settings(
                embedding=embedding, encoder=encoder, tagset=tagging.tagset, link=tagging.link, **drawn
            )
            found[settings] = None
        if len(found) == n_trials:
            return list(found)
    fits = "ask for fewer trials" if found else f"none fits an input of width {width}"
    raise ConfigError(f"{n_trials} different settings could not be drawn, only {len(found)}; {fits}.")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TaggerSearch(Result):
    """Trials of a random search.

    Attributes
    ----------
    trials : DataFrame, one row per trial
        ``trial``, its settings, ``epochs``, ``validation`` and ``optimization`` (MBAWO F1 of the two parts), ``epm``
        (F1 of the optimization part), and ``best``, true for one.
    best : Tagger
        The tagger of that trial.
    seed : int
        Seed of the search.
    """

    printing: ClassVar[Mapping[str, Any]] = {"index": False}

    trials: pd.DataFrame
    best: Tagger
    seed: int

    def save(self, directory: str | Path) -> None:
        """Write the best tagger, which `langdiff.read` reads, and the trials in ``trials.csv``.

        Parameters
        ----------
        directory : str or Path
            Folder to write to; it is made if it is missing.

        Raises
        ------
        OutputError
            If the files cannot be written.
        """
        self.best.save(directory)
        write_text(Path(directory) / "trials.csv", self.trials.to_csv(index=False))

    def __repr__(self) -> str:
        """Return a line with the number of trials, and the best."""
        row = self.trials[self.trials["best"]].iloc[0]
        return (
            f"TaggerSearch of {len(self.trials)} trials: the best is trial {row['trial']}, "
            f"MBAWO F1 of the optimization part {row['optimization']:.4f}"
        )


def search_taggers(
    training: Documents,
    validation: Documents,
    optimization: Documents,
    model: str,
    scheme: str,
    *,
    seed: int | np.random.Generator = 0,
    n_trials: int = N_TRIALS,
    lemmatize: bool | None = None,
    vectors: str | Path | None = None,
    bert: str | Path | None = None,
    lemmatizer: str | Lemmatizer = "la",
    max_epochs: int = MAX_EPOCHS,
    device: str = "cpu",
    resume: str | Path | None = None,
    progress: bool | None = None,
) -> TaggerSearch:
    """Train taggers of one kind with random settings, and keep the one that is best on the optimization part.

    A BERT encodes each section once for all trials: meanwhile, the vectors of all subwords are in memory.

    Parameters
    ----------
    training, validation, optimization : mapping from name to Document, or iterable of Document
        Documents to learn from, documents that decide when to stop, and documents that decide which trial is best.
    model : str
        Kind of tagger; see `draw_settings`.
    scheme : str
        Tagging scheme; see `draw_settings`.
    seed : int or numpy.random.Generator
        Seed of the settings and of every training.
    n_trials : int
        Number of trials.
    lemmatize : bool, optional
        Whether words are replaced by their lemmata, instead of what the space says.
    vectors, bert, lemmatizer, max_epochs, device, progress
        Parameters of every training, as for `train_tagger`.
    resume : str or Path, optional
        Folder for the states of all trainings, one folder in it per trial.

    Returns
    -------
    TaggerSearch
        The trials and the best tagger.

    Raises
    ------
    ConfigError
        If the kind or the scheme is unknown, or a number is out of range.
    DataError
        If a part has no documents, or two documents of the optimization part have one name.

    Examples
    --------
    >>> from langdiff.parallelism import Parallelism, make_document
    >>> text = "we sing , we dance , and they sleep".split()
    >>> document = make_document("1", text, [Parallelism(((0, 2), (3, 5)))])
    >>> found = search_taggers(
    ...     *[[document]] * 3, "learned-word", "BIO-TD", seed=0, n_trials=2, max_epochs=1, lemmatize=False
    ... )
    >>> found.to_frame()["trial"].tolist()
    [1, 2]
    """
    number = seed_number(seed, "settings")
    learned, held_out, judged = (as_list(part) for part in (training, validation, optimization))
    if not judged or len({one.name for one in judged}) < len(judged):
        raise DataError("a search needs documents, each with a name of its own, that decide which trial is best.")
    sources = Sources(vectors, bert, find_device(device))
    drawn = draw_settings(model, scheme, n_trials, seed=number, width=sources.width, lemmatize=lemmatize)
    if sources.bert is not None:
        sources.bert.keep_encoded(True)
    rows = []
    best: tuple[float, int, Tagger] | None = None
    for trial, settings in enumerate(drawn, 1):
        tagger = train_with(
            sources,
            learned,
            held_out,
            settings,
            seed=number,
            lemmatizer=lemmatizer,
            max_epochs=max_epochs,
            resume=None if resume is None else Path(resume) / f"trial-{trial}",
            progress=progress,
        )
        scores = micro_f1(list(tagger.predict(judged).values()), judged)
        row = {"trial": trial, **settings.model_dump(include=set(find_space(model).varied))}
        row |= {"epochs": len(tagger.history), "validation": tagger.history["mbawo"].max()}
        rows.append(row | {"optimization": scores["MBAWO"], "epm": scores["EPM"]})
        if best is None or scores["MBAWO"] > best[0]:
            best = (scores["MBAWO"], trial, tagger)
    _, which, tagger = cast(tuple[float, int, Tagger], best)  # there is at least one trial
    if isinstance(tagger.source, FrozenBert):
        tagger.source.keep_encoded(False)
    trials = pd.DataFrame(rows).assign(best=lambda frame: frame["trial"] == which)
    return TaggerSearch(trials=trials, best=tagger, seed=number)

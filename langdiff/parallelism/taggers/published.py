"""Published settings as settings of taggers."""

from functools import cache
from typing import Any

import pandas as pd

from langdiff.datasets import bothwell2023
from langdiff.datasets.bothwell_et_al_2023 import MODELS, Bothwell2023
from langdiff.parallelism.taggers.settings import LEARNED, TaggerSettings, make_settings
from langdiff.parallelism.tagging import TaggingScheme

_NAMES = ("activation", "blending", "depth", "heads", "hidden_size", "input_size", "learning_rate")


def published_settings(key: str) -> TaggerSettings:
    """Return the settings of the best published tagger of a kind and tagging scheme.

    Parameters
    ----------
    key : str
        Corpus, model and scheme, as for `langdiff.datasets.bothwell2023`: ``"ASP/learned-word/BIO-TD"``.

    Returns
    -------
    TaggerSettings
        The settings, the best of eight random trials.

    Raises
    ------
    ConfigError
        If there is no such tagger.

    References
    ----------
    Bothwell, DeBenedetto, Crnkovich, Müller and Chiang (2023), "Introducing Rhetorical Parallelism Detection: A New
    Task with Datasets, Metrics, and Baselines", EMNLP, Tables 14 to 18.

    Examples
    --------
    >>> settings = published_settings("ASP/learned-word/BIO-TD")
    >>> settings.depth, settings.hidden_size, settings.input_size, settings.learning_rate
    (3, 384, 512, 0.0013)
    """
    row = _figures().setting(key)
    embedding, encoder = MODELS[row["model"]]
    scheme = TaggingScheme.named(row["scheme"])
    values: dict[str, Any] = {name: _plain(row[name]) for name in _NAMES if not pd.isna(row[name])}
    if embedding not in LEARNED:  # whose width is that of the file or folder
        values.pop("input_size", None)
    return make_settings(
        embedding=embedding,
        encoder=encoder,
        tagset=scheme.tagset,
        link=scheme.link,
        lemmatize=not pd.isna(row["lemmatized"]) and bool(row["lemmatized"]),
        **values,
    )


@cache
def _figures() -> Bothwell2023:
    return bothwell2023()


def _plain(value: Any) -> Any:
    """Return a number of NumPy as one of Python."""
    return value.item() if hasattr(value, "item") else value

"""Settings of taggers, and the published ones."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from langdiff.base.toml import read_toml
from langdiff.datasets import bothwell2023
from langdiff.datasets.parsers import MODELS as PUBLISHED_MODELS
from langdiff.datasets.parsers import Bothwell2023
from langdiff.errors import ConfigError, listing, option
from langdiff.parallelism.tagging import Link, TaggingScheme, Tagset

Embedding = Literal["learned-word", "word2vec", "learned-subword", "bert"]
Encoder = Literal["none", "bilstm", "transformer"]
Blending = Literal["first", "mean", "sum"]
Activation = Literal["relu", "gelu"]


Size = Annotated[int, Field(ge=1)]

SUBWORDS = ("learned-subword", "bert")  # whose vectors are blended into vectors of words
LEARNED = ("learned-word", "learned-subword")  # whose width is a setting
MODELS: Mapping[str, tuple[Embedding, Encoder]] = {
    "learned-word": ("learned-word", "bilstm"),
    "word2vec": ("word2vec", "bilstm"),
    "learned-subword": ("learned-subword", "transformer"),
    "bert": ("bert", "none"),
    "bert-bilstm": ("bert", "bilstm"),
    "bert-transformer": ("bert", "transformer"),
}
_NAMES = ("activation", "blending", "depth", "heads", "hidden_size", "input_size", "learning_rate")


class TaggerSettings(BaseModel):
    """Settings of a tagger and of its training; settings that a kind of tagger lacks are None.

    Attributes
    ----------
    embedding : {"learned-word", "word2vec", "learned-subword", "bert"}
        Vectors of words: learned with the tagger; read from a file; learned for subwords; those of a frozen BERT.
    encoder : {"none", "bilstm", "transformer"}
        What lets a word's tag depend on the words around it.
    tagset : str
        One of the eight sets of tags, ``"BIO"`` to ``"BIOMJE"``.
    link : {"TD", "BD"}
        Distance that links branches: in tokens or in branches.
    learning_rate : float
        Step size of Adam.
    input_size : int, optional
        Width of learned vectors; of other vectors their file or folder says it.
    blending : {"first", "mean", "sum"}, optional
        How vectors of subwords become the vector of a word.
    depth : int, optional
        Layers of the encoder.
    hidden_size : int, optional
        Of a BiLSTM, the width of both directions together, which is even and at most the width of its input; of a
        Transformer, the width of its feed-forward layers.
    heads : int, optional
        Attention heads of a Transformer, which divide the width of its input.
    activation : {"relu", "gelu"}, optional
        Activation of a Transformer's feed-forward layers.
    lemmatize : bool
        Whether words are replaced by their lemmata; not with subwords.
    bpe_ratio : float, optional
        Merges per distinct word of the training part, for learned subwords; by default 0.4.

    Raises
    ------
    pydantic.ValidationError
        If a setting is missing, superfluous or out of range; `make_settings` says it in one line.

    Examples
    --------
    >>> settings = TaggerSettings(
    ...     embedding="learned-word",
    ...     encoder="bilstm",
    ...     tagset="BIO",
    ...     link="TD",
    ...     learning_rate=0.0013,
    ...     input_size=512,
    ...     hidden_size=384,
    ...     depth=3,
    ... )
    >>> settings.model, settings.scheme
    ('learned-word', 'BIO-TD')
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    embedding: Embedding
    encoder: Encoder
    tagset: Tagset
    link: Link
    learning_rate: Annotated[float, Field(gt=0, le=1)]
    input_size: Size | None = None
    blending: Blending | None = None
    depth: Size | None = None
    hidden_size: Size | None = None
    heads: Size | None = None
    activation: Activation | None = None
    lemmatize: bool = False
    bpe_ratio: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None

    @model_validator(mode="after")
    def _fits(self) -> "TaggerSettings":
        """Check that the settings are those of the embedding and the encoder, and no others."""
        needed = {
            "input_size": self.embedding in LEARNED,
            "blending": self.embedding in SUBWORDS,
            "depth": self.encoder != "none",
            "hidden_size": self.encoder != "none",
            "heads": self.encoder == "transformer",
            "activation": self.encoder == "transformer",
        }
        for name, is_needed in needed.items():
            if is_needed != (getattr(self, name) is not None):
                verb = "needs" if is_needed else "has no"
                raise ValueError(f"a tagger of {self.embedding!r} with encoder {self.encoder!r} {verb} {name}")
        if self.bpe_ratio is not None and self.embedding != "learned-subword":
            raise ValueError(f"a tagger of {self.embedding!r} has no bpe_ratio")
        if self.lemmatize and self.embedding in SUBWORDS:
            raise ValueError(f"lemmata are looked up by word, so {self.embedding!r} cannot have lemmatize = True")
        if self.input_size is not None:
            check_sizes(self, self.input_size)
        return self

    @property
    def model(self) -> str:
        """Name of the published kind of tagger, or embedding and encoder."""
        parts = (self.embedding, self.encoder)
        return next((name for name, own in MODELS.items() if own == parts), "+".join(parts))

    @property
    def scheme(self) -> str:
        """Tagset and link."""
        return f"{self.tagset}-{self.link}"


def check_sizes(settings: TaggerSettings, width: int) -> None:
    """Check that the encoder fits the width of its input."""
    if settings.encoder == "bilstm" and settings.hidden_size is not None:
        if settings.hidden_size > width:
            raise ConfigError(
                f"hidden_size of a BiLSTM is at most the width of its input: {settings.hidden_size} > {width}."
            )
        if settings.hidden_size % 2:
            raise ConfigError(
                f"hidden_size of a BiLSTM is that of two directions, so even; got {settings.hidden_size}."
            )
    if settings.heads is not None and width % settings.heads:
        raise ConfigError(f"{option('heads')} must divide the width of the input: {width} / {settings.heads}.")


def make_settings(**values: Any) -> TaggerSettings:
    """Return settings, after a check whose error is one line.

    Examples
    --------
    >>> make_settings(embedding="bert", encoder="none", tagset="BIO", link="TD", learning_rate=0.001)
    Traceback (most recent call last):
    langdiff.errors.ConfigError: settings of a tagger: a tagger of 'bert' with encoder 'none' needs blending.
    """
    known = list(TaggerSettings.model_fields)
    if unknown := sorted(set(values) - set(known)):
        raise ConfigError(f"settings of a tagger: unknown {listing(unknown)}; there are {', '.join(known)}.")
    try:
        return TaggerSettings(**values)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        reason = first["msg"].removeprefix("Value error, ").rstrip(".")
        raise ConfigError(f"settings of a tagger: {f'{place}: ' if place else ''}{reason}.") from error


def read_settings(path: str | Path) -> TaggerSettings:
    r"""Read settings of a tagger from a file.

    Parameters
    ----------
    path : str or Path
        TOML file whose keys are fields of `TaggerSettings`.

    Returns
    -------
    TaggerSettings
        The settings.

    Raises
    ------
    ConfigError
        If the file cannot be read, or settings are unknown, missing or contradict one another.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "settings.toml"
    ...     _ = path.write_text('embedding = "learned-word"\nencoder = "none"\ntagset = "BIO"\nlink = "TD"')
    ...     read_settings(path)
    Traceback (most recent call last):
    langdiff.errors.ConfigError: settings of a tagger: learning_rate: Field required.
    """
    return make_settings(**read_toml(path))


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
    embedding, encoder = PUBLISHED_MODELS[row["model"]]
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

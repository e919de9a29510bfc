"""Preparation of texts for language models: checks, counts, the alphabet, and the record of the preparation."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from langdiff.base.io import parse_json, read_bytes, write_json
from langdiff.base.types import Floats, Tokenization
from langdiff.errors import (
    CheckpointError,
    ConfigError,
    DataError,
    FaultsError,
    LangdiffError,
    TrainingError,
    warn,
)
from langdiff.lm.scoring import Scoring
from langdiff.lm.units.alphabet import Alphabet

HIGH_RATE = 0.001  # of characters outside the alphabet

NOTE = "preparation.json"


@dataclass(frozen=True, kw_only=True)
class PreparedTexts:
    """Texts of an edition, written in the alphabet learned from the training part.

    Attributes
    ----------
    alphabet : Alphabet
        Frequent characters of the training part.
    train, dev : list of str
        Texts over the alphabet, rare characters replaced.
    out_of_alphabet : dict from str to float
        Fraction of characters replaced in the ``train`` and the ``dev`` part.
    caution : str or None
        Warning for readers of the surprisals, if many characters are replaced.
    """

    alphabet: Alphabet
    train: list[str]
    dev: list[str]
    out_of_alphabet: dict[str, float]
    caution: str | None


def prepare_texts(
    train: Sequence[str] | pd.Series, dev: Sequence[str] | pd.Series, *, min_count: int | None, least: int = 0
) -> PreparedTexts:
    """Check both parts, learn the alphabet of the training part and write both parts in it."""
    parts = {"train": check_texts(train, "training part").to_list(), "dev": check_texts(dev, "dev part").to_list()}
    if not parts["dev"]:
        raise DataError("dev part: no text. The model is judged by it; keep some intents for it.")
    characters = sum(map(len, parts["train"]))
    if characters < least:
        raise DataError(
            f"training part: {characters:,} characters are too little text to learn from; give at least {least:,}."
        )
    alphabet = learn_alphabet(parts["train"], min_count)
    rates = {part: alphabet.out_of_alphabet_rate(texts) for part, texts in parts.items()}
    written = {part: [alphabet.apply(text) for text in texts] for part, texts in parts.items()}
    return PreparedTexts(alphabet=alphabet, **written, out_of_alphabet=rates, caution=caution_about_rates(rates))


def check_texts(texts: Sequence[str] | pd.Series, what: str) -> pd.Series:
    """Return the texts as a Series, after checking that each has a surprisal."""
    if isinstance(texts, str):
        raise DataError(f"{what}: give a sequence of texts, not one string.")
    series = texts if isinstance(texts, pd.Series) else pd.Series(list(texts), dtype=object)
    for intent, text in series.items():
        if not isinstance(text, str):
            raise DataError(f"{what}: intent {intent!r} is {text!r}, not a string. Leave missing intents out.")
        if not text.strip():
            raise DataError(
                f"{what}: intent {intent!r} is empty, so it has no surprisal. Leave it out, or mark it missing."
            )
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise DataError(
                f"{what}: intent {intent!r} has half a surrogate pair at character {error.start + 1}; "
                "decode its file as UTF-8."
            ) from error
    return series


def sizes_of(texts: Iterable[str]) -> dict[str, list[int]]:
    """Return the ``characters`` (code points) and the ``bytes`` (UTF-8) of texts.

    Examples
    --------
    >>> sizes_of(["ab", "é"])
    {'characters': [2, 1], 'bytes': [2, 2]}
    """
    texts = list(texts)
    return {"characters": [len(text) for text in texts], "bytes": [len(text.encode()) for text in texts]}


def surprisal_table(
    texts: pd.Series, alphabet: Alphabet, scoring: Scoring, bits: Floats, eos_bits: Floats, units: Sequence[int]
) -> pd.DataFrame:
    """Return the scores of texts by a language model, one row per text; see `LanguageModel.surprisal`.

    Shapes: bits, eos_bits (I,).
    """
    if scoring.price_replaced:
        bits = bits + [alphabet.replaced_bits(text, scripts=scoring.price_scripts) for text in texts]
    replaced = [alphabet.count_replaced(text) for text in texts]
    columns = {"bits": bits, "eos_bits": eos_bits, **sizes_of(texts), "units": units, "replaced": replaced}
    return pd.DataFrame(columns, index=texts.index)


def learn_alphabet(train: Sequence[str], min_count: int | None) -> Alphabet:
    """Return the alphabet of a training text (`Alphabet.from_texts`)."""
    alphabet = Alphabet.from_texts(train, min_count=min_count)
    if len(alphabet.characters) < 2:
        raise DataError(
            f"training part: {len(alphabet.characters)} character(s) occur {alphabet.min_count} times or more; "
            "an alphabet needs two. Lower min_count, or check that this is the right text."
        )
    return alphabet


def caution_about_rates(rates: Mapping[str, float], scoring: Scoring | None = None) -> str | None:
    """Return a caution on parts (keys) of which more than 0.1 % of the characters are outside the alphabet."""
    high = ", ".join(f"{part} {rate:.2%}" for part, rate in rates.items() if rate > HIGH_RATE)
    if not high:
        return None
    effect = ""
    if scoring is not None and scoring.price_replaced:
        effect = " Each costs the bits that tell it from all others of its script."
    elif scoring is not None:
        effect = " Which of them it was is free, so that the edition looks easier than it is."
    return (
        f"many characters are too rare in training to be learned and are replaced by one symbol ({high}).{effect} "
        "Add text, or lower min_count if the recipe sets it."
    )


@contextmanager
def naming(edition: str | None) -> Iterator[None]:
    """Add the edition to errors; errors of torch and of memory become a TrainingError."""
    prefix = "" if edition is None else f"edition {edition!r}: "
    try:
        yield
    except LangdiffError as error:
        kind = DataError if isinstance(error, FaultsError) else type(error)  # which takes faults, not a message
        raise kind(f"{prefix}{error}") from error
    except (RuntimeError, MemoryError) as error:
        raise TrainingError(f"{prefix}{type(error).__name__}: {error}") from error


def note_preparation(models: Path, tokenization: Tokenization) -> None:
    """Record how the texts of a folder of language models were prepared.

    Warns
    -----
    LangdiffWarning
        If there is a note that cannot be read.
    """
    try:
        known = read_preparation(models) if (models / NOTE).is_file() else tokenization
    except CheckpointError as error:  # models of other texts are not used, whatever the note says
        warn(f"{error} The note is written again.")
        known = tokenization
    if known != tokenization:
        raise ConfigError(
            f"{models}: holds models of text whose tokenization was {known!r}, not {tokenization!r}. "
            "Use another folder."
        )
    write_json(models / NOTE, {"tokenization": tokenization})


def read_preparation(models: Path) -> Tokenization:
    """Return how the texts of a folder of language models were prepared."""
    try:
        noted = parse_json(read_bytes(models / NOTE))["tokenization"]
    except OSError as error:
        if folds := sorted(path.name for path in models.glob("fold-*")):
            raise CheckpointError(
                f"{models}: holds the models of {len(folds)} folds. Name one of them, such as {models / folds[0]}; it "
                "has learned from all texts but those of that fold."
            ) from error
        raise CheckpointError(
            f"{models / NOTE}: cannot be read ({error.strerror}). Name a folder that `langdiff train` wrote, or "
            "jobs/ of a run."
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{models / NOTE}: damaged ({error}). Train the models again.") from error
    if noted not in ("reversible", "as-is"):
        raise CheckpointError(f"{models / NOTE}: unknown tokenization {noted!r}, probably of another version.")
    return "reversible" if noted == "reversible" else "as-is"

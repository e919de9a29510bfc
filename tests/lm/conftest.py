"""Small texts, recipes and models, made here."""

from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest

from langdiff.lm import RECIPES, train_language_model
from langdiff.lm.jobs.folder import LOG, read_log
from langdiff.tables.multitext import Parts, multitext_from_sources
from langdiff.tables.text_sources import InMemoryText

WORDS = {
    "eng": ["the", "cat", "sat", "on", "a", "mat", "dog", "ran", "far", "and", "home"],
    "ell": ["ο", "γάτος", "κάθισε", "στο", "χαλί", "σκύλος", "έτρεξε", "μακριά", "και", "σπίτι"],
    "cmn": ["猫", "坐", "在", "垫子", "上", "狗", "跑", "远", "和", "家"],
}


def verses(language: str, n: int, seed: int) -> list[str]:
    """Draw verses of three to eight words; neighbours in the list of words follow each other often."""
    rng = np.random.default_rng(seed)
    words = WORDS[language]
    texts = []
    for _ in range(n):
        steps = rng.choice([1, 1, 1, 2, 5], size=rng.integers(3, 9))
        texts.append(" ".join(words[i % len(words)] for i in np.cumsum(steps)))
    return texts


@pytest.fixture(scope="session")
def tiny_recipe():
    return replace(
        RECIPES["char-tiny"],
        name="test-char",
        embedding_size=16,
        hidden_size=24,
        layers=2,
        dropout_embedding=0.05,
        dropout_hidden=0.1,
        dropout_output=0.1,
        weight_drop=0.1,
        epochs=2,
        min_count=2,
    )


@pytest.fixture(scope="session")
def tiny_bpe_recipe(tiny_recipe):
    return replace(tiny_recipe, name="test-bpe", units="bpe")


@pytest.fixture(scope="session", params=["char", "bpe"])
def model(request, tiny_recipe, tiny_bpe_recipe):
    recipe = {"char": tiny_recipe, "bpe": tiny_bpe_recipe}[request.param]
    return train_language_model(
        verses("eng", 200, 0), verses("eng", 40, 1), recipe=recipe, name="eng-test", progress=False, seed=0
    )


def make_parts(languages=("eng", "ell"), missing=()):
    """Build parts of 100, 20 and 15 intents; `missing` are (edition, test intent) pairs."""
    parts = {}
    for part, n, seed in (("train", 100, 0), ("dev", 20, 1), ("test", 15, 2)):
        intents = [f"{part}{i}" for i in range(n)]
        texts = {e: pd.Series(verses(e, n, seed), index=intents, dtype=object) for e in languages}
        texts = {e: t.drop([i for edition, i in missing if edition == e and i in t.index]) for e, t in texts.items()}
        parts[part] = multitext_from_sources(
            {e: InMemoryText(t) for e, t in texts.items()},
            {e: t.index for e, t in texts.items()},
            intents=intents,
            edition_info=pd.DataFrame({"language": list(languages)}, index=list(languages)),
        )
    return Parts(**parts)


@pytest.fixture
def parts():
    return make_parts()


def only(folder: Path) -> Path:
    """Return the folder of the one model of an edition and a recipe."""
    (found,) = folder.glob("*/")
    return found


def read_job_states(cache: str | Path) -> pd.DataFrame:
    """Return one row per job of a cache: edition, recipe, state, epochs, best dev bits and seconds."""
    rows = []
    for key in sorted(Path(cache).glob("*/*/*/key.json")):
        folder = key.parent
        done = (folder / "cautions.json").is_file()
        log = read_log(folder / LOG)
        rows.append(
            {
                "edition": unquote(folder.parents[1].name),
                "lm": unquote(folder.parent.name),
                "state": "done" if done else "unfinished",
                "epochs": len(log),
                "dev_bits_per_character": min((e["dev_bits_per_character"] for e in log), default=float("nan")),
                "seconds": sum(e["seconds"] for e in log),
            }
        )
    columns = ["edition", "lm", "state", "epochs", "dev_bits_per_character", "seconds"]
    return pd.DataFrame(rows, columns=columns)

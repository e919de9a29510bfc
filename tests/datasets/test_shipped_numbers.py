"""Numbers of the shipped tables are those that are written in their files, to the last bit."""

from importlib import resources

import pandas as pd
import pytest
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from langdiff.datasets import (
    belebele2024,
    bender2011,
    bothwell2023,
    byte_premium2024,
    goldfish2024,
    mielke2019,
    morey2017,
    tokenization_lengths2023,
    xmi2020,
)

FOLDER = resources.files("langdiff.datasets")
SHIPPED = {
    **{f"bender2011_{name}": (bender2011, name) for name in ("claims", "distances", "facts", "phenomena")},
    **{f"bothwell2023_{name}": (bothwell2023, name) for name in ("scores", "settings")},
    **{f"mielke2019_{name}": (mielke2019, name) for name in ("europarl", "bibles", "wals", "claims")},
    "morey2017_scores": (morey2017, "scores"),
    **{
        function.__name__: (function, "figures")
        for function in (belebele2024, byte_premium2024, goldfish2024, tokenization_lengths2023, xmi2020)
    },
}
TEXT = {"bender2011_claims", "bender2011_facts", "mielke2019_claims"}


def test_every_shipped_table_is_looked_at():
    tables = {path.name for path in FOLDER.iterdir() if path.name.endswith("csv")}
    measured = {f"{of}_{what}.csv" for of in ("atlas", "measurements") for what in ("editions", "intents")}  # own tests
    measured |= {"conll_parsers.csv", "conll_parsers_systems.csv"}
    measured |= {"later_claims.csv", "mielke2019_figures.csv", "published_figures.csv"}  # words
    assert {f"{name}.csv" for name in SHIPPED} == tables - measured


@pytest.mark.parametrize("name", SHIPPED)
def test_numbers_are_those_of_the_file(name):
    read, attribute = SHIPPED[name]
    frame = getattr(read(), attribute).reset_index()
    text = pd.read_csv(FOLDER / f"{name}.csv", dtype=str, keep_default_na=False)
    numbers = [column for column in text if is_numeric_dtype(frame[column]) and not is_bool_dtype(frame[column])]
    assert bool(numbers) == (name not in TEXT)
    for column in numbers:
        for cell, number in zip(text[column], frame[column], strict=True):
            assert pd.isna(number) if cell == "" else float(cell) == number

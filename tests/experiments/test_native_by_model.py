"""Native less translated under several models, and of lengths."""

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.errors import DataError
from langdiff.experiments import translationese_by_model
from tests.helpers import refused

EDITIONS = ("e1", "e2", "e3")


def tables_of(seed=0, intents=600):
    """Draw lengths that are 6 % lower where native, and bits of three models that follow length less and less."""
    rng = np.random.default_rng(seed)
    truth = ld.simulate(intents, 3, model="1", sigma=0.1, seed=rng).surprisals
    origin = pd.Series(rng.choice([*EDITIONS, "other"], intents), index=truth.intents, name="original_language")
    native = np.array([origin == edition for edition in EDITIONS]).T
    length = (20 * truth.bits * np.exp(-0.06 * native)).round()
    rates = {"bad": (4.0, 0.0), "fair": (3.0, 0.02), "good": (2.0, 0.04)}  # bits per character, nats for native text
    tables = [
        ld.Surprisals(bits=rate * length * np.exp(more * native), characters=length, lm=lm)
        for lm, (rate, more) in rates.items()
    ]
    return tables, origin


def test_a_model_that_only_counts_characters_finds_the_difference_of_lengths():
    tables, origin = tables_of()
    found = translationese_by_model(reversed(tables), origin, min_native=1, model="1")
    assert list(found.results) == ["bad", "fair", "good"]
    lengths = found.lengths.to_frame()["difference"]
    assert_allclose(lengths, -0.06, atol=0.04)
    assert_allclose(found.results["bad"].to_frame()["difference"], lengths, atol=1e-9)
    assert_allclose(found.results["good"].to_frame()["difference"], lengths + 0.04, atol=1e-9)


def test_table_slope_and_picture():
    tables, origin = tables_of()
    found = translationese_by_model(tables, origin, min_native=1, model="1")
    frame = found.to_frame()
    assert frame["lm"].tolist() == [lm for lm in ("length", "bad", "fair", "good") for _ in EDITIONS]
    good = ld.translationese(tables[2], origin, min_native=1, model="1").to_frame()
    rows = frame[frame["lm"] == "good"].set_index("edition")
    pd.testing.assert_series_equal(rows["difference"], good["difference"])
    pd.testing.assert_series_equal(rows["std_error"], good["std_error"])
    rates = tables[2].bits_per_character()["bits_per_character"]
    assert rows["bits_per_character"].to_dict() == rates.to_dict()
    assert_allclose(found.slope, -0.02, atol=0.0005)  # one bit less, 0.02 nats more
    assert "nats per bit: e1 -0.0" in found.summary()
    axes = found.plot()
    assert axes.get_xlim()[0] > axes.get_xlim()[1]  # better models to the right
    assert {text.get_text() for text in axes.get_legend().get_texts()} == {*EDITIONS, "of lengths in characters"}


def test_tables_that_cannot_be_set_side_by_side():
    tables, origin = tables_of(intents=60)
    fewer = tables[1].sel(intents=tables[1].intents[:50])
    bare = ld.Surprisals(bits=tables[0].bits, lm="bare")
    for wrong, message in (
        (tables[:1], "at least two tables"),
        ([tables[0], tables[0]], "different names .lm., none of them 'length'; got 'bad'"),
        ([tables[0], fewer], "'fair' and 'bad' do not have the same cells"),
        ([bare, tables[1]], "'bare': the table has no numbers of characters"),
    ):
        refused(DataError, message, translationese_by_model, wrong, origin, min_native=1)

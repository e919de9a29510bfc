"""Golden cases of what follows a fit, and of curves, components and experiments on tables of surprisal."""

import numpy as np
import pandas as pd

import langdiff as ld
from langdiff.experiments import deletion_bias, intent_stability, spread_within_languages
from langdiff.regression import Blunders, compare_folds, compare_totals, fit_curve
from tests.golden.make_fit import COMPLETE, EDITIONS, SMALL, TABLE, bits_table, fit, intent_info, table_of
from tests.golden.record import columns, golden, texts

FIT = {"errors": "sandwich", "correction": "CR1"}
SIZES = (100, 300, 900, 2700)


@golden
def contrasts():
    found = fit(TABLE, **FIT)
    pairs = [("deu", "eng", "expected"), ("deu", "eng", "median"), (["deu", "eng"], ["fin", "rus", "tur"], "expected")]
    made = [found.contrast(one, other, estimand=estimand) for one, other, estimand in pairs]
    return {
        "numbers": [[one.estimate, one.std_error, one.low, one.high, one.p_value, one.percent] for one in made],
        "repr": [repr(one) for one in made],
        "effects": repr(found.effects),
        "frame": columns(found.to_frame()),
    }


@golden
def ranks():
    effects = fit(TABLE, **FIT).effects
    return {
        "draws": effects.draws(3, seed=1).abs().sum(),
        "probabilities": columns(ld.rank_probabilities(effects, n_draws=400, seed=1)),
    }


@golden
def comparison_of_models():
    fits = {name: fit(TABLE, model=name, **FIT) for name in ("1", "2", "2L")}
    return columns(ld.compare(fits))


@golden
def cross_validation():
    return _cross_validated("1", "2", "2L", clusters=None)


@golden
def cross_validation_in_clusters():
    return _cross_validated("2", "2C", clusters="chapter")


def _cross_validated(*models, clusters):
    found = ld.cross_validate(
        SMALL, list(models), n_folds=4, restricted=True, clusters=clusters, seed=1, progress=False
    )
    return {"frame": columns(found.to_frame()), **texts(found)}


@golden
def held_out():
    first, rest = TABLE.sel(intents=TABLE.intents[:50]), TABLE.sel(intents=TABLE.intents[50:])
    options = {"fix": "difficulty+dispersion", "n": "map", "seed": 1}
    values = {}
    for name, clusters in (("intents", None), ("clusters", "chapter")):
        found = ld.held_out_log_likelihood(fit(first, **FIT), rest, clusters=clusters, **options)
        values[name] = repr(found)
    return values


@golden
def residuals():
    values = ld.standardized_residuals(fit(TABLE, model="2", **FIT), TABLE)
    return {"mean": values.mean(), "sd": values.std(), "first": values.iloc[0]}


@golden
def totals():
    made = [compare_totals(TABLE, "deu", "tur", clusters=clusters) for clusters in (None, "chapter")]
    return {"numbers": [[one.estimate, one.std_error, one.low, one.high] for one in made], "repr": repr(made[1])}


@golden
def folds_compared():
    info = TABLE.intent_info.assign(fold=np.arange(len(TABLE.intents)) // 4 % 3)
    table = TABLE.with_intent_info(info)
    options = {"model": "2", "errors": "sandwich", "intents": "fixed", "restricted": False}
    found = compare_folds(table, folds="fold", clusters="chapter", n_permutations=99, seed=1, **options)
    return {"frame": columns(found.to_frame()), **texts(found)}


@golden
def simulation():
    values = {}
    for name in ("1", "2", "2L", "2C", "3"):
        model = Blunders(scale=0.05) if name == "3" else name
        drawn = ld.simulate(30, 3, model=model, sigma=0.3, missing=0.1, mechanism="MCAR", seed=4)
        bits = drawn.surprisals.bits
        values[name] = {"cells": int(bits.count().sum()), "mean": bits.mean(), "difficulty": drawn.difficulty}
    return values


@golden
def goodness():
    found = ld.goodness(
        SMALL, ["1", "2"], n_subsets=2, held_out=0.2, n="map", fix="difficulty+dispersion", restricted=True,
        cache=None, seed=3, progress=False,
    )  # fmt: skip
    return {"frame": columns(found.to_frame()), **texts(found)}


@golden
def bias_of_deletion():
    found = deletion_bias(
        COMPLETE, rates=(0.3,), mechanisms=("MCAR", "MNAR"), truth=None, n_repeats=2, model="2", intents="fixed",
        seed=1, progress=False,
    )  # fmt: skip
    return {"overall": columns(found.overall()), **texts(found)}


@golden
def stability_of_intents():
    found = intent_stability(COMPLETE, n_intents=[20, 40], n_repeats=2, model="2", seed=1, progress=False)
    return {"overall": columns(found.overall()), **texts(found)}


@golden
def spread_of_languages():
    languages = pd.Series({"deu": "x", "eng": "x", "fin": "y", "rus": "y", "tur": "z"})
    found = spread_within_languages(fit(TABLE, **FIT), languages)
    return {"numbers": [found.within_sd, found.between_variance, found.between_share], **texts(found)}


@golden
def native_and_translated():
    origin = pd.Series([EDITIONS[k % 3] for k in range(len(TABLE.intents))], index=TABLE.intents)
    info = pd.Series({edition: edition for edition in EDITIONS})
    options = {"model": "2", "errors": "sandwich", "intents": "fixed", "restricted": False, "clusters": None}
    found = ld.translationese(
        TABLE, origin, languages=["deu", "eng", "fin"], min_native=5, edition_info=info, **options
    )
    return {"frame": columns(found.to_frame()), **texts(found)}


def curve_tables():
    """Return tables at four sizes of training data, whose bits fall as a power of the size."""
    rng = np.random.default_rng(2)
    slope = np.array([-0.3, 0.0, 0.1, 0.3])
    content, shared = rng.normal(4.6, 0.5, (40, 1)), rng.normal(0, 0.05, (40, 4))
    tables = {}
    for size in SIZES:
        expected = np.log(1 + 0.1 * slope + (1 + 0.4 * slope[::-1]) * (size / 100) ** -0.4)
        bits = np.exp(content + expected + shared + rng.normal(0, 0.03, (40, 4))).round(3)
        frame = pd.DataFrame(bits, columns=list(EDITIONS[:4]), index=[f"v{k}" for k in range(40)])
        tables[size] = ld.Surprisals(bits=frame, intent_info=intent_info(frame.index), lm="golden")
    return tables


def curve(**options):
    """Fit the curve, naming every option."""
    return fit_curve(curve_tables(), **({"model": "2", "clusters": None, "n_draws": 100, "seed": 1} | options))


@golden
def curve_fixed():
    found = curve()
    return {
        "difficulty": found.difficulty.loc["deu"],
        "changes": columns(found.changes(2700, 100, q=0.05)),
        "correlations": columns(found.correlations()),
        **texts(found),
    }


@golden
def curve_clusters():
    found = curve(model="1", clusters="chapter")
    return {"covariance": np.diag(found.covariance(900, 300)), **texts(found)}


@golden
def curve_asymptotes():
    found = curve()
    power = found.asymptotes("power")
    return {"exponent": power.exponent, "misfit": power.misfit, "frame": columns(power.to_frame()), **texts(power)}


@golden
def curve_exchange_rate():
    return columns(curve().exchange_rate("deu", 900, content_ratio=None))


def second_table():
    """Return the complete table as another language model would have it, with two cells wrong."""
    rng = np.random.default_rng(12)
    bits = (COMPLETE.bits * np.exp(rng.normal(0.02, 0.04, COMPLETE.bits.shape))).round(3)
    bits.iloc[3, 1], bits.iloc[20, 4] = 3 * bits.iloc[3, 1], bits.iloc[20, 4] / 3
    return table_of(bits)


@golden
def variance_components():
    found = ld.generalizability(TABLE, facets=None, languages=None, clusters=None)
    return {
        "frame": columns(found.to_frame()),
        "reliability": found.reliability(),
        "intents": [float(np.ceil(each.estimate)) for each in (found.intents_for(0.95), found.intents_for_error(0.02))],
        "design": columns(found.design([25, 100], [1])),
        **texts(found),
    }


@golden
def variance_components_of_models():
    facets = pd.DataFrame({"lm": ["x", "y"]}, index=["one", "other"])
    tables = {"one": COMPLETE, "other": second_table()}
    found = ld.generalizability(tables, facets=facets, languages=None, clusters=None)
    return {"frame": columns(found.to_frame()), **texts(found)}


def wide_tables():
    """Return bits of ten editions by two language models, with two cells that are wrong in both."""
    wide = pd.concat([bits_table(missing=False, seed=seed).add_suffix(f"-{seed}") for seed in (7, 8)], axis=1)
    other = (wide * np.exp(np.random.default_rng(1).normal(0, 0.03, wide.shape))).round(3)
    for bits in (wide, other):
        bits.iloc[5, 3], bits.iloc[30, 8] = 4 * bits.iloc[5, 3], bits.iloc[30, 8] / 4
    return table_of(wide), table_of(other)


@golden
def short_form():
    table, judge = wide_tables()
    found = ld.short_form(table, 12, judge=judge, chosen_on=table.editions[:5], seed=1)
    numbers = [found.correlation, found.error, found.bits_share]
    return {"numbers": numbers, "intents": found.intents, **texts(found)}


@golden
def flagged_cells():
    one, other = wide_tables()
    found = ld.flag_outliers({"one": one, "other": other}, q=0.2)
    return {"rows": len(found), "first": columns(found.head(3))}

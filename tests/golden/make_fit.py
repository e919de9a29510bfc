"""Golden cases of `langdiff.fit`: variants, errors, clusters, designs, sizes and dispersions."""

import numpy as np
import pandas as pd

import langdiff as ld
from langdiff.regression import Blunders, Laplace
from langdiff.run.experiment import flat_arguments
from tests.golden.record import add, golden, loose, texts

EDITIONS = ("deu", "eng", "fin", "rus", "tur")
INFO = pd.DataFrame(
    {
        "family": ["germanic", "germanic", "other", "other", "other"],
        "script": ["latin", "latin", "latin", "cyrillic", "latin"],
        "year": [1.0, 2.0, 4.0, 5.0, 9.0],
    },
    index=list(EDITIONS),
)
NAMED = {  # every option, so that no default is part of a golden number
    "model": "2",
    "method": "auto",
    "groups": None,
    "formula": None,
    "edition_info": None,
    "intents": "fixed",
    "sizes": "normal",
    "size_formula": None,
    "dispersion": "common",
    "errors": "information",
    "clusters": None,
    "strata": None,
    "correction": None,
    "restricted": False,
    "n_resamples": 0,
    "seed": None,
    "max_iterations": 1000,
}


def bits_table(n_intents=72, *, missing=True, seed=7, spread=0.6):
    """Return bits of intents, with noise of each edition's own, some cells missing, rounded to three decimals."""
    rng = np.random.default_rng(seed)
    size = rng.normal(4.6, spread, n_intents)
    difficulty = np.array([0.05, -0.08, 0.02, 0.06, -0.05])
    noise = rng.normal(size=(n_intents, 5)) * np.array([0.10, 0.07, 0.13, 0.10, 0.16])
    of_chapter = rng.normal(0, 0.05, (n_intents // 4, 5)).repeat(4, axis=0)
    bits = np.exp(size[:, None] + difficulty + noise + of_chapter)
    if missing:
        bits[rng.random(bits.shape) < 0.15] = np.nan
    index = pd.Index([f"v{k + 1:02d}" for k in range(n_intents)])
    return pd.DataFrame(bits.round(3), index=index, columns=list(EDITIONS))


def intent_info(index):
    """Return columns that describe intents: chapters of four, books of twelve, a genre that crosses them, a length."""
    place = np.arange(len(index))
    info = {
        "chapter": place // 4,
        "book": [f"b{k}" for k in place // 12],
        "genre": place % 9,
        "length": place % 7 + 1.0,
    }
    return pd.DataFrame(info, index=index)


def table_of(bits):
    """Return the table of the cases, with its columns of intents."""
    return ld.Surprisals(bits=bits, intent_info=intent_info(bits.index), lm="golden")


TABLE = table_of(bits_table())
COMPLETE = table_of(bits_table(missing=False))
SMALL = table_of(bits_table(40, seed=8))


def fit(table, **options):
    """Fit a table, naming every option."""
    return ld.fit(table, **flat_arguments(**(NAMED | options)))


def of_fit(found):
    """Return what is recorded of a fit."""
    first, second = found.difficulty.index[:2]
    contrast = found.contrast(first, second, estimand="expected")
    return {
        "difficulty": found.difficulty,
        "std_error": found.std_error,
        "contrast": [contrast.estimate, contrast.std_error, contrast.low, contrast.high],
        "degrees_of_freedom": contrast.degrees_of_freedom,
        "sigma": found.sigma,
        "log_likelihood": found.log_likelihood,
        "counts": [found.cells, found.free_difficulties, found.single_cell_intents],
        **texts(found),
    }


SANDWICH = {"errors": "sandwich", "correction": "CR1"}
CLUSTERED = SANDWICH | {"clusters": "chapter"}
FITS = {  # name: table, options
    "m1_information": (TABLE, {"model": "1"}),
    "m1_sandwich": (TABLE, {"model": "1", "errors": "sandwich", "correction": "CR2"}),
    "m1_lbfgs": (TABLE, {"model": "1", "method": "lbfgs"}),
    "m2_information": (TABLE, {"model": "2"}),
    "m2_complete": (COMPLETE, {"model": "2"}),
    "m2_newton": (TABLE, {"method": "newton"}),
    "m2_lbfgs": (TABLE, {"method": "lbfgs"}),
    "m2_cr0": (TABLE, {"errors": "sandwich", "correction": "CR0"}),
    "m2_cr1": (TABLE, {"errors": "sandwich", "correction": "CR1"}),
    "m2_cr2": (TABLE, {"errors": "sandwich", "correction": "CR2"}),
    "m2_cr3": (TABLE, {"errors": "sandwich", "correction": "CR3"}),
    "m2_default_errors": (TABLE, {"errors": None}),
    "m2_default_errors_small": (SMALL, {"errors": None}),
    "m2_restricted": (TABLE, {"restricted": True, **SANDWICH}),
    "m2l": (TABLE, {"model": "2L-rounded", **SANDWICH}),
    "m2l_restricted": (TABLE, {"model": "2L-rounded", "restricted": True, **SANDWICH}),
    "m2l_clusters": (TABLE, {"model": "2L-rounded", **CLUSTERED}),
    "m2c": (TABLE, {"model": "2C", **SANDWICH}),
    "m2c_restricted": (TABLE, {"model": "2C", "restricted": True, **SANDWICH}),
    "m3": (TABLE, {"model": Blunders(scale=0.01), **SANDWICH}),
    "m2_clusters": (TABLE, CLUSTERED),
    "m2_clusters_cr2": (TABLE, CLUSTERED | {"correction": "CR2"}),
    "m2_clusters_cr3": (TABLE, CLUSTERED | {"correction": "CR3"}),
    "m2_clusters_crossed": (TABLE, CLUSTERED | {"clusters": ["chapter", "genre"]}),
    "m2_clusters_strata": (TABLE, CLUSTERED | {"strata": "book"}),
    "m2_bootstrap": (SMALL, {"errors": "bootstrap", "n_resamples": 99, "seed": 5}),
    "m2_bootstrap_clusters": (SMALL, {"errors": "bootstrap", "n_resamples": 99, "seed": 5, "clusters": "chapter"}),
    "m2_jackknife": (SMALL, {"errors": "jackknife", "seed": 2}),
    "m2_jackknife_clusters": (TABLE, {"errors": "jackknife", "clusters": "chapter"}),
    "m1_groups": (TABLE, {"model": "1", "groups": "family", "edition_info": INFO}),
    "m2_groups": (TABLE, {"groups": "family", "edition_info": INFO, **SANDWICH}),
    "m2_groups_mapping": (TABLE, {"groups": {e: e[0] in "de" for e in EDITIONS}}),
    "m2_formula": (TABLE, {"formula": "family", "edition_info": INFO, **SANDWICH}),
    "m2_formula_year": (TABLE, {"formula": "log(year) + script", "edition_info": INFO}),
    "m2l_formula": (TABLE, {"model": "2L-rounded", "formula": "family", "edition_info": INFO, **SANDWICH}),
    "m1_random": (TABLE, {"model": "1", "intents": "random"}),
    "m2_random": (TABLE, {"intents": "random"}),
    "m2_random_complete": (COMPLETE, {"intents": "random"}),
    "m2_random_clusters": (TABLE, {"intents": "random", **CLUSTERED}),
    "m2_random_free": (TABLE, {"intents": "random", "sizes": "free", **SANDWICH}),
    "m2_random_formula": (TABLE, {"intents": "random", "size_formula": "length", **SANDWICH}),
    "m2l_random": (SMALL, {"model": "2L", "intents": "random", **SANDWICH}),
    "m1_dispersion": (TABLE, {"model": "1", "dispersion": "edition"}),
    "m2_dispersion": (TABLE, {"dispersion": "edition", **SANDWICH}),
    "m2_dispersion_groups": (TABLE, {"dispersion": INFO["family"]}),
    "m2_dispersion_random": (TABLE, {"dispersion": "edition", "intents": "random", **SANDWICH}),
    "m2_array": (COMPLETE.bits.to_numpy(), {}),
    "m2_frame_clusters": (TABLE.bits, CLUSTERED | {"clusters": {v: v[:2] for v in TABLE.bits.index}}),
}
for _name, (_table, _options) in FITS.items():
    add(f"fit_{_name}", lambda table=_table, options=_options: of_fit(fit(table, **options)))


@loose(1e-4)
def fit_m2l_kink():
    """Of the density with a kink, which the optimizer approaches; its errors differ between processors."""
    flat = flat_arguments(**(NAMED | {"errors": "jackknife", "seed": 3}))
    found = ld.fit(SMALL, **(flat | {"model": Laplace(rounding=0)}))
    numbers = {"sigma": found.sigma, "log_likelihood": found.log_likelihood}
    return numbers | {"difficulty": found.difficulty, "signature": found.signature}


def _pin(missing):
    bits = pd.DataFrame(
        {
            "a": [102.0, 61, 215, 148, 87, 330, 54, 190],
            "b": [110.0, 66, 221, 163, 88, 351, 60, 199],
            "c": [131.0, 70, 262, 171, 107, 384, 66, 231],
        },
        index=[f"i{k}" for k in range(8)],
    )
    for intent, edition in missing:
        bits.loc[intent, edition] = np.nan
    return of_fit(fit(bits, model="2", errors="information", intents="fixed"))


@golden
def pin_complete():
    return _pin([])


@golden
def pin_two_cells_missing():
    return _pin([("i2", "b"), ("i5", "c")])

"""What `langdiff.fit` is asked for, checked before anything is computed."""

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Literal, NamedTuple, get_args

import numpy as np
import pandas as pd

from langdiff.base.seeds import generator
from langdiff.base.types import Model
from langdiff.errors import ConfigError, listing, option
from langdiff.regression.kernel.models import Settings
from langdiff.regression.records import ErrorsKind

Method = Literal["auto", "newton", "lbfgs"]
Intents = Literal["fixed", "random"]
Sizes = Literal["normal", "free"]
Correction = Literal["CR0", "CR1", "CR2", "CR3"]
Dispersion = str | Mapping[str, object] | pd.Series

USUAL_RESAMPLES = 500
USUAL_CORRECTION: Correction = "CR2"
LARGEST = 10_000_000  # cells of a table up to which the scores of rows are held in memory
ONE_WAY = ("1", "2")  # models that have an information, and dispersions and random intents of their own


class Options(NamedTuple):
    """The arguments of `langdiff.fit` that say how to estimate and how to find errors."""

    settings: Settings
    intents: Intents
    sizes: Sizes
    size_formula: str | None
    dispersion: Dispersion
    errors: ErrorsKind | None
    correction: Correction
    bootstrap: int
    seed: int | np.random.Generator | None

    @property
    def unequal(self) -> bool:
        """Whether editions have dispersions of their own."""
        return not (isinstance(self.dispersion, str) and self.dispersion == "common")


def check_options(options: Options, *, clustered: bool, stratified: bool = False, corrected: bool = False) -> Options:
    """Return the options with plain numbers, or refuse them.

    Parameters
    ----------
    options : Options
        The arguments as given.
    clustered : bool
        Whether clusters of intents were given.
    stratified, corrected : bool
        Whether strata of clusters, and a correction of the sandwich, were given.

    Raises
    ------
    ConfigError
        If an option is unknown or out of range, contradicts another, or needs a seed that is not given.
    """
    model, method, restricted, b, max_iterations, rounding = options.settings
    offered = {
        "model": (model, Model),
        "method": (method, Method),
        "intents": (options.intents, Intents),
        "sizes": (options.sizes, Sizes),
        "correction": (options.correction, Correction),
    }
    for what, (given, choices) in offered.items():
        if given not in get_args(choices):
            raise ConfigError(f"unknown {what} {given!r}; use one of {listing(get_args(choices))}.")
    if options.errors is not None and options.errors not in get_args(ErrorsKind):
        raise ConfigError(f"unknown errors {options.errors!r}; use one of {listing(get_args(ErrorsKind))}.")
    _check_settings(options.settings)
    _check_numbers(b, max_iterations, rounding, options.bootstrap)
    _check_intents(options)
    _check_sandwich(options, clustered, stratified, corrected)
    _check_errors(options._replace(errors="sandwich") if corrected else options, clustered)
    settings = Settings(
        model, method, bool(restricted), None if b is None else float(b), int(max_iterations), float(rounding)
    )
    resamples = int(options.bootstrap) or (USUAL_RESAMPLES if options.errors == "bootstrap" else 0)
    errors: ErrorsKind | None = "sandwich" if corrected else options.errors
    return options._replace(settings=settings, bootstrap=resamples, errors=errors)


def _check_settings(settings: Settings) -> None:
    model, b = settings.model, settings.laplace_scale
    if settings.method != "auto" and model not in ONE_WAY:
        raise ConfigError(
            f"method={settings.method!r} is a choice for models '1' and '2'; model {model!r} has one way: use 'auto'."
        )
    if settings.restricted and model == "3":
        raise ConfigError("restricted=True is not for model '3', whose density is not a likelihood of z.")
    if (b is None) == (model == "3"):
        raise ConfigError(
            "model '3' needs laplace_scale=b, nats (try 0.02 to 0.05): it cannot be estimated."
            if b is None
            else f"laplace_scale is for model '3', not {model!r}."
        )


def _check_numbers(b: object, max_iterations: object, rounding: object, bootstrap: object) -> None:
    if b is not None and not (isinstance(b, Real) and 0 < float(b) < np.inf):
        raise ConfigError(f"laplace_scale must be a positive number, got {b!r}.")
    if not isinstance(max_iterations, Integral) or max_iterations < 1:
        raise ConfigError(f"max_iterations must be at least 1, got {max_iterations!r}.")
    if not isinstance(rounding, Real) or not 0 <= float(rounding) <= 1:
        raise ConfigError(f"rounding must be from 0 to 1 standard deviation, got {rounding!r}.")
    if not isinstance(bootstrap, Integral) or bootstrap < 0 or bootstrap == 1:
        raise ConfigError(f"bootstrap must be 0 or at least 2 samples, got {bootstrap!r}.")


def _check_intents(options: Options) -> None:
    model, random = options.settings.model, options.intents == "random"
    if random and model not in ("1", "2", "2L"):
        raise ConfigError(f"intents='random' is for models '1', '2' and '2L', not {model!r}.")
    if options.unequal and model not in ONE_WAY:
        raise ConfigError(f"dispersions of editions are for models '1' and '2', not {model!r}.")
    if options.settings.method != "auto" and (random or options.unequal):
        raise ConfigError("random intents and dispersions of editions are fitted in one way: use method='auto'.")
    if not random and (options.sizes != "normal" or options.size_formula is not None):
        raise ConfigError("sizes and size_formula describe random intents: add intents='random'.")
    if options.unequal and random and (options.sizes != "normal" or options.size_formula is not None):
        raise ConfigError("with dispersions of their own, editions have normal sizes without a formula.")
    restricted = options.settings.restricted
    if restricted and model == "1" and not random:
        raise ConfigError(
            "restricted=True is for models '2', '2L' and '2C'; model '1' has an unbiased variance already."
        )
    if restricted and (options.unequal or (random and model != "1")):
        raise ConfigError(
            "restricted=True makes up for one size fitted per intent; where sizes are integrated out there are none: "
            "leave it out."
        )


def _check_errors(options: Options, clustered: bool) -> None:
    errors, model = options.errors, options.settings.model
    if options.bootstrap and errors not in (None, "bootstrap"):
        raise ConfigError(f"bootstrap={options.bootstrap} contradicts errors={errors!r}; leave one of them out.")
    if errors == "information" and clustered:
        raise ConfigError("errors='information' takes intents to be independent; with clusters use 'sandwich'.")
    if errors == "information" and model not in ONE_WAY and options.intents == "fixed":
        raise ConfigError(
            f"errors='information' needs a smooth likelihood, which model {model!r} lacks; use 'sandwich'."
        )
    kinked = _has_a_kink(options)
    if errors == "sandwich" and kinked:
        raise ConfigError("rounding=0 leaves a kink, at which there is no sandwich; use errors='jackknife'.")
    if options.bootstrap or errors == "bootstrap":
        generator(options.seed, "bootstrap samples")
    elif not clustered and (errors == "jackknife" or kinked):
        generator(options.seed, "groups of intents to leave out")


def _has_a_kink(options: Options) -> bool:
    """Whether the likelihood has kinks, at which there is no sandwich."""
    return options.settings.model == "2L" and options.settings.rounding == 0 and options.intents == "fixed"


def _check_sandwich(options: Options, clustered: bool, stratified: bool, corrected: bool) -> None:
    """Refuse what only a sandwich has where the errors come from elsewhere."""
    other = "bootstrap" if options.bootstrap else options.errors
    if other is None and _has_a_kink(options):
        other = "jackknife"
    for given, name in ((stratified, "strata"), (corrected, "correction")):
        if given and other not in (None, "sandwich"):
            raise ConfigError(f"{name} is for errors='sandwich', not {other!r}: leave one of them out.")
    integrated = options.intents == "random" or options.unequal
    if corrected and not clustered and integrated and options.correction in ("CR2", "CR3"):
        raise ConfigError(
            f"correction={options.correction!r} with random intents or dispersions of editions needs clusters; without "
            "them there are 'CR0' and 'CR1'."
        )
    if stratified and not clustered:
        raise ConfigError(
            f"strata are groups of clusters: add {option('clusters', 'chapter')} beside {option('strata', 'book')}."
        )

"""What `langdiff.fit` is asked for, checked before anything is computed."""

from collections.abc import Mapping
from numbers import Integral
from typing import Literal, NamedTuple, get_args

import numpy as np
import pandas as pd

from langdiff.base.seeds import generator
from langdiff.errors import ConfigError, listing, option
from langdiff.regression.kernel.estimate import USUAL_OPTIMIZER, Optimizer
from langdiff.regression.records import ErrorsKind
from langdiff.regression.variants import names_with, require
from langdiff.regression.variants.variant import Variant

Intents = Literal["fixed", "random"]
Sizes = Literal["normal", "free"]
Correction = Literal["CR0", "CR1", "CR2", "CR3"]
Dispersion = str | Mapping[str, object] | pd.Series

USUAL_RESAMPLES = 500
USUAL_CORRECTION: Correction = "CR2"
LARGEST = 10_000_000  # cells of a table up to which the scores of rows are held in memory


class Settings(NamedTuple):
    """The model to fit, and how; see `langdiff.fit`."""

    variant: Variant
    restricted: bool = False
    optimizer: Optimizer = USUAL_OPTIMIZER


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
    offered = {
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
    samples: object = options.bootstrap
    if not isinstance(samples, Integral) or samples < 0 or samples == 1:
        raise ConfigError(f"bootstrap must be 0 or at least 2 samples, got {samples!r}.")
    _check_intents(options)
    _check_sandwich(options, clustered, stratified, corrected)
    _check_errors(options._replace(errors="sandwich") if corrected else options, clustered)
    settings = options.settings._replace(restricted=bool(options.settings.restricted))
    resamples = int(options.bootstrap) or (USUAL_RESAMPLES if options.errors == "bootstrap" else 0)
    errors: ErrorsKind | None = "sandwich" if corrected else options.errors
    return options._replace(settings=settings, bootstrap=resamples, errors=errors)


def _check_settings(settings: Settings) -> None:
    variant, method = settings.variant, settings.optimizer.method
    if method != "auto" and not variant.has_information:
        raise ConfigError(
            f"method={method!r} is a choice for models {names_with('has_information')}; model {variant.name!r} has one "
            "way: use 'auto'."
        )


def _check_intents(options: Options) -> None:
    variant, random = options.settings.variant, options.intents == "random"
    if random:
        require(variant, "random_sizes", "intents='random'")
    if options.unequal and not variant.has_information:
        raise ConfigError(
            f"dispersions of editions are for models {names_with('has_information')}, not {variant.name!r}."
        )
    if options.settings.optimizer.method != "auto" and (random or options.unequal):
        raise ConfigError("random intents and dispersions of editions are fitted in one way: use method='auto'.")
    if not random and (options.sizes != "normal" or options.size_formula is not None):
        raise ConfigError("sizes and size_formula describe random intents: add intents='random'.")
    if options.unequal and random and (options.sizes != "normal" or options.size_formula is not None):
        raise ConfigError("with dispersions of their own, editions have normal sizes without a formula.")
    restricted = options.settings.restricted
    if restricted and not random:
        require(variant, "restrictable", "restricted=True")
    if restricted and (options.unequal or (random and not variant.common_variance)):
        raise ConfigError(
            "restricted=True makes up for one size fitted per intent; where sizes are integrated out there are none: "
            "leave it out."
        )


def _check_errors(options: Options, clustered: bool) -> None:
    errors, variant = options.errors, options.settings.variant
    if options.bootstrap and errors not in (None, "bootstrap"):
        raise ConfigError(f"bootstrap={options.bootstrap} contradicts errors={errors!r}; leave one of them out.")
    if errors == "information" and clustered:
        raise ConfigError("errors='information' takes intents to be independent; with clusters use 'sandwich'.")
    if errors == "information" and not variant.has_information and options.intents == "fixed":
        raise ConfigError(
            f"errors='information' needs a smooth likelihood, which model {variant.name!r} lacks; use 'sandwich'."
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
    return options.settings.variant.kinked and options.intents == "fixed"


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

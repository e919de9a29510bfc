"""Conversion of flat options, as in commands and experiment files, to arguments of `langdiff.fit`."""

from typing import Any

from langdiff.errors import ConfigError, option
from langdiff.regression.fitting.errors import Bootstrap, Correction, Sandwich
from langdiff.regression.fitting.integrated import Random, Sizes
from langdiff.regression.kernel.estimate import USUAL_ITERATIONS, Method, Optimizer
from langdiff.regression.records import ErrorsKind
from langdiff.regression.variants import find_variant


def typed_clusters(clusters: Any) -> Any:
    """Return clusters as Python has them from the text of an option: ``"none"`` is None, and a comma parts two columns.

    Examples
    --------
    >>> typed_clusters("none"), typed_clusters("document,translator"), typed_clusters("auto")
    (None, ['document', 'translator'], 'auto')
    """
    if not isinstance(clusters, str):
        return clusters
    return None if clusters == "none" else clusters.split(",") if "," in clusters else clusters


def flat_arguments(
    *,
    model: str = "2",
    laplace_scale: float | None = None,
    method: Method = "auto",
    max_iterations: int = USUAL_ITERATIONS,
    intents: str = "fixed",
    sizes: Sizes = "normal",
    size_formula: str | None = None,
    errors: ErrorsKind | None = None,
    strata: str | None = None,
    correction: Correction | None = None,
    n_resamples: int = 0,
    **others: Any,
) -> dict[str, Any]:
    """Return the arguments of `langdiff.fit` that correspond to flat options.

    Examples
    --------
    >>> flat_arguments(model="1", correction="CR3", seed=1)["errors"].correction
    'CR3'
    """
    arguments = others | {
        "model": find_variant(model, laplace_scale=laplace_scale),
        "optimizer": Optimizer(method, max_iterations),
        "intents": intents,
        "errors": errors,
    }
    if "clusters" in others:
        arguments["clusters"] = typed_clusters(others["clusters"])
    if intents == "random":
        arguments["intents"] = Random(sizes, size_formula)
    elif sizes != "normal" or size_formula is not None:
        raise ConfigError(
            f"{option('sizes')} and {option('size_formula')} describe random intents: add "
            f"{option('intents', 'random')}."
        )
    if n_resamples and errors not in (None, "bootstrap"):
        raise ConfigError(
            f"{option('n_resamples', n_resamples)} contradicts {option('errors', str(errors))}; leave one of them out."
        )
    if n_resamples:
        arguments["errors"] = Bootstrap(n_resamples)
    given = {"strata": strata, "correction": correction}
    for name in (name for name, value in given.items() if value is not None):
        other = "bootstrap" if n_resamples else errors
        if other not in (None, "sandwich"):
            raise ConfigError(
                f"{option(name)} is for {option('errors', 'sandwich')}, not {other!r}: leave one of them out."
            )
        arguments["errors"] = Sandwich(correction, strata)
    return arguments

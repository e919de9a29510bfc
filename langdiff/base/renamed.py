"""Errors for arguments that were renamed, which tell how they are written now."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from langdiff.errors import ConfigError

P = ParamSpec("P")
R = TypeVar("R")

# what several functions have in common
IN_MODEL = {"laplace_scale": "model=Blunders(scale=…)", "rounding": "model=Laplace(rounding=…)"}
IN_MODELS = {name: now.replace("model=", "models=") for name, now in IN_MODEL.items()}
IN_SAMPLER = {
    name: f"sampler=Sampler({name}=…)"
    for name in ("engine", "chains", "iter_warmup", "iter_sampling", "target_accept", "max_treedepth", "inits")
}
IN_COMPUTE = {
    name: f"compute=langdiff.lm.Compute({name}=…)" for name in ("device", "cache", "workers", "executor", "progress")
}
IN_FIT = {
    **IN_MODEL,
    "bootstrap": "errors=Bootstrap(n)",
    "correction": "errors=Sandwich(correction=…)",
    "strata": "errors=Sandwich(strata=…)",
    "sizes": "intents=Random(sizes=…)",
    "size_formula": "intents=Random(formula=…)",
    "method": "optimizer=Optimizer(method=…)",
    "max_iterations": "optimizer=Optimizer(max_iterations=…)",
}


def renamed(**now: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Refuse earlier names of a function's arguments with an error that tells how they are written now.

    Parameters
    ----------
    **now : str
        The present spelling by the earlier name.

    Returns
    -------
    callable
        Decorator, which keeps the signature and docstring of the function.

    Examples
    --------
    >>> @renamed(k="n_folds")
    ... def cross_validate(*, n_folds=10): ...
    >>> cross_validate(k=5)
    Traceback (most recent call last):
    langdiff.errors.ConfigError: cross_validate has no argument 'k': write n_folds.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            for name in kwargs:
                if name in now:
                    raise ConfigError(f"{function.__name__} has no argument {name!r}: write {now[name]}.")
            return function(*args, **kwargs)

        return checked

    return decorate

"""Warnings of the language models of a run: each given once, with the names of the models where not all share it."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from langdiff.errors import EditionWarning, LangdiffWarning


@contextmanager
def warned_once() -> Iterator[Callable[[str], AbstractContextManager[None]]]:
    """Keep the package's warnings until the block ends, then give each once; those of other packages pass.

    Yields
    ------
    callable
        Function that takes the name of a language model and returns a context, in which warnings are of this model.
    """
    found: dict[str, list[LangdiffWarning]] = {}
    try:
        yield lambda lm: _kept_in(found.setdefault(lm, []))
    finally:  # also where a later model ends in an error
        for message in _named(found):
            warnings.warn(message, stacklevel=3)  # where the block ends


@contextmanager
def _kept_in(kept: list[LangdiffWarning]) -> Iterator[None]:
    with warnings.catch_warnings():  # which also forgets what was given already: another model may say the same
        show = warnings.showwarning

        def keep(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if isinstance(message, LangdiffWarning):
                kept.append(message)
            else:
                show(message, category, *where, **more)

        warnings.showwarning = keep
        yield


def _named(found: dict[str, list[LangdiffWarning]]) -> Iterator[LangdiffWarning]:
    """Yield each warning once; those that not all models share name theirs."""
    alike: dict[tuple[type[LangdiffWarning], str], dict[str, LangdiffWarning]] = {}
    for lm, messages in found.items():
        for message in messages:
            alike.setdefault((type(message), str(message)), {})[lm] = message
    for (kind, text), of_models in alike.items():
        message = next(iter(of_models.values()))
        if len(of_models) == len(found):
            yield message
        elif isinstance(message, EditionWarning):
            yield EditionWarning(*message.cautions, lms=tuple(of_models))
        else:
            yield kind(f"{', '.join(of_models)}: {text}")

"""Errors and warnings of the package: one root class, each also the builtin a caller expects."""

from collections.abc import Iterable


class LangdiffError(Exception):
    """Root of every error the package raises on purpose; its message says what to do."""


class DataError(LangdiffError, ValueError):
    """The input cannot be used as it is."""


class ConfigError(LangdiffError, ValueError):
    """A setting is unknown, out of range or contradicts another."""


class InfeasibleError(LangdiffError, ValueError):
    """No selection of editions and intents meets the requirements."""


class SolverError(LangdiffError, RuntimeError):
    """A solver or sampler stopped without a result that can be trusted."""


class TrainingError(LangdiffError, RuntimeError):
    """A language model could not be trained or scored."""


class CheckpointError(LangdiffError, ValueError):
    """Saved files are missing, truncated or from an incompatible version."""


class OutputError(LangdiffError, OSError):
    """Results cannot be written where they were asked for."""


class MissingExtraError(LangdiffError, ImportError):
    """An optional package is not installed; the message says how to install it."""


class LangdiffWarning(UserWarning):
    """Something the user should act on, though a result exists."""


class ConvergenceWarning(LangdiffWarning):
    """An optimizer stopped before its criterion was met."""


def listing(names: Iterable[object], most: int = 5) -> str:
    """Quote the first few names, for messages.

    Examples
    --------
    >>> listing(["deu", "eng", "fra"], most=2)
    "'deu', 'eng', …"
    """
    names = list(names)
    more = ", …" if len(names) > most else ""
    return ", ".join(repr(name) for name in names[:most]) + more

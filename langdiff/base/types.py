"""Common types: arrays, and the allowed values of formats and options."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib import import_module
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, get_args

from langdiff.errors import ConfigError, MissingExtraError, option

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int_]
    Booleans = npt.NDArray[np.bool_]

# Formats of corpora. Each is a module langdiff.corpora.formats.NAME; a new one needs its module and its name here.
FormatName = Literal[
    "pbc", "ebible", "usfm", "usx", "usj", "usfx", "osis", "ces", "zefania", "beblia",
    "moses", "tmx", "costep", "mteval", "table", "jsonl", "parquet",
]  # fmt: skip
AnyFormat = Literal["auto", FormatName]
Ranges = Literal["missing", "merge"]  # what becomes of verses that were translated together
OwnKind = Literal["char", "note", "para", "skip"]  # what a marker of USFM that is the user's own can be
Tokenization = Literal["reversible", "as-is"]
OnError = Literal["raise", "skip"]  # what becomes of faulty files and parts of them
Change = Literal[
    "reverse", "reverse-words", "shuffle-local", "shuffle-by-length", "shuffle",
    "scramble", "decompose", "no-spaces", "no-vowels",
]  # fmt: skip  # of texts, see langdiff.corpora.perturb
Reordering = Literal["forms", "head-final", "head-initial", "random-grammar", "lemmas"]  # of words of trees
MEAN = "mean"  # reference of parity that stands for all editions
WhenOutOfStep = Literal["warn", "leave-out", "off"]  # what becomes of texts that do not belong where they stand


def check_kind(value: object, kind: type | tuple[type, ...], wanted: str) -> None:
    """Check the kind of an argument."""
    if not isinstance(value, kind):
        raise ConfigError(f"{wanted}; got {' '.join(repr(value).split())[:40]}, of type {type(value).__name__}.")


def check_choice(name: str, given: object, known: Collection[object]) -> None:
    """Check the value of an option that has few."""
    if given not in known:
        raise ConfigError(f"{option(name)} is one of {', '.join(map(str, known))}; got {given!r}.")


def import_extra(module: str, missing: str) -> Any:
    """Import a module of a library that need not be installed; a fault within an installed one stays as it is."""
    try:
        return import_module(module)
    except ImportError as error:
        if not f"{module}.".startswith(f"{error.name}."):
            raise
        raise MissingExtraError(missing) from error


# packages of which only some parts have need: their names, and the extra that brings them
_EXTRAS = {"torch": ("PyTorch", "lm"), "sentencepiece": ("SentencePiece", "lm"), "cmdstanpy": ("CmdStanPy", "stan")}


@contextmanager
def naming_extra(who: str) -> Iterator[None]:
    """Turn the fault of a package that is missing into an error that names the extra with it."""
    try:
        yield
    except ModuleNotFoundError as error:
        name, extra = _EXTRAS.get(str(error.name).partition(".")[0], ("", ""))
        if not name:
            raise
        build = " (CPU build: see First steps)" if name == "PyTorch" else ""
        raise MissingExtraError(f"{who} needs {name}: pip install 'langdiff[{extra}]'{build}.") from error


def check_on_error(on_error: str) -> None:
    """Check the option for the treatment of faulty files."""
    if on_error not in get_args(OnError):
        raise ConfigError(f"{option('on_error')} must be 'raise' or 'skip', got {on_error!r}.")


def __getattr__(name: str) -> Any:
    """Return an array type, importing NumPy only on first use to keep the command quick."""
    elements = {"Floats": "float64", "Integers": "int_", "Booleans": "bool_"}
    if name not in elements:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import numpy as np
    import numpy.typing as npt

    return npt.NDArray[getattr(np, elements[name])]  # type: ignore[misc]  # known when called only


FEWEST_RESAMPLES = 99  # samples drawn for an interval or a p-value; fewer make them too coarse


def check_resamples(name: str, given: object, *, or_none: bool = False) -> None:
    """Check a number of samples from which intervals or p-values are made; 0 may mean that none are drawn."""
    whole = isinstance(given, Integral) and not isinstance(given, bool)
    if not whole or not (given >= FEWEST_RESAMPLES or (or_none and given == 0)):  # type: ignore[operator]
        least = f"{'0 or ' * or_none}at least {FEWEST_RESAMPLES}"
        raise ConfigError(f"{option(name, given)}: give a whole number, {least}: fewer samples are too coarse.")

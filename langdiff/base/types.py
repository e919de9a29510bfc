"""Arguments that many functions have: types, allowed values, seeds; and what counts as rounding, with reasons."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from importlib import import_module
from numbers import Integral, Real
from random import Random
from typing import TYPE_CHECKING, Any, Literal, get_args

from langdiff.errors import ConfigError, MissingExtraError, listing, option

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
WhenOutOfStep = Literal["warn", "leave-out", "off"]  # what becomes of texts that do not belong where they stand


def check_kind(value: object, kind: type | tuple[type, ...], wanted: str) -> None:
    """Check the kind of an argument."""
    if not isinstance(value, kind):
        raise ConfigError(f"{wanted}; got {' '.join(repr(value).split())[:40]}, of type {type(value).__name__}.")


def check_choice(name: str, given: object, known: Collection[object]) -> None:
    """Check the value of an option that has few."""
    if given not in known:
        raise ConfigError(f"{option(name)} is one of {', '.join(map(str, known))}; got {given!r}.")


def check_choices(name: str, given: Sequence[object], known: Collection[object]) -> None:
    """Check names of which at least one is given, and each once."""
    if unknown := [one for one in given if one not in known]:
        raise ConfigError(f"{name}: {listing(unknown)} is not known; there are {listing(known, most=len(known))}.")
    if not given or len(set(given)) < len(given):
        raise ConfigError(f"{name}: name at least one, and each once; got {listing(given) or 'none'}.")


def check_share(name: str, given: object, *, above: float = 0.0) -> None:
    """Check a probability or a rate, which is neither the least nor 1."""
    if isinstance(given, bool) or not isinstance(given, Real) or not above < float(given) < 1:
        raise ConfigError(f"{option(name)} must be between {above:g} and 1, got {given!r}.")


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


NUMBERS = 2**32  # of seeds that can be drawn from a generator


def generator(seed: object, drawn: str = "") -> "np.random.Generator":
    """Return a random generator made from a seed, or the generator given.

    Examples
    --------
    >>> int(generator(7).integers(100))
    94
    >>> generator(None, "bootstrap samples")
    Traceback (most recent call last):
    langdiff.errors.ConfigError: seed must be a whole number from 0 up or a numpy Generator, so that the result can be \
repeated (bootstrap samples are drawn at random); got None.
    """
    import numpy as np

    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, bool) or not isinstance(seed, Integral) or int(seed) < 0:
        why = f" ({drawn} are drawn at random)" if drawn else ""
        raise ConfigError(
            "seed must be a whole number from 0 up or a numpy Generator, so that the result can be repeated"
            f"{why}; got {seed!r}."
        )
    return np.random.default_rng(int(seed))


def seed_number(seed: object, drawn: str = "") -> int:
    """Return a seed as a number, for results stored under it; drawn from the generator if one is given.

    Examples
    --------
    >>> seed_number(7), seed_number(generator(7))
    (7, 4058335883)
    """
    rng = generator(seed, drawn)
    return int(rng.integers(NUMBERS)) if rng is seed else int(seed)  # type: ignore[call-overload]


def seed_numbers(seed: object, count: int) -> list[int]:
    """Return several seeds derived from one; the first do not depend on their number.

    Examples
    --------
    >>> seed_numbers(7, 3)[:2] == seed_numbers(7, 2)
    True
    """
    import numpy as np

    numbers: list[int] = np.random.SeedSequence(seed_number(seed)).generate_state(count).tolist()
    return numbers


def keyed_random(seed: int, kind: str, *key: str) -> Random:
    """Return a generator that depends only on a seed, a kind and a key, by a hash of the three.

    Examples
    --------
    >>> keyed_random(0, "shuffle", "eng").random() == keyed_random(0, "shuffle", "eng").random()
    True
    """
    digest = blake2b(repr((seed, kind, *key)).encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return Random(int.from_bytes(digest, "big"))  # noqa: S311  # NumPy's take three times as long to seed


# differences that rounding alone makes
ROUNDING = 1e-12  # of numbers near 1 that few operations made: shares, probabilities, entropies, variances that cancel
ROUNDING_OF_MEANS = 1e-15  # of a number: what is left of a constant column without its mean
ROUNDING_OF_LIKELIHOODS = 1e-13  # relative, of a log-likelihood
ROUNDING_OF_EIGENVALUES = 1e-10  # share of the largest eigenvalue of a matrix, below which one is 0
ROUNDING_OF_SUMS = 1e-9  # of sums over rows or states; a cost on the edge of two bins belongs to the upper
ROUNDING_OF_INTEGRALS = 1e-7  # of a log-likelihood that is integrated over a grid
ROUNDING_OF_SINGLES = 1e-6  # nats: single precision of bits, figures of twelve digits, profiles and degrees of freedom

# where a search ends
TOLERANCE = 1e-4  # every parameter within about 1e-4 of its standard error
TOLERANCE_OF_ROOTS = 1e-12  # of ln λ, and of a Newton step of one convex problem
TOLERANCE_OF_STEPS = 1e-8  # a Newton step, in standard errors
TOLERANCE_OF_ROWS = 1e-13  # gain of log-likelihood over the number of rows, at which a search ends after that step
TOLERANCE_OF_SYMBOLS = 1e-9  # bits per symbol by which a step of EM must improve

# cells of a table that are computed at a time
CELLS_AT_A_TIME = 2**18  # 2 MB of numbers, which stay in the processor's cache
CELLS_WITH_TEMPORARIES = 2**15  # so that several temporaries stay in the cache, too
CELLS_WITH_NODES = 2**16  # each row brings nodes of quadrature
CELLS_OF_WINDOWS = 2**16  # bins of sizes, and windows around a kink
CELLS_WITH_DENSITIES = 2**12  # bounds the memory of a density, which needs hundreds of nodes per cell
CELLS_OF_PRODUCTS = 2**20  # products of pairs of rows
LEAST_EXPONENT = 1 / 3  # of the fall of noise with the size of treebanks; below, a plan would be a guess

"""Features of the URIEL database, through the package lang2vec."""

import sys
import warnings
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd

from langdiff.errors import ConfigError, MissingExtraError, listing


def lang2vec_features(features: Sequence[str], languages: Iterable[str]) -> pd.DataFrame:
    """Look up features of languages in URIEL (Littell et al. 2017).

    Parameters
    ----------
    features : sequence of str
        Features, each written ``SET:FEATURE``, such as ``syntax_wals:S_SVO`` or
        ``inventory_average:INV_VOW_10_MORE``. Sets that end in ``_knn`` hold predicted values where nothing is known.
        The set ``learned`` is not available, since it is stored as a pickle.
    languages : iterable of str
        ISO 639-3 codes.

    Returns
    -------
    DataFrame of float
        Codes × features; NaN where URIEL has no value or does not know the language.

    Raises
    ------
    MissingExtraError
        If lang2vec, or the setuptools below 81 that it needs, is not installed.
    ConfigError
        If a feature is not written in this way, or it or its set is unknown; the message names similar ones.

    References
    ----------
    Littell et al. (2017), "URIEL and lang2vec", EACL.

    Examples
    --------
    The package lang2vec is an extra that may not be installed, so this example is not run as a test.

    >>> lang2vec_features(["syntax_wals:S_SVO"], ["eng", "jpn"])  # doctest: +SKIP
          syntax_wals:S_SVO
    code
    eng                 1.0
    jpn                 0.0
    """
    package = _import_lang2vec()
    codes = list(dict.fromkeys(languages))
    known = [code for code in codes if code in package.URIEL_LANGUAGES]
    columns = {}
    for name in features:
        collection, _, feature = name.partition(":")
        _check_set(name, collection, feature, package)
        # an unknown language is an error there, and none at all too: a known one stands in for the names
        values = package.get_features(known or ["eng"], collection, header=True)
        names = [str(known_name) for known_name in values["CODE"]]
        if feature not in names:
            raise ConfigError(_unknown(f"the set {collection!r} of lang2vec has no feature", feature, names))
        column = names.index(feature)
        columns[name] = {code: _number(values[code][column]) for code in known}
    return pd.DataFrame(columns, index=pd.Index(codes, name="code"), columns=list(features), dtype=np.float64)


def _import_lang2vec() -> ModuleType:
    # lang2vec also installs a script lang2vec.py beside the other commands, a folder that is searched first when
    # one of these runs, such as langdiff; it is not the package
    path = sys.path
    sys.path = [folder for folder in path if not Path(folder, "lang2vec.py").is_file()]
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="pkg_resources is deprecated", category=UserWarning)
            warnings.filterwarnings("ignore", message="Deprecated call to `pkg_resources", category=DeprecationWarning)
            import lang2vec.lang2vec as package
    except ImportError as error:
        raise MissingExtraError(
            f"lang2vec cannot be imported ({error}). Install it: pip install 'langdiff[lang2vec]', which also "
            "keeps setuptools below 81, as lang2vec needs."
        ) from error
    finally:
        sys.path = path
    return package  # type: ignore[no-any-return]


def _check_set(name: str, collection: str, feature: str, package: ModuleType) -> None:
    if not feature:
        raise ConfigError(f"feature {name!r}: write SET:FEATURE, such as 'syntax_wals:S_SVO'.")
    if collection == "learned":
        raise ConfigError(f"feature {name!r}: the set 'learned' is stored as a pickle, which is not read.")
    if collection not in package.FEATURE_SETS:
        raise ConfigError(_unknown("lang2vec has no set", collection, package.FEATURE_SETS))


def _unknown(what: str, wanted: str, names: Sequence[str]) -> str:
    close = get_close_matches(wanted, names, n=3, cutoff=0.5)
    return f"{what} {wanted!r}. " + (f"The most similar: {listing(close)}." if close else f"It has {listing(names)}.")


def _number(value: object) -> float:
    return float("nan") if value == "--" else float(value)  # type: ignore[arg-type]

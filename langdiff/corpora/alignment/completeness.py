"""Whether editions are as long as their languages are elsewhere, or a part of every text is left out."""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from langdiff.corpora.alignment.consensus import NORMAL, Numbers

_ENOUGH = 20  # editions whose language is known, for the others to be judged by them
_NARROWEST, _WIDEST = 0.02, 0.06  # spread of the differences; beyond the latter, texts are too different to be judged
NOTED, WARNED = 3.5, 5.0  # robust standard scores


def levels_of(level: Numbers, languages: pd.Series) -> pd.DataFrame:
    """Return how much longer editions are than their languages in FLORES-200.

    Parameters
    ----------
    level : ndarray, shape (J,)
        Typical length of the texts of each edition, as a logarithm.
    languages : Series
        Language by edition, NaN where not known.

    Returns
    -------
    DataFrame
        One row per edition: ``level``, the difference from FLORES-200 less the median of all, in logarithms, NaN where
        FLORES-200 does not have the language; ``level_z``, the same in robust standard deviations, NaN where these are
        not known well enough or too large: fewer than 20 editions, or more than .06.

    Examples
    --------
    >>> levels_of(np.array([0.0, 0.1]), pd.Series(["deu", "xxx"], index=["a", "b"])).values.tolist()
    [[0.0, nan], [nan, nan]]
    """
    sizes = _sizes()
    names = [str(name) if str(name) in sizes else language for name, language in languages.items()]
    expected = np.array([np.log(sizes[name]) if name in sizes else np.nan for name in names])
    difference = level - expected
    known = np.isfinite(difference)
    centred = difference - (np.median(difference[known]) if known.any() else np.nan)
    spread = NORMAL * float(np.median(np.abs(centred[known]))) if known.any() else np.nan
    judged = known.sum() >= _ENOUGH and spread <= _WIDEST
    score = centred / max(spread, _NARROWEST) if judged else np.full(len(level), np.nan)
    return pd.DataFrame({"level": centred, "level_z": score}, index=languages.index)


@cache
def _sizes() -> dict[str, int]:
    """Return the number of characters of FLORES-200 by edition, language and other codes; the first counts."""
    found: dict[str, int] = {}
    file = Path(__file__).parents[1] / "flores200_sizes.txt"
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            edition, size, *others = line.split()
            for name in (edition, edition.partition("_")[0], *others):
                found.setdefault(name, int(size))
    return found

"""Units of surprisals and of log-probabilities."""

from typing import Literal

import numpy as np
import pandas as pd

from langdiff.errors import ConfigError, DataError, option

Unit = Literal["bits", "nats", "log10"]
BITS_PER_UNIT: dict[Unit, float] = {"bits": 1.0, "nats": 1 / np.log(2), "log10": np.log2(10)}


def check_unit(unit: object) -> None:
    """Refuse an unknown unit."""
    if unit not in BITS_PER_UNIT:
        raise ConfigError(f"unknown unit {unit!r}; use one of {', '.join(BITS_PER_UNIT)}.")


def as_bits(numbers: pd.DataFrame, unit: Unit | None, where: object) -> pd.DataFrame:
    """Return surprisals in bits, of surprisals or of log-probabilities.

    Parameters
    ----------
    numbers : DataFrame of float
        Surprisals, or log-probabilities, which are none above 0; NaN where missing.
    unit : {"bits", "nats", "log10"} or None
        Base of the logarithms: 2, e or 10. None for surprisals in bits.
    where : object
        Name of the table, for messages.

    Raises
    ------
    DataError
        If there are log-probabilities and no unit, or numbers below and above 0.

    Examples
    --------
    >>> as_bits(pd.DataFrame({"eng": [-1.0, -2.0]}), "bits", "mine")["eng"].tolist()
    [1.0, 2.0]
    """
    values = numbers.to_numpy()
    below, above = int((values < 0).sum()), int((values > 0).sum())
    if below and above:
        raise DataError(
            f"{where}: {below:,} numbers are below 0, and {above:,} are above, so that they are neither surprisals nor "
            "log-probabilities. If some stand for missing translations, leave those cells empty (NaN)."
        )
    if below and unit is None:
        raise DataError(
            f"{where}: all {below:,} numbers are 0 or less; these look like log-probabilities: pass "
            f"{option('unit', 'nats')} (natural logarithms, which most libraries give), 'log10' or 'bits' (base 2)."
        )
    return numbers * (BITS_PER_UNIT[unit or "bits"] * (-1 if below else 1))

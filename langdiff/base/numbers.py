"""Exact conversion of text to numbers for all versions of pandas, and of numbers to text."""

from importlib.resources.abc import Traversable
from io import BytesIO
from typing import Any

import numpy as np
import pandas as pd

from langdiff.errors import DataError

PANDAS_IS_EXACT = tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1)


def exact_numbers(values: pd.Series) -> pd.Series:
    """Return texts as numbers, each the float nearest to its text, and NaN for other text.

    Before version 3.1, pandas reads one number in six wrong in its last bit; there, all are read again.

    Examples
    --------
    >>> exact_numbers(pd.Series(["0.12345678901234568", "x", " 1e3"])).tolist()
    [0.12345678901234568, nan, 1000.0]
    >>> exact_numbers(pd.Series(["1", "2"])).tolist()
    [1, 2]
    """
    numbers = pd.to_numeric(values, errors="coerce")
    if np.iscomplexobj(numbers):
        name = "values" if values.name is None else values.name
        raise DataError(f"{name}: complex numbers are no measurements; give their real parts.")
    if PANDAS_IS_EXACT or pd.api.types.is_numeric_dtype(values) or not pd.api.types.is_float_dtype(numbers):
        return numbers
    known = numbers.notna().to_numpy()
    exact = numbers.to_numpy(dtype=np.float64, copy=True)
    exact[known] = values.to_numpy(dtype=object)[known].astype(np.float64)
    return pd.Series(exact, index=numbers.index, name=numbers.name)


def in_format(value: Any, template: str) -> str:
    """Return a formatted number, without a minus sign if it is rounded to zero.

    Examples
    --------
    >>> in_format(-0.04, "{:+.1f}"), in_format(-0.06, "{:+.1f}"), in_format(-1e-10, "{:.2g}"), in_format("-0", "{}")
    ('+0.0', '-0.1', '-1e-10', '-0')
    """
    text = template.format(value)
    return template.format(0.0) if text == template.format(-0.0) else text


def read_exact_csv(path: Traversable, **options: Any) -> pd.DataFrame:
    """Read a CSV file with the options of `pandas.read_csv`, each number as the float nearest to its text."""
    content = path.read_bytes()
    frame: pd.DataFrame = pd.read_csv(BytesIO(content), **options)
    floats = list(frame.select_dtypes("float"))
    if PANDAS_IS_EXACT or not floats:
        return frame
    text = pd.read_csv(BytesIO(content), **options | {"dtype": str})
    return frame.assign(**{str(name): exact_numbers(text[name]).astype(float) for name in floats})

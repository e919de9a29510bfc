"""What tests of all packages say in one line."""

from collections.abc import Callable
from typing import Any

import pytest

from langdiff.tables.text_doubts import PLACEHOLDERS


def refused(error: type[Exception], words: str, call: Callable[..., Any], /, *args: Any, **settings: Any) -> None:
    """Check that a call ends in an error whose message has the words, a regular expression."""
    with pytest.raises(error, match=words):
        call(*args, **settings)


def is_meant(text: str) -> bool:
    """Return whether a text that was drawn is none that stands for a missing value."""
    return text.strip().encode() not in PLACEHOLDERS

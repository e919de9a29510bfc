"""What tests of all packages say in one line."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from langdiff.tables.text_doubts import find_doubtful


def refused(error: type[Exception], words: str, call: Callable[..., Any], /, *args: Any, **settings: Any) -> None:
    """Check that a call ends in an error whose message has the words, a regular expression."""
    with pytest.raises(error, match=words):
        call(*args, **settings)


def is_meant(text: str) -> bool:
    """Return whether no reader doubts a text that was drawn, as one with lost letters or one for a missing value."""
    raw = text.encode()
    return not any(find_doubtful(raw, np.array([0]), np.array([len(raw)])))

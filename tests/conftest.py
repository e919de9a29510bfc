"""Shared by all tests: real data if there is any, hypothesis profiles, one thread."""

import os
import signal
from pathlib import Path

import matplotlib as mpl
import pytest
from hypothesis import HealthCheck, settings

mpl.use("Agg")
# Whether a commit passes depends on no luck: its examples are drawn the same way each time. "thorough" draws new ones.
settings.register_profile(
    "default", deadline=None, max_examples=12, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a shell; children would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder of the real corpora; the test is skipped where there is none."""
    folder = Path(os.environ.get("LANGDIFF_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data: {folder} does not exist (set LANGDIFF_DATA)")
    return folder


@pytest.fixture(scope="session")
def root() -> Path:
    """Folder of the checkout."""
    return ROOT

import pytest

from langdiff.experiments import reproduce


@pytest.fixture(scope="session")
def reproduction():
    """Every claim and figure of Mielke et al. (2019), which takes seconds; not to be changed."""
    return reproduce()

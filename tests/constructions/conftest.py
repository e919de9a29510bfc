import pytest

from langdiff.constructions import read_gold, read_parses, read_rules

from . import worked


@pytest.fixture
def write(tmp_path):
    """Write a text to a file of a name, and give its path."""

    def to_file(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return to_file


@pytest.fixture
def gold(write):
    return read_gold(write("gold.tsv", worked.GOLD), worked.WORDS)


@pytest.fixture
def rules(write):
    return read_rules(write("cc.rules", worked.RULES))


@pytest.fixture
def parses(write):
    return read_parses(write("cc.gr", worked.GR), "gr")

"""Words of other fields and programs lead to the entry of the glossary that explains them."""

import re

import pytest

from tests.handbook.snippets import ROOT

ENTRIES = dict(
    re.findall(r"^(\S[^\n]*)\n:   (.*?)(?=^\S|\Z)", (ROOT / "docs/glossary.md").read_text("utf-8"), re.M | re.S)
)
WORDS = {
    "attachment score": ["UAS", "LAS"],
    "bits per character": ["perplexity", "bits per byte", "cross-entropy"],
    "byte premium": ["tokenizer premium"],
    "cluster": ["ICC", "design effect"],
    "confidence interval": ["error bars"],
    "contrast": ["per family", "emmeans", "pairs", "post hoc"],
    "difficulty": ["effect size"],
    "edition": ["ISO code"],
    "experiment file": ["tutorial"],
    "help": ["troubleshooting"],
    "kinship": ["Galton's problem", "phylogenetic", "PGLS", "Pagel"],
    "missing cell": ["missing data", "imputation"],
    "model": ["random effects", "lme4", "brms", "mixed model"],
    "multiple comparisons": ["Tukey"],
    "posterior": ["posterior predictive", "PPC"],
    "rank set": ["ranking", "ties"],
    "reliability": ["power", "sample size"],
    "standard error": ["SE"],
    "surprisal": ["reading time"],
    "table": ["etable", "stargazer", "LaTeX"],
}


def also(entry: str) -> list[str]:
    """Return the other words of an entry."""
    return re.search(r"^ *also: (.+)$", ENTRIES[entry], re.M)[1].split(", ")


def test_every_entry_has_other_words() -> None:
    assert len(ENTRIES) >= 35
    for entry in ENTRIES:
        assert also(entry), entry


@pytest.mark.parametrize("entry", WORDS)
def test_words_lead_to_the_entry(entry: str) -> None:
    assert entry in ENTRIES
    assert set(WORDS[entry]) <= set(also(entry))


def test_entries_are_in_order() -> None:
    assert list(ENTRIES) == sorted(ENTRIES)

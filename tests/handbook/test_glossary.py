"""Words of other fields and programs lead to the entry of the glossary that explains them."""

import re

import pytest

from tests.handbook.snippets import ROOT

TEXT = (ROOT / "docs/glossary.md").read_text("utf-8")
ENTRIES = {
    heading.split(", ")[0]: (heading, body)
    for heading, body in re.findall(r"^## (\S[^\n]*)\n(.*?)(?=^## |^</div>)", TEXT, re.M | re.S)
}
WORDS = {
    "attachment score": ["UAS", "LAS"],
    "bits per character": ["perplexity", "bits per byte"],
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
    "multiple comparisons": ["Tukey", "HSD"],
    "posterior": ["posterior predictive", "PPC"],
    "rank set": ["ranking", "ties"],
    "reliability": ["power", "sample size"],
    "standard error": ["SE", "error bars"],
    "surprisal": ["cross-entropy", "reading time"],
    "table": ["etable", "stargazer", "LaTeX"],
}


def also(entry: str) -> list[str]:
    """Return the other words of an entry, those of its heading included."""
    heading, body = ENTRIES[entry]
    return heading.split(", ")[1:] + re.search(r"^also: (.+)$", body, re.M)[1].split(", ")


def test_every_entry_has_other_words() -> None:
    assert len(ENTRIES) >= 35
    for entry in ENTRIES:
        assert also(entry), entry


def test_the_search_of_the_site_prefers_the_glossary() -> None:
    """Entries are sections, which the search lists one by one, before pages that have the words by the way."""
    assert TEXT.startswith("---\nsearch: {boost: 5}\n---\n")
    assert (ROOT / "docs/changelog.md").read_text("utf-8").startswith("---\nsearch: {exclude: true}\n---\n")


@pytest.mark.parametrize("entry", WORDS)
def test_words_lead_to_the_entry(entry: str) -> None:
    assert entry in ENTRIES
    assert set(WORDS[entry]) <= set(also(entry))


def test_entries_are_in_order() -> None:
    assert list(ENTRIES) == sorted(ENTRIES)

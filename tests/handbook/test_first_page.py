"""The first page and the README say what the bits in the package say, and of no language without a corpus."""

import re
import sys

import pytest

FIRST = ["README.md", "docs/index.md", "docs/first-afternoon.md"]
PAGES = [
    *FIRST,
    "paper.md",
    "docs/difficulty-shares.md",
    "docs/results-first.md",
    "docs/curves.md",
    "docs/typology.md",
    "docs/experiments.md",
    "docs/parity.md",
]
DELETED = [
    "Ranks make sense",
    "Are these numbers plausible",
    "Two quite different models agree",
    "Two translations of one language agree",
    "one *difficulty* per language",
    "no number of sentences brings it above .90. The",
    "belongs to a language in one of",
    "to the amount of text",
    "Half of what distinguishes 27 languages",
    "first-page.svg",
]
CORPUS = re.compile(r"Testament|Bible|NTREX|FLORES|PUD|Europarl|corpus|corpora|ld\.|artificial|synthetic|`")
CLAIM = re.compile(
    r"\b(?!Of\b|The\b|A\b|In\b|It\b)[A-Z][a-zā]+(?: and [A-Z][a-z]+)? (?:is|are|was|were) (?:the )?"
    r"(?:harder|hardest|easier|easiest|hard|easy)\b"
)


@pytest.fixture(scope="module")
def first_page(root):
    sys.path.insert(0, str(root / "docs" / "extensions"))
    import first_page

    yield first_page
    sys.path.remove(str(root / "docs" / "extensions"))


@pytest.fixture(scope="module")
def text(first_page):
    return first_page.paragraph()


@pytest.mark.parametrize("page", FIRST[:2])
def test_figures_are_those_of_the_package(page, text, first_page, root):
    written = (root / page).read_text(encoding="utf-8")
    assert first_page.with_paragraph(written, text) == written  # else: python docs/extensions/first_page.py


@pytest.mark.parametrize("page", [*FIRST[:2], "paper.md"])
def test_the_caption_is_that_of_the_figure(page, first_page, root):
    written = (root / page).read_text(encoding="utf-8")
    assert re.findall(r"!\[([^\]]*)\]\([^)]*texts\.svg\)", written) == [first_page.CAPTION]
    drawn = re.sub(r"<[^>]*>", " ", (root / "docs" / "images" / "texts.svg").read_text(encoding="utf-8"))
    shares = first_page.named(first_page.ld.difficulty_shares(first_page.tables()))
    assert len(shares.difficulties) == int(re.search(r"in (\d+) languages", first_page.CAPTION)[1])
    assert f"{len(shares.editions)} editions in {len(shares.difficulties)} languages" in drawn
    for value in shares.texts().stack().dropna():
        assert f" {value:.2f} " in drawn


@pytest.mark.parametrize("page", FIRST[:2])
def test_the_first_example_is_of_real_bits(page, root):
    first = re.search(r"```python\n(.*?)```", (root / page).read_text(encoding="utf-8"), re.DOTALL)
    assert first[1].startswith("import langdiff as ld\n\nfit = ld.fit(ld.datasets.testaments())")
    assert "print(fit.summary())" in first[1]


@pytest.mark.parametrize("page", PAGES)
def test_what_is_not_claimed(page, root):
    written = (root / page).read_text(encoding="utf-8")
    assert [sentence for sentence in DELETED if sentence in written] == []


@pytest.mark.parametrize("page", FIRST)
def test_no_hard_language_without_a_corpus(page, root):
    paragraphs = (root / page).read_text(encoding="utf-8").split("\n\n")
    assert [part for part in paragraphs if CLAIM.search(part) and not CORPUS.search(part)] == []


def test_such_a_claim_would_be_found():
    assert CLAIM.search("Hungarian and Finnish are hard.")
    assert CLAIM.search("Hebrew is easiest.")
    assert not CORPUS.search("Hungarian and Finnish are hard.")

"""Plain English in the handbook's prose: long sentences, and words that hide the subject."""

import re

import pytest

from tests.handbook.snippets import ROOT

PAGES = [
    path
    for path in [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"]
    if "reference" not in path.parts and path.stem != "changelog"
]
MOST = {30: 0.05, 40: 0}  # share of sentences that are longer
RATES = {  # per 1,000 words
    r"\bof (?:which|whom)\b": 0.1,
    r"\bthose (?:that|of|which|who|in|with|whose)\b": 0.7,
    r"\b[Ww]hat (?:is|was|are|they|it) \w+": 0.4,
    r"\bthat of\b": 0.2,
    r"\bbesides?\b": 0.1,
    r"\bbut for\b": 0,
}


def sentences(text):
    """Return the sentences of paragraphs and lists; code, formulas and addresses of links are left out."""
    text = re.sub(r"^---\n.*?\n---\n|```.*?```|\$\$.*?\$\$", "", text, flags=re.DOTALL)
    found = []
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:\*|-|\d+\.) )", text):
        if not re.match(r"\s*(\||#|!\[|<|\$|!!!|    )", block):
            plain = re.sub(r"^\s*(\*|-|\d+\.) |\]\([^)]*\)", "", block)
            plain = re.sub(r"`[^`]*`|\$[^$]*\$", "X", plain)
            found += re.split(r"(?<=[.!?])\s+(?=[A-Z`*“\"])", " ".join(plain.split()))
    return [one for one in found if len(one.split()) >= 3]


@pytest.fixture(scope="module")
def prose():
    return [one for page in PAGES for one in sentences(page.read_text("utf-8"))]


def test_what_is_counted():
    assert sentences("# Head\n\nOne two three. Four `x` six!\n\n| a | b |\n") == ["One two three.", "Four X six!"]


@pytest.mark.parametrize("longest", MOST)
def test_few_sentences_are_long(prose, longest):
    long = [one for one in prose if len(one.split()) > longest]
    assert len(long) <= MOST[longest] * len(prose), "\n".join(long[:5])


@pytest.mark.parametrize("phrase", RATES)
def test_subjects_are_nouns(prose, phrase):
    words = sum(len(one.split()) for one in prose)
    found = [one for one in prose if re.search(phrase, one)]
    assert 1000 * len(found) <= RATES[phrase] * words, "\n".join(found[:5])

"""No page is longer than its budget of words, or than it was where it exceeds the budget."""

import re

import pytest

from tests.handbook.snippets import ROOT

PAGES = sorted(path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md"))
BUDGET = 900  # of a page that is not named below
RECIPE = 400
# Goals are those of a page that a reader takes in at one sitting; a page that exceeds its goal may shrink, not grow.
LONGER = {
    "benchmarks.md": 1013,
    "constructions.md": 1323,
    "corpora.md": 1495,
    "costep.md": 915,
    "curves.md": 1110,
    "discourse.md": 1186,
    "evidence/curves.md": 1462,
    "evidence/inference.md": 1121,
    "evidence/language-models.md": 2173,
    "evidence/models.md": 989,
    "evidence/predictors.md": 1079,
    "evidence/translationese.md": 1066,
    "evidence/typology.md": 2336,
    "experiments.md": 903,
    "from-text-to-bits.md": 952,
    "glossary.md": 1264,
    "inference.md": 1514,
    "language-models.md": 1409,
    "logs.md": 1078,
    "models.md": 1785,
    "multilingual.md": 910,
    "outcomes.md": 1208,
    "parity.md": 934,
    "perturbations.md": 1022,
    "predictors.md": 1013,
    "results-first.md": 1011,
    "typology.md": 1205,
}


def words(text: str) -> float:
    """Count the words of prose: none of code, a quarter of those in tables."""
    prose = re.sub(r"^(```|~~~).*?^\1[^\n]*$", "", text, flags=re.DOTALL | re.MULTILINE)
    lines = prose.splitlines()
    table = [line for line in lines if line.lstrip().startswith("|")]
    rest = [line for line in lines if not line.lstrip().startswith("|")]
    return len("\n".join(rest).split()) + len("\n".join(table).replace("|", " ").split()) / 4


def test_what_is_counted() -> None:
    assert words("One two.\n```python\nthree = 3\n```\n| four five |\n| six seven |\n") == 3


@pytest.mark.parametrize("page", PAGES)
def test_length(page: str) -> None:
    limit = RECIPE if page.startswith("recipes/") else LONGER.get(page, BUDGET)
    assert words((ROOT / "docs" / page).read_text("utf-8")) <= limit


def test_no_page_is_allowed_more_than_it_needs() -> None:
    assert set(LONGER) <= set(PAGES)
    assert all(limit > BUDGET for limit in LONGER.values())

"""Figures that were measured are on pages of evidence, beside scripts that exist and take the options named."""

import re

import pytest

from tests.handbook.snippets import PAGES, ROOT

CALL = re.compile(r"`(?:[A-Z_]+=\S+ )*(?:python )?benchmarks/(\w+\.py)([^`]*)`")
# Pages of results, and guides whose figures are still beside what they tell the reader to do.
WITH_FIGURES = {
    *("docs/benchmarks.md", "docs/constructions.md", "docs/datasets.md"),
    *("docs/difficulty-shares.md", "docs/experiments.md", "docs/folds.md", "docs/logs.md", "docs/multilingual.md"),
    *("docs/perturbations.md", "docs/results-first.md", "docs/runs.md", "docs/torture.md", "docs/why-langdiff.md"),
}


@pytest.mark.parametrize("page", PAGES)
def test_scripts_and_their_options_exist(page: str) -> None:
    for script, given in CALL.findall((ROOT / page).read_text("utf-8")):
        text = (ROOT / "benchmarks" / script).read_text("utf-8")
        assert all(option in text for option in re.findall(r"--[a-z-]+", given)), (script, given)


@pytest.mark.parametrize("page", sorted(set(PAGES) - WITH_FIGURES))
def test_guides_link_the_evidence(page: str) -> None:
    if not page.startswith("docs/evidence/"):
        assert not CALL.search((ROOT / page).read_text("utf-8"))

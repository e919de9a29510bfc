"""Figures that were measured are on pages of evidence, beside scripts that exist and take the options named."""

import re

import pytest

from tests.handbook.snippets import PAGES, ROOT

CALL = re.compile(r"`(?:[A-Z_]+=\S+ )*(?:python )?benchmarks/(\w+\.py)([^`]*)`")
GUIDES = sorted(path.name for path in (ROOT / "docs" / "evidence").glob("*.md"))


@pytest.mark.parametrize("page", PAGES)
def test_scripts_and_their_options_exist(page: str) -> None:
    for script, given in CALL.findall((ROOT / page).read_text("utf-8")):
        text = (ROOT / "benchmarks" / script).read_text("utf-8")
        assert all(option in text for option in re.findall(r"--[a-z-]+", given)), (script, given)


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_links_its_evidence_in_place_of_scripts(name: str) -> None:
    guide = (ROOT / "docs" / name).read_text("utf-8")
    assert f"](evidence/{name}" in guide
    assert not CALL.search(guide)

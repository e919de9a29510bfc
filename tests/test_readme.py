import re

import pytest


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere(page, root):
    for target in re.findall(r"\]\(([^)#]+)\)", (root / page).read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (root / target).exists(), target

import re

import matplotlib.pyplot as plt
import pytest

PAGES = ["README.md", "docs/first-afternoon.md"]


@pytest.mark.parametrize("page", PAGES)
def test_python_on_the_page_runs(page, root, capsys):
    blocks = re.findall(r"```python\n(.*?)```", (root / page).read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    names = {}
    for block in blocks:  # one after another, as a reader would
        exec(compile(block, page, "exec"), names)
    plt.close("all")
    assert "edition" in capsys.readouterr().out
    assert names["fit"].converged


@pytest.mark.parametrize("page", [*PAGES, "docs/command-line.md"])
def test_commands_on_the_page_exist(page, root):
    from typer.main import get_command

    from langdiff.cli.app import app

    known = set(get_command(app).commands)
    text = (root / page).read_text(encoding="utf-8")
    used = set(re.findall(r"(?:^|`)langdiff ([a-z][a-z-]+)", text, re.MULTILINE))
    assert used
    assert used <= known


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere(page, root):
    for target in re.findall(r"\]\(([^)#]+)\)", (root / page).read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (root / target).exists(), target

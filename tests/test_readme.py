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


NAMING_COMMANDS = [*PAGES, "docs/command-line.md", "docs/why-langdiff.md", "docs/faq.md", "docs/reproducing.md"]


@pytest.mark.parametrize("page", NAMING_COMMANDS)
def test_commands_and_options_on_the_page_exist(page, root):
    from typer.main import get_command

    from langdiff.cli.app import app

    top = get_command(app)
    text = (root / page).read_text(encoding="utf-8")
    used = re.findall(r"(?:^|`|LANGDIFF_DATA=\S+ )langdiff ([a-z][^`\n#]*)", text, re.MULTILINE)
    assert used
    for words in map(str.split, used):
        command = top.commands[words.pop(0)]
        if words and hasattr(command, "commands") and not words[0].startswith("-"):
            command = command.commands[words.pop(0)]
        known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
        known |= {"--help"}
        given = {word for word in words if re.fullmatch(r"--[a-z-]+", word)}
        assert given <= known, (command.name, given - known)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere(page, root):
    for target in re.findall(r"\]\(([^)#]+)\)", (root / page).read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (root / target).exists(), target

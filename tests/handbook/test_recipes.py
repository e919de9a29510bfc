"""The lines of every recipe run, and print what the page shows."""

import contextlib
import io
import os
import re
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from tests.cli.conftest import langdiff  # noqa: F401 - a fixture
from tests.handbook import material
from tests.handbook.snippets import ROOT, SHELLS, snippets_of

DATA = Path(os.environ.get("LANGDIFF_DATA", ROOT.parent / "shared/data"))
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs/recipes").glob("*.md"))

MADE = {"docs/recipes/right-or-wrong.md": material.quiz}  # the page has the figures of these files
STAND_IN = {  # figures on these pages are of data that take minutes, or are not here: only heads of tables are compared
    "docs/recipes/discourse-parsers.md": material.discourse_parsers,
    "docs/recipes/llm-in-all-languages.md": material.llm,
    "docs/recipes/native-or-translated.md": material.parliament,
    "docs/recipes/parsers.md": material.parsers_of_pud,
}


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.filterwarnings("ignore::langdiff.errors.LangdiffWarning")
def test_recipe(page, langdiff, tmp_path, monkeypatch):  # noqa: F811
    snippets = snippets_of(page)
    if "DATA/" in "".join(snippet.text for snippet in snippets):
        if not DATA.exists():
            pytest.skip("needs the data folder named by LANGDIFF_DATA")
        (tmp_path / "DATA").symlink_to(DATA.resolve())
    monkeypatch.chdir(tmp_path)
    if make := (MADE | STAND_IN).get(page):
        make()
    names, printed, shown = {}, "", 0
    for snippet in snippets:
        if snippet.language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(snippet.text, page, "exec"), names)
            printed += out.getvalue()
            plt.close("all")
        elif snippet.language in SHELLS:
            for command in snippet.commands():
                done = langdiff(*command.words(), columns=None).good
                printed += done.out
        else:
            form, last = (str.split, 1) if page in STAND_IN else (str.rstrip, None)
            lines = [form(line) for line in printed.splitlines()]
            missing = [line for line in snippet.text.splitlines()[:last] if form(line) not in lines]
            assert not missing, f"{missing} not in\n{printed}"
            shown += 1
    assert shown, "no output to compare"


@pytest.mark.parametrize("page", PAGES)
def test_form(page):
    text, snippets = (ROOT / page).read_text("utf-8"), snippets_of(page)
    code = [line for s in snippets if s.language != "text" for line in s.text.splitlines() if line]
    assert sum(not line.startswith("import ") for line in code) <= 5
    assert "**You have**" in text
    report = re.search(r"^## How to report it\n> .+\n(?:> .+\n)*\nMethods: ", text, re.MULTILINE)
    assert report, "no sentence to report, or no line on methods"
    assert len(re.findall(r"\]\([^)]+\.md", text.split("## What next")[1])) == 3
    assert f"recipes/{Path(page).name}" in (ROOT / "mkdocs.yml").read_text("utf-8"), "not in the menu"

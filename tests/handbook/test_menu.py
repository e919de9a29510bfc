"""The menu has every page and every notebook once, in parts by purpose that are short enough to be read."""

import importlib.util
import json

import pytest

from tests.handbook.snippets import ROOT

yaml = pytest.importorskip("yaml", reason="needs the extra docs")
PARTS = ["Home", "Start", "Recipes", "Guides", "Why", "Reference", "Evidence", "About"]
MOST = 12  # entries that are open at once


@pytest.fixture(scope="module")
def menu():
    text = (ROOT / "mkdocs.yml").read_text("utf-8")
    return [next(iter(part.items())) for part in yaml.safe_load(text)["nav"]]


def pages(entries):
    """Return the pages of a part, those of its sections included."""
    if isinstance(entries, str):
        return [entries]
    return [page for entry in entries for inner in entry.values() for page in pages(inner)]


def longest(entries):
    """Return the largest number of entries of a part or one of its sections."""
    if isinstance(entries, str):
        return 1
    return max(len(entries), *(longest(inner) for entry in entries for inner in entry.values()))


def test_parts_are_by_purpose_and_short(menu):
    assert [name for name, _ in menu] == PARTS
    assert {name: longest(entries) for name, entries in menu if longest(entries) > MOST} == {}
    assert "navigation.sections" not in (ROOT / "mkdocs.yml").read_text("utf-8"), "sections would not fold"


def test_every_page_and_notebook_is_there_once(menu):
    written = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    notebooks = {f"notebooks/{path.stem}.md" for path in (ROOT / "notebooks").glob("*.ipynb")}
    listed = [page for _, entries in menu for page in pages(entries)]
    assert sorted(listed) == sorted(written | notebooks)


@pytest.fixture(scope="module")
def extension():
    pytest.importorskip("nbconvert", reason="needs the extra docs")
    path = ROOT / "docs/extensions/notebooks.py"
    spec = importlib.util.spec_from_file_location("notebook_pages", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_notebook_becomes_a_page(extension, tmp_path):
    style = "<style scoped>\n b {}\n</style>"
    table = f'<div>\n{style}\n<table border="1" class="dataframe">\n  <tr><td>7</td></tr></table></div>'
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": "# no heading\n"},
        {
            "output_type": "display_data",
            "metadata": {},
            "data": {"image/png": "iVBORw0KGgo=", "text/plain": "<Figure>"},
        },
        {"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": {"text/html": table}},
        {"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": {"text/plain": "42"}},
    ]
    code = {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": outputs, "source": "print(6 * 7)"}
    cells = [{"cell_type": "markdown", "metadata": {}, "source": "# A title\n\nText."}, code]
    path = tmp_path / "small.ipynb"
    about = {"metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 4}
    path.write_text(json.dumps({"cells": cells, **about}), "utf-8")
    page, pictures = extension.page_of(path)
    assert page.startswith("# A title\n\nThis page is `notebooks/small.ipynb`")
    assert "```python\nprint(6 * 7)\n```" in page
    assert "```text\n# no heading\n```" in page
    assert "```text\n42\n```" in page
    assert "<style" not in page
    assert '<div class="frame">\n<div>\n<table>\n<tr><td>7</td></tr></table></div>\n</div>' in page
    (name,) = pictures
    assert name.startswith("small/")
    assert f"![drawn by the code above]({name})" in page

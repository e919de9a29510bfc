"""The gallery shows every plot function, and its snippets draw."""

import re
import sys

import matplotlib.pyplot as plt
import pytest

import langdiff.plots


@pytest.fixture(scope="module")
def gallery(root):
    """The script that draws the gallery when the handbook is built."""
    pytest.importorskip("mkdocs", reason="the handbook needs the extra docs")
    sys.path.insert(0, str(root / "docs" / "extensions"))
    import gallery

    yield gallery
    sys.path.remove(str(root / "docs" / "extensions"))


@pytest.fixture(scope="module")
def page(root):
    return (root / "docs" / "gallery.md").read_text(encoding="utf-8")


def test_every_function_has_a_picture(gallery, page):
    shown = set(re.findall(r"plot_\w+", " ".join(gallery.pictures_of(page).values())))
    assert set(langdiff.plots.__all__) - shown == set()


def test_every_picture_stands_below_its_snippet(gallery, page):
    class Page:
        class file:  # noqa: N801
            src_uri = "gallery.md"

    made = gallery.on_page_markdown(page, page=Page)
    for name, snippet in gallery.pictures_of(page).items():
        assert f"```python\n{snippet}```\n\n![{name}](images/gallery/{name}.svg)\n" in made


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::langdiff.errors.LangdiffWarning")  # the data are small
def test_every_snippet_draws(gallery, page, tmp_path, monkeypatch):
    from gallery_data import gallery_data

    monkeypatch.chdir(tmp_path)
    names = {"__name__": "gallery", **gallery_data()}
    exec("from langdiff.plots import *", names)
    for name, snippet in gallery.pictures_of(page).items():
        picture = gallery.draw(snippet, names).decode()
        assert picture.count("<text") > 5, name  # text is text
    exec(gallery.SNIPPET.findall(page)[-1], names)
    assert "<text" in (tmp_path / "difficulties.svg").read_text(encoding="utf-8")
    plt.close("all")

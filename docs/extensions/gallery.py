"""Draws the pictures of docs/gallery.md when the handbook is built: one below each snippet that draws."""

import io
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

PAGE = "gallery.md"
FOLDER = "images/gallery"  # of the site; nothing is written to docs
SNIPPET = re.compile(r"```python\n(.*?)```\n", re.DOTALL)
DRAWN = re.compile(r"\bplot_\w+")


def pictures_of(page: str) -> dict[str, str]:
    """Return the snippets of the page that draw, by the name of the picture, in their order."""
    found: dict[str, str] = {}
    for snippet in SNIPPET.findall(page):
        if drawn := DRAWN.search(snippet):
            name = drawn[0].removeprefix("plot_").replace("_", "-")
            found[f"{name}-again" if name in found else name] = snippet
    return found


def draw(snippet: str, names: dict[str, Any]) -> bytes:
    """Run a snippet and return the figure that it draws as SVG, whose text stays text."""
    import matplotlib.pyplot as plt

    plt.close("all")
    stream = io.BytesIO()
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": "gallery"}):
        exec(compile(snippet, PAGE, "exec"), names)  # noqa: S102 - our own page
        plt.gcf().savefig(stream, format="svg", metadata={"Date": None})
    return stream.getvalue()


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a picture for each snippet."""
    import matplotlib as mpl

    sys.path.insert(0, str(Path(__file__).parent))
    from gallery_data import gallery_data

    mpl.use("agg")
    page = (Path(config["docs_dir"]) / PAGE).read_text(encoding="utf-8")
    names = {"__name__": PAGE, **gallery_data()}
    exec("from langdiff.plots import *", names)  # noqa: S102 - what a reader would import
    for name, snippet in pictures_of(page).items():
        files.append(File.generated(config, f"{FOLDER}/{name}.svg", content=draw(snippet, names)))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Show each picture below its snippet."""
    if page.file.src_uri != PAGE:
        return markdown
    for name, snippet in pictures_of(markdown).items():
        block = f"```python\n{snippet}```\n"
        markdown = markdown.replace(block, f"{block}\n![{name}]({FOLDER}/{name}.svg)\n", 1)
    return markdown
